//! What the wildcards match, and that none takes long.

use super::{name_matches, parts_match};

#[test]
fn wildcards_match_within_a_name() {
    assert!(name_matches(b"*.txt", b"a.txt"));
    assert!(name_matches(b"a?c*", b"abcd"));
    assert!(name_matches(b"*", b""));
    assert!(!name_matches(b"*.txt", b"a.txt2"));
    assert!(!name_matches(b"?", b""));
}

#[test]
fn double_star_crosses_folders_and_single_does_not() {
    assert!(parts_match(&["**", "x"], &["a", "b", "x"]));
    assert!(parts_match(&["**", "x"], &["x"]));
    assert!(parts_match(&["a", "**"], &["a", "b", "c"]));
    assert!(!parts_match(&["*", "x"], &["a", "b", "x"]));
    assert!(parts_match(&["**", "a", "**", "b"], &["a", "a", "x", "b"]));
    assert!(!parts_match(&["**", "a", "**", "b"], &["a", "b", "x"]));
    assert!(parts_match(&["**", "**"], &["a"]) && parts_match(&["**"], &[]));
}

#[test]
fn no_pattern_takes_long() {
    let parts = [["**", "a*a*a*b"]; 300].concat();
    let names = vec!["aaaaaaaaaaaaaaaaaaaaaaaa"; 600];
    assert!(!parts_match(&parts, &names));
}
