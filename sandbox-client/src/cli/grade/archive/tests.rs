//! Archives that are read, and what is said of those that are not.

use std::io::Write;

use super::*;

fn header(kind: tar::EntryType, size: u64, mode: u32) -> tar::Header {
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(kind);
    header.set_size(size);
    header.set_mode(mode);
    header
}

/// An archive of one entry, whose name is written as it is.
fn one(name: &str, kind: tar::EntryType, content: &[u8]) -> Vec<u8> {
    let size = u64::try_from(content.len()).expect("a size");
    let mut header = header(kind, size, 0o755);
    header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
    header.set_cksum();
    let mut builder = tar::Builder::new(Vec::new());
    builder.append(&header, content).expect("written");
    builder.into_inner().expect("an archive")
}

#[test]
fn plain_and_gzipped() {
    let plain = one("./bin/tool", tar::EntryType::Regular, b"#!/bin/sh\n");
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&plain).expect("written");
    for bytes in [plain, gzip.finish().expect("gzipped")] {
        let files = unpack(&bytes).expect("read");
        assert_eq!(files.len(), 1);
        assert_eq!(files["bin/tool"].content, b"#!/bin/sh\n");
        assert_eq!(files["bin/tool"].mode, Some(0o755));
    }
}

#[test]
fn nothing_leads_elsewhere() {
    let regular = tar::EntryType::Regular;
    let cases = [
        (one("../x", regular, b""), "`..`"),
        (one("/etc/passwd", regular, b""), "not relative"),
        (one("a//b", regular, b""), "empty part"),
        (
            one("a", tar::EntryType::Symlink, b""),
            "neither a regular file",
        ),
        (
            one("a", tar::EntryType::Link, b""),
            "neither a regular file",
        ),
        (
            one("a", tar::EntryType::Char, b""),
            "neither a regular file",
        ),
        (
            b"no archive at all, but some text that is long enough".repeat(20),
            "read the archive",
        ),
        ([0x1f, 0x8b, 8, 0, 0].to_vec(), "read the archive"),
    ];
    for (bytes, says) in cases {
        let said = unpack(&bytes).expect_err("refused").to_string();
        assert!(said.contains(says), "{says}: {said}");
    }
}
