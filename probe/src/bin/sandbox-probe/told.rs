//! What an act tells, in the words of a finding.

use nix::errno::Errno;

/// A word, or the errno that stood in the way.
pub(crate) type Told = Result<Word, Errno>;

/// A word of a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word(String);

impl Word {
    /// The attempt worked.
    pub(crate) fn ok() -> Self {
        Self("ok".to_owned())
    }

    /// Any text, cut and cleaned to what a finding may hold.
    pub(crate) fn of(text: &str) -> Self {
        let clean = |character: char| {
            if character.is_ascii_graphic() || character == ' ' {
                character
            } else {
                '?'
            }
        };
        let text: String = text.chars().take(200).map(clean).collect();
        Self(if text.is_empty() {
            "empty".to_owned()
        } else {
            text
        })
    }

    /// The text.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// `ok`, whatever the call gave.
pub(crate) fn worked<T>(result: Result<T, Errno>) -> Told {
    result.map(|_given| Word::ok())
}

/// The same for a result of the standard library.
pub(crate) fn worked_io<T>(result: std::io::Result<T>) -> Told {
    result.map(|_given| Word::ok()).map_err(errno_of)
}

/// A word of the row's own.
pub(crate) fn word(text: &str) -> Told {
    Ok(Word::of(text))
}

/// The errno of an error of the standard library.
#[expect(clippy::needless_pass_by_value, reason = "made to stand in map_err")]
pub(crate) fn errno_of(error: std::io::Error) -> Errno {
    error.raw_os_error().map_or(Errno::EIO, Errno::from_raw)
}

/// What is written for it: `ok`, a word, or the name of the errno.
pub(crate) fn text(told: &Told) -> String {
    match told {
        Ok(word) => word.as_str().to_owned(),
        // A number that has no name here.
        Err(Errno::UnknownErrno) => "unknown errno".to_owned(),
        Err(errno) => format!("{errno:?}"),
    }
}
