//! A call of a function in the frames that the solution's end of each language reads, and what comes
//! back in them: one request and one reply, each a length of 32 bits and JSON. The reply is hostile.
//! It knows no expected value.

mod javascript;
mod native;
#[cfg(test)]
mod tests;

use serde_json::Value as Json;

use super::report::Returned;
use super::value::Value;
use crate::untrusted::Untrusted;
use crate::verify::Language;

/// Signs that begin a value, or another one, in a reply at most.
const SIGNS_MAX: usize = 2_000_000;
/// Characters of a message that are kept.
const MESSAGE_CHARS_MAX: usize = 1_000;

/// Why a value cannot be given to a function of the language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a value of kind {kind} cannot be given to a function in {language}")]
pub struct NotCarried {
    /// The kind, in the words of the cases.
    pub kind: &'static str,
    /// The language.
    pub language: &'static str,
}

/// Why a reply says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ReplyError {
    /// There is none.
    #[error("its process ended before the function returned")]
    Nothing,
    /// It is not one frame and nothing else.
    #[error("what it returned is not one frame")]
    Frame,
    /// It is too much.
    #[error("what it returned has more than {SIGNS_MAX} parts")]
    Many,
    /// It is no value in the coding of its language.
    #[error("what it returned is no value: {0}")]
    Coding(&'static str),
}

/// The frame that asks for one call of `function`.
///
/// # Errors
/// [`NotCarried`] if the language has no such value.
pub fn request(language: Language, function: &str, args: &[Value]) -> Result<Vec<u8>, NotCarried> {
    let body = match language {
        Language::JavaScript => javascript::request(function, args).map(|json| json.to_string()),
        _ => native::request(language, function, args),
    };
    let body = body.map_err(|kind| NotCarried {
        kind,
        language: language.name(),
    })?;
    let body = body.into_bytes();
    let length = u32::try_from(body.len()).unwrap_or(u32::MAX);
    Ok([length.to_le_bytes().as_slice(), &body].concat())
}

/// Reads everything that came over the socket of one call.
///
/// # Errors
/// [`ReplyError`] if it is no reply.
pub fn reply(language: Language, output: &Untrusted<Vec<u8>>) -> Result<Returned, ReplyError> {
    let bytes = output.inner();
    if bytes.is_empty() {
        return Err(ReplyError::Nothing);
    }
    let (head, body) = bytes.split_first_chunk().ok_or(ReplyError::Frame)?;
    if usize::try_from(u32::from_le_bytes(*head)).ok() != Some(body.len()) {
        return Err(ReplyError::Frame);
    }
    let signs = body.iter().filter(|byte| b",[{".contains(byte)).count();
    if signs > SIGNS_MAX {
        return Err(ReplyError::Many);
    }
    let json: Json =
        serde_json::from_slice(body).map_err(|_error| ReplyError::Coding("no JSON"))?;
    match language {
        Language::JavaScript => javascript::reply(&json),
        _ => native::reply(&json),
    }
}

fn cut(text: &str) -> String {
    text.chars().take(MESSAGE_CHARS_MAX).collect()
}
