//! Static or not, told from the bytes of real and broken ELF files.

use super::asks_for_interpreter;

#[test]
fn this_very_test_asks_for_a_loader() {
    let own = std::fs::read("/proc/self/exe").expect("read the test's own program");
    assert_eq!(asks_for_interpreter(&own), Some(true));
}

#[test]
fn without_the_header_it_does_not() {
    let mut own = std::fs::read("/proc/self/exe").expect("read the test's own program");
    // The count of program headers: none left.
    own[56..58].fill(0);
    assert_eq!(asks_for_interpreter(&own), Some(false));
}

#[test]
fn other_and_cut_files_are_told_apart() {
    assert_eq!(asks_for_interpreter(b"#!/bin/sh\n"), None);
    assert_eq!(asks_for_interpreter(b"\x7fELF\x02\x01"), None);
    assert_eq!(asks_for_interpreter(b""), None);
}
