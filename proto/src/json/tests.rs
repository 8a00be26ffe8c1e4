//! The JSON form: the contract's examples, every kind of error, and round trips.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{JsonError, from_json, from_json_value, to_json};
use crate::v1::{
    CollectedFile, Ending, EndingKind, File, Isolation, Limits, OutputStream, RunEvent, RunOutput,
    RunRequest, RunResult, Verdict, Verify, VerifyKind, run_event,
};

fn request(text: &str) -> RunRequest {
    match from_json(text) {
        Ok(request) => request,
        Err(error) => panic!("{text}: {error}"),
    }
}

fn problem(text: &str) -> String {
    match from_json::<RunRequest>(text) {
        Ok(request) => panic!("{text} was read as {request:?}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_word_with_nothing_in_common_is_no_slip() {
    let known = ["python", "c", "go", "rust"].map(str::to_owned);
    let nearest = |wrong| super::nearest(wrong, &known);
    assert_eq!(nearest("rs"), None);
    assert_eq!(nearest("js"), None);
    assert_eq!(nearest("pyton").as_deref(), Some("python"));
    assert_eq!(nearest("rus").as_deref(), Some("rust"));
}

#[test]
fn reads_the_batch_line_of_the_contract() {
    let line = r#"{"id":"HumanEval/0","policy":"python","files":{"solution.py":"def f(): pass"},
        "argv":["python3","solution.py"],"verify":{"kind":"asserts","file":"solution.py",
        "code":"check(f)"},"limits":{"wall_ms_max":10000}}"#;
    let request = request(line);
    assert_eq!(request.id, "HumanEval/0");
    assert_eq!(request.argv, ["python3", "solution.py"]);
    assert_eq!(request.files["solution.py"].content, b"def f(): pass");
    assert_eq!(request.files["solution.py"].mode, None);
    let verify = request.verify.expect("verify");
    assert_eq!(verify.kind(), VerifyKind::Asserts);
    assert_eq!(request.limits.expect("limits").wall_ms_max, Some(10_000));
}

#[test]
fn reads_every_form_of_bytes_and_files() {
    let request = request(
        r#"{"stdin_base64":"/wA=","argv_bytes":["a",{"base64":"/w=="}],
        "files":{"a":{"text":"x","mode":493},"b":{"base64":"AAE=","mode":"0755"},"c":{"text":""}}}"#,
    );
    assert_eq!(request.stdin.as_deref(), Some(&[0xff, 0][..]));
    assert_eq!(request.argv_bytes, [vec![b'a'], vec![0xff]]);
    assert_eq!(
        request.files["a"],
        File {
            content: b"x".to_vec(),
            mode: Some(0o755)
        }
    );
    assert_eq!(
        request.files["b"],
        File {
            content: vec![0, 1],
            mode: Some(0o755)
        }
    );
    assert_eq!(
        request.files["c"],
        File {
            content: vec![],
            mode: None
        }
    );
}

