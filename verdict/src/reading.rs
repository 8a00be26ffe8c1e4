//! What all readers of foreign reports share: their error, their bounds, text and JSON out of
//! untrusted bytes. It knows no format.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeOwned, IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::plan::REPORT_BYTES_MAX;
use crate::untrusted::Untrusted;

/// Entries (diagnostics, findings, files of a coverage report) that one report may have.
pub const ENTRIES_MAX: usize = 100_000;

/// Bytes of a message that are kept.
pub const MESSAGE_BYTES_MAX: usize = 4096;

/// Bytes of a path, a code, a name that are kept.
pub(crate) const NAME_BYTES_MAX: usize = 1024;

/// Why a report could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// It is longer than what is read.
    #[error("the report has {bytes} bytes, more than the {bytes_max} that are read")]
    TooLong {
        /// Its length.
        bytes: usize,
        /// The bound.
        bytes_max: usize,
    },
    /// It has more entries than what is kept.
    #[error("the report has more than {count_max} {what}")]
    TooMany {
        /// What there are too many of.
        what: &'static str,
        /// The bound.
        count_max: usize,
    },
    /// It is not written in its format.
    #[error("the report is no {format}: {reason}")]
    Malformed {
        /// The format.
        format: &'static str,
        /// What is wrong with it.
        reason: String,
    },
}

impl ReadError {
    pub(crate) fn malformed(format: &'static str, reason: impl fmt::Display) -> Self {
        let reason = cut(&reason.to_string(), NAME_BYTES_MAX);
        Self::Malformed { format, reason }
    }
}

/// The last line that says something, for a reason.
pub(crate) fn last_words(said: &Untrusted<Vec<u8>>) -> String {
    const BYTES_MAX: usize = 300;
    let text = String::from_utf8_lossy(said.inner());
    let last = text.lines().rev().find(|line| !line.trim().is_empty());
    cut(last.unwrap_or_default().trim(), BYTES_MAX)
}

/// The bytes, if there are not too many.
pub(crate) fn bytes(report: &Untrusted<Vec<u8>>) -> Result<&[u8], ReadError> {
    if report.len() > REPORT_BYTES_MAX {
        return Err(ReadError::TooLong {
            bytes: report.len(),
            bytes_max: REPORT_BYTES_MAX,
        });
    }
    let all = report.inner().as_slice();
    Ok(all.strip_prefix(b"\xef\xbb\xbf").unwrap_or(all))
}

/// The text, without the escape sequences of a terminal; what is no UTF-8 is replaced.
pub(crate) fn text(report: &Untrusted<Vec<u8>>) -> Result<Cow<'_, str>, ReadError> {
    let text = String::from_utf8_lossy(bytes(report)?);
    if !text.contains('\x1b') {
        return Ok(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut pieces = text.split('\x1b');
    plain.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        plain.push_str(after_escape(piece));
    }
    Ok(Cow::Owned(plain))
}

/// What follows one escape sequence (a colour, or the ends of a link).
fn after_escape(piece: &str) -> &str {
    if let Some(rest) = piece.strip_prefix('[') {
        let end = rest.find(|c: char| ('@'..='~').contains(&c));
        return end.map_or("", |end| rest.get(end + 1..).unwrap_or_default());
    }
    if let Some(rest) = piece.strip_prefix(']') {
        return rest.split_once('\x07').map_or("", |(_link, rest)| rest);
    }
    piece.strip_prefix('\\').unwrap_or(piece)
}

/// Reads one JSON document.
pub(crate) fn json<T: DeserializeOwned>(
    format: &'static str,
    document: &[u8],
) -> Result<T, ReadError> {
    serde_json::from_slice(document).map_err(|error| ReadError::malformed(format, error))
}

/// At most `bytes_max` bytes of `text`, cut between characters.
pub(crate) fn cut(text: &str, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text.to_owned();
    }
    let mut end = bytes_max;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…", text.get(..end).unwrap_or_default())
}

/// Adds to a list that has a bound.
pub(crate) fn push<T>(list: &mut Vec<T>, item: T, what: &'static str) -> Result<(), ReadError> {
    if list.len() >= ENTRIES_MAX {
        let count_max = ENTRIES_MAX;
        return Err(ReadError::TooMany { what, count_max });
    }
    list.push(item);
    Ok(())
}

/// A JSON list of at most [`ENTRIES_MAX`] elements: a short text with millions of them would
/// otherwise take a gibibyte. `null` is an empty list.
pub(crate) struct List<T>(pub Vec<T>);

impl<T> Default for List<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let visitor = ListVisitor {
            kept_max: ENTRIES_MAX,
            more_is_wrong: true,
            of: PhantomData,
        };
        deserializer.deserialize_any(visitor).map(Self)
    }
}

/// The first element of a JSON list; the others are passed over.
pub(crate) struct First<T>(pub Option<T>);

impl<T> Default for First<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for First<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let visitor = ListVisitor {
            kept_max: 1,
            more_is_wrong: false,
            of: PhantomData,
        };
        let list = deserializer.deserialize_any(visitor)?;
        Ok(Self(list.into_iter().next()))
    }
}

struct ListVisitor<T> {
    kept_max: usize,
    more_is_wrong: bool,
    of: PhantomData<T>,
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for ListVisitor<T> {
    type Value = Vec<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "a list")
    }

    fn visit_unit<E>(self) -> Result<Vec<T>, E> {
        Ok(Vec::new())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Vec<T>, A::Error> {
        let mut list = Vec::new();
        while list.len() < self.kept_max {
            match items.next_element()? {
                Some(item) => list.push(item),
                None => return Ok(list),
            }
        }
        let mut more = false;
        while items.next_element::<IgnoredAny>()?.is_some() {
            more = true;
        }
        if more && self.more_is_wrong {
            let reason = format!("a list has more than {} elements", self.kept_max);
            return Err(serde::de::Error::custom(reason));
        }
        Ok(list)
    }
}
