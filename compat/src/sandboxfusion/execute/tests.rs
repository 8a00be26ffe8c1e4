//! Whole requests against a scripted daemon.

use proto::v1::{CollectedFile, EndingKind, MissingFile};
use serde_json::json;

use super::*;
use crate::testing::{Scripted, built, ending, exited, ran};

fn executor(daemon: &Arc<Scripted>) -> Executor {
    let settings = Settings {
        output_bytes_max: 16 << 20,
        ..Settings::default()
    };
    let daemon = Arc::clone(daemon);
    Executor::new(daemon, settings, None)
}

async fn ask(daemon: &Arc<Scripted>, body: Value) -> Result<Answer, Failed> {
    executor(daemon).run_code(body.to_string().as_bytes()).await
}

fn python() -> Value {
    json!({ "code": "print(1)", "language": "python" })
}

fn cpp() -> Value {
    json!({ "code": "int main() {}", "language": "cpp" })
}

#[tokio::test]
async fn a_script_has_no_compile_result() {
    let daemon = Scripted::new([Ok(ran(exited(0), "1\n"))]);
    let answer = ask(&daemon, python()).await.unwrap();
    assert_eq!(answer.status, Status::Success);
    assert_eq!(answer.compile_result, None);
    assert_eq!(answer.run_result.unwrap().stdout, "1\n");
    assert_eq!(answer.executor_pod_name.as_deref(), Some("node-1"));
    assert_eq!(daemon.asked().len(), 1);
}

#[tokio::test]
async fn what_does_not_compile_is_not_run() {
    for failed in [exited(1), ending(EndingKind::WallTimeUp)] {
        let daemon = Scripted::new([Ok(ran(failed, ""))]);
        let answer = ask(&daemon, cpp()).await.unwrap();
        assert_eq!(answer.status, Status::Failed);
        assert!(answer.compile_result.is_some());
        assert_eq!(answer.run_result, None);
        assert_eq!(daemon.asked().len(), 1);
    }
}

#[tokio::test]
async fn what_was_built_is_run() {
    let daemon = Scripted::new([Ok(built("rollcage-program")), Ok(ran(exited(7), ""))]);
    let answer = ask(&daemon, cpp()).await.unwrap();
    assert_eq!(answer.status, Status::Failed);
    assert_eq!(answer.compile_result.unwrap().return_code, Some(0));
    assert_eq!(answer.run_result.unwrap().return_code, Some(7));
    let asked = daemon.asked();
    assert_eq!(asked[1].files["rollcage-program"].content, b"program");
}

#[tokio::test]
async fn a_compiler_that_leaves_nothing_is_trouble() {
    let daemon = Scripted::new([Ok(ran(exited(0), ""))]);
    let failed = ask(&daemon, cpp()).await.unwrap_err();
    assert!(
        matches!(failed, Failed::Trouble(Trouble::Fault { .. })),
        "{failed:?}"
    );
}

#[tokio::test]
async fn trouble_in_either_stage_is_no_answer() {
    let daemon = Scripted::new([Err(Trouble::fault("no daemon"))]);
    assert!(ask(&daemon, cpp()).await.is_err());
    let daemon = Scripted::new([
        Ok(built("rollcage-program")),
        Ok(ran(ending(EndingKind::SandboxFailed), "")),
    ]);
    assert!(ask(&daemon, cpp()).await.is_err());
}

#[tokio::test]
async fn a_language_that_is_missing_is_told_with_those_that_are_there() {
    let daemon = Scripted::with_languages(&["bash", "python"], []);
    for language in ["cpp", "cobol"] {
        let body = json!({ "code": "", "language": language });
        let failed = ask(&daemon, body).await.unwrap_err().to_string();
        let told = "not available on this node; available: bash, python";
        assert_eq!(failed, format!("language = \"{language}\": {told}"));
    }
    assert!(daemon.asked().is_empty());
}

#[tokio::test]
async fn files_come_back_under_the_names_that_were_asked() {
    let mut result = ran(exited(0), "");
    result.result.files = vec![CollectedFile {
        path: "o".to_owned(),
        content: b"q".to_vec(),
        mode: 0o644,
    }];
    result.result.files_missing = vec![MissingFile {
        path: "l".to_owned(),
        reason: "is a link".to_owned(),
    }];
    let daemon = Scripted::new([Ok(result)]);
    let mut body = python();
    body["fetch_files"] = json!(["/workspace/o", "l"]);
    let answer = ask(&daemon, body).await.unwrap();
    assert_eq!(
        answer.files,
        BTreeMap::from([("/workspace/o".to_owned(), "cQ==".to_owned())])
    );
    assert_eq!(answer.message, "l: is a link");
}

#[tokio::test]
async fn more_than_the_policy_gives_is_refused_before_anything_runs() {
    let table = [
        ("run_timeout", json!(241)),
        ("memory_limit_MB", json!(4096)),
    ];
    for (field, value) in table {
        let daemon = Scripted::new([]);
        let mut body = python();
        body[field] = value;
        let failed = ask(&daemon, body).await.unwrap_err().to_string();
        assert!(failed.starts_with(field), "{failed}");
        assert!(failed.contains("policy python gives at most"), "{failed}");
        assert!(daemon.asked().is_empty());
    }
    let daemon = Scripted::new([]);
    let mut body = cpp();
    body["compile_timeout"] = json!(500);
    let failed = ask(&daemon, body).await.unwrap_err().to_string();
    assert!(failed.starts_with("compile_timeout"), "{failed}");
}

#[tokio::test]
async fn refusals_of_the_daemon_name_the_fields_of_this_wire() {
    let refused = |field: &str| {
        Err(Trouble::Refused {
            field: Some(field.to_owned()),
            message: format!("{field}: must not have `..`"),
        })
    };
    let daemon = Scripted::new([refused("collect[1]")]);
    let mut body = python();
    body["fetch_files"] = json!(["a", "../b"]);
    let failed = ask(&daemon, body).await.unwrap_err().to_string();
    assert_eq!(failed, "fetch_files[1] = \"../b\": must not have `..`");
    let daemon = Scripted::new([refused("files[\"../x\"]")]);
    let failed = ask(&daemon, python()).await.unwrap_err().to_string();
    assert_eq!(failed, "files[\"../x\"]: must not have `..`");
    let daemon = Scripted::new([refused("policy")]);
    let failed = ask(&daemon, python()).await.unwrap_err();
    assert!(
        matches!(failed, Failed::Trouble(Trouble::Refused { .. })),
        "{failed:?}"
    );
}

#[tokio::test]
async fn the_endpoint_s_own_names_are_not_to_be_had() {
    let daemon = Scripted::new([]);
    let mut body = cpp();
    body["files"] = json!({ "/workspace/rollcage-program": "" });
    let failed = ask(&daemon, body).await.unwrap_err();
    assert!(matches!(failed, Failed::Invalid(_)), "{failed:?}");
}

#[tokio::test]
async fn a_request_waits_for_its_turn_as_long_as_its_client_does() {
    let daemon = Scripted::new([Ok(ran(exited(0), ""))]);
    let mut body = python();
    body["compile_timeout"] = json!(7);
    body["run_timeout"] = json!(5);
    ask(&daemon, body).await.unwrap();
    let deadline_ms = daemon.asked()[0].deadline_ms;
    assert!((19_000..=20_000).contains(&deadline_ms), "{deadline_ms}");
}
