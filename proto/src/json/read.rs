//! From JSON to a message, refusing everything that the message cannot say.

use std::collections::HashMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use prost_reflect::prost::bytes::Bytes;
use prost_reflect::{
    DynamicMessage, EnumDescriptor, FieldDescriptor, Kind, MapKey, MessageDescriptor,
    Value as Field,
};

use super::JsonError;
use super::names::{BASE64_SUFFIX, enum_names, enum_value_name, is_size, nearest};
use super::tree::Tree;
use crate::size::parse_size_bytes;

/// The message that stands for one file and has a JSON form of its own.
pub(super) const FILE: &str = "rollcage.v1.File";

/// The message that may also be written as its code alone.
const TEST_CODE: &str = "rollcage.v1.TestCode";

/// The message whose JSON form is any JSON: it keeps its text.
pub(super) const PLAIN: &str = "rollcage.v1.PlainValue";

/// A message from JSON; `path` names it in errors.
pub(super) fn message(
    descriptor: &MessageDescriptor,
    tree: &Tree,
    path: &str,
) -> Result<DynamicMessage, JsonError> {
    if descriptor.full_name() == FILE {
        return file(descriptor, tree, path);
    }
    if descriptor.full_name() == TEST_CODE
        && let Tree::Text(code) = tree
    {
        let mut result = DynamicMessage::new(descriptor.clone());
        result.set_field_by_name("code", Field::String(code.clone()));
        return Ok(result);
    }
    if descriptor.full_name() == PLAIN {
        let mut result = DynamicMessage::new(descriptor.clone());
        let value = plain(tree, path)?;
        result.set_field_by_name("json", Field::String(value.to_string()));
        return Ok(result);
    }
    let entries = object(tree, path)?;
    let mut result = DynamicMessage::new(descriptor.clone());
    // Field (or oneof) -> the key that set it.
    let mut seen: HashMap<String, &str> = HashMap::new();
    for (key, value) in entries {
        let (field, base64) =
            find_field(descriptor, key).ok_or_else(|| unknown(descriptor, path, key))?;
        let slot = match field.containing_oneof() {
            Some(oneof) => oneof.full_name().to_owned(),
            None => field.name().to_owned(),
        };
        let here = join(path, key);
        if let Some(other) = seen.insert(slot, key) {
            let other = (other != key).then(|| other.to_owned());
            return Err(JsonError::Duplicate { path: here, other });
        }
        if *value == Tree::Null && !is_plain(&field) {
            continue;
        }
        let value = if base64 {
            Field::Bytes(base64_bytes(value, &here)?)
        } else {
            field_value(&field, value, &here)?
        };
        result.set_field(&field, value);
    }
    Ok(result)
}

/// Whether null is a value of the field, and not its absence.
fn is_plain(field: &FieldDescriptor) -> bool {
    matches!(field.kind(), Kind::Message(message) if message.full_name() == PLAIN)
}

/// The same JSON; no key may stand twice.
fn plain(tree: &Tree, path: &str) -> Result<serde_json::Value, JsonError> {
    use serde_json::Value;
    Ok(match tree {
        Tree::Null => Value::Null,
        Tree::Bool(value) => Value::Bool(*value),
        Tree::Number(value) => Value::Number(value.clone()),
        Tree::Text(text) => Value::String(text.clone()),
        Tree::List(items) => {
            let items = items.iter().map(|item| plain(item, path));
            Value::Array(items.collect::<Result<_, _>>()?)
        }
        Tree::Object(entries) => {
            let mut object = serde_json::Map::new();
            for (key, value) in entries {
                if object.insert(key.clone(), plain(value, path)?).is_some() {
                    let path = join(path, key);
                    return Err(JsonError::Duplicate { path, other: None });
                }
            }
            Value::Object(object)
        }
    })
}

fn object<'a>(tree: &'a Tree, path: &str) -> Result<&'a [(String, Tree)], JsonError> {
    match tree {
        Tree::Object(entries) => Ok(entries),
        other => Err(refused(path, other, "an object")),
    }
}

/// The field that a key means, and whether its value is base64.
fn find_field(descriptor: &MessageDescriptor, key: &str) -> Option<(FieldDescriptor, bool)> {
    if let Some(field) = descriptor.get_field_by_name(key) {
        return Some((field, false));
    }
    let field = descriptor.get_field_by_name(key.strip_suffix(BASE64_SUFFIX)?)?;
    (field.kind() == Kind::Bytes && !field.is_list()).then_some((field, true))
}

