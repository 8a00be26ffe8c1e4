//! Sizes in bytes as people write them: `536870912`, `512 MiB`, `256M`.
//!
//! It knows nothing of fields; a caller adds the name of the field to the error.

#[cfg(test)]
mod tests;

/// A size that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SizeError {
    /// No digits where the number stands.
    #[error("size \"{text}\" does not start with a whole number; write for instance \"512 MiB\"")]
    NotANumber {
        /// What was written.
        text: String,
    },
    /// A unit that is not known.
    #[error(
        "size \"{text}\" has the unknown unit \"{unit}\"; use B, KiB, MiB, GiB, TiB (or K, M, G, T), or KB, MB, GB, TB for powers of 1000"
    )]
    UnknownUnit {
        /// What was written.
        text: String,
        /// The part after the number.
        unit: String,
    },
    /// More than fits.
    #[error("size \"{text}\" is too large; the most is {SIZE_BYTES_MAX} bytes")]
    TooLarge {
        /// What was written.
        text: String,
    },
}

/// The largest size that a document can hold, in bytes: TOML integers are signed.
pub const SIZE_BYTES_MAX: u64 = i64::MAX.unsigned_abs();

/// Reads a size in bytes. `K`, `M`, `G`, `T` and `KiB`, `MiB`, `GiB`, `TiB` are powers of 1024;
/// `KB`, `MB`, `GB`, `TB` powers of 1000; no unit and `B` are bytes. Case does not matter, digits
/// may be grouped with `_`.
///
/// # Errors
/// No whole number, an unknown unit, or a size beyond [`SIZE_BYTES_MAX`].
pub fn parse_size_bytes(text: &str) -> Result<u64, SizeError> {
    let trimmed = text.trim();
    let split = trimmed
        .find(|c: char| !c.is_ascii_digit() && c != '_')
        .unwrap_or(trimmed.len());
    let (digits, unit) = trimmed.split_at(split);
    let digits = digits.replace('_', "");
    if digits.is_empty() {
        return Err(SizeError::NotANumber {
            text: text.to_owned(),
        });
    }
    let unit = unit.trim();
    let factor: u64 = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        "t" | "tib" => 1 << 40,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "tb" => 1_000_000_000_000,
        _ => {
            return Err(SizeError::UnknownUnit {
                text: text.to_owned(),
                unit: unit.to_owned(),
            });
        }
    };
    let too_large = || SizeError::TooLarge {
        text: text.to_owned(),
    };
    // Only digits are left, so that the one possible failure of the parse is overflow.
    let number = digits.bytes().try_fold(0_u64, |sum, digit| {
        sum.checked_mul(10)?
            .checked_add(u64::from(digit.wrapping_sub(b'0')))
    });
    number
        .and_then(|number| number.checked_mul(factor))
        .filter(|bytes| *bytes <= SIZE_BYTES_MAX)
        .ok_or_else(too_large)
}

/// A size for people: the largest binary unit that divides it, else bytes.
pub fn format_size_bytes(bytes: u64) -> String {
    for (factor, unit) in [
        (1_u64 << 40, "TiB"),
        (1 << 30, "GiB"),
        (1 << 20, "MiB"),
        (1 << 10, "KiB"),
    ] {
        if bytes >= factor && bytes.is_multiple_of(factor) {
            return format!("{} {unit}", bytes / factor);
        }
    }
    format!("{bytes} bytes")
}

/// A time for people: whole minutes, seconds or milliseconds.
pub fn format_millis(millis: u64) -> String {
    if millis >= 60_000 && millis.is_multiple_of(60_000) {
        return format!("{} min", millis / 60_000);
    }
    if millis >= 1_000 && millis.is_multiple_of(1_000) {
        return format!("{} s", millis / 1_000);
    }
    format!("{millis} ms")
}
