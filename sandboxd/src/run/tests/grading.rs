//! Grading through the engine: from a run itself, and by the real judge programs, which the
//! launcher of threads runs as ordinary processes (without any confinement).

use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};

use confine::wire::{FromInit, KernelCounters};
use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use verdict::{AssertsSpec, ExitCodeSpec, Outcome, StdoutSpec, TestStatus, VerifySpec};

use super::fake::{FakeProgram, FakeSandbox, MAIN};
use super::*;

/// Descriptors without close-on-exec are inherited by whatever is spawned meanwhile.
static SPAWNING: Mutex<()> = Mutex::new(());

fn spawn(folder: &std::path::Path, program: FakeProgram) -> Child {
    let text = |bytes: &Vec<u8>| String::from_utf8(bytes.clone()).unwrap();
    let here = folder.to_str().unwrap();
    let argv = program
        .spec
        .argv
        .iter()
        .map(|arg| text(arg).replace("/workspace", here));
    let _one_at_a_time = SPAWNING.lock().unwrap_or_else(PoisonError::into_inner);
    // Out of the way first, so that no number is taken before it is read.
    let (mut aside, mut place) = (String::new(), String::new());
    for (number, fd) in (3..).zip(&program.extra) {
        fcntl(fd.as_fd(), FcntlArg::F_SETFD(FdFlag::empty())).unwrap();
        let raw = fd.as_raw_fd();
        aside = format!("{aside} 10{number}<&{raw} {raw}<&-");
        place = format!("{place} {number}<&10{number} 10{number}<&-");
    }
    let script = format!("exec{aside}; exec \"$@\"{place}");
    Command::new("bash")
        .args(["-c", &script, "bash"])
        .args(argv)
        .env_clear()
        .envs(
            program
                .spec
                .env
                .iter()
                .map(|(name, value)| (text(name), text(value))),
        )
        .current_dir(folder)
        .stdin(Stdio::from(program.stdin))
        .stdout(Stdio::from(program.stdout))
        .stderr(Stdio::from(program.stderr))
        .spawn()
        .unwrap()
    // The program's descriptors are closed here, before the next one is spawned.
}

/// Runs the command for real, in a folder instead of `/workspace`, until it ends or is killed.
fn execute(sandbox: &mut FakeSandbox) {
    sandbox.started();
    let (archive, program) = sandbox.spawned();
    let folder = tempfile::tempdir().unwrap();
    for file in &archive.files {
        let path = folder.path().join(&file.path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, &file.content).unwrap();
    }
    let mut child = spawn(folder.path(), program);
    let id = nix::unistd::Pid::from_raw(i32::try_from(child.id()).unwrap());
    let killed = sandbox.on_kill(move || {
        // It may have ended by itself meanwhile.
        nix::sys::signal::kill(id, nix::sys::signal::Signal::SIGKILL).unwrap_or_default();
    });
    let status = child.wait().unwrap();
    if !killed.load(Ordering::SeqCst) {
        sandbox.say(&FromInit::Exited {
            command: MAIN,
            code: status.code(),
            signal: status.signal(),
            core_dumped: false,
        });
        sandbox.finished();
    }
    sandbox.reaped();
}

fn asserts(code: &str) -> Option<VerifySpec> {
    Some(VerifySpec::Asserts(AssertsSpec {
        file: "solution.py".to_owned(),
        code: code.to_owned(),
        ..AssertsSpec::default()
    }))
}

fn task(solution: &str, code: &str) -> Request {
    let mut request = request(&[]);
    request.files = vec![InputFile {
        path: "solution.py".to_owned(),
        content: solution.as_bytes().to_vec(),
        mode: 0o644,
    }];
    request.verify = asserts(code);
    request
}

const ADD: &str = "def add(a, b):\n    return a + b\n";

#[tokio::test]
async fn a_right_solution_passes_with_its_evidence() {
    let house = house(execute).await;
    let request = task(ADD, "assert add(2, 3) == 5");
    let result = house
        .engine
        .run(request, None, Cancel::new())
        .await
        .unwrap();
    assert_eq!(result.verdict.outcome(), Outcome::Passed, "{result:?}");
    assert_eq!(result.verdict.reward(), Some(1.0));
    assert_eq!(result.verdict.tests[0].status, TestStatus::Passed);
    // On a busy machine the grading may end a solution that is slow to leave.
    let by = verdict::grade::ENDED_BY_GRADER.to_owned();
    let released = Ending::Cancelled { by };
    assert!(
        [Ending::Exited { code: 0 }, released].contains(&result.ending),
        "{:?}",
        result.ending
    );
    assert!(result.sandbox_id.ends_with("-solution"));
    let evidence = &result.verdict.evidence;
    for digest in [
        &evidence.image_sha256,
        &evidence.policy_sha256,
        &evidence.inputs_sha256,
        &evidence.tests_sha256,
        &evidence.verifier_sha256,
    ] {
        assert_eq!(digest.len(), 64);
    }
    let requested = audit::Event::SandboxRequested;
    let mut recorded = vec![audit::Event::RunAdmitted];
    // Solution, judge, and the compiling of the judge's programs.
    recorded.extend([requested, requested, requested]);
    recorded.push(audit::Event::RunEnded);
    assert_eq!(house.log.events(), recorded);
    assert_eq!(house.engine.load().live, 0);
    // The next one finds them compiled.
    let request = task(ADD, "assert add(2, 3) == 5");
    let result = house
        .engine
        .run(request, None, Cancel::new())
        .await
        .unwrap();
    assert_eq!(result.verdict.outcome(), Outcome::Passed);
    assert_eq!(house.log.events().len(), 5 + 4);
}

