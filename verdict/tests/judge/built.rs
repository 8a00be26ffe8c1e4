//! Carries out the builds of a plan with plain processes. Programs of the same text are made once.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use verdict::{
    Build, BuildEvidence, Builder, Ended, JudgePlan, Output, Untrusted, Verdict, judge_build,
};

use super::driver::{ending, shell, write_files};

type Files = BTreeMap<String, Vec<u8>>;
/// What the judges' builds left: a task is judged many times.
static MADE: Mutex<BTreeMap<String, Files>> = Mutex::new(BTreeMap::new());

/// Builds what `plan` asks for below `root`, where the folders of both ends are.
pub(crate) fn build(
    plan: &JudgePlan,
    (solution_root, judge_root): (&Path, &Path),
) -> Result<(), Box<Verdict>> {
    let whose = if plan.declared_by_solution {
        Builder::JudgeOfSolution
    } else {
        Builder::Judge
    };
    let made = |build: &Option<Build>, whose| match build {
        Some(build) => one(build, whose),
        None => Ok(Files::new()),
    };
    let solution = made(&plan.solution_build, Builder::Solution);
    let judge = made(&plan.judge_build, whose);
    let (solution, judge) = match (solution, judge) {
        (Ok(solution), Ok(judge)) => (solution, judge),
        (Err(verdict), _) if plan.declared_by_solution => return Err(verdict),
        (_, Err(verdict)) | (Err(verdict), _) => return Err(verdict),
    };
    for (root, files) in [(solution_root, solution), (judge_root, judge)] {
        write_files(root, &files);
        for path in files.keys() {
            let mode = fs::Permissions::from_mode(0o755);
            fs::set_permissions(root.join(path), mode).expect("may be executed");
        }
    }
    Ok(())
}

fn one(build: &Build, whose: Builder) -> Result<Files, Box<Verdict>> {
    let key = format!("{build:?}");
    let made = || MADE.lock().unwrap_or_else(PoisonError::into_inner);
    if whose != Builder::Solution
        && let Some(files) = made().get(&key)
    {
        return Ok(files.clone());
    }
    let folder = tempfile::tempdir().expect("a private folder");
    let root = write_files(folder.path(), &build.files);
    let output = shell("", &build.argv, &root, "0</dev/null")
        .envs(&build.env)
        // The sandbox's own is gone with it; this one stays below the target folder.
        .env("GOCACHE", concat!(env!("CARGO_TARGET_TMPDIR"), "/go-cache"))
        .stderr(std::process::Stdio::piped())
        .output()
        .expect("starts the compiler");
    let mut files = Files::new();
    for path in &build.required {
        if let Ok(bytes) = fs::read(root.join(path)) {
            files.insert(path.clone(), bytes);
        }
    }
    for pattern in &build.collect {
        if let Some(below) = pattern.strip_suffix("/**") {
            take_all(&root, below, &mut files);
        }
    }
    let carried: Vec<&str> = files.keys().map(String::as_str).collect();
    let (stdout, stderr) = (Untrusted::new(output.stdout), Untrusted::new(output.stderr));
    let ending = ending(output.status);
    let all = |kept| Output {
        kept,
        dropped_bytes: 0,
    };
    let ended = Ended {
        ending: &ending,
        oom_kills: 0,
    };
    let evidence = BuildEvidence {
        ended,
        stdout: all(&stdout),
        stderr: all(&stderr),
        carried: &carried,
    };
    match judge_build(build, whose, evidence) {
        Some(verdict) => Err(Box::new(verdict)),
        None => {
            made().insert(key, files.clone());
            Ok(files)
        }
    }
}

/// Takes every file below a folder.
fn take_all(root: &Path, below: &str, files: &mut Files) {
    for entry in fs::read_dir(root.join(below)).into_iter().flatten() {
        let name = entry.expect("a readable folder").file_name();
        let path = format!("{below}/{}", name.to_string_lossy());
        match fs::read(root.join(&path)) {
            Ok(bytes) => {
                files.insert(path, bytes);
            }
            Err(_folder) => take_all(root, &path, files),
        }
    }
}
