//! The bounds of what is read.

use super::{ENTRIES_MAX, First, List, ReadError, bytes, cut, json, text};
use crate::plan::REPORT_BYTES_MAX;
use crate::untrusted::Untrusted;

fn report(text: &str) -> Untrusted<Vec<u8>> {
    Untrusted::new(text.as_bytes().to_vec())
}

#[test]
fn a_report_that_is_too_long_is_refused() {
    let long = Untrusted::new(vec![b' '; REPORT_BYTES_MAX + 1]);
    assert!(matches!(bytes(&long), Err(ReadError::TooLong { .. })));
}

#[test]
fn colours_links_and_the_mark_of_byte_order_are_taken_away() {
    let coloured =
        "\u{feff}\x1b[01;31m\x1b[Kerror:\x1b[m\x1b[K \x1b]8;;http://x\x07text\x1b]8;;\x07.\x1b[";
    assert_eq!(text(&report(coloured)).expect("text"), "error: text.");
}

#[test]
fn a_list_is_bounded_and_null_is_empty() {
    let long = format!("[{}0]", "0,".repeat(ENTRIES_MAX));
    assert!(json::<List<u8>>("test", long.as_bytes()).is_err());
    let null: List<u8> = json("test", b"null").expect("a list");
    assert!(null.0.is_empty());
    assert_eq!(
        json::<First<u8>>("test", b"[7,8]").expect("a list").0,
        Some(7)
    );
    assert_eq!(json::<First<u8>>("test", b"[]").expect("a list").0, None);
}

#[test]
fn text_is_cut_between_characters() {
    assert_eq!(cut("äöü", 3), "ä…");
    assert_eq!(cut("äöü", 6), "äöü");
}
