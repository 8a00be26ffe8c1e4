//! Ids of tests in both ways of writing them.

use serde_json::json;

use super::*;

#[test]
fn ids_of_junit_become_those_of_pytest() {
    let files = Tree::from([("tests/rules/test_a.py".to_owned(), pb::File::default())]);
    let cases = [
        (
            "tests.rules.test_a::test_x[1.5-a::b]",
            "tests/rules/test_a.py::test_x[1.5-a::b]",
        ),
        (
            "tests.rules.test_a.TestB::test_c",
            "tests/rules/test_a.py::TestB::test_c",
        ),
        (
            "tests/rules/test_a.py::test_x",
            "tests/rules/test_a.py::test_x",
        ),
        ("somewhere.else::test_x", "somewhere.else::test_x"),
    ];
    for (id, node) in cases {
        assert_eq!(node_id(id, &files), node);
    }
}

#[test]
fn lists_and_texts_of_lists() {
    let document = json!({"A": ["x"], "B": "[\"y\"]", "C": "no", "D": 1});
    assert_eq!(ids(&document, "A"), Some(vec!["x".to_owned()]));
    assert_eq!(ids(&document, "B"), Some(vec!["y".to_owned()]));
    assert_eq!(ids(&document, "E"), Some(Vec::new()));
    for field in ["C", "D"] {
        assert!(ids(&document, field).is_none(), "{field}");
    }
}
