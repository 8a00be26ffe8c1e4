//! Messages of each tool as it writes them, in small; real files are read in `tests/measures`.

use super::{DiagnosticFormat as F, parse};
use crate::reading::{ENTRIES_MAX, MESSAGE_BYTES_MAX, ReadError};
use crate::untrusted::Untrusted;
use crate::verdict::{Diagnostic, Severity};

fn read(format: F, text: &str) -> Vec<Diagnostic> {
    parse(format, &Untrusted::new(text.as_bytes().to_vec())).expect("a report")
}

/// `FILE:LINE:COLUMN CODE MESSAGE` of each, with 0 for what is not known.
fn told(format: F, text: &str) -> Vec<String> {
    let one = |said: &Diagnostic| {
        let (line, column) = (said.line.unwrap_or(0), said.column.unwrap_or(0));
        format!(
            "{}:{line}:{column} {} {}",
            said.file, said.code, said.message
        )
    };
    read(format, text).iter().map(one).collect()
}

#[test]
fn every_format_has_a_name_and_is_found_by_it() {
    for (name, format) in F::ALL {
        assert_eq!(F::named(name), Some(format));
        assert_eq!(F::named(format.name()), Some(format));
    }
    assert_eq!(F::named("nothing"), None);
}

#[test]
fn python_syntax_errors_and_tracebacks_have_their_last_line() {
    let syntax = "  File \"m.py\", line 3\n    def f(:\n          ^\nSyntaxError: invalid syntax\n";
    assert_eq!(
        told(F::Python, syntax),
        ["m.py:3:0 SyntaxError invalid syntax"]
    );
    let compiled = "Sorry: IndentationError: unexpected indent (m.py, line 2)\n";
    let expected = ["m.py:2:0 IndentationError unexpected indent (m.py, line 2)"];
    assert_eq!(told(F::Python, compiled), expected);
    let traceback = "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\n    f()\n  \
                     File \"b.py\", line 9, in f\n    1 / 0\nZeroDivisionError: division by zero\n";
    assert_eq!(
        told(F::Python, traceback),
        ["b.py:9:0 ZeroDivisionError division by zero"]
    );
}

#[test]
fn node_syntax_errors_have_line_and_column() {
    let text = "/workspace/m.js:3\n  foo(\n  ^^^^\n\nSyntaxError: missing ) after argument list\n    \
                at wrapSafe (node:internal/modules/cjs/loader:1464:18)\n\nNode.js v20.20.2\n";
    let expected = ["/workspace/m.js:3:3 SyntaxError missing ) after argument list"];
    assert_eq!(told(F::Node, text), expected);
    let module =
        "file:///workspace/m.mjs:2\nlet a = ;\n        ^\n\nSyntaxError: Unexpected token ';'\n";
    let expected = ["/workspace/m.mjs:2:9 SyntaxError Unexpected token ';'"];
    assert_eq!(told(F::Node, module), expected);
}

#[test]
fn php_says_it_twice_and_it_counts_once() {
    let text = "PHP Parse error:  syntax error, unexpected end of file in m.php on line 12\n\
                Parse error: syntax error, unexpected end of file in m.php on line 12\n\
                Errors parsing m.php\n";
    let expected = ["m.php:12:0 Parse error syntax error, unexpected end of file"];
    assert_eq!(told(F::Php, text), expected);
}

#[test]
fn shells_and_rubies_of_both_ages_are_read() {
    let bash = "m.sh: line 3: syntax error near unexpected token `)'\nm.sh: line 3: `f )'\n";
    let expected = ["m.sh:3:0  syntax error near unexpected token `)'"];
    assert_eq!(told(F::Shell, bash), expected);
    let dash = "m.sh: 3: Syntax error: \")\" unexpected\n";
    assert_eq!(
        told(F::Shell, dash),
        ["m.sh:3:0  Syntax error: \")\" unexpected"]
    );
    let prism = "m.rb: --> m.rb\nm.rb:2: syntax errors found (SyntaxError)\n  1 | def f\n> 2 |   x = (\n    \
                 |       ^ expected a `)` to close the parentheses\n";
    let told = told(F::Ruby, prism);
    assert_eq!(
        told[0],
        "m.rb:2:0 SyntaxError syntax errors found (SyntaxError)"
    );
    assert_eq!(
        told[1],
        "m.rb:2:7 SyntaxError expected a `)` to close the parentheses"
    );
}

