//! Runs that are tried once more after a fault of the host, as a batch does by itself and a single
//! run only when asked; the result tells of both attempts, the audit log has both.

use std::io::Write;
use std::process::Stdio;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use crate::world::World;

/// How long a sandbox may take to be seen.
const SEEN_MAX: Duration = Duration::from_secs(30);

/// A program that takes long enough to be met, and is right.
fn slow(id: &str) -> Value {
    json!({
        "id": id, "policy": "python", "argv": ["python3", "-c", "import time; time.sleep(0.7)"],
        "verify": {"kind": "exit_code"},
    })
}

/// Kills pid 1 of a sandbox whose program runs and which none of `before` was; its pid.
fn kill_one(world: &World, before: &[i32]) -> Option<i32> {
    // Pid 1 of a sandbox has the first id of its range; its program runs beside it.
    let there = world.instance().leased_processes();
    let mut inits = (there.iter()).filter(|it| it.uid & 0xffff == 0 && !before.contains(&it.pid));
    let runs = |init: &&crate::host::Process| {
        let same = |it: &&crate::host::Process| it.uid >> 16 == init.uid >> 16;
        let mut beside = there.iter().filter(same);
        beside.any(|it| it.command_line.contains("time.sleep"))
    };
    let init = inits.find(runs)?;
    (kill(Pid::from_raw(init.pid), Signal::SIGKILL).is_ok()).then_some(init.pid)
}

fn kill_next(world: &World, before: &[i32]) -> i32 {
    let until = Instant::now() + SEEN_MAX;
    loop {
        if let Some(pid) = kill_one(world, before) {
            return pid;
        }
        assert!(Instant::now() < until, "no sandbox was seen");
        std::thread::yield_now();
    }
}

/// One line through `rollcage batch`, with so many of its sandboxes killed.
fn batch(world: &World, line: &Value, kills: usize) -> Value {
    let mut command = world.rollcage();
    command.arg("batch").stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("start rollcage");
    let mut stdin = child.stdin.take().expect("its stdin");
    writeln!(stdin, "{line}").expect("send the line");
    drop(stdin);
    let mut killed = Vec::new();
    for _ in 0..kills {
        let pid = kill_next(world, &killed);
        killed.push(pid);
    }
    let output = child.wait_with_output().expect("its output");
    let text = String::from_utf8(output.stdout).expect("text");
    serde_json::from_str(text.trim()).unwrap_or_else(|error| panic!("{error}: {text:?}"))
}

fn records(world: &World, run_id: &str, event: &str) -> usize {
    let arguments = ["audit", "query", "--run", run_id, "--event", event];
    world.cli(&arguments).ended(0).stdout().lines().count()
}

#[test]
fn a_batch_tries_once_more_where_the_host_failed() {
    let Some(world) = World::start("a_batch_tries_once_more_where_the_host_failed") else {
        return;
    };
    let once = batch(&world, &slow("once"), 1);
    assert_eq!(once["verdict"]["outcome"], "passed", "{once}");
    let earlier = once["earlier_attempts"].as_array().expect("attempts");
    assert_eq!(earlier.len(), 1, "{once}");
    assert_eq!(earlier[0]["why"], "infra_error");
    assert_eq!(earlier[0]["outcome"], "infra_error");
    assert!(!earlier[0]["reason"].as_str().expect("text").is_empty());
    assert_ne!(earlier[0]["sandbox_id"], once["sandbox_id"]);
    let run_id = once["run_id"].as_str().expect("an id");
    assert_eq!(records(&world, run_id, "run_ended"), 2);

    let twice = batch(&world, &slow("twice"), 2);
    assert_eq!(twice["verdict"]["outcome"], "infra_error", "{twice}");
    assert_eq!(twice["verdict"].get("reward"), None, "{twice}");
    assert_eq!(twice["earlier_attempts"].as_array().map(Vec::len), Some(1));

    let mut never = slow("never");
    never["retry_infra"] = json!(false);
    let never = batch(&world, &never, 1);
    assert_eq!(never["verdict"]["outcome"], "infra_error", "{never}");
    assert_eq!(never["earlier_attempts"].as_array().map(Vec::len), Some(0));
}

#[test]
fn a_single_run_is_tried_again_when_it_asks_for_it() {
    let Some(world) = World::start("a_single_run_is_tried_again_when_it_asks_for_it") else {
        return;
    };
    for (asked, attempts) in [(None, 0), (Some(true), 1)] {
        let mut line = slow("single");
        if let Some(asked) = asked {
            line["retry_infra"] = json!(asked);
        }
        let client = world.client();
        let killing = async {
            while kill_one(&world, &[]).is_none() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let run = client.run(crate::world::message(&line));
        let (result, ()) = world.wait(async { tokio::join!(run, killing) });
        let result = result.expect("a result");
        assert_eq!(result.earlier_attempts.len(), attempts, "{result:?}");
    }
}
