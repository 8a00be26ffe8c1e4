//! Documents that are whole, cut, wrong and too deep.

use super::*;

/// All pieces as short words, and how it ended.
fn pieces(text: &str) -> (Vec<String>, Option<XmlError>) {
    let mut puller = Puller::new(text);
    let mut seen = Vec::new();
    loop {
        match puller.next() {
            Ok(Piece::Open(element)) => seen.push(format!("<{}", element.name())),
            Ok(Piece::Close) => seen.push(">".to_owned()),
            Ok(Piece::Text(text)) => seen.push(text.into_owned()),
            Ok(Piece::End) => return (seen, None),
            Err(error) => return (seen, Some(error)),
        }
    }
}

#[test]
fn elements_text_and_references_come_in_order() {
    let (seen, error) =
        pieces("\u{feff}<?xml version='1.0'?><a>x&lt;&#65;<![CDATA[<y>]]><b/></a>\n");
    assert_eq!(seen.join("|"), "<a|x|<|A|<y>|<b|>|>|\n");
    assert_eq!(error, None);
}

#[test]
fn attributes_are_told_without_their_references() {
    let mut puller = Puller::new("<x:a n=\"1 &gt; &unknown\" n='2' p:m='&#x41;&amp;'/>");
    let Ok(Piece::Open(element)) = puller.next() else {
        panic!("an element");
    };
    assert_eq!(element.name(), "a");
    assert_eq!(element.attribute("n").as_deref(), Some("1 &gt; &unknown"));
    assert_eq!(element.attribute("m").as_deref(), Some("A&"));
    assert_eq!(element.attribute("o"), None);
}

#[test]
fn a_declared_entity_is_not_expanded() {
    let bomb = "<!DOCTYPE a [<!ENTITY b SYSTEM \"file:///etc/passwd\">]><a>&b;</a>";
    assert_eq!(pieces(bomb).0.join("|"), "<a|&b;|>");
}

#[test]
fn what_breaks_off_is_told_apart_from_what_is_wrong() {
    for text in ["<a><b>", "<a", "<a><b x='", "<a><![CDATA[x", "<a><!-- x"] {
        let (_, error) = pieces(text);
        assert!(
            matches!(error, Some(XmlError::Truncated { .. })),
            "{text}: {error:?}"
        );
    }
    for text in ["", "x", "<a></b>", "<a/><a/>", "<a/>x"] {
        let (_, error) = pieces(text);
        assert!(
            matches!(error, Some(XmlError::Malformed { .. })),
            "{text}: {error:?}"
        );
    }
}

#[test]
fn depth_is_bounded() {
    let deep = "<a>".repeat(DEPTH_MAX + 1);
    assert!(matches!(pieces(&deep).1, Some(XmlError::TooDeep { .. })));
}
