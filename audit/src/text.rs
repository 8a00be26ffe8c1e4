//! Bytes a sandbox or a client chose, made safe to stand in a record: capped, and base64 where
//! they are not UTF-8. Escaping is `encode.rs`'s.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// Untrusted bytes as a JSON value of at most about `bytes_max` bytes of content.
///
/// A text that fits is a string. Anything else is an object: `{"text": …}` or, where the bytes
/// are not UTF-8, `{"base64": …}`, with `"bytes"` = the length before the cut if it was cut.
#[must_use]
pub fn untrusted(bytes: &[u8], bytes_max: usize) -> Value {
    match std::str::from_utf8(bytes) {
        Ok(text) if bytes.len() <= bytes_max => Value::from(text),
        Ok(text) => {
            let cut = text.floor_char_boundary(bytes_max);
            json!({ "text": &text[..cut], "bytes": bytes.len() })
        }
        Err(_) if bytes.len() <= bytes_max => json!({ "base64": STANDARD.encode(bytes) }),
        Err(_) => json!({ "base64": STANDARD.encode(&bytes[..bytes_max]), "bytes": bytes.len() }),
    }
}

/// Untrusted arguments as an array: `each_bytes_max` an item, `items_max` items, then a last
/// object `{"omitted": n}` if there were more.
#[must_use]
pub fn untrusted_list<'a>(
    items: impl IntoIterator<Item = &'a [u8]>,
    items_max: usize,
    each_bytes_max: usize,
) -> Value {
    let mut values = Vec::new();
    let mut omitted = 0_u64;
    for item in items {
        if values.len() < items_max {
            values.push(untrusted(item, each_bytes_max));
        } else {
            omitted += 1;
        }
    }
    if omitted > 0 {
        values.push(json!({ "omitted": omitted }));
    }
    Value::Array(values)
}

#[cfg(test)]
mod tests;
