//! `rollcage batch`: every line has its result, whatever is on it.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::process::Output;
use std::sync::atomic::Ordering;

use serde_json::Value;

use crate::fake::{Daemon, stderr};

fn results(output: &Output) -> BTreeMap<String, Value> {
    let text = std::str::from_utf8(&output.stdout).unwrap();
    let results: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let count = results.len();
    let by_id: BTreeMap<_, _> = results
        .into_iter()
        .map(|result| (result["id"].as_str().unwrap().to_owned(), result))
        .collect();
    assert_eq!(by_id.len(), count, "two results with one id");
    by_id
}

#[test]
fn every_line_has_its_result_and_bad_ones_stop_nothing() {
    let input = "\
{\"id\":\"slow\",\"argv\":[\"sleep-ms\",\"300\"]}
{\"id\":\"a\",\"argv\":[\"exit\",\"3\"]}
this is no json
{\"id\":\"b\",\"argv\":[\"refuse\"]}
{\"id\":\"c\",\"argz\":[]}
{\"id\":\"a\",\"argv\":[\"exit\"]}

{\"argv\":[\"exit\",\"4\"]}
{\"id\":\"last\"";
    let output = Daemon::start().rollcage_with_stdin(&["batch"], input);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    // The duplicate has its own error line beside the result of the first.
    let text = std::str::from_utf8(&output.stdout).unwrap();
    let of_a: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|result| result["id"] == "a")
        .collect();
    assert_eq!(of_a.len(), 2);
    assert!(
        of_a.iter()
            .any(|result| result["error"]["reason"] == "DUPLICATE_ID" && result["line"] == 6)
    );
    assert!(of_a.iter().any(|result| result["ending"]["code"] == 3));
    let find = |id: &str| {
        let found = text
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        found.into_iter().find(|result| result["id"] == id).unwrap()
    };
    assert_eq!(find("line-3")["error"]["reason"], "NOT_JSON");
    assert_eq!(find("b")["error"]["field"], "policy");
    assert_eq!(find("b")["line"], 4);
    assert_eq!(find("c")["error"]["field"], "argz");
    assert_eq!(find("line-8")["ending"]["code"], 4);
    assert_eq!(find("line-9")["line"], 9);
    // As they finish: the slow one, which came first, is not the first out.
    assert!(!text.starts_with("{\"id\":\"slow\"") && text.contains("\"slow\""));
    assert!(stderr(&output).contains("8 results"), "{}", stderr(&output));
}

#[test]
fn no_more_than_asked_are_in_flight() {
    let daemon = Daemon::start();
    let input: String = (0..40)
        .map(|index| format!("{{\"id\":\"t{index}\",\"argv\":[\"sleep-ms\",\"10\"]}}\n"))
        .collect();
    let output = daemon.rollcage_with_stdin(&["batch", "--concurrency", "3"], &input);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(results(&output).len(), 40);
    let peak = daemon.seen.in_flight_peak.load(Ordering::SeqCst);
    assert!((1..=3).contains(&peak), "{peak}");
}

#[test]
fn an_empty_batch_is_no_error() {
    let output = Daemon::start().rollcage_with_stdin(&["batch"], "\n\n");
    assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0));
}

#[test]
fn a_daemon_that_falls_over_is_125_and_what_was_done_is_kept() {
    let input = "\
{\"id\":\"a\",\"argv\":[\"exit\"]}
{\"id\":\"hangs\",\"argv\":[\"sleep-ms\",\"60000\"]}
{\"id\":\"dies\",\"argv\":[\"die\"]}
";
    let output = Daemon::start().rollcage_with_stdin(&["batch", "--concurrency", "2"], input);
    assert_eq!(output.status.code(), Some(125));
    assert!(results(&output).contains_key("a"));
    let said = stderr(&output);
    assert!(
        said.contains("2 lines") && said.contains("fell over"),
        "{said}"
    );
}

#[test]
fn a_reader_that_has_enough_ends_it_quietly() {
    let daemon = Daemon::start();
    let input: String = (0..2_000)
        .map(|index| format!("{{\"id\":\"t{index}\",\"argv\":[\"sleep-ms\",\"1\"]}}\n"))
        .collect();
    let path = daemon.folder.path().join("many");
    std::fs::write(&path, input).unwrap();
    let mut child = daemon
        .command(&["batch", "--concurrency", "2"])
        .stdin(std::fs::File::open(path).unwrap())
        .spawn()
        .unwrap();
    let mut first = String::new();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdout.read_line(&mut first).unwrap();
    drop(stdout);
    let mut said = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(141));
    assert_eq!(said, "");
}
