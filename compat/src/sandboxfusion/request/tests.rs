//! What `/run_code` takes, and what it says of what it does not take.

use serde_json::json;

use super::*;

fn parse(value: &Value) -> Result<RunCode, Invalid> {
    RunCode::parse(value.to_string().as_bytes())
}

fn refused(field: &str, value: &Value) -> Invalid {
    let mut body = json!({ "code": "print(1)", "language": "python" });
    body[field] = value.clone();
    parse(&body).unwrap_err()
}

#[test]
fn what_is_not_given_has_the_defaults_of_the_wire() {
    let request = parse(&json!({ "code": "print(1)", "language": "python" })).unwrap();
    assert_eq!(request.stdin, None);
    assert_eq!(request.compile_ms_max, 10_000);
    assert_eq!(request.run_ms_max, 10_000);
    assert_eq!(request.memory_bytes_max, None);
    assert!(request.files.is_empty() && request.fetch_files.is_empty());
}

#[test]
fn a_whole_request_is_read() {
    let body = json!({
        "code": "x", "language": "cpp", "stdin": "in", "compile_timeout": 3, "run_timeout": 0.0015,
        "memory_limit_MB": 64, "files": { "a/b": "aGk=", "left out": null }, "fetch_files": ["o"],
        "unknown but null": null,
    });
    let request = parse(&body).unwrap();
    assert_eq!(request.stdin.as_deref(), Some("in"));
    assert_eq!((request.compile_ms_max, request.run_ms_max), (3_000, 2));
    assert_eq!(request.memory_bytes_max, Some(64 << 20));
    assert_eq!(
        request.files,
        BTreeMap::from([("a/b".to_owned(), b"hi".to_vec())])
    );
    assert_eq!(request.fetch_files, ["o"]);
}

#[test]
fn no_limit_of_the_caller_is_minus_one() {
    let body = json!({ "code": "x", "language": "python", "memory_limit_MB": -1 });
    assert_eq!(parse(&body).unwrap().memory_bytes_max, None);
}

#[test]
fn each_wrong_field_is_named_with_its_value_and_what_is_right() {
    let table = [
        ("code", json!(5), "must be a string"),
        ("language", json!(null), "is required"),
        ("stdin", json!(["a"]), "must be a string"),
        ("run_timeout", json!(0), "seconds above 0"),
        ("run_timeout", json!(-1), "seconds above 0"),
        ("run_timeout", json!("10"), "seconds above 0"),
        ("compile_timeout", json!(1e9), "at most 86400"),
        ("memory_limit_MB", json!(0), "above 0, or -1"),
        ("memory_limit_MB", json!(-2), "above 0, or -1"),
        ("memory_limit_MB", json!(1.5), "above 0, or -1"),
        ("files", json!(["a"]), "path -> content in base64"),
        ("fetch_files", json!("a"), "a list of paths"),
        ("isolation", json!("none"), "no such field"),
    ];
    for (field, value, part) in table {
        let invalid = refused(field, &value);
        assert_eq!(invalid.field, field);
        assert!(invalid.problem.contains(part), "{invalid}");
        if !value.is_null() {
            assert!(
                invalid.to_string().contains(&value.to_string()),
                "{invalid}"
            );
        }
    }
}

#[test]
fn a_part_of_a_list_is_named_by_its_place() {
    let invalid = refused("files", &json!({ "a b": "not base64!" }));
    assert_eq!(invalid.field, "files[\"a b\"]");
    let invalid = refused("fetch_files", &json!(["a", "b*"]));
    assert_eq!(invalid.field, "fetch_files[1]");
    assert!(invalid.problem.contains("patterns"), "{invalid}");
    let many: Vec<String> = (0..=FILES_MAX).map(|number| number.to_string()).collect();
    assert!(
        refused("fetch_files", &json!(many))
            .problem
            .contains("at most")
    );
}

#[test]
fn long_values_are_shortened() {
    let invalid = refused("run_timeout", &json!("9".repeat(5000)));
    assert!(
        invalid.value.chars().count() <= SHOWN_CHARS_MAX + 1,
        "{invalid}"
    );
}

#[test]
fn what_is_no_object_is_no_request() {
    for body in ["", "[]", "{", "\"code\"", "{\"code\":\"\\ud800\"}"] {
        assert_eq!(
            RunCode::parse(body.as_bytes()).unwrap_err().field,
            "body",
            "{body}"
        );
    }
}
