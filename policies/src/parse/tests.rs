//! Where errors are and what they say.

use super::*;

fn error(text: &str) -> String {
    parse(text).expect_err(text).to_string()
}

#[test]
fn reads_the_full_document() {
    let document = parse(crate::testing::FULL).expect("the full document");
    let limits = document.limits.expect("limits");
    assert_eq!(limits.memory_bytes_max.map(|size| size.0), Some(2 << 30));
    assert_eq!(document.grant.map(|grants| grants.len()), Some(1));
    assert_eq!(parse(""), Ok(Document::default()));
}

/// A text and the start of its error.
const ERRORS: &[(&str, &str)] = &[
    (
        "nam = \"x\"\n",
        "line 1, column 1, nam: unknown field `nam`; did you mean `name`?",
    ),
    (
        "[limits]\n\n  pid_max = 3\n",
        "line 3, column 3, limits.pid_max: unknown field `pid_max`; did you mean `pids_max`?",
    ),
    (
        "limits.pid_max = 3\n",
        "line 1, column 8, limits.pid_max: unknown field `pid_max`; did you mean `pids_max`?",
    ),
    (
        "[files]\npids_max = 3\n",
        "line 2, column 1, files.pids_max: unknown field `pids_max`; did you mean `limits.pids_max`?",
    ),
    (
        "[gpu]\nquota = 3\n",
        "line 2, column 1, gpu.quota: unknown field `quota`; known here: enabled",
    ),
    (
        "[limts]\npids_max = 1\n",
        "line 1, column 2, limts: unknown field `limts`; did you mean `limits`?",
    ),
    (
        "[network]\nallow = [{ host = \"a\" }, { hst = \"b\" }]\n",
        "line 2, column 28, network.allow[1].hst: unknown field `hst`; did you mean `host`?",
    ),
    (
        "[[grant]]\nwhen = { signed = \"k\" }\n",
        "line 2, column 10, grant[0].when.signed: unknown field `signed`; known here: signed_by",
    ),
    (
        "[syscalls]\nprofile = \"srict\"\n",
        "line 2, column 11, syscalls.profile: unknown value \"srict\"; did you mean \"strict\"? it is one of strict, compat, debug",
    ),
    (
        "[network]\nmode = \"internet\"\n",
        "line 2, column 8, network.mode: unknown value \"internet\"; it is one of sealed, none, allowlist",
    ),
    (
        "[limits]\npids_max = \"many\"\n",
        "line 2, column 12, limits.pids_max: invalid type: string \"many\", expected u64; write a whole number, 0 or more",
    ),
    (
        "[limits]\npids_max = -1\n",
        "line 2, column 12, limits.pids_max: invalid value: integer `-1`, expected u64; write a whole number, 0 or more",
    ),
    (
        "[limits]\nmemory_bytes_max = \"2 parsec\"\n",
        "line 2, column 20, limits.memory_bytes_max: size \"2 parsec\" has the unknown unit \"parsec\"; use B, KiB",
    ),
    (
        "[limits]\nmemory_bytes_max = -5\n",
        "line 2, column 20, limits.memory_bytes_max: invalid value: integer `-5`, expected a size in bytes",
    ),
    (
        "[limits]\nmemory_bytes_max = 1.5\n",
        "line 2, column 20, limits.memory_bytes_max: invalid type: floating point `1.5`, expected a size in bytes",
    ),
    (
        "[files]\nread = \"/usr\"\n",
        "line 2, column 8, files.read: invalid type: string \"/usr\", expected a sequence; write a list of text",
    ),
    (
        "[files]\nread = [\"/usr\", 3]\n",
        "line 2, column 17, files.read[1]: invalid type: integer `3`, expected a string",
    ),
    (
        "[gpu]\nenabled = 1\n",
        "line 2, column 11, gpu.enabled: invalid type: integer `1`, expected a boolean; write true or false",
    ),
    (
        "name = \"a\"\nname = \"b\"\n",
        "line 2, column 1, name: duplicate key",
    ),
    ("[limits\n", "line 1, column 8: unclosed table"),
];

#[test]
fn every_error_says_where_and_how_to_fix_it() {
    for (text, expected) in ERRORS {
        let found = error(text);
        assert!(
            found.starts_with(expected),
            "\nfound    {found}\nexpected {expected}"
        );
    }
}

#[test]
fn columns_count_characters() {
    let found = error("description = \"é\" # ü\n[\"é\"]\nx = 1\n");
    assert!(
        found.starts_with("line 2, column 2, é: unknown field `é`"),
        "{found}"
    );
    let found = error("limits = { \"é\" = 1 }\n");
    assert!(
        found.starts_with("line 1, column 12, limits.é: unknown field"),
        "{found}"
    );
}

#[test]
fn long_documents_are_refused() {
    let text = format!("# {}\n", "x".repeat(DOCUMENT_BYTES_MAX));
    assert!(error(&text).contains("the most is 262144"));
}

#[test]
fn distances() {
    assert_eq!(distance("", "abc"), 3);
    assert_eq!(distance("kitten", "sitting"), 3);
    assert_eq!(distance("same", "same"), 0);
    assert_eq!(
        nearest("pyton", ["python", "node"].into_iter()),
        Some("python")
    );
    assert_eq!(nearest("x", ["python", "node"].into_iter()), None);
}

proptest::proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "\\PC*") {
        drop(parse(&text));
    }

    #[test]
    fn a_damaged_document_is_read_or_refused_with_a_place(at in 0_usize..1500, with in "\\PC{0,3}") {
        let full = crate::testing::FULL;
        let at = (at..=full.len()).find(|at| full.is_char_boundary(*at)).unwrap_or(0);
        let text = format!("{}{with}{}", &full[..at], &full[at..]);
        if let Err(error) = parse(&text) {
            proptest::prop_assert!(error.line >= 1 && error.column >= 1);
            proptest::prop_assert!(!error.message.is_empty());
        }
    }
}
