//! Every bad input of a request gives an error that names field, value and what is allowed.

use std::collections::BTreeMap;

use policies::Catalog;
use proto::v1;
use tonic::Code;

use super::{Offer, payload_sha256, run_request};
use crate::config::{Names, Role};
use crate::grpc::auth::Session;
use crate::grpc::status::ApiError;
use crate::policy_set::PolicySet;
use crate::run::request::{Caller, Request};

fn session() -> Session {
    Session {
        caller: Caller {
            principal: "p".into(),
            tenant: "t".into(),
        },
        roles: vec![Role::Run],
        policies: Names::All,
        images: Names::All,
        runs_max: None,
    }
}

fn policies() -> PolicySet {
    let small = "extends = \"python\"\n[limits]\nfiles_max = 20\ndisk_bytes_max = \"1 MiB\"\n";
    PolicySet::new(Catalog::from_documents([("small", small)]).expect("catalog"))
}

fn convert_as(message: v1::RunRequest, session: &Session) -> Result<Request, ApiError> {
    let policies = policies();
    let offer = Offer {
        policies: &policies,
        images: &["host"],
    };
    run_request(message, session, offer, "run-1".into())
}

pub(super) fn convert(message: v1::RunRequest) -> Result<Request, ApiError> {
    convert_as(message, &session())
}

pub(super) fn good() -> v1::RunRequest {
    v1::RunRequest {
        policy: "python".into(),
        argv: vec!["python3".into(), "a.py".into()],
        ..v1::RunRequest::default()
    }
}

pub(super) fn file(content: &[u8]) -> v1::File {
    v1::File {
        content: content.to_vec(),
        mode: None,
    }
}

pub(super) fn with_file(path: &str) -> v1::RunRequest {
    v1::RunRequest {
        files: BTreeMap::from([(path.to_owned(), file(b"x"))]),
        ..good()
    }
}

pub(super) fn with_verify(verify: v1::Verify) -> v1::RunRequest {
    v1::RunRequest {
        verify: Some(verify),
        ..with_file("a.py")
    }
}

fn with_limits(limits: v1::Limits) -> v1::RunRequest {
    v1::RunRequest {
        limits: Some(limits),
        ..good()
    }
}

pub(super) fn asserts() -> v1::Verify {
    v1::Verify {
        kind: v1::VerifyKind::Asserts.into(),
        file: "a.py".into(),
        code: "assert f()".into(),
        ..v1::Verify::default()
    }
}

/// Checks reason, field and some words of the message.
pub(super) fn refused(message: v1::RunRequest, reason: &str, field: &str, words: &[&str]) {
    let error = match convert(message) {
        Ok(request) => panic!("{reason}: accepted as {request:?}"),
        Err(error) => error,
    };
    assert_eq!(
        (error.reason, error.field.as_deref()),
        (reason, Some(field)),
        "{error}"
    );
    assert!(error.message.starts_with(field), "{error}");
    for word in words {
        assert!(
            error.message.contains(word),
            "{:?} lacks {word:?}",
            error.message
        );
    }
}

#[test]
fn a_good_request_gets_defaults() {
    let request = convert(good()).expect("good");
    assert_eq!(
        (request.id.as_str(), request.run_id.as_str()),
        ("run-1", "run-1")
    );
    assert_eq!(
        (request.image.as_str(), request.cwd.as_str()),
        ("host", "/workspace")
    );
    assert_eq!(request.argv, [b"python3".to_vec(), b"a.py".to_vec()]);
    assert_eq!(request.stdin, None);
    assert_eq!(request.policy_sha256, request.policy.sha256_hex());
    assert_eq!(request.limits.wall_ms_max, request.policy.defaults.wall_ms);
}

#[test]
fn bad_names_of_things_are_refused_with_the_known_ones() {
    let policy = |policy: &str| v1::RunRequest {
        policy: policy.into(),
        ..good()
    };
    refused(
        policy("pyton"),
        "POLICY_UNKNOWN",
        "policy",
        &["\"pyton\"", "shell", "did you mean \"python\"?"],
    );
    refused(policy(""), "POLICY_MISSING", "policy", &["python"]);
    let image = v1::RunRequest {
        image: "debian".into(),
        ..good()
    };
    refused(image, "IMAGE_UNKNOWN", "image", &["\"debian\"", "host"]);
    let both = v1::RunRequest {
        policy_document: Some("extends = \"base\"".into()),
        ..good()
    };
    refused(both, "POLICY_TWICE", "policy_document", &["only one"]);
    let tier = v1::RunRequest {
        tier: v1::Tier::Wasm.into(),
        ..good()
    };
    refused(tier, "TIER_UNAVAILABLE", "tier", &["container"]);
    refused(
        v1::RunRequest { tier: 77, ..good() },
        "TIER_UNKNOWN",
        "tier",
        &["77"],
    );
}

