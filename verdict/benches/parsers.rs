//! How fast reports are read, in MB of the report a second: `cargo bench -p verdict`. It asserts
//! that everything was read, and nothing about time.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a table for people; a format that is not read must stop it"
)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use verdict::coverage::CoverageFormat;
use verdict::diagnostics::DiagnosticFormat;
use verdict::leaks::LeakFormat;
use verdict::{ReportFormat, Untrusted};

/// How long a report is.
const BYTES: usize = 4 << 20;
/// How often each is read; the quickest counts.
const ROUNDS: usize = 7;

/// A report: what stands at its beginning, then entries (`@` is their number), what stands between
/// them, and its end.
struct Shape {
    head: &'static str,
    entry: &'static str,
    between: &'static str,
    tail: &'static str,
}

impl Shape {
    const fn lines(entry: &'static str) -> Self {
        Self {
            head: "",
            entry,
            between: "",
            tail: "",
        }
    }

    const fn list(head: &'static str, entry: &'static str, tail: &'static str) -> Self {
        Self {
            head,
            entry,
            between: ",",
            tail,
        }
    }

    /// The bytes, and how many entries there are.
    fn make(&self) -> (Vec<u8>, usize) {
        let entries = (BYTES / self.entry.len()).min(60_000);
        let all: Vec<String> = (1..=entries)
            .map(|number| self.entry.replace('@', &number.to_string()))
            .collect();
        let count = entries.to_string();
        let (head, tail) = (
            self.head.replace('@', &count),
            self.tail.replace('@', &count),
        );
        let text = format!("{head}{}{tail}", all.join(self.between));
        (text.into_bytes(), entries)
    }
}

fn tests(format: ReportFormat) -> Shape {
    match format {
        ReportFormat::JunitXml => Shape {
            head: "<?xml version=\"1.0\"?><testsuites><testsuite name=\"s\" tests=\"@\">",
            entry: "<testcase classname=\"pkg.module.TestThing\" name=\"test_case_@\" time=\"0.013\"/>\n<testcase classname=\"pkg.module.TestThing\" name=\"test_other_@\" time=\"0.1\"><failure message=\"assert 1 == 2\">line &lt;one&gt;\nline two\n</failure></testcase>\n",
            between: "",
            tail: "</testsuite></testsuites>",
        },
        ReportFormat::Tap => Shape {
            head: "TAP version 13\n1..@\n",
            entry: "ok @ - a test of some name\n  ---\n  duration_ms: 1.25\n  ...\n",
            between: "",
            tail: "",
        },
        ReportFormat::Ctrf => Shape::list(
            "{\"results\":{\"tool\":{\"name\":\"t\"},\"tests\":[",
            "{\"name\":\"suite name of test @\",\"status\":\"passed\",\"duration\":12,\"filePath\":\"/a/b.js\",\"retries\":0,\"flaky\":false,\"type\":\"unit\"}",
            "]}}",
        ),
        ReportFormat::GoJson => Shape {
            head: "",
            entry: "{\"Time\":\"2026-11-30T13:53:33Z\",\"Action\":\"run\",\"Package\":\"p\",\"Test\":\"Test@\"}\n{\"Time\":\"2026-11-30T13:53:33Z\",\"Action\":\"output\",\"Package\":\"p\",\"Test\":\"Test@\",\"Output\":\"=== RUN   Test@\\n\"}\n{\"Time\":\"2026-11-30T13:53:33Z\",\"Action\":\"pass\",\"Package\":\"p\",\"Test\":\"Test@\",\"Elapsed\":0.01}\n",
            between: "",
            tail: "{\"Action\":\"pass\",\"Package\":\"p\"}\n",
        },
        ReportFormat::GoText => Shape {
            head: "",
            entry: "=== RUN   TestSomething@\n    a_test.go:12: a line of it\n--- PASS: TestSomething@ (0.01s)\n",
            between: "",
            tail: "PASS\nok  \tp\t0.1s\n",
        },
        ReportFormat::Libtest => Shape {
            head: "running @ tests\n",
            entry: "test module::tests::a_test_of_some_name_@ ... ok\n",
            between: "",
            tail: "\ntest result: ok. @ passed; 0 failed; 0 ignored\n",
        },
        ReportFormat::LibtestJson => Shape {
            head: "{\"type\":\"suite\",\"event\":\"started\",\"test_count\":@}\n",
            entry: "{\"type\":\"test\",\"event\":\"started\",\"name\":\"m::t@\"}\n{\"type\":\"test\",\"name\":\"m::t@\",\"event\":\"ok\",\"exec_time\":0.01}\n",
            between: "",
            tail: "{\"type\":\"suite\",\"event\":\"ok\"}\n",
        },
        ReportFormat::GtestJson => Shape::list(
            "{\"testsuites\":[{\"name\":\"S\",\"testsuite\":[",
            "{\"name\":\"Case@\",\"file\":\"t.cc\",\"line\":7,\"status\":\"RUN\",\"result\":\"COMPLETED\",\"time\":\"0.001s\",\"classname\":\"S\"}",
            "]}]}",
        ),
        ReportFormat::RspecJson => Shape::list(
            "{\"examples\":[",
            "{\"id\":\"./a_spec.rb[1:@]\",\"full_description\":\"A thing does @\",\"status\":\"passed\",\"file_path\":\"./a_spec.rb\",\"line_number\":3,\"run_time\":0.01}",
            "],\"summary\":{\"errors_outside_of_examples_count\":0}}",
        ),
        ReportFormat::PytestJson => Shape::list(
            "{\"exitcode\":0,\"tests\":[",
            "{\"nodeid\":\"test_a.py::test_@\",\"lineno\":3,\"outcome\":\"passed\",\"setup\":{\"duration\":0.1,\"outcome\":\"passed\"},\"call\":{\"duration\":0.1,\"outcome\":\"passed\"},\"teardown\":{\"duration\":0.1,\"outcome\":\"passed\"}}",
            "]}",
        ),
        ReportFormat::JestJson => Shape::list(
            "{\"testResults\":[{\"name\":\"/a.js\",\"status\":\"passed\",\"assertionResults\":[",
            "{\"ancestorTitles\":[\"outer\",\"inner\"],\"title\":\"test @\",\"fullName\":\"outer inner test @\",\"status\":\"passed\",\"duration\":3,\"failureMessages\":[],\"location\":null}",
            "]}]}",
        ),
        ReportFormat::MochaJson => Shape::list(
            "{\"tests\":[],\"failures\":[],\"pending\":[],\"passes\":[",
            "{\"title\":\"test @\",\"fullTitle\":\"outer test @\",\"file\":\"/a.js\",\"duration\":1,\"currentRetry\":0,\"err\":{}}",
            "]}",
        ),
    }
}

