//! Finding the end of an existing log. Only bytes after the last line feed are cut: they were
//! never acknowledged. Anything else that does not verify stops the start.

use audit::chain::LINE_BYTES_MAX;

use super::{
    BufRead, Digest, Draft, Event, LogError, PublicKey, Receipt, Source, Store, io, parse_line,
    read_head,
};

/// Where writing goes on.
pub(super) struct End {
    pub(super) segment: u64,
    pub(super) segment_bytes: u64,
    pub(super) last: Receipt,
    /// What to record about the recovery.
    pub(super) recovered: Option<Draft>,
}

/// One segment, read to its end.
struct Scan {
    last: Option<Receipt>,
    good_bytes: u64,
    torn: Vec<u8>,
    head_sha256: Option<Digest>,
}

pub(super) fn find_end<S: Store>(store: &mut S, key: &PublicKey) -> Result<End, LogError> {
    let head_bytes = store.read_head().map_err(failed("read head.json"))?;
    let head = match &head_bytes {
        Some(bytes) => Some(
            read_head(bytes, std::slice::from_ref(key))
                .map_err(LogError::Head)?
                .head,
        ),
        None => None,
    };
    let mut segment = 0;
    while store
        .reader(segment + 1)
        .map_err(failed("open a segment"))?
        .is_some()
    {
        segment += 1;
    }
    let none = Receipt {
        seq: 0,
        sha256: Digest::ZERO,
    };
    if segment == 0 {
        check_head(head, None, none)?;
        store.create(1).map_err(failed("begin the first segment"))?;
        return Ok(End {
            segment: 1,
            segment_bytes: 0,
            last: none,
            recovered: None,
        });
    }
    let scan = scan_segment(store, segment, head)?;
    let (last, head_sha256) = last_line(store, segment, &scan, head)?;
    check_head(head, head_sha256, last)?;
    store
        .reopen(segment)
        .map_err(failed("open the last segment"))?;
    let mut recovered = None;
    if !scan.torn.is_empty() {
        store
            .truncate(scan.good_bytes)
            .map_err(failed("cut the torn line"))?;
        recovered = Some(
            Draft::new(Event::Recovered, Source::Audit)
                .with(
                    "torn_bytes",
                    u64::try_from(scan.torn.len()).unwrap_or(u64::MAX),
                )
                .with("torn_sha256", Digest::of(&scan.torn).to_string()),
        );
    }
    if head.is_none() && last.seq > 0 {
        let draft = recovered.unwrap_or_else(|| Draft::new(Event::Recovered, Source::Audit));
        recovered = Some(draft.with("head_file", "missing"));
    }
    Ok(End {
        segment,
        segment_bytes: scan.good_bytes,
        last,
        recovered,
    })
}

/// The log's last line, and the hash of the line that the head file signs if it was seen.
fn last_line<S: Store>(
    store: &S,
    segment: u64,
    scan: &Scan,
    head: Option<Receipt>,
) -> Result<(Receipt, Option<Digest>), LogError> {
    let none = Receipt {
        seq: 0,
        sha256: Digest::ZERO,
    };
    match scan.last {
        Some(last) => Ok((last, scan.head_sha256)),
        // Nothing but a torn header: the log ends in the segment before.
        None if segment == 1 => Ok((none, None)),
        None => {
            let before = scan_segment(store, segment - 1, head)?;
            if !before.torn.is_empty() {
                let reason = "its last line is torn".to_owned();
                return Err(LogError::Damaged {
                    segment: segment - 1,
                    line: 0,
                    reason,
                });
            }
            Ok((before.last.unwrap_or(none), before.head_sha256))
        }
    }
}

fn failed(act: &'static str) -> impl Fn(io::Error) -> LogError {
    move |source| LogError::Io { act, source }
}

/// The head file must sign a line that is there; lines of earlier segments are `verify`'s.
fn check_head(head: Option<Receipt>, found: Option<Digest>, last: Receipt) -> Result<(), LogError> {
    match head {
        Some(head) if head.seq > last.seq || found.is_some_and(|hash| hash != head.sha256) => {
            Err(LogError::TailCut {
                head_seq: head.seq,
                last_seq: last.seq,
            })
        }
        _ => Ok(()),
    }
}

fn scan_segment<S: Store>(
    store: &S,
    segment: u64,
    head: Option<Receipt>,
) -> Result<Scan, LogError> {
    let mut scan = Scan {
        last: None,
        good_bytes: 0,
        torn: Vec::new(),
        head_sha256: None,
    };
    let Some(mut reader) = store.reader(segment).map_err(failed("open a segment"))? else {
        return Ok(scan);
    };
    let limit = u64::try_from(LINE_BYTES_MAX).unwrap_or(u64::MAX);
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let count = io::Read::take(&mut reader, limit)
            .read_until(b'\n', &mut line)
            .map_err(failed("read a segment"))?;
        if count == 0 {
            break;
        }
        let damaged = |reason| LogError::Damaged {
            segment,
            line: number,
            reason,
        };
        if count >= LINE_BYTES_MAX {
            return Err(damaged("it is longer than any record".to_owned()));
        }
        let Some(content) = line.strip_suffix(b"\n") else {
            scan.torn = store
                .tail(segment, scan.good_bytes)
                .map_err(failed("read a torn line"))?;
            break;
        };
        let (record, sha256) = parse_line(content).map_err(|error| damaged(error.to_string()))?;
        let follows = scan
            .last
            .is_none_or(|last| record.seq == last.seq + 1 && record.prev_sha256 == last.sha256);
        if !follows {
            return Err(damaged("it does not continue the line before".to_owned()));
        }
        if scan.last.is_none() && record.draft.event != Event::SegmentOpened {
            return Err(damaged("the segment has no header".to_owned()));
        }
        if head.is_some_and(|head| head.seq == record.seq) {
            scan.head_sha256 = Some(sha256);
        }
        scan.last = Some(Receipt {
            seq: record.seq,
            sha256,
        });
        scan.good_bytes += u64::try_from(count).unwrap_or(u64::MAX);
    }
    Ok(scan)
}
