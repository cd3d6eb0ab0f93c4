//! What a scripted provider saw and did. The ledger is the other side of the story: a test asks it what really
//! happened, never the gate.

use serde::{Serialize, Serializer};

/// Everything one provider received and executed since it started.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Ledger {
    /// Connections accepted, those of lookups included, those of the control routes not.
    pub connections: u64,
    /// Connections this side has finished with, by whatever act.
    pub connections_ended: u64,
    /// Requests of which at least one byte came, lookups left out.
    pub requests: Vec<Received>,
    /// Lookups (`GET …?ref=KEY`).
    pub lookups: Vec<Received>,
    /// Committed effects.
    pub executions: Vec<Execution>,
}

/// One request, whole or in part.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Received {
    /// 1 for the first connection accepted.
    pub connection: u64,
    /// Milliseconds since the provider started.
    pub at_ms: u64,
    pub method: String,
    /// Path and query as they came.
    pub path: String,
    pub headers: Vec<(String, String)>,
    #[serde(serialize_with = "as_text")]
    pub body: Vec<u8>,
    /// Whether head and body arrived in full.
    pub complete: bool,
    /// The key was known and the first answer was given again.
    pub replayed: bool,
}

/// One committed effect.
#[derive(Debug, Clone, Serialize)]
pub struct Execution {
    /// `pred_1` for the first.
    pub id: String,
    /// What a lookup finds it by.
    pub reference: Option<String>,
    /// Milliseconds since the provider started.
    pub at_ms: u64,
    pub path: String,
    #[serde(serialize_with = "as_text")]
    pub body: Vec<u8>,
}

impl Received {
    /// The first header of that name, whatever its case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| v.as_str())
    }

    /// The value of `ref` in the query, percent-decoded, if this is a lookup.
    #[must_use]
    pub fn lookup_reference(&self) -> Option<String> {
        let query = self.path.split_once('?')?.1;
        let value = query.split('&').find_map(|pair| pair.strip_prefix("ref="))?;
        (self.method == "GET").then(|| percent_decoded(value))
    }
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = text.bytes();
    let mut out = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        let decoded = match byte {
            b'%' => hex_pair(bytes.next(), bytes.next()),
            b'+' => b' ',
            other => other,
        };
        out.push(decoded);
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn hex_pair(high: Option<u8>, low: Option<u8>) -> u8 {
    let digit = |b: Option<u8>| b.and_then(|b| char::from(b).to_digit(16)).unwrap_or(0);
    u8::try_from(digit(high) * 16 + digit(low)).unwrap_or(b'?')
}

fn as_text<S: Serializer>(body: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&String::from_utf8_lossy(body))
}
