//! Ways out, tried from inside: each closed, by name, with the answer it is closed with. Two programs
//! try them: our own (`tests/probe/probe.c`) and, where it lies beside the checkout, `esc.c`. Our own
//! is also run outside, as root in namespaces of its own: what fails there in the same way would
//! prove nothing.

mod rows;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;
use verdict::Ending;

use crate::skips;
use crate::world::{Outcome, World};
use rows::{ALLOWED, CLOSED, Outside};

/// A folder that sandboxes are shown, with the programs in it; removed at the end.
struct ProbeFolder {
    folder: tempfile::TempDir,
}

impl ProbeFolder {
    /// `None`, told and counted, where there is no compiler.
    fn with(test: &str, sources: &[(&str, &Path)]) -> Option<Self> {
        if !skips::has_file(test, "/usr/bin/gcc") || !skips::has_file(test, "/usr/include/stdio.h")
        {
            return None;
        }
        // Where policies let programs be executed from, and the image has nothing else.
        let folder = tempfile::Builder::new()
            .prefix("rollcage-probe-")
            .tempdir_in("/opt");
        let folder = folder.expect("make the probe's folder");
        let open = fs::Permissions::from_mode(0o755);
        fs::set_permissions(folder.path(), open).expect("open it");
        for (name, source) in sources {
            let mut gcc = Command::new("/usr/bin/gcc");
            gcc.args(["-O1", "-w", "-static", "-o"])
                .arg(folder.path().join(name))
                .arg(source);
            let built = gcc.output().expect("start gcc");
            assert!(
                built.status.success(),
                "{}",
                String::from_utf8_lossy(&built.stderr)
            );
        }
        Some(Self { folder })
    }

    fn program(&self, name: &str) -> String {
        self.folder.path().join(name).to_string_lossy().into_owned()
    }

    fn config(&self) -> String {
        format!(
            "[host_image]\nextra_read_paths = [{:?}]\n",
            self.folder.path()
        )
    }
}

/// Rows of the probe's output.
fn results(text: &str) -> BTreeMap<String, String> {
    let rows = text.lines().filter_map(|line| line.split_once('\t'));
    rows.map(|(name, result)| (name.to_owned(), result.to_owned()))
        .collect()
}

fn probe_source() -> PathBuf {
    skips::repository().join("tests/probe/probe.c")
}

fn run_program(world: &World, policy: &str, program: &str) -> Outcome {
    // A row a child, so that there is always room for one more.
    world.run(&json!({ "policy": policy, "argv": [program] }))
}

/// All that differs from what is wanted, as text: every row at once, not the first alone.
fn differences(profile: usize, found: &BTreeMap<String, String>) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut named = BTreeSet::new();
    let closed = CLOSED.iter().map(|row| (row.name, row.wanted[profile]));
    for (name, wanted) in closed.chain(ALLOWED.iter().map(|name| (*name, "ok"))) {
        named.insert(name);
        let is = found.get(name).map_or("missing", String::as_str);
        if !wanted.split('|').any(|one| one == is) {
            wrong.push(format!("{name}: {is}, wanted {wanted}"));
        }
    }
    wrong.extend(
        found
            .keys()
            .filter(|name| !named.contains(name.as_str()))
            .map(|name| format!("{name}: not in the table")),
    );
    wrong
}

