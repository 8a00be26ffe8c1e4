//! Tests of the CPU clock's two file forms and of the time to the next look.

use super::*;

#[test]
fn both_forms_are_read() {
    assert_eq!(parse_us("1234567\n"), Some(1234));
    let v2 = "usage_usec 77\nuser_usec 70\nsystem_usec 7\n";
    assert_eq!(parse_us(v2), Some(77));
    assert_eq!(parse_us("usage_usec x\n"), None);
    assert_eq!(parse_us(""), None);
}

#[test]
fn next_look_is_when_the_budget_could_end() {
    assert_eq!(next_look(0, 1_000_000, 1000), Duration::from_secs(1));
    assert_eq!(
        next_look(500_000, 1_000_000, 2000),
        Duration::from_millis(250)
    );
    assert_eq!(next_look(0, 1_000_000, 500), Duration::from_secs(2));
    assert_eq!(next_look(999_999, 1_000_000, 1000), LOOK_MIN);
    assert_eq!(next_look(5, 1, 0), LOOK_MIN);
}
