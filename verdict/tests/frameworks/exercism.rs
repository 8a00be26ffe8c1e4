//! Exercism's examples pass and its stubs do not, in three languages; all tests are named, so that
//! none can be left out.

use std::fs;
use std::path::{Path, PathBuf};

use verdict::{Framework, HarnessSpec, Outcome, TestStatus};

use super::{driver, has};

/// The shared data beside the checkout, or the folder that `ROLLCAGE_TEST_DATA` names.
fn folder() -> PathBuf {
    let named = std::env::var_os("ROLLCAGE_TEST_DATA").map(PathBuf::from);
    let beside = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data"));
    named.unwrap_or_else(beside).join("exercism")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).expect("a file of the set")
}

/// Judges an example and the stub in its place by the same files of tests.
#[track_caller]
fn both(spec: &HarnessSpec, tests: &[(String, String)], solution: &str, texts: &[String; 2]) {
    for (text, expected) in texts.iter().zip([Outcome::Passed, Outcome::Failed]) {
        let mut files: Vec<(&str, &str)> = vec![(solution, text)];
        files.extend(
            tests
                .iter()
                .map(|(path, text)| (path.as_str(), text.as_str())),
        );
        let verdict = driver::run_spec(spec.clone(), &files);
        let right = match expected {
            Outcome::Passed => verdict.outcome() == Outcome::Passed,
            // A stub may miss what its tests name.
            _ => matches!(verdict.outcome(), Outcome::Failed | Outcome::CompileError),
        };
        assert!(right, "{solution}: {expected:?}, {verdict:#?}");
        let passed = |test: &&verdict::TestResult| test.status == TestStatus::Passed;
        let passed = verdict.tests.iter().filter(passed).count();
        assert!(expected != Outcome::Passed || passed > 5, "{passed} passed");
    }
}

fn spec(framework: Framework, args: &[&str]) -> HarnessSpec {
    HarnessSpec {
        framework,
        args: args.iter().map(|word| (*word).to_owned()).collect(),
        ..HarnessSpec::default()
    }
}

fn available(tool: &str, test: &str) -> bool {
    has(tool, test) && (folder().is_dir() || has("the set exercism", test))
}

#[test]
fn rust_examples_pass_and_stubs_do_not() {
    if !available("cargo", "exercism/rust") {
        return;
    }
    let task = folder().join("rust/isogram");
    let tests = ["Cargo.toml", "tests/isogram.rs"];
    let tests = tests.map(|path| (path.to_owned(), read(&task.join(path))));
    let texts = [".meta/example.rs", "src/lib.rs"].map(|path| read(&task.join(path)));
    let spec = spec(Framework::CargoTest, &["--", "--include-ignored"]);
    both(&spec, &tests, "src/lib.rs", &texts);
}

#[test]
fn go_examples_pass_and_stubs_do_not() {
    if !available("go", "exercism/go") {
        return;
    }
    let task = folder().join("go/isogram");
    let tests = ["go.mod", "isogram_test.go", "cases_test.go"];
    let tests = tests.map(|path| (path.to_owned(), read(&task.join(path))));
    let texts = [".meta/example.go", "isogram.go"].map(|path| read(&task.join(path)));
    both(&spec(Framework::GoTest, &[]), &tests, "isogram.go", &texts);
}

#[test]
fn javascript_examples_pass_and_stubs_do_not() {
    if !available("jest", "exercism/javascript") {
        return;
    }
    let task = folder().join("javascript/isogram");
    let tests = read(&task.join("isogram.spec.js")).replace("xtest(", "test(");
    let package = "{\"type\": \"module\", \"jest\": {\"transform\": {}}}";
    let tests = [
        ("isogram.spec.js".to_owned(), tests),
        ("package.json".to_owned(), package.to_owned()),
    ];
    let texts = [".meta/proof.ci.js", "isogram.js"].map(|path| read(&task.join(path)));
    let mut spec = spec(Framework::Jest, &[]);
    let options = "--experimental-vm-modules --no-warnings";
    spec.env
        .insert("NODE_OPTIONS".to_owned(), options.to_owned());
    both(&spec, &tests, "isogram.js", &texts);
}
