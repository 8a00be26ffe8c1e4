//! What launchers, inits and programs may do, and what a result says of it.

use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex};

use audit::Event as Recorded;
use confine::wire::{
    CollectProblem, CollectSpec, CollectedFile, DeniedCall, FdKind, FromInit, FromLauncher,
    KernelCounters, ToInit,
};
use policies::AuditFailure;
use verdict::{ControlStatus, Outcome};

use super::fake::{FakeSandbox, MAIN};
use super::*;

fn hello(sandbox: &mut FakeSandbox) {
    sandbox.started();
    let (archive, mut program) = sandbox.spawned();
    assert_eq!(archive.files[0].path, "main.py");
    assert!(program.last);
    assert_eq!(program.spec.argv, [b"python3".to_vec()]);
    assert!(sandbox.id.starts_with("sb-"));
    assert_eq!(sandbox.plan.image, "host");
    let mut input = Vec::new();
    program.stdin.read_to_end(&mut input).unwrap();
    program.stdout.write_all(&input).unwrap();
    program.stdout.write_all(b"out\xff").unwrap();
    program.stderr.write_all(b"err").unwrap();
    drop(program);
    sandbox.say(&FromInit::Denied {
        calls: vec![DeniedCall {
            number: 165,
            first_arg: 0,
            errno: 1,
            count: 2,
        }],
        suppressed: 3,
    });
    sandbox.exited(7);
    sandbox.finished();
    sandbox.reaped();
}

#[tokio::test]
async fn a_plain_run_is_told_whole_and_recorded_before_its_reply() {
    let house = house(hello).await;
    let (sender, mut events) = mpsc::channel(64);
    let request = request(&["python3"]);
    let run = house.engine.run(request, Some(sender), Cancel::new());
    let result = run.await.unwrap();
    assert_eq!(result.ending, Ending::Exited { code: 7 });
    assert_eq!(result.stdout.kept, b"out\xff");
    assert_eq!(result.stderr.kept, b"err");
    assert_eq!(result.verdict.outcome(), Outcome::Unjudged);
    assert_eq!(result.usage.cpu_user_ms, 7);
    assert_eq!(result.usage.start_us, 321);
    assert_eq!(result.usage.inodes, 3);
    assert_eq!(result.denials[0].act, "mount");
    assert_eq!(
        (result.denials[0].count, result.denials[0].suppressed),
        (2, 3)
    );
    let names: Vec<&str> = result
        .manifest
        .iter()
        .map(|row| row.name.as_str())
        .collect();
    let steps = confine::sequence::explain()
        .into_iter()
        .map(|(name, ..)| name);
    let all: Vec<&str> = ["memory"]
        .into_iter()
        .chain(steps)
        .chain(["wall_time", "cpu_time", "output"])
        .collect();
    assert_eq!(names, all);
    let memory = &result.manifest[0];
    assert!(memory.asked.ends_with(" bytes"), "{memory:?}");
    assert!(
        result
            .manifest
            .iter()
            .all(|row| row.status == ControlStatus::Enforced)
    );
    let recorded = [
        Recorded::RunAdmitted,
        Recorded::SandboxRequested,
        Recorded::RunEnded,
    ];
    assert_eq!(house.log.events(), recorded);
    assert_eq!(result.audit.seq, 3);
    let mut told = Vec::new();
    while let Some(event) = events.recv().await {
        told.push(event);
    }
    assert!(matches!(told[0], Event::Queued));
    assert!(matches!(&told[1], Event::Started { sandbox_id } if *sandbox_id == result.sandbox_id));
    assert_eq!(told.len(), 4, "{told:?}");
}

#[tokio::test]
async fn stdin_is_given_byte_for_byte() {
    let mut request = request(&["python3"]);
    request.stdin = Some(vec![b'x'; 300_000]);
    let result = run(hello, request).await;
    assert_eq!(result.stdout.total_bytes, 300_004);
}

