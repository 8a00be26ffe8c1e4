//! Digests of what a verdict depends on. Canonical: entries sorted by path, every part preceded by
//! its length, so that no two different sets have the same bytes.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use crate::harness::own_files;
use crate::plan::harness_files;
use crate::verify::{Language, VerifySpec};

/// Digest of the solution's files: path -> bytes.
#[must_use]
pub fn inputs_sha256(files: &BTreeMap<String, Vec<u8>>) -> String {
    let parts = files
        .iter()
        .map(|(path, bytes)| (path.as_bytes(), bytes.as_slice()));
    of_parts(b"rollcage inputs 1", parts)
}

/// Digest of what the solution is judged by: kind, expectations and test code.
#[must_use]
pub fn tests_sha256(spec: &VerifySpec) -> String {
    let mut parts: Vec<(&[u8], Vec<u8>)> = vec![(b"kind", spec.kind().into())];
    match spec {
        VerifySpec::ExitCode(spec) => parts.push((b"exit_code", spec.exit_code.to_string().into())),
        VerifySpec::Stdout(spec) => {
            let tolerance = spec
                .float_tolerance
                .map_or_else(String::new, |by| by.to_string());
            parts.push((b"exit_code", spec.exit_code.to_string().into()));
            parts.push((b"float_tolerance", tolerance.into()));
            let ignore = spec.ignore_trailing_space.to_string();
            parts.push((b"ignore_trailing_space", ignore.into()));
            parts.push((b"stdout", spec.stdout.clone()));
        }
        VerifySpec::Asserts(spec) => {
            parts.push((b"file", spec.file.as_str().into()));
            parts.push((b"code", spec.code.as_str().into()));
            for test in &spec.tests {
                parts.push((b"test id", test.id.as_str().into()));
                parts.push((b"test code", test.code.as_str().into()));
            }
            parts.extend(
                spec.test_ids
                    .iter()
                    .map(|id| (&b"required"[..], id.as_str().into())),
            );
            let names = spec.entry_points.iter();
            parts.extend(names.map(|name| (&b"entry point"[..], name.as_str().into())));
            if spec.language != Language::Python {
                parts.push((b"language", spec.language.name().into()));
                parts.push((b"declaration", spec.declaration.as_str().into()));
            }
        }
        VerifySpec::Answer(_)
        | VerifySpec::Cases(_)
        | VerifySpec::Harness(_)
        | VerifySpec::Measure(_)
        | VerifySpec::Combined(_) => parts.push((b"spec", whole(spec))),
    }
    of_parts(
        b"rollcage tests 1",
        parts.iter().map(|(name, bytes)| (*name, bytes.as_slice())),
    )
}

/// All of a specification: its fields stand in a fixed order, its maps are sorted. One that
/// cannot be written would be a bug; its digest is then that of nothing, equal to no other's.
fn whole(spec: &VerifySpec) -> Vec<u8> {
    serde_json::to_vec(spec).unwrap_or_default()
}

/// Digest of the judge's programs. Where there are none the judge is this crate itself,
/// named by its version.
#[must_use]
pub fn verifier_sha256(spec: &VerifySpec) -> String {
    let version = [("version", env!("CARGO_PKG_VERSION"))];
    let harness: &[(&str, &str)] = match spec {
        VerifySpec::Asserts(spec) => harness_files(spec.language),
        VerifySpec::Harness(spec) => own_files(spec.framework),
        VerifySpec::Measure(_) => &crate::measure::OWN_FILES,
        VerifySpec::Cases(_) => harness_files(Language::Python),
        VerifySpec::Answer(_) => &[("symbolic.py", crate::answer::SYMBOLIC)],
        _ => &[],
    };
    let called: &[(&str, &str)] = match spec {
        VerifySpec::Cases(spec)
            if spec.language != Language::Python && !spec.function.is_empty() =>
        {
            harness_files(spec.language)
        }
        _ => &[],
    };
    let parts = version.iter().chain(harness).chain(called);
    of_parts(
        b"rollcage verifier 1",
        parts.map(|(name, text)| (name.as_bytes(), text.as_bytes())),
    )
}

fn of_parts<'a>(domain: &[u8], parts: impl Iterator<Item = (&'a [u8], &'a [u8])>) -> String {
    let mut hash = Sha256::new();
    let mut add = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_be_bytes());
        hash.update(bytes);
    };
    add(domain);
    for (name, bytes) in parts {
        add(name);
        add(bytes);
    }
    hex::encode(hash.finalize())
}
