//! Reports of tests in every format: what is read holds together, and reading twice is the same.
//! And reports of the runners of test frameworks, to a verdict.

use std::collections::BTreeMap;

use verdict::formats::{TESTS_MAX, parse};
use verdict::harness::{HarnessEvidence, judge};
use verdict::{
    Ended, Ending, Framework, HarnessSpec, Outcome, Output, ReportFormat, Untrusted, VerifySpec,
};

use super::verdicts::holds_together;

const NONCE: &str = "4f1c9b7e6a5d4c3b2a19080706050403";
const FRAMEWORKS: [Framework; 8] = [
    Framework::CargoTest,
    Framework::GoTest,
    Framework::NodeTest,
    Framework::Jest,
    Framework::Pytest,
    Framework::Unittest,
    Framework::JunitXml,
    Framework::Tap,
];

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

pub(super) fn framework_seeds() -> Vec<Vec<u8>> {
    let lines = format!(
        "{{\"nonce\":\"{NONCE}\",\"event\":\"test\",\"id\":\"a\",\"status\":\"passed\"}}\n{{\"nonce\":\"{NONCE}\",\"event\":\"end\",\"tests\":1}}\n"
    );
    let cargo = format!(
        "{{\"reason\":\"build-finished\",\"success\":true}}\n\n{NONCE} begin t\n{NONCE} lists a: test\nrunning 1 test\ntest a ... ok\n\ntest result: ok. 1 passed; 0 failed\n\n{NONCE} end 0\n"
    );
    let go = format!(
        "{{\"Action\":\"run\",\"Package\":\"p\",\"Test\":\"TestA\"}}\n{{\"Action\":\"pass\",\"Package\":\"p\",\"Test\":\"TestA\"}}\n{{\"Action\":\"pass\",\"Package\":\"p\"}}\n\n{NONCE} begin p.test\n{NONCE} lists TestA\n{NONCE} end 0\n"
    );
    let junit = "<testsuite><testcase name='a'/></testsuite>".to_owned();
    let tap = "1..1\nok 1 - a\n".to_owned();
    let texts = [
        (0, cargo),
        (1, go),
        (2, lines.clone()),
        (3, lines),
        (6, junit),
        (7, tap),
    ];
    let seed = |(number, text): (u8, String)| [&[number], text.as_bytes()].concat();
    texts.map(seed).to_vec()
}

/// The first byte is the framework, the rest what came through the report's pipe.
pub(super) fn frameworks(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else {
        return;
    };
    let spec = VerifySpec::Harness(HarnessSpec {
        framework: FRAMEWORKS[usize::from(*first) % FRAMEWORKS.len()],
        argv: vec!["tests".to_owned()],
        ..HarnessSpec::default()
    });
    let (report, nothing) = (Untrusted::new(rest.to_vec()), Untrusted::new(Vec::new()));
    let output = Output {
        kept: &nothing,
        dropped_bytes: 0,
    };
    for (code, oom_kills, report_too_long) in
        [(0, 0, false), (1, 0, false), (0, 1, false), (0, 0, true)]
    {
        let evidence = HarnessEvidence {
            ended: Ended {
                ending: &Ending::Exited { code },
                oom_kills,
            },
            stdout: output,
            stderr: output,
            report: &report,
            report_too_long,
            files: &BTreeMap::new(),
        };
        let verdict = judge(&spec, NONCE, &evidence);
        holds_together(&verdict);
        if verdict.outcome() == Outcome::Passed {
            assert!(
                code == 0 && oom_kills == 0 && !report_too_long,
                "{verdict:?}"
            );
            assert!(!verdict.tests.is_empty());
        }
    }
}