#[test]
fn reads_sizes_only_where_a_size_is_meant() {
    let limits = request(r#"{"limits":{"memory_bytes_max":"512 MiB","disk_bytes_max":7}}"#).limits;
    let limits = limits.expect("limits");
    assert_eq!(
        (limits.memory_bytes_max, limits.disk_bytes_max),
        (Some(512 << 20), Some(7))
    );
    assert!(
        problem(r#"{"limits":{"wall_ms_max":"10 MiB"}}"#)
            .starts_with("limits.wall_ms_max: \"10 MiB\"")
    );
    let bad = problem(r#"{"limits":{"memory_bytes_max":"12 parsecs"}}"#);
    assert!(
        bad.contains("memory_bytes_max") && bad.contains("parsecs"),
        "{bad}"
    );
}

#[test]
fn a_test_may_be_its_code_alone() {
    let request = request(r#"{"verify":{"tests":["assert f()",{"id":"b","code":"assert g()"}]}}"#);
    let tests = request.verify.expect("verify").tests;
    assert_eq!(
        (tests[0].id.as_str(), tests[0].code.as_str()),
        ("", "assert f()")
    );
    assert_eq!(
        (tests[1].id.as_str(), tests[1].code.as_str()),
        ("b", "assert g()")
    );
}

#[test]
fn absence_is_null_or_nothing() {
    assert_eq!(
        request(r#"{"limits":null,"stdin":null,"verify":null}"#),
        RunRequest::default()
    );
    assert_eq!(request("{}"), RunRequest::default());
    assert_eq!(request(r#"{"stdin":""}"#).stdin, Some(vec![]));
}

/// Input, and what its refusal says.
const REFUSED: &[(&str, &[&str])] = &[
    (
        r#"{"polcy":"x"}"#,
        &["polcy: unknown field", "did you mean \"policy\"?"],
    ),
    (
        r#"{"limits":{"wall_ms":1}}"#,
        &[
            "limits.wall_ms: unknown field",
            "did you mean \"wall_ms_max\"?",
        ],
    ),
    (
        r#"{"argv":"ls"}"#,
        &["argv: \"ls\" is not allowed", "a list"],
    ),
    (
        r#"{"argv":["ls",7]}"#,
        &["argv[1]: 7 is not allowed", "text"],
    ),
    (r#"{"env":{"A":1}}"#, &["env[\"A\"]: 1", "text"]),
    (r#"{"priority":1.5}"#, &["priority: 1.5", "whole number"]),
    (
        r#"{"priority":3000000000}"#,
        &["priority: 3000000000", "2147483647"],
    ),
    (r#"{"deadline_ms":-1}"#, &["deadline_ms: -1", "from 0"]),
    (
        r#"{"verify":{"kind":"assert"}}"#,
        &[
            "verify.kind: \"assert\"",
            "exit_code, stdout, asserts",
            "did you mean",
        ],
    ),
    (r#"{"verify":{"kind":"unspecified"}}"#, &["verify.kind"]),
    (r#"{"verify":{"kind":3}}"#, &["verify.kind: 3", "asserts"]),
    (r#"{"id":"a","id":"b"}"#, &["id: given twice"]),
    (
        r#"{"files":{"a":"1","a":"2"}}"#,
        &["files[\"a\"]: given twice"],
    ),
    (
        r#"{"stdin":"a","stdin_base64":"YQ=="}"#,
        &["stdin_base64: given twice, also as \"stdin\""],
    ),
    (r#"{"id_base64":"YQ=="}"#, &["id_base64: unknown field"]),
    (
        r#"{"stdin_base64":"?"}"#,
        &["stdin_base64: \"?\"", "base64 text"],
    ),
    (
        r#"{"files":{"a":{"mode":7}}}"#,
        &["files[\"a\"]", "\"text\" or \"base64\""],
    ),
    (
        r#"{"files":{"a":{"text":"","base64":""}}}"#,
        &["given twice, also as \"text\""],
    ),
    (
        r#"{"files":{"a":{"text":"","mode":4095}}}"#,
        &["files[\"a\"].mode: 4095", "0 to 511"],
    ),
    (
        r#"{"files":{"a":{"text":"","mod":1}}}"#,
        &["files[\"a\"].mod: unknown field", "\"mode\""],
    ),
    (r#"{"files":{"a":null}}"#, &["files[\"a\"]: null"]),
    (r#"{"files":["a"]}"#, &["files: a list of 1", "an object"]),
    ("[]", &["the whole value: a list of 0", "an object"]),
    ("{\n  x}", &["line 2, column 3: not valid JSON"]),
    ("", &["line 1, column 0: not valid JSON"]),
    ("{} {}", &["line 1, column 4: not valid JSON"]),
];

#[test]
fn refusals_name_path_value_and_what_is_allowed() {
    for (text, parts) in REFUSED {
        let shown = problem(text);
        for part in *parts {
            assert!(shown.contains(part), "{text}: {shown:?} lacks {part:?}");
        }
    }
}

#[test]
fn a_long_value_is_cut_in_the_message() {
    let shown = problem(&json!({ "argv": "x".repeat(5_000_000) }).to_string());
    assert!(
        shown.len() < 300 && shown.contains("4999940 bytes more"),
        "{}",
        shown.len()
    );
}

#[test]
fn two_members_of_a_oneof_are_refused() {
    let error = from_json::<RunEvent>(r#"{"queued":{},"started":{}}"#).expect_err("two members");
    assert_eq!(
        error,
        JsonError::Duplicate {
            path: "started".into(),
            other: Some("queued".into())
        }
    );
}

#[test]
fn writes_the_shape_of_the_contract() {
    let result = RunResult {
        id: "HumanEval/0".into(),
        ending: Some(Ending {
            kind: EndingKind::Exited.into(),
            code: Some(0),
            ..Ending::default()
        }),
        verdict: Some(Verdict {
            reward: Some(0.0),
            ..Verdict::default()
        }),
        stdout: b"hi\n".to_vec(),
        stderr: vec![0xff],
        ..RunResult::default()
    };
    let json = to_json(&result).expect("json");
    assert_eq!(json["ending"], json!({ "kind": "exited", "code": 0 }));
    assert_eq!(json["verdict"]["reward"], json!(0.0));
    assert_eq!(json["verdict"].get("outcome"), None);
    assert_eq!(json["stdout"], "hi\n");
    assert_eq!(
        (json.get("stderr"), &json["stderr_base64"]),
        (None, &json!("/w=="))
    );
    assert_eq!(json["denials"], json!([]));
    assert_eq!(json.get("error"), None);
    assert_eq!(json.get("usage"), None);
}

#[test]
fn an_absent_reward_stays_absent() {
    let json = to_json(&Verdict::default()).expect("json");
    assert_eq!(json.get("reward"), None);
    assert_eq!(
        from_json_value::<Verdict>(&json).expect("verdict").reward,
        None
    );
}

fn name() -> impl Strategy<Value = String> {
    "[a-z./]{1,8}"
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        any::<Vec<u8>>(),
        any::<String>().prop_map(String::into_bytes)
    ]
}

prop_compose! {
    fn any_file()(content in bytes(), mode in proptest::option::of(0_u32..=0o777)) -> File {
        File { content, mode }
    }
}

prop_compose! {
    fn any_request()(
        id in any::<String>(),
        files in proptest::collection::btree_map(name(), any_file(), 0..4),
        argv_bytes in proptest::collection::vec(bytes(), 0..4),
        env in proptest::collection::btree_map(any::<String>(), any::<String>(), 0..4),
        stdin in proptest::option::of(bytes()),
        memory in proptest::option::of(any::<i64>()),
        tolerance in proptest::option::of(-1e300_f64..1e300),
        kind in 0_i32..4,
        (priority, deadline_ms) in (any::<i32>(), any::<u64>()),
    ) -> RunRequest {
        RunRequest {
            id, files, argv_bytes, env, stdin, priority, deadline_ms,
            limits: Some(Limits { memory_bytes_max: memory, ..Limits::default() }),
            verify: Some(Verify {
                kind,
                float_tolerance: tolerance,
                isolation: Isolation::Shared.into(),
                ..Verify::default()
            }),
            ..RunRequest::default()
        }
    }
}

prop_compose! {
    fn any_result()(
        (stdout, stderr) in (bytes(), bytes()),
        kind in 0_i32..13,
        code in proptest::option::of(any::<i32>()),
        reward in proptest::option::of(0.0_f64..=1.0),
        metrics in proptest::collection::btree_map(name(), any::<f64>().prop_filter("equal to itself", |v| !v.is_nan()), 0..3),
        files in proptest::collection::vec((name(), bytes(), any::<u32>()), 0..3),
    ) -> RunResult {
        RunResult {
            stdout, stderr,
            ending: Some(Ending { kind, code, ..Ending::default() }),
            verdict: Some(Verdict { reward, metrics, ..Verdict::default() }),
            files: files.into_iter().map(|(path, content, mode)| CollectedFile { path, content, mode }).collect(),
            ..RunResult::default()
        }
    }
}

proptest! {
    #[test]
    fn requests_survive_the_round_trip_through_text(request in any_request()) {
        let text = to_json(&request).expect("json").to_string();
        prop_assert_eq!(from_json::<RunRequest>(&text).expect(&text), request);
    }

    #[test]
    fn results_survive_the_round_trip(result in any_result()) {
        let json = to_json(&result).expect("json");
        prop_assert_eq!(from_json_value::<RunResult>(&json).expect("result"), result);
    }

    #[test]
    fn events_survive_the_round_trip(data in bytes(), seq in any::<u64>()) {
        let event = RunEvent {
            event: Some(run_event::Event::Output(RunOutput {
                stream: OutputStream::Stderr.into(),
                seq,
                data,
            })),
        };
        let json = to_json(&event).expect("json");
        prop_assert_eq!(from_json_value::<RunEvent>(&json).expect("event"), event);
    }

    #[test]
    fn no_text_brings_the_reader_down(text in any::<String>()) {
        drop(from_json::<RunRequest>(&text));
        drop(from_json_value::<RunRequest>(&json!({ "files": { text.clone(): text } })));
    }
}

#[test]
fn an_unknown_enum_number_of_a_newer_peer_is_shown_as_number() {
    let json = to_json(&Ending {
        kind: 99,
        ..Ending::default()
    })
    .expect("json");
    assert_eq!(json, json!({ "kind": 99 }));
}

#[test]
fn every_message_has_a_description() {
    let empty: BTreeMap<String, Value> = BTreeMap::new();
    assert_eq!(
        serde_json::to_value(empty).expect("value"),
        to_json(&crate::v1::CapabilitiesRequest {}).expect("json"),
    );
}
