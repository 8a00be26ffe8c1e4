//! Sizes in bytes as people write them in JSON: `512 MiB`, `256M`, `1_000`.
//!
//! The same notation as in policy documents (a test of the daemon compares the two); it stands
//! here once more because crates of the lowest floor do not import each other.

/// A size that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SizeError {
    /// It does not start with digits.
    #[error("does not start with a whole number")]
    NotANumber,
    /// The unit is not known.
    #[error("has the unknown unit \"{unit}\"")]
    UnknownUnit {
        /// The part after the number.
        unit: String,
    },
    /// It does not fit.
    #[error("is too large")]
    TooLarge,
}

/// Reads a size in bytes. `K M G T` and `KiB MiB GiB TiB` are powers of 1024, `KB MB GB TB`
/// powers of 1000, no unit and `B` are bytes; case does not matter, `_` may group digits.
///
/// # Errors
/// No whole number, an unknown unit, or more than `i64::MAX` bytes.
pub fn parse_size_bytes(text: &str) -> Result<u64, SizeError> {
    let trimmed = text.trim();
    let split = trimmed
        .find(|c: char| !c.is_ascii_digit() && c != '_')
        .unwrap_or(trimmed.len());
    let (digits, unit) = trimmed.split_at(split);
    let digits = digits.replace('_', "");
    if digits.is_empty() {
        return Err(SizeError::NotANumber);
    }
    let unit = unit.trim();
    let factor = factor_of(unit).ok_or_else(|| SizeError::UnknownUnit {
        unit: unit.to_owned(),
    })?;
    digits
        .bytes()
        .try_fold(0_u64, |sum, digit| {
            sum.checked_mul(10)?
                .checked_add(u64::from(digit.wrapping_sub(b'0')))
        })
        .and_then(|number| number.checked_mul(factor))
        .filter(|bytes| *bytes <= i64::MAX.unsigned_abs())
        .ok_or(SizeError::TooLarge)
}

fn factor_of(unit: &str) -> Option<u64> {
    Some(match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        "t" | "tib" => 1 << 40,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "tb" => 1_000_000_000_000,
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
