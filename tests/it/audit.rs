//! The audit log of a session: whole, attested by the launcher, written before each reply, out of
//! the API's reach; and `rollcage audit verify`, which sees every change of it.

mod tampering;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use crate::batch;
use crate::host;
use crate::world::{World, message, shell};

/// Users of the daemon's parts, as `deploy/sandboxd.toml` has them.
const API: u32 = 64_810;
const AUDIT: u32 = 64_811;

/// One session: runs that end in many ways, judged and not, and one that is refused.
fn session(world: &World) -> BTreeMap<String, Value> {
    let asserts = json!({ "kind": "asserts", "file": "s.py", "code": "assert f() == 1" });
    let judged = |id: &str, body: &str, argv: Value| {
        let files = json!({ "s.py": format!("def f(): return {body}\n") });
        json!({ "id": id, "policy": "python", "files": files, "argv": argv, "verify": asserts })
    };
    let plain = |id: &str, code: &str, limits: Value| json!({ "id": id, "policy": "shell", "argv": ["sh", "-c", code], "limits": limits });
    let mut requests = vec![
        judged("right", "1", json!([])),
        judged("wrong", "2", json!(["python3", "s.py"])),
        plain("slow", "sleep 60", json!({ "wall_ms_max": 300 })),
        plain("killed", "kill -9 $$", json!({})),
        plain("refused", "true", json!({ "pids_max": 1_000_000 })),
        plain("gone", "exec /nowhere/at/all", json!({})),
    ];
    for number in 0..20 {
        let code = format!("echo {number}; exit {}", number % 3);
        requests.push(plain(&format!("plain-{number}"), &code, json!({})));
    }
    batch::run(world, &requests)
}

/// All records, in order.
pub(crate) fn records(world: &World) -> Vec<Value> {
    let mut segments: Vec<PathBuf> = fs::read_dir(world.state_dir().join("audit"))
        .expect("the log's folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "jsonl"))
        .collect();
    segments.sort();
    let text: String = segments
        .iter()
        .map(|path| fs::read_to_string(path).expect("a segment"))
        .collect();
    text.lines()
        .map(|line| serde_json::from_str(line).expect("a record is JSON"))
        .collect()
}

/// `SEQ:SHA256` of a result.
pub(super) fn receipt(result: &Value) -> String {
    let (seq, sha256) = (&result["audit"]["seq"], &result["audit"]["sha256"]);
    format!("{seq}:{}", sha256.as_str().expect("a receipt"))
}

/// How many sandboxes a run of this session asks for: its program's, a solution's and a judge's.
fn sandboxes_of(id: &str) -> usize {
    match id {
        "right" => 2,
        "wrong" => 3,
        _ => 1,
    }
}

/// Records of one event and run.
fn of_run<'a>(records: &'a [Value], event: &str, run: &Value) -> Vec<&'a Value> {
    let is = |record: &&Value| record["event"] == event && record["run_id"] == *run;
    records.iter().filter(is).collect()
}

/// The receipt is that of the record of this very run's end, which says what the result says.
fn check_result(records: &[Value], id: &str, result: &Value) {
    let run = &result["run_id"];
    let seq = &result["audit"]["seq"];
    let mut at_seq = records.iter().filter(|record| record["seq"] == *seq);
    let end = at_seq.next().expect("a record with this number");
    assert_eq!(
        (&end["event"], &end["run_id"]),
        (&json!("run_ended"), run),
        "{id}"
    );
    let said = [
        (&end["sha256"], &result["audit"]["sha256"]),
        (&end["data"]["ending"]["kind"], &result["ending"]["kind"]),
        (
            &end["data"]["verdict"]["outcome"],
            &result["verdict"]["outcome"],
        ),
        (&end["principal"], &json!("uid:0")),
    ];
    for (record, result) in said {
        assert_eq!(record, result, "{id}: {end}");
    }
    for event in ["run_admitted", "run_ended"] {
        assert_eq!(of_run(records, event, run).len(), 1, "{id}: {event}");
    }
    let requested = of_run(records, "sandbox_requested", run);
    assert_eq!(requested.len(), sandboxes_of(id), "{id}: {requested:?}");
    for request in requested {
        check_sandbox(records, id, request, seq);
    }
}

/// Made, reaped, told: in this order, and made and reaped by the launcher's own word. That it was
/// asked for is recorded while it is made, and before the end is told.
fn check_sandbox(records: &[Value], id: &str, request: &Value, end: &Value) {
    let sandbox = &request["sandbox_id"];
    let attested = |event: &str| {
        let is = |record: &&Value| record["sandbox_id"] == *sandbox && record["event"] == event;
        let found: Vec<&Value> = records.iter().filter(is).collect();
        assert_eq!(found.len(), 1, "{id}: {sandbox}: {event}: {found:?}");
        assert_eq!(found[0]["source"], "launcher", "{id}: {event}");
        found[0]["seq"].as_u64()
    };
    let end = end.as_u64();
    let order = [attested("sandbox_spawned"), attested("sandbox_reaped"), end];
    assert!(order.is_sorted(), "{id}: made, reaped, told at {order:?}");
    assert!(
        request["seq"].as_u64() < end,
        "{id}: asked for after its end"
    );
}