fn unknown(descriptor: &MessageDescriptor, path: &str, key: &str) -> JsonError {
    let known: Vec<String> = descriptor
        .fields()
        .map(|field| field.name().to_owned())
        .collect();
    JsonError::UnknownField {
        path: join(path, key),
        nearest: nearest(key, &known),
        known,
    }
}

fn field_value(field: &FieldDescriptor, tree: &Tree, path: &str) -> Result<Field, JsonError> {
    if field.is_map() {
        return map(field, tree, path);
    }
    if field.is_list() {
        let Tree::List(items) = tree else {
            return Err(refused(path, tree, "a list"));
        };
        let items: Result<Vec<Field>, JsonError> = items
            .iter()
            .enumerate()
            .map(|(index, item)| single(field, item, &format!("{path}[{index}]")))
            .collect();
        return Ok(Field::List(items?));
    }
    single(field, tree, path)
}

fn map(field: &FieldDescriptor, tree: &Tree, path: &str) -> Result<Field, JsonError> {
    let entries = object(tree, path)?;
    let Kind::Message(entry) = field.kind() else {
        return Err(refused(path, tree, "nothing: the field is no map"));
    };
    let value_field = entry.map_entry_value_field();
    let mut map = HashMap::with_capacity(entries.len());
    for (key, value) in entries {
        let here = format!("{path}[{}]", Tree::Text(key.clone()).shown());
        let value = single(&value_field, value, &here)?;
        // Every map of this package has text as key.
        if map.insert(MapKey::String(key.clone()), value).is_some() {
            return Err(JsonError::Duplicate {
                path: here,
                other: None,
            });
        }
    }
    Ok(Field::Map(map))
}

fn single(field: &FieldDescriptor, tree: &Tree, path: &str) -> Result<Field, JsonError> {
    match (field.kind(), tree) {
        (Kind::Bool, Tree::Bool(value)) => Ok(Field::Bool(*value)),
        (Kind::Bool, other) => Err(refused(path, other, "true or false")),
        (Kind::String, Tree::Text(text)) => Ok(Field::String(text.clone())),
        (Kind::String, other) => Err(refused(path, other, "text")),
        (Kind::Bytes, other) => bytes(other, path).map(Field::Bytes),
        (Kind::Enum(descriptor), other) => enumeration(&descriptor, other, path),
        (Kind::Message(descriptor), other) => message(&descriptor, other, path).map(Field::Message),
        (Kind::Double, other) => float(other, path).map(Field::F64),
        (_, other) => integer(field, other, path),
    }
}

fn bytes(tree: &Tree, path: &str) -> Result<Bytes, JsonError> {
    const ALLOWED: &str = "text, or {\"base64\": …}";
    match tree {
        Tree::Text(text) => Ok(Bytes::copy_from_slice(text.as_bytes())),
        Tree::Object(entries) => match entries.as_slice() {
            [(key, value)] if key == "base64" => base64_bytes(value, &join(path, key)),
            _ => Err(refused(path, tree, ALLOWED)),
        },
        other => Err(refused(path, other, ALLOWED)),
    }
}

fn base64_bytes(tree: &Tree, path: &str) -> Result<Bytes, JsonError> {
    let Tree::Text(text) = tree else {
        return Err(refused(path, tree, "base64 text"));
    };
    STANDARD
        .decode(text)
        .map(Bytes::from)
        .map_err(|error| JsonError::Value {
            path: path.to_owned(),
            value: tree.shown(),
            allowed: format!("base64 text with padding ({error})").to_lowercase(),
        })
}

fn enumeration(descriptor: &EnumDescriptor, tree: &Tree, path: &str) -> Result<Field, JsonError> {
    if let Tree::Text(text) = tree {
        let found = descriptor.values().find(|value| {
            value.number() != 0 && enum_value_name(descriptor, value.name()) == *text
        });
        if let Some(value) = found {
            return Ok(Field::EnumNumber(value.number()));
        }
    }
    let known = enum_names(descriptor);
    let hint = match tree {
        Tree::Text(text) => super::names::did_you_mean(nearest(text, &known).as_deref()),
        _ => String::new(),
    };
    Err(refused(path, tree, &format!("{}{hint}", known.join(", "))))
}

fn float(tree: &Tree, path: &str) -> Result<f64, JsonError> {
    match tree {
        Tree::Number(number) => number.as_f64(),
        Tree::Text(text) => match text.as_str() {
            "NaN" => Some(f64::NAN),
            "Infinity" => Some(f64::INFINITY),
            "-Infinity" => Some(f64::NEG_INFINITY),
            _ => None,
        },
        _ => None,
    }
    .ok_or_else(|| refused(path, tree, "a number"))
}

