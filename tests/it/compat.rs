//! The SandboxFusion endpoint in front of a real daemon: what a program did is an answer, what the
//! daemon or the host did is 504, and no file leads out of the workspace.

mod bounds;
mod endpoint;
mod languages;
mod trainers;
mod trouble;

use serde_json::{Value, json};

use crate::world::World;
use endpoint::{Endpoint, Reply};

/// Time limits count also on a busy host, as that of the tests may be.
const COUNT: &[&str] = &["--busy-timeouts", "count"];

/// A daemon and an endpoint in front of it.
fn serve(test: &str, config: &str, options: &[&str]) -> Option<(World, Endpoint)> {
    let world = World::with_config(test, config)?;
    let endpoint = Endpoint::start(&world, options);
    Some((world, endpoint))
}

fn python(code: &str) -> Value {
    json!({ "code": code, "language": "python", "run_timeout": 60 })
}

fn with(mut body: Value, field: &str, value: Value) -> Value {
    body[field] = value;
    body
}

/// The labels of each run in the log.
fn admitted_labels(world: &World) -> Vec<Value> {
    let records = world.cli(&["--json", "audit", "query"]).ended(0).stdout();
    let records = records
        .lines()
        .map(|line| serde_json::from_str(line).expect("a record"));
    let admitted = records.filter(|record: &Value| record["event"] == "run_admitted");
    admitted
        .map(|record| record["data"]["labels"].clone())
        .collect()
}

/// Status of the answer, then status and exit code of both stages, `-` where there is none.
fn summary(reply: &Reply) -> String {
    assert_eq!(reply.code, 200, "{}", reply.body);
    let stage = |name: &str| match &reply.body[name] {
        Value::Null => "-".to_owned(),
        stage => format!(
            "{} {}",
            stage["status"].as_str().expect("text"),
            stage["return_code"]
        ),
    };
    let status = reply.body["status"].as_str().expect("a status");
    let stages = (stage("compile_result"), stage("run_result"));
    format!("{status}; {}; {}", stages.0, stages.1)
}

#[test]
fn the_status_rules_of_the_wire_hold() {
    let Some((_world, endpoint)) = serve("compat::the_status_rules_of_the_wire_hold", "", COUNT)
    else {
        return;
    };
    let cpp = |code: &str| json!({ "code": code, "language": "cpp", "compile_timeout": 60, "run_timeout": 60 });
    let seconds = |body: Value, value: u32| with(body, "run_timeout", json!(value));
    let memory = python("x = b'a' * (512 << 20)");
    let table = [
        (python("print(1)"), "Success; -; Finished 0"),
        (python("raise SystemExit(3)"), "Failed; -; Finished 3"),
        (python("("), "Failed; -; Finished 1"),
        (
            python("import os\nos.kill(os.getpid(), 11)"),
            "Failed; -; Finished -11",
        ),
        (
            seconds(python("import time\ntime.sleep(60)"), 1),
            "Failed; -; TimeLimitExceeded null",
        ),
        (
            with(memory, "memory_limit_MB", json!(64)),
            "Failed; -; Finished -9",
        ),
        (cpp("int main() {}"), "Success; Finished 0; Finished 0"),
        (
            cpp("int main() { return 4; }"),
            "Failed; Finished 0; Finished 4",
        ),
        (cpp("int main() { return x; }"), "Failed; Finished 1; -"),
        (
            seconds(cpp("int main() { for (volatile int i = 0;; i = 1); }"), 1),
            "Failed; Finished 0; TimeLimitExceeded null",
        ),
        (
            with(
                cpp("template<int N> struct A { A<N+1> a; }; A<0> a; int main() {}"),
                "memory_limit_MB",
                json!(64),
            ),
            "Failed; Finished 1; -",
        ),
    ];
    let bodies: Vec<Value> = table.iter().map(|(body, _)| body.clone()).collect();
    for (reply, (body, expected)) in endpoint.ask_at_once(&bodies).iter().zip(&table) {
        assert_eq!(summary(reply), *expected, "{body}\n{}", reply.body);
    }
}