#[test]
fn every_result_has_its_records_and_every_sandbox_its_attestations() {
    const TEST: &str = "audit::every_result_has_its_records_and_every_sandbox_its_attestations";
    let Some(world) = World::start(TEST) else {
        return;
    };
    let results = session(&world);
    let records = records(&world);
    let mut receipts = Vec::new();
    for (id, result) in &results {
        if id == "refused" {
            assert!(result["error"].is_object(), "{result}");
            continue;
        }
        check_result(&records, id, result);
        receipts.push(receipt(result));
    }
    // Nothing was started behind the records.
    let ids = |event: &str| -> BTreeSet<String> {
        let of = records.iter().filter(|record| record["event"] == event);
        of.map(|record| record["sandbox_id"].to_string()).collect()
    };
    assert_eq!(ids("sandbox_requested"), ids("sandbox_spawned"));

    let mut arguments = vec!["audit", "verify", "--json"];
    for receipt in &receipts {
        arguments.extend(["--receipt", receipt]);
    }
    let report = world.cli(&arguments);
    let report = report.ended(0).json();
    assert_eq!(report["receipts_found"], json!(receipts.len()), "{report}");
    println!(
        "{} results, {} records, all in place",
        receipts.len(),
        records.len()
    );
}

#[test]
fn the_api_cannot_write_the_log() {
    const TEST: &str = "audit::the_api_cannot_write_the_log";
    let Some(world) = World::start(TEST) else {
        return;
    };
    world.run(&shell("true")).exited(0);
    // Who they are: the API and the audit writer are no root, and not each other.
    let family = host::descendants(world.pid());
    let api = family
        .iter()
        .find(|process| process.pid == world.pid())
        .expect("the API");
    let writer = family
        .iter()
        .find(|process| process.command_line.contains("audit-writer"));
    assert_eq!(
        (api.uid, writer.expect("the audit writer").uid),
        (API, AUDIT),
        "{family:?}"
    );

    let folder = world.state_dir().join("audit");
    let log = folder.join("00000001.jsonl");
    let before = fs::read(&log).expect("the log");
    let owner = fs::metadata(&log).expect("the log");
    assert_eq!(
        (owner.uid(), owner.gid(), owner.mode() & 0o777),
        (AUDIT, API, 0o640)
    );

    let as_api = |code: &str| {
        let status = Command::new("/bin/sh")
            .args(["-c", code])
            .uid(API)
            .gid(API)
            .current_dir(&folder)
            .status();
        status.expect("a shell").success()
    };
    // The control: it reads it, as it does for those who ask it.
    assert!(as_api(
        "read line < 00000001.jsonl && test -r head.json -a -r key.pub"
    ));
    for act in [
        "echo x >> 00000001.jsonl",
        ": > 00000001.jsonl",
        "rm -f 00000001.jsonl",
        "mv 00000001.jsonl x",
        "chmod 666 00000001.jsonl",
        "echo x > 00000002.jsonl",
        "echo x > head.json",
        "rm -f head.json",
        "cat key.pem",
        "mv ../audit ../other",
        "rm -rf ../audit",
    ] {
        assert!(
            !as_api(&format!("{{ {act}; }} 2>/dev/null")),
            "the API's user may: {act}"
        );
    }
    let after = fs::read(&log).expect("the log is still there");
    assert!(after.starts_with(&before));
    world.cli(&["audit", "verify"]).ended(0);
}

#[test]
fn no_result_comes_before_its_record() {
    const TEST: &str = "audit::no_result_comes_before_its_record";
    let Some(world) = World::start(TEST) else {
        return;
    };
    let family = host::descendants(world.pid());
    let writer = family
        .iter()
        .find(|process| process.command_line.contains("audit-writer"));
    let writer = Pid::from_raw(writer.expect("the audit writer").pid);
    let client = world.client();
    let request = message(&shell("echo done"));
    world.wait(async {
        client.run(request.clone()).await.expect("a result");
        kill(writer, Signal::SIGSTOP).expect("stop the audit writer");
        let mut run = Box::pin(client.run(request));
        let early = tokio::time::timeout(Duration::from_millis(1_500), &mut run).await;
        kill(writer, Signal::SIGCONT).expect("let it go on");
        assert!(early.is_err(), "a result without its record: {early:?}");
        let result = run.await.expect("a result, now that it is recorded");
        assert_eq!(result.stdout, b"done\n");
    });
}
