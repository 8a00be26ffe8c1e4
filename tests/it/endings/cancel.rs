//! Runs that somebody ends: over the API, by interrupting the command, by going away.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use futures::StreamExt;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use sandbox_client::pb;
use serde_json::json;
use verdict::Ending;

use crate::world::{Outcome, World, message, shell};

const ENDLESS: &str = "trap '' INT TERM HUP; echo started; sleep 300; sleep 300";

/// Reads events until the program has written something; gives the run's id.
async fn until_output(
    events: &mut (
             impl futures::Stream<Item = Result<pb::RunEvent, sandbox_client::ClientError>> + Unpin
         ),
) -> String {
    let mut run_id = String::new();
    loop {
        let event = events.next().await.expect("an event").expect("no fault");
        match event.event.expect("a known event") {
            pb::run_event::Event::Queued(queued) => run_id = queued.run_id,
            pb::run_event::Event::Started(started) => run_id = started.run_id,
            pb::run_event::Event::Output(output) => {
                assert_eq!(output.data, b"started\n");
                return run_id;
            }
            pb::run_event::Event::Result(result) => panic!("ended early: {result:?}"),
        }
    }
}

#[test]
fn a_cancelled_run_ends_as_cancelled_by_whom() {
    let Some(world) = World::start("a_cancelled_run_ends_as_cancelled_by_whom") else {
        return;
    };
    let client = world.client();
    let result = world.wait(async {
        let stream = client
            .stream(message(&shell(ENDLESS)))
            .await
            .expect("a stream");
        let mut events = Box::pin(stream);
        let run_id = until_output(&mut events).await;
        let state = client.cancel(&run_id).await.expect("cancelled");
        assert_eq!(state, pb::RunState::Active);
        let mut result = None;
        while let Some(event) = events.next().await {
            if let Some(pb::run_event::Event::Result(last)) = event.expect("no fault").event {
                result = Some(*last);
            }
        }
        let result = result.expect("a result");
        // What was told is so for everybody at once, and cancelling what has ended changes nothing.
        let state = client.cancel(&run_id).await.expect("cancelled again");
        assert_eq!(state, pb::RunState::Finished);
        let record = client.get_run(&run_id).await.expect("the run");
        assert_eq!(record.result.as_ref().expect("its result").run_id, run_id);
        result
    });
    assert!(world.instance().leased_processes().is_empty());
    let outcome = Outcome::new(result);
    match &outcome.ending {
        Ending::Cancelled { by } => assert!(by.contains("uid:0"), "{by}"),
        other => panic!("{other:?}"),
    }
    assert_eq!(outcome.stdout(), "started\n");
}

#[test]
fn a_caller_that_goes_away_cancels_its_run() {
    let Some(world) = World::start("a_caller_that_goes_away_cancels_its_run") else {
        return;
    };
    let run_id = world.wait(async {
        // A connection of its own, so that it can be lost.
        let endpoint = sandbox_client::Endpoint::Unix(world.socket());
        let client = sandbox_client::Client::connect(&endpoint)
            .await
            .expect("connected");
        let stream = client
            .stream(message(&shell(ENDLESS)))
            .await
            .expect("a stream");
        let mut events = Box::pin(stream);
        until_output(&mut events).await
    });
    let client = world.client();
    let record = world.wait(async {
        loop {
            let record = client.get_run(&run_id).await.expect("the run");
            if record.state() == pb::RunState::Finished {
                return record;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    });
    assert_eq!(record.ending_kind(), pb::EndingKind::Cancelled);
    assert!(world.instance().leased_processes().is_empty());
}

#[test]
fn interrupting_the_command_cancels_its_run() {
    let Some(world) = World::start("interrupting_the_command_cancels_its_run") else {
        return;
    };
    let mut command = world.rollcage();
    command.args(["run", "--policy", "shell", "--", "sh", "-c", ENDLESS]);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("start");
    let mut line = String::new();
    let stdout = child.stdout.as_mut().expect("its stdout");
    BufReader::new(stdout).read_line(&mut line).expect("a line");
    assert_eq!(line, "started\n");
    let pid = Pid::from_raw(i32::try_from(child.id()).expect("a pid"));
    kill(pid, Signal::SIGINT).expect("interrupt");
    let output = child.wait_with_output().expect("its end");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{stderr}");
    assert!(stderr.contains("cancel"), "{stderr}");
    assert!(world.instance().leased_processes().is_empty());
    let runs = world.cli(&["ps", "-a", "--json"]);
    assert!(
        runs.ended(0).stdout().contains("cancelled"),
        "{}",
        runs.stdout()
    );
}

#[test]
fn a_deadline_ends_a_run_that_would_have_more_time() {
    let Some(world) = World::start("a_deadline_ends_a_run_that_would_have_more_time") else {
        return;
    };
    let mut request = shell("sleep 60");
    request["deadline_ms"] = json!(700);
    let outcome = world.run(&request);
    assert!(
        !matches!(outcome.ending, Ending::Exited { .. }),
        "{:?}",
        outcome.ending
    );
    assert!(outcome.usage().wall_ms < 20_000, "{:?}", outcome.usage());
    assert!(world.instance().leased_processes().is_empty());
}
