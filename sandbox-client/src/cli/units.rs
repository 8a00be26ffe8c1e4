//! Values as people write them on the command line: durations, sizes, `K=V`, `SRC:DEST`, and the
//! way back for output. Knows no option and no limit.

use std::path::PathBuf;

/// A value that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum UnitError {
    /// No number in front.
    #[error("`{text}` does not start with a number; write for instance 500ms, 10s, 2m or 1h")]
    NotANumber { text: String },
    /// A number that says nothing of its unit.
    #[error("`{text}` has no unit; write {text}s for seconds, or use ms, m or h")]
    NoUnit { text: String },
    /// Another unit.
    #[error("`{text}` has the unknown unit `{unit}`; use ms, s, m or h")]
    UnknownUnit { text: String, unit: String },
    /// Nothing at all, or below a millisecond.
    #[error("`{text}` is less than a millisecond")]
    TooSmall { text: String },
    /// Beyond what fits.
    #[error("`{text}` is too long; the most is 8760h")]
    TooLarge { text: String },
    /// No name in front of `=`.
    #[error("`{text}` is no variable; write NAME=VALUE, or NAME to pass on our own value")]
    NoName { text: String },
    /// A name without value that we have no value for.
    #[error("`{name}` is not set here; write {name}=VALUE")]
    NotSet { name: String },
    /// A part of `SRC:DEST` is empty.
    #[error("`{text}` has an empty part; write SRC or SRC:DEST")]
    EmptyPart { text: String },
}

/// The longest duration: a year. It keeps sums of times far from overflow.
const DURATION_MS_MAX: u64 = 8_760 * 3_600_000;

/// Reads `500ms`, `1.5s`, `2m`, `1h` as milliseconds. A bare number is refused: units are never
/// implied.
pub(crate) fn parse_duration_ms(text: &str) -> Result<u64, UnitError> {
    let owned = || text.to_owned();
    let trimmed = text.trim();
    let split = trimmed
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(split);
    if number.is_empty() {
        return Err(UnitError::NotANumber { text: owned() });
    }
    let factor_ms: u64 = match unit.trim() {
        "ms" => 1,
        "s" => 1_000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        "" => return Err(UnitError::NoUnit { text: owned() }),
        other => {
            return Err(UnitError::UnknownUnit {
                text: owned(),
                unit: other.to_owned(),
            });
        }
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let whole: u64 = if whole.is_empty() { "0" } else { whole }
        .parse()
        .map_err(|error| match number_error(&error) {
            NumberError::TooLarge => UnitError::TooLarge { text: owned() },
            NumberError::Other => UnitError::NotANumber { text: owned() },
        })?;
    if fraction.is_empty() || fraction.len() > 9 || fraction.contains('.') {
        return Err(UnitError::NotANumber { text: owned() });
    }
    let mut scale: u64 = 1;
    let mut parts: u64 = 0;
    for digit in fraction.bytes() {
        parts = parts * 10 + u64::from(digit - b'0');
        scale *= 10;
    }
    let ms = whole
        .checked_mul(factor_ms)
        .and_then(|ms| ms.checked_add(parts * factor_ms / scale))
        .filter(|ms| *ms <= DURATION_MS_MAX)
        .ok_or_else(|| UnitError::TooLarge { text: owned() })?;
    if ms == 0 {
        return Err(UnitError::TooSmall { text: owned() });
    }
    Ok(ms)
}

enum NumberError {
    TooLarge,
    Other,
}

fn number_error(error: &std::num::ParseIntError) -> NumberError {
    match error.kind() {
        std::num::IntErrorKind::PosOverflow => NumberError::TooLarge,
        _ => NumberError::Other,
    }
}

/// Reads `256M`, `256 MiB`, `1048576` as bytes, as in a policy document.
pub(crate) fn parse_size_bytes(text: &str) -> Result<u64, policies::size::SizeError> {
    policies::size::parse_size_bytes(text)
}

/// One environment variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EnvVar {
    /// Its name.
    pub(crate) name: String,
    /// Its value.
    pub(crate) value: String,
}

/// Reads `NAME=VALUE`, or `NAME` for the value it has here.
pub(crate) fn parse_env_var(text: &str) -> Result<EnvVar, UnitError> {
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name, Some(value.to_owned())),
        None => (text, None),
    };
    if name.is_empty() {
        return Err(UnitError::NoName {
            text: text.to_owned(),
        });
    }
    let value = match value {
        Some(value) => value,
        None => std::env::var(name).map_err(|_unset_or_not_text| UnitError::NotSet {
            name: name.to_owned(),
        })?,
    };
    Ok(EnvVar {
        name: name.to_owned(),
        value,
    })
}

/// A local file or folder and where it goes below `/workspace`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Put {
    /// The local path.
    pub(crate) source: PathBuf,
    /// Where it goes; `None` = its own name.
    pub(crate) destination: Option<String>,
}

/// Reads `SRC` or `SRC:DEST`; the last colon parts them.
pub(crate) fn parse_put(text: &str) -> Result<Put, UnitError> {
    let (source, destination) = match text.rsplit_once(':') {
        Some((source, destination)) => (source, Some(destination)),
        None => (text, None),
    };
    if source.is_empty() || destination == Some("") {
        return Err(UnitError::EmptyPart {
            text: text.to_owned(),
        });
    }
    Ok(Put {
        source: PathBuf::from(source),
        destination: destination.map(str::to_owned),
    })
}

/// A duration for people: `18 ms`, `1.5 s`, `2 min 5 s`.
pub(crate) fn show_ms(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        _ => format!("{} min {} s", ms / 60_000, ms % 60_000 / 1_000),
    }
}

/// A size for people: `512 B`, `1.5 KiB`, `256 MiB`.
pub(crate) fn show_bytes(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    let mut scale: u64 = 1 << 10;
    if bytes < scale {
        return format!("{bytes} B");
    }
    let mut unit = 0;
    while bytes / scale >= 1 << 10 && unit + 1 < UNITS.len() {
        scale <<= 10;
        unit += 1;
    }
    let whole = bytes / scale;
    let tenth = (bytes % scale) / (scale / 10).max(1);
    match tenth.min(9) {
        0 => format!("{whole} {}", UNITS[unit]),
        tenth => format!("{whole}.{tenth} {}", UNITS[unit]),
    }
}

#[cfg(test)]
mod tests;