#[test]
fn every_way_out_is_closed_under_each_policy() {
    let test = "every_way_out_is_closed_under_each_policy";
    let source = probe_source();
    let Some(folder) = ProbeFolder::with(test, &[("probe", &source)]) else {
        return;
    };
    let Some(world) = World::with_config(test, &folder.config()) else {
        return;
    };
    let mut wrong = Vec::new();
    let mut inside = BTreeMap::new();
    for (policy, profile) in [("python", 0), ("shell", 0), ("node", 1), ("build", 2)] {
        let outcome = run_program(&world, policy, &folder.program("probe"));
        outcome.exited(0);
        let found = results(&outcome.stdout());
        wrong.extend(
            differences(profile, &found)
                .into_iter()
                .map(|row| format!("{policy}: {row}")),
        );
        // What the filter refuses is told; not every call has to be, but these must.
        let told: BTreeSet<&str> = outcome
            .result
            .denials
            .iter()
            .map(|denial| denial.act.as_str())
            .collect();
        for call in [
            "unshare",
            "clone",
            "mount",
            "pivot_root",
            "bpf",
            "io_uring_setup",
            "keyctl",
            "socket",
            "personality",
            "ptrace",
        ] {
            if !told.contains(call) {
                wrong.push(format!(
                    "{policy}: {call} is not among the denials {told:?}"
                ));
            }
        }
        inside.insert(policy, found);
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    wrong.extend(controls(&folder, &inside["python"]));
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// The same attempts outside: the allowed ones work, the closed ones answer otherwise.
fn controls(folder: &ProbeFolder, inside: &BTreeMap<String, String>) -> Vec<String> {
    // Whether the descriptors of whoever runs the tests come this far is chance: one is planted.
    let output = Command::new("/bin/sh")
        .args(["-c", "exec 7</dev/null; exec \"$0\" outside"])
        .arg(folder.program("probe"))
        .output()
        .expect("start it");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let outside = results(&String::from_utf8_lossy(&output.stdout));
    let mut wrong = Vec::new();
    for row in CLOSED {
        if row.outside == Outside::Differs && outside.get(row.name) == inside.get(row.name) {
            wrong.push(format!(
                "outside too {} gives {:?}",
                row.name,
                outside.get(row.name)
            ));
        }
    }
    for name in ALLOWED {
        if outside.get(*name).map(String::as_str) != Some("ok") {
            wrong.push(format!("outside {name} gives {:?}", outside.get(*name)));
        }
    }
    wrong
}

/// Rows of `esc.c` that ask how much fits, not whether it is open.
const ESC_SIZES: [&str; 3] = [
    "quota: fill /workspace 100MB",
    "inodes in /workspace",
    "fork bomb",
];

#[test]
fn every_row_of_the_prototypes_escape_program_is_closed() {
    let test = "every_row_of_the_prototypes_escape_program_is_closed";
    let above = skips::repository()
        .parent()
        .map(Path::to_path_buf)
        .unwrap_or_default();
    let source = above.join("shared/prototypes/confine/esc.c");
    if !skips::has_file(test, &source.to_string_lossy()) {
        return;
    }
    let Some(folder) = ProbeFolder::with(test, &[("esc", &source)]) else {
        return;
    };
    let Some(world) = World::with_config(test, &folder.config()) else {
        return;
    };
    for policy in ["python", "shell"] {
        let outcome = run_program(&world, policy, &folder.program("esc"));
        // Its last row is a system call of the 32-bit ABI, which ends it.
        let ended = Ending::Signalled {
            signal: 31,
            core_dumped: false,
            sent_by: None,
        };
        let stdout = outcome.stdout();
        assert_eq!(outcome.ending, ended, "{policy}: {stdout}");
        assert!(stdout.trim_end().ends_with("int80:"), "{policy}: {stdout}");
        let lines: Vec<&str> = stdout.lines().collect();
        // 3 is the folder it reads them from.
        let descriptors: BTreeSet<&str> = lines[0]
            .trim_start_matches("fds:")
            .split_whitespace()
            .filter(|name| name.parse::<u32>().is_ok())
            .collect();
        assert_eq!(
            descriptors,
            BTreeSet::from(["0", "1", "2", "3"]),
            "{policy}"
        );
        let rows: Vec<(&str, &str)> = lines
            .iter()
            .filter_map(|line| line.split_once("=> "))
            .map(|(name, result)| (name.trim(), result))
            .collect();
        let open: Vec<&(&str, &str)> = rows
            .iter()
            .filter(|(name, result)| !ESC_SIZES.contains(name) && !result.starts_with("-1 "))
            .collect();
        assert!(open.is_empty(), "{policy}: open: {open:?}");
        // The names, so that an empty output cannot pass.
        let source = fs::read_to_string(&source).expect("read esc.c");
        let named: Vec<&str> = source
            .split("R(\"")
            .skip(1)
            .filter_map(|rest| rest.split('"').next())
            .collect();
        assert!(named.len() > 40, "{named:?}");
        for name in named {
            assert!(
                rows.iter().any(|(row, _)| *row == name.trim()),
                "{policy}: no row {name}"
            );
        }
    }
}
