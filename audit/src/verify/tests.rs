//! Every way to alter a log that we can think of, and that each is found.

use std::io::Cursor;

use proptest::prelude::*;

use super::{Problem, Report, Severity, Tail, VerifyOptions, verify_segments};
use crate::chain::tests::any_draft;
use crate::chain::{Chain, Receipt, Stamp};
use crate::checkpoint::{checkpoint, head_file};
use crate::digest::Digest;
use crate::key::Signer;
use crate::record::{Draft, Event, Source};

type Lines = Vec<Vec<u8>>;

struct Sample {
    segments: Vec<Lines>,
    receipts: Vec<Receipt>,
    head: Vec<u8>,
    signer: Signer,
}

struct Builder {
    chain: Chain,
    signer: Signer,
    stamp: Stamp,
    segments: Vec<Lines>,
    receipts: Vec<Receipt>,
}

impl Builder {
    fn new() -> Self {
        let stamp = Stamp {
            time_unix_ns: 1,
            boot_id: "boot".into(),
            node: "node".into(),
        };
        Self {
            chain: Chain::start(),
            signer: Signer::from_seed(&[3; 32]),
            stamp,
            segments: Vec::new(),
            receipts: Vec::new(),
        }
    }

    fn append(&mut self, draft: &Draft) {
        self.stamp.time_unix_ns += 1;
        let sealed = self.chain.seal(draft, &self.stamp).unwrap();
        self.receipts.push(sealed.receipt);
        self.segments.last_mut().unwrap().push(sealed.line);
    }

    fn open(&mut self) {
        self.segments.push(Vec::new());
        let number = self.segments.len() as u64;
        let header = self.chain.segment_header(number, &self.signer.public());
        self.append(&header);
    }

    fn checkpoint(&mut self) {
        // `append` moves the clock: sign for the time the line will have.
        let mut stamp = self.stamp.clone();
        stamp.time_unix_ns += 1;
        let draft = checkpoint(self.chain.last(), &stamp, &self.signer);
        self.append(&draft);
    }

    fn finish(self) -> Sample {
        let head = head_file(self.chain.last(), &self.stamp, &self.signer);
        Sample {
            segments: self.segments,
            receipts: self.receipts,
            head,
            signer: self.signer,
        }
    }
}

fn run_draft(run: u64) -> Draft {
    let mut draft = Draft::new(Event::RunEnded, Source::Api).with("run", run);
    draft.sandbox_id = Some(format!("sb-{run}"));
    draft
}

/// Three segments, a checkpoint at the end of each; the third also has one inside.
fn sample() -> Sample {
    let mut builder = Builder::new();
    for segment in 0..3 {
        builder.open();
        for run in 0..4 {
            builder.append(&run_draft(segment * 10 + run));
        }
        builder.checkpoint();
    }
    builder.append(&run_draft(90));
    builder.append(&run_draft(91));
    builder.checkpoint();
    builder.finish()
}

impl Sample {
    fn options(&self) -> VerifyOptions {
        VerifyOptions {
            keys: vec![self.signer.public()],
            head: Some(self.head.clone()),
            receipts: Vec::new(),
        }
    }
}

fn verify(segments: &[Lines], options: &VerifyOptions) -> Report {
    let readers = segments
        .iter()
        .zip(1..)
        .map(|(lines, number)| Ok((format!("{number:08}.jsonl"), Cursor::new(lines.concat()))));
    verify_segments(readers, options).unwrap()
}

fn has(report: &Report, wanted: impl Fn(&Problem) -> bool) -> bool {
    report
        .findings
        .iter()
        .any(|finding| wanted(&finding.problem))
}

#[test]
fn an_untouched_log_holds_to_its_end() {
    let sample = sample();
    let mut options = sample.options();
    options.receipts.clone_from(&sample.receipts);
    let report = verify(&sample.segments, &options);
    assert!(
        report.holds() && report.findings.is_empty(),
        "{:?}",
        report.findings
    );
    assert_eq!(
        (report.segments, report.checkpoints, report.records),
        (3, 4, 21)
    );
    assert_eq!((report.complete_to_seq, report.tail), (21, Tail::Proven));
    assert_eq!(report.receipts_found, 21);
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["tail"]["state"], "proven");
}

/// One segment of header, record and checkpoint: few signatures, so that every byte can be tried.
#[test]
fn every_byte_flip_is_found() {
    let mut builder = Builder::new();
    builder.open();
    builder.append(&run_draft(1));
    builder.checkpoint();
    let sample = builder.finish();
    let options = sample.options();
    let bytes = sample.segments[0].concat();
    for index in 0..bytes.len() {
        let mut bad = bytes.clone();
        bad[index] ^= 1 << (index % 8);
        assert!(!verify(&[vec![bad]], &options).holds(), "byte {index}");
    }
}

