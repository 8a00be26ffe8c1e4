//! A wrapper for what came out of a sandbox. It deliberately has no way out but the parsers of
//! this crate: whoever holds one cannot use its content by accident.

use std::fmt;

/// Bytes or text that untrusted code may have written.
#[derive(Clone, PartialEq, Eq)]
pub struct Untrusted<T>(T);

impl<T> Untrusted<T> {
    /// Marks `value` as untrusted.
    pub fn new(value: T) -> Self {
        Self(value)
    }

    /// The content, for the parsers of this crate only.
    pub(crate) fn inner(&self) -> &T {
        &self.0
    }
}

impl<T: AsRef<[u8]>> Untrusted<T> {
    /// Length of the content in bytes.
    pub fn len(&self) -> usize {
        self.0.as_ref().len()
    }

    /// Whether there is no content.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T> fmt::Debug for Untrusted<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Untrusted(..)")
    }
}