fn integer(field: &FieldDescriptor, tree: &Tree, path: &str) -> Result<Field, JsonError> {
    let size = is_size(field);
    let value: Option<i128> = match tree {
        Tree::Number(number) => number
            .as_i64()
            .map(i128::from)
            .or_else(|| number.as_u64().map(i128::from)),
        Tree::Text(text) if size => {
            let bytes = parse_size_bytes(text).map_err(|error| JsonError::Value {
                path: path.to_owned(),
                value: tree.shown(),
                allowed: format!(
                    "bytes as a whole number, or a size such as \"512 MiB\" (it {error})"
                ),
            })?;
            Some(i128::from(bytes))
        }
        _ => None,
    };
    let (fit, range) = match field.kind() {
        Kind::Int32 => (
            value
                .and_then(|value| i32::try_from(value).ok())
                .map(Field::I32),
            "a whole number from -2147483648 to 2147483647",
        ),
        Kind::Int64 => (
            value
                .and_then(|value| i64::try_from(value).ok())
                .map(Field::I64),
            "a whole number from -9223372036854775808 to 9223372036854775807",
        ),
        Kind::Uint32 => (
            value
                .and_then(|value| u32::try_from(value).ok())
                .map(Field::U32),
            "a whole number from 0 to 4294967295",
        ),
        Kind::Uint64 => (
            value
                .and_then(|value| u64::try_from(value).ok())
                .map(Field::U64),
            "a whole number from 0 to 18446744073709551615",
        ),
        _ => (None, "nothing: this kind of field has no JSON form"),
    };
    let allowed = if size {
        format!("{range}, or a size such as \"512 MiB\"")
    } else {
        range.to_owned()
    };
    fit.ok_or_else(|| refused(path, tree, &allowed))
}

fn file(
    descriptor: &MessageDescriptor,
    tree: &Tree,
    path: &str,
) -> Result<DynamicMessage, JsonError> {
    let mut result = DynamicMessage::new(descriptor.clone());
    if let Tree::Text(text) = tree {
        result.set_field_by_name(
            "content",
            Field::Bytes(Bytes::copy_from_slice(text.as_bytes())),
        );
        return Ok(result);
    }
    let Tree::Object(entries) = tree else {
        return Err(refused(
            path,
            tree,
            "text, or {\"text\" | \"base64\", \"mode\"}",
        ));
    };
    let mut content_key: Option<&str> = None;
    let mut mode_seen = false;
    for (key, value) in entries {
        let here = join(path, key);
        match key.as_str() {
            "text" | "base64" => {
                if let Some(other) = content_key.replace(key) {
                    let other = (other != key).then(|| other.to_owned());
                    return Err(JsonError::Duplicate { path: here, other });
                }
                let content = match (key.as_str(), value) {
                    ("base64", value) => base64_bytes(value, &here)?,
                    (_, Tree::Text(text)) => Bytes::copy_from_slice(text.as_bytes()),
                    (_, other) => return Err(refused(&here, other, "text")),
                };
                result.set_field_by_name("content", Field::Bytes(content));
            }
            "mode" => {
                if std::mem::replace(&mut mode_seen, true) {
                    return Err(JsonError::Duplicate {
                        path: here,
                        other: None,
                    });
                }
                if *value != Tree::Null {
                    result.set_field_by_name("mode", Field::U32(mode(value, &here)?));
                }
            }
            _ => {
                let known = ["text", "base64", "mode"].map(str::to_owned).to_vec();
                return Err(JsonError::UnknownField {
                    path: here,
                    nearest: nearest(key, &known),
                    known,
                });
            }
        }
    }
    match content_key {
        Some(_) => Ok(result),
        None => Err(refused(
            path,
            tree,
            "text, or an object with \"text\" or \"base64\"",
        )),
    }
}

/// Permission bits: a number, or octal digits as text.
fn mode(tree: &Tree, path: &str) -> Result<u32, JsonError> {
    match tree {
        Tree::Number(number) => number.as_u64().and_then(|mode| u32::try_from(mode).ok()),
        Tree::Text(text) => u32::from_str_radix(text.trim_start_matches("0o"), 8).ok(),
        _ => None,
    }
    .filter(|mode| *mode <= 0o777)
    .ok_or_else(|| {
        refused(
            path,
            tree,
            "a number from 0 to 511, or octal digits as text such as \"0755\"",
        )
    })
}

fn refused(path: &str, tree: &Tree, allowed: &str) -> JsonError {
    let path = if path.is_empty() {
        "the whole value"
    } else {
        path
    };
    JsonError::Value {
        path: path.to_owned(),
        value: tree.shown(),
        allowed: allowed.to_owned(),
    }
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() {
        key.to_owned()
    } else {
        format!("{path}.{key}")
    }
}
