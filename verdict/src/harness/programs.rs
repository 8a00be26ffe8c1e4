//! What our runners of test programs say between the lines of a report: that a program began, which
//! tests it has, and with which code it ended. Lines are told apart by this run's nonce.

use std::collections::BTreeSet;

use crate::formats::TESTS_MAX;
use crate::untrusted::Untrusted;
use crate::verdict::TestResult;

/// A report without our runner's lines, and what those say.
#[derive(Debug, Default)]
pub(super) struct Programs {
    /// What the framework wrote.
    pub(super) rest: Vec<u8>,
    /// A tool that this image does not have: nothing at all was started.
    pub(super) missing: Option<String>,
    /// Programs that began.
    pub(super) begun: usize,
    /// Codes of those that ended.
    pub(super) codes: Vec<i32>,
    /// Tests that the programs list.
    pub(super) listed: BTreeSet<String>,
}

impl Programs {
    pub(super) fn split(report: &Untrusted<Vec<u8>>, nonce: &str) -> Self {
        let mut programs = Self {
            missing: missing(report.inner(), nonce),
            ..Self::default()
        };
        for line in report.inner().split_inclusive(|byte| *byte == b'\n') {
            let ours = (std::str::from_utf8(line).ok())
                .and_then(|line| line.trim_end().strip_prefix(nonce)?.strip_prefix(' '));
            match ours {
                Some(ours) if !nonce.is_empty() => programs.note(ours),
                _ => programs.rest.extend_from_slice(line),
            }
        }
        programs
    }

    /// Takes out the tests that our scripts put into each program; see `go.sh` and `cargo.sh`.
    pub(super) fn drop_hidden(tests: &mut Vec<TestResult>, nonce: &str) {
        let word: String = nonce.chars().filter(char::is_ascii_alphanumeric).collect();
        if !word.is_empty() {
            tests.retain(|test| !test.id.ends_with(&word));
        }
    }

    fn note(&mut self, line: &str) {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "begin" => self.begun += 1,
            "end" => self.codes.extend(rest.parse::<i32>()),
            "lists" if self.listed.len() < TESTS_MAX => {
                self.listed.insert(rest.to_owned());
            }
            _ => {}
        }
    }

    /// Why what ran cannot be believed to be all there is: a program that did not end, or a test
    /// that a program has and nobody told of. `told` are the names that were reported.
    pub(super) fn gap(&self, told: &BTreeSet<&str>) -> Option<String> {
        if self.begun == 0 {
            return Some("no test program ran".to_owned());
        }
        if self.codes.len() != self.begun {
            return Some(format!(
                "{} of {} test programs ended",
                self.codes.len(),
                self.begun
            ));
        }
        let silent = |name: &&String| !told.contains(name.as_str());
        let first = self.listed.iter().find(silent)?;
        let count = self.listed.iter().filter(silent).count();
        Some(format!(
            "{count} of {} tests that the programs have were not told of, for example {first}",
            self.listed.len()
        ))
    }
}

/// The tool that our script did not find, if it says so and nothing else: its first line is there
/// before anything of the solution runs, so nobody else can say it.
fn missing(report: &[u8], nonce: &str) -> Option<String> {
    let line = std::str::from_utf8(report).ok()?.strip_suffix('\n')?;
    let tool = line.strip_prefix(nonce)?.strip_prefix(" missing ")?;
    let plain = !nonce.is_empty() && !tool.contains('\n');
    plain.then(|| tool.to_owned())
}
