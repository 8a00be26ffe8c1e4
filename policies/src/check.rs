//! The form of single values: names, digests, host names.
//!
//! It knows no document and no parent; a caller says which field a value stands in.

use crate::resolve::ResolveError;

/// What has been found wrong so far.
pub(crate) type Errors = Vec<ResolveError>;

/// The longest name of a policy, key, control, secret or system call, in bytes.
const NAME_BYTES_MAX: usize = 64;

/// A list as a set: sorted, without duplicates; each entry that `is_valid` refuses is an error.
pub(crate) fn list(
    field: &str,
    written: &[String],
    is_valid: impl Fn(&str) -> bool,
    expected: &'static str,
    errors: &mut Errors,
) -> Vec<String> {
    for (index, entry) in written
        .iter()
        .enumerate()
        .filter(|(_, entry)| !is_valid(entry))
    {
        errors.push(ResolveError::Invalid {
            field: format!("{field}[{index}]"),
            value: format!("\"{entry}\""),
            expected,
        });
    }
    let mut set = written.to_vec();
    set.sort();
    set.dedup();
    set
}

/// A name of a policy or key, reported when it has another form.
pub(crate) fn name(field: &str, written: &str, errors: &mut Errors) -> String {
    let valid = !written.is_empty()
        && written.len() <= NAME_BYTES_MAX
        && written.starts_with(|first: char| first.is_ascii_lowercase() || first.is_ascii_digit())
        && written.chars().all(|character| {
            character.is_ascii_lowercase()
                || character.is_ascii_digit()
                || matches!(character, '-' | '_' | '.')
        });
    if !valid {
        errors.push(ResolveError::Invalid {
            field: field.to_owned(),
            value: format!("\"{written}\""),
            expected: "1 to 64 of a-z, 0-9, `-`, `_` and `.`, with a letter or digit first",
        });
    }
    written.to_owned()
}

/// Letters, digits and underscores: a system call, a control, a secret.
pub(crate) fn is_word(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= NAME_BYTES_MAX
        && text
            .chars()
            .all(|character| character.is_ascii_alphanumeric() || character == '_')
}

/// A module name with dots.
pub(crate) fn is_module(text: &str) -> bool {
    text.split('.').all(is_word)
}

/// 32 bytes in lower-case hexadecimal digits.
pub(crate) fn is_hex_256(text: &str) -> bool {
    text.len() == 64
        && text
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// A host name in lower case.
pub(crate) fn is_host(text: &str) -> bool {
    text.len() <= 253
        && text.split('.').all(|label| {
            !label.is_empty()
                && label.len() <= 63
                && !label.starts_with('-')
                && !label.ends_with('-')
                && label.chars().all(|character| {
                    character.is_ascii_lowercase() || character.is_ascii_digit() || character == '-'
                })
        })
}

/// An HTTP method.
pub(crate) fn is_method(text: &str) -> bool {
    !text.is_empty() && text.len() <= 16 && text.bytes().all(|byte| byte.is_ascii_uppercase())
}
