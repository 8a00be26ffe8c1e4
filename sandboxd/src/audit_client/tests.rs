//! The client against the real audit process.

use std::path::Path;

use audit::filter::Filter;
use audit::{Draft, Event, Source, Tail};

use super::log_reader::{Cursor, LogReader, Wanted};
use super::{AuditClient, AuditError};
use crate::audit_writer::tests::{Running, settings, start};

fn draft(run: u64) -> Draft {
    let mut draft = Draft::new(Event::RunEnded, Source::Api).with("padding", "x".repeat(300));
    draft.run_id = Some(format!("run-{run}"));
    draft
}

fn small_segments(dir: &Path) -> Running {
    let mut settings = settings(dir);
    settings.limits.segment_bytes_max = 16 << 10;
    start(settings)
}

#[tokio::test]
async fn many_appends_in_flight_each_get_their_own_receipt() {
    let dir = tempfile::tempdir().unwrap();
    let running = small_segments(dir.path());
    let client = AuditClient::connect(running.api).await.unwrap();
    let tasks: Vec<_> = (0..200)
        .map(|run| {
            let client = client.clone();
            tokio::spawn(async move { client.append(draft(run)).await.unwrap() })
        })
        .collect();
    let mut receipts = Vec::new();
    for task in tasks {
        receipts.push(task.await.unwrap());
    }
    let signed = client.checkpoint().await.unwrap();
    let refused = client
        .append(Draft::new(Event::SandboxSpawned, Source::Launcher))
        .await;
    assert!(matches!(refused, Err(AuditError::Refused { .. })));
    client
        .append(Draft::new(Event::DaemonStopped, Source::Api))
        .await
        .unwrap();
    drop(running.launcher);
    client.close().await;
    running.writer.join().unwrap().unwrap();
    assert!(matches!(
        client.append(draft(1)).await,
        Err(AuditError::Gone)
    ));

    let reader = LogReader::new(dir.path());
    receipts.push(signed);
    let report = reader.verify(receipts).unwrap();
    assert!(report.holds(), "{:?}", report.findings);
    assert_eq!((report.receipts_found, report.tail), (201, Tail::Proven));
    assert!(report.segments > 1);
    assert_eq!(client.key().key_id.len(), 32);
}

#[tokio::test]
async fn the_log_reads_back_in_pages_from_anywhere_and_by_filter() {
    let dir = tempfile::tempdir().unwrap();
    let running = small_segments(dir.path());
    let client = AuditClient::connect(running.api).await.unwrap();
    for run in 0..120 {
        client.append(draft(run)).await.unwrap();
    }
    let head = *client.head().borrow();
    let reader = LogReader::new(dir.path());
    for from in [0, 1, 2, 37, 90, head, head + 1, head + 50] {
        let wanted = Wanted {
            to_seq: head,
            lines_max: 7,
            ..Wanted::default()
        };
        let mut page = reader.page(Cursor::at(from), &wanted).unwrap();
        let mut seqs: Vec<_> = page.lines.iter().map(|line| line.record.seq).collect();
        while !page.at_end {
            page = reader.page(page.next, &wanted).unwrap();
            assert!(page.lines.len() <= 7);
            seqs.extend(page.lines.iter().map(|line| line.record.seq));
        }
        assert_eq!(
            seqs,
            (from.max(1)..=head).collect::<Vec<_>>(),
            "from {from}"
        );
    }
    let filter = Filter {
        run_id: Some("run-77".to_owned()),
        ..Filter::default()
    };
    let wanted = Wanted {
        to_seq: head,
        filter,
        lines_max: 100,
    };
    let page = reader.page(Cursor::at(1), &wanted).unwrap();
    assert_eq!((page.lines.len(), page.at_end), (1, true));

    // A cursor at the end goes on where new records come, as a tail does.
    let receipt = client.append(draft(500)).await.unwrap();
    let wanted = Wanted {
        to_seq: u64::MAX,
        lines_max: 100,
        ..Wanted::default()
    };
    let next = reader.page(page.next, &wanted).unwrap();
    let last = next
        .lines
        .iter()
        .find(|line| line.record.seq == receipt.seq)
        .unwrap();
    assert_eq!(last.sha256, receipt.sha256);
    drop(running.launcher);
    client.close().await;
    running.writer.join().unwrap().unwrap();
}

#[tokio::test]
async fn a_start_that_fails_reaches_the_daemon_as_a_reason() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("audit"), "in the way").unwrap();
    let running = start(settings(dir.path()));
    let error = AuditClient::connect(running.api).await.unwrap_err();
    assert!(error.to_string().contains("audit folder"), "{error}");
    assert!(running.writer.join().unwrap().is_err());
}

#[tokio::test]
async fn an_audit_process_that_hangs_is_a_fault_and_not_a_wait_for_ever() {
    let (api, hangs) = std::os::unix::net::UnixStream::pair().unwrap();
    let ready = audit::frame::Reply::Ready {
        seq: 0,
        sha256: audit::Digest::ZERO,
        key_id: "k".to_owned(),
        public_key_pem: String::new(),
    };
    let mut writer = &hangs;
    std::io::Write::write_all(&mut writer, &audit::frame::encode(&ready).unwrap()).unwrap();
    let mut client = AuditClient::connect(api).await.unwrap();
    client.patience = std::time::Duration::from_millis(20);
    let silent = client.append(draft(1)).await;
    assert!(
        matches!(silent, Err(AuditError::Silent { ms: 20 })),
        "{silent:?}"
    );
    // Its answer is not kept for anybody.
    assert!(super::lock(&client.waiting).answers.is_empty());
}
