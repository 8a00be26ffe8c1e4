//! A list of a document that stops being read where it is too long. It knows no report.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};

use super::super::TESTS_MAX;

/// What the error of a list that is too long says.
pub(super) const TOO_MANY: &str = "more entries than are read";

/// At most [`TESTS_MAX`] values; `null` is none.
#[derive(Debug)]
pub(super) struct AtMost<T>(pub(super) Vec<T>);

impl<T> Default for AtMost<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for AtMost<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(List(PhantomData))
    }
}

struct List<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for List<T> {
    type Value = AtMost<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list")
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(AtMost::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let mut list = Vec::new();
        while let Some(entry) = entries.next_element()? {
            if list.len() == TESTS_MAX {
                return Err(A::Error::custom(TOO_MANY));
            }
            list.push(entry);
        }
        Ok(AtMost(list))
    }
}
