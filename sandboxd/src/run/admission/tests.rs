//! Tests of the order of admission and of the bounds.

use super::*;

fn order(queue: &mut Queue<&'static str>) -> Vec<&'static str> {
    std::iter::from_fn(|| queue.pop(u32::MAX).map(|(_, what)| what)).collect()
}

#[test]
fn tenants_take_turns_and_priority_counts_within_a_tenant() {
    let mut queue = Queue::default();
    queue.push("a", 0, 1, "a1");
    queue.push("a", 0, 1, "a2");
    queue.push("a", 9, 1, "a-urgent");
    queue.push("b", 0, 1, "b1");
    assert_eq!(order(&mut queue), ["a-urgent", "b1", "a1", "a2"]);
    assert_eq!(queue.len(), 0);
}

#[test]
fn a_wide_run_is_not_overtaken() {
    let mut queue = Queue::default();
    queue.push("a", 0, 2, "wide");
    queue.push("b", 0, 1, "narrow");
    assert_eq!(queue.pop(1), None);
    assert_eq!(queue.pop(2), Some((2, "wide")));
    assert_eq!(queue.pop(1), Some((1, "narrow")));
}

#[test]
fn a_removed_run_is_never_served() {
    let mut queue = Queue::default();
    let first = queue.push("a", 0, 1, "first");
    queue.push("b", 0, 1, "second");
    queue.remove(first);
    queue.remove(first);
    assert_eq!(order(&mut queue), ["second"]);
}

fn limits(live_max: u32, queued_max: usize) -> AdmissionLimits {
    AdmissionLimits {
        live_max,
        queued_max,
    }
}

#[tokio::test]
async fn places_come_back_and_wake_the_next() {
    let admission = Admission::new(limits(2, 10));
    let mut pair = admission.enter("a", 0, 2).unwrap();
    let held = pair.places().await.unwrap();
    let mut next = admission.enter("b", 0, 1).unwrap();
    assert_eq!(admission.load().queued, 1);
    drop(held);
    let place = next.places().await.unwrap();
    assert_eq!(admission.load().live, 1);
    drop(place);
    assert_eq!(admission.load().live, 0);
}

#[tokio::test]
async fn the_queue_is_bounded_and_says_when_to_come_back() {
    let admission = Admission::new(limits(1, 1));
    let mut first = admission.enter("a", 0, 1).unwrap();
    let held = first.places().await.unwrap();
    let second = admission.enter("a", 0, 1).unwrap();
    let full = admission.enter("a", 0, 1).unwrap_err();
    assert_eq!(full.queued, 1);
    assert!(full.retry_after_ms >= 10);
    drop(second);
    assert_eq!(admission.load().queued, 0);
    drop(held);
    assert!(admission.enter("a", 0, 1).is_ok());
}

#[tokio::test]
async fn leaving_after_being_served_gives_the_places_back() {
    let admission = Admission::new(limits(1, 4));
    let served = admission.enter("a", 0, 1).unwrap();
    assert_eq!(admission.load().live, 1);
    drop(served);
    assert_eq!(admission.load().live, 0);
}

#[tokio::test]
async fn leaving_wakes_whoever_stood_behind() {
    let admission = Admission::new(limits(2, 10));
    let mut one = admission.enter("a", 0, 1).unwrap();
    let held = one.places().await.unwrap();
    let wide = admission.enter("b", 0, 2).unwrap();
    let mut narrow = admission.enter("c", 0, 1).unwrap();
    drop(wide);
    assert!(narrow.places().await.is_ok());
    drop(held);
}

#[tokio::test]
async fn a_full_queue_does_not_keep_the_daemon_s_own_runs_out() {
    let admission = Admission::new(limits(1, 1));
    let held = admission.enter("a", 0, 1).unwrap().places().await.unwrap();
    let waits = admission.enter("a", 0, 1).unwrap();
    assert!(admission.enter("b", 0, 1).is_err());
    let mut own = admission.enter_beyond("own", 1000);
    assert_eq!(admission.load().queued, 2);
    drop(held);
    // Tenants take turns: the one that waited first, then the daemon's own.
    drop(waits);
    own.places().await.unwrap();
}
