//! Tools that no Debian package brings (a recent Rust and Go, jest, ruff), as `./x set-up` lays them
//! out, shown to the sandboxes of a daemon by `host_image.extra_read_paths`.

use std::path::PathBuf;

use serde_json::json;

use crate::batch;
use crate::skips;
use crate::world::World;

/// The folder of tools, on the host and in sandboxes alike: as `./x test` names it, else its usual
/// place.
pub(crate) fn folder() -> PathBuf {
    let named = std::env::var_os("ROLLCAGE_TOOLS_DIR").map(PathBuf::from);
    named.unwrap_or_else(|| PathBuf::from("/opt/rollcage-tools"))
}

/// The path of a tool, such as `rust/bin/cargo`; `None`, told and counted, where it is missing.
pub(crate) fn tool(test: &str, path: &str) -> Option<String> {
    let tool = folder().join(path);
    let tool = tool.to_str().expect("the folder's name is text");
    skips::has_file(test, tool).then(|| tool.to_owned())
}

/// A daemon whose sandboxes see the tools that are there.
pub(crate) fn world(test: &str) -> Option<World> {
    let folder = folder();
    let config = if folder.is_dir() {
        format!("[host_image]\nextra_read_paths = [{folder:?}]\n")
    } else {
        String::new()
    };
    World::with_config(test, &config)
}

#[test]
fn tools_outside_usr_run_in_sandboxes() {
    const TEST: &str = "tools::tools_outside_usr_run_in_sandboxes";
    // Its self-test holds with the folder shown, else it would not serve.
    let Some(world) = world(TEST) else {
        return;
    };
    let tools = [
        ("rust/bin/cargo", "--version", "cargo 1."),
        ("rust/bin/rustc", "--version", "rustc 1."),
        ("go/go/bin/go", "version", "go version go1."),
        ("python/bin/ruff", "--version", "ruff "),
        ("jest/node_modules/.bin/jest", "--version", "30."),
    ];
    let mut requests = Vec::new();
    for (path, argument, _) in tools {
        if let Some(tool) = tool(&format!("{TEST}/{path}"), path) {
            let argv = [tool.as_str(), argument];
            requests.push(json!({"id": path, "policy": "build", "argv": argv}));
        }
    }
    let results = batch::run(&world, &requests);
    for (path, _, says) in tools {
        if let Some(result) = results.get(path) {
            let stdout = result["stdout"].as_str().expect("text");
            assert!(stdout.starts_with(says), "{path}: {result}");
        }
    }
}