#[test]
fn linkers_and_drivers_have_errors_without_a_line() {
    let text = "/usr/bin/ld: /tmp/cc.o: in function `main':\nm.c:(.text+0x9): undefined reference to `f'\n\
                collect2: error: ld returned 1 exit status\n";
    let expected = [
        "m.c:0:0  undefined reference to `f'",
        ":0:0  ld returned 1 exit status",
    ];
    assert_eq!(told(F::GccText, text), expected);
    let missing =
        "m.c:1:10: fatal error: none.h: No such file or directory\ncompilation terminated.\n";
    assert_eq!(
        told(F::GccText, missing),
        ["m.c:1:10  none.h: No such file or directory"]
    );
}

#[test]
fn go_build_events_are_unwrapped() {
    let text = "{\"ImportPath\":\"m\",\"Action\":\"build-output\",\"Output\":\"# m\\n\"}\n\
                {\"ImportPath\":\"m\",\"Action\":\"build-output\",\"Output\":\"./m.go:3:2: undefined: x\\n\"}\n";
    assert_eq!(told(F::GoText, text), ["./m.go:3:2  undefined: x"]);
}

#[test]
fn pretty_tsc_and_javac_with_symbols_are_read() {
    let pretty = "m.ts:3:13 - error TS7006: Parameter 'y' implicitly has an 'any' type.\n";
    let expected = ["m.ts:3:13 TS7006 Parameter 'y' implicitly has an 'any' type."];
    assert_eq!(told(F::Tsc, pretty), expected);
    let javac = "P.java:5: error: cannot find symbol\n    foo();\n    ^\n  symbol:   method foo()\n1 error\n";
    let expected = ["P.java:5:5  cannot find symbol\nsymbol:   method foo()"];
    assert_eq!(told(F::Javac, javac), expected);
}

#[test]
fn json_of_linters_has_their_severities() {
    let ruff =
        r#"[{"code":"F401","filename":"a.py","location":{"row":1,"column":8},"message":"unused"}]"#;
    let ruff = read(F::RuffJson, ruff);
    assert_eq!((ruff[0].severity, ruff[0].line), (Severity::Error, Some(1)));
    let eslint =
        r#"[{"filePath":"a.js","messages":[{"ruleId":null,"severity":1,"message":"m","line":2}]}]"#;
    let eslint = read(F::EslintJson, eslint);
    assert_eq!(
        (eslint[0].severity, eslint[0].line),
        (Severity::Warning, Some(2))
    );
    let clippy = r#"{"$message_type":"diagnostic","message":"m","level":"warning","code":{"code":"clippy::all"},"spans":[]}"#;
    assert_eq!(read(F::RustcJson, clippy)[0].tool, "clippy");
}

#[test]
fn what_is_no_json_is_no_report() {
    for format in [F::Sarif, F::RuffJson, F::EslintJson] {
        for text in ["", "{", "[1", "nonsense", "\"\""] {
            let read = parse(format, &Untrusted::new(text.as_bytes().to_vec()));
            assert!(
                matches!(read, Err(ReadError::Malformed { .. })),
                "{format:?} {text:?}"
            );
        }
    }
}

#[test]
fn messages_and_their_number_are_bounded() {
    let long = format!("m.c:1:1: error: {}\n", "x".repeat(2 * MESSAGE_BYTES_MAX));
    assert!(read(F::GccText, &long)[0].message.len() <= MESSAGE_BYTES_MAX + "…".len());
    let many = "m.c:1:1: error: x\n".repeat(ENTRIES_MAX + 1);
    let many = parse(F::GccText, &Untrusted::new(many.into_bytes()));
    assert!(matches!(many, Err(ReadError::TooMany { .. })));
}
