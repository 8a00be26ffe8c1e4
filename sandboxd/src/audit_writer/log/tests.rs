//! The log on a disk that fails when asked to: nothing acknowledged is ever lost, nothing refused
//! is ever there.

use std::cell::RefCell;
use std::io::{self, BufRead, Cursor};
use std::rc::Rc;

use audit::{Draft, Event, Report, Signer, Source, Tail, VerifyOptions, verify_segments};

use super::super::clock::Clock;
use super::{Log, LogError, Store};

#[derive(Debug, Default)]
struct Disk {
    segments: Vec<Vec<u8>>,
    head: Option<Vec<u8>>,
    /// Bytes `append` still takes before the disk is full.
    room: Option<usize>,
    fail_sync: bool,
    fail_create: bool,
}

#[derive(Debug, Clone, Default)]
struct Memory(Rc<RefCell<Disk>>);

fn index(number: u64) -> usize {
    usize::try_from(number).unwrap() - 1
}

impl Store for Memory {
    fn reader(&self, number: u64) -> io::Result<Option<Box<dyn BufRead>>> {
        let bytes = self.0.borrow().segments.get(index(number)).cloned();
        Ok(bytes.map(|bytes| Box::new(Cursor::new(bytes)) as Box<dyn BufRead>))
    }
    fn read_head(&self) -> io::Result<Option<Vec<u8>>> {
        Ok(self.0.borrow().head.clone())
    }
    fn tail(&self, number: u64, from: u64) -> io::Result<Vec<u8>> {
        Ok(self.0.borrow().segments[index(number)][usize::try_from(from).unwrap()..].to_vec())
    }
    fn create(&mut self, number: u64) -> io::Result<()> {
        let mut disk = self.0.borrow_mut();
        if disk.fail_create {
            return Err(io::ErrorKind::StorageFull.into());
        }
        assert_eq!(disk.segments.len(), index(number));
        disk.segments.push(Vec::new());
        Ok(())
    }
    fn reopen(&mut self, number: u64) -> io::Result<()> {
        assert_eq!(self.0.borrow().segments.len() - 1, index(number));
        Ok(())
    }
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut disk = self.0.borrow_mut();
        let taken = disk.room.unwrap_or(usize::MAX).min(bytes.len());
        disk.room = disk.room.map(|room| room - taken);
        disk.segments
            .last_mut()
            .unwrap()
            .extend_from_slice(&bytes[..taken]);
        if taken < bytes.len() {
            Err(io::ErrorKind::StorageFull.into())
        } else {
            Ok(())
        }
    }
    fn sync(&mut self) -> io::Result<()> {
        if self.0.borrow().fail_sync {
            Err(io::Error::other("EIO"))
        } else {
            Ok(())
        }
    }
    fn truncate(&mut self, bytes: u64) -> io::Result<()> {
        let bytes = usize::try_from(bytes).unwrap();
        self.0
            .borrow_mut()
            .segments
            .last_mut()
            .unwrap()
            .truncate(bytes);
        Ok(())
    }
    fn replace_head(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.borrow_mut().head = Some(bytes.to_vec());
        Ok(())
    }
}

fn signer() -> Signer {
    Signer::from_seed(&[9; 32])
}

fn open(disk: &Memory) -> Result<Log<Memory>, LogError> {
    Log::open(disk.clone(), signer(), Clock::new("node").unwrap(), 4096)
}

fn draft(run: u64) -> Draft {
    Draft::new(Event::RunEnded, Source::Api).with("run", run)
}

fn verify(disk: &Memory) -> Report {
    let disk = disk.0.borrow();
    let readers = disk
        .segments
        .iter()
        .zip(1..)
        .map(|(bytes, number)| Ok((format!("{number:08}.jsonl"), Cursor::new(bytes.clone()))));
    let keys = vec![signer().public()];
    let options = VerifyOptions {
        keys,
        head: disk.head.clone(),
        receipts: Vec::new(),
    };
    verify_segments(readers, &options).unwrap()
}

#[test]
fn a_new_log_is_signed_from_its_first_line_and_rotates() {
    let disk = Memory::default();
    let mut log = open(&disk).unwrap();
    for run in 0..40 {
        log.stage(&draft(run)).unwrap();
        log.commit().unwrap();
        if log.is_full() {
            log.sign().unwrap();
        }
    }
    log.sign().unwrap();
    let report = verify(&disk);
    assert!(
        report.holds() && report.findings.is_empty(),
        "{:?}",
        report.findings
    );
    assert!(report.segments > 2);
    assert_eq!(report.tail, Tail::Proven);
    drop(log);
    open(&disk).unwrap();
    assert!(verify(&disk).holds());
}

