//! Skips: a test that cannot run here says so in one line of the file named by `ROLLCAGE_SKIP_LOG`,
//! `SKIP <name>: <reason>`; only names listed in `tests/allowed-skips.toml` may.
//! A name without `/` is a whole test; `test/part` is a part of one that otherwise ran.

use anyhow::{Context, Result};
use serde::Deserialize;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// The environment variable that names the log.
pub(crate) const LOG_VARIABLE: &str = "ROLLCAGE_SKIP_LOG";

/// One test, or part of one, that did not run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Skip {
    /// The test's name, or `name/part`.
    pub(crate) name: String,
    /// Why, in the test's own words.
    pub(crate) reason: String,
}

impl Skip {
    /// Whether a whole test did not run, so that its runner counted it as passed for nothing.
    pub(crate) fn is_whole_test(&self) -> bool {
        !self.name.contains('/')
    }
}

/// When an allowed skip is allowed.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum When {
    /// On any machine: what is missing is not ours to bring.
    #[default]
    Always,
    /// Only for a user who is not root.
    NotRoot,
    /// Anywhere but where `CI` is set: there what is missing is to be seen.
    OutsideCi,
}

/// Where a run happens, as far as that decides on skips.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// Whether the user is root.
    pub(crate) is_root: bool,
    /// Whether this is the project's continuous integration.
    pub(crate) is_ci: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    /// The exact name, or a beginning of it followed by `*`.
    name: String,
    /// Why the project accepts this.
    reason: String,
    #[serde(default)]
    when: When,
}

/// The committed list of skips that do not fail a run.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Allowed {
    #[serde(default)]
    skip: Vec<Entry>,
}

impl Allowed {
    /// Reads the list; a missing file allows nothing.
    ///
    /// # Errors
    /// When the file cannot be read, is no such list, or has an entry without a reason.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        match fs::read_to_string(path) {
            Ok(text) => Self::parse(&text).with_context(|| format!("read {}", path.display())),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error).with_context(|| format!("read {}", path.display())),
        }
    }

    fn parse(text: &str) -> Result<Self> {
        let allowed: Self = toml::from_str(text)?;
        if let Some(entry) = allowed
            .skip
            .iter()
            .find(|entry| entry.reason.trim().is_empty())
        {
            anyhow::bail!("skip `{}` has no reason", entry.name);
        }
        Ok(allowed)
    }

    /// Whether `skip` may happen there.
    pub(crate) fn permits(&self, skip: &Skip, place: Place) -> bool {
        self.skip.iter().any(|entry| {
            let named = match entry.name.strip_suffix('*') {
                Some(start) => skip.name.starts_with(start),
                None => skip.name == entry.name,
            };
            named
                && match entry.when {
                    When::Always => true,
                    When::NotRoot => !place.is_root,
                    When::OutsideCi => !place.is_ci,
                }
        })
    }
}

/// Reads the log that tests wrote, each skip once; a missing file holds none.
///
/// # Errors
/// When the file cannot be read or holds a line of another form.
pub(crate) fn read_log(path: &Path) -> Result<Vec<Skip>> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error).with_context(|| format!("read {}", path.display())),
    };
    parse_log(&text).with_context(|| format!("read {}", path.display()))
}

fn parse_log(text: &str) -> Result<Vec<Skip>> {
    let mut skips = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty()) {
        let (name, reason) = line
            .strip_prefix("SKIP ")
            .and_then(|rest| rest.split_once(": "))
            .with_context(|| format!("`{line}` is not `SKIP <name>: <reason>`"))?;
        skips.push(Skip {
            name: name.to_owned(),
            reason: reason.to_owned(),
        });
    }
    skips.sort();
    skips.dedup();
    Ok(skips)
}

#[cfg(test)]
mod tests;
