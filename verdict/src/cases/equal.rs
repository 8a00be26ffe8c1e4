//! Whether what a function returned is what is expected, as Python's `==` says of plain values, and
//! where it is not. Beyond it: not a number is what is expected where that is expected, and numbers
//! may differ by a stated tolerance where one of them is a float.

use std::collections::BTreeMap;

use super::integer::Integer;
use super::value::{Value, key, show};

/// Characters of each side in a message.
const SHOWN_CHARS_MAX: usize = 200;
/// Bytes of a key of what was returned at most: beyond any that is expected.
const KEY_BYTES_MAX: usize = 1 << 20;

/// Where `got` differs from `expected`, in words; `None` = it does not. Members of sets and keys
/// of dicts are compared exactly, whatever the tolerance.
#[must_use]
pub fn difference(expected: &Value, got: &Value, tolerance: Option<f64>) -> Option<String> {
    let mut path = String::new();
    let found = differs(expected, got, tolerance, &mut path)?;
    let at = if path.is_empty() {
        String::new()
    } else {
        format!("at {path}: ")
    };
    Some(format!("{at}{found}"))
}

/// What differs; `path` is where then.
fn differs(
    expected: &Value,
    got: &Value,
    tolerance: Option<f64>,
    path: &mut String,
) -> Option<String> {
    match (expected, got) {
        (Value::List(expected), Value::List(got)) | (Value::Tuple(expected), Value::Tuple(got)) => {
            items(expected, got, tolerance, path)
        }
        (Value::Dict(expected), Value::Dict(got)) => dicts(expected, got, tolerance, path),
        (Value::Set(wanted), Value::Set(had)) => {
            let same = wanted.len() == had.len() && keys(wanted) == keys(had);
            (!same).then(|| unequal(expected, got))
        }
        _ if same_scalar(expected, got, tolerance) => None,
        _ => Some(unequal(expected, got)),
    }
}

fn unequal(expected: &Value, got: &Value) -> String {
    let (wanted, had) = (show(expected, SHOWN_CHARS_MAX), show(got, SHOWN_CHARS_MAX));
    if expected.kind() == got.kind() {
        format!("expected {wanted}, got {had}")
    } else {
        format!(
            "expected {} {wanted}, got {} {had}",
            expected.kind(),
            got.kind()
        )
    }
}

fn items(
    expected: &[Value],
    got: &[Value],
    tolerance: Option<f64>,
    path: &mut String,
) -> Option<String> {
    for (number, (expected, got)) in expected.iter().zip(got).enumerate() {
        let length = path.len();
        path.push_str(&format!("[{number}]"));
        if let Some(found) = differs(expected, got, tolerance, path) {
            return Some(found);
        }
        path.truncate(length);
    }
    let lengths = (expected.len(), got.len());
    (lengths.0 != lengths.1).then(|| format!("expected {} items, got {}", lengths.0, lengths.1))
}

fn dicts(
    expected: &[(Value, Value)],
    got: &[(Value, Value)],
    tolerance: Option<f64>,
    path: &mut String,
) -> Option<String> {
    let had: Option<BTreeMap<Vec<u8>, &Value>> = got
        .iter()
        .map(|(name, value)| Some((key(name, KEY_BYTES_MAX)?, value)))
        .collect();
    let had = had.unwrap_or_default();
    for (name, wanted) in expected {
        let shown = show(name, SHOWN_CHARS_MAX);
        let found = key(name, KEY_BYTES_MAX).and_then(|key| had.get(&key).copied());
        let Some(found) = found else {
            return Some(format!("key {shown} is missing"));
        };
        let length = path.len();
        path.push_str(&format!("[{shown}]"));
        if let Some(found) = differs(wanted, found, tolerance, path) {
            return Some(found);
        }
        path.truncate(length);
    }
    let lengths = (expected.len(), got.len());
    (lengths.0 != lengths.1).then(|| format!("expected {} keys, got {}", lengths.0, lengths.1))
}

/// Sorted; `None` where one cannot be a member.
fn keys(items: &[Value]) -> Option<Vec<Vec<u8>>> {
    let keys: Option<Vec<Vec<u8>>> = items.iter().map(|item| key(item, KEY_BYTES_MAX)).collect();
    let mut keys = keys?;
    keys.sort_unstable();
    Some(keys)
}

/// A number as one of Python's.
enum Number<'a> {
    Whole(std::borrow::Cow<'a, Integer>),
    Float(f64),
    Complex(f64, f64),
}

fn number(value: &Value) -> Option<Number<'_>> {
    use std::borrow::Cow;
    match value {
        Value::Bool(is) => Some(Number::Whole(Cow::Owned(i64::from(*is).into()))),
        Value::Int(whole) => Some(Number::Whole(Cow::Borrowed(whole))),
        Value::Float(float) => Some(Number::Float(*float)),
        Value::Complex(real, imaginary) => Some(Number::Complex(*real, *imaginary)),
        _ => None,
    }
}

fn same_scalar(expected: &Value, got: &Value, tolerance: Option<f64>) -> bool {
    match (expected, got) {
        (Value::None, Value::None) => true,
        (Value::Text(expected), Value::Text(got)) => expected == got,
        (Value::Bytes(expected), Value::Bytes(got)) => expected == got,
        _ => match (number(expected), number(got)) {
            (Some(expected), Some(got)) => same_number(&expected, &got, tolerance),
            _ => false,
        },
    }
}

fn same_number(expected: &Number<'_>, got: &Number<'_>, tolerance: Option<f64>) -> bool {
    match (expected, got) {
        (Number::Whole(expected), Number::Whole(got)) => expected == got,
        (Number::Whole(whole), Number::Float(float)) => {
            Integer::from_f64(*float).is_some_and(|float| float == **whole)
                || near(whole.to_f64(), *float, tolerance)
        }
        (Number::Float(float), Number::Whole(whole)) => {
            Integer::from_f64(*float).is_some_and(|float| float == **whole)
                || near(*float, whole.to_f64(), tolerance)
        }
        (Number::Float(expected), Number::Float(got)) => same_float(*expected, *got, tolerance),
        (expected, got) => {
            let (expected, got) = (parts(expected), parts(got));
            same_float(expected.0, got.0, tolerance) && same_float(expected.1, got.1, tolerance)
        }
    }
}

fn parts(number: &Number<'_>) -> (f64, f64) {
    match number {
        Number::Whole(whole) => (whole.to_f64(), 0.0),
        Number::Float(float) => (*float, 0.0),
        Number::Complex(real, imaginary) => (*real, *imaginary),
    }
}

fn same_float(expected: f64, got: f64, tolerance: Option<f64>) -> bool {
    (expected.is_nan() && got.is_nan()) || expected == got || near(expected, got, tolerance)
}

/// Absolutely, or relative to what is expected.
fn near(expected: f64, got: f64, tolerance: Option<f64>) -> bool {
    let Some(by) = tolerance else { return false };
    let apart = (expected - got).abs();
    apart.is_finite() && (apart <= by || apart <= by * expected.abs())
}
