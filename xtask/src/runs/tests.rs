//! How rows and skips add up.

use super::{Row, held, judged, total};
use crate::closing::Counts;
use crate::skips::Skip;
use std::time::Duration;

fn row(passed: u64, failed: u64) -> Row {
    Row {
        name: "x",
        counts: Counts {
            passed,
            failed,
            skipped: 0,
        },
        took: Duration::ZERO,
    }
}

#[test]
fn a_test_that_told_of_a_skip_did_not_pass() {
    let told = ["a", "b/part"].map(|name| Skip {
        name: name.to_owned(),
        reason: String::new(),
    });
    let wanted = Counts {
        passed: 5,
        failed: 1,
        skipped: 0,
    };
    assert_eq!(total(&[row(4, 0), row(2, 1)], &told), wanted);
}

#[test]
fn a_runner_that_died_is_a_failure() {
    assert_eq!(judged(None, false).failed, 1);
    let counts = Counts {
        passed: 3,
        failed: 2,
        skipped: 0,
    };
    assert_eq!(judged(Some(counts), false), counts);
    assert_eq!(
        judged(
            Some(Counts {
                failed: 0,
                ..counts
            }),
            true
        )
        .failed,
        0
    );
}

#[test]
fn a_test_that_held_on_the_other_host_is_no_skip() {
    let names = ["module::one".to_owned(), "two".to_owned()];
    assert!(held(&names, "one") && held(&names, "module::one") && held(&names, "two"));
    assert!(!held(&names, "ne") && !held(&names, "three") && !held(&names, "one/part"));
}
