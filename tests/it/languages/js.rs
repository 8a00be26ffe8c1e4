//! JavaScript: references with `console.assert`, and real answers with `node:assert`.

use crate::data::text;

use super::{Set, answer, judge, reference};

const REFERENCES: Set = Set {
    folder: "humaneval_x",
    file: "humaneval_js.jsonl",
    table: ("humaneval_x_js", ""),
    language: "javascript",
    policy: "node",
    solution: "solution.js",
    parts: reference,
    emptied: |line| Some(format!("{}}}\n", text(line, "prompt"))),
    broken: &[],
};

#[test]
fn references_agree_with_the_truth() {
    judge(
        "languages::js::references_agree_with_the_truth",
        &REFERENCES,
    );
}

#[test]
fn answers_agree_with_the_truth() {
    const TEST: &str = "languages::js::answers_agree_with_the_truth";
    let answers = |file, table| Set {
        folder: "multipl_e",
        file,
        table,
        parts: answer,
        emptied: |_| None,
        broken: &[
            "HumanEval_51_remove_vowels",
            "mbpp_563_extract_values",
            "mbpp_725_extract_quotation",
        ],
        ..REFERENCES
    };
    let humaneval = ("multipl_e_humaneval-js", "humaneval-js/");
    judge(TEST, &answers("humaneval-js.jsonl.gz", humaneval));
    let mbpp = ("multipl_e_mbpp-js", "mbpp-js/");
    judge(TEST, &answers("mbpp-js.jsonl.gz", mbpp));
}
