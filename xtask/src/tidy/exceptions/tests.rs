//! The exception list on small texts.

use super::Exceptions;
use crate::source::Source;

const LIST: &str = "[[unsafe_code]]\npath = \"a/src/sys.rs\"\nreason = \"system calls\"\n";

#[test]
fn an_exception_that_is_needed_is_no_finding() {
    let exceptions = Exceptions::parse(LIST).expect("a good list");
    assert!(exceptions.may_be_unsafe("a/src/sys.rs") && !exceptions.may_be_unsafe("a/src/b.rs"));
    let sources = [Source::new("a/src/sys.rs", "fn f() { unsafe { g() } }\n")];
    assert_eq!(exceptions.stale(&sources), []);
}

#[test]
fn an_exception_that_nothing_needs_is_a_finding() {
    let exceptions = Exceptions::parse(LIST).expect("a good list");
    assert_eq!(
        exceptions
            .stale(&[Source::new("a/src/sys.rs", "fn f() {}\n")])
            .len(),
        1
    );
    assert_eq!(exceptions.stale(&[]).len(), 1);
    let long = "[[long_files]]\npath = \"a.rs\"\nlines_max = 600\nreason = \"a table\"\n";
    let exceptions = Exceptions::parse(long).expect("a good list");
    assert_eq!(exceptions.lines_max("a.rs"), Some(600));
    assert_eq!(
        exceptions
            .stale(&[Source::new("a.rs", "fn f() {}\n")])
            .len(),
        1
    );
}

#[test]
fn reasons_are_needed_and_fields_known() {
    assert!(Exceptions::parse(&LIST.replace("system calls", "")).is_err());
    assert!(Exceptions::parse("[[long]]\npath = \"x\"\nreason = \"y\"\n").is_err());
}