#[test]
fn bad_names_and_numbers_of_a_request_are_refused() {
    let id = v1::RunRequest {
        id: "two words".into(),
        ..good()
    };
    refused(id, "NAME_INVALID", "id", &["\"two words\"", "256"]);
    let id = v1::RunRequest {
        id: "x".repeat(257),
        ..good()
    };
    refused(id, "NAME_INVALID", "id", &["256"]);
    let key = v1::RunRequest {
        idempotency_key: "ü".into(),
        ..good()
    };
    refused(key, "NAME_INVALID", "idempotency_key", &["ASCII"]);
    let labels = BTreeMap::from([("k".to_owned(), "v".repeat(300))]);
    refused(
        v1::RunRequest { labels, ..good() },
        "LABEL_INVALID",
        "labels[\"k\"]",
        &["256"],
    );
    let trace = v1::RunRequest {
        traceparent: "00-1-2-3".into(),
        ..good()
    };
    refused(trace, "TRACEPARENT_INVALID", "traceparent", &["32 hex"]);
    let priority = v1::RunRequest {
        priority: 5000,
        ..good()
    };
    refused(
        priority,
        "PRIORITY_OUT_OF_RANGE",
        "priority",
        &["5000", "-1000..=1000"],
    );
    let deadline = v1::RunRequest {
        deadline_ms: u64::MAX,
        ..good()
    };
    refused(
        deadline,
        "DEADLINE_OUT_OF_RANGE",
        "deadline_ms",
        &["86400000"],
    );
}

#[test]
fn inline_policies_are_read_and_may_only_narrow_what_the_caller_may_use() {
    let inline = |document: &str| v1::RunRequest {
        policy: String::new(),
        policy_document: Some(document.into()),
        ..good()
    };
    let narrow = convert(inline("extends = \"python\"\n[limits]\npids_max = 8\n")).expect("narrow");
    assert_eq!(narrow.limits.pids_max, 8);
    refused(
        inline("extnds = \"python\""),
        "POLICY_UNREADABLE",
        "policy_document",
        &["extnds"],
    );
    refused(
        inline("name = \"x\""),
        "POLICY_REFUSED",
        "policy_document",
        &["extend"],
    );
    let wider = "extends = \"python\"\n[limits]\npids_max = 100000\n";
    refused(
        inline(wider),
        "POLICY_REFUSED",
        "policy_document",
        &["pids_max", "wider"],
    );
    let only_shell = Session {
        policies: Names::Only(["shell".to_owned()].into()),
        ..session()
    };
    let error = convert_as(inline("extends = \"python\""), &only_shell).expect_err("not its own");
    assert_eq!(error.reason, "POLICY_UNKNOWN");
    let error = convert_as(good(), &only_shell).expect_err("not its own");
    assert!(error.message.contains("known: shell"), "{error}");
}

#[test]
fn what_this_build_cannot_enforce_is_refused() {
    let document = "extends = \"base\"\n[code]\nimports_deny = [\"ctypes\"]\n";
    let message = v1::RunRequest {
        policy: String::new(),
        policy_document: Some(document.into()),
        ..good()
    };
    let error = convert(message).expect_err("not enforceable");
    assert_eq!(error.reason, "POLICY_NOT_ENFORCEABLE", "{error}");
    assert_eq!(error.code, Code::FailedPrecondition);
    assert!(error.message.contains("code.imports_deny"), "{error}");
}