#[tokio::test]
async fn a_failed_start_is_the_sandbox_s_fault() {
    fn script(sandbox: &mut FakeSandbox) {
        sandbox.tell(&FromLauncher::StartFailed {
            token: sandbox.token,
            step: "cgroup".to_owned(),
            reason: "no room".to_owned(),
            refused: false,
        });
    }
    let result = run(script, request(&["python3"])).await;
    assert_eq!(step_of(&result.ending), "cgroup");
}

#[tokio::test]
async fn a_start_with_fewer_descriptors_than_announced_fails_alone() {
    static FIRST: AtomicBool = AtomicBool::new(true);
    static ENDED: (Mutex<bool>, Condvar) = (Mutex::new(false), Condvar::new());
    fn script(sandbox: &mut FakeSandbox) {
        if !FIRST.swap(false, Ordering::SeqCst) {
            return hello(sandbox);
        }
        // As the kernel hands it to a daemon that has no numbers left.
        sandbox.tell(&FromLauncher::Started {
            token: sandbox.token,
            pid: 1,
            uid_base: 100_000,
            controls: Vec::new(),
            fds: vec![FdKind::CgroupKill, FdKind::CpuUsage],
        });
        // Nobody keeps its channel, which ends it; nobody waits for that.
        while sandbox.hear().is_some() {}
        sandbox.reaped();
        *ENDED.0.lock().unwrap() = true;
        ENDED.1.notify_all();
    }
    let house = house(script).await;
    let run = |argv: &'static [&'static str]| {
        let run = house.engine.run(request(argv), None, Cancel::new());
        tokio::time::timeout(Duration::from_secs(20), run)
    };
    let result = run(&["python3"]).await.unwrap().unwrap();
    assert_eq!(step_of(&result.ending), "launch");
    let words = format!("{:?}", result.ending);
    assert!(words.contains("2 of its 2 descriptors"), "{words}");
    tokio::task::spawn_blocking(|| {
        let ended = ENDED.0.lock().unwrap();
        let waits = ENDED
            .1
            .wait_timeout_while(ended, Duration::from_secs(20), |ended| !*ended);
        assert!(*waits.unwrap().0, "its sandbox stays");
    })
    .await
    .unwrap();
    // The daemon goes on.
    let result = run(&["python3"]).await.unwrap().unwrap();
    assert_eq!(result.ending, Ending::Exited { code: 7 });
}

#[tokio::test]
async fn a_plan_beyond_the_launcher_s_ceilings_is_a_refusal() {
    fn script(sandbox: &mut FakeSandbox) {
        sandbox.tell(&FromLauncher::StartFailed {
            token: sandbox.token,
            step: "image".to_owned(),
            reason: "unknown image".to_owned(),
            refused: true,
        });
    }
    let house = house(script).await;
    let run = house.engine.run(request(&["python3"]), None, Cancel::new());
    let error = run.await.unwrap_err();
    assert!(
        matches!(
            error,
            RunError::Refused {
                reason: "LAUNCHER_REFUSED",
                ..
            }
        ),
        "{error}"
    );
    assert_eq!(house.log.events().last(), Some(&Recorded::RunRefused));
}

#[tokio::test]
async fn garbage_from_init_ends_the_sandbox() {
    fn script(sandbox: &mut FakeSandbox) {
        sandbox.started();
        let (_, _program) = sandbox.spawned();
        sandbox.say_raw(&[0xff; 32]);
        sandbox.wait_killed();
        sandbox.reaped();
    }
    let result = run(script, request(&["python3"])).await;
    assert_eq!(step_of(&result.ending), "protocol");
}

#[tokio::test]
async fn a_packet_longer_than_a_frame_ends_the_sandbox() {
    fn script(sandbox: &mut FakeSandbox) {
        sandbox.started();
        let (_, _program) = sandbox.spawned();
        sandbox.say_raw(&[0; 70_000]);
        sandbox.wait_killed();
        sandbox.reaped();
    }
    let result = run(script, request(&["python3"])).await;
    assert_eq!(step_of(&result.ending), "protocol");
}

