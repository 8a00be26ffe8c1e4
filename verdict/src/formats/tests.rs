//! Every format in small: what is read of it, and how a report is cut, forged or too large.

use super::*;
use crate::verdict::TestStatus;

fn read(format: ReportFormat, text: &str) -> Result<Report, FormatError> {
    parse(format, &Untrusted::new(text.as_bytes().to_vec()))
}

/// Tests as `id=status`, with what is wrong with the report.
#[track_caller]
fn told(format: ReportFormat, text: &str) -> (Vec<String>, Vec<String>) {
    let report = read(format, text).expect("a report");
    assert_eq!(report.complete, report.trouble.is_empty(), "{report:?}");
    let told = |test: &TestResult| format!("{}={:?}", test.id, test.status);
    (report.tests.iter().map(told).collect(), report.trouble)
}

#[track_caller]
fn whole(format: ReportFormat, text: &str, expected: &[&str]) {
    let (tests, trouble) = told(format, text);
    assert_eq!(trouble, Vec::<String>::new());
    assert_eq!(tests, expected);
}

#[track_caller]
fn cut(format: ReportFormat, text: &str, expected: &[&str], why: &str) {
    let (tests, trouble) = told(format, text);
    assert_eq!(tests, expected);
    assert!(
        trouble.iter().any(|text| text.contains(why)),
        "{text}: {trouble:?}"
    );
}

#[test]
fn names_are_those_of_requests() {
    for format in ReportFormat::ALL {
        assert_eq!(ReportFormat::from_name(format.name()), Some(format));
        let written = serde_json::to_string(&format).expect("JSON");
        assert_eq!(written, format!("\"{}\"", format.name()));
    }
    assert_eq!(ReportFormat::from_name("trx"), None);
}

#[test]
fn junit_knows_retries_xfails_and_suites_that_did_not_start() {
    let text = r#"<testsuite name="s" failures="9">
        <testcase classname="a" name="flaky"><flakyFailure>no</flakyFailure></testcase>
        <testcase classname="a" name="again"><failure message="m"/><rerunFailure/></testcase>
        <testcase classname="a" name="x"><skipped type="pytest.xfail" message="later"/></testcase>
        <testcase name="run" status="run" result="completed"/>
        <testcase name="off" status="notrun" result="suppressed"/>
        <testcase name="odd" status="vanished"/>
        <testcase name="late" status="failed"/>
        <error message="no fixture"/>
    </testsuite>"#;
    let expected = [
        "a::flaky=Passed".to_owned(),
        "a::again=Failed".to_owned(),
        format!("a::x={XFAIL:?}"),
        "s::run=Passed".to_owned(),
        "s::off=Skipped".to_owned(),
        "s::odd=Error".to_owned(),
        "s::late=Failed".to_owned(),
        "s=Error".to_owned(),
    ];
    assert_eq!(told(ReportFormat::JunitXml, text).0, expected);
}

#[test]
fn junit_s_sums_are_a_hint_and_no_proof() {
    let report = read(
        ReportFormat::JunitXml,
        r#"<testsuite name="s" tests="500" failures="1"><testcase name="a"/></testsuite>"#,
    );
    let report = report.expect("a report");
    assert_eq!((report.tests.len(), report.declared), (1, None));
    assert!(
        report.trouble[0].contains("says that tests failed"),
        "{report:?}"
    );
}

#[test]
fn a_junit_report_that_breaks_off_is_not_complete() {
    let text = r#"<testsuite><testcase name="a"/><testcase name="b"><fail"#;
    cut(ReportFormat::JunitXml, text, &["a=Passed"], "breaks off");
    let nothing = read(ReportFormat::JunitXml, "<testsuite><testcase name='a'>");
    assert!(
        matches!(nothing, Err(FormatError::Truncated { .. })),
        "{nothing:?}"
    );
}

#[test]
fn tap_has_plans_directives_and_subtests() {
    let text = "TAP version 14\n1..4\nok 1 - a\n  ---\n  duration_ms: 12.5\n  ...\n\
        # Subtest: b\n    ok 1 - c\n    not ok 2 - d # Todo later\n    1..2\nok 2 - b\n\
        ok 3 - e # SKIP why\nok 4 \\# f {\n    ok 1 - g\n    1..1\n}\n";
    let xfail = format!("b > d={XFAIL:?}");
    let tests = [
        "a=Passed",
        "b > c=Passed",
        &xfail,
        "b=Passed",
        "e=Skipped",
        "# f > g=Passed",
        "# f=Passed",
    ];
    whole(ReportFormat::Tap, text, &tests);
    assert_eq!(
        read(ReportFormat::Tap, text).expect("a report").tests[0].duration_ms,
        12
    );
}

