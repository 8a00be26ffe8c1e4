//! Requests as they come over the wire, in both codings: what is accepted keeps every bound that is
//! promised, and a message that is printed is read the same.
//!
//! The first byte says how the rest is coded: 0 protobuf, else JSON.

use std::sync::LazyLock;

use prost::Message as _;
use sandbox_client::pb;
use sandboxd::config::{Names, Role};
use sandboxd::grpc::auth::Session;
use sandboxd::grpc::convert::{self, Offer};
use sandboxd::policy_set::PolicySet;
use sandboxd::run::request::{Caller, Request};

static POLICIES: LazyLock<PolicySet> = LazyLock::new(|| {
    // No such folder: the built-in ones alone.
    PolicySet::load(std::path::Path::new("/nonexistent/rollcage-fuzz")).expect("built-in policies")
});

const TEXTS: [&str; 6] = [
    r#"{"id":"t1","policy":"python","argv":["python3","-c","print(1)"],"limits":{"wall_ms_max":100,"memory_bytes_max":"64 MiB"}}"#,
    r#"{"policy":"python","files":{"s.py":"def f(): return 1","d/b":{"base64":"AAE="}},"verify":{"kind":"asserts","file":"s.py","code":"assert f() == 1"}}"#,
    r#"{"policy_document":"extends = \"shell\"\n[limits]\npids_max = 4\n","argv":["sh","-c","true"],"env":{"A":"b"},"cwd":"/tmp","collect":["*.txt","d/**"],"stdin":"x"}"#,
    r#"{"policy":"build","argv":["cc"],"tier":"container","image":"host","group":"g","priority":-5,"deadline_ms":9,"labels":{"a":"b"},"idempotency_key":"k","traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}"#,
    r#"{"policy":"shell","argv":["sh"],"verify":{"kind":"stdout","stdout":"1\n","float_tolerance":0.5}}"#,
    r#"{"policy":"shell","argv":["sh"],"verify":{"kind":"exit_code","exit_code":3}}"#,
];

pub(super) fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for text in TEXTS {
        seeds.push([b"{", &text.as_bytes()[1..]].concat());
        let message: pb::RunRequest = proto::json::from_json(text).expect("a request");
        seeds.push([vec![0], message.encode_to_vec()].concat());
    }
    seeds
}

pub(super) fn run(data: &[u8]) {
    let message = match data.split_first() {
        Some((0, rest)) => pb::RunRequest::decode(rest).ok(),
        _ => std::str::from_utf8(data)
            .ok()
            .and_then(|text| proto::json::from_json::<pb::RunRequest>(text).ok()),
    };
    let Some(message) = message else {
        return;
    };
    let coded = message.encode_to_vec();
    let again = pb::RunRequest::decode(coded.as_slice()).expect("what we encode decodes");
    assert!(again.encode_to_vec() == coded, "another message comes back");
    prints_and_reads(&message);
    let session = Session {
        caller: Caller {
            principal: "p".to_owned(),
            tenant: "t".to_owned(),
        },
        roles: vec![Role::Run],
        policies: Names::All,
        images: Names::All,
        runs_max: None,
    };
    let offer = Offer {
        policies: &POLICIES,
        images: &["host"],
    };
    match convert::run_request(message, &session, offer, "run-1".to_owned()) {
        Ok(request) => is_bounded(&request),
        Err(error) => assert!(!format!("{error:?}").is_empty()),
    }
}

/// A message as JSON, and back: the same message.
pub(super) fn prints_and_reads(message: &pb::RunRequest) {
    if only_protobuf_says_it(message) {
        return;
    }
    let printed = proto::json::to_json(message).expect("a message can be printed");
    let text = printed.to_string();
    match proto::json::from_json::<pb::RunRequest>(&text) {
        Ok(read) => assert_eq!(&read, message, "{text}"),
        Err(error) => panic!("cannot be read again: {error}\n{text}"),
    }
}

/// The number of an enumeration's value that does not exist, and a number that is none.
fn only_protobuf_says_it(message: &pb::RunRequest) -> bool {
    let tier = pb::Tier::try_from(message.tier).is_err();
    tier || message.verify.as_ref().is_some_and(|verify| {
        let by = verify.float_tolerance.unwrap_or_default();
        pb::VerifyKind::try_from(verify.kind).is_err()
            || pb::Isolation::try_from(verify.isolation).is_err()
            || pb::OnTamper::try_from(verify.on_tamper).is_err()
            || pb::Language::try_from(verify.language).is_err()
            || !by.is_finite()
    })
}

fn is_bounded(request: &Request) {
    let bytes: u64 = request
        .files
        .iter()
        .map(|file| file.content.len() as u64)
        .sum();
    assert!(bytes <= convert::FILES_BYTES_MAX);
    for file in &request.files {
        let path = &file.path;
        let parts = path.split('/').all(|part| !matches!(part, "" | "." | ".."));
        assert!(
            parts && !path.contains('\0') && file.mode <= 0o777,
            "{path:?}"
        );
    }
    for pattern in &request.collect {
        assert!(
            !pattern.starts_with('/') && !pattern.contains('\0'),
            "{pattern:?}"
        );
        assert!(pattern.split('/').all(|part| part != ".."), "{pattern:?}");
    }
    let parts = request.env.iter().flat_map(|(name, value)| [name, value]);
    let texts = parts.map(|text| text.as_bytes());
    let mut all = request.argv.iter().map(Vec::as_slice).chain(texts);
    assert!(all.all(|text| !text.contains(&0) && text.len() <= convert::ARGUMENT_BYTES_MAX));
    assert!(!request.argv.is_empty() || request.verify.is_some());
    assert!(request.cwd.starts_with('/') && !request.cwd.contains('\0'));
    assert!(!request.id.is_empty() && request.id.len() <= convert::NAME_BYTES_MAX);
    let (own, most) = (&request.limits, &request.policy.limits);
    let pairs = [
        (own.wall_ms_max, most.wall_ms_max),
        (own.cpu_ms_max, most.cpu_ms_max),
        (own.cpu_millicores_max, most.cpu_millicores_max),
        (own.memory_bytes_max, most.memory_bytes_max),
        (own.pids_max, most.pids_max),
        (own.disk_bytes_max, most.disk_bytes_max),
        (own.files_max, most.files_max),
        (own.output_bytes_max, most.output_bytes_max),
        (own.output_bytes_total_max, most.output_bytes_total_max),
        (own.open_files_max, most.open_files_max),
    ];
    assert!(
        pairs.iter().all(|(own, most)| (1..=*most).contains(own)),
        "{own:?}"
    );
    if let Some(spec) = &request.verify {
        spec.validate()
            .expect("a checked request has a valid verify");
    }
}
