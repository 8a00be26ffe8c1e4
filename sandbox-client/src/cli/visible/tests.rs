//! What terminals act on, and what they only show.

use super::*;

/// Sequences that harm: each must come out with nothing in it that a terminal acts on.
const HOSTILE: &[&str] = &[
    "\u{1b}[2J\u{1b}[H",
    "\u{1b}]52;c;ZXZpbA==\u{7}",
    "\u{1b}]8;;http://evil.example\u{1b}\\text\u{1b}]8;;\u{1b}\\",
    "\u{1b}]0;title\u{7}",
    "\u{1b}P$q\"p\u{1b}\\",
    "\u{1b}[6n\u{5}",
    "\u{9b}31m\u{9d}52;c;x\u{9c}",
    "\u{e}\u{f}\u{8}\u{b}\u{c}\u{7f}\0",
    "invoice\u{202e}gpj.exe\u{2066}\u{200f}\u{61c}",
    "a\u{2028}b\u{2029}c",
];

#[test]
fn nothing_hostile_reaches_a_terminal() {
    for hostile in HOSTILE {
        for shown in [
            text(hostile),
            json(hostile),
            Stream::default().next(hostile.as_bytes()),
        ] {
            assert!(!shown.chars().any(is_acted_on), "{hostile:?} as {shown:?}");
        }
    }
}

#[test]
fn plain_text_of_all_languages_is_left_alone() {
    let plain = "tab\tline\nZürich 東京 עברית 👩‍👩‍👧 ñ";
    assert_eq!(text(plain), plain);
    assert_eq!(json(plain), plain);
    assert_eq!(Stream::default().next(plain.as_bytes()), plain);
}

#[test]
fn what_is_shown_can_be_read() {
    assert_eq!(text("a\u{1b}[2Jb"), "a^[[2Jb");
    assert_eq!(text("\u{9b}\u{202e}\u{7f}\r"), "\\u{9b}\\u{202e}^?^M");
    assert_eq!(Stream::default().next(b"10%\r20%\r\n"), "10%\r20%\r\n");
    assert_eq!(Stream::default().next(b"\x9b2J\xff"), "\\x9b2J\\xff");
}

#[test]
fn only_our_own_colours_pass_in_our_own_text() {
    assert_eq!(text("\u{1b}[31mred\u{1b}[0m"), "\u{1b}[31mred\u{1b}[0m");
    assert_eq!(text("\u{1b}[7mx"), "^[[7mx");
    assert_eq!(Stream::default().next(b"\x1b[31mred"), "^[[31mred");
}

#[test]
fn json_means_the_same_afterwards() {
    let value = serde_json::json!({ "x": HOSTILE.concat() });
    let shown = json(&value.to_string());
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(&shown).unwrap(),
        value
    );
}

#[test]
fn characters_that_are_cut_are_put_together_and_not_smuggled() {
    let mut stream = Stream::default();
    let whole = "é\u{9b}東\u{1b}";
    let mut shown = String::new();
    for byte in whole.as_bytes() {
        shown.push_str(&stream.next(&[*byte]));
    }
    shown.push_str(&stream.end());
    assert_eq!(shown, "é\\u{9b}東^[");
    let mut stream = Stream::default();
    assert_eq!(stream.next(b"\xc2"), "");
    assert_eq!(stream.end(), "\\xc2");
    assert_eq!(stream.end(), "");
}
