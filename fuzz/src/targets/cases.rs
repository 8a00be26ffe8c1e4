//! What the process beside a solution says of a case, and answers: no frame passes a case but one
//! that ends well and holds the expected value; no text passes an answer but an equal one.

use verdict::answer::{Graded, grade_answer_text};
use verdict::cases::judge::judge_case;
use verdict::cases::literal;
use verdict::cases::plan::order;
use verdict::cases::report::{CaseEnd, read_case, read_loaded};
use verdict::verify::answer::{AnswerMatch, AnswerTake};
use verdict::{AnswerSpec, Case, CasesSpec, Outcome, TestStatus, Untrusted};

/// The value of [`EXPECTED`] as eight bytes of a whole number.
const SECRET: i64 = 81_985_529_216_486_895;
const EXPECTED: &str = "[81985529216486895, {\"$set\": [1, \"a\"]}, {\"k\": {\"$tuple\": [null]}}]";

fn call_spec() -> CasesSpec {
    let case = Case {
        id: "a".to_owned(),
        args: "[1]".to_owned(),
        expected: EXPECTED.to_owned(),
        ..Case::default()
    };
    CasesSpec {
        file: "s.py".to_owned(),
        function: "f".to_owned(),
        cases: vec![case],
        float_tolerance: Some(1e-9),
        ..CasesSpec::default()
    }
}

fn frame(how: u8, body: &[u8]) -> Vec<u8> {
    let mut frame = 0_u32.to_le_bytes().to_vec();
    frame.push(how);
    frame.extend([0; 28]);
    frame.extend(u32::try_from(body.len()).expect("short").to_le_bytes());
    frame.extend(body);
    frame
}

/// A frame as a solution that answers right would have it: the order of a case that passes the
/// expected value as its argument has the same coding.
fn right() -> Vec<u8> {
    let spec = call_spec();
    let case = Case {
        args: format!("[{EXPECTED}]"),
        ..Case::default()
    };
    let sent = order(&spec, 0, &case).expect("an order");
    // Length, number and limits; a tuple of arguments and names; a tuple of one argument.
    let from = 16 + 5 + 5;
    let until = sent.len() - 5;
    let body = [b"r", sent.get(from..until).expect("the argument")].concat();
    frame(b'e', &body)
}

pub(super) fn seeds() -> Vec<Vec<u8>> {
    let right = right();
    let report = read_case(&Untrusted::new(right.clone())).expect("a frame");
    let spec = call_spec();
    let judged = judge_case(&spec, &spec.cases[0], &report);
    assert_eq!(judged.status, TestStatus::Passed, "{}", judged.message);
    vec![
        right,
        frame(b's', b""),
        frame(b't', b"x"),
        frame(b'e', b"x\x74\x02\0\0\0s\x01\0\0\0Es\x01\0\0\0m"),
        frame(b'e', b"cs\x01\0\0\0m"),
        frame(b'e', b"m\x02\0\0\0s\x05\0\0\0states\x02\0\0\0ok"),
        frame(b'e', b"rl\x02\0\0\0l\0\0\0\0R\x01\0\0\0"),
    ]
}

pub(super) fn run(data: &[u8]) {
    let bytes = Untrusted::new(data.to_vec());
    // Whatever it is, it is read to an end.
    drop(read_loaded(&bytes));
    let Ok(report) = read_case(&bytes) else {
        return;
    };
    let spec = call_spec();
    let judged = judge_case(&spec, &spec.cases[0], &report);
    if judged.status == TestStatus::Passed {
        assert_eq!(report.end, CaseEnd::Exited(0));
        let secret = SECRET.to_le_bytes();
        let holds = data.windows(8).any(|window| window == secret);
        // A float or a number in its long form may stand for it as well.
        let other = data.contains(&b'd') || data.contains(&b'I') || data.contains(&b'D');
        assert!(holds || other, "a case passed by nothing");
    } else {
        assert!(!judged.message.is_empty() && judged.message.len() < 8000);
    }
}

pub(super) fn answer_seeds() -> Vec<Vec<u8>> {
    [
        "42",
        "So \\boxed{\\frac{84}{2}}.",
        "1,234.5e-3",
        "-\\sqrt[3]{x^2} \\cdot 2!",
        "|a|^{-1}",
        "{\"$dict\": [[{\"$tuple\": [1]}, {\"$bytes\": \"YQ==\"}]], \"x\": 1}",
        "{\"$int\": \"-99999999999999999999\"}",
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec()
}

pub(super) fn answers(data: &[u8]) {
    let text = Untrusted::new(data.to_vec());
    for compare in [
        AnswerMatch::Exact,
        AnswerMatch::Numeric,
        AnswerMatch::Symbolic,
    ] {
        for take in [AnswerTake::Whole, AnswerTake::LastLine, AnswerTake::Boxed] {
            let spec = AnswerSpec {
                expected: vec!["42".to_owned()],
                compare,
                take,
                ..AnswerSpec::default()
            };
            if let Graded::Verdict(verdict) = grade_answer_text(&spec, &text)
                && verdict.outcome() == Outcome::Passed
            {
                assert!(data.contains(&b'4') || compare != AnswerMatch::Exact);
                assert!(data.iter().any(u8::is_ascii_digit));
            }
        }
    }
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    if let Ok(value) = literal::parse(text) {
        let shown = verdict::cases::value::show(&value, 50);
        assert!(shown.chars().count() <= 51, "{shown}");
    }
}
