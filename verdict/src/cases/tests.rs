//! Values and their equality against Python's own answers, hostile messages, and what of the
//! reports makes a pass.

use std::collections::BTreeMap;

use super::coding::{CodingError, decode, encode};
use super::equal::difference;
use super::integer::Integer;
use super::judge::{Cases, judge_case, judge_cases};
use super::literal::{self, parse};
use super::plan::{CaseBounds, order, plan_cases};
use super::report::{CaseEnd, CaseReport, Loaded, read_case, read_loaded};
use super::value::{Value, show};
use crate::ending::Ending;
use crate::grade::Ended;
use crate::untrusted::Untrusted;
use crate::verdict::{Outcome, TestStatus};
use crate::verify::cases::{Case, CasesSpec};

fn value(text: &str) -> Value {
    parse(text).unwrap()
}

fn same(expected: &str, got: &str) -> bool {
    difference(&value(expected), &value(got), None).is_none()
}

#[test]
fn equality_is_that_of_python() {
    let equal = [
        ("1", "true"),
        ("0", "false"),
        ("1", "1.0"),
        ("true", "1.0"),
        (
            r#"{"$int": "100000000000000000000"}"#,
            r#"{"$float": "1e20"}"#,
        ),
        (r#"{"$complex": [2, 0]}"#, "2"),
        (r#"{"a": 1, "b": [1.0]}"#, r#"{"b": [1], "a": 1}"#),
        (r#"{"$dict": [[1, "x"]]}"#, r#"{"$dict": [[true, "x"]]}"#),
        (r#"{"$set": [1, 2]}"#, r#"{"$set": [2.0, 1]}"#),
        (
            r#"{"$set": [{"$tuple": [1]}]}"#,
            r#"{"$set": [{"$tuple": [true]}]}"#,
        ),
        (r#"{"$float": "nan"}"#, r#"{"$float": "nan"}"#),
        (r#"{"$bytes": "YWI="}"#, r#"{"$bytes": "YWI="}"#),
        (r#"{"$set": []}"#, r#"{"$set": []}"#),
    ];
    for (a, b) in equal {
        assert!(same(a, b), "{a} == {b}");
        assert!(same(b, a), "{b} == {a}");
    }
    let unequal = [
        ("[1]", r#"{"$tuple": [1]}"#),
        ("\"1\"", "1"),
        ("null", "0"),
        ("null", "false"),
        (r#"{"$bytes": "YWI="}"#, "\"ab\""),
        ("[1, 2]", "[1]"),
        ("[]", "[1]"),
        (r#"{"a": 1}"#, r#"{"a": 1, "b": 2}"#),
        (r#"{"$set": [1]}"#, "[1]"),
        (
            r#"{"$int": "100000000000000000001"}"#,
            r#"{"$float": "1e20"}"#,
        ),
        ("9007199254740993", "9007199254740992.0"),
        ("0.1", "0.10000000000000002"),
        (r#"{"$float": "inf"}"#, r#"{"$float": "-inf"}"#),
        (r#"{"$complex": [2, 1]}"#, "2"),
        ("{}", "[]"),
    ];
    for (a, b) in unequal {
        assert!(!same(a, b), "{a} != {b}");
        assert!(!same(b, a), "{b} != {a}");
    }
}

#[test]
fn a_tolerance_is_for_floats_alone() {
    let near = |a: &str, b: &str, by| difference(&value(a), &value(b), Some(by)).is_none();
    assert!(near("[1.0, 2.0]", "[1.0000001, 2]", 1e-6));
    assert!(near("1000000.0", "1000000.5", 1e-6));
    assert!(near("1", "1.0000001", 1e-6));
    assert!(!near("1", "2", 5.0));
    assert!(!near(r#"{"$float": "inf"}"#, r#"{"$float": "1e300"}"#, 1.0));
    assert!(!near(r#"{"$float": "nan"}"#, "1", 1e9));
    assert!(!near("\"1.0\"", "\"1.1\"", 1.0));
}

#[test]
fn a_difference_names_its_place() {
    let told = |a: &str, b: &str| difference(&value(a), &value(b), None).unwrap();
    assert_eq!(
        told(r#"{"a": [1, {"b": 2}]}"#, r#"{"a": [1, {"b": 3}]}"#),
        "at ['a'][1]['b']: expected 2, got 3"
    );
    assert_eq!(told("1", "\"1\""), "expected int 1, got str '1'");
    assert_eq!(told("[1, 2]", "[1]"), "expected 2 items, got 1");
    assert_eq!(told(r#"{"k": 1}"#, "{}"), "key 'k' is missing");
    let long = format!("[{}]", "7,".repeat(9999) + "7");
    assert!(show(&value(&long), 100).chars().count() <= 101);
}

#[test]
fn whole_numbers_of_any_size_are_read_and_shown() {
    for text in [
        "0",
        "-1",
        "128",
        "-128",
        "-129",
        "4294967296",
        "-9223372036854775808",
        "9223372036854775808",
        "340282366920938463463374607431768211456",
        "-340282366920938463463374607431768211457",
    ] {
        let number = Integer::from_decimal(text).unwrap();
        assert_eq!(number.to_string(), text);
        assert_eq!(Integer::from_signed_bytes(&number.signed_bytes()), number);
        assert_eq!(number.to_i64(), text.parse().ok());
        let float: f64 = text.parse().unwrap();
        assert_eq!(number.to_f64().to_bits(), (float + 0.0).to_bits(), "{text}");
        assert_eq!(
            Integer::from_f64(float).map(|it| it.to_f64()),
            Some(float + 0.0)
        );
    }
    assert_eq!(Integer::from_f64(0.5), None);
    assert_eq!(Integer::from_f64(f64::INFINITY), None);
    assert_eq!(Integer::from_decimal(""), None);
    assert_eq!(Integer::from_decimal("1_0"), None);
}

#[test]
fn values_survive_their_coding() {
    for text in [
        "null",
        "[true, false, 1, -1.5, \"ä\"]",
        r#"{"$int": "-123456789012345678901234567890"}"#,
        r#"{"$dict": [[{"$tuple": [1, "a"]}, {"$set": [1]}], [null, {"$bytes": "AP8="}]]}"#,
        r#"{"$complex": [1.5, -2]}"#,
        r#"{"a": {"b": []}}"#,
    ] {
        let mut bytes = Vec::new();
        encode(&value(text), &mut bytes);
        let back = decode(&bytes).unwrap();
        assert_eq!(difference(&value(text), &back, None), None, "{text}");
        for end in 0..bytes.len() {
            assert!(decode(&bytes[..end]).is_err(), "{text} cut at {end}");
        }
    }
}

#[test]
fn hostile_messages_are_refused() {
    let list_of = |count: u32| [b"l".as_slice(), &count.to_le_bytes()].concat();
    assert_eq!(decode(&list_of(u32::MAX)).unwrap_err(), CodingError::Short);
    let deep: Vec<u8> = list_of(1).repeat(5000);
    assert_eq!(decode(&deep).unwrap_err(), CodingError::Deep);
    // A list that is in itself.
    let cycle = [list_of(1), b"R\0\0\0\0".to_vec()].concat();
    assert_eq!(decode(&cycle).unwrap_err(), CodingError::Cycle);
    // Each list twice in the next: two to the power of 60 numbers in 600 bytes.
    let mut bomb = list_of(1);
    bomb.push(b'N');
    let mut whole = list_of(60);
    whole.extend(&bomb);
    for number in 1..60_u32 {
        whole.extend(list_of(2));
        for _ in 0..2 {
            whole.push(b'R');
            whole.extend(number.to_le_bytes());
        }
    }
    let bomb = decode(&whole).unwrap();
    assert!(difference(&value("[[null], 1]"), &bomb, None).is_some());
    assert!(difference(&value(r#"{"$set": [1]}"#), &bomb, None).is_some());
    assert_eq!(decode(b"H").unwrap_err(), CodingError::Tag { tag: b'H' });
    assert_eq!(decode(b"NN").unwrap_err(), CodingError::Long);
    let many = [list_of(2_000_000), vec![b'N'; 2_000_000]].concat();
    assert_eq!(decode(&many).unwrap_err(), CodingError::Many);
}

#[test]
fn values_that_are_none_are_refused_with_the_fix() {
    for (text, says) in [
        ("[", "is no JSON"),
        ("1e300", "$float"),
        ("100000000000000000000", "$int"),
        (r#"{"$what": 1}"#, "known: $bytes"),
        (r#"{"$set": [[1]]}"#, "hashed"),
        (r#"{"$set": [1, 1.0]}"#, "each once"),
        (r#"{"$dict": [[1]]}"#, "[key, value]"),
        (r#"{"$bytes": "?"}"#, "base64"),
    ] {
        let error = parse(text).unwrap_err().to_string();
        assert!(error.contains(says), "{text}: {error}");
    }
    assert!(literal::parse_list("1").is_err());
    assert!(literal::parse_named("[]").is_err());
}

fn call_spec() -> CasesSpec {
    let case = |id: &str, args: &str, expected: &str| Case {
        id: id.to_owned(),
        args: args.to_owned(),
        expected: expected.to_owned(),
        ..Case::default()
    };
    CasesSpec {
        file: "s.py".to_owned(),
        function: "f".to_owned(),
        cases: vec![case("a", "[1]", "424242"), case("b", "[2]", "434343")],
        ..CasesSpec::default()
    }
}

fn io_spec() -> CasesSpec {
    let case = |id: &str| Case {
        id: id.to_owned(),
        stdin: b"in\n".to_vec(),
        stdout: Some(b"424242\n".to_vec()),
        ..Case::default()
    };
    CasesSpec {
        file: "s.py".to_owned(),
        cases: vec![case("a"), case("b")],
        ..CasesSpec::default()
    }
}

fn report(number: u32, end: CaseEnd, output: &[u8]) -> CaseReport {
    CaseReport {
        number,
        end,
        wall_us: 1500,
        cpu_us: 900,
        written_bytes: output.len() as u64,
        output: Untrusted::new(output.to_vec()),
        stderr: Untrusted::new(b"oops\n".to_vec()),
    }
}

fn returned(text: &str) -> Vec<u8> {
    let mut bytes = b"r".to_vec();
    encode(&value(text), &mut bytes);
    bytes
}

#[test]
fn no_expected_value_goes_to_the_sandbox() {
    let bounds = CaseBounds {
        output_bytes_max: 1000,
        own_processes: true,
    };
    for spec in [call_spec(), io_spec()] {
        let plan = plan_cases(&spec, &BTreeMap::new(), bounds).unwrap();
        let mut sent: Vec<u8> = plan.argv.join(" ").into_bytes();
        plan.files.values().for_each(|bytes| sent.extend(bytes));
        for (number, case) in (0..).zip(&spec.cases) {
            let frame = order(&spec, number, case).unwrap();
            let length = u32::from_le_bytes(frame[..4].try_into().unwrap());
            assert_eq!(length as usize, frame.len() - 4);
            sent.extend(frame);
        }
        for secret in [&b"424242"[..], &424_242_i64.to_le_bytes()] {
            assert!(!sent.windows(secret.len()).any(|window| window == secret));
        }
    }
}

#[test]
fn a_case_passes_by_what_it_returned_alone() {
    let spec = call_spec();
    let judge = |end, output: &[u8]| judge_case(&spec, &spec.cases[0], &report(0, end, output));
    let good = judge(CaseEnd::Exited(0), &returned("424242"));
    assert_eq!((good.id.as_str(), good.status), ("a", TestStatus::Passed));
    assert_eq!(good.duration_ms, 1);
    let twice = [returned("424242"), returned("424242")].concat();
    for (end, output) in [
        (CaseEnd::Exited(0), returned("1")),
        (CaseEnd::Exited(0), Vec::new()),
        (CaseEnd::Exited(0), twice),
        (CaseEnd::Exited(0), b"424242".to_vec()),
        (CaseEnd::Exited(1), returned("424242")),
        (CaseEnd::Signalled(9), returned("424242")),
        (CaseEnd::WallTimeUp, returned("424242")),
        (CaseEnd::OutputUp, returned("424242")),
        (CaseEnd::NotStarted, returned("424242")),
    ] {
        let result = judge(end, &output);
        assert_ne!(result.status, TestStatus::Passed, "{end:?} {output:?}");
        assert!(!result.message.is_empty());
    }
}

#[test]
fn a_program_passes_by_output_and_exit_code() {
    let spec = io_spec();
    let judge = |end, output: &[u8]| judge_case(&spec, &spec.cases[0], &report(0, end, output));
    assert_eq!(
        judge(CaseEnd::Exited(0), b"424242\n").status,
        TestStatus::Passed
    );
    let wrong = judge(CaseEnd::Exited(0), b"424243\n");
    assert_eq!(wrong.status, TestStatus::Failed);
    assert!(
        wrong.message.contains("expected '424242"),
        "{}",
        wrong.message
    );
    let died = judge(CaseEnd::Exited(1), b"424242\n");
    assert_eq!(died.status, TestStatus::Error);
    assert!(died.message.ends_with("oops"), "{}", died.message);
    let mut limited = io_spec();
    limited.case_cpu_ms = 1;
    let mut slow = report(0, CaseEnd::Exited(0), b"424242\n");
    slow.cpu_us = 2000;
    let result = judge_case(&limited, &limited.cases[0], &slow);
    assert_eq!(result.status, TestStatus::Timeout);
    let up = report(0, CaseEnd::Signalled(24), b"424242\n");
    let result = judge_case(&limited, &limited.cases[0], &up);
    assert_eq!(result.status, TestStatus::Timeout);
}

fn loaded(state: &str) -> Option<Loaded> {
    Some(Loaded {
        state: state.to_owned(),
        ..Loaded::default()
    })
}

fn all(spec: &CasesSpec, outputs: [&[u8]; 2]) -> Cases {
    let results = (0..).zip(&spec.cases).zip(outputs);
    Cases {
        loaded: loaded("ok"),
        results: results
            .map(|((number, case), output)| {
                judge_case(spec, case, &report(number, CaseEnd::Exited(0), output))
            })
            .collect(),
        ..Cases::default()
    }
}

#[test]
fn a_pass_needs_every_case_and_no_fault() {
    let spec = io_spec();
    let (good, bad): (&[u8], &[u8]) = (b"424242\n", b"1\n");
    let exited = Ending::Exited { code: 0 };
    let calm = Ended {
        ending: &exited,
        oom_kills: 0,
    };
    let verdict = judge_cases(&spec, all(&spec, [good, good]), calm);
    assert_eq!(verdict.outcome(), Outcome::Passed);
    assert_eq!(verdict.tests.len(), 2);
    let verdict = judge_cases(&spec, all(&spec, [good, bad]), calm);
    assert_eq!(verdict.outcome(), Outcome::Failed);
    assert!(verdict.reason.starts_with("b: "), "{}", verdict.reason);
    // One that was never reported.
    let mut cut = all(&spec, [good, good]);
    cut.results.pop();
    let verdict = judge_cases(&spec, cut, calm);
    assert_eq!(verdict.outcome(), Outcome::Failed);
    assert_eq!(verdict.tests[1].status, TestStatus::Skipped);
    // Nothing at all.
    let verdict = judge_cases(&spec, Cases::default(), calm);
    assert_eq!(verdict.outcome(), Outcome::NoTests);
    // Memory, and the host.
    let short = Ended {
        ending: &exited,
        oom_kills: 1,
    };
    let verdict = judge_cases(&spec, all(&spec, [good, good]), short);
    assert_eq!(verdict.outcome(), Outcome::OutOfMemory);
    let failed = Ending::SandboxFailed {
        step: "x".to_owned(),
        reason: "y".to_owned(),
    };
    let host = Ended {
        ending: &failed,
        oom_kills: 0,
    };
    let verdict = judge_cases(&spec, all(&spec, [good, good]), host);
    assert_eq!(verdict.reward(), None);
    for (state, outcome) in [
        ("syntax_error", Outcome::CompileError),
        ("exit", Outcome::NoTests),
        ("exception", Outcome::Failed),
        ("no_function", Outcome::Failed),
        ("anything", Outcome::Failed),
    ] {
        let cases = Cases {
            loaded: loaded(state),
            ..Cases::default()
        };
        assert_eq!(
            judge_cases(&spec, cases, calm).outcome(),
            outcome,
            "{state}"
        );
    }
}

#[test]
fn a_share_is_earned_only_where_it_is_asked_for() {
    let mut spec = io_spec();
    let exited = Ending::Exited { code: 0 };
    let calm = Ended {
        ending: &exited,
        oom_kills: 0,
    };
    let half = all(&spec, [b"424242\n", b"1\n"]);
    assert_eq!(judge_cases(&spec, half, calm).reward(), Some(0.0));
    spec.partial_credit = true;
    let half = all(&spec, [b"424242\n", b"1\n"]);
    let verdict = judge_cases(&spec, half, calm);
    assert_eq!(
        (verdict.outcome(), verdict.reward()),
        (Outcome::Failed, Some(0.5))
    );
    // Not for what was never run.
    let mut stopped = all(&spec, [b"1\n", b""]);
    stopped.results.pop();
    stopped.stopped = true;
    let verdict = judge_cases(&spec, stopped, calm);
    assert_eq!(verdict.reward(), Some(0.0));
    spec.test_ids = vec!["a".to_owned()];
    let first = all(&spec, [b"424242\n", b"1\n"]);
    assert_eq!(judge_cases(&spec, first, calm).outcome(), Outcome::Passed);
}

#[test]
fn frames_are_bounded_and_whole() {
    for length in 0..37 {
        assert!(read_case(&Untrusted::new(vec![b'e'; length])).is_err());
    }
    let mut frame = vec![0; 37];
    frame[4] = b'?';
    assert!(read_case(&Untrusted::new(frame.clone())).is_err());
    frame[4] = b'e';
    frame[33] = 1;
    assert!(read_case(&Untrusted::new(frame.clone())).is_err());
    frame.push(b'N');
    assert!(read_case(&Untrusted::new(frame.clone())).is_ok());
    assert!(read_loaded(&Untrusted::new(frame)).is_err());
}
