//! C, C++ and Rust: every value under the sign of its kind, as `harness/cpp/wire.hpp` has it. A
//! request says what it has, and the solution's end takes it for what its function wants.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value as Json, json};

use super::{ReplyError, cut};
use crate::cases::integer::Integer;
use crate::cases::report::Returned;
use crate::cases::value::Value;
use crate::verify::Language;

pub(super) fn request(
    language: Language,
    function: &str,
    args: &[Value],
) -> Result<String, &'static str> {
    // Its reader takes the names in this order alone.
    let (function, args) = (json!(function), json!(all(language, args)?));
    Ok(format!("{{\"plain\":{function},\"args\":{args}}}"))
}

fn all(language: Language, items: &[Value]) -> Result<Vec<Json>, &'static str> {
    items.iter().map(|item| put(language, item)).collect()
}

fn put(language: Language, value: &Value) -> Result<Json, &'static str> {
    Ok(match value {
        Value::None => Json::Null,
        Value::Bool(is) => json!(is),
        Value::Int(number) => json!({"i": number.to_string()}),
        Value::Float(number) => json!({"f": float_text(*number)}),
        Value::Text(text) => json!({"s": &**text}),
        // Texts of C and C++ are bytes; Rust's are not.
        Value::Bytes(bytes) if language != Language::Rust => json!({"b": STANDARD.encode(bytes)}),
        Value::List(items) => json!({"l": all(language, items)?}),
        Value::Tuple(items) => json!({"t": all(language, items)?}),
        Value::Set(items) => json!({"set": all(language, items)?}),
        Value::Dict(pairs) => {
            let pair = |(key, value): &(Value, Value)| {
                Ok(json!([put(language, key)?, put(language, value)?]))
            };
            let pairs: Result<Vec<Json>, &'static str> = pairs.iter().map(pair).collect();
            json!({"m": pairs?})
        }
        Value::Complex(..) | Value::Bytes(_) | Value::Other(_) => return Err(value.kind()),
    })
}

/// As both languages read it.
fn float_text(number: f64) -> String {
    if number.is_nan() {
        "nan".to_owned()
    } else {
        format!("{number:e}")
    }
}

pub(super) fn reply(json: &Json) -> Result<Returned, ReplyError> {
    if let Some(error) = json.get("error") {
        let text = |name| error.get(name).and_then(Json::as_str).map(cut);
        let (Some(kind), Some(message)) = (text("type"), text("message")) else {
            return Err(ReplyError::Coding("no error"));
        };
        return Ok(match kind.as_str() {
            "cannot cross" => Returned::CannotCross(message),
            _ => Returned::Raised { kind, message },
        });
    }
    let value = json.get("ok").ok_or(ReplyError::Coding("no answer"))?;
    Ok(Returned::Value(get(value)?))
}

fn get(json: &Json) -> Result<Value, ReplyError> {
    match json {
        Json::Null => return Ok(Value::None),
        Json::Bool(is) => return Ok(Value::Bool(*is)),
        _ => {}
    }
    let mut entries = json.as_object().into_iter().flatten();
    let (Some((sign, content)), None) = (entries.next(), entries.next()) else {
        return Err(ReplyError::Coding("no sign of its kind"));
    };
    let text = || content.as_str().ok_or(ReplyError::Coding("no text"));
    let list = || -> Result<Vec<Value>, ReplyError> {
        let items = content.as_array().ok_or(ReplyError::Coding("no list"))?;
        items.iter().map(get).collect()
    };
    Ok(match sign.as_str() {
        "i" => {
            let number = Integer::from_decimal(text()?);
            Value::Int(number.ok_or(ReplyError::Coding("no whole number"))?)
        }
        "f" => Value::Float(
            text()?
                .parse()
                .map_err(|_none| ReplyError::Coding("no number"))?,
        ),
        "s" => Value::text(text()?),
        "b" => {
            let bytes = STANDARD.decode(text()?);
            Value::Bytes(
                bytes
                    .map_err(|_none| ReplyError::Coding("no bytes"))?
                    .into(),
            )
        }
        "l" => Value::List(list()?.into()),
        "t" => Value::Tuple(list()?.into()),
        "set" => Value::Set(list()?.into()),
        "m" => Value::Dict(pairs(content)?.into()),
        _ => return Err(ReplyError::Coding("an unknown sign")),
    })
}

fn pairs(content: &Json) -> Result<Vec<(Value, Value)>, ReplyError> {
    let pairs = content.as_array().ok_or(ReplyError::Coding("no list"))?;
    let pair = |pair: &Json| match pair.as_array().map(Vec::as_slice) {
        Some([key, value]) => Ok((get(key)?, get(value)?)),
        _ => Err(ReplyError::Coding("no pair")),
    };
    pairs.iter().map(pair).collect()
}
