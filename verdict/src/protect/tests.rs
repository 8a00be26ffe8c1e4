//! What a verification starts from, by what the request brought and what its run left.

use super::{
    Files, Lists, STEPS_MAX, Workspace, lay_out, matches, matches_whole, steps, with_protected,
};
use crate::verify::{Framework, GitScrub, HarnessSpec, Phase, ReportFrom, TestFile, VerifySpec};

fn files(rows: &[(&str, &str)]) -> Files {
    let file = |(path, text): &(&str, &str)| {
        let content = text.as_bytes().to_vec();
        let mode = 0o644;
        ((*path).to_owned(), TestFile { content, mode })
    };
    rows.iter().map(file).collect()
}

fn pytest() -> Lists {
    Lists::of(&VerifySpec::Harness(HarnessSpec {
        framework: Framework::Pytest,
        ..HarnessSpec::default()
    }))
}

fn tests(rows: &[(&str, &str)]) -> Phase {
    Phase {
        test_files: files(rows),
        ..Phase::default()
    }
}

fn notes(laid: &Workspace) -> Vec<&str> {
    laid.tamper.iter().map(|note| note.path.as_str()).collect()
}

#[test]
fn globs_match_by_component_and_below_a_folder() {
    for (glob, path) in [
        ("a.py", "a.py"),
        ("tests", "tests/a/b.py"),
        ("**/conftest.py", "conftest.py"),
        ("**/conftest.py", "a/b/conftest.py"),
        ("src/*.rs", "src/a.rs"),
        ("a/**/z", "a/z"),
        ("a/**/z", "a/b/c/z"),
        ("**", "a/b"),
        ("*a*b?", "xxaybz"),
    ] {
        assert!(matches(glob, path), "{glob} {path}");
    }
    for (glob, path) in [
        ("a.py", "b/a.py"),
        ("tests", "mytests/a.py"),
        ("src/*.rs", "src/a/b.rs"),
        ("**/conftest.py", "conftest.pyx"),
        ("a/?", "a/bb"),
        ("a/b", "a"),
    ] {
        assert!(!matches(glob, path), "{glob} {path}");
    }
    assert!(matches("tests", "tests/a") && !matches_whole("tests", "tests/a"));
    assert!(matches_whole("**", "tests/a") && matches_whole("t*/?", "tests/a"));
}

#[test]
fn what_a_run_did_to_the_tests_is_undone_and_told() {
    let requested = files(&[
        ("solution.py", "old"),
        ("conftest.py", "author"),
        ("pytest.ini", "author"),
        ("tox.ini", "same"),
    ]);
    let left = files(&[
        ("solution.py", "new"),
        ("conftest.py", "hook"),
        ("tox.ini", "same"),
        ("sub/conftest.py", "hook"),
        ("sitecustomize.py", "hook"),
        ("__pycache__/solution.cpython-311.pyc", "cache"),
        ("test_it.py", "pass"),
        (".rollcage/runner.py", "hook"),
    ]);
    let phase = tests(&[("test_it.py", "assert")]);
    let laid = lay_out(&phase, &pytest(), &requested, Some(left));
    let expected = files(&[
        ("solution.py", "new"),
        ("conftest.py", "author"),
        ("pytest.ini", "author"),
        ("tox.ini", "same"),
        ("test_it.py", "assert"),
    ]);
    assert_eq!(laid.files, expected);
    assert_eq!(
        notes(&laid),
        [
            ".rollcage/runner.py",
            "conftest.py",
            "sitecustomize.py",
            "sub/conftest.py",
            "test_it.py",
            "pytest.ini",
        ]
    );
}

#[test]
fn without_a_run_the_environment_is_taken_as_it_was_given() {
    let requested = files(&[
        ("solution.py", "x"),
        ("conftest.py", "author"),
        ("test_it.py", "older"),
        ("usercustomize.py", "hook"),
    ]);
    let phase = tests(&[("test_it.py", "assert")]);
    let laid = lay_out(&phase, &pytest(), &requested, None);
    let expected = files(&[
        ("solution.py", "x"),
        ("conftest.py", "author"),
        ("test_it.py", "assert"),
    ]);
    assert_eq!(laid.files, expected);
    assert_eq!(notes(&laid), ["usercustomize.py"]);
}

#[test]
fn nothing_of_the_solution_is_in_the_way_of_the_tests() {
    let requested = files(&[("s.py", "x")]);
    let left = files(&[("s.py", "x"), ("tests", "file"), ("run.sh/x", "y")]);
    let phase = tests(&[("tests/a.py", "assert"), ("run.sh", "pytest")]);
    let laid = lay_out(&phase, &pytest(), &requested, Some(left));
    let expected = files(&[
        ("s.py", "x"),
        ("tests/a.py", "assert"),
        ("run.sh", "pytest"),
    ]);
    assert_eq!(laid.files, expected);
    assert_eq!(notes(&laid), ["run.sh/x", "tests"]);
}

