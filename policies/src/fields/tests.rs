//! The table and the document have the same fields.

use std::collections::BTreeSet;

use super::*;
use crate::document::Document;
use crate::parse;
use crate::testing::FULL;

/// Paths of all leaves of a document as the table writes them.
pub(crate) fn leaves(document: &Document) -> BTreeSet<String> {
    fn walk(value: &serde_json::Value, path: &str, found: &mut BTreeSet<String>) {
        match value {
            serde_json::Value::Object(map) => {
                for (key, member) in map {
                    let path = format!("{path}.{key}");
                    walk(member, path.trim_start_matches('.'), found);
                }
            }
            serde_json::Value::Array(items) if items.iter().any(serde_json::Value::is_object) => {
                items.iter().for_each(|item| walk(item, path, found));
            }
            _ => {
                found.insert(path.to_owned());
            }
        }
    }
    let mut found = BTreeSet::new();
    walk(
        &serde_json::to_value(document).expect("a document is JSON"),
        "",
        &mut found,
    );
    found
}

#[test]
fn full_document_leaves_no_field_out() {
    let document = parse(FULL).expect("the full document");
    let json = serde_json::to_value(&document)
        .expect("a document is JSON")
        .to_string();
    assert!(
        !json.contains("null"),
        "a field is unset in full.toml: {json}"
    );
    let again: Document = toml::from_str(&toml::to_string(&document).expect("TOML")).expect("TOML");
    assert_eq!(again, document);
}

#[test]
fn every_leaf_has_one_row() {
    let rows: Vec<String> = FIELDS.iter().map(|row| row.path.to_owned()).collect();
    let set: BTreeSet<String> = rows.iter().cloned().collect();
    assert_eq!(rows.len(), set.len(), "a path stands twice");
    assert_eq!(leaves(&parse(FULL).expect("the full document")), set);
}

#[test]
fn indexes_do_not_matter() {
    assert_eq!(
        field("network.allow[12].host").map(|row| row.path),
        Some("network.allow.host")
    );
    assert_eq!(field("network.allow[12].hosts"), None);
    assert_eq!(names_in("grant[0].network"), ["mode", "allow"]);
    assert_eq!(names_in("process"), ["run_as"]);
    assert!(names_in("").contains(&"limits"));
}

#[test]
fn words_of_choices_are_those_of_the_document() {
    for row in FIELDS {
        let Choice(words) = row.kind else {
            continue;
        };
        for word in words.iter().filter(|_| !row.path.starts_with("grant")) {
            let (table, name) = row.path.split_once('.').expect("choices stand in tables");
            let text = format!("[{table}]\n{name} = \"{word}\"\n");
            assert!(parse(&text).is_ok(), "{text}");
        }
    }
}
