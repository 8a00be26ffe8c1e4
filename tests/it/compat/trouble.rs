//! Trouble of the daemon: every request that meets it is answered 504, and none gets a score.

use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use super::endpoint::{Endpoint, LOG, Reply, read_reply};
use super::{admitted_labels, python, serve, summary};
use crate::wait;
use crate::world::World;

/// Whatever is waited for here comes at once on an idle machine.
const SOON: Duration = Duration::from_secs(60);

fn until_a_run_is_active(world: &World) {
    wait::until_it_holds("the run is active", SOON, || {
        let runs = world.cli(&["--json", "ps"]).ended(0).json();
        runs.as_array().is_some_and(|runs| !runs.is_empty())
    });
}

#[track_caller]
fn is_trouble(reply: &Reply) {
    assert_eq!(reply.code, 504, "{}", reply.body);
    assert_eq!(reply.body["status"], "SandboxError");
    assert!(reply.body["run_result"].is_null(), "{}", reply.body);
    assert!(reply.head.contains("retry-after: "), "{}", reply.head);
    assert_ne!(reply.body["message"], "", "it says why");
}

#[test]
fn a_killed_daemon_is_504_and_the_next_one_serves_again() {
    let test = "compat::trouble::a_killed_daemon_is_504_and_the_next_one_serves_again";
    let Some((mut world, endpoint)) = serve(test, "", &[]) else {
        return;
    };
    // It looks what is there, so that the run below is the only one.
    assert_eq!(endpoint.ask(&python("print(0)")).code, 200);
    let in_flight = std::thread::scope(|scope| {
        let asking = scope.spawn(|| endpoint.ask(&python("import time\ntime.sleep(600)")));
        until_a_run_is_active(&world);
        kill(Pid::from_raw(world.pid()), Signal::SIGKILL).expect("kill the daemon");
        asking.join().expect("an answer")
    });
    is_trouble(&in_flight);
    let log = std::fs::read_to_string(world.work().join(LOG)).expect("what it said");
    assert!(log.contains("504 fault: "), "{log}");
    world.crashed();
    is_trouble(&endpoint.ask(&python("print(1)")));
    world.boot();
    let mut last = None;
    wait::until_it_holds("the endpoint finds the next daemon", SOON, || {
        let reply = endpoint.ask(&python("print(2)"));
        let is_served = reply.code == 200;
        last = Some(reply);
        is_served
    });
    let reply = last.expect("an answer");
    assert_eq!(summary(&reply), "Success; -; Finished 0");
    assert_eq!(reply.body["run_result"]["stdout"], "2\n");
}

#[test]
fn a_full_queue_is_504() {
    let config = "[runs]\nsandboxes_max = 1\nqueue_len_max = 1\n";
    let Some((_world, endpoint)) = serve("compat::trouble::a_full_queue_is_504", config, &[])
    else {
        return;
    };
    // It looks what is there, so that this does not meet the queue.
    assert_eq!(endpoint.ask(&python("print(0)")).code, 200);
    let bodies = vec![python("import time\ntime.sleep(2)\nprint(1)"); 12];
    let replies = endpoint.ask_at_once(&bodies);
    let (served, full): (Vec<&Reply>, Vec<&Reply>) =
        replies.iter().partition(|reply| reply.code == 200);
    assert!(!served.is_empty() && !full.is_empty(), "{}", served.len());
    for reply in served {
        assert_eq!(summary(reply), "Success; -; Finished 0");
    }
    for reply in full {
        is_trouble(reply);
    }
}

#[test]
fn an_endpoint_that_is_told_to_end_answers_what_it_has() {
    let test = "compat::trouble::an_endpoint_that_is_told_to_end_answers_what_it_has";
    let Some((world, mut endpoint)) = serve(test, "", &[]) else {
        return;
    };
    assert_eq!(endpoint.ask(&python("print(0)")).code, 200);
    let stream = endpoint.send_run(&python("import time\ntime.sleep(2)\nprint('drained')"));
    until_a_run_is_active(&world);
    endpoint.tell_to_end();
    let reply = read_reply(stream);
    assert_eq!(summary(&reply), "Success; -; Finished 0");
    assert_eq!(reply.body["run_result"]["stdout"], "drained\n");
    assert!(endpoint.wait().success());
}

#[test]
fn a_client_that_leaves_ends_its_run() {
    let test = "compat::trouble::a_client_that_leaves_ends_its_run";
    let Some((world, endpoint)) = serve(test, "", &[]) else {
        return;
    };
    assert_eq!(endpoint.ask(&python("print(0)")).code, 200);
    let stream = endpoint.send_run(&python("import time\ntime.sleep(600)"));
    until_a_run_is_active(&world);
    drop(stream);
    wait::until_it_holds("the run is over", SOON, || {
        let runs = world.cli(&["--json", "ps"]).ended(0).json();
        runs.as_array().is_some_and(Vec::is_empty)
    });
}

#[test]
fn keys_say_who_may_ask_and_under_which_policy() {
    let test = "compat::trouble::keys_say_who_may_ask_and_under_which_policy";
    let Some((world, _open)) = serve(test, "", &[]) else {
        return;
    };
    // Digests of `one` and `two`.
    let keys = world.write(
        "keys.toml",
        "[[key]]\nname = \"first\"\n\
         sha256 = \"7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed\"\n\
         [[key]]\nname = \"second\"\npolicy = \"shell\"\n\
         sha256 = \"3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3\"\n",
    );
    let keys = keys.to_str().expect("text");
    let endpoint = Endpoint::start(&world, &["--keys", keys]);
    let body = python("print(1)");
    assert_eq!(endpoint.ask(&body).code, 401);
    let other = endpoint.ask_with(&body, "Authorization: Bearer three\r\n");
    assert_eq!(other.code, 401, "{}", other.body);
    for key in ["one", "two"] {
        let reply = endpoint.ask_with(&body, &format!("X-API-Key: {key}\r\n"));
        assert_eq!(summary(&reply), "Success; -; Finished 0");
    }
    let labels = admitted_labels(&world);
    for name in ["first", "second"] {
        let expected = json!([["endpoint", "sandboxfusion"], ["endpoint.key", name]]);
        assert!(labels.contains(&expected), "{labels:?}");
    }
    let open = world.cli(&["compat", "serve", "--listen", "0.0.0.0:0"]);
    let said = open.ended(2).stderr();
    assert!(said.contains("--keys"), "{said}");
    let unusable = world.write("unusable.toml", "[[key]]\nname = \"a\"\nsha256 = \"b\"\n");
    let unusable = unusable.to_str().expect("text");
    world.cli(&["compat", "serve", "--keys", unusable]).ended(2);
}

#[test]
fn what_is_not_given_is_asked_for() {
    let Some((_world, endpoint)) =
        serve("compat::trouble::what_is_not_given_is_asked_for", "", &[])
    else {
        return;
    };
    let table = [
        (json!({ "code": "1" }), 422, "language"),
        (
            json!({ "code": "1", "language": "python", "run_timeout": 241 }),
            422,
            "run_timeout",
        ),
        (
            json!({ "code": "1", "language": "python", "memory_limit_MB": 100_000 }),
            422,
            "memory_limit_MB",
        ),
        (Value::from("text"), 400, "body"),
    ];
    for (body, code, field) in table {
        let reply = endpoint.ask(&body);
        assert_eq!(reply.code, code, "{}", reply.body);
        assert_eq!(reply.body["detail"][0]["loc"][1], field, "{}", reply.body);
    }
    let ping =
        endpoint.send("GET /v1/ping HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    assert_eq!(read_reply(ping).body, "pong");
}