#[test]
fn tap_that_does_not_keep_its_plan_is_not_complete() {
    let cases = [
        ("1..2\nok 1 - a\n", "1 tests were told"),
        ("ok 1 - a\n", "no plan"),
        ("1..1\nok 1 - a\nok 2 - b\n", "is not in the plan"),
        ("1..2\nok 1 - a\nok 1 - b\n", "twice"),
        ("1..2\nok 1 - a\nBail out! no more\n", "Bail out! no more"),
        ("ok 1 - a\n1..1\n1..1\n", "two plans"),
    ];
    for (text, why) in cases {
        let (_, trouble) = told(ReportFormat::Tap, text);
        assert!(
            trouble.iter().any(|text| text.contains(why)),
            "{text}: {trouble:?}"
        );
    }
    assert_eq!(
        read(ReportFormat::Tap, "1..0 # no tests\n")
            .expect("a report")
            .declared,
        Some(0)
    );
    assert!(read(ReportFormat::Tap, "hello\n").is_err());
}

#[test]
fn libtest_that_ends_in_between_is_not_complete() {
    let text = "\nrunning 2 tests\ntest a::b ... ok\ntest c - should panic ... ok\n\n\
        test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\n";
    whole(ReportFormat::Libtest, text, &["a::b=Passed", "c=Passed"]);
    let exits = format!("{text}\nrunning 3 tests\n");
    cut(
        ReportFormat::Libtest,
        &exits,
        &["a::b=Passed", "c=Passed"],
        "0 of 3 were told",
    );
    let fewer = text.replace("running 2", "running 3");
    cut(
        ReportFormat::Libtest,
        &fewer,
        &["a::b=Passed", "c=Passed"],
        "announced 3",
    );
    assert!(read(ReportFormat::Libtest, "hello\n").is_err());
}

#[test]
fn libtest_gives_failures_their_message_and_place() {
    let text = "running 1 test\ntest t ... FAILED\n\nfailures:\n\n---- t stdout ----\n\n\
        thread 't' (12) panicked at src/lib.rs:7:9:\nassertion failed\n\n\nfailures:\n    t\n\n\
        test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\n";
    let report = read(ReportFormat::Libtest, text).expect("a report");
    let test = &report.tests[0];
    assert_eq!((test.file.as_str(), test.line), ("src/lib.rs", Some(7)));
    assert!(test.message.contains("assertion failed"), "{test:?}");
    assert!(report.complete, "{report:?}");
}

#[test]
fn libtest_json_counts_its_groups() {
    let text = concat!(
        r#"{ "type": "suite", "event": "started", "test_count": 2 }"#,
        "\nnoise\n",
        r#"{ "type": "test", "event": "started", "name": "a" }"#,
        "\n",
        r#"{ "type": "test", "name": "a", "event": "ok", "exec_time": 0.5 }"#,
        "\n",
        r#"{ "type": "test", "name": "b", "event": "failed", "stdout": "panicked at 'no', src/lib.rs:3:5\n" }"#,
        "\n",
    );
    let end = r#"{ "type": "suite", "event": "failed", "passed": 1, "failed": 1 }"#;
    let all = format!("{text}{end}\n");
    whole(ReportFormat::LibtestJson, &all, &["a=Passed", "b=Failed"]);
    let report = read(ReportFormat::LibtestJson, &all).expect("a report");
    assert_eq!(
        (report.tests[0].duration_ms, report.tests[1].line),
        (500, Some(3))
    );
    cut(
        ReportFormat::LibtestJson,
        text,
        &["a=Passed", "b=Failed"],
        "2 of 2 were told",
    );
}

#[test]
fn go_tests_that_do_not_end_are_errors() {
    let run = r#"{"Action":"run","Package":"p","Test":"TestA"}"#;
    let pass = r#"{"Action":"pass","Package":"p","Test":"TestA","Elapsed":0.25}"#;
    let ok = r#"{"Action":"pass","Package":"p"}"#;
    whole(
        ReportFormat::GoJson,
        &format!("{run}\n{pass}\n{ok}\n"),
        &["p::TestA=Passed"],
    );
    // os.Exit(0): the test never ended, whatever the package says.
    cut(
        ReportFormat::GoJson,
        &format!("{run}\n{ok}\n"),
        &["p::TestA=Error"],
        "did not end",
    );
    cut(
        ReportFormat::GoJson,
        &format!("{run}\n{pass}\n"),
        &["p::TestA=Passed"],
        "`p` did not end",
    );
    let twice = format!("{run}\n{pass}\n{run}\n{pass}\n{ok}\n");
    whole(
        ReportFormat::GoJson,
        &twice,
        &["p::TestA=Passed", "p::TestA=Passed"],
    );
    let text = "=== RUN   TestA\n--- PASS: TestA (0.00s)\nPASS\nok  \tp\t0.1s\n";
    whole(ReportFormat::GoText, text, &["p::TestA=Passed"]);
    let text = "=== RUN   TestA\n";
    cut(ReportFormat::GoText, text, &["TestA=Error"], "did not end");
}

#[test]
fn go_packages_that_do_not_compile_are_errors() {
    let text = concat!(
        r#"{"ImportPath":"p [p.test]","Action":"build-output","Output":"./a.go:3:1: undefined: x\n"}"#,
        "\n",
        r#"{"ImportPath":"p [p.test]","Action":"build-fail"}"#,
        "\n",
        r#"{"Action":"fail","Package":"p","FailedBuild":"p [p.test]"}"#,
        "\n",
    );
    let report = read(ReportFormat::GoJson, text).expect("a report");
    assert_eq!(report.tests.len(), 1);
    let test = &report.tests[0];
    assert_eq!((test.id.as_str(), test.status), ("p", TestStatus::Error));
    assert_eq!((test.file.as_str(), test.line), ("./a.go", Some(3)));
}

