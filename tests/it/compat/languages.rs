//! Each language that the image has runs; one that it has not is told with those that it has.

use serde_json::{Value, json};

use super::endpoint::Endpoint;
use super::{python, summary, with};
use crate::{skips, tools};

/// Language, program, what it prints for the input `word`, and what must be there for it.
const LANGUAGES: &[(&str, &str, &str, &str)] = &[
    ("bash", "read w; echo $w!", "word!\n", "/usr/bin/bash"),
    (
        "cpp",
        "#include <iostream>\nint main() { std::string w; std::cin >> w; std::cout << w << \"!\\n\"; }",
        "word!\n",
        "/usr/bin/g++",
    ),
    (
        "go",
        "package main\nimport \"fmt\"\nfunc main() { var w string; fmt.Scan(&w); fmt.Println(w + \"!\") }",
        "word!\n",
        "/usr/bin/go",
    ),
    (
        "go_test",
        "package a\nimport \"testing\"\nfunc TestOne(t *testing.T) {}",
        "--- PASS: TestOne",
        "/usr/bin/go",
    ),
    (
        "java",
        "public class Shout { public static void main(String[] a) {\n\
         System.out.println(new java.util.Scanner(System.in).next() + \"!\"); } }",
        "word!\n",
        "/usr/bin/javac",
    ),
    (
        "jest",
        "test('one', () => { console.log('word!'); expect(1).toBe(1); })",
        "word!",
        "jest/node_modules/.bin/jest",
    ),
    (
        "lua",
        "print(io.read() .. '!')",
        "word!\n",
        "/usr/bin/lua5.4",
    ),
    (
        "nodejs",
        "console.log(require('fs').readFileSync(0, 'utf8') + '!')",
        "word!\n",
        "/usr/bin/node",
    ),
    (
        "perl",
        "print <STDIN> . \"!\\n\"",
        "word!\n",
        "/usr/bin/perl",
    ),
    (
        "php",
        "<?php echo fgets(STDIN) . \"!\\n\";",
        "word!\n",
        "/usr/bin/php",
    ),
    (
        "pytest",
        "def test_one():\n    assert True",
        "1 passed",
        "/usr/lib/python3/dist-packages/pytest",
    ),
    (
        "python",
        "print(input() + '!')",
        "word!\n",
        "/usr/bin/python3",
    ),
    ("ruby", "puts gets + '!'", "word!\n", "/usr/bin/ruby"),
    (
        "rust",
        "fn main() { let mut w = String::new(); std::io::stdin().read_line(&mut w).unwrap();\n\
         println!(\"{w}!\"); }",
        "word!\n",
        "rust/bin/rustc",
    ),
    (
        "sql",
        "select 'word' || '!';",
        "word!\n",
        "/usr/bin/sqlite3",
    ),
];

#[test]
fn each_language_that_is_there_runs_its_program() {
    const TEST: &str = "compat::languages::each_language_that_is_there_runs_its_program";
    let Some(world) = tools::world(TEST) else {
        return;
    };
    let folder = tools::folder();
    let folder = folder.to_str().expect("the folder's name is text");
    let path =
        format!("{folder}/rust/bin:{folder}/jest/node_modules/.bin:/usr/local/bin:/usr/bin:/bin");
    let endpoint = Endpoint::start(&world, &["--path", &path]);
    let is_there = |needed: &str| match needed.starts_with('/') {
        true => skips::has_file(&format!("{TEST}/{needed}"), needed),
        false => tools::tool(&format!("{TEST}/{needed}"), needed).is_some(),
    };
    let there: Vec<_> = LANGUAGES.iter().filter(|row| is_there(row.3)).collect();
    let ask = |(language, code, _, _): &&(&str, &str, &str, &str)| {
        json!({
            "language": language, "code": code, "stdin": "word",
            "compile_timeout": 120, "run_timeout": 60,
        })
    };
    let bodies: Vec<Value> = there.iter().map(ask).collect();
    for (reply, (language, _, prints, _)) in endpoint.ask_at_once(&bodies).iter().zip(&there) {
        assert_eq!(reply.code, 200, "{language}: {}", reply.body);
        assert_eq!(
            reply.body["status"], "Success",
            "{language}: {}",
            reply.body
        );
        let stdout = reply.body["run_result"]["stdout"].as_str().expect("text");
        // Of frameworks only a part is ours to expect.
        let is_right = match prints.ends_with('\n') {
            true => stdout == *prints,
            false => stdout.contains(prints),
        };
        assert!(is_right, "{language}: {}", reply.body);
        let built = ["cpp", "go", "go_test", "java", "rust"].contains(language);
        assert_eq!(reply.body["compile_result"].is_null(), !built, "{language}");
    }
}

#[test]
fn a_language_that_is_missing_is_told_with_those_that_are_there() {
    let test = "compat::languages::a_language_that_is_missing_is_told_with_those_that_are_there";
    let Some((_world, endpoint)) = super::serve(test, "", &[]) else {
        return;
    };
    let reply = endpoint.ask(&with(python(""), "language", json!("scala")));
    assert_eq!(reply.code, 422, "{}", reply.body);
    let told = reply.body["message"].as_str().expect("a message");
    let there = told
        .strip_prefix("language = \"scala\": not available on this node; available: ")
        .unwrap_or_else(|| panic!("{told}"));
    assert!(there.split(", ").any(|name| name == "python"), "{told}");
    let reply = endpoint.ask(&python("print(1)"));
    assert_eq!(summary(&reply), "Success; -; Finished 0");
}
