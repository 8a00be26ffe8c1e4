//! What compilers, coverage tools and leak checkers write: whatever the bytes are, a reader
//! returns, keeps its bounds, and counts no more than there is. The first byte names the format.

use verdict::Untrusted;
use verdict::coverage::{self, CoverageFormat};
use verdict::diagnostics::{self, DiagnosticFormat};
use verdict::leaks::{self, LeakFormat};
use verdict::reading::MESSAGE_BYTES_MAX;

/// A format by the first byte, and the report after it.
fn split<T: Copy>(bytes: &[u8], formats: &[(&str, T)]) -> Option<(T, Untrusted<Vec<u8>>)> {
    let (first, rest) = bytes.split_first()?;
    let (_, format) = formats.get(usize::from(*first) % formats.len())?;
    Some((*format, Untrusted::new(rest.to_vec())))
}

fn seed<T: PartialEq>(formats: &[(&str, T)], format: &T, text: &str) -> Vec<u8> {
    let at = formats.iter().position(|(_, known)| known == format);
    let first = u8::try_from(at.expect("a known format")).expect("few formats");
    [&[first], text.as_bytes()].concat()
}

pub(super) fn diagnostics(bytes: &[u8]) {
    let Some((format, report)) = split(bytes, &DiagnosticFormat::ALL) else {
        return;
    };
    let read = diagnostics::parse(format, &report);
    assert_eq!(read, diagnostics::parse(format, &report), "the same twice");
    for said in read.iter().flatten() {
        assert!(said.message.len() <= MESSAGE_BYTES_MAX + 8, "bounded");
        assert!(said.line != Some(0) && said.column != Some(0), "from 1");
    }
    // One line of text is never more than one message.
    if !matches!(
        format,
        DiagnosticFormat::Sarif
            | DiagnosticFormat::RuffJson
            | DiagnosticFormat::EslintJson
            | DiagnosticFormat::GccJson
            | DiagnosticFormat::GoText
    ) {
        let lines = bytes.split(|&byte| byte == b'\n').count();
        assert!(read.map_or(0, |read| read.len()) <= lines, "one a line");
    }
}

/// A report of each format.
const DIAGNOSTICS: [(DiagnosticFormat, &str); 18] = {
    use DiagnosticFormat as F;
    [
        (
            F::GccText,
            "m.c:3:5: error: expected ';' [-Wx]\nld: m.c:(.text+0x9): undefined reference to `f'\n",
        ),
        (
            F::GccJson,
            "[{\"kind\":\"error\",\"message\":\"m\",\"locations\":[{\"caret\":{\"file\":\"a.c\",\"line\":1,\"column\":2}}]}]\n",
        ),
        (
            F::Javac,
            "P.java:5: error: cannot find symbol\n    foo();\n    ^\n  symbol:   method foo()\n1 error\n",
        ),
        (
            F::RustcText,
            "error[E0308]: mismatched types\n --> src/lib.rs:14:1\n  |\n",
        ),
        (
            F::RustcJson,
            "{\"reason\":\"compiler-message\",\"message\":{\"message\":\"m\",\"level\":\"error\",\"code\":null,\"spans\":[]}}\n",
        ),
        (
            F::GoText,
            "# m\n./m.go:12:9: syntax error: unexpected c\nvet: ./m.go:1:2: x\n{\"Output\":\"./m.go:3:2: y\\n\"}\n",
        ),
        (
            F::Tsc,
            "m.ts(14,1): error TS1005: ',' expected.\n  more\nm.ts:3:13 - error TS7006: m\n",
        ),
        (
            F::Node,
            "/workspace/m.js:3\n  foo(\n  ^^^^\n\nSyntaxError: missing )\n",
        ),
        (
            F::Python,
            "  File \"m.py\", line 3\n    def f(:\n          ^\nSyntaxError: invalid syntax\n",
        ),
        (
            F::Php,
            "PHP Parse error:  syntax error in m.php on line 12\n",
        ),
        (
            F::Ruby,
            "m.rb:2: syntax errors found (SyntaxError)\n> 2 |   x = (\n    |       ^ expected a `)`\n",
        ),
        (F::Perl, "syntax error at m.pl line 15, at EOF\n"),
        (F::Lua, "luac5.4: m.lua:22: syntax error near <eof>\n"),
        (
            F::Shell,
            "m.sh: line 3: syntax error\nm.sh: 3: Syntax error\n",
        ),
        (
            F::Lines,
            "a.py:1:2: E401 x\nb.js: line 2, col 10, Error - y (z)\nc.cs(2,3): warning CS1: w\n/d.pp - ERROR: e on line 7\n[error] /f: g\n",
        ),
        (
            F::Sarif,
            "{\"version\":\"2.1.0\",\"runs\":[{\"tool\":{\"driver\":{\"name\":\"t\",\"rules\":[{\"id\":\"r\",\"messageStrings\":{\"d\":{\"text\":\"a {0}\"}}}]}},\"results\":[{\"ruleId\":\"r\",\"message\":{\"id\":\"d\",\"arguments\":[\"b\"]},\"suppressions\":[]}]}]}",
        ),
        (
            F::RuffJson,
            "[{\"code\":\"F401\",\"filename\":\"a.py\",\"location\":{\"row\":1,\"column\":8},\"message\":\"m\"}]",
        ),
        (
            F::EslintJson,
            "[{\"filePath\":\"a.js\",\"messages\":[{\"ruleId\":\"r\",\"severity\":2,\"message\":\"m\",\"line\":1,\"column\":2}]}]",
        ),
    ]
};

