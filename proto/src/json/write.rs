//! From a message to JSON. Everything is written but absent optional fields and enums without a value.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use prost_reflect::{
    Cardinality, DynamicMessage, FieldDescriptor, Kind, MapKey, ReflectMessage, Value as Field,
};
use serde_json::{Map, Value, json};

use super::names::{BASE64_SUFFIX, enum_value_name};

/// A message as JSON.
pub(super) fn message(dynamic: &DynamicMessage) -> Value {
    let descriptor = dynamic.descriptor();
    if descriptor.full_name() == super::read::FILE {
        return file(dynamic);
    }
    if descriptor.full_name() == super::read::PLAIN {
        let text = dynamic.get_field_by_name("json");
        let text = text.as_ref().and_then(|text| text.as_str()).unwrap_or("");
        // What a peer sent as no JSON is told as the text that it is.
        return serde_json::from_str(text).unwrap_or_else(|_error| json!(text));
    }
    let mut object = Map::new();
    for field in descriptor.fields() {
        if field.supports_presence() && !dynamic.has_field(&field) {
            continue;
        }
        write_field(&mut object, &field, &dynamic.get_field(&field));
    }
    Value::Object(object)
}

fn write_field(object: &mut Map<String, Value>, field: &FieldDescriptor, value: &Field) {
    let name = field.name();
    match value {
        Field::Bytes(bytes) if field.cardinality() != Cardinality::Repeated => {
            match std::str::from_utf8(bytes) {
                Ok(text) => object.insert(name.to_owned(), text.into()),
                Err(_) => object.insert(
                    format!("{name}{BASE64_SUFFIX}"),
                    STANDARD.encode(bytes).into(),
                ),
            };
        }
        // Zero is "no value" in every enum of this package.
        Field::EnumNumber(0) => {}
        other => {
            object.insert(name.to_owned(), single(&field.kind(), other));
        }
    }
}

fn single(kind: &Kind, value: &Field) -> Value {
    match value {
        Field::Bool(value) => json!(value),
        Field::I32(value) => json!(value),
        Field::I64(value) => json!(value),
        Field::U32(value) => json!(value),
        Field::U64(value) => json!(value),
        Field::F32(value) => number(f64::from(*value)),
        Field::F64(value) => number(*value),
        Field::String(text) => json!(text),
        Field::Bytes(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => json!(text),
            Err(_) => json!({ "base64": STANDARD.encode(bytes) }),
        },
        Field::EnumNumber(number) => enum_value(kind, *number),
        Field::Message(inner) => message(inner),
        Field::List(items) => items.iter().map(|item| single(kind, item)).collect(),
        Field::Map(entries) => {
            let value_kind = match kind {
                Kind::Message(entry) => entry.map_entry_value_field().kind(),
                other => other.clone(),
            };
            let object: Map<String, Value> = entries
                .iter()
                .map(|(key, value)| (map_key(key), single(&value_kind, value)))
                .collect();
            Value::Object(object)
        }
    }
}

/// JSON has no word for these three; they are written as in protobuf's own JSON form.
fn number(value: f64) -> Value {
    if value.is_nan() {
        return json!("NaN");
    }
    if value.is_infinite() {
        return json!(if value > 0.0 { "Infinity" } else { "-Infinity" });
    }
    json!(value)
}

fn enum_value(kind: &Kind, number: i32) -> Value {
    if let Kind::Enum(descriptor) = kind
        && let Some(value) = descriptor.get_value(number)
    {
        return json!(enum_value_name(descriptor, value.name()));
    }
    // A newer peer sent it: its number is better than nothing.
    json!(number)
}

fn map_key(key: &MapKey) -> String {
    match key {
        MapKey::Bool(value) => value.to_string(),
        MapKey::I32(value) => value.to_string(),
        MapKey::I64(value) => value.to_string(),
        MapKey::U32(value) => value.to_string(),
        MapKey::U64(value) => value.to_string(),
        MapKey::String(text) => text.clone(),
    }
}

fn file(dynamic: &DynamicMessage) -> Value {
    let content = dynamic
        .get_field_by_name("content")
        .and_then(|value| value.as_bytes().cloned())
        .unwrap_or_default();
    let mode = dynamic
        .has_field_by_name("mode")
        .then(|| {
            dynamic
                .get_field_by_name("mode")
                .and_then(|value| value.as_u32())
        })
        .flatten();
    match (std::str::from_utf8(&content), mode) {
        (Ok(text), None) => json!(text),
        (Ok(text), Some(mode)) => json!({ "text": text, "mode": mode }),
        (Err(_), None) => json!({ "base64": STANDARD.encode(&content) }),
        (Err(_), Some(mode)) => json!({ "base64": STANDARD.encode(&content), "mode": mode }),
    }
}
