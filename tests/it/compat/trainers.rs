//! Trainers' own packages from PyPI against the endpoint: verl's client, the `sandbox-fusion`
//! package, and, in the long form (`./x trainers`), a GRPO step of TRL.
//!
//! The programs stand in `tests/trainers/`; `./x set-up` lays the packages out.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use super::endpoint::Endpoint;
use super::{COUNT, serve};
use crate::world::{World, speak_within};
use crate::{skips, tools};

/// What these trainers do at once: more than one machine's CPUs are meant for.
const MANY: &str = "[runs]\nsandboxes_max = 64\n";
/// Their own time limits come long before.
const PYTHON_MAX: Duration = Duration::from_secs(600);

fn folder() -> PathBuf {
    skips::repository().join("tests/trainers")
}

#[test]
fn trainers_clients_make_of_our_answers_what_is_right() {
    const TEST: &str = "compat::trainers::trainers_clients_make_of_our_answers_what_is_right";
    let Some(packages) = tools::tool(TEST, "trainers") else {
        return;
    };
    let Some((_world, endpoint)) = serve(TEST, MANY, COUNT) else {
        return;
    };
    let mut pytest = Command::new("/usr/bin/python3");
    pytest
        .args(["-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider"])
        .arg(folder())
        .env("SANDBOX_FUSION_URL", endpoint.run_code_url())
        .env("VERL_ROOT", &packages)
        .env("PYTHONPATH", &packages)
        .env("PYTHONDONTWRITEBYTECODE", "1");
    let spoken = speak_within(&mut pytest, b"", PYTHON_MAX);
    let said = spoken.stdout();
    eprintln!("{said}");
    spoken.ended(0);
    assert!(
        said.contains(" passed") && !said.contains(" skipped"),
        "{said}"
    );
}

/// A Python with torch and TRL; `None`, told and counted, where none is named.
fn python_with_trl(test: &str) -> Option<PathBuf> {
    let named = std::env::var_os("ROLLCAGE_TRAINERS_PYTHON").map(PathBuf::from);
    if named.is_none() {
        skips::skip(
            test,
            "torch and TRL are some GB: ./x trainers installs them",
        );
    }
    named
}

fn step(python: &PathBuf, endpoint: &Endpoint, options: &[&str]) -> Command {
    let mut command = Command::new(python);
    command
        .arg(folder().join("grpo_step.py"))
        .args(options)
        .env("SANDBOX_FUSION_URL", endpoint.run_code_url())
        .env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

/// Numbers that TRL computed as single precision.
#[track_caller]
fn are_near(found: &Value, expected: &[f64]) {
    let found = found.as_array().expect("a list");
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (found, expected) in found.iter().zip(expected) {
        let found = found.as_f64().expect("a number");
        assert!((found - expected).abs() < 1e-3, "{found} is not {expected}");
    }
}

#[test]
fn a_grpo_step_learns_from_what_ran_only() {
    const TEST: &str = "compat::trainers::a_grpo_step_learns_from_what_ran_only";
    let Some(python) = python_with_trl(TEST) else {
        return;
    };
    let Some((_world, endpoint)) = serve(TEST, "", &[]) else {
        return;
    };
    let spoken = speak_within(&mut step(&python, &endpoint, &[]), b"", PYTHON_MAX);
    let told = spoken.ended(0).json();
    println!("TRL, GRPO step: {told}");
    assert_eq!(told["rewards"], json!([[0.0, 1.0, 0.0, null]]));
    assert_eq!(told["is_finite"], true, "{told}");
    // Less the mean 1/3 of those that are scored, over their deviation; none: 0.
    are_near(&told["advantages"], &[-0.577, 1.154, -0.577, 0.0]);
}

/// Answers the stops of the step: a line each.
fn attend(world: &mut World, python: &PathBuf, endpoint: &Endpoint) -> Value {
    let mut child = step(python, endpoint, &["--trouble"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("start the step");
    let mut answers = child.stdin.take().expect("its input");
    let lines = BufReader::new(child.stdout.take().expect("its output")).lines();
    let mut told = Value::Null;
    for line in lines {
        let line = line.expect("a line");
        match line.as_str() {
            "end the daemon" => {
                kill(Pid::from_raw(world.pid()), Signal::SIGKILL).expect("kill the daemon");
                world.crashed();
                answers.write_all(b"\n").expect("answer");
            }
            "start a daemon" => {
                world.boot();
                answers.write_all(b"\n").expect("answer");
            }
            other if other.starts_with('{') => {
                told = serde_json::from_str(other).expect("what came of it");
            }
            // Libraries greet when they are loaded.
            _ => {}
        }
    }
    assert!(child.wait().expect("its end").success());
    told
}

#[test]
fn a_daemon_that_dies_in_a_grpo_step_is_no_number_in_it() {
    const TEST: &str = "compat::trainers::a_daemon_that_dies_in_a_grpo_step_is_no_number_in_it";
    let Some(python) = python_with_trl(TEST) else {
        return;
    };
    let Some((mut world, endpoint)) = serve(TEST, "", &[]) else {
        return;
    };
    let told = attend(&mut world, &python, &endpoint);
    println!("TRL, GRPO step with the daemon killed and started again: {told}");
    assert_eq!(told["rewards"], json!([[0.0, 1.0, null, null, 0.0, null]]));
    assert_eq!(told["is_finite"], true, "{told}");
    are_near(&told["advantages"], &[-0.577, 1.154, 0.0, 0.0, -0.577, 0.0]);
}
