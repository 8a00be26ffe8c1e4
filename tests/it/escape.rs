//! The ways out, tried from inside: each closed, by name, with the answer it is closed with. Two programs
//! try them: our own, `sandbox-probe`, in every mode, and, where it lies beside the checkout, `esc.c`.
//! Our own is also run outside, as root in namespaces of its own: what fails there in the same way
//! would prove nothing.

mod setting;
mod users;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use probe::{BATTERY, Finding, Outside, Setting, judge, judge_row, row_named};
use serde_json::json;
use verdict::Ending;

use crate::skips;
use crate::world::{Outcome, World};

/// A folder that sandboxes are shown, with the programs in it; removed at the end.
pub(crate) struct ProbeFolder {
    folder: tempfile::TempDir,
}

impl ProbeFolder {
    /// Where policies let programs be executed from, and the image has nothing else.
    fn new() -> Self {
        let folder = tempfile::Builder::new()
            .prefix("rollcage-probe-")
            .tempdir_in("/opt");
        let folder = folder.expect("make the probe's folder");
        let open = fs::Permissions::from_mode(0o755);
        fs::set_permissions(folder.path(), open).expect("open it");
        Self { folder }
    }

    /// With `sandbox-probe` in it, which needs no `/.probe` to be run.
    pub(crate) fn with_probe() -> Self {
        let folder = Self::new();
        let program = skips::bin_dir().join("sandbox-probe");
        fs::copy(program, folder.folder.path().join("probe")).expect("copy the probe");
        folder
    }

    /// With a program of C; `None`, told and counted, where there is no compiler.
    fn compiled(test: &str, name: &str, source: &Path) -> Option<Self> {
        if !skips::has_file(test, "/usr/bin/gcc") || !skips::has_file(test, "/usr/include/stdio.h")
        {
            return None;
        }
        let folder = Self::new();
        let mut gcc = Command::new("/usr/bin/gcc");
        gcc.args(["-O1", "-w", "-static", "-o"])
            .arg(folder.folder.path().join(name))
            .arg(source);
        let built = gcc.output().expect("start gcc");
        assert!(
            built.status.success(),
            "{}",
            String::from_utf8_lossy(&built.stderr)
        );
        Some(folder)
    }

    pub(crate) fn program(&self, name: &str) -> String {
        self.folder.path().join(name).to_string_lossy().into_owned()
    }

    pub(crate) fn path(&self) -> String {
        self.folder.path().to_string_lossy().into_owned()
    }

    pub(crate) fn config(&self) -> String {
        format!(
            "[host_image]\nextra_read_paths = [{:?}]\n",
            self.folder.path()
        )
    }
}

fn run_program(world: &World, policy: &str, program: &str) -> Outcome {
    // A row a child, so that there is always room for one more.
    world.run(&json!({ "policy": policy, "argv": [program] }))
}

/// All that is wrong, as text: every row at once, not the first alone.
pub(crate) fn wrong_rows(what: &str, findings: &[Finding], setting: &Setting) -> Vec<String> {
    let judged = judge(findings, setting);
    let asked = judged.iter().filter(|row| row.right.is_some()).count();
    println!("{what}: {asked} rows asked");
    assert!(asked > 150, "{what}: only {asked} rows were asked");
    judged
        .iter()
        .filter(|row| row.right == Some(false))
        .map(|row| {
            format!(
                "{what}: {} ({}): {}, wanted {}",
                row.name, row.class, row.found, row.expected
            )
        })
        .collect()
}

#[test]
fn every_way_out_is_closed_under_each_policy() {
    let test = "every_way_out_is_closed_under_each_policy";
    if !skips::is_root(test) {
        return;
    }
    let folder = ProbeFolder::with_probe();
    let Some(world) = World::with_config(test, &folder.config()) else {
        return;
    };
    let mut wrong = Vec::new();
    let mut inside = BTreeMap::new();
    for policy in ["python", "shell", "node", "build"] {
        let setting = setting::in_root_mode(policy, &folder.path());
        let outcome = run_program(&world, policy, &folder.program("probe"));
        outcome.exited(0);
        let found = probe::parse(&outcome.result.stdout).expect("findings");
        wrong.extend(wrong_rows(policy, &found, &setting));
        wrong.extend(untold(&world, policy, &folder.program("probe")));
        inside.insert(policy, found);
    }
    wrong.extend(alone(&world, &folder));
    wrong.extend(controls(&folder, &inside["python"]));
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Rows, and the call that each has refused.
const TOLD: [(&str, &str); 10] = [
    ("unshare_user", "unshare"),
    ("clone_user", "clone"),
    ("mount_tmpfs", "mount"),
    ("pivot", "pivot_root"),
    ("bpf", "bpf"),
    ("uring", "io_uring_setup"),
    ("key_control", "keyctl"),
    ("vsock", "socket"),
    ("domain", "personality"),
    ("trace_child", "ptrace"),
];

/// What the filter refuses is told, each row in a run of its own: of many calls in one run only the
/// first are.
fn untold(world: &World, policy: &str, program: &str) -> Vec<String> {
    let requests: Vec<serde_json::Value> = TOLD
        .iter()
        .map(|(row, _)| json!({ "policy": policy, "argv": [program, "row", row] }))
        .collect();
    let mut wrong = Vec::new();
    for (outcome, (row, call)) in world.run_at_once(&requests).iter().zip(TOLD) {
        let told: Vec<&str> = outcome
            .result
            .denials
            .iter()
            .map(|denial| denial.act.as_str())
            .collect();
        if told != [call] {
            wrong.push(format!("{policy}: the denials of {row} are {told:?}"));
        }
    }
    wrong
}

/// The row that ends its run, in runs of its own with little memory.
fn alone(world: &World, folder: &ProbeFolder) -> Option<String> {
    const MEMORY_BYTES: u64 = 64 << 20;
    let row = row_named("memory_limit").expect("the row");
    let request = json!({
        "policy": "python",
        "argv": [folder.program("probe"), "row", row.name],
        "limits": { "memory_bytes_max": MEMORY_BYTES },
    });
    let outcome = world.run(&request);
    let mut setting = setting::in_root_mode("python", &folder.path());
    setting.memory_bytes_max = MEMORY_BYTES;
    let told = probe::parse(&outcome.result.stdout).expect("findings");
    let found = told
        .first()
        .map_or(outcome.ending.kind(), |finding| &finding.result);
    let judged = judge_row(row, Some(found), &setting);
    (judged.right != Some(true)).then(|| format!("{judged:?}"))
}

/// The same attempts outside: the allowed ones work, the closed ones answer otherwise.
fn controls(folder: &ProbeFolder, inside: &[Finding]) -> Vec<String> {
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
    let outside = probe::parse(&output.stdout).expect("findings");
    let by_name = |findings: &[Finding], name: &str| -> Option<String> {
        let found = findings.iter().find(|finding| finding.name == name);
        found.map(|finding| finding.result.clone())
    };
    let mut wrong = Vec::new();
    for row in BATTERY {
        let (out, within) = (by_name(&outside, row.name), by_name(inside, row.name));
        let right = match row.outside {
            Outside::Differs => out.is_some() && out != within,
            Outside::Works => out.is_some() && out == within,
            Outside::Varies => out.is_some(),
            Outside::NotTried => out.is_none(),
        };
        if !right {
            wrong.push(format!(
                "outside {} gives {out:?}, inside {within:?}",
                row.name
            ));
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
    let Some(folder) = ProbeFolder::compiled(test, "esc", &source) else {
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
