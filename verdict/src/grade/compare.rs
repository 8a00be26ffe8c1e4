//! Standard output against what is expected: exact, or with stated tolerances.
//! Strict by default: nothing is trimmed, cut to the shorter one or searched for within.

use crate::untrusted::Untrusted;

/// What of a difference does not count.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules {
    /// White space at the ends of lines and of the output.
    pub(crate) ignore_trailing_space: bool,
    /// As much between numbers, absolutely or relative to the expected one.
    pub(crate) float_tolerance: Option<f64>,
}

/// Where the output differs from what is expected, in words; `None` = it does not.
pub(crate) fn difference(
    rules: Rules,
    expected: &[u8],
    output: &Untrusted<Vec<u8>>,
) -> Option<String> {
    let got = output.inner().as_slice();
    if !rules.ignore_trailing_space && rules.float_tolerance.is_none() {
        if expected == got {
            return None;
        }
        let at = expected.iter().zip(got).take_while(|(a, b)| a == b).count();
        let (expected_len, got_len) = (expected.len(), got.len());
        return Some(format!(
            "standard output differs at byte {at} ({got_len} bytes, expected {expected_len})"
        ));
    }
    let (expected, got) = (lines(expected, rules), lines(got, rules));
    for (number, (expected, got)) in (1..).zip(expected.iter().zip(&got)) {
        let same = match rules.float_tolerance {
            Some(tolerance) => same_tokens(expected, got, tolerance),
            None => expected == got,
        };
        if !same {
            return Some(format!("standard output differs in line {number}"));
        }
    }
    (expected.len() != got.len()).then(|| {
        format!(
            "standard output has {} lines, expected {}",
            got.len(),
            expected.len()
        )
    })
}

/// Lines, with white space at their ends and empty lines at the end cut off if that is ignored.
fn lines(bytes: &[u8], rules: Rules) -> Vec<&[u8]> {
    let mut lines: Vec<&[u8]> = bytes.split(|&byte| byte == b'\n').collect();
    if rules.ignore_trailing_space {
        for line in &mut lines {
            *line = line.trim_ascii_end();
        }
        while lines.last().is_some_and(|line| line.is_empty()) {
            lines.pop();
        }
    }
    lines
}

fn same_tokens(expected: &[u8], got: &[u8], tolerance: f64) -> bool {
    let tokens = |line| {
        <[u8]>::split(line, u8::is_ascii_whitespace)
            .filter(|token: &&[u8]| !token.is_empty())
            .collect::<Vec<_>>()
    };
    let (expected, got) = (tokens(expected), tokens(got));
    expected.len() == got.len()
        && expected
            .iter()
            .zip(got)
            .all(|(expected, got)| same_token(expected, got, tolerance))
}

/// Equal text, or numbers within the tolerance, absolutely or relative to the expected one.
/// Two integers must be equal as text: large ones would be equal as floats.
fn same_token(expected: &[u8], got: &[u8], tolerance: f64) -> bool {
    if expected == got {
        return true;
    }
    if is_integer(expected) && is_integer(got) {
        return false;
    }
    let (Some(expected), Some(got)) = (number(expected), number(got)) else {
        return false;
    };
    let apart = (expected - got).abs();
    apart <= tolerance || apart <= tolerance * expected.abs()
}

fn is_integer(token: &[u8]) -> bool {
    let digits = token.strip_prefix(b"-").unwrap_or(token);
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

fn number(token: &[u8]) -> Option<f64> {
    let value: f64 = std::str::from_utf8(token).ok()?.parse().ok()?;
    value.is_finite().then_some(value)
}
