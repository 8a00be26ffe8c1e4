//! What goes where, and that nothing of the judge is in the solution's sandbox.

use std::collections::BTreeMap;

use super::{plan_asserts, touches_harness};
use crate::verify::AssertsSpec;

fn spec() -> AssertsSpec {
    AssertsSpec {
        file: "solution.py".to_owned(),
        code: "assert f(1) == 424242".to_owned(),
        ..AssertsSpec::default()
    }
}

#[test]
fn expected_values_and_nonce_never_reach_the_solution() {
    let files = BTreeMap::from([("solution.py".to_owned(), b"def f(x): return x".to_vec())]);
    let plan = plan_asserts(&spec(), &files, "the-nonce");
    let holds = |files: &BTreeMap<String, Vec<u8>>, needle: &[u8]| {
        files
            .values()
            .any(|bytes| bytes.windows(needle.len()).any(|window| window == needle))
    };
    for secret in [&b"424242"[..], b"the-nonce"] {
        assert!(holds(&plan.judge_files, secret));
        assert!(!holds(&plan.solution_files, secret));
        assert!(
            !plan
                .solution_argv
                .concat()
                .as_bytes()
                .windows(secret.len())
                .any(|w| w == secret)
        );
    }
    assert!(!holds(&plan.judge_files, b"def f(x): return x"));
    assert_eq!(
        plan.solution_argv.last().map(String::as_str),
        Some("solution.py")
    );
    assert!(
        !plan
            .solution_files
            .keys()
            .any(|path| path.contains("judge"))
    );
}

#[test]
fn files_in_the_place_of_our_programs_are_replaced() {
    let files = BTreeMap::from([
        (".rollcage/codec.py".to_owned(), b"evil".to_vec()),
        (".rollcage/extra.py".to_owned(), b"evil".to_vec()),
        (".rollcage".to_owned(), b"evil".to_vec()),
        (".rollcagex".to_owned(), b"fine".to_vec()),
    ]);
    let plan = plan_asserts(&spec(), &files, "n");
    assert!(plan.solution_files.values().all(|bytes| bytes != b"evil"));
    assert!(plan.solution_files.contains_key(".rollcagex"));
    assert!(touches_harness(".rollcage/codec.py") && !touches_harness(".rollcagex"));
}