#[test]
fn a_report_that_was_written_before_is_none() {
    let lists = Lists::of(&VerifySpec::Harness(HarnessSpec {
        framework: Framework::JunitXml,
        report: ReportFrom::File("out/report.xml".to_owned()),
        ..HarnessSpec::default()
    }));
    let forged = files(&[("out/report.xml", "passed"), ("s.py", "x")]);
    for left in [None, Some(forged.clone())] {
        let laid = lay_out(&Phase::default(), &lists, &forged, left);
        assert_eq!(laid.files, files(&[("s.py", "x")]));
        assert_eq!(notes(&laid), ["out/report.xml"]);
    }
}

#[test]
fn an_authors_own_globs_count_as_well() {
    let requested = files(&[("s.py", "x"), ("data/answers.txt", "42")]);
    let left = files(&[("s.py", "y")]);
    let phase = Phase {
        protected: vec!["data".to_owned()],
        ..Phase::default()
    };
    let laid = lay_out(&phase, &pytest(), &requested, Some(left));
    assert_eq!(
        laid.files,
        files(&[("s.py", "y"), ("data/answers.txt", "42")])
    );
    assert_eq!(notes(&laid), ["data/answers.txt"]);
}

#[test]
fn any_number_of_files_makes_a_bounded_number_of_notes() {
    let left: Files = (0..500)
        .map(|number| (format!("d{number}/conftest.py"), TestFile::default()))
        .collect();
    let laid = lay_out(&Phase::default(), &pytest(), &Files::new(), Some(left));
    assert_eq!((laid.files.len(), laid.tamper.len()), (0, 100));
}

#[test]
fn what_takes_too_long_to_compare_is_known_before() {
    let globs = vec!["**/a/".repeat(500) + "b"; 200];
    let paths = vec!["a/".repeat(1500) + "f"; 200];
    assert!(steps(globs.iter(), paths.iter()) > STEPS_MAX);
    let lists = Lists::of(&VerifySpec::Harness(HarnessSpec::default()));
    let usual = (0..50_000).map(|n| format!("django/contrib/admin/static/js/file_{n}.js"));
    assert!(steps(lists.globs(), usual) < STEPS_MAX);
}

#[test]
fn a_scrubbed_repository_is_as_it_was_whatever_the_run_did_to_it() {
    let phase = Phase {
        git: GitScrub::Scrub,
        ..tests(&[("t.py", "1")])
    };
    let requested = files(&[
        (".git/HEAD", "a"),
        (".git/refs/heads/main", "b"),
        ("s.py", "x"),
    ]);
    let left = files(&[
        (".git/HEAD", "other"),
        (".git/hooks/x", "y"),
        ("sub/.git", "gitdir: /"),
        ("s.py", "z"),
    ]);
    let laid = lay_out(&phase, &pytest(), &requested, Some(left.clone()));
    let expected = files(&[
        (".git/HEAD", "a"),
        (".git/refs/heads/main", "b"),
        ("s.py", "z"),
        ("t.py", "1"),
    ]);
    assert_eq!(laid.files, expected);
    assert!(notes(&laid).is_empty(), "{laid:?}");
    let kept = lay_out(&tests(&[]), &pytest(), &requested, Some(left.clone()));
    assert_eq!(kept.files, left);
    // Without a run what lies there is what the scrub made.
    let alone = lay_out(&phase, &pytest(), &requested, None);
    assert!(alone.files.contains_key(".git/HEAD"), "{alone:?}");
}

#[test]
fn what_an_author_protects_by_name_is_obeyed_as_the_authors() {
    let spec = |test_files: &[(&str, &str)], protected: &[&str]| {
        VerifySpec::Harness(HarnessSpec {
            framework: Framework::Pytest,
            phase: Phase {
                protected: protected.iter().map(|glob| (*glob).to_owned()).collect(),
                ..tests(test_files)
            },
            ..HarnessSpec::default()
        })
    };
    let requested = files(&[
        ("tests/conftest.py", "c"),
        ("setup.cfg", "s"),
        ("calc.py", "x"),
    ]);
    let brought = |spec: &VerifySpec| {
        let spec = with_protected(spec, &requested);
        let phase = spec.phase().expect("a phase");
        phase.test_files.keys().cloned().collect::<Vec<_>>()
    };
    let brings = [("tests/test_a.py", "t")];
    // Nothing is the author's because of its name alone.
    assert_eq!(brought(&spec(&brings, &[])), ["tests/test_a.py"]);
    assert_eq!(
        brought(&spec(&brings, &["tests"])),
        ["tests/conftest.py", "tests/test_a.py"]
    );
    // Where the author brings nothing, the runner knows tests by their names.
    assert!(brought(&spec(&[], &["tests"])).is_empty());
}
