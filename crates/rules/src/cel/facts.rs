//! The facts a rule may look at, and their way into the library: bounded in number and size, and never rounded.

use std::collections::HashMap;
use std::sync::Arc;

use cel::Value as Fact;
use cel::objects::{Key, Map};
use serde_json::{Number, Value};

/// A list or object with more members is refused, not cut: a rule such as `all(…)` must not hold because it did not see
/// the rest. 256 because loops over two lists then end in well under a second.
pub const ITEMS_MAX: usize = 256;
/// All facts of a rule together: values, and bytes of text and member names. Loops copy them.
const VALUES_MAX: usize = 10_000;
const TEXT_BYTES_MAX: usize = 256 * 1024;
/// Doubles from here on (2^53) no longer tell neighbouring integers apart.
const EXACT_END: f64 = 9_007_199_254_740_992.0;

/// The facts of one run.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    pub payload: &'a Value,
    pub output: &'a Value,
    /// What the gate knows of the run itself: attempt, flow, model …
    pub run: &'a Value,
}

/// The names a rule may use.
pub(super) const NAMES: [&str; 3] = ["payload", "output", "run"];

impl<'a> Facts<'a> {
    pub(super) fn named(&self, name: &str) -> &'a Value {
        match name {
            "payload" => self.payload,
            "output" => self.output,
            _ => self.run,
        }
    }
}

/// How much may still be brought in.
pub(super) struct Room {
    values: usize,
    text_bytes: usize,
}

impl Default for Room {
    fn default() -> Room {
        Room { values: VALUES_MAX, text_bytes: TEXT_BYTES_MAX }
    }
}

impl Room {
    /// Turns a fact into the library's form.
    ///
    /// Errors: too much, or a number that the library would round; the text continues "payload …".
    pub(super) fn bring_in(&mut self, value: &Value) -> Result<Fact, String> {
        self.values = self.values.checked_sub(1).ok_or_else(|| format!("has more than {VALUES_MAX} values"))?;
        match value {
            Value::Null => Ok(Fact::Null),
            Value::Bool(truth) => Ok(Fact::Bool(*truth)),
            Value::Number(number) => exact(number),
            Value::String(text) => Ok(Fact::String(self.text(text)?)),
            Value::Array(items) => {
                count(items.len())?;
                let items = items.iter().map(|item| self.bring_in(item)).collect::<Result<Vec<_>, _>>()?;
                Ok(Fact::List(Arc::new(items)))
            }
            Value::Object(members) => {
                count(members.len())?;
                let members = members.iter().map(|(name, value)| self.member(name, value));
                Ok(Fact::Map(Map { map: Arc::new(members.collect::<Result<HashMap<_, _>, _>>()?) }))
            }
        }
    }

    fn member(&mut self, name: &str, value: &Value) -> Result<(Key, Fact), String> {
        Ok((Key::String(self.text(name)?), self.bring_in(value)?))
    }

    fn text(&mut self, text: &str) -> Result<Arc<String>, String> {
        let left = self.text_bytes.checked_sub(text.len());
        self.text_bytes = left.ok_or_else(|| format!("has more than {TEXT_BYTES_MAX} bytes of text"))?;
        Ok(Arc::new(text.to_owned()))
    }
}

fn count(items: usize) -> Result<(), String> {
    if items > ITEMS_MAX {
        return Err(format!("has a list or object of {items} items, the limit is {ITEMS_MAX}"));
    }
    Ok(())
}

/// Integers must fit an i64. A double beyond 2^53 was an integer that did not fit, or might as well be one.
fn exact(number: &Number) -> Result<Fact, String> {
    if let Some(integer) = number.as_i64() {
        return Ok(Fact::Int(integer));
    }
    let double = number.as_f64().filter(|double| number.is_f64() && double.abs() < EXACT_END);
    double.map(Fact::Float).ok_or_else(|| "has a number too large to be compared exactly".to_owned())
}
