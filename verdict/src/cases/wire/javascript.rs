//! JavaScript: the coding of `harness/js/values.cjs`, as far as it is plain.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value as Json, json};

use super::{ReplyError, cut};
use crate::cases::integer::Integer;
use crate::cases::report::Returned;
use crate::cases::value::Value;

/// Whole numbers up to here are the language's own numbers; beyond they are its large ones.
const SAFE_MAX: i64 = (1 << 53) - 1;

pub(super) fn request(function: &str, args: &[Value]) -> Result<Json, &'static str> {
    Ok(json!(["Q", "run", [function, {"l": all(args)?}]]))
}

fn all(items: &[Value]) -> Result<Vec<Json>, &'static str> {
    items.iter().map(put).collect()
}

fn put(value: &Value) -> Result<Json, &'static str> {
    Ok(match value {
        Value::None => Json::Null,
        Value::Bool(is) => json!(is),
        Value::Int(number) => match number.to_i64() {
            Some(small) if small.abs_diff(0) <= SAFE_MAX.unsigned_abs() => json!(small),
            _ => json!({"n": hexadecimal(number)}),
        },
        Value::Float(number) if number.is_nan() => json!({"f": "NaN"}),
        Value::Float(number) if number.is_infinite() => {
            json!({"f": if *number > 0.0 { "Infinity" } else { "-Infinity" }})
        }
        Value::Float(number) if *number == 0.0 && number.is_sign_negative() => json!({"f": "-0"}),
        Value::Float(number) => json!(number),
        Value::Text(text) => json!(&**text),
        Value::Bytes(bytes) => json!({"b": ["Uint8Array", STANDARD.encode(bytes)]}),
        Value::List(items) | Value::Tuple(items) => json!({"l": all(items)?}),
        Value::Set(items) => json!({"s": all(items)?}),
        Value::Dict(pairs) => {
            let texts = pairs.iter().all(|(key, _)| matches!(key, Value::Text(_)));
            let mut flat = Vec::new();
            for (key, value) in pairs.iter() {
                flat.extend([put(key)?, put(value)?]);
            }
            json!({if texts { "o" } else { "m" }: flat})
        }
        Value::Complex(..) | Value::Other(_) => return Err(value.kind()),
    })
}

fn hexadecimal(number: &Integer) -> String {
    // Two's complement, the lowest byte first; the language wants a sign and the amount.
    let mut bytes = number.signed_bytes();
    let negative = bytes.last().is_some_and(|byte| byte & 0x80 != 0);
    if negative {
        negate(&mut bytes);
    }
    bytes.reverse();
    format!("{}{}", if negative { "-" } else { "" }, hex::encode(bytes))
}

/// In two's complement, the lowest byte first.
fn negate(bytes: &mut [u8]) {
    let mut carry = true;
    for byte in bytes {
        let (sum, over) = (!*byte).overflowing_add(u8::from(carry));
        (*byte, carry) = (sum, over);
    }
}

pub(super) fn reply(json: &Json) -> Result<Returned, ReplyError> {
    let Some([Json::String(kind), Json::String(how), tree, _changes]) =
        json.as_array().map(Vec::as_slice)
    else {
        return Err(ReplyError::Coding("no answer"));
    };
    if kind != "A" {
        return Err(ReplyError::Coding("no answer"));
    }
    match how.as_str() {
        "ok" => Ok(match Reader::default().get(tree)? {
            Ok(value) => Returned::Value(value),
            Err(kind) => Returned::CannotCross(kind.to_owned()),
        }),
        "cannot" => Ok(Returned::CannotCross(cut(tree.as_str().unwrap_or("")))),
        "error" => Ok(raised(tree)),
        "load" => {
            let text = |at: usize| cut(tree.get(at).and_then(Json::as_str).unwrap_or(""));
            Ok(Returned::Raised {
                kind: text(0),
                message: text(1),
            })
        }
        _ => Err(ReplyError::Coding("no answer")),
    }
}

/// Whatever was thrown.
fn raised(tree: &Json) -> Returned {
    let part = |at: usize| tree.get("x").and_then(|parts| parts.get(at)?.as_str());
    Returned::Raised {
        kind: cut(part(1).unwrap_or("thrown")),
        message: match part(2) {
            Some(message) => cut(message),
            None => cut(&tree.to_string()),
        },
    }
}

/// Containers in the order in which they begin: a later one may name an earlier one.
#[derive(Default)]
struct Reader {
    known: Vec<Option<Value>>,
}

/// A value, or which kind of thing it is that is none.
type Read = Result<Value, &'static str>;

