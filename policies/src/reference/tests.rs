//! The page is fresh.

use super::*;

#[test]
fn the_committed_page_is_fresh() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/policy-reference.md");
    let page = reference_page();
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(path, &page).expect("write the page");
    }
    let committed = std::fs::read_to_string(path).expect("docs/policy-reference.md");
    assert_eq!(committed, page, "run the test again with UPDATE=1");
}

#[test]
fn every_field_has_a_row_without_gaps() {
    let page = reference_page();
    assert!(!page.contains("unknown |"));
    for field in FIELDS {
        let name = field
            .path
            .split_once('.')
            .map_or(field.path, |(_, name)| name);
        assert!(page.contains(&format!("| `{name}` |")), "{}", field.path);
    }
}
