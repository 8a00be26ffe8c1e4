//! Where the readers of reports put their tests: one place that bounds how many there are and how
//! long their texts get. It knows no format.

use super::{FormatError, TESTS_MAX};
use crate::verdict::{TestResult, TestStatus};

/// The most of a test's id that is kept, in bytes.
const ID_BYTES_MAX: usize = 1024;
/// The most of a message that is kept, in bytes.
const MESSAGE_BYTES_MAX: usize = 4096;
/// The most of all messages together that is kept, in bytes.
const MESSAGES_BYTES_MAX: usize = 4 << 20;
/// The longest duration that is believed: a hundred days.
const DURATION_SECONDS_MAX: f64 = 8_640_000.0;

/// One test as a report tells it.
#[derive(Debug, Default)]
pub(super) struct Case {
    pub(super) id: String,
    pub(super) status: Option<TestStatus>,
    pub(super) seconds: f64,
    pub(super) message: String,
    pub(super) file: String,
    pub(super) line: Option<u64>,
}

/// Tests, as many as there may be.
#[derive(Debug, Default)]
pub(super) struct Collector {
    tests: Vec<TestResult>,
    message_bytes: usize,
}

impl Collector {
    /// Adds one; without a status it is an error, for a test must say how it ended.
    ///
    /// # Errors
    /// [`FormatError::TooManyTests`] beyond [`TESTS_MAX`].
    pub(super) fn add(&mut self, case: Case) -> Result<(), FormatError> {
        if self.tests.len() == TESTS_MAX {
            return Err(FormatError::TooManyTests);
        }
        let Case {
            id,
            status,
            seconds,
            message,
            file,
            line,
        } = case;
        let status = status.unwrap_or(TestStatus::Error);
        let room = MESSAGES_BYTES_MAX.saturating_sub(self.message_bytes);
        let message = match status {
            TestStatus::Passed => String::new(),
            _ => shortened(&message, MESSAGE_BYTES_MAX.min(room)),
        };
        self.message_bytes += message.len();
        self.tests.push(TestResult {
            id: name(&id),
            status,
            duration_ms: milliseconds(seconds),
            message,
            file: name(&file),
            line: line.filter(|line| *line > 0),
        });
        Ok(())
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.tests.len()
    }

    /// Those from number `from` on, to be changed.
    pub(super) fn since(&mut self, from: usize) -> &mut [TestResult] {
        self.tests.get_mut(from..).unwrap_or_default()
    }

    /// All of them.
    pub(super) fn into_tests(self) -> Vec<TestResult> {
        self.tests
    }
}

/// `text` without control characters and white space around it, at most `bytes_max` long.
pub(super) fn shortened(text: &str, bytes_max: usize) -> String {
    let text = text.trim();
    let end = if text.len() <= bytes_max {
        text.len()
    } else {
        (0..=bytes_max)
            .rev()
            .find(|at| text.is_char_boundary(*at))
            .unwrap_or(0)
    };
    let kept = text.get(..end).unwrap_or_default();
    let visible = |character: &char| !character.is_control() || matches!(character, '\n' | '\t');
    kept.chars().filter(visible).collect()
}

/// A name as it is kept.
pub(super) fn name(text: &str) -> String {
    shortened(text, ID_BYTES_MAX)
}

/// Puts `more` at the end of `text` while that is shorter than what is kept of a message.
pub(super) fn append(text: &mut String, more: &str) {
    if text.len() < MESSAGE_BYTES_MAX {
        text.push_str(&more.chars().take(MESSAGE_BYTES_MAX).collect::<String>());
    }
}

/// Seconds as whole milliseconds; what is no sensible duration is 0.
fn milliseconds(seconds: f64) -> u64 {
    if !(0.0..=DURATION_SECONDS_MAX).contains(&seconds) {
        return 0;
    }
    std::time::Duration::from_secs_f64(seconds)
        .as_millis()
        .try_into()
        .unwrap_or(0)
}

/// Seconds of a text as reports write them: `1.5`, `1,234.5`, `0.06s`, `0.06 seconds`.
pub(super) fn seconds_of(text: &str) -> f64 {
    let number = text.trim().trim_end_matches(|character: char| {
        character.is_ascii_alphabetic() || character.is_whitespace()
    });
    number.replace(',', "").parse().unwrap_or(0.0)
}

/// Parts of an id as one text; empty parts do not count.
pub(super) fn joined<'a>(parts: impl IntoIterator<Item = &'a str>, between: &str) -> String {
    let mut text = String::new();
    for part in parts
        .into_iter()
        .map(str::trim)
        .filter(|part| !part.is_empty())
    {
        if text.len() > ID_BYTES_MAX {
            break;
        }
        if !text.is_empty() {
            text.push_str(between);
        }
        // A long name that many tests share must not be copied whole for each.
        text.push_str(&shortened(part, ID_BYTES_MAX));
    }
    text
}