#[test]
fn files_go_in_and_come_out_and_lead_nowhere_else() {
    let test = "compat::files_go_in_and_come_out_and_lead_nowhere_else";
    let Some((_world, endpoint)) = serve(test, "", &[]) else {
        return;
    };
    let code = "import os\nprint(open('a/b').read())\nos.symlink('/etc/passwd', 'link')\n\
                os.symlink('/etc', 'folder')\nopen('out', 'wb').write(bytes(range(256)))";
    let mut body = python(code);
    body["files"] = json!({ "a/b": "aGVsbG8=", "left out": null });
    let asked = ["out", "/workspace/out", "link", "folder/passwd", "none"];
    body["fetch_files"] = json!(asked);
    let reply = endpoint.ask(&body);
    assert_eq!(summary(&reply), "Success; -; Finished 0", "{}", reply.body);
    assert_eq!(reply.body["run_result"]["stdout"], "hello\n");
    let files = reply.body["files"].as_object().expect("files");
    let names: Vec<&String> = files.keys().collect();
    assert_eq!(names, ["/workspace/out", "out"]);
    let message = reply.body["message"].as_str().expect("a message");
    for missing in ["link", "folder/passwd", "none"] {
        assert!(message.contains(&format!("{missing}: ")), "{message}");
    }
    let tricks = [
        ("files", json!({ "../x": "" })),
        ("files", json!({ "/etc/x": "" })),
        ("files", json!({ "a/../../x": "" })),
        ("files", json!({ "a//b": "" })),
        ("files", json!({ "a": "", "a/b": "" })),
        ("fetch_files", json!(["../../etc/passwd"])),
        ("fetch_files", json!(["/etc/passwd"])),
        ("fetch_files", json!(["*"])),
    ];
    for (field, value) in tricks {
        let reply = endpoint.ask(&with(python("print(1)"), field, value));
        assert_eq!(reply.code, 422, "{}", reply.body);
        let blamed = reply.body["detail"][0]["loc"][1].as_str().expect("a field");
        assert!(blamed.starts_with(field), "{blamed}");
        assert!(reply.body["run_result"].is_null(), "{}", reply.body);
    }
}

#[test]
fn output_of_any_size_comes_whole_or_is_said_to_be_too_much() {
    let test = "compat::output_of_any_size_comes_whole_or_is_said_to_be_too_much";
    let Some((_world, endpoint)) = serve(test, "", &["--output-max", "8M"]) else {
        return;
    };
    for size in [120_000, 150_000, 5_000_000] {
        let code = format!("import sys\nsys.stdout.write('ab' * {})", size / 2);
        let reply = endpoint.ask(&python(&code));
        assert_eq!(summary(&reply), "Success; -; Finished 0");
        let stdout = reply.body["run_result"]["stdout"].as_str().expect("text");
        assert_eq!(stdout.len(), size);
        assert!(
            stdout.as_bytes().chunks(2).all(|pair| pair == b"ab"),
            "{size}"
        );
    }
    let reply = endpoint.ask(&python(
        "import sys\nwhile True: sys.stdout.write('a' * 65536)",
    ));
    assert_eq!(summary(&reply), "Failed; -; Finished -9");
    let message = reply.body["message"].as_str().expect("a message");
    assert!(
        message.contains("more output than 8388608 bytes"),
        "{message}"
    );
}

#[test]
fn a_child_in_the_background_delays_no_answer() {
    let test = "compat::a_child_in_the_background_delays_no_answer";
    let Some((_world, endpoint)) = serve(test, "", &[]) else {
        return;
    };
    // It holds standard output, in a session of its own; its end would come after every limit.
    let code = "import subprocess\n\
                subprocess.Popen(['sleep', '600'], start_new_session=True)\nprint('done')";
    let reply = endpoint.ask(&python(code));
    assert_eq!(summary(&reply), "Success; -; Finished 0");
    assert_eq!(reply.body["run_result"]["stdout"], "done\n");
}

#[test]
fn what_came_through_the_endpoint_is_in_the_log_like_any_run() {
    let test = "compat::what_came_through_the_endpoint_is_in_the_log_like_any_run";
    let Some((world, endpoint)) = serve(test, "", &[]) else {
        return;
    };
    let reply = endpoint.ask(&python("print(1)"));
    assert_eq!(summary(&reply), "Success; -; Finished 0");
    let labels = admitted_labels(&world);
    assert_eq!(labels.last(), Some(&json!([["endpoint", "sandboxfusion"]])));
    world.cli(&["audit", "verify"]).ended(0);
}
