//! What is read, and what is refused: the bytes come from inside a sandbox.

use super::*;

const GOOD: &str = "{\"name\":\"shadow\",\"result\":\"ENOENT\"}\n";

#[test]
fn lines_are_read_in_their_order() {
    let text = format!("{GOOD}\n{{\"name\":\"x32\",\"result\":\"signal 31\"}}");
    let findings = parse(text.as_bytes()).expect("findings");
    let found: Vec<(&str, &str)> = findings
        .iter()
        .map(|finding| (finding.name.as_str(), finding.result.as_str()))
        .collect();
    assert_eq!(found, [("shadow", "ENOENT"), ("x32", "signal 31")]);
    assert!(parse(b"").expect("nothing").is_empty());
}

#[test]
fn what_the_probe_never_writes_is_refused() {
    let cases: &[(&str, &str)] = &[
        ("not json", "line 1 is not a finding"),
        ("{}", "line 1 is not a finding"),
        (
            "{\"name\":\"a\",\"result\":\"ok\",\"right\":true}",
            "not a finding",
        ),
        ("[\"a\",\"ok\"]", "ok"),
        (
            "{\"name\":\"A\",\"result\":\"ok\"}",
            "name of other characters",
        ),
        (
            "{\"name\":\"\",\"result\":\"ok\"}",
            "name of other characters",
        ),
        (
            "{\"name\":\"a\",\"result\":\"\"}",
            "result of other characters",
        ),
        (
            "{\"name\":\"a\",\"result\":\"\\u001b[2J\"}",
            "result of other characters",
        ),
        (
            "{\"name\":\"a\",\"result\":\"ö\"}",
            "result of other characters",
        ),
    ];
    for (text, told) in cases {
        match parse(text.as_bytes()) {
            Err(error) => {
                let error = error.to_string();
                assert!(error.contains(told) || *told == "ok", "{text}: {error}");
            }
            // A list in the order of the fields is the same finding.
            Ok(findings) => assert_eq!((findings.len(), *told), (1, "ok"), "{text}"),
        }
    }
}

#[test]
fn too_much_and_twice_are_refused() {
    let twice = GOOD.repeat(2);
    assert!(matches!(
        parse(twice.as_bytes()),
        Err(ParseError::Twice { line: 2, .. })
    ));
    let large = vec![b'\n'; OUTPUT_BYTES_MAX + 1];
    assert!(matches!(parse(&large), Err(ParseError::TooLarge { .. })));
    let line = |number: usize| format!("{{\"name\":\"r{number}\",\"result\":\"ok\"}}\n");
    let many: String = (0..=LINES_MAX).map(line).collect();
    assert!(matches!(parse(many.as_bytes()), Err(ParseError::TooMany)));
    let long = format!(
        "{{\"name\":\"a\",\"result\":\"{}\"}}",
        "x".repeat(RESULT_BYTES_MAX + 1)
    );
    let refused = parse(long.as_bytes());
    assert!(matches!(
        refused,
        Err(ParseError::Strange {
            field: "result",
            ..
        })
    ));
}

#[test]
fn any_bytes_end_in_an_answer() {
    let mut state = 7u32;
    for length in 0..600usize {
        let bytes: Vec<u8> = (0..length)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                state.to_be_bytes()[0]
            })
            .collect();
        assert!(parse(&bytes).map_or(true, |findings| findings.len() <= length));
    }
}
