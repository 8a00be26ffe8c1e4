//! The canonical form of a policy and its digest.
//!
//! Canonical form: JSON without white space, object keys sorted by bytes, list order as in the
//! policy (lists that are sets are sorted by `resolve`). It does not depend on how the JSON
//! library orders its maps.

#[cfg(test)]
mod tests;

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::policy::Policy;

impl Policy {
    /// The canonical JSON of this policy.
    pub fn canonical_json(&self) -> Vec<u8> {
        // A policy holds only strings, integers, booleans and lists of them: turning it into a
        // JSON value cannot fail, and `Null` would be visible at once in every digest.
        let value = serde_json::to_value(self).unwrap_or(Value::Null);
        let mut out = String::new();
        write_canonical(&value, &mut out);
        out.into_bytes()
    }

    /// SHA-256 of [`Policy::canonical_json`] in lower-case hex.
    pub fn sha256_hex(&self) -> String {
        hex::encode(Sha256::digest(self.canonical_json()))
    }
}

fn write_canonical(value: &Value, out: &mut String) {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by(|left, right| left.0.cmp(right.0));
            out.push('{');
            for (index, (key, member)) in entries.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_canonical(&Value::String(key.clone()), out);
                out.push(':');
                write_canonical(member, out);
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_canonical(item, out);
            }
            out.push(']');
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            out.push_str(&value.to_string());
        }
    }
}
