//! `rollcage policy lint`: documents against the catalog, without a daemon.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use policies::{Catalog, Document, Finding, Severity};
use serde::Serialize;
use serde_json::json;

use super::super::Context;
use super::super::failure::{Failure, NEGATIVE, chain};
use super::super::terminal::{Color, Terminal};

/// What was found about one document.
#[derive(Debug, Serialize)]
struct Report {
    file: String,
    usable: bool,
    policy_sha256: Option<String>,
    findings: Vec<Finding>,
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
            terminal.text(&text_of(terminal, report))?;
        }
    }
    Ok(if all_usable { 0 } else { NEGATIVE })
}

fn text_of(terminal: &Terminal, report: &Report) -> String {
    let file = &report.file;
    let mut text = String::new();
    for finding in &report.findings {
        let (color, weight) = match finding.severity {
            Severity::Error => (Color::Red, "error"),
            Severity::Warning => (Color::Yellow, "warning"),
            Severity::Note => (Color::Bold, "note"),
        };
        let fix = match finding.fix.as_str() {
            "" => String::new(),
            fix if finding.message.contains(fix) => String::new(),
            fix => format!("; {fix}"),
        };
        text.push_str(&format!(
            "{file}:{}:{}: {}: {}{fix}\n",
            finding.line,
            finding.column,
            terminal.paint(color, weight),
            finding.message
        ));
    }
    let digest = report.policy_sha256.as_deref().unwrap_or_default();
    match (report.usable, report.findings.is_empty()) {
        (true, true) => text.push_str(&format!("{file}: fine, sha256 {digest}\n")),
        (true, false) => text.push_str(&format!("{file}: usable, sha256 {digest}\n")),
        (false, _) => {}
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
    // A text that cannot be parsed extends nothing: its only finding is why.
    let document = policies::parse(text).unwrap_or_default();
    let (findings, policy_sha256) = match catalog_for(&document, neighbours) {
        Ok(catalog) => {
            let resolved = policies::resolve(&document, &catalog);
            let sha256 = resolved.map(|policy| policy.sha256_hex()).ok();
            (policies::lint(text, &catalog), sha256)
        }
        Err(error) => {
            let finding = Finding {
                severity: Severity::Error,
                line: 1,
                column: 1,
                field: "extends".to_owned(),
                message: chain(&error),
                fix: "lint the extended document first".to_owned(),
            };
            (vec![finding], None)
        }
    };
    let usable = findings
        .iter()
        .all(|finding| finding.severity != Severity::Error);
    Report {
        file: file.display().to_string(),
        usable,
        policy_sha256: policy_sha256.filter(|_| usable),
        findings,
    }
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
