//! Order and shape of run ids.

use super::{new, prefix_at};

#[test]
fn later_ids_sort_after_earlier_ones() {
    let early = new(1_700_000_000_000).expect("id");
    let late = new(1_700_000_000_001).expect("id");
    assert!(early < late, "{early} {late}");
    assert!(early.starts_with(&prefix_at(1_700_000_000_000)));
    assert_eq!(early.len(), 29);
    assert_ne!(early, new(1_700_000_000_000).expect("id"));
}
