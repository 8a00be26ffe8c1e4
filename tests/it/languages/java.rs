//! Java: references with `Main.main`, built in sandboxes.

use super::{Set, judge, reference};

#[test]
fn references_agree_with_the_truth() {
    let set = Set {
        folder: "humaneval_x",
        file: "humaneval_java.jsonl",
        table: ("humaneval_x_java", ""),
        language: "java",
        policy: "build",
        solution: "Solution.java",
        parts: reference,
        emptied: |_| None,
        broken: &[],
    };
    judge("languages::java::references_agree_with_the_truth", &set);
}
