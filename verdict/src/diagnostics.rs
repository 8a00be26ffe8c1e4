//! Messages of compilers, interpreters and checkers, out of what these tools write.
//! Pure: it does not know who ran them, nor what a message means for a verdict.

mod gcc;
mod lint;
mod place;
mod rust;
mod sarif;
mod scripts;
#[cfg(test)]
mod tests;
mod text;

use crate::reading::{self, MESSAGE_BYTES_MAX, NAME_BYTES_MAX, ReadError};
use crate::untrusted::Untrusted;
use crate::verdict::{Diagnostic, Severity};

/// How a tool writes its messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DiagnosticFormat {
    /// GCC's and Clang's own lines, with `-fanalyzer` too.
    GccText,
    /// GCC's `-fdiagnostics-format=json`.
    GccJson,
    /// `javac`.
    Javac,
    /// rustc's own lines, and Cargo's.
    RustcText,
    /// `rustc --error-format=json`, or Cargo's and Clippy's `--message-format=json`.
    RustcJson,
    /// `go build`, `go vet` and `gofmt`, as text or as `go build -json`.
    GoText,
    /// `tsc`, and others that write `FILE(LINE,COLUMN): error CODE: message`.
    Tsc,
    /// Node's syntax errors.
    Node,
    /// Python's syntax errors and tracebacks.
    Python,
    /// `php -l`.
    Php,
    /// `ruby -c`.
    Ruby,
    /// `perl -c`.
    Perl,
    /// `luac -p`.
    Lua,
    /// `bash -n`, `dash -n`.
    Shell,
    /// One message a line with its place in front, as most linters write.
    Lines,
    /// SARIF 2.1.
    Sarif,
    /// `ruff check --output-format=json`.
    RuffJson,
    /// `eslint --format json`.
    EslintJson,
}

impl DiagnosticFormat {
    /// All formats, each with its name.
    pub const ALL: [(&str, Self); 19] = [
        ("gcc_text", Self::GccText),
        ("gcc_json", Self::GccJson),
        ("javac", Self::Javac),
        ("rustc_text", Self::RustcText),
        ("rustc_json", Self::RustcJson),
        ("clippy_json", Self::RustcJson),
        ("go_build", Self::GoText),
        ("tsc", Self::Tsc),
        ("node", Self::Node),
        ("python", Self::Python),
        ("php", Self::Php),
        ("ruby", Self::Ruby),
        ("perl", Self::Perl),
        ("lua", Self::Lua),
        ("shell", Self::Shell),
        ("lines", Self::Lines),
        ("sarif", Self::Sarif),
        ("ruff_json", Self::RuffJson),
        ("eslint_json", Self::EslintJson),
    ];

    /// The format of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let named = Self::ALL.iter().find(|(known, _)| *known == name);
        named.map(|(_, format)| *format)
    }

    /// Its name; the first where it has several.
    #[must_use]
    pub fn name(self) -> &'static str {
        let named = Self::ALL.iter().find(|(_, format)| *format == self);
        named.map_or("", |(name, _)| name)
    }

    /// Whether a report always is a document of its own, so that an empty one is no report.
    #[must_use]
    pub fn is_document(self) -> bool {
        matches!(self, Self::Sarif | Self::RuffJson | Self::EslintJson)
    }
}

/// Reads a report. Lines that are no message are passed over in text; JSON has to be whole.
///
/// # Errors
/// Any [`ReadError`].
pub fn parse(
    format: DiagnosticFormat,
    report: &Untrusted<Vec<u8>>,
) -> Result<Vec<Diagnostic>, ReadError> {
    use DiagnosticFormat as F;
    let found = match format {
        F::Sarif => sarif::read(reading::bytes(report)?)?,
        F::RuffJson => lint::ruff(reading::bytes(report)?)?,
        F::EslintJson => lint::eslint(reading::bytes(report)?)?,
        F::GccJson => gcc::json(reading::bytes(report)?)?,
        F::RustcJson => rust::json(reading::bytes(report)?)?,
        F::GccText => gcc::text(&reading::text(report)?)?,
        F::RustcText => rust::text(&reading::text(report)?)?,
        F::Javac => text::javac(&reading::text(report)?)?,
        F::GoText => text::go(&reading::text(report)?)?,
        F::Tsc => text::tsc(&reading::text(report)?)?,
        F::Lines => text::lines(&reading::text(report)?)?,
        F::Node => scripts::node(&reading::text(report)?)?,
        F::Python => scripts::python(&reading::text(report)?)?,
        F::Php => scripts::php(&reading::text(report)?)?,
        F::Ruby => scripts::ruby(&reading::text(report)?)?,
        F::Perl => scripts::perl(&reading::text(report)?)?,
        F::Lua => scripts::lua(&reading::text(report)?)?,
        F::Shell => scripts::shell(&reading::text(report)?)?,
    };
    Ok(found.0)
}

/// What was found so far, with a bound.
#[derive(Default)]
struct Found(Vec<Diagnostic>);

impl Found {
    /// Adds one, cut to size.
    fn add(&mut self, mut diagnostic: Diagnostic) -> Result<(), ReadError> {
        diagnostic.message = reading::cut(diagnostic.message.trim(), MESSAGE_BYTES_MAX);
        diagnostic.file = reading::cut(&diagnostic.file, NAME_BYTES_MAX);
        diagnostic.code = reading::cut(&diagnostic.code, NAME_BYTES_MAX);
        diagnostic.tool = reading::cut(&diagnostic.tool, NAME_BYTES_MAX);
        diagnostic.line = diagnostic.line.filter(|&line| line > 0);
        diagnostic.column = diagnostic.column.filter(|&column| column > 0);
        reading::push(&mut self.0, diagnostic, "diagnostics")
    }

    /// Adds a line to the message of the last one.
    fn continue_last(&mut self, line: &str) {
        if let Some(last) = self.0.last_mut()
            && last.message.len() + line.len() < MESSAGE_BYTES_MAX
        {
            last.message.push('\n');
            last.message.push_str(line);
        }
    }
}

/// One with a tool, a severity and a message.
fn diagnostic(tool: &str, severity: Severity, message: &str) -> Diagnostic {
    Diagnostic {
        tool: tool.to_owned(),
        severity,
        code: String::new(),
        message: message.to_owned(),
        file: String::new(),
        line: None,
        column: None,
    }
}
