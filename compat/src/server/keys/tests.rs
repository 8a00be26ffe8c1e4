//! Files of keys that can be used, and those that cannot.

use super::*;

/// Of `secret`.
const DIGEST: &str = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b";

#[test]
fn a_key_is_known_by_its_digest() {
    let text = format!("[[key]]\nname = \"a\"\nsha256 = \"{DIGEST}\"\npolicy = \"python\"\n");
    let keys = read_keys(&text).unwrap();
    assert_eq!(keys[0].policy.as_deref(), Some("python"));
    assert!(keys[0].is("secret"));
    assert!(!keys[0].is("Secret") && !keys[0].is(""));
}

#[test]
fn what_cannot_be_used_is_told() {
    let key = |name: &str, digest: &str| format!("[[key]]\nname = {name:?}\nsha256 = {digest:?}\n");
    let other = "0".repeat(64);
    let table = [
        (String::new(), "no [[key]] in it"),
        (key("a", "abc"), "64 hexadecimal digits"),
        (key("a", &"A".repeat(64)), "64 hexadecimal digits"),
        (key("a", DIGEST) + &key("a", &other), "key.name of \"a\""),
        (key("a", DIGEST) + &key("b", DIGEST), "key.sha256 of \"b\""),
        (key("a", DIGEST) + "secret = \"x\"\n", "not a file of keys"),
    ];
    for (text, part) in table {
        let error = read_keys(&text).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
}
