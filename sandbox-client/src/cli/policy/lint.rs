//! `rollcage policy lint`: documents against the catalog, without a daemon.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use policies::{Catalog, Document};
use serde::Serialize;
use serde_json::json;

use super::super::Context;
use super::super::failure::{Failure, NEGATIVE};

/// What was found about one document.
#[derive(Debug, Default, Serialize, PartialEq, Eq)]
pub(super) struct Report {
    file: String,
    usable: bool,
    policy_sha256: Option<String>,
    findings: Vec<Finding>,
}

#[derive(Debug, Serialize, PartialEq, Eq)]
struct Finding {
    field: String,
    line: Option<u64>,
    column: Option<u64>,
    message: String,
}

/// Does it.
pub(super) fn lint(context: &Context, files: &[PathBuf]) -> Result<u8, Failure> {
    let terminal = &context.terminal;
    let mut all_usable = true;
    let mut reports = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(file).map_err(|source| Failure::Read {
            path: file.clone(),
            source,
        })?;
        let report = check(file, &text, &neighbours(file)?);
        all_usable &= report.usable;
        reports.push(report);
    }
    if terminal.json {
        terminal.json_line(&json!(reports))?;
    } else {
        for report in &reports {
            terminal.data(text_of(report).as_bytes())?;
        }
    }
    Ok(if all_usable { 0 } else { NEGATIVE })
}

fn text_of(report: &Report) -> String {
    let file = &report.file;
    let mut text = String::new();
    for finding in &report.findings {
        let place = match (finding.line, finding.column) {
            (Some(line), Some(column)) => format!("{file}:{line}:{column}"),
            _ => file.clone(),
        };
        text.push_str(&format!("{place}: error: {}\n", finding.message));
    }
    if report.usable {
        let digest = report.policy_sha256.as_deref().unwrap_or_default();
        text.push_str(&format!("{file}: fine, sha256 {digest}\n"));
    }
    text
}

/// Other documents in the same folder, by name: an operator's catalog folder may extend itself.
fn neighbours(file: &Path) -> Result<BTreeMap<String, String>, Failure> {
    let folder = match file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let failed = |path: &Path, source| Failure::Read {
        path: path.to_owned(),
        source,
    };
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).map_err(|source| failed(folder, source))? {
        let path = entry.map_err(|source| failed(folder, source))?.path();
        let is_document = path.extension().is_some_and(|ending| ending == "toml");
        let Some(name) = path.file_stem().and_then(std::ffi::OsStr::to_str) else {
            continue;
        };
        if is_document && path.is_file() && path.file_name() != file.file_name() {
            // One that cannot be read is linted when it is named; here it may be of another kind.
            if let Ok(text) = std::fs::read_to_string(&path) {
                found.insert(name.to_owned(), text);
            }
        }
    }
    Ok(found)
}

/// Checks one document; `neighbours` that are right themselves may be extended by it.
fn check(file: &Path, text: &str, neighbours: &BTreeMap<String, String>) -> Report {
    let mut report = Report {
        file: file.display().to_string(),
        ..Report::default()
    };
    let document = match policies::parse(text) {
        Ok(document) => document,
        Err(error) => {
            report.findings.push(Finding {
                field: error.field.clone(),
                line: Some(error.line),
                column: Some(error.column),
                message: error.to_string(),
            });
            return report;
        }
    };
    let mut finding = |field: &str, message: String| {
        report.findings.push(Finding {
            field: field.to_owned(),
            line: None,
            column: None,
            message,
        });
    };
    let catalog = match catalog_for(&document, neighbours) {
        Ok(catalog) => catalog,
        Err(error) => {
            finding("extends", super::super::failure::chain(&error));
            return report;
        }
    };
    match policies::resolve::resolve_all(&document, &catalog) {
        Ok(policy) => {
            report.usable = true;
            report.policy_sha256 = Some(policy.sha256_hex());
        }
        Err(errors) => {
            for error in errors.iter() {
                finding(error.field(), error.to_string());
            }
        }
    }
    report
}

/// The built-in policies, with those neighbours that the document extends, directly or not.
fn catalog_for(
    document: &Document,
    neighbours: &BTreeMap<String, String>,
) -> Result<Catalog, policies::CatalogError> {
    let mut needed: BTreeMap<&str, &str> = BTreeMap::new();
    let mut next = document.extends.clone();
    while let Some(name) = next.take() {
        if let Some((name, text)) = neighbours.get_key_value(&name)
            && needed.insert(name, text).is_none()
            && let Ok(parent) = policies::parse(text)
        {
            next = parent.extends;
        }
    }
    Catalog::from_documents(needed)
}

#[cfg(test)]
mod tests;
