//! Reports of tests in every format: what is read holds together, and reading twice is the same.

use verdict::formats::{TESTS_MAX, parse};
use verdict::{ReportFormat, Untrusted};

pub(super) fn seeds() -> Vec<Vec<u8>> {
    let texts: [(ReportFormat, &str); 12] = [
        (
            ReportFormat::JunitXml,
            "<?xml version='1.0'?><testsuites><testsuite name='s' tests='2'><testcase classname='a' name='b' time='0.1'/><testcase name='c'><failure message='&lt;m'>t<![CDATA[u]]></failure></testcase></testsuite></testsuites>",
        ),
        (
            ReportFormat::Tap,
            "TAP version 14\n1..3\nok 1 - a # SKIP x\n  ---\n  duration_ms: 1\n  ...\n    ok 1 - b\n    1..1\nnot ok 2 - c # TODO\nok 3 - d {\n    ok\n    1..1\n}\n",
        ),
        (
            ReportFormat::Ctrf,
            "{\"results\":{\"tests\":[{\"name\":\"a\",\"status\":\"passed\",\"duration\":1.5}]}}",
        ),
        (
            ReportFormat::GoJson,
            "{\"Action\":\"run\",\"Package\":\"p\",\"Test\":\"A\"}\n{\"Action\":\"output\",\"Package\":\"p\",\"Test\":\"A\",\"Output\":\" a.go:3: x\\n\"}\n{\"Action\":\"fail\",\"Package\":\"p\",\"Test\":\"A\",\"Elapsed\":0.1}\n{\"Action\":\"fail\",\"Package\":\"p\"}\nFAIL\tq [build failed]\n",
        ),
        (
            ReportFormat::GoText,
            "=== RUN   A\n=== RUN   A/b\n    a.go:3: x\n--- FAIL: A (0.01s)\n    --- PASS: A/b (0.00s)\nFAIL\nFAIL\tp\t0.1s\nok  \tq\t(cached)\n",
        ),
        (
            ReportFormat::Libtest,
            "running 2 tests\ntest a ... ok\ntest b ... FAILED\n\nfailures:\n\n---- b stdout ----\nthread 'b' panicked at src/l.rs:1:2:\nx\n\nfailures:\n    b\n\ntest result: FAILED. 1 passed; 1 failed\n",
        ),
        (
            ReportFormat::LibtestJson,
            "{\"type\":\"suite\",\"event\":\"started\",\"test_count\":1}\n{\"type\":\"test\",\"name\":\"a\",\"event\":\"ok\",\"exec_time\":0.1}\n{\"type\":\"suite\",\"event\":\"ok\"}\n",
        ),
        (
            ReportFormat::GtestJson,
            "{\"testsuites\":[{\"name\":\"S\",\"testsuite\":[{\"name\":\"a\",\"status\":\"RUN\",\"result\":\"COMPLETED\",\"time\":\"0.1s\",\"failures\":[{\"failure\":\"x\"}]}]}]}",
        ),
        (
            ReportFormat::RspecJson,
            "{\"examples\":[{\"id\":\"a\",\"full_description\":\"b\",\"status\":\"failed\",\"exception\":{\"message\":\"x\"}}],\"summary\":{\"errors_outside_of_examples_count\":0}}",
        ),
        (
            ReportFormat::PytestJson,
            "{\"exitcode\":0,\"tests\":[{\"nodeid\":\"a\",\"outcome\":\"passed\",\"lineno\":1,\"call\":{\"duration\":0.1}}],\"collectors\":[{\"nodeid\":\"b\",\"outcome\":\"failed\"}]}",
        ),
        (
            ReportFormat::JestJson,
            "{\"testResults\":[{\"name\":\"a.js\",\"status\":\"passed\",\"assertionResults\":[{\"ancestorTitles\":[\"a\"],\"title\":\"b\",\"status\":\"passed\",\"location\":{\"line\":3}}]}]}",
        ),
        (
            ReportFormat::MochaJson,
            "{\"tests\":[{}],\"passes\":[{\"fullTitle\":\"a\"}],\"failures\":[],\"pending\":[]}",
        ),
    ];
    let numbered = texts.into_iter().map(|(format, text)| {
        let number = ReportFormat::ALL.iter().position(|known| *known == format);
        let number = u8::try_from(number.expect("it is known")).expect("a dozen");
        [&[number], text.as_bytes()].concat()
    });
    numbered.collect()
}

/// The first byte is the format, the rest the report.
pub(super) fn run(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else {
        return;
    };
    let format = ReportFormat::ALL[usize::from(*first) % ReportFormat::ALL.len()];
    let bytes = Untrusted::new(rest.to_vec());
    let read = parse(format, &bytes);
    assert_eq!(read, parse(format, &bytes), "reading twice is the same");
    match read {
        Ok(report) => {
            assert!(report.tests.len() <= TESTS_MAX);
            assert!(report.complete || !report.trouble.is_empty());
            for test in &report.tests {
                assert!(test.id.len() <= 1024 && test.file.len() <= 1024);
                // Each piece of text comes from the report: nothing grows beyond it.
                assert!(test.message.len() <= 3 * rest.len() + 64);
            }
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
