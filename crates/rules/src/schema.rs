//! JSON Schema, draft 2020-12 (and draft 7 where `$schema` says so), with what the library leaves open decided here:
//! formats are asserted, patterns run on a linear-time engine, nothing is ever fetched, and messages carry no values.
//!
//! Not here: coercion of any kind. `"false"` is not `false`, and a value that does not fit is a finding.

use jsonschema::{Draft, PatternOptions, Retrieve, Uri, ValidationError, error::ValidationErrorKind};
use serde_json::Value;

use crate::text;

/// A schema above this size is refused. 256 KiB is about a hundred times a usual one; compiling is several times the
/// size in memory and happens at every start.
pub const SCHEMA_BYTES_MAX: usize = 256 * 1024;
/// Findings after this many are left out: the list goes back to a model or a person, who mends the first ones first.
pub const FINDINGS_MAX: usize = 20;
/// A finding's message is cut here: a line or two on a page.
const MESSAGE_BYTES_MAX: usize = 300;
/// A finding's pointer is cut here: member names come from outside and may be of any length.
const POINTER_BYTES_MAX: usize = 1024;
/// A compiled pattern may take this much memory (the regex crate's default is 10 MiB; a flow may have hundreds).
const PATTERN_BYTES_MAX: usize = 1024 * 1024;

const DRAFT_2020_12: &str = "https://json-schema.org/draft/2020-12/schema";
const DRAFT_7: &str = "http://json-schema.org/draft-07/schema";

/// A compiled schema. Cheap to share, checked once at start.
#[derive(Debug)]
pub struct Schema {
    validator: jsonschema::Validator,
}

/// One way in which a value does not fit its schema.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Finding {
    /// JSON Pointer to the member of the value; empty for the whole value.
    pub pointer: String,
    /// What is wrong, in words, without the value itself.
    pub message: String,
    /// The schema keyword that was broken: `type`, `required`, `enum` …
    pub keyword: String,
}

/// Why a schema was refused.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum SchemaError {
    #[error("the schema has {bytes} bytes, the limit is {SCHEMA_BYTES_MAX}")]
    TooLarge { bytes: usize },
    #[error("$schema {named:?} is not supported: use {DRAFT_2020_12} or {DRAFT_7}#")]
    DraftUnsupported { named: String },
    #[error("$ref to {uri:?} is not resolved: nothing is fetched, put the definition into the schema's $defs")]
    RemoteRef { uri: String },
    #[error("the format at {pointer:?} is not one that is checked: mend its name, or use pattern")]
    FormatUnknown { pointer: String },
    #[error("the pattern at {pointer:?} is invalid, too big, or uses look-around or back references")]
    PatternUnsupported { pointer: String },
    #[error("the schema is invalid at {pointer:?}: {message}")]
    Invalid { pointer: String, message: String },
}

impl Schema {
    /// Compiles a schema that stands alone.
    ///
    /// Guarantees: no file and no network is touched; patterns cannot backtrack.
    ///
    /// Errors: too large, another draft than 2020-12 or 7, a `$ref` that leaves the schema, or an invalid schema; this
    /// includes a pattern with look-around or back references, and a format nobody checks.
    pub fn compile(schema: &Value) -> Result<Schema, SchemaError> {
        Schema::compile_with(schema, Vec::new())
    }

    /// Compiles a schema that may refer to `documents`, each under its absolute URI. Otherwise as [`Schema::compile`].
    pub fn compile_with(schema: &Value, documents: Vec<(String, Value)>) -> Result<Schema, SchemaError> {
        let bytes = schema.to_string().len();
        if bytes > SCHEMA_BYTES_MAX {
            return Err(SchemaError::TooLarge { bytes });
        }
        let validator = jsonschema::options()
            .with_draft(draft_of(schema)?)
            .with_retriever(Documents(documents))
            .with_pattern_options(PatternOptions::regex().size_limit(PATTERN_BYTES_MAX))
            .should_validate_formats(true)
            .should_ignore_unknown_formats(false)
            .build(schema)
            .map_err(refusal)?;
        Ok(Schema { validator })
    }

    /// Lists how `value` breaks the schema; empty means that it fits. At most [`FINDINGS_MAX`] findings.
    pub fn validate(&self, value: &Value) -> Vec<Finding> {
        self.validator.iter_errors(value).take(FINDINGS_MAX).map(|error| finding(&error)).collect()
    }
}

fn draft_of(schema: &Value) -> Result<Draft, SchemaError> {
    let Some(named) = schema.get("$schema") else { return Ok(Draft::Draft202012) };
    match named.as_str().map(|uri| uri.trim_end_matches('#')) {
        Some(DRAFT_2020_12) => Ok(Draft::Draft202012),
        Some(DRAFT_7) => Ok(Draft::Draft7),
        _ => Err(SchemaError::DraftUnsupported { named: text::cut(&named.to_string(), MESSAGE_BYTES_MAX) }),
    }
}

fn finding(error: &ValidationError<'_>) -> Finding {
    Finding {
        pointer: text::cut(error.instance_path().as_str(), POINTER_BYTES_MAX),
        message: text::cut(&error.masked().to_string(), MESSAGE_BYTES_MAX),
        keyword: error.kind().keyword().to_owned(),
    }
}

fn refusal(error: ValidationError<'_>) -> SchemaError {
    let pointer = text::cut(error.instance_path().as_str(), POINTER_BYTES_MAX);
    match error.kind() {
        ValidationErrorKind::Referencing(jsonschema::ReferencingError::Unretrievable { uri, .. }) => {
            SchemaError::RemoteRef { uri: text::cut(uri, MESSAGE_BYTES_MAX) }
        }
        ValidationErrorKind::Format { format } if format == "regex" => SchemaError::PatternUnsupported { pointer },
        // The library has no kind of its own for it; the version is pinned and a test holds the words.
        _ if error.to_string().starts_with("Unknown format") => SchemaError::FormatUnknown { pointer },
        _ => SchemaError::Invalid { pointer, message: text::cut(&error.to_string(), MESSAGE_BYTES_MAX) },
    }
}

/// The documents a schema may refer to. Everything else does not exist.
struct Documents(Vec<(String, Value)>);

impl Retrieve for Documents {
    fn retrieve(&self, uri: &Uri<String>) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        let known = self.0.iter().find(|(name, _)| name == uri.as_str());
        known.map(|(_, document)| document.clone()).ok_or_else(|| "nothing is fetched".into())
    }
}
