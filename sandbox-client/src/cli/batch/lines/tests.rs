//! What becomes of each kind of line.

use super::*;

fn read(input: &[u8]) -> Vec<Line> {
    LineReader::new(input, Arc::default())
        .map(|line| line.unwrap())
        .collect()
}

fn bad(line: &Line) -> &BadLine {
    line.content.as_ref().unwrap_err()
}

#[test]
fn good_lines_keep_their_number_and_id() {
    let input = b"{\"id\":\"a\",\"argv\":[\"true\"]}\n\n  \n{\"argv\":[\"true\"]}";
    let lines = read(input);
    let seen: Vec<_> = lines
        .iter()
        .map(|line| (line.number, line.content.as_ref().unwrap().id.as_str()))
        .collect();
    assert_eq!(seen, [(1, "a"), (4, "line-4")]);
}

#[test]
fn bad_lines_say_what_and_where_and_the_rest_goes_on() {
    let lines = read(
        b"no json\n{\"id\":\"x\",\"argc\":1}\n\xff\n{\"id\":\"y\",\"limits\":{\"wall_ms_max\":\"z\"}}\n{\"id\":\"ok\"}\n",
    );
    assert_eq!(bad(&lines[0]).reason, "NOT_JSON");
    let document = bad(&lines[0]).to_json();
    assert_eq!(
        (&document["id"], &document["line"]),
        (&json!("line-1"), &json!(1))
    );
    let unknown = bad(&lines[1]).to_json();
    assert_eq!(unknown["id"], "x");
    assert_eq!(unknown["error"]["field"], "argc");
    assert!(
        unknown["error"]["message"]
            .as_str()
            .unwrap()
            .contains("argv"),
        "{unknown}"
    );
    assert_eq!(bad(&lines[2]).reason, "NOT_UTF8");
    assert_eq!(bad(&lines[3]).field.as_deref(), Some("limits.wall_ms_max"));
    assert_eq!(lines[4].content.as_ref().unwrap().id, "ok");
}

#[test]
fn duplicate_ids_name_the_first_line() {
    let lines = read(b"{\"id\":\"a\"}\n{\"id\":\"b\"}\n{\"id\":\"a\"}\n");
    assert_eq!(bad(&lines[2]).reason, "DUPLICATE_ID");
    assert!(
        bad(&lines[2]).message.contains("line 1"),
        "{:?}",
        bad(&lines[2])
    );
}

#[test]
fn a_line_that_is_too_long_is_never_held() {
    // A long line made as it is read, then a good one.
    let long = std::io::repeat(b'x').take(u64::try_from(LINE_BYTES_MAX).unwrap() * 2 + 17);
    let input = long.chain(&b"\n{\"id\":\"after\"}\n"[..]);
    let lines: Vec<_> = LineReader::new(input, Arc::default())
        .map(|line| line.unwrap())
        .collect();
    assert_eq!(bad(&lines[0]).reason, "LINE_TOO_LONG");
    assert_eq!(lines.len(), 2);
    assert_eq!(
        (
            lines[1].number,
            lines[1].content.as_ref().unwrap().id.as_str()
        ),
        (2, "after")
    );
}

#[test]
fn a_line_of_exactly_the_limit_is_read() {
    let mut input = vec![b' '; LINE_BYTES_MAX - 2];
    input.extend_from_slice(b"{}\n");
    assert_eq!(read(&input).len(), 1);
    assert!(read(&input)[0].content.is_ok());
}

#[test]
fn bytes_are_counted() {
    let count = Arc::new(AtomicU64::new(0));
    assert_eq!(
        LineReader::new(&b"{}\n\n{}"[..], Arc::clone(&count)).count(),
        2
    );
    assert_eq!(count.load(Ordering::Relaxed), 6);
}
