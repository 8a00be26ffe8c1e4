//! How a task is to be judged, as meant: one type per family of kinds, and clear refusals for
//! what cannot be. It does not know how the judging is carried out, nor how a request is written.

pub mod answer;
pub mod asserts;
pub mod cases;
pub mod combined;
pub mod framework;
pub mod measure;
pub mod phase;
pub mod plain;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use answer::AnswerSpec;
pub use asserts::{AssertsSpec, TestCode, WHOLE_TEST_ID};
pub use cases::{Case, CasesSpec};
pub use combined::{Combine, CombinedSpec, Part};
pub use framework::{Framework, HarnessSpec, ReportFrom};
pub use measure::{Measure, MeasureSpec};
pub use phase::{GitScrub, Phase, Required, TestFile};
pub use plain::{ExitCodeSpec, StdoutSpec};

/// The kinds of the contract, and whether this build can judge them.
const KINDS: &[(&str, bool)] = &[
    ("exit_code", true),
    ("stdout", true),
    ("asserts", true),
    ("answer", true),
    ("cases", true),
    ("pytest", true),
    ("unittest", true),
    ("cargo_test", true),
    ("go_test", true),
    ("node_test", true),
    ("jest", true),
    ("junit_xml", true),
    ("tap", true),
    ("ctrf", true),
    ("command", true),
    ("compile", true),
    ("coverage", true),
    ("leaks", true),
    ("lint", true),
    ("combined", true),
];

/// Kinds that can be judged.
#[must_use]
pub fn supported_kinds() -> Vec<&'static str> {
    (KINDS.iter().filter(|(_, on)| *on))
        .map(|(kind, _)| *kind)
        .collect()
}

/// Kinds of the contract that cannot be judged yet.
#[must_use]
pub fn planned_kinds() -> Vec<&'static str> {
    (KINDS.iter().filter(|(_, on)| !*on))
        .map(|(kind, _)| *kind)
        .collect()
}

/// Why a `verify` block is refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum VerifyError {
    /// A kind of the contract that this build cannot judge yet.
    #[error("verify.kind {kind:?} is not supported yet; supported: {}", supported.join(", "))]
    NotSupportedYet {
        /// The kind asked.
        kind: String,
        /// What can be asked instead.
        supported: Vec<&'static str>,
    },
    /// No such kind.
    #[error("verify.kind {kind:?} is unknown; known: {}", known.join(", "))]
    UnknownKind {
        /// The kind asked.
        kind: String,
        /// Kinds that exist.
        known: Vec<&'static str>,
    },
    /// A field that must be given.
    #[error("verify.{field} is missing; {fix}")]
    Missing {
        /// The field.
        field: &'static str,
        /// What to write.
        fix: &'static str,
    },
    /// A field with a wrong value.
    #[error("verify.{field} is {value}; {expected}")]
    Invalid {
        /// The field.
        field: &'static str,
        /// The value, shortened.
        value: String,
        /// What it may be.
        expected: &'static str,
    },
    /// An answer that cannot be compared so.
    #[error("verify.answer.expected is {value}; {why}")]
    Answer {
        /// The answer, shortened.
        value: String,
        /// Why not.
        why: String,
    },
    /// Something wrong with one case.
    #[error("verify.cases: case {id:?}: {why}")]
    InCase {
        /// Its id.
        id: String,
        /// What, in words.
        why: String,
    },
    /// Something wrong with one part of a combination.
    #[error("verify.parts[{index}].{source}")]
    InPart {
        /// Which part, from 0.
        index: usize,
        /// What is wrong with it.
        #[source]
        source: Box<VerifyError>,
    },
}

impl VerifyError {
    /// Path of the field to blame, below `verify`.
    #[must_use]
    pub fn field(&self) -> String {
        match self {
            Self::NotSupportedYet { .. } | Self::UnknownKind { .. } => "kind".to_owned(),
            Self::Missing { field, .. } | Self::Invalid { field, .. } => (*field).to_owned(),
            Self::Answer { .. } => "answer.expected".to_owned(),
            Self::InCase { .. } => "cases".to_owned(),
            Self::InPart { index, source } => format!("parts[{index}].verify.{}", source.field()),
        }
    }

    pub(crate) fn invalid(field: &'static str, value: &str, expected: &'static str) -> Self {
        Self::Invalid {
            field,
            value: format!("{:?}", shorten(value)),
            expected,
        }
    }
}

/// What a touched harness means for the outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnTamper {
    /// The outcome is that of the grading, flagged.
    #[default]
    Grade,
    /// The outcome is `tampered`.
    Zero,
}

/// Language of a solution or of test code.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// Python 3.8 or later.
    #[default]
    Python,
    /// JavaScript.
    JavaScript,
    /// TypeScript.
    TypeScript,
    /// Go.
    Go,
    /// Java.
    Java,
    /// C.
    C,
    /// C++.
    Cpp,
    /// Rust.
    Rust,
    /// PHP.
    Php,
    /// Ruby.
    Ruby,
    /// Perl.
    Perl,
    /// Lua.
    Lua,
    /// Shell.
    Shell,
}