#[tokio::test]
async fn a_wrong_solution_fails() {
    let request = task("def add(a, b):\n    return 4\n", "assert add(2, 3) == 5");
    let result = run(execute, request).await;
    assert_eq!(result.verdict.outcome(), Outcome::Failed);
    assert_eq!(result.verdict.reward(), Some(0.0));
}

#[tokio::test]
async fn a_solution_that_hangs_is_a_timeout_by_its_own_limit() {
    let mut request = task(
        "def add(a, b):\n    while True: pass\n",
        "assert add(2, 3) == 5",
    );
    request.limits.wall_ms_max = 1500;
    let result = run(execute, request).await;
    assert!(
        matches!(result.ending, Ending::WallTimeUp { .. }),
        "{:?}",
        result.ending
    );
    assert_eq!(result.verdict.outcome(), Outcome::Timeout);
}

#[tokio::test]
async fn a_solution_that_outlives_its_judge_is_ended_by_the_grading() {
    let stays = "import atexit, time\natexit.register(lambda: time.sleep(60))\n";
    let request = task(&format!("{stays}{ADD}"), "assert add(2, 3) == 5");
    let result = run(execute, request).await;
    assert_eq!(result.verdict.outcome(), Outcome::Passed);
    assert!(result.usage.wall_ms < 15_000);
}

#[tokio::test]
async fn with_a_program_the_result_is_the_program_s_and_the_verdict_the_judge_s() {
    let mut request = task(&format!("{ADD}print('ran')\n"), "assert add(2, 3) == 5");
    request.argv = vec![b"python3".to_vec(), b"solution.py".to_vec()];
    let result = run(execute, request).await;
    assert_eq!(result.stdout.kept, b"ran\n");
    assert!(!result.sandbox_id.contains("solution"));
    assert_eq!(result.verdict.outcome(), Outcome::Passed);
}

#[tokio::test]
async fn a_judge_that_cannot_be_had_is_nobody_s_failure() {
    fn script(sandbox: &mut FakeSandbox) {
        if !sandbox.id.ends_with("-judge") {
            return execute(sandbox);
        }
        sandbox.tell(&confine::wire::FromLauncher::StartFailed {
            token: sandbox.token,
            step: "cgroup".to_owned(),
            reason: "no room".to_owned(),
            refused: false,
        });
    }
    let result = run(script, task(ADD, "assert add(2, 3) == 5")).await;
    assert_eq!(result.verdict.outcome(), Outcome::InfraError);
    assert_eq!(result.verdict.reward(), None);
}

#[tokio::test]
async fn a_run_is_judged_by_its_exit_code_or_its_output() {
    let program = |code: &str| {
        let mut request = request(&["python3", "-c", code]);
        request.files.clear();
        request
    };
    let mut by_code = program("raise SystemExit(3)");
    by_code.verify = Some(VerifySpec::ExitCode(ExitCodeSpec { exit_code: 3 }));
    let result = run(execute, by_code).await;
    assert_eq!(result.verdict.outcome(), Outcome::Passed);
    let mut by_output = program("print(42)");
    by_output.verify = Some(VerifySpec::Stdout(StdoutSpec {
        stdout: b"43\n".to_vec(),
        ..StdoutSpec::default()
    }));
    let result = run(execute, by_output).await;
    assert_eq!(result.verdict.outcome(), Outcome::Failed);
}

#[tokio::test]
async fn a_kernel_kill_for_memory_excludes_a_pass() {
    fn script(sandbox: &mut FakeSandbox) {
        sandbox.started();
        drop(sandbox.spawned());
        sandbox.exited(0);
        sandbox.finished();
        sandbox.reaped_with(KernelCounters {
            oom_kills: 1,
            memory_limit_hits: 4,
            ..KernelCounters::default()
        });
    }
    let mut request = request(&["python3"]);
    request.verify = Some(VerifySpec::ExitCode(ExitCodeSpec { exit_code: 0 }));
    let result = run(script, request).await;
    assert_eq!(result.ending, Ending::Exited { code: 0 });
    assert_eq!(result.verdict.outcome(), Outcome::OutOfMemory);
    assert_eq!(result.usage.oom_kills, 1);
}
