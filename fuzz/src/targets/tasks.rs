//! What solutions and tasks bring to `rollcage grade`: patches and archives. No name leads out of the
//! folder, and nothing grows beyond what was given or allowed.

use std::collections::BTreeMap;

use sandbox_client::cli::{apply_patch, unpack_archive};
use sandbox_client::pb;

const TEXT: &str = "one\ntwo\nthree\nfour\nfive\nsix\n";

pub(super) fn patch_seeds() -> Vec<Vec<u8>> {
    let seeds = [
        "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n",
        "diff --git a/a.txt b/a.txt\nindex 1..2 100644\n--- a/a.txt\n+++ b/a.txt\n@@ -6 +6 @@ x\n-six\n+6\n\\ No newline at end of file\n",
        "diff --git a/b b/c/d\nsimilarity index 100%\nrename from b\nrename to c/d\n",
        "diff --git a/n b/n\nnew file mode 100755\n--- /dev/null\n+++ b/n\n@@ -0,0 +1,2 @@\n+#!/bin/sh\n+\n",
        "diff --git a/b b/b\ndeleted file mode 100644\n--- a/b\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n",
        "--- a/../x\n+++ b/../x\n@@ -1 +1 @@\n-a\n+b\n",
    ];
    seeds.iter().map(|seed| seed.as_bytes().to_vec()).collect()
}

pub(super) fn patch(data: &[u8]) {
    let file = |text: &str| pb::File {
        content: text.as_bytes().to_vec(),
        mode: Some(0o644),
    };
    let files = BTreeMap::from([
        ("a.txt".to_owned(), file(TEXT)),
        ("b".to_owned(), file("b\n")),
    ]);
    let Some(after) = apply_patch(&files, data) else {
        return;
    };
    let bytes: usize = after.values().map(|file| file.content.len()).sum();
    assert!(bytes <= TEXT.len() + 2 + data.len(), "{bytes} bytes");
    names_stay_inside(&after);
}

pub(super) fn archive_seeds() -> Vec<Vec<u8>> {
    // Headers by hand: name, mode, size, a checksum of spaces, the kind.
    let entry = |name: &str, kind: u8, content: &[u8]| {
        let mut header = vec![0_u8; 512];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[100..107].copy_from_slice(b"0000644");
        header[124..135].copy_from_slice(format!("{:011o}", content.len()).as_bytes());
        header[156] = kind;
        header[257..262].copy_from_slice(b"ustar");
        header[148..156].copy_from_slice(b"        ");
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
        let mut bytes = header;
        bytes.extend_from_slice(content);
        bytes.resize(bytes.len().next_multiple_of(512), 0);
        bytes
    };
    let mut two = entry("./a/b.txt", b'0', b"text\n");
    two.extend(entry("a/", b'5', b""));
    two.extend([0; 1024]);
    vec![
        two,
        entry("../x", b'0', b""),
        entry("link", b'2', b""),
        entry("long", b'L', b"a/very/long/name\0"),
        vec![
            0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        ],
    ]
}

pub(super) fn archive(data: &[u8]) {
    if let Some(files) = unpack_archive(data) {
        let bytes: usize = files.values().map(|file| file.content.len()).sum();
        assert!(bytes <= 60 << 20, "{bytes} bytes");
        names_stay_inside(&files);
    }
}

fn names_stay_inside(files: &BTreeMap<String, pb::File>) {
    for (path, file) in files {
        let inside = |part: &str| !matches!(part, "" | "." | "..");
        assert!(path.split('/').all(inside), "{path}");
        assert!(file.mode.is_none_or(|mode| mode <= 0o777), "{file:?}");
    }
}