#[test]
fn every_removed_repeated_or_swapped_line_is_found() {
    let sample = sample();
    let options = sample.options();
    for (segment, lines) in sample.segments.iter().enumerate() {
        for index in 0..lines.len() {
            let mut removed = sample.segments.clone();
            removed[segment].remove(index);
            assert!(
                !verify(&removed, &options).holds(),
                "removed {segment}/{index}"
            );
            let mut repeated = sample.segments.clone();
            repeated[segment].insert(index, lines[index].clone());
            assert!(
                !verify(&repeated, &options).holds(),
                "repeated {segment}/{index}"
            );
            for other in index + 1..lines.len() {
                let mut swapped = sample.segments.clone();
                swapped[segment].swap(index, other);
                assert!(
                    !verify(&swapped, &options).holds(),
                    "swapped {segment}/{index}/{other}"
                );
            }
        }
    }
}

#[test]
fn missing_and_swapped_segments_are_found() {
    let sample = sample();
    let options = sample.options();
    for index in 0..2 {
        let mut segments = sample.segments.clone();
        segments.remove(index);
        let report = verify(&segments, &options);
        assert!(
            has(&report, |p| matches!(p, Problem::SegmentMissing { .. })),
            "{index}"
        );
    }
    let mut segments = sample.segments.clone();
    segments.swap(0, 1);
    assert!(!verify(&segments, &options).holds());
    let report = verify(&sample.segments[..2], &options);
    assert!(has(&report, |p| matches!(
        p,
        Problem::TailCut {
            head_seq: 21,
            last_seq: 12
        }
    )));
    assert!(!verify(&[], &options).holds());
}

#[test]
fn a_cut_tail_shows_in_the_head_file_and_in_receipts_only() {
    let sample = sample();
    let mut cut = sample.segments.clone();
    cut[2].truncate(6);
    assert!(has(&verify(&cut, &sample.options()), |p| matches!(
        p,
        Problem::TailCut { .. }
    )));

    // Who also deletes the head file leaves a log that is whole as far as it goes …
    let mut options = VerifyOptions {
        head: None,
        ..sample.options()
    };
    let report = verify(&cut, &options);
    assert!(report.holds());
    assert!(has(&report, |p| *p == Problem::HeadMissing));
    // … and is found by whoever kept a receipt.
    options.receipts = vec![sample.receipts[19]];
    let report = verify(&cut, &options);
    assert!(has(&report, |p| matches!(
        p,
        Problem::ReceiptNotFound { .. }
    )));
}

#[test]
fn records_after_the_last_signature_are_unproven() {
    let mut builder = Builder::new();
    builder.open();
    builder.append(&run_draft(1));
    builder.checkpoint();
    let head = head_file(builder.chain.last(), &builder.stamp, &builder.signer);
    builder.append(&run_draft(2));
    let sample = Sample {
        head,
        ..builder.finish()
    };
    let report = verify(&sample.segments, &sample.options());
    assert!(report.holds());
    assert_eq!(
        (report.complete_to_seq, report.tail),
        (3, Tail::Unproven { from_seq: 4 })
    );
}

#[test]
fn a_torn_tail_is_a_warning_only_at_the_very_end() {
    let mut sample = sample();
    sample.segments[2].push(b"{\"boot_id\":\"bo".to_vec());
    let report = verify(&sample.segments, &sample.options());
    assert!(report.holds());
    assert!(has(&report, |p| *p == Problem::TornTail { bytes: 14 }));
    assert_eq!(report.tail, Tail::Unproven { from_seq: 22 });
    sample.segments[2].pop();
    sample.segments[1].push(b"{\"boot_id\":\"bo".to_vec());
    assert!(!verify(&sample.segments, &sample.options()).holds());
}

#[test]
fn a_log_rewritten_without_the_key_is_found() {
    let honest = sample();
    let mut builder = Builder::new();
    builder.signer = Signer::from_seed(&[4; 32]);
    builder.open();
    builder.append(&run_draft(1));
    builder.checkpoint();
    let forged = builder.finish();
    let options = VerifyOptions {
        head: Some(forged.head.clone()),
        ..honest.options()
    };
    let report = verify(&forged.segments, &options);
    assert!(has(&report, |p| matches!(p, Problem::UnknownKey { .. })));
    assert!(has(&report, |p| matches!(p, Problem::HeadInvalid { .. })));
    assert_eq!(report.complete_to_seq, 0);

    // With the honest key's id pasted in, the signature does not fit.
    let mut builder = Builder::new();
    builder.open();
    let mut stamp = builder.stamp.clone();
    stamp.time_unix_ns += 1;
    let mut draft = checkpoint(builder.chain.last(), &stamp, &Signer::from_seed(&[4; 32]));
    draft
        .data
        .insert("key_id".into(), builder.signer.public().key_id().into());
    builder.append(&draft);
    let forged = builder.finish();
    let report = verify(&forged.segments, &forged.options());
    assert!(has(&report, |p| *p == Problem::WrongSignature));
}

