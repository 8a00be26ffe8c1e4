//! The verifier over a log that somebody changed: it says "complete" of no bytes but those that the
//! writer wrote, and whatever it says proven is a beginning of them.
//!
//! An input is the head file and then the segments, each ended by one byte 0x1e.

use std::io::Cursor;
use std::sync::LazyLock;

use audit::checkpoint::{checkpoint, head_file};
use audit::{
    Chain, Draft, Event, Report, Signer, Source, Stamp, Tail, VerifyOptions, verify_segments,
};

const END: u8 = 0x1e;

/// A log, and the key that signed it.
struct Log {
    bytes: Vec<u8>,
    signer: Signer,
    last_seq: u64,
}

static LOG: LazyLock<Log> = LazyLock::new(write_log);

/// Two segments with a checkpoint each, signed at the end.
fn write_log() -> Log {
    let signer = Signer::from_seed(&[7; 32]);
    let mut chain = Chain::start();
    let mut stamp = Stamp {
        time_unix_ns: 1,
        boot_id: "boot".to_owned(),
        node: "node".to_owned(),
    };
    let mut segments = Vec::new();
    for number in 1..=2_u64 {
        let mut drafts = vec![chain.segment_header(number, &signer.public())];
        for run in 0..2_u64 {
            let mut draft = Draft::new(Event::RunEnded, Source::Api).with("run", run);
            draft.sandbox_id = Some(format!("sb-{number}-{run}"));
            drafts.push(draft);
        }
        let mut segment = Vec::new();
        for draft in drafts {
            stamp.time_unix_ns += 1;
            let sealed = chain.seal(&draft, &stamp).expect("a record");
            segment.extend(sealed.line);
        }
        stamp.time_unix_ns += 1;
        let signed = checkpoint(chain.last(), &stamp, &signer);
        let sealed = chain.seal(&signed, &stamp).expect("a checkpoint");
        segment.extend(sealed.line);
        segments.push(segment);
    }
    let mut bytes = head_file(chain.last(), &stamp, &signer);
    for segment in segments {
        bytes.push(END);
        bytes.extend(segment);
    }
    Log {
        bytes,
        signer,
        last_seq: chain.last().seq,
    }
}

pub(super) fn seeds() -> Vec<Vec<u8>> {
    vec![LOG.bytes.clone()]
}

fn verify(bytes: &[u8]) -> Report {
    let mut parts = bytes.split(|byte| *byte == END);
    let options = VerifyOptions {
        keys: vec![LOG.signer.public()],
        head: parts.next().map(<[u8]>::to_vec),
        receipts: Vec::new(),
    };
    let segments = parts
        .zip(1..)
        .map(|(segment, number)| Ok((format!("{number:08}.jsonl"), Cursor::new(segment))));
    verify_segments(segments, &options).expect("memory can be read")
}

pub(super) fn run(data: &[u8]) {
    let report = verify(data);
    let complete = report.holds() && report.tail == Tail::Proven;
    if data == LOG.bytes {
        assert!(complete && report.warnings == 0, "{report:?}");
        assert_eq!(report.complete_to_seq, LOG.last_seq);
        return;
    }
    assert!(report.complete_to_seq <= LOG.last_seq, "{report:?}");
    if complete {
        // The head file may be written in another way, since its signature is over what it says.
        let segments = |bytes: &[u8]| {
            let start = bytes.iter().position(|byte| *byte == END);
            start.map(|start| bytes[start..].to_vec())
        };
        assert!(
            segments(data) == segments(&LOG.bytes),
            "complete, and not what was written: {report:?}"
        );
    }
    // Whatever it calls proven is there, unaltered: lines are compared as they stand.
    let lines = |bytes: &[u8]| -> Vec<Vec<u8>> {
        let parts = bytes.split(|byte| *byte == END).skip(1);
        parts
            .flat_map(|segment| segment.split_inclusive(|byte| *byte == b'\n'))
            .map(<[u8]>::to_vec)
            .collect()
    };
    let proven = usize::try_from(report.complete_to_seq).unwrap_or(usize::MAX);
    let (ours, theirs) = (lines(&LOG.bytes), lines(data));
    for (number, line) in ours.iter().enumerate().take(proven) {
        assert!(
            theirs.contains(line),
            "line {number} is proven and not there"
        );
    }
}