const DIAGNOSTICS: [(DiagnosticFormat, Shape); 5] = [
    (
        DiagnosticFormat::GccText,
        Shape::lines(
            "src/a.c:@:5: warning: unused variable 'x' [-Wunused-variable]\n    5 |   int x;\n      |       ^\n",
        ),
    ),
    (
        DiagnosticFormat::RustcJson,
        Shape::lines(
            "{\"reason\":\"compiler-message\",\"message\":{\"rendered\":\"warning\",\"$message_type\":\"diagnostic\",\"children\":[],\"level\":\"warning\",\"message\":\"unused\",\"spans\":[{\"file_name\":\"src/lib.rs\",\"is_primary\":true,\"line_start\":@,\"line_end\":@,\"column_start\":1,\"column_end\":2,\"byte_start\":0,\"byte_end\":1,\"label\":null,\"text\":[]}],\"code\":null}}\n",
        ),
    ),
    (
        DiagnosticFormat::GoText,
        Shape::lines("./a.go:@:2: undefined: something\n"),
    ),
    (
        DiagnosticFormat::Lines,
        Shape::lines("src/a.py:@:5: E501 line too long (88 > 79 characters)\n"),
    ),
    (
        DiagnosticFormat::Sarif,
        Shape::list(
            "{\"version\":\"2.1.0\",\"runs\":[{\"tool\":{\"driver\":{\"name\":\"t\",\"rules\":[]}},\"results\":[",
            "{\"ruleId\":\"R1\",\"level\":\"warning\",\"message\":{\"text\":\"something\"},\"locations\":[{\"physicalLocation\":{\"artifactLocation\":{\"uri\":\"a.py\"},\"region\":{\"startLine\":@,\"startColumn\":2}}}]}",
            "]}]}",
        ),
    ),
];

