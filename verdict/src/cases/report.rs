//! What the process beside a solution says of each case: one frame a case. All of it is an
//! allegation: a frame that is none ends the run, and what a case wrote or returned is compared here.

use super::coding::{self, CodingError};
use super::value::Value;
use crate::untrusted::Untrusted;

/// Bytes of one frame of a case at most, its head included.
pub const FRAME_BYTES_MAX: usize = 16 << 20;
/// Number of the frame that tells how the solution was loaded.
pub const LOADED: u32 = u32::MAX;
/// Bytes before what a case wrote.
const HEAD_BYTES: usize = 37;

/// How a case ended, in the words of the process that started it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaseEnd {
    /// It left with this code.
    Exited(i32),
    /// A signal ended it.
    Signalled(i32),
    /// It was ended for its wall time.
    WallTimeUp,
    /// It was ended for what it wrote.
    OutputUp,
    /// It could not be started.
    NotStarted,
}

/// One case.
#[derive(Debug, Clone)]
pub struct CaseReport {
    /// Its number, from 0.
    pub number: u32,
    /// How it ended.
    pub end: CaseEnd,
    /// From its start to its end, in microseconds.
    pub wall_us: u64,
    /// CPU time of it and of those it waited for, in microseconds.
    pub cpu_us: u64,
    /// Bytes that it wrote in all.
    pub written_bytes: u64,
    /// What it wrote to standard output, or the message of a call.
    pub output: Untrusted<Vec<u8>>,
    /// The end of what it wrote to standard error.
    pub stderr: Untrusted<Vec<u8>>,
}

/// Why bytes are no frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// Shorter than its own head or lengths.
    #[error("a frame of {bytes} bytes breaks off")]
    Short {
        /// Its length.
        bytes: usize,
    },
    /// An end that there is not.
    #[error("a case ended as {how:?}, which is no end")]
    End {
        /// The byte.
        how: char,
    },
    /// The report of the loading is no value.
    #[error("what is told of the loading cannot be read: {0}")]
    Load(CodingError),
}

/// Reads the frame of a case, without its length.
///
/// # Errors
/// [`FrameError`] if it is none.
pub fn read_case(frame: &Untrusted<Vec<u8>>) -> Result<CaseReport, FrameError> {
    let bytes = frame.inner().as_slice();
    let short = FrameError::Short { bytes: bytes.len() };
    let (head, rest) = bytes.split_at_checked(HEAD_BYTES).ok_or(short)?;
    let mut fields = Fields { rest: head, short };
    let number = fields.u32()?;
    let [how] = fields.take()?;
    let code = i32::from_le_bytes(fields.take()?);
    let (wall_us, cpu_us, written_bytes) = (fields.u64()?, fields.u64()?, fields.u64()?);
    let length = usize::try_from(fields.u32()?).map_err(|_narrow| short)?;
    let (output, stderr) = rest.split_at_checked(length).ok_or(short)?;
    let end = match how {
        b'e' => CaseEnd::Exited(code),
        b's' => CaseEnd::Signalled(code),
        b't' => CaseEnd::WallTimeUp,
        b'o' => CaseEnd::OutputUp,
        b'n' => CaseEnd::NotStarted,
        other => {
            return Err(FrameError::End {
                how: char::from(other),
            });
        }
    };
    Ok(CaseReport {
        number,
        end,
        wall_us,
        cpu_us,
        written_bytes,
        output: Untrusted::new(output.to_vec()),
        stderr: Untrusted::new(stderr.to_vec()),
    })
}

struct Fields<'a> {
    rest: &'a [u8],
    short: FrameError,
}

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], FrameError> {
        let (taken, rest) = self.rest.split_at_checked(N).ok_or(self.short)?;
        self.rest = rest;
        taken.try_into().map_err(|_length| self.short)
    }

    fn u32(&mut self) -> Result<u32, FrameError> {
        Ok(u32::from_le_bytes(self.take()?))
    }

    fn u64(&mut self) -> Result<u64, FrameError> {
        Ok(u64::from_le_bytes(self.take()?))
    }
}

/// How loading the solution went: a claim of the process beside it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Loaded {
    /// `ok`, `syntax_error`, `missing`, `exit` or `exception`.
    pub state: String,
    /// Type of what was raised.
    pub kind: String,
    /// Its message.
    pub message: String,
    /// Where.
    pub file: String,
    /// The line.
    pub line: Option<u64>,
    /// The column.
    pub column: Option<u64>,
    /// The code that it left with.
    pub code: Option<i64>,
}

/// Reads the frame that tells of the loading, without its length.
///
/// # Errors
/// [`FrameError`] if it is none.
pub fn read_loaded(frame: &Untrusted<Vec<u8>>) -> Result<Loaded, FrameError> {
    let report = read_case(frame)?;
    let value = coding::decode(report.output.inner()).map_err(FrameError::Load)?;
    let mut loaded = Loaded::default();
    let Value::Dict(entries) = value else {
        return Err(FrameError::Load(CodingError::Short));
    };
    for (name, value) in entries.iter() {
        let Value::Text(name) = name else { continue };
        let text = || match value {
            Value::Text(text) => text.chars().take(2000).collect(),
            _ => String::new(),
        };
        let number = || match value {
            Value::Int(number) => number.to_i64(),
            _ => None,
        };
        let natural = || number().and_then(|number| u64::try_from(number).ok());
        match &**name {
            "state" => loaded.state = text(),
            "type" => loaded.kind = text(),
            "message" => loaded.message = text(),
            "file" => loaded.file = text(),
            "line" => loaded.line = natural(),
            "column" => loaded.column = natural(),
            "code" => loaded.code = number(),
            _ => {}
        }
    }
    Ok(loaded)
}

/// What came of a call.
#[derive(Debug, Clone)]
pub enum Returned {
    /// It returned.
    Value(Value),
    /// It raised.
    Raised {
        /// Type of what was raised.
        kind: String,
        /// Its message.
        message: String,
    },
    /// It returned something that is no plain value.
    CannotCross(String),
}

/// Why the message of a call says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotReturned {
    /// There is none.
    #[error("its process ended before the function returned")]
    Nothing,
    /// It is no value.
    #[error("what it returned cannot be read: {0}")]
    Coding(CodingError),
    /// It is a value, and of no use.
    #[error("what it returned is no message of ours")]
    Kind,
}

/// Reads the message of a call.
///
/// # Errors
/// [`NotReturned`] if it is none.
pub fn read_returned(output: &Untrusted<Vec<u8>>) -> Result<Returned, NotReturned> {
    let Some((kind, content)) = output.inner().split_first() else {
        return Err(NotReturned::Nothing);
    };
    let value = coding::decode(content).map_err(NotReturned::Coding)?;
    let text = |value: Option<&Value>| match value {
        Some(Value::Text(text)) => text.chars().take(1000).collect(),
        _ => String::new(),
    };
    match (*kind, value) {
        (b'r', value) => Ok(Returned::Value(value)),
        (b'c', value) => Ok(Returned::CannotCross(text(Some(&value)))),
        (b'x', Value::Tuple(parts)) => Ok(Returned::Raised {
            kind: text(parts.first()),
            message: text(parts.get(1)),
        }),
        _ => Err(NotReturned::Kind),
    }
}
