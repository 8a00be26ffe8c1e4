//! Each rule over files, on a text that breaks it and one that does not.

use super::{check, error_type};
use crate::source::Source;
use crate::tidy::exceptions::Exceptions;

fn findings(path: &str, text: &str) -> Vec<String> {
    let exceptions = Exceptions::parse(
        "[[unsafe_code]]\npath = \"a/src/sys.rs\"\nreason = \"system calls\"\n\
         [[start_programs]]\npath = \"a/src/start.rs\"\nreason = \"its task\"\n\
         [[long_files]]\npath = \"a/src/table.rs\"\nlines_max = 700\nreason = \"a table\"\n",
    )
    .expect("a good list");
    check(&Source::new(path, text), &exceptions)
        .iter()
        .map(ToString::to_string)
        .collect()
}

fn clean(path: &str, text: &str) -> bool {
    findings(path, text).is_empty()
}

#[test]
fn a_plain_file_is_clean() {
    assert_eq!(
        findings("a/src/b.rs", "//! What it is.\n\nfn f() {}\n"),
        [""; 0]
    );
}

#[test]
fn headers_are_needed() {
    assert!(!clean("a/src/b.rs", "fn f() {}\n"));
    assert!(!clean("a/src/b.rs", "// Plain comment.\nfn f() {}\n"));
    assert!(!clean("a/src/b.rs", ""));
}

#[test]
fn names_must_say_something() {
    assert!(!clean("a/src/utils.rs", "//! X.\n"));
    assert!(!clean("a/src/b/mod.rs", "//! X.\n"));
    assert!(!clean("a/src/b.rs", "//! X.\npub(crate) mod helper;\n"));
    assert!(!clean("a/src/b.rs", "//! X.\nmod common {\n}\n"));
    assert!(clean("a/src/b.rs", "//! X.\nmod commonplace;\n"));
}

#[test]
fn files_stay_short_without_their_tests() {
    let long = format!("//! X.\n{}", "fn f() {}\n".repeat(500));
    assert!(!clean("a/src/b.rs", &long));
    assert!(clean("a/src/table.rs", &long));
    assert!(clean("a/src/b/tests.rs", &long));
    assert!(!clean(
        "a/src/main.rs",
        &format!("//! X.\n{}", "fn f() {}\n".repeat(60))
    ));
    let tested = format!(
        "//! X.\n#[cfg(test)]\nmod tests {{\n{}}}\n",
        "fn f() {}\n".repeat(600)
    );
    assert!(clean("a/src/b.rs", &tested));
}

#[test]
fn work_to_come_names_its_issue() {
    let word = concat!("TO", "DO");
    assert!(!clean("a/src/b.rs", &format!("//! X.\n// {word}: later\n")));
    assert!(!clean(
        "a/src/b.rs",
        &format!("//! X.\n// {word}(me): later\n")
    ));
    assert!(clean(
        "a/src/b.rs",
        &format!("//! X.\n// {word}(#12): later\n")
    ));
}

#[test]
fn texts_are_no_errors() {
    assert!(!clean(
        "a/src/b.rs",
        "//! X.\nfn f() -> Result<u8, String> { g() }\n"
    ));
    assert!(!clean(
        "a/src/b.rs",
        "//! X.\ntype R = Result<\n    Vec<(u8, u8)>,\n    String,\n>;\n"
    ));
    assert!(clean(
        "a/src/b.rs",
        "//! X.\nfn f() -> Result<String, Error> { g() }\n"
    ));
    assert!(clean(
        "a/src/b.rs",
        "//! X.\nfn f() -> Result<String> { g() }\n"
    ));
    assert_eq!(error_type("Box<dyn Fn(u8) -> u8>, String>"), Some("String"));
}

#[test]
fn results_are_not_thrown_away() {
    assert!(!clean("a/src/b.rs", "//! X.\nfn f() { let _ = g(); }\n"));
    assert!(!clean(
        "a/src/b.rs",
        "//! X.\nfn f() { let _ =\n    g(); }\n"
    ));
    assert!(clean("a/src/b.rs", "//! X.\nfn f() { let _ = field; }\n"));
    assert!(clean(
        "a/src/b/tests.rs",
        "//! X.\nfn f() { let _ = g(); }\n"
    ));
}

#[test]
fn unsafe_code_stays_in_its_files() {
    let text = "//! X.\nfn f() { unsafe { g() } }\n";
    assert!(!clean("a/src/b.rs", text));
    assert!(!clean("tests/it/b.rs", text));
    assert!(clean("a/src/sys.rs", text));
    assert!(clean(
        "a/src/b.rs",
        "//! X.\n// unsafe\nfn f() { g(\"unsafe\") }\n"
    ));
}

#[test]
fn programs_are_started_in_their_files() {
    for text in [
        "//! X.\nuse std::process::Command;\n",
        "//! X.\nuse std::process::{Command, ExitCode};\n",
        "//! X.\nfn f() { g(tokio::process::Command::new(p)) }\n",
    ] {
        assert!(!clean("a/src/b.rs", text), "{text}");
        assert!(clean("a/src/start.rs", text));
        assert!(clean("tests/it/b.rs", text));
    }
    assert!(clean(
        "a/src/b.rs",
        "//! X.\nuse std::process::{ExitCode, id};\nenum Command {}\n"
    ));
    assert!(clean("a/src/b.rs", "//! X.\nuse std::process::ExitCode;\n"));
}
