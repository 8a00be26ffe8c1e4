//! The house rules that no compiler knows. Each rule is a function from texts to findings, tested on
//! small texts; this file only gathers them. Exceptions live in `xtask/tidy.toml`, with reasons.

mod documents;
mod exceptions;
mod files;
mod floors;
mod manifests;

use crate::source;
use anyhow::{Context, Result};
use exceptions::Exceptions;
use std::fmt;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

/// One broken rule at one place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    /// The file, from the root.
    path: String,
    /// The line, from 1; 0 means the file as a whole.
    line: usize,
    /// What is wrong and what to do.
    message: String,
}

impl Finding {
    fn new(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            line,
            message: message.into(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            path,
            line,
            message,
        } = self;
        match line {
            0 => write!(formatter, "{path}: {message}"),
            line => write!(formatter, "{path}:{line}: {message}"),
        }
    }
}

/// Checks every rule, prints the findings and whether all hold.
///
/// # Errors
/// When a file cannot be read or cargo cannot tell the crate graph.
pub(crate) fn report(root: &Path) -> Result<ExitCode> {
    Ok(if holds(root)? {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// As [`report`], for the run of all gates.
///
/// # Errors
/// When a file cannot be read or cargo cannot tell the crate graph.
pub(crate) fn holds(root: &Path) -> Result<bool> {
    let findings = check(root)?;
    for finding in &findings {
        eprintln!("{finding}");
    }
    eprintln!("tidy: {} findings", findings.len());
    Ok(findings.is_empty())
}

fn check(root: &Path) -> Result<Vec<Finding>> {
    let exceptions = Exceptions::parse(&read(root, exceptions::PATH)?)
        .with_context(|| format!("read {}", exceptions::PATH))?;
    let sources = source::all(root)?;
    let mut findings = floors::check(&floors::crates(root)?);
    for source in &sources {
        findings.extend(files::check(source, &exceptions));
    }
    findings.extend(exceptions.stale(&sources));
    findings.extend(manifests::root(&read(root, "Cargo.toml")?));
    for folder in floors::members(&read(root, "Cargo.toml")?)? {
        let path = format!("{folder}/Cargo.toml");
        findings.extend(manifests::member(&path, &read(root, &path)?));
    }
    for (path, lines_max) in documents::LENGTHS {
        findings.extend(documents::length(path, &read(root, path)?, lines_max));
    }
    for path in documents::NAMING {
        findings.extend(documents::names(path, &read(root, path)?, &sources));
    }
    findings.extend(documents::promises(
        &read(root, documents::SPECIFICATION)?,
        &sources,
    ));
    findings.sort();
    Ok(findings)
}

fn read(root: &Path, path: &str) -> Result<String> {
    fs::read_to_string(root.join(path)).with_context(|| format!("read {path}"))
}
