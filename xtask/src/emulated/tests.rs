//! The list of tests, and the archive that the kernel unpacks.

use super::*;

#[test]
fn a_list_has_names_and_remarks() {
    let list = "# remark\n\na::b\n  c::d  \n";
    assert_eq!(names(list), ["a::b", "c::d"]);
}

#[test]
fn an_archive_is_padded_and_ends_with_its_trailer() {
    let mut archive = archive::Archive::default();
    archive.folder("bin");
    archive.program("init", b"#!x");
    let bytes = archive.finish();
    assert_eq!(bytes.len() % 4, 0);
    assert!(bytes.starts_with(b"07070100000001000041ed"));
    let text = String::from_utf8_lossy(&bytes);
    assert!(text.contains("TRAILER!!!") && text.contains("#!x"));
}
