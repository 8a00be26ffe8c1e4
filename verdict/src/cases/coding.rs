//! The coding of values between the daemon and the process beside a solution: that of
//! `harness/codec.py`, as far as it is plain. What comes in is hostile: every length is checked
//! against what is there, nesting and number of values are bounded.

use std::rc::Rc;

use super::integer::Integer;
use super::value::Value;

/// Containers within each other at most.
const DEPTH_MAX: u32 = 200;
/// Values of one message at most.
const VALUES_MAX: usize = 1_000_000;

/// Why bytes are no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CodingError {
    /// It breaks off, or a length is beyond its end.
    #[error("it breaks off")]
    Short,
    /// Something follows.
    #[error("something follows it")]
    Long,
    /// A tag that stands for no plain value.
    #[error("tag {tag} is no plain value")]
    Tag {
        /// The byte.
        tag: u8,
    },
    /// Text that is no text.
    #[error("a text is not UTF-8")]
    Text,
    /// A container that is in itself, or a number that names none.
    #[error("a value contains itself")]
    Cycle,
    /// Too deep.
    #[error("its nesting is deeper than {DEPTH_MAX}")]
    Deep,
    /// Too many.
    #[error("it has more than {VALUES_MAX} values")]
    Many,
}

/// Appends `value`.
pub(super) fn encode(value: &Value, out: &mut Vec<u8>) {
    match value {
        // Nothing a request can say is written as this.
        Value::None | Value::Other(_) => out.push(b'N'),
        Value::Bool(is) => out.push(if *is { b'T' } else { b'F' }),
        Value::Int(number) => match number.to_i64() {
            Some(number) => {
                out.push(b'i');
                out.extend(number.to_le_bytes());
            }
            None => block(b'I', &number.signed_bytes(), out),
        },
        Value::Float(number) => {
            out.push(b'd');
            out.extend(number.to_le_bytes());
        }
        Value::Complex(real, imaginary) => {
            out.push(b'c');
            out.extend(real.to_le_bytes());
            out.extend(imaginary.to_le_bytes());
        }
        Value::Text(text) => block(b's', text.as_bytes(), out),
        Value::Bytes(bytes) => block(b'b', bytes, out),
        Value::List(items) => encode_items(b'l', items, out),
        Value::Tuple(items) => encode_items(b't', items, out),
        Value::Set(items) => encode_items(b'S', items, out),
        Value::Dict(pairs) => {
            head(b'm', pairs.len() * 2, out);
            for (key, value) in pairs.iter() {
                encode(key, out);
                encode(value, out);
            }
        }
    }
}

/// A tag and a length; lengths beyond 32 bits cannot come out of a request of 64 MiB.
fn head(tag: u8, length: usize, out: &mut Vec<u8>) {
    out.push(tag);
    out.extend(u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes());
}

fn block(tag: u8, bytes: &[u8], out: &mut Vec<u8>) {
    head(tag, bytes.len(), out);
    out.extend_from_slice(bytes);
}

fn encode_items(tag: u8, items: &[Value], out: &mut Vec<u8>) {
    head(tag, items.len(), out);
    for item in items {
        encode(item, out);
    }
}

/// Reads one value that fills `bytes`.
pub(super) fn decode(bytes: &[u8]) -> Result<Value, CodingError> {
    let mut decoder = Decoder {
        rest: bytes,
        containers: Vec::new(),
        values: 0,
        depth: 0,
    };
    let value = decoder.value()?;
    if decoder.rest.is_empty() {
        Ok(value)
    } else {
        Err(CodingError::Long)
    }
}

struct Decoder<'a> {
    rest: &'a [u8],
    /// Containers in the order in which they begin; none while it is not complete.
    containers: Vec<Option<Value>>,
    values: usize,
    depth: u32,
}

