//! Tests of the borrowed archive's encoding.

use confine::wire::Archive;

use super::*;

#[test]
fn borrowed_archive_decodes_as_the_owned_one() {
    let files = vec![InputFile {
        path: "a/b.py".to_owned(),
        content: vec![0, 255, 10],
        mode: 0o644,
    }];
    let fd = packet::seal(&ArchiveView::of(&files)).unwrap();
    let archive: Archive = packet::unseal(fd).unwrap();
    assert_eq!(archive.files.len(), 1);
    assert_eq!(archive.files[0].path, "a/b.py");
    assert_eq!(archive.files[0].mode, 0o644);
    assert_eq!(archive.files[0].content, [0, 255, 10]);
}
