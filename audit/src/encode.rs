//! Canonical JSON: one value, one byte sequence. Sorted keys, no white space, integers only,
//! a fixed set of escapes. Knows no record.

use serde_json::{Map, Value};

/// Deepest nesting of arrays and objects in a record.
pub const DEPTH_MAX: usize = 16;
/// Longest object key, in bytes.
pub const KEY_BYTES_MAX: usize = 64;

/// Why a value has no canonical form.
#[derive(Debug, thiserror::Error)]
pub enum EncodeError {
    /// A number that is no 64-bit integer.
    #[error("number {number} is not an integer of 64 bits: write it in a smaller unit")]
    NotInteger {
        /// The number.
        number: String,
    },
    /// Nesting beyond `DEPTH_MAX`.
    #[error("nested deeper than {DEPTH_MAX} levels")]
    TooDeep,
    /// A key outside the allowed characters or length.
    #[error(
        "key {key:?} must be 1 to {KEY_BYTES_MAX} printable ASCII characters, no quote, no backslash"
    )]
    Key {
        /// The key, at most 80 characters.
        key: String,
    },
}

/// The canonical bytes of `value`.
///
/// # Errors
/// See [`EncodeError`].
pub fn canonical(value: &Value) -> Result<Vec<u8>, EncodeError> {
    let mut out = Vec::with_capacity(512);
    write_value(&mut out, value, 0)?;
    Ok(out)
}

fn write_value(out: &mut Vec<u8>, value: &Value, depth: usize) -> Result<(), EncodeError> {
    if depth > DEPTH_MAX {
        return Err(EncodeError::TooDeep);
    }
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::Number(number) if number.is_i64() || number.is_u64() => {
            out.extend_from_slice(number.to_string().as_bytes());
        }
        Value::Number(number) => {
            return Err(EncodeError::NotInteger {
                number: number.to_string(),
            });
        }
        Value::String(text) => write_string(out, text),
        Value::Array(items) => {
            out.push(b'[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write_value(out, item, depth + 1)?;
            }
            out.push(b']');
        }
        Value::Object(map) => write_object(out, map, depth)?,
    }
    Ok(())
}

fn write_object(
    out: &mut Vec<u8>,
    map: &Map<String, Value>,
    depth: usize,
) -> Result<(), EncodeError> {
    // Sorted here, not left to the map type: another crate in the build may ask serde_json to
    // keep insertion order.
    let mut entries: Vec<_> = map.iter().collect();
    entries.sort_unstable_by(|left, right| left.0.as_bytes().cmp(right.0.as_bytes()));
    out.push(b'{');
    for (index, (key, value)) in entries.into_iter().enumerate() {
        if !key_allowed(key) {
            return Err(EncodeError::Key {
                key: key.chars().take(80).collect(),
            });
        }
        if index > 0 {
            out.push(b',');
        }
        write_string(out, key);
        out.push(b':');
        write_value(out, value, depth + 1)?;
    }
    out.push(b'}');
    Ok(())
}

fn key_allowed(key: &str) -> bool {
    (1..=KEY_BYTES_MAX).contains(&key.len())
        && key
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\')
}

fn write_string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    for character in text.chars() {
        match character {
            '"' => out.extend_from_slice(b"\\\""),
            '\\' => out.extend_from_slice(b"\\\\"),
            '\n' => out.extend_from_slice(b"\\n"),
            '\r' => out.extend_from_slice(b"\\r"),
            '\t' => out.extend_from_slice(b"\\t"),
            hidden if is_hidden(hidden) => {
                out.extend_from_slice(format!("\\u{:04x}", u32::from(hidden)).as_bytes());
            }
            shown => {
                let mut buffer = [0; 4];
                out.extend_from_slice(shown.encode_utf8(&mut buffer).as_bytes());
            }
        }
    }
    out.push(b'"');
}

/// Characters that steer a terminal or reorder what a reader sees. They are escaped so that
/// printing a log line never lets a sandbox write to an auditor's terminal.
fn is_hidden(character: char) -> bool {
    matches!(character,
        '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{ad}' | '\u{61c}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{feff}')
}

#[cfg(test)]
pub(crate) mod tests;
