//! Lengths and promises, on small texts.

use super::{length, names, promises};
use crate::source::Source;

const HEAD: &str = "# Promises\n\n| promise | test |\n|---|---|\n";

fn count(rows: &str) -> usize {
    let sources = [Source::new(
        "a/src/b/tests.rs",
        "//! X.\nfn holds() {}\n// fn told() {}\n",
    )];
    promises(&format!("{HEAD}{rows}"), &sources).len()
}

#[test]
fn documents_stay_short() {
    assert_eq!(length("README.md", "a\nb\n", 2), None);
    assert!(length("README.md", "a\nb\nc\n", 2).is_some());
}

#[test]
fn a_promise_names_a_test_that_exists() {
    assert_eq!(
        count("| x | `holds` |\n| y | `a::b::holds`, `holds` |\n"),
        0
    );
    assert_eq!(count("| x | `gone` |\n"), 1);
    assert_eq!(count("| x | `told` |\n"), 1);
    assert_eq!(count("| x | tested |\n"), 1);
}

#[test]
fn a_promise_may_wait_and_says_for_what() {
    assert_eq!(count("| x | pending: issue 7 |\n"), 0);
    assert_eq!(count("| x | pending: |\n"), 1);
}

#[test]
fn a_test_that_is_named_in_passing_exists_too() {
    let sources = [Source::new(
        "a/src/b/tests.rs",
        "fn it_holds_to_this() {}\n",
    )];
    let count = |text| names("SECURITY.md", text, &sources).len();
    assert_eq!(count("as `a b::it_holds_to_this` shows, `no_test`\n"), 0);
    assert_eq!(count("`it_holds_to_this`, `it_holds_no_more_now`\n"), 1);
}
