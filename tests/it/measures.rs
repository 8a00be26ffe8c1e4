//! Compiling, coverage, leaks and lint through the real tools in sandboxes: each language's compile
//! errors have their lines, leaky samples are told from clean ones, and coverage is the figure
//! that coverage.py gives itself.

mod compile;
mod coverage;
mod leaks;
mod lint;

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::data::data_dir;
use crate::{skips, tools};

/// A set's folder, or a counted skip.
fn set(test: &str, name: &str) -> Option<PathBuf> {
    let folder = data_dir().join(name);
    let there = folder.is_dir();
    if !there {
        skips::skip(
            test,
            &format!("data set {name} is not at {}", folder.display()),
        );
    }
    there.then_some(folder)
}

/// Where commands are looked for: our own tools, then the image's.
fn path() -> String {
    let own = ["rust/bin", "python/bin"].map(|part| tools::folder().join(part));
    let own = own.map(|folder| folder.display().to_string()).join(":");
    format!("{own}:/usr/local/bin:/usr/bin:/bin")
}

/// A request that only verifies.
#[expect(clippy::needless_pass_by_value, reason = "values are written in place")]
fn request(id: &str, files: Value, verify: Value) -> Value {
    json!({"id": id, "policy": "build", "files": files, "argv": [], "verify": verify})
}

fn outcome(result: &Value) -> &str {
    result["verdict"]["outcome"].as_str().unwrap_or("none")
}

fn metric(result: &Value, name: &str) -> Option<f64> {
    result["verdict"]["metrics"][name].as_f64()
}
