//! Options in any order, and the numbers of a fuzzer's last words.

use super::{Fuzzed, options, read_stats};

#[test]
fn options_come_in_any_order() {
    let read = |words: &[&'static str]| options(words, "--seconds", 60).ok();
    assert_eq!(read(&[]), Some((None, 60)));
    assert_eq!(read(&["policy"]), Some((Some("policy"), 60)));
    assert_eq!(
        read(&["--seconds", "5", "policy"]),
        Some((Some("policy"), 5))
    );
    assert_eq!(
        read(&["policy", "--seconds", "5"]),
        Some((Some("policy"), 5))
    );
    for bad in [["--seconds", "x"], ["--runs", "5"], ["a", "b"]] {
        assert_eq!(read(&bad), None, "{bad:?}");
    }
    assert_eq!(read(&["--seconds"]), None);
}

#[test]
fn last_words_are_read() {
    let log = "\
#2\tINITED cov: 10 ft: 11 corp: 1/1b exec/s: 0 rss: 30Mb
#900\tDONE   cov: 1234 ft: 5678 corp: 90/12Kb lim: 4096 exec/s: 450 rss: 40Mb
stat::number_of_executed_units: 900
stat::average_exec_per_sec:     450
";
    let stats = Fuzzed {
        executions: 900,
        per_second: 450,
        edges: 1234,
        features: 5678,
        inputs: 90,
    };
    assert_eq!(read_stats(log), stats);
    assert_eq!(read_stats(""), Fuzzed::default());
}
