//! What goes where, and that nothing of the judge is in the solution's sandbox.

use std::collections::BTreeMap;

use super::{HarnessCache, plan_asserts, plan_cache, touches_harness};
use crate::untrusted::Untrusted;
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
    let plan = plan_asserts(&spec(), &files, "the-nonce").expect("is planned");
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
            .any(|path| path.contains("judge.py"))
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
    let plan = plan_asserts(&spec(), &files, "n").expect("is planned");
    assert!(plan.solution_files.values().all(|bytes| bytes != b"evil"));
    assert!(plan.solution_files.contains_key(".rollcagex"));
    assert!(touches_harness(".rollcage/codec.py") && !touches_harness(".rollcagex"));
}

#[test]
fn compiled_programs_are_taken_only_if_they_begin_as_ours() {
    let cache = HarnessCache::from_output(&Untrusted::new(b"rollcage-cache-1\nxyz".to_vec()));
    let plan = plan_asserts(&spec(), &BTreeMap::new(), "n").expect("is planned");
    let plan = plan.with_cache(&cache.expect("is one"));
    assert!(plan.judge_files.contains_key(".rollcage/cache.bin"));
    assert!(plan.solution_files.contains_key(".rollcage/cache.bin"));
    for output in [b"".to_vec(), b"Traceback".to_vec(), vec![b'r'; 5 << 20]] {
        HarnessCache::from_output(&Untrusted::new(output)).expect_err("is none");
    }
    assert_eq!(plan_cache().files.len(), 7);
}

/// In every compiled language, with a declaration and without one.
#[test]
fn what_is_built_for_one_end_has_nothing_of_the_other() {
    use crate::verify::Language;
    let rows = [
        (
            Language::Cpp,
            "int f(int x);",
            "int f(int x) { return 171717; }",
            "assert(f(1) == 424242);",
        ),
        (
            Language::C,
            "int f(int x);",
            "int f(int x) { return 171717; }",
            "assert(f(1) == 424242);",
        ),
        (
            Language::Rust,
            "fn f(x: i32) -> i32;",
            "fn f(x: i32) -> i32 { 171717 }",
            "assert_eq!(f(1), 424242);",
        ),
    ];
    let holds = |files: &BTreeMap<String, Vec<u8>>, needle: &[u8]| {
        let mut all = files.values();
        all.any(|bytes| bytes.windows(needle.len()).any(|window| window == needle))
    };
    for (language, declaration, solution, code) in rows {
        for declaration in [declaration, ""] {
            let spec = AssertsSpec {
                file: "solution".to_owned(),
                language,
                code: code.to_owned(),
                declaration: declaration.to_owned(),
                ..AssertsSpec::default()
            };
            let files = BTreeMap::from([("solution".to_owned(), solution.as_bytes().to_vec())]);
            let plan = plan_asserts(&spec, &files, "the-nonce").expect("is planned");
            let solution_build = plan.solution_build.expect("is built").files;
            let judge_build = plan.judge_build.expect("is built").files;
            let theirs = [&solution_build, &plan.solution_files];
            let ours = [&judge_build, &plan.judge_files];
            for secret in [&b"424242"[..], b"the-nonce"] {
                assert!(
                    ours.iter().any(|files| holds(files, secret)),
                    "{language:?}"
                );
                assert!(
                    !theirs.iter().any(|files| holds(files, secret)),
                    "{language:?}"
                );
            }
            assert!(
                !ours.iter().any(|files| holds(files, b"171717")),
                "{language:?}"
            );
            assert_eq!(plan.declared_by_solution, declaration.is_empty());
        }
    }
}
