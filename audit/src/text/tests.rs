//! What untrusted bytes become.

use serde_json::json;

use super::{untrusted, untrusted_list};

#[test]
fn text_that_fits_is_a_string() {
    assert_eq!(
        untrusted("grüß\u{1b}[0m".as_bytes(), 64),
        json!("grüß\u{1b}[0m")
    );
}

#[test]
fn long_text_is_cut_at_a_character() {
    assert_eq!(
        untrusted("aü".as_bytes(), 2),
        json!({ "text": "a", "bytes": 3 })
    );
}

#[test]
fn bytes_that_are_not_utf8_are_base64() {
    assert_eq!(untrusted(&[0xff, 0xfe], 8), json!({ "base64": "//4=" }));
    assert_eq!(
        untrusted(&[0xff, 0xfe, 0xfd], 2),
        json!({ "base64": "//4=", "bytes": 3 })
    );
}

#[test]
fn a_long_list_names_what_it_omits() {
    let items: [&[u8]; 3] = [b"a", b"b", b"c"];
    assert_eq!(
        untrusted_list(items, 2, 8),
        json!(["a", "b", { "omitted": 1 }])
    );
}
