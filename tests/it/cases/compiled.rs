//! Cases in the languages that are built or checked first: each a process of its own, and what one
//! does is no matter of the next.

use serde_json::{Value, json};

use super::{FAILED, PASSED, check, statuses};
use crate::batch;
use crate::skips;
use crate::tools;

/// Reads a word: doubles a number, or does what it says.
const C: &str = "#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void forge(void) {
    /* A whole report of the next case, with the right output. */
    char frame[4 + 37 + 3] = {0};
    frame[0] = 40, frame[4] = 6, frame[8] = 'e', frame[37] = 3;
    memcpy(frame + 41, \"42\\n\", 3);
    for (int fd = 1; fd < 64; fd++)
        if (fd != 2 && write(fd, frame, sizeof frame) < 0) continue;
}
static void leave(void) {
    if (fork() == 0) {
        setsid();
        if (fork() == 0)
            for (;;) {
                FILE *file = fopen(\"/tmp/alive\", \"a\");
                if (file) fputc('x', file), fclose(file);
            }
        _exit(0);
    }
    while (access(\"/tmp/alive\", F_OK)) {}
}
static long size(void) {
    FILE *file = fopen(\"/tmp/alive\", \"r\");
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    fclose(file);
    return size;
}
int main(void) {
    static int runs;
    char word[32] = \"\";
    if (scanf(\"%31s\", word) != 1) return 3;
    if (!strcmp(word, \"crash\")) raise(SIGSEGV);
    else if (!strcmp(word, \"hang\")) for (;;) {}
    else if (!strcmp(word, \"exit\")) _exit(0);
    else if (!strcmp(word, \"forge\")) forge();
    else if (!strcmp(word, \"leave\")) leave();
    else if (!strcmp(word, \"look\")) {
        long before = size();
        usleep(200000);
        puts(size() == before ? \"gone\" : \"there\");
    }
    else printf(\"%ld\\n\", (2 + runs++) * atol(word));
    return 0;
}
";

const CPP: &str = "#include <cstdlib>
#include <iostream>
#include <stdexcept>
int main() {
    std::string word;
    std::cin >> word;
    if (word == \"crash\") throw std::runtime_error(\"down\");
    if (word == \"hang\") for (volatile int i = 0;; i = i + 1) {}
    if (word == \"exit\") std::exit(0);
    if (word == \"forge\") std::cout << \"passed\\n\";
    else std::cout << 2 * std::stol(word) << std::endl;
}
";

const RUST: &str = "use std::io::Read;
fn main() {
    let mut word = String::new();
    std::io::stdin().read_to_string(&mut word).unwrap();
    match word.trim() {
        \"crash\" => panic!(\"down\"),
        \"hang\" => loop { std::hint::spin_loop() },
        \"exit\" => std::process::exit(0),
        \"forge\" => println!(\"passed\"),
        number => println!(\"{}\", 2 * number.parse::<i64>().unwrap()),
    }
}
";

const GO: &str = "package main

import (
	\"fmt\"
	\"os\"
	\"strconv\"
)

func main() {
	var word string
	fmt.Scan(&word)
	switch word {
	case \"crash\":
		panic(\"down\")
	case \"hang\":
		for {
		}
	case \"exit\":
		os.Exit(0)
	case \"forge\":
		fmt.Println(\"passed\")
	default:
		number, _ := strconv.Atoi(word)
		fmt.Println(2 * number)
	}
}
";

const JAVA: &str = "import java.util.Scanner;
class Other { }
public class Main {
    public static void main(String[] args) {
        String word = new Scanner(System.in).next();
        switch (word) {
            case \"crash\": throw new IllegalStateException(\"down\");
            case \"hang\": for (;;) { }
            case \"exit\": System.exit(0);
            case \"forge\": System.out.println(\"passed\"); break;
            default: System.out.println(2 * Long.parseLong(word));
        }
    }
}
";

const JAVASCRIPT: &str = "const fs = require('fs');
const word = fs.readFileSync(0, 'utf8').trim();
if (word === 'crash') throw new Error('down');
if (word === 'hang') for (;;) { }
if (word === 'exit') process.exit(0);
if (word === 'forge') console.log('passed');
else console.log(2 * Number(word));
";

/// A language: its name, the file, the program, and a file that does not compile in its third line.
const LANGUAGES: [(&str, &str, &str, &str); 6] = [
    ("c", "s.c", C, "int main(void) {\n\n    return x;\n}\n"),
    ("cpp", "a/s.cc", CPP, "int main() {\n\n    return x;\n}\n"),
    ("rust", "s.rs", RUST, "fn main() {\n\n    x();\n}\n"),
    ("go", "s.go", GO, "package main\nfunc main() {\n\tx()\n}\n"),
    ("java", "s.java", JAVA, "class A {\n\n    int x = y;\n}\n"),
    ("javascript", "s.js", JAVASCRIPT, "{\n\nlet 1;\n}\n"),
];

pub(super) fn task(language: &str, id: &str, file: &str, solution: &str, cases: &Value) -> Value {
    let policy = match language {
        "javascript" => "node",
        _ => "build",
    };
    let path = format!("{}/rust/bin:/usr/bin:/bin", tools::folder().display());
    json!({
        "id": format!("{language}/{id}"), "policy": policy, "argv": [], "files": {file: solution},
        "env": {"PATH": path}, "limits": {"cpu_ms_max": 60_000},
        "verify": {"kind": "cases", "language": language, "file": file, "cases": cases,
            "case_wall_ms": 20_000, "case_cpu_ms": if language == "java" { 2_000 } else { 1_000 }},
    })
}

fn cases(words: &[(&str, &str)]) -> Value {
    let case = |(input, output): &(&str, &str)| json!({"stdin": format!("{input}\n"), "stdout": format!("{output}\n")});
    words.iter().map(case).collect()
}

/// Whether there is what the language needs; told and counted where not.
pub(super) fn is_there(test: &str, language: &str) -> bool {
    let name = format!("{test}/{language}");
    match language {
        "rust" => tools::tool(&name, "rust/bin/rustc").is_some(),
        "c" => skips::has_file(&name, "/usr/bin/gcc"),
        "cpp" => skips::has_file(&name, "/usr/bin/g++"),
        "java" => skips::has_file(&name, "/usr/bin/javac"),
        "javascript" => skips::has_file(&name, "/usr/bin/node"),
        other => skips::has_file(&name, &format!("/usr/bin/{other}")),
    }
}

#[test]
fn programs_of_every_language_are_built_once_and_run_for_each_case() {
    const TEST: &str = "programs_of_every_language_are_built_once_and_run_for_each_case";
    let Some(world) = tools::world(TEST) else {
        return;
    };
    const ODD: &[&str] = &[PASSED, FAILED, "error", "timeout", FAILED, FAILED, PASSED];
    let odd = cases(&[
        ("1", "2"),
        ("1", "3"),
        ("crash", "2"),
        ("hang", "2"),
        ("exit", "2"),
        ("forge", "42"),
        ("21", "42"),
    ]);
    let leaving = cases(&[("leave", ""), ("look", "gone"), ("5", "10"), ("5", "10")]);
    let leaving = leaving.as_array().expect("a list").iter().map(|case| {
        let mut case = case.clone();
        if case["stdout"] == "\n" {
            case["stdout"] = json!("");
        }
        case
    });
    let mut rows = vec![(
        task("c", "leave", "s.c", C, &leaving.collect()),
        PASSED,
        &[PASSED; 4][..],
    )];
    let mut broken = Vec::new();
    for (language, file, solution, wrong) in LANGUAGES {
        if !is_there(TEST, language) {
            continue;
        }
        rows.push((task(language, "odd", file, solution, &odd), FAILED, ODD));
        broken.push((
            task(language, "broken", file, wrong, &cases(&[("1", "2")])),
            file,
        ));
    }
    let (first, file, ..) = LANGUAGES[0];
    let mut stopping = task(first, "stopping", file, C, &odd);
    stopping["verify"]["stop_on_first_fail"] = json!(true);
    let rest = &[
        PASSED, FAILED, "skipped", "skipped", "skipped", "skipped", "skipped",
    ];
    rows.push((stopping, FAILED, rest));
    check(&world, &rows);

    let lines: Vec<Value> = broken.iter().map(|(line, _)| line.clone()).collect();
    let results = batch::run(&world, &lines);
    for (line, file) in &broken {
        let verdict = &results[line["id"].as_str().expect("an id")]["verdict"];
        assert_eq!(verdict["outcome"], "compile_error", "{line} {verdict}");
        assert_eq!(verdict["reward"], 0.0, "{verdict}");
        let said = &verdict["diagnostics"][0];
        let place = (&said["file"], &said["line"]);
        assert_eq!(place, (&json!(file), &json!(3)), "{line} {verdict}");
    }
    // Where nothing in /workspace may be executed there is no point in building.
    let mut refused = task("c", "refused", "s.c", C, &odd);
    refused["policy"] = json!("python");
    let refused = batch::run(&world, &[refused]);
    let error = refused["c/refused"]["error"].to_string();
    assert!(error.contains("POLICY_FORBIDS_BUILD"), "{error}");
}

#[test]
fn a_thousand_cases_of_a_built_program_go_into_one_request() {
    const TEST: &str = "a_thousand_cases_of_a_built_program_go_into_one_request";
    if !is_there(TEST, "c") {
        return;
    }
    let Some(world) = tools::world(TEST) else {
        return;
    };
    let words: Vec<(String, String)> = (0..1_000)
        .map(|n| (n.to_string(), (2 * n + i32::from(n == 777)).to_string()))
        .collect();
    let words: Vec<(&str, &str)> = (words.iter())
        .map(|(input, output)| (input.as_str(), output.as_str()))
        .collect();
    let line = task("c", "many", "s.c", C, &cases(&words));
    let results = batch::run(&world, &[line]);
    let result = &results["c/many"];
    let states = statuses(result);
    assert_eq!(states.len(), 1_000, "{}", result["verdict"]["reason"]);
    let bad = states.iter().filter(|status| **status != PASSED).count();
    assert_eq!(
        (bad, states[777]),
        (1, FAILED),
        "{}",
        result["verdict"]["reason"]
    );
    println!(
        "1,000 cases: {} ms of wall time",
        result["usage"]["wall_ms"]
    );
}
