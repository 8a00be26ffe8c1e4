//! Values as they are written in a request: JSON, with tagged forms for what JSON has no word for.
//!
//! `{"$bytes": base64}`, `{"$tuple": [..]}`, `{"$set": [..]}`, `{"$float": "nan" | "inf" | "-inf" | "1e300"}`,
//! `{"$int": "123"}`, `{"$complex": [re, im]}`, `{"$dict": [[key, value], ..]}`. Any other object is a
//! dict with texts as keys.

use std::collections::BTreeSet;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value as Json;

use super::integer::Integer;
use super::value::{Value, key};

/// Bytes of a dict's key or a set's member at most.
const KEY_BYTES_MAX: usize = 1 << 20;
/// From here on a JSON number is not exact: a whole number has become a float by being read.
const EXACT_BELOW: f64 = 9_223_372_036_854_775_808.0;

/// Why a text is no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LiteralError {
    /// It is no JSON.
    #[error("is no JSON: {why}")]
    NotJson {
        /// The parser's words.
        why: String,
    },
    /// A number that JSON does not carry exactly.
    #[error(
        "number {number} is too large to be exact; write {{\"$int\": \"..\"}} or {{\"$float\": \"..\"}}"
    )]
    Inexact {
        /// The number.
        number: String,
    },
    /// An object that begins with `$` and is no tagged form.
    #[error("{tag} is no tagged value; known: $bytes, $tuple, $set, $float, $int, $complex, $dict")]
    UnknownTag {
        /// The key.
        tag: String,
    },
    /// A tagged form with a wrong content.
    #[error("{tag} needs {needs}")]
    Content {
        /// The tag.
        tag: &'static str,
        /// What it needs.
        needs: &'static str,
    },
    /// It must be a list.
    #[error("is no list")]
    NotAList,
    /// It must be an object.
    #[error("is no object")]
    NotAnObject,
}

/// Reads a value.
///
/// # Errors
/// Any [`LiteralError`].
pub fn parse(text: &str) -> Result<Value, LiteralError> {
    from_json(&json(text)?)
}

/// Reads a list of values, such as the arguments of a call.
///
/// # Errors
/// Any [`LiteralError`].
pub fn parse_list(text: &str) -> Result<Vec<Value>, LiteralError> {
    match json(text)? {
        Json::Array(items) => items.iter().map(from_json).collect(),
        _ => Err(LiteralError::NotAList),
    }
}

/// Reads named values, such as the keyword arguments of a call.
///
/// # Errors
/// Any [`LiteralError`].
pub fn parse_named(text: &str) -> Result<Vec<(String, Value)>, LiteralError> {
    match json(text)? {
        Json::Object(entries) => entries
            .iter()
            .map(|(name, value)| Ok((name.clone(), from_json(value)?)))
            .collect(),
        _ => Err(LiteralError::NotAnObject),
    }
}

fn json(text: &str) -> Result<Json, LiteralError> {
    serde_json::from_str(text).map_err(|error| LiteralError::NotJson {
        why: error.to_string(),
    })
}

/// From JSON that was read already.
///
/// # Errors
/// Any [`LiteralError`].
pub fn from_json(json: &Json) -> Result<Value, LiteralError> {
    match json {
        Json::Null => Ok(Value::None),
        Json::Bool(is) => Ok(Value::Bool(*is)),
        Json::Number(number) => number_value(number),
        Json::String(text) => Ok(Value::text(text)),
        Json::Array(items) => Ok(Value::List(all(items)?.into())),
        Json::Object(entries) => {
            let mut first = entries.iter();
            match (first.next(), first.next()) {
                (Some((tag, content)), None) if tag.starts_with('$') => tagged(tag, content),
                _ => {
                    let pairs: Result<Vec<_>, LiteralError> = entries
                        .iter()
                        .map(|(key, value)| Ok((Value::text(key), from_json(value)?)))
                        .collect();
                    Ok(Value::Dict(pairs?.into()))
                }
            }
        }
    }
}

fn all(items: &[Json]) -> Result<Vec<Value>, LiteralError> {
    items.iter().map(from_json).collect()
}

fn number_value(number: &serde_json::Number) -> Result<Value, LiteralError> {
    if let Some(whole) = number.as_i64() {
        return Ok(Value::Int(whole.into()));
    }
    if let Some(whole) = number.as_u64() {
        return Ok(Value::Int(whole.into()));
    }
    match number.as_f64() {
        Some(float) if float.abs() < EXACT_BELOW => Ok(Value::Float(float)),
        _ => Err(LiteralError::Inexact {
            number: number.to_string(),
        }),
    }
}

fn tagged(tag: &str, content: &Json) -> Result<Value, LiteralError> {
    let wrong = |tag, needs| LiteralError::Content { tag, needs };
    let list = |tag| content.as_array().ok_or_else(|| wrong(tag, "a list"));
    match tag {
        "$bytes" => {
            let bytes = content.as_str().and_then(|text| STANDARD.decode(text).ok());
            let bytes = bytes.ok_or_else(|| wrong("$bytes", "text in base64"))?;
            Ok(Value::Bytes(bytes.into()))
        }
        "$tuple" => Ok(Value::Tuple(all(list("$tuple")?)?.into())),
        "$set" => {
            let items = all(list("$set")?)?;
            let keys: Option<BTreeSet<_>> =
                items.iter().map(|item| key(item, KEY_BYTES_MAX)).collect();
            match keys {
                Some(keys) if keys.len() == items.len() => Ok(Value::Set(items.into())),
                _ => Err(wrong("$set", "members that can be hashed, each once")),
            }
        }
        "$float" => {
            let number = content.as_str().and_then(|text| text.parse().ok());
            number
                .map(Value::Float)
                .ok_or_else(|| wrong("$float", "text such as \"nan\", \"-inf\" or \"1e300\""))
        }
        "$int" => {
            let number = content.as_str().and_then(Integer::from_decimal);
            number
                .map(Value::Int)
                .ok_or_else(|| wrong("$int", "text of at most 10,000 decimal digits"))
        }
        "$complex" => match list("$complex")?.as_slice() {
            [real, imaginary] => match (real.as_f64(), imaginary.as_f64()) {
                (Some(real), Some(imaginary)) => Ok(Value::Complex(real, imaginary)),
                _ => Err(wrong("$complex", "two numbers")),
            },
            _ => Err(wrong("$complex", "two numbers")),
        },
        "$dict" => {
            let mut pairs = Vec::new();
            let mut keys = BTreeSet::new();
            for pair in list("$dict")? {
                let [name, value] = pair.as_array().map_or(&[][..], Vec::as_slice) else {
                    return Err(wrong("$dict", "a list of [key, value]"));
                };
                let name = from_json(name)?;
                let fresh = key(&name, KEY_BYTES_MAX).is_some_and(|key| keys.insert(key));
                if !fresh {
                    return Err(wrong("$dict", "keys that can be hashed, each once"));
                }
                pairs.push((name, from_json(value)?));
            }
            Ok(Value::Dict(pairs.into()))
        }
        other => Err(LiteralError::UnknownTag {
            tag: other.chars().take(40).collect(),
        }),
    }
}
