//! Outputs of a check, whole and broken. They start no check.

use super::*;

fn read(text: &str) -> Result<Checked, CheckError> {
    Checked::read(&Untrusted::new(text.as_bytes().to_vec()))
}

fn line(severity: &str) -> String {
    format!(
        "{{\"tool\":\"static-check\",\"severity\":\"{severity}\",\"code\":\"c\",\"message\":\"m\",\
         \"file\":\"a.py\",\"line\":3}}\n"
    )
}

#[test]
fn a_whole_output_is_read() {
    let checked = read(&format!(
        "{}{{\"checked\":2,\"skipped\":1}}\n",
        line("error")
    ))
    .expect("whole");
    assert_eq!((checked.diagnostics.len(), checked.files), (1, 2));
}

#[test]
fn a_cut_output_counts_for_nothing() {
    assert_eq!(read(&line("error")), Err(CheckError::Unfinished));
    assert_eq!(read(""), Err(CheckError::Unfinished));
    assert_eq!(read("{\"tool\":"), Err(CheckError::Line { line: 1 }));
    let long = vec![b' '; OUTPUT_BYTES_MAX + 1];
    let bytes = long.len();
    assert_eq!(
        Checked::read(&Untrusted::new(long)),
        Err(CheckError::TooLong { bytes })
    );
}

#[test]
fn only_an_error_stops_a_run() {
    let end = "{\"checked\":1,\"skipped\":0}\n";
    let verdict = read(&format!("{}{end}", line("warning")))
        .expect("whole")
        .verdict();
    assert_eq!(verdict, None);
    let checked = read(&format!("{}{}{end}", line("warning"), line("error"))).expect("whole");
    let verdict = checked.verdict().expect("an error");
    assert_eq!(verdict.outcome(), Outcome::CompileError);
    assert_eq!(verdict.reason, "static check: a.py:3: m");
    assert_eq!(verdict.diagnostics.len(), 2);
}

#[test]
fn its_size_is_bounded() {
    let many = line("error").repeat(DIAGNOSTICS_MAX + 10);
    let checked = read(&format!("{many}{{\"checked\":1}}\n")).expect("whole");
    assert_eq!(checked.diagnostics.len(), DIAGNOSTICS_MAX);
}
