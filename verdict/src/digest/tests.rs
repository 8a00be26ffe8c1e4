//! Digests differ whenever what they stand for differs.

use std::collections::{BTreeMap, BTreeSet};

use super::{inputs_sha256, tests_sha256, verifier_sha256};
use crate::verify::{AssertsSpec, ExitCodeSpec, StdoutSpec, TestCode, VerifySpec};

fn files(entries: &[(&str, &str)]) -> BTreeMap<String, Vec<u8>> {
    entries
        .iter()
        .map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()))
        .collect()
}

#[test]
fn inputs_differ_by_path_content_and_boundary() {
    let sets = [
        files(&[]),
        files(&[("a", "")]),
        files(&[("a", "b")]),
        files(&[("ab", "")]),
        files(&[("a", ""), ("b", "")]),
        files(&[("a", "b"), ("c", "d")]),
        files(&[("a", "d"), ("c", "b")]),
    ];
    let digests: BTreeSet<String> = sets.iter().map(inputs_sha256).collect();
    assert_eq!(digests.len(), sets.len());
    assert!(digests.iter().all(|digest| digest.len() == 64));
    assert_eq!(inputs_sha256(&files(&[("a", "1"), ("b", "2")])), {
        inputs_sha256(&files(&[("b", "2"), ("a", "1")]))
    });
}

#[test]
fn tests_differ_by_every_field() {
    let asserts = |change: fn(&mut AssertsSpec)| {
        let mut spec = AssertsSpec {
            file: "s.py".into(),
            code: "c".into(),
            ..Default::default()
        };
        change(&mut spec);
        VerifySpec::Asserts(spec)
    };
    let stdout = |change: fn(&mut StdoutSpec)| {
        let mut spec = StdoutSpec {
            stdout: b"1".to_vec(),
            ..Default::default()
        };
        change(&mut spec);
        VerifySpec::Stdout(spec)
    };
    let specs = [
        VerifySpec::ExitCode(ExitCodeSpec { exit_code: 0 }),
        VerifySpec::ExitCode(ExitCodeSpec { exit_code: 1 }),
        stdout(|_| {}),
        stdout(|spec| spec.stdout = b"2".to_vec()),
        stdout(|spec| spec.ignore_trailing_space = true),
        stdout(|spec| spec.float_tolerance = Some(0.5)),
        stdout(|spec| spec.exit_code = 1),
        asserts(|_| {}),
        asserts(|spec| spec.file = "t.py".into()),
        asserts(|spec| spec.code = "d".into()),
        asserts(|spec| spec.tests = one_test()),
        asserts(|spec| spec.entry_points = vec!["sum".into()]),
        asserts(|spec| spec.test_ids = vec!["asserts".into()]),
    ];
    let digests: BTreeSet<String> = specs.iter().map(tests_sha256).collect();
    assert_eq!(digests.len(), specs.len());
    assert_ne!(verifier_sha256(&specs[0]), verifier_sha256(&specs[7]));
    assert_eq!(verifier_sha256(&specs[0]), verifier_sha256(&specs[2]));
}

fn one_test() -> Vec<TestCode> {
    vec![TestCode {
        id: "a".into(),
        code: "b".into(),
    }]
}
