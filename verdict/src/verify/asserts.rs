//! Test code that calls the solution's functions from another sandbox.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Language, OnTamper, VerifyError, check_path};

/// Id of the only test when test code is given as a whole.
pub const WHOLE_TEST_ID: &str = "asserts";

/// Languages whose test code can be run apart from the solution.
const LANGUAGES: &[Language] = &[
    Language::Python,
    Language::JavaScript,
    Language::Go,
    Language::Java,
    Language::C,
    Language::Cpp,
    Language::Rust,
];

/// One piece of test code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestCode {
    /// Its id, unique within the task.
    pub id: String,
    /// Its source.
    pub code: String,
}

/// Judged by test code that calls the solution.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AssertsSpec {
    /// The solution's file, relative to `/workspace`.
    pub file: String,
    /// Test code. With `tests` it runs before them and is no test itself.
    pub code: String,
    /// Language of the test code.
    pub language: Language,
    /// Tests one by one, each with its own result; empty = `code` is the one test `asserts`.
    pub tests: Vec<TestCode>,
    /// Ids that must be reported and have passed; empty = all tests.
    pub test_ids: Vec<String>,
    /// What a touched harness means.
    pub on_tamper: OnTamper,
    /// Built-in names (such as `sum`) that the solution itself is asked to define. Every other
    /// built-in name means the judge's own in test code, whatever the solution defines.
    pub entry_points: Vec<String>,
    /// Compiled languages: the functions that tests call, as the language writes them; empty =
    /// taken from the solution's file.
    pub declaration: String,
}

impl AssertsSpec {
    /// Ids of the tests that will run, in order.
    #[must_use]
    pub fn planned_ids(&self) -> Vec<&str> {
        if self.tests.is_empty() {
            return vec![WHOLE_TEST_ID];
        }
        self.tests.iter().map(|test| test.id.as_str()).collect()
    }

    /// Ids that must have passed.
    #[must_use]
    pub fn required_ids(&self) -> Vec<&str> {
        if self.test_ids.is_empty() {
            return self.planned_ids();
        }
        self.test_ids.iter().map(String::as_str).collect()
    }

    pub(super) fn validate(&self) -> Result<(), VerifyError> {
        check_path("file", &self.file)?;
        if !LANGUAGES.contains(&self.language) {
            return Err(VerifyError::Invalid {
                field: "language",
                value: self.language.name().to_owned(),
                expected: "asserts supports python, javascript, go, java, c, cpp, rust",
            });
        }
        if self.tests.is_empty() && self.code.trim().is_empty() {
            let fix = "give test code, or a list in verify.tests";
            return Err(VerifyError::Missing { field: "code", fix });
        }
        let mut seen = BTreeSet::new();
        for test in &self.tests {
            if test.id.is_empty() || !seen.insert(test.id.as_str()) {
                let expected = "every id must be given and unique";
                return Err(VerifyError::invalid("tests", &test.id, expected));
            }
        }
        let planned = self.planned_ids();
        let stray = (self.test_ids.iter()).find(|id| !planned.contains(&id.as_str()));
        match stray {
            Some(id) => Err(VerifyError::invalid(
                "test_ids",
                id,
                "name only tests of this task",
            )),
            None => Ok(()),
        }
    }
}
