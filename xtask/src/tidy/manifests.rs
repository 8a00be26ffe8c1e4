//! Rules over `Cargo.toml` files: versions stand in the root only, and each dependency says why.

use super::Finding;

/// In the root manifest, every outside dependency has a line above it that says what it is for.
pub(crate) fn root(text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut inside = false;
    let mut previous = "";
    for (index, line) in text.lines().enumerate() {
        if line.starts_with('[') {
            inside = line.trim() == "[workspace.dependencies]";
        } else if inside && !previous.trim_start().starts_with('#') && is_outside_dependency(line) {
            let message = "a dependency without a line above it that says why it is needed";
            findings.push(Finding::new("Cargo.toml", index + 1, message));
        }
        previous = line;
    }
    findings
}

fn is_outside_dependency(line: &str) -> bool {
    let is_entry = line.starts_with(|character: char| character.is_ascii_alphanumeric());
    is_entry && line.contains('=') && !line.contains("path =")
}

/// In a member's manifest, every dependency is taken from the root's list.
pub(crate) fn member(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut inside = false;
    for (index, line) in text.lines().enumerate() {
        if line.starts_with('[') {
            inside = line.trim_end().ends_with("dependencies]");
        } else if inside && line.contains('=') && !line.starts_with(['#', ' ']) {
            let from_root = line.contains(".workspace = true") || line.contains("workspace = true");
            if !from_root {
                let message =
                    "a dependency of its own; add it to the root and write `workspace = true`";
                findings.push(Finding::new(path, index + 1, message));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests;