#[tokio::test]
async fn an_end_without_a_start_ends_the_sandbox() {
    fn script(sandbox: &mut FakeSandbox) {
        sandbox.started();
        let (_, _program) = sandbox.spawned();
        sandbox.exited(0);
        sandbox.exited(0);
        sandbox.wait_killed();
        sandbox.reaped();
    }
    let result = run(script, request(&["python3"])).await;
    assert_eq!(step_of(&result.ending), "protocol");
}

#[tokio::test]
async fn init_that_dies_silently_is_the_sandbox_s_fault() {
    fn script(sandbox: &mut FakeSandbox) {
        sandbox.started();
        let (_, program) = sandbox.spawned();
        drop(program);
        sandbox.close();
        sandbox.reaped();
    }
    let result = run(script, request(&["python3"])).await;
    assert_eq!(step_of(&result.ending), "init");
}

#[tokio::test]
async fn frames_that_init_left_behind_count_before_the_launcher_s_last_word() {
    fn script(sandbox: &mut FakeSandbox) {
        sandbox.started();
        let (_, program) = sandbox.spawned();
        drop(program);
        sandbox.reaped();
        sandbox.exited(3);
        sandbox.finished();
    }
    let result = run(script, request(&["python3"])).await;
    assert_eq!(result.ending, Ending::Exited { code: 3 });
}

#[tokio::test]
async fn what_is_left_when_the_program_ended_is_killed_and_does_not_change_the_ending() {
    fn script(sandbox: &mut FakeSandbox) {
        sandbox.started();
        let (_, program) = sandbox.spawned();
        sandbox.exited(0);
        assert_eq!(sandbox.wait_killed(), "cgroup");
        drop(program);
        sandbox.reaped_leaving(KernelCounters::default(), vec!["cgroup x".to_owned()]);
    }
    let result = run(script, request(&["python3"])).await;
    assert_eq!(result.ending, Ending::Exited { code: 0 });
    let row = result
        .manifest
        .iter()
        .find(|row| row.name == "cleanup")
        .unwrap();
    assert_eq!(row.status, ControlStatus::Degraded);
}

#[tokio::test]
async fn a_program_that_is_not_there_is_not_started() {
    fn script(sandbox: &mut FakeSandbox) {
        sandbox.started();
        sandbox.say(&FromInit::Entered {
            steps: Vec::new(),
            state: Vec::new(),
        });
        sandbox.hear().unwrap();
        sandbox.hear().unwrap();
        sandbox.say(&FromInit::NotStarted {
            command: MAIN,
            code: 127,
            errno: 2,
            path: "/usr/bin/nope".to_owned(),
        });
        sandbox.finished();
        sandbox.reaped();
    }
    let result = run(script, request(&["nope"])).await;
    let Ending::NotStarted {
        code: 127, path, ..
    } = &result.ending
    else {
        panic!("{:?}", result.ending);
    };
    assert_eq!(path, "/usr/bin/nope");
}

#[tokio::test]
async fn a_machine_out_of_memory_is_not_the_program_s_doing() {
    fn script(sandbox: &mut FakeSandbox) {
        sandbox.started();
        drop(sandbox.spawned());
        sandbox.exited(0);
        sandbox.finished();
        sandbox.reaped_with(KernelCounters {
            oom_kills: 1,
            ..KernelCounters::default()
        });
    }
    let result = run(script, request(&["python3"])).await;
    assert!(matches!(&result.ending, Ending::SandboxFailed { reason, .. } if reason == "host_oom"));
}

#[tokio::test]
async fn a_launcher_that_goes_away_ends_all_runs() {
    fn script(sandbox: &mut FakeSandbox) {
        sandbox.started();
        drop(sandbox.spawned());
        // A second greeting makes no sense: the link ends.
        sandbox.tell(&FromLauncher::Hello {
            host: Box::new(fake::host()),
            image_sha256: String::new(),
        });
    }
    let house = house(script).await;
    let run = house.engine.run(request(&["python3"]), None, Cancel::new());
    let result = run.await.unwrap();
    assert_eq!(step_of(&result.ending), "launcher");
    house.engine.launcher_gone().await;
    let run = house.engine.run(request(&["python3"]), None, Cancel::new());
    let error = run.await.unwrap_err();
    assert!(matches!(error, RunError::Unavailable { .. }));
}

