//! Requests that cannot be: each refused with the field, the value and what is allowed, none of
//! them touching the others of its batch, and nothing left behind.

mod rows;

use std::fs::File;
use std::io::Write;
use std::time::Duration;

use serde_json::{Value, json};

use crate::wait;
use crate::world::World;
use rows::ROWS;

/// Nothing was made for any of it.
#[track_caller]
fn nothing_is_left(world: &World) {
    let groups = world.instance().sandbox_groups();
    assert!(groups.is_empty(), "{groups:?}");
    let running = world.instance().leased_processes();
    assert!(running.is_empty(), "{running:?}");
    // A run counts until its result is stored, a moment after it was told.
    let client = world.client();
    let look = || {
        let status = world.wait(client.status()).expect("a status");
        (status.runs_active, status.sandboxes_live)
    };
    let (found, _) = wait::until(Duration::from_secs(5), &(0, 0), look);
    assert_eq!(found, (0, 0), "active runs and live sandboxes");
}

#[test]
fn each_bad_request_of_a_batch_is_told_apart_and_the_rest_goes_on() {
    let test = "each_bad_request_of_a_batch_is_told_apart_and_the_rest_goes_on";
    let Some(world) = World::start(test) else {
        return;
    };
    let mut lines = String::new();
    for (number, row) in ROWS.iter().enumerate() {
        let mut request = json!({ "policy": "python", "argv": ["python3", "-c", "print(1)"] });
        let change: Value = serde_json::from_str(row.change).expect("a change is JSON");
        for (field, value) in change.as_object().expect("a change is an object") {
            if value.is_null() {
                request.as_object_mut().expect("a request").remove(field);
            } else {
                request[field] = value.clone();
            }
        }
        if request.get("id").is_none() {
            request["id"] = json!(format!("row-{number}"));
        }
        lines.push_str(&format!("{request}\n"));
    }
    lines.push_str(&format!(
        "{}\n",
        json!({ "id": "good", "policy": "python", "argv": ["python3", "-c", "print(2)"] })
    ));
    let (spoken, results) = world.batch(&lines);
    spoken.ended(0);
    assert_eq!(results.len(), ROWS.len() + 1);
    let mut wrong = Vec::new();
    for (number, row) in ROWS.iter().enumerate() {
        let line = number + 1;
        let Some(result) = results.iter().find(|result| result["line"] == json!(line)) else {
            wrong.push(format!("{}: no error with line {line}", row.change));
            continue;
        };
        let error = &result["error"];
        let message = error["message"].as_str().unwrap_or("");
        if error["field"] != json!(row.field) {
            wrong.push(format!(
                "{}: blames {} and not {}: {message}",
                row.change, error["field"], row.field
            ));
        }
        let missing: Vec<&&str> = row
            .says
            .iter()
            .filter(|part| !message.contains(**part))
            .collect();
        if !missing.is_empty() {
            wrong.push(format!(
                "{}: {message:?} does not say {missing:?}",
                row.change
            ));
        }
        if error["reason"].as_str().is_none_or(str::is_empty) || result.get("ending").is_some() {
            wrong.push(format!("{}: {result}", row.change));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    let good = results
        .iter()
        .find(|result| result["id"] == "good")
        .expect("the good one");
    assert_eq!(good["stdout"], "2\n", "{good}");
    nothing_is_left(&world);
}

#[test]
fn lines_that_are_no_requests_are_told_with_their_number() {
    let Some(world) = World::start("lines_that_are_no_requests_are_told_with_their_number") else {
        return;
    };
    let good = |id: &str| json!({ "id": id, "policy": "shell", "argv": ["echo", id] }).to_string();
    let lines = [
        good("first"),
        "no json".to_owned(),
        String::new(),
        "{\"id\": \"cut\", \"policy\": ".to_owned(),
        "[1, 2]".to_owned(),
        good("first"),
        "{\"id\": \"typo\", \"polcy\": \"shell\", \"argv\": [\"true\"]}".to_owned(),
        "{\"id\": \"twice\", \"policy\": \"shell\", \"policy\": \"python\", \"argv\": [\"true\"]}"
            .to_owned(),
        "{\"id\": \"wrong\", \"policy\": 7, \"argv\": [\"true\"]}".to_owned(),
        good("last"),
    ];
    let (spoken, results) = world.batch(&format!("{}\n", lines.join("\n")));
    spoken.ended(0);
    let error = |line: usize| {
        let result = results.iter().find(|result| result["line"] == json!(line));
        let result = result.unwrap_or_else(|| panic!("no error for line {line}: {results:?}"));
        assert!(result["ending"].is_null(), "{result}");
        (
            result["id"].as_str().expect("an id"),
            result["error"].clone(),
        )
    };
    for (line, id, reason, says) in [
        (2, "line-2", "NOT_JSON", "column"),
        (4, "line-4", "NOT_JSON", "column"),
        (5, "line-5", "", ""),
        (6, "first", "DUPLICATE_ID", "line 1"),
        (7, "typo", "FIELD_INVALID", "policy"),
        (8, "twice", "FIELD_INVALID", "twice"),
        (9, "wrong", "FIELD_INVALID", "7"),
    ] {
        let (of, error) = error(line);
        assert_eq!(of, id, "line {line}: {error}");
        assert!(
            error["reason"].as_str().expect("a reason").contains(reason),
            "line {line}: {error}"
        );
        assert!(
            error["message"].as_str().expect("a message").contains(says),
            "line {line}: {error}"
        );
    }
    for id in ["first", "last"] {
        let ran = results
            .iter()
            .filter(|result| result["id"] == id && result["stdout"] == format!("{id}\n"));
        assert_eq!(ran.count(), 1, "{id}");
    }
    assert_eq!(results.len(), 9);
    nothing_is_left(&world);
}

#[test]
fn what_is_too_large_is_told_and_never_held() {
    let Some(world) = World::start("what_is_too_large_is_told_and_never_held") else {
        return;
    };
    let mut file = File::create(world.work().join("large.bin")).expect("a file");
    // 200 MB that take no space on the disk.
    file.set_len(200_000_000).expect("make it large");
    file.flush().expect("flush");
    let spoken = world.cli(&[
        "run",
        "--put",
        "large.bin",
        "--policy",
        "shell",
        "--",
        "true",
    ]);
    spoken.ended(2);
    let said = spoken.stderr();
    assert!(
        said.contains("large.bin") && said.contains("64 MiB"),
        "{said}"
    );
    // The same as a line of a batch, with good lines around it.
    let good = |id: &str| {
        format!(
            "{}\n",
            json!({ "id": id, "policy": "shell", "argv": ["echo", id] })
        )
    };
    let mut lines = good("before");
    lines.push_str(&format!("{{\"id\":\"large\",\"policy\":\"shell\",\"argv\":[\"true\"],\"files\":{{\"x\":\"{}\"}}}}\n", "x".repeat(200_000_000)));
    lines.push_str(&good("after"));
    let (spoken, results) = world.batch(&lines);
    spoken.ended(0);
    assert_eq!(results.len(), 3);
    let large = results
        .iter()
        .find(|result| result["line"] == 2)
        .expect("an error for line 2");
    let message = large["error"]["message"].as_str().expect("a message");
    assert!(
        message.contains("64 MiB") && message.contains("200000"),
        "{message}"
    );
    for id in ["before", "after"] {
        let ran = results
            .iter()
            .find(|result| result["id"] == id)
            .expect("a result");
        assert_eq!(ran["stdout"], format!("{id}\n"));
    }
    // Files beyond the run's own disk.
    let small = json!({
        "id": "disk", "policy": "shell", "argv": ["true"],
        "files": { "x": "y".repeat(3 << 20) }, "limits": { "disk_bytes_max": 1 << 20 },
    });
    let (_, results) = world.batch(&format!("{small}\n"));
    let message = results[0]["error"]["message"].as_str().expect("a message");
    assert!(
        message.contains("files") && message.contains("1048576"),
        "{message}"
    );
    nothing_is_left(&world);
}

/// Options of `run`, the exit code they give, and parts of what is said.
const REFUSED: &[(&[&str], i32, &[&str])] = &[
    (&["--policy", "pyton"], 125, &["policy", "pyton", "python"]),
    (&["--image", "hots"], 125, &["image", "hots", "host"]),
    (
        &["--policy", "shell", "--time", "99h"],
        125,
        &["--time", "wall_ms_max", "5940 min", "4 min"],
    ),
    (
        &["--policy", "shell", "--memory", "1T"],
        125,
        &["--memory", "memory_bytes_max", "1024 GiB", "2 GiB"],
    ),
    (
        &["--policy", "shell", "--pids", "0"],
        125,
        &["pids_max", "0"],
    ),
    (
        &["--policy", "shell", "--pids", "65"],
        125,
        &["pids_max", "65", "64"],
    ),
    (&["--time", "0s"], 2, &["--time"]),
    (&["--time", "10"], 2, &["10s"]),
    (&["--memory", "lots"], 2, &["--memory", "lots"]),
    (&["--put", "absent.txt"], 2, &["absent.txt"]),
    (&["--env", "=x"], 2, &["NAME=VALUE"]),
    (&["--nonsense"], 2, &["--nonsense"]),
    (&["--gpu"], 2, &["--gpu"]),
    (&["--policy-file", "absent.toml"], 2, &["absent.toml"]),
];

#[test]
fn the_command_refuses_in_words_and_with_its_exit_code() {
    let Some(world) = World::start("the_command_refuses_in_words_and_with_its_exit_code") else {
        return;
    };
    let run = |options: &[&str]| {
        let mut all = vec!["run"];
        all.extend(options);
        all.extend(["--", "true"]);
        world.cli(&all)
    };
    for (options, code, says) in REFUSED {
        let spoken = run(options);
        assert_eq!(spoken.code, Some(*code), "{options:?}: {}", spoken.stderr());
        let said = spoken.stderr();
        let missing: Vec<&&str> = says.iter().filter(|part| !said.contains(**part)).collect();
        assert!(
            missing.is_empty(),
            "{options:?}: {said} does not say {missing:?}"
        );
        assert!(spoken.stdout().is_empty(), "{options:?}");
    }
    // Files: climbing out, and links.
    world.write("plain.txt", "x");
    for put in [
        "plain.txt:../x",
        "plain.txt:/etc/passwd",
        "plain.txt:a/../b",
    ] {
        let spoken = run(&["--policy", "shell", "--put", put]);
        assert!(
            matches!(spoken.code, Some(2 | 125)),
            "{put}: {:?}",
            spoken.code
        );
        assert!(
            spoken.stderr().contains("files") || spoken.stderr().contains("--put"),
            "{put}: {}",
            spoken.stderr()
        );
    }
    // As JSON, the same is a document.
    let spoken = world.cli(&["run", "--json", "--policy", "pyton", "--", "true"]);
    assert_eq!(spoken.ended(125).json()["error"]["field"], "policy");
    nothing_is_left(&world);
}

#[test]
fn what_leads_out_of_the_workspace_is_not_collected() {
    let Some(world) = World::start("what_leads_out_of_the_workspace_is_not_collected") else {
        return;
    };
    let outcome = world.run(&json!({
        "policy": "python",
        "argv": ["python3", "-c", r#"
import os
os.symlink("/etc", "etc")
os.symlink("/etc/passwd", "passwd")
os.symlink("..", "up")
os.symlink("real", "alias")
os.mkdir("real")
open("real/x", "w").write("x")
os.symlink("/proc/1/root", "init")
"#],
        "collect": ["etc/passwd", "passwd", "up/etc/passwd", "alias/x", "init/etc/shadow", "real/x"],
    }));
    outcome.exited(0);
    let files: Vec<&str> = outcome
        .result
        .files
        .iter()
        .map(|file| file.path.as_str())
        .collect();
    assert_eq!(files, ["real/x"]);
    let missing = &outcome.result.files_missing;
    assert_eq!(missing.len(), 5, "{missing:?}");
    assert!(
        missing.iter().all(|one| !one.reason.is_empty()),
        "{missing:?}"
    );
    // A working folder that is not there, or leads out.
    for cwd in ["/nowhere", "/workspace/none", "/etc/passwd"] {
        let outcome = world.try_run(&json!({ "policy": "shell", "argv": ["pwd"], "cwd": cwd }));
        match outcome {
            Ok(outcome) => assert!(outcome.stdout().is_empty(), "{cwd}: {:?}", outcome.ending),
            Err(error) => {
                let answer = error.answer().expect("an answer");
                assert_eq!(answer.field.as_deref(), Some("cwd"), "{answer:?}");
            }
        }
    }
    nothing_is_left(&world);
}
