//! Layout.

use super::*;

fn sample() -> Table {
    let mut table = Table::new(&[
        ("id", Align::Left),
        ("wall ms", Align::Right),
        ("why", Align::Left),
    ]);
    table.row(["a", "18", ""].map(str::to_owned));
    table.row(["longer-id", "1200", "line one\nline two \u{1b}[31m"].map(str::to_owned));
    table
}

#[test]
fn columns_stand_under_each_other() {
    assert_eq!(
        sample().render(None),
        "id         wall ms  why\na               18\nlonger-id     1200  line one line two  [31m\n"
    );
}

#[test]
fn last_column_is_cut_to_the_terminal() {
    let text = sample().render(Some(30));
    assert!(
        text.lines().all(|line| line.chars().count() <= 30),
        "{text}"
    );
    assert!(text.contains("line one …"), "{text}");
}

#[test]
fn missing_cells_are_empty_and_surplus_ones_dropped() {
    let mut table = Table::new(&[("a", Align::Left), ("b", Align::Left)]);
    table.row(["x".to_owned()]);
    table.row(["1", "2", "3"].map(str::to_owned));
    assert_eq!(table.render(None), "a  b\nx\n1  2\n");
}

#[test]
fn wide_characters_count_as_one() {
    assert_eq!(cut("äöüß", 4), "äöüß");
    assert_eq!(cut("äöüßx", 4), "äöü…");
}
