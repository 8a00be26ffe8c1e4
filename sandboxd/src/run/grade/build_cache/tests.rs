//! A build is found again if nothing of it differs, and the oldest go first.

use std::collections::BTreeMap;

use verdict::Build;

use super::{BUILDS_MAX, BYTES_MAX, BuildCache, BuildKey};
use crate::run::request::InputFile;

fn build(text: &str) -> Build {
    Build {
        files: BTreeMap::from([("a".to_owned(), text.as_bytes().to_vec())]),
        argv: vec!["cc".to_owned()],
        ..Build::default()
    }
}

fn files(bytes: usize) -> Vec<InputFile> {
    vec![InputFile {
        path: "program".to_owned(),
        content: vec![0; bytes],
        mode: 0o755,
    }]
}

#[test]
fn whatever_goes_into_a_build_is_in_its_key() {
    let key = |build: &Build| BuildKey::new(build, &BTreeMap::new(), "image");
    let one = build("x");
    assert_eq!(key(&one), key(&one.clone()));
    let other_argv = Build {
        argv: vec!["c".to_owned(), "c".to_owned()],
        ..build("x")
    };
    let more_files = Build {
        files: BTreeMap::from([
            ("a".to_owned(), b"x".to_vec()),
            ("b".to_owned(), Vec::new()),
        ]),
        ..build("x")
    };
    for other in [&build("y"), &other_argv, &more_files] {
        assert_ne!(key(&one), key(other), "{other:?}");
    }
    let path = BTreeMap::from([("PATH".to_owned(), "/x".to_owned())]);
    assert_ne!(key(&one), BuildKey::new(&one, &path, "image"));
    assert_ne!(key(&one), BuildKey::new(&one, &BTreeMap::new(), "other"));
}

#[test]
fn what_is_kept_has_bounds() {
    let cache = BuildCache::default();
    let key = |number: usize| BuildKey::new(&build(&number.to_string()), &BTreeMap::new(), "");
    for number in 0..BUILDS_MAX {
        cache.put(key(number), &files(1));
    }
    assert!(cache.get(key(0)).is_some());
    cache.put(key(BUILDS_MAX), &files(2));
    assert!(cache.get(key(0)).is_some(), "used last");
    assert!(cache.get(key(1)).is_none(), "the oldest");
    cache.put(key(0), &files(BYTES_MAX));
    assert!(cache.get(key(BUILDS_MAX)).is_none() && cache.get(key(0)).is_some());
    cache.put(key(2), &files(BYTES_MAX + 1));
    assert!(cache.get(key(2)).is_none());
}