const COVERAGE: [(CoverageFormat, Shape); 2] = [
    (
        CoverageFormat::Lcov,
        Shape {
            head: "TN:\nSF:src/a.c\n",
            entry: "DA:@,1\nBRDA:@,0,0,1\n",
            between: "",
            tail: "end_of_record\n",
        },
    ),
    (
        CoverageFormat::Cobertura,
        Shape {
            head: "<?xml version=\"1.0\"?><coverage line-rate=\"1\"><packages><package name=\"p\"><classes><class name=\"a\" filename=\"a.py\"><lines>",
            entry: "<line number=\"@\" hits=\"1\"/>",
            between: "",
            tail: "</lines></class></classes></package></packages></coverage>",
        },
    ),
];

const LEAKS: [(LeakFormat, Shape); 2] = [
    (
        LeakFormat::Asan,
        Shape::lines(
            "Direct leak of @ byte(s) in 1 object(s) allocated from:\n    #0 0x7f in malloc (/lib/libasan.so.8+0x1)\n    #1 0x55 in f /workspace/a.c:28:5\n\n",
        ),
    ),
    (
        LeakFormat::ValgrindXml,
        Shape {
            head: "<?xml version=\"1.0\"?><valgrindoutput><tool>memcheck</tool>",
            entry: "<error><unique>0x@</unique><kind>InvalidRead</kind><what>Invalid read of size 4</what><stack><frame><ip>0x1</ip><obj>/w/a</obj><fn>f</fn><file>a.c</file><line>@</line></frame></stack></error>\n",
            between: "",
            tail: "<status><state>FINISHED</state></status></valgrindoutput>",
        },
    ),
];

/// The quickest of several readings.
fn quickest(mut read: impl FnMut()) -> Duration {
    let mut best = Duration::MAX;
    for _ in 0..ROUNDS {
        let started = Instant::now();
        read();
        best = best.min(started.elapsed());
    }
    best
}

fn row(name: &str, bytes: usize, entries: usize, took: Duration) {
    let megabytes = f64::from(u32::try_from(bytes).unwrap()) / 1e6;
    let (seconds, entries) = (
        took.as_secs_f64(),
        f64::from(u32::try_from(entries).unwrap()),
    );
    println!(
        "{name:<16} {megabytes:>6.1} MB {:>8.0} MB/s {:>8.2} million entries/s",
        megabytes / seconds,
        entries / seconds / 1e6
    );
}

fn main() {
    for format in ReportFormat::ALL {
        let (bytes, entries) = tests(format).make();
        let length = bytes.len();
        let bytes = Untrusted::new(bytes);
        let report = verdict::formats::parse(format, &bytes).unwrap();
        assert!(
            report.complete && report.tests.len() >= entries,
            "{format}: {:?}",
            report.trouble
        );
        let read = || drop(black_box(verdict::formats::parse(format, &bytes)));
        row(format.name(), length, report.tests.len(), quickest(read));
    }
    for (format, shape) in DIAGNOSTICS {
        let (bytes, entries) = shape.make();
        let length = bytes.len();
        let bytes = Untrusted::new(bytes);
        let found = verdict::diagnostics::parse(format, &bytes).unwrap();
        assert_eq!(found.len(), entries, "{}", format.name());
        let read = || drop(black_box(verdict::diagnostics::parse(format, &bytes)));
        row(format.name(), length, entries, quickest(read));
    }
    for (format, shape) in COVERAGE {
        let (bytes, entries) = shape.make();
        let length = bytes.len();
        let bytes = Untrusted::new(bytes);
        let report = verdict::coverage::parse(format, &bytes).unwrap();
        assert_eq!(report.files[0].lines, u64::try_from(entries).unwrap());
        let read = || drop(black_box(verdict::coverage::parse(format, &bytes)));
        let name = CoverageFormat::ALL
            .iter()
            .find(|(_, known)| *known == format);
        row(name.unwrap().0, length, entries, quickest(read));
    }
    for (format, shape) in LEAKS {
        let (bytes, entries) = shape.make();
        let length = bytes.len();
        let bytes = Untrusted::new(bytes);
        let report = verdict::leaks::parse(format, &bytes).unwrap();
        assert_eq!(report.findings.len(), entries);
        let read = || drop(black_box(verdict::leaks::parse(format, &bytes)));
        let name = LeakFormat::ALL.iter().find(|(_, known)| *known == format);
        row(name.unwrap().0, length, entries, quickest(read));
    }
}