#[test]
fn argv_is_checked() {
    let argv = |argv: &[&str]| v1::RunRequest {
        argv: argv.iter().map(|text| (*text).to_owned()).collect(),
        ..good()
    };
    refused(argv(&[]), "ARGV_EMPTY", "argv", &["empty", "verify"]);
    refused(argv(&[""]), "ARGV_EMPTY", "argv[0]", &["name a program"]);
    refused(argv(&["a", "b\0c"]), "ARGUMENT_NUL", "argv[1]", &["NUL"]);
    refused(
        argv(&["a", &"x".repeat(10 << 20)]),
        "ARGUMENT_TOO_LONG",
        "argv[1]",
        &["10485760", "131072"],
    );
    let many: Vec<String> = (0..20).map(|_| "x".repeat(100_000)).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    refused(
        argv(&many),
        "ARGUMENTS_TOO_LONG",
        "argv",
        &["2000020", "1048576"],
    );
    let both = v1::RunRequest {
        argv_bytes: vec![vec![0xff]],
        ..good()
    };
    refused(both, "ARGV_TWICE", "argv_bytes", &["only one"]);
    let bytes = v1::RunRequest {
        argv: vec![],
        argv_bytes: vec![vec![b'a'], vec![0xff]],
        ..good()
    };
    assert_eq!(convert(bytes).expect("bytes").argv[1], [0xff]);
}

#[test]
fn environment_and_folder_are_checked() {
    let env = |name: &str, value: &str| v1::RunRequest {
        env: BTreeMap::from([(name.to_owned(), value.to_owned())]),
        ..good()
    };
    refused(env("", "x"), "ENV_NAME_INVALID", "env[\"\"]", &["empty"]);
    refused(
        env("A=B", "x"),
        "ENV_NAME_INVALID",
        "env[\"A=B\"]",
        &["`=`"],
    );
    refused(env("A", "x\0"), "ARGUMENT_NUL", "env[\"A\"]", &["NUL"]);
    refused(
        env("A", &"x".repeat(200_000)),
        "ARGUMENT_TOO_LONG",
        "env[\"A\"]",
        &["131072"],
    );
    for cwd in ["work", "/workspace/../etc", "/a\0b"] {
        let message = v1::RunRequest {
            cwd: cwd.into(),
            ..good()
        };
        refused(message, "CWD_INVALID", "cwd", &["absolute"]);
    }
    let stdin = v1::RunRequest {
        stdin: Some(vec![0; (64 << 20) + 1]),
        ..good()
    };
    refused(stdin, "STDIN_TOO_LARGE", "stdin", &["67108865", "67108864"]);
}

#[test]
fn limits_of_zero_negative_or_beyond_the_policy_are_refused() {
    for value in [0, -5, i64::MAX] {
        let limits = v1::Limits {
            wall_ms_max: Some(value),
            ..v1::Limits::default()
        };
        let number = value.to_string();
        refused(
            with_limits(limits),
            "LIMIT_OUT_OF_RANGE",
            "limits.wall_ms_max",
            &[&number, "10..="],
        );
        let limits = v1::Limits {
            memory_bytes_max: Some(value),
            ..v1::Limits::default()
        };
        refused(
            with_limits(limits),
            "LIMIT_OUT_OF_RANGE",
            "limits.memory_bytes_max",
            &[&number],
        );
        let limits = v1::Limits {
            open_files_max: Some(value),
            ..v1::Limits::default()
        };
        refused(
            with_limits(limits),
            "LIMIT_OUT_OF_RANGE",
            "limits.open_files_max",
            &[&number],
        );
    }
    let limits = v1::Limits {
        wall_ms_max: Some(2_000),
        ..v1::Limits::default()
    };
    assert_eq!(
        convert(with_limits(limits))
            .expect("in range")
            .limits
            .wall_ms_max,
        2_000
    );
}

#[test]
fn the_payload_of_a_key_is_everything_but_the_key_and_the_trace() {
    let one = v1::RunRequest {
        idempotency_key: "a".into(),
        traceparent: "x".into(),
        ..good()
    };
    let two = v1::RunRequest {
        idempotency_key: "b".into(),
        ..good()
    };
    assert_eq!(payload_sha256(&one), payload_sha256(&two));
    let other = v1::RunRequest {
        priority: 1,
        ..good()
    };
    assert_ne!(payload_sha256(&one), payload_sha256(&other));
}

#[test]
fn sizes_are_read_alike_in_json_and_in_policies() {
    for text in [
        "0",
        "1",
        "512 MiB",
        "256M",
        "2GB",
        "3 kb",
        "1_000",
        "x",
        "",
        "9 parsecs",
        "-1",
        "1.5 GiB",
    ] {
        let json = proto::size::parse_size_bytes(text).ok();
        assert_eq!(json, policies::parse_size_bytes(text).ok(), "{text:?}");
    }
}
