//! Reports of each tool, in small; real files are read in `tests/measures`.

use super::{LeakFormat as F, LeakReport, parse};
use crate::reading::ReadError;
use crate::untrusted::Untrusted;

fn try_read(format: F, text: &str) -> Result<LeakReport, ReadError> {
    parse(format, &Untrusted::new(text.as_bytes().to_vec()))
}

const FRAMES: &str = "    #0 0x7f in malloc ../../../../src/libsanitizer/asan/asan_malloc_linux.cpp:69\n    \
                      #1 0x55 in f /workspace/a.c:28:5\n    #2 0x55 in main /workspace/a.c:102\n";

#[test]
fn sanitizers_name_kind_and_own_place() {
    let text = format!(
        "==3==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x6\nWRITE of size 1\n{FRAMES}\n\
         freed by thread T0 here:\n{FRAMES}\nSUMMARY: AddressSanitizer: heap-buffer-overflow\n"
    );
    let report = try_read(F::Asan, &text).expect("a report");
    assert_eq!(report.findings.len(), 1, "{report:?}");
    let finding = &report.findings[0];
    assert_eq!(
        (finding.tool, finding.kind.as_str()),
        ("asan", "heap-buffer-overflow")
    );
    assert_eq!(
        (finding.file.as_str(), finding.line),
        ("/workspace/a.c", Some(28))
    );
    assert_eq!((report.leaks(), report.leaked_bytes()), (0, 0));
}

#[test]
fn leaks_are_counted_with_their_bytes() {
    let text = format!(
        "==8==ERROR: LeakSanitizer: detected memory leaks\n\nDirect leak of 800 byte(s) in 1 object(s) allocated from:\n{FRAMES}\n\
         Indirect leak of 8 byte(s) in 2 object(s) allocated from:\n{FRAMES}\nSUMMARY: AddressSanitizer: 808 byte(s) leaked\n"
    );
    let report = try_read(F::Asan, &text).expect("a report");
    assert_eq!(
        (report.findings.len(), report.leaks(), report.leaked_bytes()),
        (2, 2, 808)
    );
}

#[test]
fn undefined_behaviour_and_a_leak_sanitizer_that_cannot_work_are_told() {
    let report = try_read(
        F::Asan,
        "a.c:26:67: runtime error: member access within null pointer\n",
    );
    let finding = report.expect("a report").findings.remove(0);
    assert_eq!(
        (finding.tool, finding.file.as_str(), finding.line),
        ("ubsan", "a.c", Some(26))
    );
    let report = try_read(
        F::Asan,
        "==1==LeakSanitizer has encountered a fatal error.\n",
    );
    assert!(report.expect("a report").leaks_not_looked_for);
}

const ERROR: &str = "<error><kind>InvalidRead</kind><what>Invalid read of size 4</what><stack><frame><obj>/w/a</obj>\
                     <fn>f</fn><dir>/workspace</dir><file>a.c</file><line>9</line></frame></stack></error>";

fn valgrind(inner: &str) -> String {
    format!("<?xml version=\"1.0\"?>\n<valgrindoutput>{inner}</valgrindoutput>\n")
}

#[test]
fn valgrind_names_kind_and_place_and_says_whether_it_ended() {
    let ended = "<status><state>FINISHED</state></status>";
    let report = try_read(F::ValgrindXml, &valgrind(&format!("{ERROR}{ended}"))).expect("a report");
    let finding = &report.findings[0];
    assert_eq!(
        (finding.kind.as_str(), finding.file.as_str()),
        ("InvalidRead", "a.c")
    );
    assert_eq!((finding.line, report.complete), (Some(9), true));
    assert!(
        !try_read(F::ValgrindXml, &valgrind(ERROR))
            .expect("a report")
            .complete
    );
}

#[test]
fn no_error_of_valgrind_can_be_hidden() {
    let hidden = [
        valgrind(&format!("<!-- {ERROR} -->")),
        valgrind(&format!("<![CDATA[{ERROR}]]>")),
        valgrind(&format!("<preamble><line>{ERROR}</line></preamble>")),
        valgrind(&format!("<hidden>{ERROR}</hidden>")),
        format!("{}{ERROR}", valgrind("")),
        format!("<valgrindoutput><pid a=\"{ERROR}\">1</pid></valgrindoutput>"),
        valgrind("").replace("</valgrindoutput>", ""),
        String::new(),
    ];
    for text in hidden {
        let read = try_read(F::ValgrindXml, &text);
        assert!(
            matches!(read, Err(ReadError::Malformed { .. })),
            "{text}: {read:?}"
        );
    }
}