impl Language {
    /// Its name in requests.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::JavaScript => "javascript",
            Self::TypeScript => "typescript",
            Self::Go => "go",
            Self::Java => "java",
            Self::C => "c",
            Self::Cpp => "cpp",
            Self::Rust => "rust",
            Self::Php => "php",
            Self::Ruby => "ruby",
            Self::Perl => "perl",
            Self::Lua => "lua",
            Self::Shell => "shell",
        }
    }
}

/// How a task is to be judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VerifySpec {
    /// By the exit code.
    ExitCode(ExitCodeSpec),
    /// By standard output.
    Stdout(StdoutSpec),
    /// By test code against the solution's functions.
    Asserts(AssertsSpec),
    /// By an answer.
    Answer(AnswerSpec),
    /// By many inputs with their outputs.
    Cases(CasesSpec),
    /// By a test framework, or a command that writes a report of tests.
    Harness(HarnessSpec),
    /// By a compiler or checker.
    Measure(MeasureSpec),
    /// By several of these.
    Combined(CombinedSpec),
}

impl VerifySpec {
    /// The name of its kind, as in JSON.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::ExitCode(_) => "exit_code",
            Self::Stdout(_) => "stdout",
            Self::Asserts(_) => "asserts",
            Self::Answer(_) => "answer",
            Self::Cases(_) => "cases",
            Self::Harness(spec) => spec.framework.kind(),
            Self::Measure(spec) => spec.measure.kind(),
            Self::Combined(_) => "combined",
        }
    }

    /// Whether the judging needs the end of a run of the request's own `argv`.
    #[must_use]
    pub fn needs_run(&self) -> bool {
        match self {
            Self::ExitCode(_) | Self::Stdout(_) => true,
            Self::Answer(spec) => spec.needs_run(),
            Self::Combined(spec) => spec.parts.iter().any(|part| part.verify.needs_run()),
            Self::Asserts(_) | Self::Cases(_) | Self::Harness(_) | Self::Measure(_) => false,
        }
    }

    /// Whether something of it is judged in sandboxes of its own, after the request's own run.
    #[must_use]
    pub fn needs_sandboxes(&self) -> bool {
        match self {
            Self::ExitCode(_) | Self::Stdout(_) => false,
            Self::Answer(spec) => spec.needs_sandbox(),
            Self::Combined(spec) => spec.parts.iter().any(|part| part.verify.needs_sandboxes()),
            Self::Asserts(_) | Self::Cases(_) | Self::Harness(_) | Self::Measure(_) => true,
        }
    }

    /// What of the request's file system the judging starts from, where it has such a phase.
    #[must_use]
    pub fn phase(&self) -> Option<&Phase> {
        match self {
            Self::Harness(spec) => Some(&spec.phase),
            Self::Measure(spec) => Some(&spec.phase),
            _ => None,
        }
    }

    /// Checks values that a caller has put together.
    ///
    /// # Errors
    /// The first value that is not allowed, naming the field.
    pub fn validate(&self) -> Result<(), VerifyError> {
        check_kind(self.kind())?;
        match self {
            Self::ExitCode(spec) => spec.validate(),
            Self::Stdout(spec) => spec.validate(),
            Self::Asserts(spec) => spec.validate(),
            Self::Answer(spec) => spec.validate(),
            Self::Cases(spec) => spec.validate(),
            Self::Harness(spec) => spec.validate(),
            Self::Measure(spec) => spec.validate(),
            Self::Combined(spec) => spec.validate(),
        }
    }
}

/// Checks that `kind` can be judged.
///
/// # Errors
/// [`VerifyError::NotSupportedYet`] or [`VerifyError::UnknownKind`].
pub fn check_kind(kind: &str) -> Result<(), VerifyError> {
    match KINDS.iter().find(|(known, _)| *known == kind) {
        Some((_, true)) => Ok(()),
        Some((_, false)) => Err(VerifyError::NotSupportedYet {
            kind: kind.to_owned(),
            supported: supported_kinds(),
        }),
        None => Err(VerifyError::UnknownKind {
            kind: shorten(kind),
            known: KINDS.iter().map(|(kind, _)| *kind).collect(),
        }),
    }
}

/// Checks a path relative to `/workspace`.
pub(crate) fn check_path(field: &'static str, path: &str) -> Result<(), VerifyError> {
    if path.is_empty() {
        let fix = "name a file, relative to /workspace";
        return Err(VerifyError::Missing { field, fix });
    }
    let bad = path.starts_with('/')
        || path.contains('\0')
        || path.split('/').any(|part| matches!(part, "" | "." | ".."));
    if bad {
        let expected = "give a plain path relative to /workspace";
        return Err(VerifyError::invalid(field, path, expected));
    }
    Ok(())
}

fn shorten(text: &str) -> String {
    const CHARS_MAX: usize = 80;
    if text.chars().count() <= CHARS_MAX {
        return text.to_owned();
    }
    text.chars().take(CHARS_MAX).chain(['…']).collect()
}
