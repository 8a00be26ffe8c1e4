//! Sizes as text.

use super::*;

#[test]
fn reads_every_unit() {
    let cases: [(&str, u64); 15] = [
        ("0", 0),
        ("512", 512),
        ("1_024", 1024),
        ("7 B", 7),
        ("1KiB", 1024),
        ("1k", 1024),
        ("512 MiB", 512 << 20),
        ("256M", 256 << 20),
        ("2 GiB", 2 << 30),
        ("2g", 2 << 30),
        ("1 TiB", 1 << 40),
        ("1 kB", 1_000),
        ("3MB", 3_000_000),
        ("1 gb", 1_000_000_000),
        (" 1 TB ", 1_000_000_000_000),
    ];
    for (text, bytes) in cases {
        assert_eq!(parse_size_bytes(text), Ok(bytes), "{text}");
    }
}

#[test]
fn refuses_with_a_reason() {
    for (text, start) in [
        ("", "size \"\" does not start with a whole number"),
        ("MiB", "size \"MiB\" does not start with a whole number"),
        ("-1", "size \"-1\" does not start with a whole number"),
        (
            "1.5 GiB",
            "size \"1.5 GiB\" has the unknown unit \".5 GiB\"",
        ),
        (
            "1 parsec",
            "size \"1 parsec\" has the unknown unit \"parsec\"",
        ),
        (
            "9223372036854775808",
            "size \"9223372036854775808\" is too large",
        ),
        (
            "99999999999999999999999",
            "size \"99999999999999999999999\" is too large",
        ),
        ("9999999999 TiB", "size \"9999999999 TiB\" is too large"),
    ] {
        let error = parse_size_bytes(text).expect_err(text).to_string();
        assert!(error.starts_with(start), "{error}");
    }
    assert_eq!(parse_size_bytes("9223372036854775807"), Ok(SIZE_BYTES_MAX));
}

#[test]
fn writes_for_people() {
    for (bytes, text) in [
        (0, "0 bytes"),
        (1023, "1023 bytes"),
        (1024, "1 KiB"),
        (1536, "1536 bytes"),
        (512 << 20, "512 MiB"),
        (3 << 30, "3 GiB"),
        (1 << 40, "1 TiB"),
    ] {
        assert_eq!(format_size_bytes(bytes), text);
    }
    for (millis, text) in [
        (0, "0 ms"),
        (999, "999 ms"),
        (1_500, "1500 ms"),
        (40_000, "40 s"),
        (240_000, "4 min"),
    ] {
        assert_eq!(format_millis(millis), text);
    }
}
