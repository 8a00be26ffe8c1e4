//! Plain values as cases pass and expect them, with the equality of Python's `==` over them.
//! It knows neither how they are written nor how they cross.

use std::rc::Rc;

use super::integer::Integer;

/// A plain value. Shared parts are shared: what one byte of a message names twice is kept once.
#[derive(Debug, Clone)]
pub enum Value {
    /// `None`, null.
    None,
    /// A truth value; as a number 0 or 1.
    Bool(bool),
    /// A whole number of any size.
    Int(Integer),
    /// A number with a fraction, an infinity, or no number.
    Float(f64),
    /// Real and imaginary part.
    Complex(f64, f64),
    /// Text.
    Text(Rc<str>),
    /// Bytes.
    Bytes(Rc<[u8]>),
    /// A list.
    List(Rc<[Self]>),
    /// A tuple.
    Tuple(Rc<[Self]>),
    /// A set, frozen or not.
    Set(Rc<[Self]>),
    /// Keys and values in their order.
    Dict(Rc<[(Self, Self)]>),
    /// Something that no expected value can be written as; equal to nothing.
    Other(&'static str),
}

impl Value {
    /// Text.
    #[must_use]
    pub fn text(text: &str) -> Self {
        Self::Text(text.into())
    }

    /// Its kind in Python's words.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::None => "None",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Float(_) => "float",
            Self::Complex(..) => "complex",
            Self::Text(_) => "str",
            Self::Bytes(_) => "bytes",
            Self::List(_) => "list",
            Self::Tuple(_) => "tuple",
            Self::Set(_) => "set",
            Self::Dict(_) => "dict",
            Self::Other(kind) => kind,
        }
    }
}

/// Bytes that are the same for equal keys of a dict or members of a set, and for no others.
/// `None` for what cannot be one, and beyond `bytes_max`.
pub(super) fn key(value: &Value, bytes_max: usize) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    write_key(value, &mut out, bytes_max).then_some(out)
}

fn write_key(value: &Value, out: &mut Vec<u8>, bytes_max: usize) -> bool {
    if out.len() > bytes_max {
        return false;
    }
    let mut block = |tag: u8, bytes: &[u8]| {
        out.push(tag);
        out.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        out.extend_from_slice(bytes);
        true
    };
    match value {
        Value::None => block(b'N', &[]),
        Value::Bool(is) => block(b'i', &Integer::from(i64::from(*is)).key()),
        Value::Int(number) => block(b'i', &number.key()),
        Value::Float(number) => match Integer::from_f64(*number) {
            Some(whole) => block(b'i', &whole.key()),
            None if number.is_nan() => block(b'n', &[]),
            None => block(b'f', &number.to_bits().to_le_bytes()),
        },
        Value::Complex(real, imaginary) if *imaginary == 0.0 => {
            write_key(&Value::Float(*real), out, bytes_max)
        }
        Value::Complex(real, imaginary) => {
            let bits = [real, imaginary].map(|part| (part + 0.0).to_bits().to_le_bytes());
            block(b'c', &bits.concat())
        }
        Value::Text(text) => block(b's', text.as_bytes()),
        Value::Bytes(bytes) => block(b'b', bytes),
        Value::Tuple(items) => {
            block(b't', &(items.len() as u64).to_le_bytes());
            items.iter().all(|item| write_key(item, out, bytes_max))
        }
        Value::Set(items) => {
            let keys: Option<Vec<Vec<u8>>> =
                items.iter().map(|item| key(item, bytes_max)).collect();
            let Some(mut keys) = keys else { return false };
            keys.sort_unstable();
            block(b'z', &keys.concat())
        }
        Value::List(_) | Value::Dict(_) | Value::Other(_) => false,
    }
}

/// The value as Python writes it, cut after about `chars_max` characters.
#[must_use]
pub fn show(value: &Value, chars_max: usize) -> String {
    let mut writer = Writer {
        text: String::new(),
        chars_max,
    };
    writer.put(value);
    if writer.is_full() {
        let end = writer.text.char_indices().nth(chars_max);
        writer
            .text
            .truncate(end.map_or(writer.text.len(), |(at, _)| at));
        writer.text.push('…');
    }
    writer.text
}

struct Writer {
    text: String,
    chars_max: usize,
}

impl Writer {
    fn is_full(&self) -> bool {
        // Bytes are at least as many as characters, so that this is never late by more than one item.
        self.text.len() > self.chars_max && self.text.chars().count() > self.chars_max
    }

    fn put(&mut self, value: &Value) {
        if self.is_full() {
            return;
        }
        match value {
            Value::None => self.text.push_str("None"),
            Value::Bool(is) => self.text.push_str(if *is { "True" } else { "False" }),
            Value::Int(number) => self.text.push_str(&number.to_string()),
            Value::Float(number) => self.text.push_str(&float_text(*number)),
            Value::Complex(real, imaginary) => {
                let shown = format!("({}+{}j)", float_text(*real), float_text(*imaginary));
                self.text.push_str(&shown);
            }
            Value::Text(text) => self.put_quoted(text),
            Value::Bytes(bytes) => {
                let head = &bytes[..bytes.len().min(self.chars_max)];
                self.text.push('b');
                self.put_quoted(&head.escape_ascii().to_string());
            }
            Value::List(items) => self.put_items("[", items, "]"),
            Value::Tuple(items) if items.len() == 1 => self.put_items("(", items, ",)"),
            Value::Tuple(items) => self.put_items("(", items, ")"),
            Value::Set(items) if items.is_empty() => self.text.push_str("set()"),
            Value::Set(items) => self.put_items("{", items, "}"),
            Value::Dict(pairs) => {
                self.text.push('{');
                for (at, (key, value)) in pairs.iter().enumerate() {
                    self.separate(at);
                    self.put(key);
                    self.text.push_str(": ");
                    self.put(value);
                    if self.is_full() {
                        return;
                    }
                }
                self.text.push('}');
            }
            Value::Other(kind) => {
                self.text.push('<');
                self.text.push_str(kind);
                self.text.push('>');
            }
        }
    }

    fn put_quoted(&mut self, text: &str) {
        self.text.push('\'');
        for character in text.chars().take(self.chars_max) {
            match character {
                '\'' => self.text.push_str("\\'"),
                '\\' if !text.is_ascii() => self.text.push('\\'),
                '\n' => self.text.push_str("\\n"),
                other if other.is_control() => self.text.extend(other.escape_default()),
                other => self.text.push(other),
            }
        }
        self.text.push('\'');
    }

    fn put_items(&mut self, open: &str, items: &[Value], close: &str) {
        self.text.push_str(open);
        for (at, item) in items.iter().enumerate() {
            self.separate(at);
            self.put(item);
            if self.is_full() {
                return;
            }
        }
        self.text.push_str(close);
    }

    fn separate(&mut self, at: usize) {
        if at > 0 {
            self.text.push_str(", ");
        }
    }
}

fn float_text(number: f64) -> String {
    if number.is_nan() {
        return "nan".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    format!("{number:?}")
}