#[test]
fn documents_of_json_are_read() {
    let gtest = r#"{"tests":3,"testsuites":[{"name":"S","testsuite":[
        {"name":"a","status":"RUN","result":"COMPLETED","time":"0.5s","classname":"S","line":4,"file":"t.cc"},
        {"name":"b","status":"RUN","result":"COMPLETED","classname":"S","failures":[{"failure":"t.cc:9\nno","type":""}]},
        {"name":"c","status":"NOTRUN","result":"SUPPRESSED","classname":"S"}]}]}"#;
    whole(
        ReportFormat::GtestJson,
        gtest,
        &["S::a=Passed", "S::b=Failed", "S::c=Skipped"],
    );
    let pytest = r#"{"exitcode":1,"tests":[
        {"nodeid":"t.py::a","lineno":1,"outcome":"passed","call":{"duration":0.5}},
        {"nodeid":"t.py::b","outcome":"error","setup":{"crash":{"path":"t.py","lineno":3,"message":"no"}}}],
        "collectors":[{"nodeid":"u.py","outcome":"failed","longrepr":"SyntaxError"}]}"#;
    whole(
        ReportFormat::PytestJson,
        pytest,
        &["t.py::a=Passed", "t.py::b=Error", "u.py=Error"],
    );
    let interrupted = r#"{"exitcode":2,"tests":[]}"#;
    cut(ReportFormat::PytestJson, interrupted, &[], "code 2");
    let rspec = r#"{"examples":[{"id":"./a[1]","full_description":"A b","status":"pending"}],
        "summary":{"errors_outside_of_examples_count":1},"messages":["no"]}"#;
    cut(
        ReportFormat::RspecJson,
        rspec,
        &["A b=Skipped"],
        "outside of the examples",
    );
    let jest = r#"{"testResults":[{"name":"a.js","status":"failed","message":"SyntaxError","assertionResults":[]}]}"#;
    whole(ReportFormat::JestJson, jest, &["a.js=Error"]);
    let ctrf = r#"{"results":{"summary":{"tests":9},"tests":[{"name":"a","status":"other","rawStatus":"x"},
        {"name":"b","status":"skipped","rawStatus":"xfailed","duration":7}]}}"#;
    whole(
        ReportFormat::Ctrf,
        ctrf,
        &["a=Error", &format!("b={XFAIL:?}")],
    );
    let mocha = r#"{"tests":[{},{}],"passes":[{"fullTitle":"a b"}],"failures":[],"pending":[]}"#;
    cut(
        ReportFormat::MochaJson,
        mocha,
        &["a b=Passed"],
        "of 2 tests only 1",
    );
}

#[test]
fn documents_that_break_off_or_are_none_are_refused() {
    let truncated = r#"{"results":{"tests":[{"name":"a","status":"passed"}"#;
    let error = read(ReportFormat::Ctrf, truncated).expect_err("it breaks off");
    assert!(matches!(error, FormatError::Truncated { .. }), "{error:?}");
    for format in ReportFormat::ALL {
        assert_eq!(read(format, " \n"), Err(FormatError::Empty), "{format}");
        let error = read(format, "[1, 2]").expect_err("no report");
        assert!(
            matches!(error, FormatError::Malformed { .. }),
            "{format}: {error:?}"
        );
        let long = Untrusted::new(vec![b' '; FORMAT_BYTES_MAX + 1]);
        assert!(matches!(
            parse(format, &long),
            Err(FormatError::TooLong { .. })
        ));
    }
}

#[test]
fn tests_and_depth_are_bounded() {
    let many = format!(
        "<testsuite>{}</testsuite>",
        "<testcase name='a'/>".repeat(TESTS_MAX + 1)
    );
    assert_eq!(
        read(ReportFormat::JunitXml, &many),
        Err(FormatError::TooManyTests)
    );
    let many = format!(
        "{{\"results\":{{\"tests\":[{}0]}}}}",
        r#"{"name":"","status":""},"#.repeat(TESTS_MAX + 1)
    );
    assert_eq!(
        read(ReportFormat::Ctrf, &many),
        Err(FormatError::TooManyTests)
    );
    let deep = "[".repeat(100_000);
    assert!(read(ReportFormat::JestJson, &deep).is_err());
    let deep = format!("1..1\n{}ok 1\n", " ".repeat(4 * 10_000));
    assert!(read(ReportFormat::Tap, &deep).is_ok());
}

#[test]
fn long_texts_are_cut_and_cleaned() {
    let text = format!(
        "<testsuite><testcase name='{}\u{7}'><failure>{}</failure></testcase></testsuite>",
        "n".repeat(5000),
        "é".repeat(5000)
    );
    let report = read(ReportFormat::JunitXml, &text).expect("a report");
    assert_eq!(report.tests[0].id.len(), 1024);
    assert!(report.tests[0].message.len() <= 4096);
}
