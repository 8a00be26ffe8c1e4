//! The part of YAML that is read.

use super::*;

#[test]
fn plain_keys_and_the_instruction() {
    let text = "instruction: |-\n  Do it.\n\n  Well.\nparser_name: pytest # so\nmax_test_timeout_sec: \"180.0\"\ntags:\n  - parser_name: other\n";
    assert_eq!(value(text, "parser_name").as_deref(), Some("pytest"));
    assert_eq!(
        value(text, "max_test_timeout_sec").as_deref(),
        Some("180.0")
    );
    assert_eq!(value(text, "tags"), None);
    assert_eq!(instruction(text), "Do it.\n\nWell.");
}