impl Reader {
    fn get(&mut self, tree: &Json) -> Result<Read, ReplyError> {
        Ok(Ok(match tree {
            Json::Null => Value::None,
            Json::Bool(is) => Value::Bool(*is),
            Json::String(text) => Value::text(text),
            Json::Number(number) => match (number.as_i64(), number.as_f64()) {
                (Some(whole), _) => Value::Int(whole.into()),
                (None, Some(number)) => match Integer::from_f64(number) {
                    Some(whole) => Value::Int(whole),
                    None => Value::Float(number),
                },
                (None, None) => return Err(ReplyError::Coding("no number")),
            },
            Json::Array(_) => return Err(ReplyError::Coding("a list without a sign")),
            Json::Object(_) => return self.signed(tree),
        }))
    }

    fn signed(&mut self, tree: &Json) -> Result<Read, ReplyError> {
        let list = |sign: &str| tree.get(sign).and_then(Json::as_array);
        if let Some(items) = list("l") {
            if tree.get("x").is_some() {
                return Ok(Err("an array with names"));
            }
            return self.container(items, |items| Some(Value::List(items.into())));
        }
        if let Some(items) = list("s") {
            return self.container(items, |items| Some(Value::Set(items.into())));
        }
        if let Some(items) = list("o").or_else(|| list("m")) {
            return self.container(items, |items| Some(Value::Dict(pairs(items)?.into())));
        }
        let text = |sign: &str| tree.get(sign).and_then(Json::as_str);
        if let Some(number) = text("f") {
            let number = match number {
                "NaN" => f64::NAN,
                "Infinity" => f64::INFINITY,
                "-Infinity" => f64::NEG_INFINITY,
                "-0" => -0.0,
                _ => return Err(ReplyError::Coding("no number")),
            };
            return Ok(Ok(Value::Float(number)));
        }
        if let Some(digits) = text("n") {
            let number = whole(digits).ok_or(ReplyError::Coding("no whole number"))?;
            return Ok(Ok(Value::Int(number)));
        }
        if let Some(number) = tree.get("r").and_then(Json::as_u64) {
            return self.again(number);
        }
        if let Some(parts) = list("b") {
            return bytes(parts);
        }
        const KINDS: [(&str, &str); 9] = [
            ("e", "a hole"),
            ("h", "an object with methods, or a function"),
            ("p", "a promise"),
            ("x", "an error"),
            ("d", "a date"),
            ("re", "a regular expression"),
            ("w", "a boxed value"),
            ("y", "a symbol"),
            ("own", "an object of nobody"),
        ];
        if tree.get("u").is_some() {
            return Ok(Ok(Value::None));
        }
        let kind = KINDS.iter().find(|(sign, _)| tree.get(sign).is_some());
        kind.map(|(_, kind)| Err(*kind))
            .ok_or(ReplyError::Coding("an unknown sign"))
    }

    fn container(
        &mut self,
        items: &[Json],
        make: impl Fn(Vec<Value>) -> Option<Value>,
    ) -> Result<Read, ReplyError> {
        let number = self.known.len();
        self.known.push(None);
        let mut values = Vec::with_capacity(items.len());
        for item in items {
            match self.get(item)? {
                Ok(value) => values.push(value),
                Err(kind) => return Ok(Err(kind)),
            }
        }
        let value = make(values).ok_or(ReplyError::Coding("a key without a value"))?;
        if let Some(place) = self.known.get_mut(number) {
            *place = Some(value.clone());
        }
        Ok(Ok(value))
    }

    /// A container that was there before. What is in itself is no plain value.
    fn again(&mut self, number: u64) -> Result<Read, ReplyError> {
        let number = usize::try_from(number).unwrap_or(usize::MAX);
        match self.known.get(number) {
            Some(Some(value)) => Ok(Ok(value.clone())),
            Some(None) => Ok(Err("a container that is in itself")),
            None => Err(ReplyError::Coding("no such container")),
        }
    }
}

fn pairs(items: Vec<Value>) -> Option<Vec<(Value, Value)>> {
    let mut items = items.into_iter();
    let mut pairs = Vec::new();
    while let Some(key) = items.next() {
        pairs.push((key, items.next()?));
    }
    Some(pairs)
}

fn bytes(parts: &[Json]) -> Result<Read, ReplyError> {
    let [Json::String(view), Json::String(text)] = parts else {
        return Err(ReplyError::Coding("no bytes"));
    };
    let bytes = STANDARD.decode(text);
    let bytes = bytes.map_err(|_none| ReplyError::Coding("no bytes"))?;
    Ok(match view.as_str() {
        "" | "Buffer" | "Uint8Array" | "Uint8ClampedArray" => Ok(Value::Bytes(bytes.into())),
        _ => Err("an array of numbers of one size"),
    })
}

/// From a sign and hexadecimal digits.
fn whole(digits: &str) -> Option<Integer> {
    let (negative, digits) = match digits.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, digits),
    };
    let even = if digits.len() % 2 == 0 { "" } else { "0" };
    let mut bytes = hex::decode(format!("00{even}{digits}")).ok()?;
    bytes.reverse();
    if negative {
        negate(&mut bytes);
    }
    Some(Integer::from_signed_bytes(&bytes))
}
