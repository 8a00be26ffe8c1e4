//! Kind `answer`: one answer in what a program printed or left in a file, compared as text, as a
//! number, or as an expression. Text and numbers are compared here; of expressions this reads a tree
//! of known operations, and says what a sandbox of the judge's kind has to compute with it.

mod expression;
mod number;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::ending::Ending;
use crate::grade::{Ended, Output, by_ending, by_host, describe, of_one_test};
use crate::plan::ours;
use crate::untrusted::Untrusted;
use crate::verdict::{Outcome, Verdict};
use crate::verify::answer::{AnswerMatch, AnswerSpec, AnswerTake};

/// Id of the only test.
const TEST_ID: &str = "answer";
/// Characters of an answer in a message.
const SHOWN_CHARS_MAX: usize = 200;
pub(crate) const SYMBOLIC: &str = include_str!("../harness/symbolic.py");

/// How far an answer is judged.
#[derive(Debug, Clone, PartialEq)]
pub enum Graded {
    /// Wholly.
    Verdict(Box<Verdict>),
    /// A sandbox has to compute: see [`plan_symbolic`] and [`judge_symbolic`].
    Symbolic(Comparison),
}

/// Expressions that have to be compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    expected: Vec<Value>,
    got: Value,
    shown: String,
    tolerance: Option<f64>,
}

/// What is wrong with an expected answer, in words.
pub(crate) fn check_expected(
    spec: &AnswerSpec,
    expected: &str,
) -> Result<(), expression::Unreadable> {
    match spec.compare {
        AnswerMatch::Exact => Ok(()),
        AnswerMatch::Numeric => number::parse(expected)
            .map(|_number| ())
            .ok_or_else(|| expression::no("it is no number")),
        AnswerMatch::Symbolic => expression::parse(expected).map(|_tree| ()),
    }
}

/// Judges a run by the answer in its standard output.
#[must_use]
pub fn grade_answer(spec: &AnswerSpec, run: Ended<'_>, output: Output<'_>) -> Graded {
    if let Some(verdict) = by_ending(run) {
        return Graded::Verdict(Box::new(verdict));
    }
    if output.dropped_bytes > 0 {
        let reason = format!(
            "standard output is {} bytes longer than what is kept of it",
            output.dropped_bytes
        );
        return Graded::Verdict(Box::new(Verdict::new(Outcome::OutputLimit, reason)));
    }
    match run.ending {
        Ending::Exited { code: 0 } => grade_answer_text(spec, output.kept),
        ending => failed(format!("{}; expected exit code 0", describe(ending))),
    }
}

/// Judges the answer in a text.
#[must_use]
pub fn grade_answer_text(spec: &AnswerSpec, text: &Untrusted<Vec<u8>>) -> Graded {
    let Ok(text) = std::str::from_utf8(text.inner()) else {
        return failed("the answer is not UTF-8".to_owned());
    };
    let Some(answer) = taken(spec.take, text) else {
        let what = match spec.take {
            AnswerTake::Boxed => "there is no \\boxed{..} in it",
            AnswerTake::Whole | AnswerTake::LastLine => "there is no answer",
        };
        return failed(what.to_owned());
    };
    let wrong = || failed(format!("{} is not the answer", shown(answer)));
    let is_text = |expected: &String| expected.trim() == answer;
    if spec.expected.iter().any(is_text) {
        return passed();
    }
    match spec.compare {
        AnswerMatch::Exact => wrong(),
        AnswerMatch::Numeric => match number::parse(answer) {
            Some(got) if is_number(spec, &got) => passed(),
            Some(_) => wrong(),
            None => failed(format!("{} is no number", shown(answer))),
        },
        AnswerMatch::Symbolic => {
            if number::parse(answer).is_some_and(|got| is_number(spec, &got)) {
                return passed();
            }
            compare_expressions(spec, answer)
        }
    }
}

fn is_number(spec: &AnswerSpec, got: &number::Number) -> bool {
    let mut expected = spec.expected.iter().filter_map(|text| number::parse(text));
    expected.any(|expected| expected.accepts(got, spec.float_tolerance))
}

fn compare_expressions(spec: &AnswerSpec, answer: &str) -> Graded {
    let got = match expression::parse(answer) {
        Ok(tree) => tree,
        Err(why) => return failed(format!("{} cannot be read: {why}", shown(answer))),
    };
    let expected: Vec<Value> = (spec.expected.iter())
        .filter_map(|text| expression::parse(text).ok())
        .collect();
    if expected.contains(&got) {
        return passed();
    }
    Graded::Symbolic(Comparison {
        expected,
        got,
        shown: shown(answer),
        tolerance: spec.float_tolerance,
    })
}

