//! Paths, sizes and numbers of files.

use std::collections::BTreeMap;

use proto::v1;

use crate::grpc::convert::tests::{convert, file, good, refused, with_file};

#[test]
fn paths_stay_below_the_workspace() {
    for path in [
        "../a",
        "a/../../b",
        "/etc/passwd",
        "/workspace",
        "/workspace/",
        "a//b",
        "",
        ".",
        "./a",
        "a/",
        "/workspace/../etc/passwd",
        "a\0b",
        "/workspacex/a",
    ] {
        let field = format!("files[{path:?}]").replace("\\0", "\0");
        let error = convert(with_file(path)).expect_err(path);
        assert_eq!(error.reason, "PATH_INVALID", "{path:?}: {error}");
        assert_eq!(
            error.field.map(|field| field.replace("\\0", "\0")),
            Some(field)
        );
    }
    let long = with_file(&"a/".repeat(3000));
    let error = convert(long).expect_err("too long");
    assert!(
        error.message.contains("6000 bytes; at most 4096"),
        "{error}"
    );
    let error = convert(with_file(&"n".repeat(256))).expect_err("long name");
    assert!(error.message.contains("255"), "{error}");
    let below = convert(with_file("/workspace/dir/a.py")).expect("below");
    assert_eq!(
        (below.files[0].path.as_str(), below.files[0].mode),
        ("dir/a.py", 0o644)
    );
    let collect = v1::RunRequest {
        collect: vec!["out/*".into(), "../x".into()],
        ..good()
    };
    refused(collect, "PATH_INVALID", "collect[1]", &["`..`"]);
}

#[test]
fn files_that_contradict_each_other_are_refused() {
    let two = |left: &str, right: &str| v1::RunRequest {
        files: BTreeMap::from([(left.to_owned(), file(b"")), (right.to_owned(), file(b""))]),
        ..good()
    };
    refused(
        two("a", "/workspace/a"),
        "FILE_TWICE",
        "files[\"a\"]",
        &["same file"],
    );
    refused(
        two("a", "a/b"),
        "FILE_IS_FOLDER",
        "files[\"a/b\"]",
        &["\"a\""],
    );
    refused(
        two("d/a", "d/a/b/c"),
        "FILE_IS_FOLDER",
        "files[\"d/a/b/c\"]",
        &["\"d/a\""],
    );
    convert(two("a", "a.b/c")).expect("no conflict");
    let mut message = with_file("a");
    message.files.insert(
        "s".into(),
        v1::File {
            content: vec![],
            mode: Some(0o4755),
        },
    );
    refused(
        message,
        "FILE_MODE_INVALID",
        "files[\"s\"].mode",
        &["0o4755", "0o777"],
    );
}

#[test]
fn files_that_are_too_many_or_too_large_are_refused() {
    let large = v1::RunRequest {
        policy: "small".into(),
        files: BTreeMap::from([("a".to_owned(), file(&vec![0; 2 << 20]))]),
        ..good()
    };
    refused(large, "FILES_TOO_LARGE", "files", &["2097152", "1048576"]);
    let huge = v1::RunRequest {
        files: BTreeMap::from([("a".to_owned(), file(&vec![0; 200 << 20]))]),
        ..good()
    };
    refused(huge, "FILES_TOO_LARGE", "files", &["209715200", "67108864"]);
    let many = v1::RunRequest {
        policy: "small".into(),
        files: (0..21)
            .map(|number| (format!("f{number}"), file(b"")))
            .collect(),
        ..good()
    };
    refused(many, "FILES_TOO_MANY", "files", &["21 files", "20"]);
}
