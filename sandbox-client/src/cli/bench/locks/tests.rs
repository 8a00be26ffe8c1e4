//! What an answer is worth, and what is shown of it.

use super::*;

fn row(expected: &str, found: &str) -> pb::SelfTestRow {
    pb::SelfTestRow {
        name: "a".to_owned(),
        expected: expected.to_owned(),
        found: found.to_owned(),
        right: Some(true),
        ..pb::SelfTestRow::default()
    }
}

fn answers_of(pairs: &[(&str, &str)]) -> Answers {
    let owned = |(name, found): &(&str, &str)| ((*name).to_owned(), (*found).to_owned());
    pairs.iter().map(owned).collect()
}

fn told(pairs: &[(&str, &str)]) -> Told {
    Told {
        name: "peer",
        version: "1".to_owned(),
        how: "peer PROGRAM".to_owned(),
        answers: answers_of(pairs),
    }
}

fn cells(table: &Table) -> Vec<Vec<String>> {
    let text = table.render(None);
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect();
    text.lines().map(words).collect()
}

#[test]
fn only_root_can_tell_anything() {
    assert!(refuse_unless(true).is_ok());
    let failure = refuse_unless(false).unwrap_err();
    assert!(failure.to_string().contains("needs root"), "{failure}");
}

#[test]
fn long_answers_are_cut_in_the_table_alone() {
    let long = "0".repeat(ANSWER_CHARS_MAX + 1);
    let row = pb::SelfTestRow {
        class: "escape".to_owned(),
        ..row("EPERM", "EPERM")
    };
    let lines = [Line {
        row: &row,
        bare: "ok",
    }];
    let peers = [told(&[("a", &long)])];
    let shown = cells(&row_table(&lines, &peers));
    assert_eq!(shown[0], ["row", "class", "rollcage", "peer"]);
    let cell = &shown[1][3];
    assert_eq!(cell.chars().count(), ANSWER_CHARS_MAX, "{cell}");
    assert!(cell.ends_with('…'), "{cell}");
    let whole = to_json(&lines, &peers);
    assert_eq!(whole["rows"][0]["by"]["peer"]["found"], long);
}

#[test]
fn open_rows_are_counted_by_class() {
    let of = |name: &str, class: &str| pb::SelfTestRow {
        name: name.to_owned(),
        class: class.to_owned(),
        ..row("EPERM", "EPERM")
    };
    let rows = [of("a", "escape"), of("b", "lateral"), of("c", "escape")];
    let lines: Vec<Line<'_>> = rows.iter().map(|row| Line { row, bare: "ok" }).collect();
    let peers = [told(&[
        ("a", "ok"),
        ("b", "not prepared: EPERM"),
        ("c", "EPERM"),
    ])];
    assert_eq!(
        cells(&class_table(&lines, &peers)),
        [
            vec!["class", "rows", "rollcage", "peer"],
            vec!["escape", "2", "0", "1"],
            vec!["lateral", "1", "0", "0"],
        ]
    );
}

#[test]
fn answers_are_closed_other_or_open() {
    let cases = [
        ("EPERM | EACCES", "ok", "EACCES", Mark::Closed),
        ("EPERM", "EINVAL", "EINVAL", Mark::Open),
        ("EPERM", "EINVAL", "ok", Mark::Open),
        ("EPERM", "EINVAL", "ENOSYS", Mark::Other),
        ("at most 64", "1024", "64", Mark::Closed),
        ("at most 64", "1024", "65", Mark::Other),
        ("at most 64", "1024", "1024", Mark::Open),
        ("EPERM", "EINVAL", "not prepared: EPERM", Mark::Untold),
    ];
    for (expected, bare, found, wanted) in cases {
        let row = row(expected, "");
        let line = Line { row: &row, bare };
        let found = found.to_owned();
        assert_eq!(
            mark(&line, Some(&found)),
            wanted,
            "{expected} {bare} {found}"
        );
        assert_eq!(mark(&line, None), Mark::Untold);
    }
}

#[test]
fn rows_that_tell_nothing_here_are_left_out() {
    let mut rows = vec![
        row("EPERM", "EPERM"),
        row("EPERM", "EPERM"),
        row("ok", "ok"),
        row("EPERM", "EPERM"),
    ];
    rows[1].name = "b".to_owned();
    rows[2].name = "c".to_owned();
    rows[3].name = "d".to_owned();
    let bare = answers_of(&[
        ("a", "ok"),
        ("b", "EPERM"),
        ("c", "ok"),
        ("d", "not prepared: EPERM"),
    ]);
    let lines = lines(&rows, &bare);
    let names: Vec<&str> = lines.iter().map(|line| line.row.name.as_str()).collect();
    assert_eq!(names, ["a"]);
}