#[test]
fn a_crash_anywhere_in_a_batch_is_recovered() {
    let disk = Memory::default();
    let mut log = open(&disk).unwrap();
    let base = disk.0.borrow().segments[0].clone();
    let head = disk.0.borrow().head.clone();
    for run in 0..2 {
        log.stage(&draft(run)).unwrap();
    }
    log.commit().unwrap();
    let full = disk.0.borrow().segments[0].clone();
    // Every eleventh byte, and both sides of each line feed.
    let edges = (base.len()..full.len())
        .filter(|at| full[*at] == b'\n')
        .flat_map(|at| [at, at + 1]);
    for length in (base.len()..full.len()).step_by(11).chain(edges) {
        let crashed = Memory::default();
        crashed.0.borrow_mut().segments = vec![full[..length].to_vec()];
        crashed.0.borrow_mut().head.clone_from(&head);
        open(&crashed).unwrap();
        let report = verify(&crashed);
        assert!(report.holds(), "{length}: {:?}", report.findings);
        assert_eq!(report.tail, Tail::Proven);
        let bytes = crashed.0.borrow().segments[0].clone();
        let recovered = String::from_utf8(bytes)
            .unwrap()
            .contains("\"event\":\"recovered\"");
        assert_eq!(recovered, full[length - 1] != b'\n', "{length}");
    }
}

#[test]
fn a_crash_while_a_segment_begins_is_recovered() {
    for torn in [&b""[..], b"{\"boot_id\":"] {
        let disk = Memory::default();
        open(&disk).unwrap();
        disk.0.borrow_mut().segments.push(torn.to_vec());
        open(&disk).unwrap();
        let report = verify(&disk);
        assert!(report.holds(), "{:?}", report.findings);
        assert_eq!((report.segments, report.tail), (2, Tail::Proven));
    }
    let disk = Memory::default();
    disk.0.borrow_mut().segments.push(b"{\"bo".to_vec());
    open(&disk).unwrap();
    assert!(verify(&disk).holds());
}

#[test]
fn a_full_disk_refuses_the_batch_and_goes_on_when_there_is_room() {
    let disk = Memory::default();
    let mut log = open(&disk).unwrap();
    let end = log.end();
    disk.0.borrow_mut().room = Some(100);
    log.stage(&draft(1)).unwrap();
    assert!(matches!(log.commit(), Err(LogError::Io { .. })));
    assert_eq!(log.end(), end);
    assert!(verify(&disk).holds());
    disk.0.borrow_mut().room = None;
    let receipt = log.stage(&draft(2)).unwrap();
    log.commit().unwrap();
    assert_eq!((receipt.seq, log.end()), (end.seq + 1, receipt));
    log.sign().unwrap();
    assert_eq!(verify(&disk).tail, Tail::Proven);
}

#[test]
fn after_a_failed_sync_nothing_more_is_taken() {
    let disk = Memory::default();
    let mut log = open(&disk).unwrap();
    disk.0.borrow_mut().fail_sync = true;
    log.stage(&draft(1)).unwrap();
    assert!(matches!(log.commit(), Err(LogError::Io { .. })));
    disk.0.borrow_mut().fail_sync = false;
    log.stage(&draft(2)).unwrap();
    assert!(matches!(log.commit(), Err(LogError::Failed { .. })));
    assert!(verify(&disk).holds());
}

#[test]
fn a_segment_that_cannot_begin_leaves_the_old_one_in_use() {
    let disk = Memory::default();
    let mut log = open(&disk).unwrap();
    disk.0.borrow_mut().fail_create = true;
    while !log.is_full() {
        log.stage(&draft(1)).unwrap();
        log.commit().unwrap();
    }
    assert!(log.sign().is_err());
    log.stage(&draft(2)).unwrap();
    log.commit().unwrap();
    disk.0.borrow_mut().fail_create = false;
    log.sign().unwrap();
    log.stage(&draft(3)).unwrap();
    log.commit().unwrap();
    let report = verify(&disk);
    assert!(report.holds(), "{:?}", report.findings);
    assert_eq!(report.segments, 2);
}

#[test]
fn tampering_while_it_was_down_stops_the_start() {
    let fresh = || {
        let disk = Memory::default();
        let mut log = open(&disk).unwrap();
        log.stage(&draft(1)).unwrap();
        log.sign().unwrap();
        disk
    };
    let disk = fresh();
    disk.0.borrow_mut().segments[0][40] ^= 1;
    assert!(matches!(
        open(&disk),
        Err(LogError::Damaged { line: 1, .. })
    ));

    let disk = fresh();
    let lines = disk.0.borrow().segments[0].clone();
    let cut = lines[..lines.len() - 1]
        .iter()
        .rposition(|byte| *byte == b'\n')
        .unwrap();
    disk.0.borrow_mut().segments[0].truncate(cut + 1);
    assert!(matches!(open(&disk), Err(LogError::TailCut { .. })));

    let disk = fresh();
    disk.0.borrow_mut().segments.clear();
    assert!(matches!(
        open(&disk),
        Err(LogError::TailCut { last_seq: 0, .. })
    ));

    let disk = fresh();
    let result = Log::open(
        disk,
        Signer::from_seed(&[1; 32]),
        Clock::new("n").unwrap(),
        4096,
    );
    assert!(matches!(result, Err(LogError::Head(_))));

    let disk = fresh();
    disk.0.borrow_mut().head = None;
    open(&disk).unwrap();
    let bytes = disk.0.borrow().segments[0].clone();
    assert!(
        String::from_utf8(bytes)
            .unwrap()
            .contains("\"head_file\":\"missing\"")
    );
}