impl<'a> Decoder<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], CodingError> {
        let (taken, rest) = self
            .rest
            .split_at_checked(length)
            .ok_or(CodingError::Short)?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], CodingError> {
        let bytes = self.take(N)?;
        bytes.try_into().map_err(|_length| CodingError::Short)
    }

    fn length(&mut self) -> Result<usize, CodingError> {
        let length = u32::from_le_bytes(self.array()?);
        usize::try_from(length).map_err(|_narrow| CodingError::Short)
    }

    fn block(&mut self) -> Result<&'a [u8], CodingError> {
        let length = self.length()?;
        self.take(length)
    }

    fn float(&mut self) -> Result<f64, CodingError> {
        Ok(f64::from_le_bytes(self.array()?))
    }

    fn count(&mut self, more: usize) -> Result<(), CodingError> {
        self.values = self.values.saturating_add(more);
        if self.values > VALUES_MAX {
            return Err(CodingError::Many);
        }
        Ok(())
    }

    fn value(&mut self) -> Result<Value, CodingError> {
        self.count(1)?;
        if self.depth >= DEPTH_MAX {
            return Err(CodingError::Deep);
        }
        self.depth += 1;
        let value = self.tagged();
        self.depth -= 1;
        value
    }

    fn tagged(&mut self) -> Result<Value, CodingError> {
        let [tag] = self.array()?;
        match tag {
            b'N' => Ok(Value::None),
            b'T' => Ok(Value::Bool(true)),
            b'F' => Ok(Value::Bool(false)),
            b'i' => Ok(Value::Int(i64::from_le_bytes(self.array()?).into())),
            b'I' => Ok(Value::Int(Integer::from_signed_bytes(self.block()?))),
            b'd' => Ok(Value::Float(self.float()?)),
            b'c' => Ok(Value::Complex(self.float()?, self.float()?)),
            b's' => self.text(),
            b'b' => Ok(Value::Bytes(self.block()?.into())),
            b'B' => {
                let place = self.begin();
                let bytes = Value::Bytes(self.block()?.into());
                Ok(self.complete(place, bytes))
            }
            b't' => Ok(Value::Tuple(self.items()?)),
            b'Z' => Ok(Value::Set(self.items()?)),
            b'l' => {
                let place = self.begin();
                let list = Value::List(self.items()?);
                Ok(self.complete(place, list))
            }
            b'S' => {
                let place = self.begin();
                let set = Value::Set(self.items()?);
                Ok(self.complete(place, set))
            }
            b'm' => {
                let place = self.begin();
                let dict = pairs(&self.items()?)?;
                Ok(self.complete(place, dict))
            }
            b'L' | b'D' => self.packed(tag),
            b'R' => {
                let number = self.length()?;
                let container = self.containers.get(number).cloned().flatten();
                container.ok_or(CodingError::Cycle)
            }
            b'C' => self.container(),
            b'r' => self.without_form("range"),
            b':' => self.without_form("slice"),
            b'x' => {
                self.value()?;
                Ok(Value::Other("value of the standard library"))
            }
            b'e' => Ok(Value::Other("Ellipsis")),
            b'n' => Ok(Value::Other("NotImplemented")),
            other => Err(CodingError::Tag { tag: other }),
        }
    }

    fn text(&mut self) -> Result<Value, CodingError> {
        let bytes = self.block()?;
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Value::text(text)),
            // Lone surrogates: text to Python, and to no JSON.
            Err(_error) if bytes.contains(&0xed) => Ok(Value::Other("str with lone surrogates")),
            Err(_error) => Err(CodingError::Text),
        }
    }

    fn items(&mut self) -> Result<Rc<[Value]>, CodingError> {
        let count = self.length()?;
        if count > self.rest.len() {
            return Err(CodingError::Short);
        }
        (0..count).map(|_| self.value()).collect()
    }

    fn packed(&mut self, tag: u8) -> Result<Value, CodingError> {
        let place = self.begin();
        let count = self.length()?;
        self.count(count)?;
        let bytes = self.take(count.saturating_mul(8))?;
        let items = bytes.chunks_exact(8).map(|chunk| {
            let mut item = [0; 8];
            item.copy_from_slice(chunk);
            match tag {
                b'L' => Value::Int(i64::from_le_bytes(item).into()),
                _ => Value::Float(f64::from_le_bytes(item)),
            }
        });
        let list = Value::List(items.collect());
        Ok(self.complete(place, list))
    }

    /// A container of the standard library: what it is, then its content.
    fn container(&mut self) -> Result<Value, CodingError> {
        let place = self.begin();
        let Value::Tuple(about) = self.value()? else {
            return Err(CodingError::Tag { tag: b'C' });
        };
        let Value::Tuple(content) = self.value()? else {
            return Err(CodingError::Tag { tag: b'C' });
        };
        let is_dict = matches!(about.get(1), Some(Value::Text(name))
            if matches!(&**name, "OrderedDict" | "Counter" | "defaultdict"));
        let value = if is_dict {
            pairs(&content)?
        } else {
            Value::Other("deque")
        };
        Ok(self.complete(place, value))
    }

    fn without_form(&mut self, kind: &'static str) -> Result<Value, CodingError> {
        self.items()?;
        Ok(Value::Other(kind))
    }

    fn begin(&mut self) -> usize {
        self.containers.push(None);
        self.containers.len() - 1
    }

    fn complete(&mut self, place: usize, value: Value) -> Value {
        if let Some(container) = self.containers.get_mut(place) {
            *container = Some(value.clone());
        }
        value
    }
}

fn pairs(flat: &[Value]) -> Result<Value, CodingError> {
    let (pairs, rest) = flat.as_chunks::<2>();
    if !rest.is_empty() {
        return Err(CodingError::Short);
    }
    let pairs = pairs
        .iter()
        .map(|[key, value]| (key.clone(), value.clone()));
    Ok(Value::Dict(pairs.collect()))
}
