//! The table of languages, and where their sources go.

use super::java::names;
use super::*;

#[test]
fn names_are_sorted_and_unique() {
    let names: Vec<&str> = LANGUAGES.iter().map(|language| language.name).collect();
    let mut sorted = names.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(names, sorted);
}

#[test]
fn a_source_steps_aside_for_a_file_of_its_name() {
    let place = |name: &str, taken: &[&str]| {
        let language = find(name).unwrap();
        language
            .place("", |path| taken.contains(&path))
            .unwrap()
            .path
    };
    assert_eq!(place("python", &[]), "main.py");
    assert_eq!(place("python", &["main.py", "main1.py"]), "main2.py");
    assert_eq!(place("go_test", &["main_test.go"]), "main1_test.go");
    assert_eq!(place("jest", &["main.test.js"]), "main1.test.js");
    assert_eq!(place("pytest", &["test_main.py"]), "test_main1.py");
}

#[test]
fn words_of_a_stage_name_the_source() {
    let java = find("java").unwrap();
    let placed = java
        .place("package a.b; public class Foo {}", |_| false)
        .unwrap();
    assert_eq!(placed.path, "Foo.java");
    assert_eq!(placed.argv(&java.run).last().unwrap(), "a.b.Foo");
    let taken = java.place("class Foo {}", |path| path == "Foo.java");
    assert_eq!(taken.unwrap_err().field, "files[\"Foo.java\"]");
}

#[test]
fn the_class_of_a_java_source_is_found() {
    let table = [
        ("", "Main", "Main"),
        ("class A { }", "A", "A"),
        (
            "public class B { public static void main(String[] a) {} }",
            "B",
            "B",
        ),
        (
            "class A {} public final class B {} class C { void main(){} }",
            "B",
            "C",
        ),
        (
            "class A {} class C { static void main(String[] a) {} }",
            "C",
            "C",
        ),
        (
            "// public class X\n/* public class Y */ public record R(int a) {}",
            "R",
            "R",
        ),
        (
            "class A { String s = \"public class Z { void main(\"; }",
            "A",
            "A",
        ),
        ("/*/ class X {} */ enum E { }", "E", "E"),
        ("import a.b; interface I { class N { } }", "I", "I"),
        ("class A { char c = '\"'; class main { } }", "A", "A"),
    ];
    for (code, file, main) in table {
        let found = names(code);
        assert_eq!(
            (found.file.as_str(), found.main.as_str()),
            (file, main),
            "{code}"
        );
    }
}
