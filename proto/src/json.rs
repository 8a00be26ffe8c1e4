//! Messages as JSON, in the shape of the contract, by reflection: there is no second definition
//! of any message here.
//!
//! Field names are the proto names; integers are JSON numbers; enums are lower snake_case without
//! their prefix; bytes are text when valid UTF-8, else stand under `<name>_base64` (in lists
//! and maps: `{"base64": …}`). A `File` is a string or `{"text" | "base64", "mode"}`. In input a size
//! (`*_bytes*`) may be a string such as "512 MiB", and `null` is absence. Output has every
//! field but absent optional ones. Unknown and duplicate keys, wrong types and values out of range
//! are errors that name path, value and what is allowed.

mod names;
mod read;
mod tree;
mod write;

#[cfg(test)]
mod tests;

use std::sync::LazyLock;

use prost_reflect::{DescriptorError, DescriptorPool, MessageDescriptor};
use serde_json::Value;

pub use names::nearest;
use tree::Tree;

/// Why a conversion failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JsonError {
    /// The text is no JSON.
    #[error("line {line}, column {column}: not valid JSON: {problem}")]
    Syntax {
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// What the parser says.
        problem: String,
    },
    /// A key that the message does not have.
    #[error("{path}: unknown field{}; known fields: {}", names::did_you_mean(nearest.as_deref()), known.join(", "))]
    UnknownField {
        /// Path of the field.
        path: String,
        /// The known name that is closest, if one is close.
        nearest: Option<String>,
        /// Names that are allowed there.
        known: Vec<String>,
    },
    /// A key that stands twice, or two keys of which only one may stand.
    #[error("{path}: given twice{}", names::also_as(other.as_deref()))]
    Duplicate {
        /// Path of the field.
        path: String,
        /// The other key, if it has another name.
        other: Option<String>,
    },
    /// A value of the wrong type, out of range, or not in the list of allowed ones.
    #[error("{path}: {value} is not allowed here; allowed: {allowed}")]
    Value {
        /// Path of the field.
        path: String,
        /// The value, shortened.
        value: String,
        /// What is allowed.
        allowed: String,
    },
    /// The message is not one of this package: a bug of this program.
    #[error("no description of message {message}: {problem}")]
    Schema {
        /// Full name of the message.
        message: String,
        /// What is wrong.
        problem: String,
    },
}

impl JsonError {
    /// Path of the field to blame, if there is one.
    #[must_use]
    pub fn path(&self) -> Option<&str> {
        match self {
            Self::UnknownField { path, .. }
            | Self::Duplicate { path, .. }
            | Self::Value { path, .. } => Some(path),
            Self::Syntax { .. } | Self::Schema { .. } => None,
        }
    }
}

/// A message from JSON text.
///
/// # Errors
/// Text that is no JSON, or JSON that is no `T`; see [`JsonError`].
pub fn from_json<T>(text: &str) -> Result<T, JsonError>
where
    T: prost::Message + prost::Name + Default,
{
    let tree: Tree = serde_json::from_str(text).map_err(|error| JsonError::Syntax {
        line: error.line(),
        column: error.column(),
        problem: tree::without_position(&error),
    })?;
    from_tree(&tree)
}

/// A message from a JSON value.
///
/// # Errors
/// JSON that is no `T`; see [`JsonError`].
pub fn from_json_value<T>(value: &Value) -> Result<T, JsonError>
where
    T: prost::Message + prost::Name + Default,
{
    from_tree(&Tree::from(value))
}

fn from_tree<T>(tree: &Tree) -> Result<T, JsonError>
where
    T: prost::Message + prost::Name + Default,
{
    let descriptor = descriptor(&T::full_name())?;
    let dynamic = read::message(&descriptor, tree, "")?;
    dynamic
        .transcode_to()
        .map_err(|error| schema_error(&T::full_name(), &error))
}

/// A message as JSON.
///
/// # Errors
/// [`JsonError::Schema`] if `T` is not a message of this package.
pub fn to_json<T>(message: &T) -> Result<Value, JsonError>
where
    T: prost::Message + prost::Name,
{
    let descriptor = descriptor(&T::full_name())?;
    let mut dynamic = prost_reflect::DynamicMessage::new(descriptor);
    dynamic
        .transcode_from(message)
        .map_err(|error| schema_error(&T::full_name(), &error))?;
    Ok(write::message(&dynamic))
}

fn schema_error(message: &str, problem: &dyn std::fmt::Display) -> JsonError {
    JsonError::Schema {
        message: message.to_owned(),
        problem: problem.to_string(),
    }
}

fn descriptor(name: &str) -> Result<MessageDescriptor, JsonError> {
    static POOL: LazyLock<Result<DescriptorPool, DescriptorError>> =
        LazyLock::new(|| DescriptorPool::decode(crate::FILE_DESCRIPTOR_SET));
    POOL.as_ref()
        .map_err(|error| schema_error(name, error))?
        .get_message_by_name(name)
        .ok_or_else(|| schema_error(name, &"not in this package"))
}
