//! Who may import whom: each crate names its floor in `[package.metadata.house]`, and imports only
//! from lower floors; the asynchronous and network crates live where the architecture says.

use super::Finding;
use crate::shell;
use anyhow::{Context, Result};
use serde::Deserialize;
use std::path::Path;
use std::process::Command;

/// The highest floor there is.
const FLOOR_MAX: u8 = 4;

/// Beginnings of the names of crates that bring a runtime or a network, and who may import those.
const CONFINED: [(&[&str], &[&str]); 1] = [(
    &[
        "axum", "tokio", "tonic", "hyper", "tower", "futures", "rustls",
    ],
    &["compat", "sandboxd", "sandbox-client", "tests"],
)];

/// A workspace member as cargo tells it.
#[derive(Debug, Deserialize)]
pub(crate) struct Crate {
    name: String,
    #[serde(default)]
    metadata: Option<CrateMetadata>,
    dependencies: Vec<Dependency>,
}

#[derive(Debug, Deserialize)]
struct CrateMetadata {
    house: Option<House>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct House {
    floor: u8,
}

#[derive(Debug, Deserialize)]
struct Dependency {
    name: String,
}

#[derive(Deserialize)]
struct Graph {
    packages: Vec<Crate>,
}

#[derive(Deserialize)]
struct Manifest {
    workspace: Workspace,
}

#[derive(Deserialize)]
struct Workspace {
    members: Vec<String>,
}

/// The workspace's members, with what each of them imports for building, testing and running.
///
/// # Errors
/// When cargo cannot tell.
pub(crate) fn crates(root: &Path) -> Result<Vec<Crate>> {
    let mut cargo = Command::new("cargo");
    cargo
        .current_dir(root)
        .args(["metadata", "--format-version", "1", "--no-deps"]);
    parse(&shell::capture(&mut cargo)?)
}

fn parse(metadata: &str) -> Result<Vec<Crate>> {
    let graph: Graph = serde_json::from_str(metadata).context("read cargo's metadata")?;
    Ok(graph.packages)
}

/// The members' folders, from the root manifest.
///
/// # Errors
/// When the manifest has no list of members.
pub(crate) fn members(manifest: &str) -> Result<Vec<String>> {
    let manifest: Manifest = toml::from_str(manifest).context("read the root manifest")?;
    Ok(manifest.workspace.members)
}

/// All imports that the floors forbid.
pub(crate) fn check(crates: &[Crate]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for own in crates {
        let path = format!("{}/Cargo.toml", own.name);
        let Some(floor) = own.floor() else {
            let message = format!("needs `[package.metadata.house] floor = 0..{FLOOR_MAX}`");
            findings.push(Finding::new(&path, 0, message));
            continue;
        };
        for Dependency { name } in &own.dependencies {
            let other = crates
                .iter()
                .find(|other| other.name == *name)
                .and_then(Crate::floor);
            if let Some(other) = other.filter(|other| *other >= floor) {
                let message =
                    format!("floor {floor} imports `{name}` of floor {other}; only lower ones");
                findings.push(Finding::new(&path, 0, message));
            }
            findings.extend(confined(own, name, &path));
        }
    }
    findings
}

fn confined(own: &Crate, import: &str, path: &str) -> Option<Finding> {
    let is_named = |start: &&str| {
        import
            .strip_prefix(*start)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    let (_, may) = CONFINED
        .iter()
        .find(|(starts, _)| starts.iter().any(is_named))?;
    // What generates code at build time brings no runtime along.
    if may.contains(&own.name.as_str()) || import.ends_with("-build") {
        return None;
    }
    let message = format!("imports `{import}`, which only {} may", may.join(", "));
    Some(Finding::new(path, 0, message))
}

impl Crate {
    fn floor(&self) -> Option<u8> {
        let floor = self.metadata.as_ref()?.house.as_ref()?.floor;
        (floor <= FLOOR_MAX).then_some(floor)
    }
}

#[cfg(test)]
mod tests;
