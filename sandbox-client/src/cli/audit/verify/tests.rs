//! Whole logs as files: intact, altered, cut.

use audit::{Chain, Draft, Event, Signer, Source};

use super::*;
use crate::cli::terminal::Acts;

struct Log {
    folder: tempfile::TempDir,
    receipts: Vec<Receipt>,
}

fn stamp() -> audit::Stamp {
    audit::Stamp {
        time_unix_ns: 1,
        boot_id: "boot".into(),
        node: "node".into(),
    }
}

/// A log of ten records in one segment, signed by `signer`, without head file.
fn write_log(signer: &Signer) -> Log {
    let folder = tempfile::tempdir().unwrap();
    let mut chain = Chain::start();
    let mut bytes = Vec::new();
    let mut receipts = Vec::new();
    let header = chain.segment_header(1, &signer.public());
    bytes.extend(chain.seal(&header, &stamp()).unwrap().line);
    for _ in 0..9 {
        let draft = Draft::new(Event::DaemonStarted, Source::Api);
        let sealed = chain.seal(&draft, &stamp()).unwrap();
        receipts.push(sealed.receipt);
        bytes.extend(sealed.line);
    }
    std::fs::write(folder.path().join("000001.jsonl"), bytes).unwrap();
    std::fs::write(folder.path().join("audit.pub"), signer.public().to_pem()).unwrap();
    Log { folder, receipts }
}

fn report(log: &Log, args: &VerifyArgs) -> Report {
    check(log.folder.path(), args).unwrap().0
}

fn change(log: &Log, change: impl FnOnce(Vec<String>) -> Vec<String>) {
    let path = log.folder.path().join("000001.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    let lines = change(text.lines().map(str::to_owned).collect());
    std::fs::write(&path, lines.join("\n") + "\n").unwrap();
}

#[test]
fn an_intact_log_holds_and_its_tail_is_unproven() {
    let log = write_log(&Signer::from_seed(&[7; 32]));
    let report = report(&log, &VerifyArgs::default());
    assert!(report.holds(), "{:?}", report.findings);
    assert_eq!(report.records, 10);
    let plain = Terminal {
        json: false,
        moving: false,
        color: false,
        width: None,
        acts: Acts::default(),
    };
    let text = text_of(&plain, &report);
    assert!(
        text.contains("complete to 0, tail unproven from 1 on"),
        "{text}"
    );
}

#[test]
fn what_was_changed_is_found() {
    type Change = fn(Vec<String>) -> Vec<String>;
    let changes: [(&str, Change); 3] = [
        ("byte", |mut lines| {
            lines[4] = lines[4].replacen("daemon_started", "daemon_stopped", 1);
            lines
        }),
        ("removed", |mut lines| {
            lines.remove(4);
            lines
        }),
        ("swapped", |mut lines| {
            lines.swap(4, 5);
            lines
        }),
    ];
    for (name, alter) in changes {
        let log = write_log(&Signer::from_seed(&[7; 32]));
        change(&log, alter);
        assert!(!report(&log, &VerifyArgs::default()).holds(), "{name}");
    }
}

#[test]
fn a_receipt_finds_a_cut_tail() {
    let log = write_log(&Signer::from_seed(&[7; 32]));
    let args = VerifyArgs {
        receipt: vec![*log.receipts.last().unwrap()],
        ..VerifyArgs::default()
    };
    assert_eq!(report(&log, &args).receipts_found, 1);
    change(&log, |mut lines| {
        lines.pop();
        lines
    });
    assert!(report(&log, &VerifyArgs::default()).holds());
    assert!(!report(&log, &args).holds());
}

#[test]
fn another_key_is_told() {
    let log = write_log(&Signer::from_seed(&[7; 32]));
    let elsewhere = tempfile::tempdir().unwrap();
    let key = elsewhere.path().join("other.pub");
    std::fs::write(&key, Signer::from_seed(&[8; 32]).public().to_pem()).unwrap();
    let args = VerifyArgs {
        key: vec![key],
        ..VerifyArgs::default()
    };
    assert!(!report(&log, &args).holds());
}

#[test]
fn receipts_as_written() {
    let digest = "ab".repeat(32);
    assert_eq!(parse_receipt(&format!("12:{digest}")).unwrap().seq, 12);
    for text in ["", "12", "x:ab", "12:ab", "-1:00"] {
        assert!(parse_receipt(text).is_err(), "{text}");
    }
}

#[test]
fn segments_stand_in_order_of_their_numbers() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["10.jsonl", "9.jsonl", "note.txt"] {
        std::fs::write(folder.path().join(name), "").unwrap();
    }
    let files = Files::find(folder.path()).unwrap();
    let names: Vec<_> = files
        .segments
        .iter()
        .map(|path| path.file_name().unwrap().to_str().unwrap())
        .collect();
    assert_eq!(names, ["9.jsonl", "10.jsonl"]);
}
