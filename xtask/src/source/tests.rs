//! Where text is not code, and where tests start.

use super::{Source, blank, has_word};

#[test]
fn comments_and_literals_are_blanked_and_lines_stay() {
    let text =
        "let a = \"unsafe \\\" x\"; // unsafe\n/* unsafe\n /* deep */ */ b\nr#\"unsafe \" \"# c";
    let code = blank(text);
    assert!(!code.contains("unsafe"), "{code}");
    assert_eq!(code.lines().count(), text.lines().count());
    assert!(code.contains("let a =") && code.contains(" b") && code.ends_with(" c"));
}

#[test]
fn lifetimes_are_code_and_characters_are_not() {
    let code = blank("fn f<'a>(x: &'a str) { g('\"'); h('\\''); i('z') } // end");
    assert!(code.contains("fn f<'a>(x: &'a str)"), "{code}");
    assert!(
        code.contains("h(") && code.contains("i(") && !code.contains('z'),
        "{code}"
    );
}

#[test]
fn names_that_end_in_r_do_not_open_raw_strings() {
    assert!(blank("bar\"x\" y").contains("bar"));
    assert!(!blank("br\"unsafe\" y").contains("unsafe"));
}

#[test]
fn an_inline_test_module_ends_the_product_part() {
    let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\n";
    assert_eq!(Source::new("x/src/a.rs", text).lines_before_tests, 1);
    let text = "fn a() {}\n#[cfg(test)]\nmod tests;\n";
    assert_eq!(Source::new("x/src/a.rs", text).lines_before_tests, 3);
    assert_eq!(Source::new("x/src/a/tests.rs", text).lines_before_tests, 0);
    assert_eq!(Source::new("tests/it/main.rs", text).lines_before_tests, 0);
}

#[test]
fn words_are_whole() {
    assert!(has_word("unsafe { x }", "unsafe"));
    assert!(!has_word("#![expect(unsafe_code)]", "unsafe"));
    assert!(!has_word("notunsafe", "unsafe"));
}
