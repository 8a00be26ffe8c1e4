//! Names in JSON: enum values without their prefix, and the known name closest to a wrong one.

use prost_reflect::{EnumDescriptor, FieldDescriptor, Kind};

/// Suffix of a key whose value is bytes in base64.
pub(super) const BASE64_SUFFIX: &str = "_base64";

/// Letters from which on a beginning says which name is meant.
const BEGINNING_MIN: usize = 3;

/// The JSON name of an enum value: lower snake_case without the enum's own name in front.
pub(super) fn enum_value_name(descriptor: &EnumDescriptor, value_name: &str) -> String {
    let prefix = format!("{}_", upper_snake(descriptor.name()));
    value_name
        .strip_prefix(&prefix)
        .unwrap_or(value_name)
        .to_ascii_lowercase()
}

fn upper_snake(camel: &str) -> String {
    let mut snake = String::with_capacity(camel.len() + 4);
    for (index, letter) in camel.char_indices() {
        if index > 0 && letter.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_uppercase());
    }
    snake
}

/// All names that an enum may have in JSON, but that of its zero value, which means absence.
pub(super) fn enum_names(descriptor: &EnumDescriptor) -> Vec<String> {
    descriptor
        .values()
        .filter(|value| value.number() != 0)
        .map(|value| enum_value_name(descriptor, value.name()))
        .collect()
}

/// Whether a field holds a size, so that "512 MiB" is read there.
pub(super) fn is_size(field: &FieldDescriptor) -> bool {
    let integer = matches!(
        field.kind(),
        Kind::Int32 | Kind::Int64 | Kind::Uint32 | Kind::Uint64
    );
    integer && (field.name().ends_with("_bytes") || field.name().contains("_bytes_"))
}

/// The known name closest to a wrong one, if it is close enough to be a slip, or begins with it.
pub fn nearest(wrong: &str, known: &[String]) -> Option<String> {
    let closest = known
        .iter()
        .map(|name| (distance(wrong, name), name))
        .min()
        // Of two words with nothing in common one letter can be as close as any.
        .filter(|(edits, name)| *edits <= 2.max(name.len() / 3) && *edits < name.len())
        .map(|(_, name)| name);
    let begins = |name: &&String| wrong.len() >= BEGINNING_MIN && name.starts_with(wrong);
    closest.or_else(|| known.iter().find(begins)).cloned()
}

/// Number of single-character edits between two names.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (line, letter) in left.chars().enumerate() {
        let mut diagonal = line;
        if let Some(first) = row.first_mut() {
            *first = line + 1;
        }
        for (column, other) in right.iter().enumerate() {
            let substituted = diagonal + usize::from(letter != *other);
            diagonal = row[column + 1];
            row[column + 1] = substituted.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row.last().copied().unwrap_or(0)
}

/// The hint of an error message.
pub(super) fn did_you_mean(nearest: Option<&str>) -> String {
    nearest
        .map(|name| format!("; did you mean \"{name}\"?"))
        .unwrap_or_default()
}

/// The other key of an error message.
pub(super) fn also_as(other: Option<&str>) -> String {
    other
        .map(|name| format!(", also as \"{name}\""))
        .unwrap_or_default()
}