pub(super) fn diagnostics_seeds() -> Vec<Vec<u8>> {
    let all = &DiagnosticFormat::ALL;
    let seeds = DIAGNOSTICS.iter();
    seeds
        .map(|(format, text)| seed(all, format, text))
        .collect()
}

pub(super) fn coverage(bytes: &[u8]) {
    let Some((format, report)) = split(bytes, &CoverageFormat::ALL) else {
        return;
    };
    let Ok(read) = coverage::parse(format, &report) else {
        return;
    };
    assert!(!read.files.is_empty(), "a report has files");
    for file in &read.files {
        assert!(
            file.lines_covered <= file.lines,
            "no more ran than there is"
        );
        assert!(
            file.branches_covered <= file.branches,
            "no more was taken than there is"
        );
    }
    assert!(
        read.pct().is_none_or(|pct| (0.0..=100.0).contains(&pct)),
        "a share"
    );
}

pub(super) fn coverage_seeds() -> Vec<Vec<u8>> {
    use CoverageFormat as F;
    let seeds = [
        (
            F::Lcov,
            "TN:\nSF:a.c\nDA:1,1\nDA:2,0\nBRDA:1,0,0,-\nLF:2\nLH:1\nend_of_record\n",
        ),
        (
            F::Cobertura,
            "<coverage><class filename=\"a.py\"><lines><line number=\"1\" hits=\"2\" condition-coverage=\"50% (1/2)\"/></lines></class></coverage>",
        ),
        (
            F::CoveragePyJson,
            "{\"meta\":{\"branch_coverage\":true},\"files\":{\"a.py\":{\"summary\":{\"covered_lines\":4,\"num_statements\":5,\"num_branches\":2,\"covered_branches\":1}}}}",
        ),
        (
            F::GcovJson,
            "{\"files\":[{\"file\":\"a.c\",\"lines\":[{\"line_number\":1,\"count\":2,\"branches\":[{\"count\":1}]}]}]}\n",
        ),
        (
            F::GcovText,
            "        -:    0:Source:a.c\n    #####:    1:x\n        3*:    2:y\nbranch  0 taken 9\nfile:b.c\nlcount:1,2\nbranch:1,taken\n",
        ),
        (
            F::LlvmCovJson,
            "{\"data\":[{\"files\":[{\"filename\":\"a.rs\",\"summary\":{\"lines\":{\"count\":4,\"covered\":1}}}]}]}",
        ),
        (
            F::GoCover,
            "mode: set\nm/a.go:1.1,2.2 2 0\nm/a.go:3.1,4.2 3 1\n",
        ),
        (
            F::Jacoco,
            "<report><package name=\"p\"><sourcefile name=\"A.java\"><line nr=\"1\" mi=\"0\" ci=\"2\" mb=\"1\" cb=\"1\"/></sourcefile></package></report>",
        ),
    ];
    let all = &CoverageFormat::ALL;
    seeds
        .iter()
        .map(|(format, text)| seed(all, format, text))
        .collect()
}

pub(super) fn leaks(bytes: &[u8]) {
    let Some((format, report)) = split(bytes, &LeakFormat::ALL) else {
        return;
    };
    let Ok(read) = leaks::parse(format, &report) else {
        return;
    };
    assert!(read.leaks() <= read.findings.len(), "leaks are findings");
    if format == LeakFormat::ValgrindXml {
        let errors = bytes.windows(7).filter(|at| *at == b"<error>").count();
        assert_eq!(
            errors,
            read.findings.len(),
            "no error of valgrind is hidden"
        );
    }
}

pub(super) fn leaks_seeds() -> Vec<Vec<u8>> {
    use LeakFormat as F;
    let seeds = [
        (
            F::Asan,
            "==3==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x6\n    #1 0x55 in f /workspace/a.c:28:5\n\nDirect leak of 800 byte(s) in 1 object(s) allocated from:\n    #0 0x7 in g b.c:2\na.c:26:67: runtime error: m\n",
        ),
        (
            F::ValgrindXml,
            "<?xml version=\"1.0\"?>\n<valgrindoutput><error><kind>Leak_DefinitelyLost</kind><xwhat><text>800 bytes</text><leakedbytes>800</leakedbytes></xwhat><stack><frame><obj>/w/a</obj><file>a.c</file><line>9</line></frame></stack></error><status><state>FINISHED</state></status></valgrindoutput>\n",
        ),
    ];
    let all = &LeakFormat::ALL;
    seeds
        .iter()
        .map(|(format, text)| seed(all, format, text))
        .collect()
}
