//! Arguments, and what becomes of a shell's result.

use super::*;

fn arguments(given: &Value) -> Arguments {
    Arguments::new(given.as_object().unwrap().clone())
}

#[test]
fn every_tool_says_what_it_takes() {
    let tools = all();
    let names: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
    assert_eq!(
        names,
        ["shell", "run_code", "write_file", "read_file", "list_files"]
    );
    for tool in tools {
        assert_eq!(tool.input_schema["type"], "object");
        assert_eq!(tool.input_schema["additionalProperties"], false);
    }
}

#[test]
fn a_wrong_argument_is_named() {
    let table = [
        (json!({}), "command: is required"),
        (json!({ "command": 5 }), "command = 5: must be a string"),
        (
            json!({ "command": "a", "timeout_seconds": 0 }),
            "timeout_seconds = 0",
        ),
        (
            json!({ "command": "a", "timeout_seconds": 241 }),
            "from 1 to 240",
        ),
        (
            json!({ "command": "a", "cwd": "/" }),
            "cwd: there is no such argument",
        ),
    ];
    for (given, part) in table {
        let mut taken = arguments(&given);
        let outcome = taken.text("command").and_then(|_| taken.seconds());
        let error = outcome.and_then(|_| taken.end()).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
}

fn ran(kind: pb::EndingKind) -> Ran {
    let result = pb::RunResult {
        ending: Some(pb::Ending {
            kind: kind.into(),
            code: Some(3),
            ..pb::Ending::default()
        }),
        files: vec![pb::CollectedFile {
            path: "made".to_owned(),
            content: b"x".to_vec(),
            mode: 0o755,
        }],
        ..pb::RunResult::default()
    };
    Ran {
        result,
        stdout: b"out".to_vec(),
        stderr: Vec::new(),
    }
}

#[test]
fn a_long_output_has_its_head_and_tail() {
    let (text, cut) = shortened(&[b'a'; OUTPUT_BYTES_MAX]);
    assert_eq!((text.len(), cut), (OUTPUT_BYTES_MAX, 0));
    let mut long = vec![b'a'; OUTPUT_BYTES_MAX / 2];
    long.extend(b"middle");
    long.extend([b'b'; OUTPUT_BYTES_MAX / 2]);
    let (text, cut) = shortened(&long);
    assert_eq!(cut, 6);
    assert!(text.starts_with('a') && text.ends_with('b'));
    assert!(text.contains("[6 bytes left out]") && !text.contains("middle"));
}

#[test]
fn a_shell_tells_how_it_ended_and_what_it_changed() {
    let mut workspace = Workspace::default();
    workspace.write("old", b"1".to_vec()).unwrap();
    let told = shell_result(ran(pb::EndingKind::Exited), &mut workspace).unwrap();
    assert_eq!(told["ending"], json!({ "kind": "exited", "code": 3 }));
    assert_eq!(told["stdout"], "out");
    assert_eq!(told["changed_files"], json!(["made", "old (removed)"]));
    assert_eq!(workspace.list(), json!([{ "path": "made", "bytes": 1 }]));
}

#[test]
fn trouble_changes_no_file_and_is_not_the_program_s_fault() {
    let mut workspace = Workspace::default();
    workspace.write("old", b"1".to_vec()).unwrap();
    let error = shell_result(ran(pb::EndingKind::SandboxFailed), &mut workspace).unwrap_err();
    assert!(
        error.to_string().contains("not the program's fault"),
        "{error}"
    );
    let mut half = ran(pb::EndingKind::Exited);
    half.result.files_missing = vec![pb::MissingFile {
        path: String::new(),
        reason: "the pipe broke".to_owned(),
    }];
    let told = shell_result(half, &mut workspace).unwrap();
    assert_eq!(told["not_kept"], json!([": the pipe broke"]));
    assert_eq!(workspace.read("old").unwrap(), "1");
}
