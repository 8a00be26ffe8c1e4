//! Lines round trip, and nothing but what the writer writes is read.

use proptest::prelude::*;
use serde_json::json;

use super::{Chain, LINE_BYTES_MAX, LineError, SealError, Stamp, parse_line, split_line};
use crate::digest::Digest;
use crate::encode::EncodeError;
use crate::encode::tests::any_value;
use crate::record::{Draft, Event, PolicyRef, Source};

fn stamp() -> Stamp {
    Stamp {
        time_unix_ns: 1_760_000_000_123_456_789,
        boot_id: "b".into(),
        node: "n1".into(),
    }
}

#[test]
fn the_line_is_the_documented_one() {
    let mut chain = Chain::start();
    let mut draft = Draft::new(Event::RunAdmitted, Source::Api).with("argv", json!(["a\u{1b}"]));
    draft.run_id = Some("run-1".into());
    draft.policy = Some(PolicyRef {
        name: "python".into(),
        sha256: Digest::of(b"p"),
    });
    let sealed = chain.seal(&draft, &stamp()).unwrap();
    let body = format!(
        "{{\"boot_id\":\"b\",\"data\":{{\"argv\":[\"a\\u001b\"]}},\"event\":\"run_admitted\",\
         \"node\":\"n1\",\"policy\":{{\"name\":\"python\",\"sha256\":\"{}\"}},\
         \"prev_sha256\":\"{}\",\"run_id\":\"run-1\",\"seq\":1,\"source\":\"api\",\
         \"time_unix_ns\":1760000000123456789}}",
        Digest::of(b"p"),
        Digest::ZERO
    );
    let hash = Digest::of(body.as_bytes());
    let line = format!(
        "{},\"sha256\":\"{hash}\"}}\n",
        body.strip_suffix('}').unwrap()
    );
    assert_eq!(String::from_utf8(sealed.line).unwrap(), line);
    assert_eq!(sealed.receipt.sha256, hash);
}

#[test]
fn a_failed_seal_leaves_the_chain_alone() {
    let mut chain = Chain::start();
    let draft = Draft::new(Event::Verdict, Source::Api).with("score", 0.5);
    let result = chain.seal(&draft, &stamp());
    assert!(matches!(
        result,
        Err(SealError::Encode(EncodeError::NotInteger { .. }))
    ));
    let draft = Draft::new(Event::Verdict, Source::Api).with("log", "x".repeat(LINE_BYTES_MAX));
    assert!(matches!(
        chain.seal(&draft, &stamp()),
        Err(SealError::TooLong { .. })
    ));
    assert_eq!(chain, Chain::start());
}

/// A forger who recomputes the hash still has to write what the writer would have written.
fn forged(body: &str) -> Vec<u8> {
    let hash = Digest::of(body.as_bytes());
    format!(
        "{},\"sha256\":\"{hash}\"}}",
        body.strip_suffix('}').unwrap()
    )
    .into_bytes()
}

#[test]
fn rehashed_lines_of_another_form_are_refused() {
    let mut chain = Chain::start();
    let draft = Draft::new(Event::RunEnded, Source::Api).with("n", 1);
    let sealed = chain.seal(&draft, &stamp()).unwrap();
    let (body, _) = split_line(sealed.line.strip_suffix(b"\n").unwrap()).unwrap();
    let body = String::from_utf8(body).unwrap();
    assert!(parse_line(&forged(&body)).is_ok());
    let spaced = body.replace("\"seq\":1", "\"seq\": 1");
    assert!(matches!(
        parse_line(&forged(&spaced)),
        Err(LineError::NotCanonical)
    ));
    let unknown = body.replace("{\"boot_id\"", "{\"admin\":true,\"boot_id\"");
    assert!(matches!(
        parse_line(&forged(&unknown)),
        Err(LineError::NotCanonical)
    ));
    let twice = body.replace("\"node\":\"n1\"", "\"node\":\"n1\",\"node\":\"n1\"");
    assert!(parse_line(&forged(&twice)).is_err());
    let event = body.replace("run_ended", "run_forgotten");
    assert!(matches!(
        parse_line(&forged(&event)),
        Err(LineError::Json(_))
    ));
    let source = body.replace("\"api\"", "\"launcher\"");
    assert!(matches!(
        parse_line(&forged(&source)),
        Err(LineError::Draft(_))
    ));
}

pub(crate) fn any_draft() -> impl Strategy<Value = Draft> {
    let who = prop::option::of("[ -~]{1,12}|\\PC{1,6}");
    let combos: Vec<_> = [Source::Api, Source::Launcher, Source::Init]
        .into_iter()
        .flat_map(|source| Event::ALL.map(|event| (event, source)))
        .filter(|(event, source)| event.may_come_from(*source))
        .collect();
    let data = prop::collection::btree_map("[a-z_]{1,8}", any_value(), 0..4);
    (
        prop::sample::select(combos),
        who.clone(),
        who,
        any::<bool>(),
        data,
    )
        .prop_map(|((event, source), principal, run_id, with_digests, data)| {
            let mut draft = Draft::new(event, source);
            draft.principal = principal;
            draft.run_id = run_id;
            draft.inputs_sha256 = with_digests.then(|| Digest::of(b"inputs"));
            draft.data = data.into_iter().collect();
            draft
        })
}

proptest! {
    #[test]
    fn random_records_round_trip(drafts in prop::collection::vec(any_draft(), 1..6), time: u64) {
        let mut chain = Chain::start();
        let stamp = Stamp { time_unix_ns: time, ..stamp() };
        for draft in drafts {
            let before = chain.last();
            let sealed = chain.seal(&draft, &stamp).unwrap();
            let line = sealed.line.strip_suffix(b"\n").unwrap();
            prop_assert!(!line.contains(&b'\n'));
            let (record, hash) = parse_line(line).unwrap();
            prop_assert_eq!(&record.draft, &draft);
            prop_assert_eq!((record.seq, hash), (sealed.receipt.seq, sealed.receipt.sha256));
            prop_assert_eq!(record.prev_sha256, before.sha256);
            prop_assert_eq!(record.time_unix_ns, time);
        }
    }

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(parse_line(&bytes).is_err());
    }
}
