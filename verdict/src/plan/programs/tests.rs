//! What makes a program and what runs it, by language. It runs no compiler.

use std::collections::BTreeMap;

use super::{LANGUAGES, is_made, is_native, plan};
use crate::verdict::Outcome;
use crate::verify::Language;

fn files(name: &str, text: &str) -> BTreeMap<String, Vec<u8>> {
    BTreeMap::from([(name.to_owned(), text.as_bytes().to_vec())])
}

#[test]
fn a_program_is_made_where_it_is_run() {
    for language in LANGUAGES {
        let made = plan(language, "-s.x", &files("-s.x", "class A { }")).unwrap();
        // What would be taken for an option is not.
        assert!(
            !made.build.argv.iter().any(|word| word == "-s.x"),
            "{language:?}"
        );
        assert!(made.argv.iter().all(|word| word != "-s.x"), "{language:?}");
        assert_eq!(made.build.required.is_empty(), !is_native(language));
        let starts = made
            .build
            .files
            .keys()
            .any(|path| path.starts_with(".rollcage/"));
        assert!(starts, "{language:?} has no folder to write to");
    }
    assert!(!is_made(Language::Python));
}

#[test]
fn the_class_with_main_is_started() {
    let started = |text: &str| {
        let made = plan(Language::Java, "s.java", &files("s.java", text)).unwrap();
        let source = made.build.argv.last().cloned().unwrap_or_default();
        (made.argv.last().cloned().unwrap_or_default(), source)
    };
    let main = "static void main(String[] args) { }";
    let path = |name: &str| format!(".rollcage/src/{name}.java");
    assert_eq!(
        started(&format!("class A {{ }} public class B {{ public {main} }}")),
        ("B".to_owned(), path("B"))
    );
    assert_eq!(
        started(&format!("package x.y; class A {{ public {main} }}")),
        ("x.y.A".to_owned(), path("Solution"))
    );
    assert_eq!(started("").0, "Solution");
}

#[test]
fn what_is_not_there_or_no_text_is_the_solutions_doing() {
    for language in LANGUAGES {
        let missing = plan(language, "a.x", &files("b.x", "")).unwrap_err();
        assert_eq!(missing.outcome(), Outcome::Failed);
        let ours = plan(language, ".rollcage/a.x", &files(".rollcage/a.x", "")).unwrap_err();
        assert_eq!(ours.outcome(), Outcome::Failed);
        let bytes = BTreeMap::from([("a.x".to_owned(), vec![0xff])]);
        let binary = plan(language, "a.x", &bytes).unwrap_err();
        assert_eq!(binary.outcome(), Outcome::CompileError);
    }
}
