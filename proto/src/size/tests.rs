//! Sizes as written.

use super::{SizeError, parse_size_bytes};

#[test]
fn reads_units_of_both_kinds() {
    for (text, bytes) in [
        ("0", 0),
        ("512 MiB", 512 << 20),
        ("256M", 256 << 20),
        ("1_000", 1_000),
        ("2 GB", 2_000_000_000),
        (" 3kib ", 3 << 10),
        ("7b", 7),
    ] {
        assert_eq!(parse_size_bytes(text), Ok(bytes), "{text}");
    }
}

#[test]
fn refuses_what_is_no_size() {
    assert_eq!(parse_size_bytes("MiB"), Err(SizeError::NotANumber));
    assert_eq!(parse_size_bytes("-1"), Err(SizeError::NotANumber));
    assert_eq!(
        parse_size_bytes("1.5 GiB"),
        Err(SizeError::UnknownUnit {
            unit: ".5 GiB".into()
        })
    );
    assert_eq!(
        parse_size_bytes("99999999999999999999"),
        Err(SizeError::TooLarge)
    );
    assert_eq!(parse_size_bytes("9000000 TiB"), Err(SizeError::TooLarge));
}
