//! What several tries come to, and which faults say something.

use super::super::outcome::tests::judged;
use super::*;

#[test]
fn what_was_wrong_in_one_try_is_wrong() {
    let mut rows = vec![judged("a", Some(true)), judged("b", Some(true))];
    let mut other = vec![judged("a", Some(true)), judged("b", Some(false))];
    other[1].found = "got_through".to_owned();
    keep_wrong(&mut rows, &other, |_row| true);
    assert_eq!(rows[0].right, Some(true));
    assert_eq!(rows[1], other[1]);
    // What could not be looked at in one try is as it was found in another.
    other[1].found = MISSING.to_owned();
    let mut rows = vec![judged("b", Some(true))];
    keep_wrong(&mut rows, &other, |row| !is_blind(row));
    assert_eq!(rows[0].right, Some(true));
}

#[test]
fn a_run_that_did_not_take_place_is_no_answer() {
    let busy = RunError::Busy {
        message: "10000 runs are waiting already".to_owned(),
        retry_after_ms: 10,
    };
    let why = "its run was cancelled by deadline".to_owned();
    assert!(!BatteryFault::Run(busy).is_answer());
    assert!(!BatteryFault::NotRun { why }.is_answer());
    assert!(BatteryFault::TooLong { bytes: 1 << 30 }.is_answer());
}