#[test]
fn without_a_key_nothing_is_proven() {
    let sample = sample();
    let options = VerifyOptions {
        keys: Vec::new(),
        ..sample.options()
    };
    let report = verify(&sample.segments, &options);
    assert!(has(&report, |p| *p == Problem::NoKey));
    assert_eq!(
        (report.complete_to_seq, report.tail),
        (0, Tail::Unproven { from_seq: 1 })
    );
}

#[test]
fn a_receipt_of_another_history_is_found() {
    let sample = sample();
    let mut options = sample.options();
    options.receipts = vec![Receipt {
        seq: 3,
        sha256: Digest::of(b"what I was told"),
    }];
    let report = verify(&sample.segments, &options);
    assert!(has(&report, |p| matches!(
        p,
        Problem::ReceiptMismatch { .. }
    )));
    assert!(!report.holds());
}

#[test]
fn attestations_the_daemon_never_mentions_are_warned_of() {
    let mut builder = Builder::new();
    builder.open();
    for (sandbox, claimed) in [("before", true), ("hidden", false), ("after", true)] {
        let mut request = Draft::new(Event::SandboxRequested, Source::Api);
        request.sandbox_id = Some(sandbox.into());
        let mut spawn = Draft::new(Event::SandboxSpawned, Source::Launcher);
        spawn.sandbox_id = Some(sandbox.into());
        if sandbox == "before" {
            builder.append(&request);
        }
        builder.append(&spawn);
        spawn.event = Event::SandboxReaped;
        builder.append(&spawn);
        if claimed && sandbox == "after" {
            builder.append(&request);
        }
    }
    builder.checkpoint();
    let sample = builder.finish();
    let report = verify(&sample.segments, &sample.options());
    assert!(report.holds());
    let unclaimed: Vec<_> = report
        .findings
        .iter()
        .map(|f| (f.severity, f.seq))
        .collect();
    assert_eq!(
        unclaimed,
        [(Severity::Warning, Some(5))],
        "{:?}",
        report.findings
    );
}

#[test]
fn an_oversized_line_costs_no_memory_and_is_found() {
    let mut sample = sample();
    sample.segments[1].insert(2, vec![b'x'; 3 * super::LINE_BYTES_MAX]);
    sample.segments[1].insert(3, b"\n".to_vec());
    let report = verify(&sample.segments, &sample.options());
    assert!(has(&report, |p| *p == Problem::Oversized));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn random_logs_hold_and_random_tampering_is_found(
        drafts in prop::collection::vec(any_draft(), 2..12),
        every in 2_usize..5,
        place: prop::sample::Index,
        other: prop::sample::Index,
        bit in 0_u32..8,
    ) {
        let mut builder = Builder::new();
        for (index, draft) in drafts.iter().enumerate() {
            if index % every == 0 {
                builder.open();
            }
            builder.append(draft);
        }
        builder.checkpoint();
        let sample = builder.finish();
        let options = sample.options();
        let report = verify(&sample.segments, &options);
        prop_assert!(report.holds(), "{:?}", report.findings);
        prop_assert_eq!(report.tail, Tail::Proven);

        let segment = place.index(sample.segments.len());
        let mut flipped = sample.segments.clone();
        let mut bytes = flipped[segment].concat();
        let index = other.index(bytes.len());
        bytes[index] ^= 1 << bit;
        flipped[segment] = vec![bytes];
        prop_assert!(!verify(&flipped, &options).holds());

        let lines = sample.segments[segment].len();
        let mut removed = sample.segments.clone();
        removed[segment].remove(other.index(lines));
        prop_assert!(!verify(&removed, &options).holds());

        let mut swapped = sample.segments;
        let (a, b) = (other.index(lines), (other.index(lines) + 1) % lines);
        swapped[segment].swap(a, b);
        prop_assert!(!verify(&swapped, &options).holds());
    }

    #[test]
    fn any_bytes_are_read_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        let report = verify(&[vec![bytes]], &sample().options());
        prop_assert!(!report.holds());
    }
}
