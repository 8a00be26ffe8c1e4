//! What every kind has that is judged in a fresh sandbox: whose files are in it, and which tests
//! must have passed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{OnTamper, VerifyError, check_path};
use crate::git_scrub::holds_git;

/// Most globs of one task, and most required ids of one list.
const LIST_ITEMS_MAX: usize = 100_000;
const GLOBS_MAX: usize = 1_000;

/// One file of the task's author. Its content is kept as it is; written, it is hexadecimal.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestFile {
    /// Its bytes.
    #[serde(serialize_with = "to_hex", deserialize_with = "from_hex")]
    pub content: Vec<u8>,
    /// Permission bits, at most 0o777.
    pub mode: u32,
}

impl fmt::Debug for TestFile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (bytes, mode) = (self.content.len(), self.mode);
        write!(formatter, "TestFile({bytes} bytes, {mode:o})")
    }
}

fn to_hex<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&hex::encode(bytes))
}

fn from_hex<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(deserializer)?;
    hex::decode(text).map_err(serde::de::Error::custom)
}

/// What is done to a git repository among the files before tests see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GitScrub {
    /// Nothing.
    #[default]
    Keep,
    /// Everything that HEAD does not reach goes: other refs, reflogs, unreachable objects.
    Scrub,
}

/// What of the request's file system the judging starts from.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Phase {
    /// The author's files, by path relative to `/workspace`: they are there in the verification
    /// only, and win over whatever the run left.
    pub test_files: BTreeMap<String, TestFile>,
    /// Globs relative to `/workspace`, beyond those of the kind, that a solution must not change.
    pub protected: Vec<String>,
    /// What a touched harness means.
    pub on_tamper: OnTamper,
    /// What is done to a git repository.
    pub git: GitScrub,
}

impl Phase {
    pub(super) fn validate(&self) -> Result<(), VerifyError> {
        for (path, file) in &self.test_files {
            check_path("test_files", path)?;
            if file.mode > 0o777 {
                let value = format!("{:#o}", file.mode);
                let expected = "give permission bits of at most 0o777";
                return Err(VerifyError::invalid("test_files", &value, expected));
            }
        }
        let paths = self.test_files.keys().map(String::as_str);
        if self.git == GitScrub::Scrub && holds_git(paths) {
            let expected = "git = \"scrub\" is for repositories among the files; bring yours there";
            let value = "a git repository";
            return Err(VerifyError::invalid("test_files", value, expected));
        }
        if self.protected.len() > GLOBS_MAX {
            let value = self.protected.len().to_string();
            return Err(VerifyError::invalid(
                "protected",
                &value,
                "give at most 1000 globs",
            ));
        }
        (self.protected.iter()).try_for_each(|glob| check_path("protected", glob))
    }
}

/// Which tests must have passed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Required {
    /// Ids that must be reported and have passed.
    pub test_ids: Vec<String>,
    /// Ids that failed before the change and must pass now; a skipped one has failed.
    pub fail_to_pass: Vec<String>,
    /// Ids that passed before the change and must still do; a skipped one still does.
    pub pass_to_pass: Vec<String>,
    /// Whether the share of required tests that passed is the reward of a failure.
    pub partial_credit: bool,
}

impl Required {
    /// Whether no test is named: then every test that ran must have passed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.test_ids.is_empty() && self.fail_to_pass.is_empty() && self.pass_to_pass.is_empty()
    }

    pub(super) fn validate(&self) -> Result<(), VerifyError> {
        let lists = [
            ("test_ids", &self.test_ids),
            ("fail_to_pass", &self.fail_to_pass),
            ("pass_to_pass", &self.pass_to_pass),
        ];
        let mut seen = BTreeSet::new();
        for (field, list) in lists {
            if list.len() > LIST_ITEMS_MAX {
                let value = list.len().to_string();
                let expected = "give at most 100000 ids";
                return Err(VerifyError::invalid(field, &value, expected));
            }
            for id in list {
                if id.is_empty() || !seen.insert(id) {
                    let expected = "every id must be given, in one list and once";
                    return Err(VerifyError::invalid(field, id, expected));
                }
            }
        }
        Ok(())
    }
}
