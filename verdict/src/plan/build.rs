//! What a compiled language needs before its programs can run: one command in a sandbox of its
//! own, and the files that it must leave for the next one. Pure.

use std::collections::BTreeMap;

use crate::diagnostics::DiagnosticFormat;

/// Wall time that the building of the judge's program gets at least, in milliseconds.
pub const BUILD_WALL_MS_MIN: u64 = 60_000;

/// Whose program is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Builder {
    /// The solution's: what goes wrong is the solution's doing.
    Solution,
    /// The judge's, of nothing but the author's text and ours: what goes wrong is the verifier's.
    Judge,
    /// The judge's, against functions as the solution declares them: test code that does not
    /// compile with them does not fit the solution.
    JudgeOfSolution,
}

/// A command that makes a program.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Build {
    /// Files of its sandbox: path below `/workspace` -> bytes.
    pub files: BTreeMap<String, Vec<u8>>,
    /// The command.
    pub argv: Vec<String>,
    /// Its environment beside the usual one.
    pub env: BTreeMap<String, String>,
    /// Patterns of files to carry on, with their modes, into the sandbox of the run.
    pub collect: Vec<String>,
    /// Files among them without which there is no program.
    pub required: Vec<String>,
    /// The format of its messages; `None` = text of no known shape.
    pub messages: Option<DiagnosticFormat>,
    /// Files by the name that the compiler has for them, and the one that their author knows.
    pub files_renamed: Vec<(String, String)>,
    /// Lines of ours before the author's first, in those files.
    pub lines_before: u64,
}
