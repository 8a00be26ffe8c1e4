//! What a scrape shows.

use std::time::Duration;

use super::{Load, Metrics};

#[test]
fn a_scrape_shows_what_was_counted() {
    let metrics = Metrics::new();
    metrics.run_finished("exited", "passed", false);
    metrics.run_finished("sandbox_failed", "infra_error", true);
    metrics.run_refused("LIMIT_OUT_OF_RANGE");
    metrics.queue_waited(Duration::from_millis(3));
    metrics.load_set(Load {
        sandboxes_live: 1,
        ..Load::default()
    });
    metrics.kernel_objects_set("cgroup", 4);
    let text = metrics.to_text().expect("text");
    for line in [
        "rollcage_runs_total{ending=\"exited\",outcome=\"passed\"} 1",
        "rollcage_runs_infra_total 1",
        "rollcage_runs_refused_total{reason=\"LIMIT_OUT_OF_RANGE\"} 1",
        "rollcage_queue_wait_seconds_count 1",
        "rollcage_sandboxes_live 1",
        "rollcage_kernel_objects{kind=\"cgroup\"} 4",
    ] {
        assert!(
            text.lines().any(|found| found == line),
            "no line {line:?} in\n{text}"
        );
    }
    assert_eq!(metrics.runs_finished(), 2);
}