#[tokio::test]
async fn files_are_collected_and_bad_names_are_told() {
    fn send(pipe: &mut std::fs::File, path: &[u8]) {
        let file = CollectedFile {
            path: path.to_vec(),
            mode: 0o100_644,
            content: b"42".to_vec(),
        };
        let bytes = postcard::to_stdvec(&file).unwrap();
        let length = u32::try_from(bytes.len()).unwrap();
        pipe.write_all(&length.to_le_bytes()).unwrap();
        pipe.write_all(&bytes).unwrap();
    }
    fn script(sandbox: &mut FakeSandbox) {
        sandbox.started();
        let (_, program) = sandbox.spawned();
        assert!(!program.last);
        drop(program);
        sandbox.exited(0);
        let (frame, mut fds) = sandbox.hear().unwrap();
        assert!(matches!(frame, ToInit::Collect { alone: true }));
        let mut pipe = std::fs::File::from(fds.remove(1));
        let spec: CollectSpec = confine::packet::unseal(fds.remove(0)).unwrap();
        assert_eq!(spec.patterns, ["out/*"]);
        for path in [&b"out/a"[..], b"out/\xff", b"../etc/passwd"] {
            send(&mut pipe, path);
        }
        drop(pipe);
        sandbox.say(&FromInit::Collected {
            files: 3,
            problems: vec![CollectProblem {
                path: "out/b".to_owned(),
                reason: "too large".to_owned(),
            }],
        });
        assert!(matches!(sandbox.hear(), Some((ToInit::Finish, _))));
        sandbox.finished();
        sandbox.reaped();
    }
    let mut request = request(&["python3"]);
    request.collect = vec!["out/*".to_owned()];
    let result = run(script, request).await;
    assert_eq!(result.ending, Ending::Exited { code: 0 });
    assert_eq!(result.files.len(), 1);
    assert_eq!(
        (result.files[0].path.as_str(), result.files[0].mode),
        ("out/a", 0o644)
    );
    assert_eq!(result.files_missing.len(), 3, "{:?}", result.files_missing);
}

#[tokio::test]
async fn without_a_record_there_is_no_result_unless_the_policy_says_so() {
    let failing = || MemoryLog {
        fails: true,
        ..MemoryLog::default()
    };
    let house = house_with(hello, failing(), 4).await;
    let run = house.engine.run(request(&["python3"]), None, Cancel::new());
    assert!(matches!(run.await, Err(RunError::Unrecorded { .. })));
    let mut lenient = request(&["python3"]);
    let mut policy = (*lenient.policy).clone();
    policy.audit.on_failure = AuditFailure::Degrade;
    lenient.policy = Arc::new(policy);
    let result = house
        .engine
        .run(lenient, None, Cancel::new())
        .await
        .unwrap();
    assert_eq!(result.ending, Ending::Exited { code: 7 });
    let row = result
        .manifest
        .iter()
        .find(|row| row.name == "audit")
        .unwrap();
    assert_eq!(row.status, ControlStatus::Degraded);
}

#[tokio::test]
async fn a_request_that_cannot_be_run_is_refused_and_recorded() {
    let house = house(hello).await;
    let run = house.engine.run(request(&[]), None, Cancel::new());
    let error = run.await.unwrap_err();
    assert!(matches!(
        error,
        RunError::Refused {
            reason: "ARGV_EMPTY",
            ..
        }
    ));
    let mut large = request(&["python3"]);
    large.limits.disk_bytes_max = 3;
    let run = house.engine.run(large, None, Cancel::new());
    let error = run.await.unwrap_err();
    assert!(matches!(
        error,
        RunError::Refused {
            reason: "FILES_TOO_LARGE",
            ..
        }
    ));
    assert_eq!(
        house.log.events(),
        [Recorded::RunRefused, Recorded::RunRefused]
    );
}