/// The answer in `text`, white space at its ends aside; `None` if there is none.
fn taken(take: AnswerTake, text: &str) -> Option<&str> {
    let answer = match take {
        AnswerTake::Whole => text.trim(),
        AnswerTake::LastLine => text.trim().lines().next_back()?.trim(),
        AnswerTake::Boxed => boxed(text)?.trim(),
    };
    (!answer.is_empty()).then_some(answer)
}

/// What is in the last `\boxed{..}`, braces within it balanced.
fn boxed(text: &str) -> Option<&str> {
    const OPEN: &str = "\\boxed{";
    let from = text.rfind(OPEN)? + OPEN.len();
    let mut depth = 1;
    for (at, character) in text[from..].char_indices() {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(&text[from..from + at]);
        }
    }
    None
}

fn shown(answer: &str) -> String {
    let head: String = answer.chars().take(SHOWN_CHARS_MAX).collect();
    if head.len() == answer.len() {
        format!("{head:?}")
    } else {
        format!("{head:?}…")
    }
}

fn passed() -> Graded {
    Graded::Verdict(Box::new(of_one_test(TEST_ID, String::new())))
}

fn failed(message: String) -> Graded {
    Graded::Verdict(Box::new(of_one_test(TEST_ID, message)))
}

/// What a sandbox of the judge's kind has to compute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SymbolicPlan {
    /// Path below `/workspace` -> bytes.
    pub files: BTreeMap<String, Vec<u8>>,
    /// Command line. Its standard output is for [`judge_symbolic`].
    pub argv: Vec<String>,
}

/// Plans the comparing. Nothing in it is text of the solution: what computes gets the tree.
#[must_use]
pub fn plan_symbolic(comparison: &Comparison) -> SymbolicPlan {
    let task = json!({
        "expected": comparison.expected,
        "got": comparison.got,
        "tolerance": comparison.tolerance,
    });
    let files = [
        (ours("symbolic.py"), SYMBOLIC.as_bytes().to_vec()),
        (ours("task.json"), task.to_string().into_bytes()),
    ];
    // With `site`, which finds what the image has installed.
    let argv = [
        "python3",
        "-I",
        "-B",
        &ours("symbolic.py"),
        &ours("task.json"),
    ];
    SymbolicPlan {
        files: BTreeMap::from(files),
        argv: argv.map(str::to_owned).to_vec(),
    }
}

#[derive(Debug, Deserialize)]
struct Told {
    #[serde(default)]
    equal: bool,
    #[serde(default)]
    missing: Option<String>,
    #[serde(default)]
    why: String,
}

/// The verdict on what the sandbox of [`plan_symbolic`] wrote. Only trusted code ran in it, so that
/// its output counts; what it ran out of on the way is the answer's own doing.
#[must_use]
pub fn judge_symbolic(comparison: &Comparison, sandbox: Ended<'_>, output: Output<'_>) -> Verdict {
    if let Some(verdict) = by_host(sandbox.ending) {
        return verdict;
    }
    let shown = &comparison.shown;
    let wrong = |why: &str| of_one_test(TEST_ID, format!("{shown} is not the answer: {why}"));
    if let Ending::NotStarted { .. } = sandbox.ending {
        let how = describe(sandbox.ending);
        let reason = format!("expressions cannot be compared in this image: {how}");
        return Verdict::new(Outcome::VerifierError, reason);
    }
    if by_ending(sandbox).is_some() {
        let how = describe(sandbox.ending);
        return wrong(&format!(
            "it could not be compared within the limits: {how}"
        ));
    }
    let told: Option<Told> = serde_json::from_slice(output.kept.inner()).ok();
    match told {
        Some(Told { equal: true, .. }) => of_one_test(TEST_ID, String::new()),
        Some(Told {
            missing: Some(missing),
            ..
        }) => {
            let reason = format!(
                "expressions cannot be compared: {missing}; install python3-sympy in the image, or ask \
                 for a numeric comparison"
            );
            Verdict::new(Outcome::VerifierError, reason)
        }
        Some(told) => wrong(if told.why.is_empty() {
            "the expressions differ"
        } else {
            &told.why
        }),
        None => wrong("it could not be computed with"),
    }
}
