//! The audit process over its real sockets and a real folder, driven as its peers drive it.

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread::JoinHandle;

use audit::frame::{Attestation, Decoder, Reply, Request, encode};
use audit::{Draft, Event, Report, Source};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socketpair};

use super::{
    AuditWriterError, Connections, Limits, Settings, clock, folder, identity, log, serve,
    tell_failure,
};
use crate::audit_client::log_reader::{Cursor, LogReader, Wanted};

pub(crate) fn settings(state_dir: &Path) -> Settings {
    Settings {
        state_dir: state_dir.to_owned(),
        node: "node".to_owned(),
        run_as: None,
        reader_gid: None,
        limits: Limits {
            checkpoint_ms_max: 60_000,
            ..Limits::default()
        },
    }
}

/// `run` without the steps that would change the test's own process.
fn run_here(settings: &Settings, connections: Connections) -> Result<(), AuditWriterError> {
    let open = || {
        let folder = folder::Folder::prepare(settings, connections.api.as_fd())
            .map_err(AuditWriterError::Folder)?;
        let signer = identity::signer(&folder).map_err(AuditWriterError::Identity)?;
        let clock = clock::Clock::new(&settings.node).map_err(AuditWriterError::Connection)?;
        log::Log::open(folder, signer, clock, settings.limits.segment_bytes_max)
            .map_err(AuditWriterError::Log)
    };
    match open() {
        Ok(log) => serve::serve(log, connections, settings.limits),
        Err(error) => {
            tell_failure(&connections.api, &error)?;
            Err(error)
        }
    }
}

pub(crate) struct Running {
    pub(crate) api: UnixStream,
    pub(crate) launcher: UnixStream,
    pub(crate) writer: JoinHandle<Result<(), AuditWriterError>>,
}

pub(crate) fn start(settings: Settings) -> Running {
    let (api, api_end) = UnixStream::pair().unwrap();
    let flags = SockFlag::SOCK_CLOEXEC;
    let (launcher, launcher_end): (OwnedFd, OwnedFd) =
        socketpair(AddressFamily::Unix, SockType::SeqPacket, None, flags).unwrap();
    let connections = Connections {
        api: api_end,
        launcher: launcher_end.into(),
    };
    let writer = std::thread::spawn(move || run_here(&settings, connections));
    Running {
        api,
        launcher: launcher.into(),
        writer,
    }
}

struct Api {
    stream: UnixStream,
    decoder: Decoder,
}

impl Api {
    fn new(stream: UnixStream) -> Self {
        Self {
            stream,
            decoder: Decoder::default(),
        }
    }

    fn ask(&mut self, request: &Request) {
        self.stream.write_all(&encode(request).unwrap()).unwrap();
    }

    fn append(&mut self, id: u64, draft: Draft) {
        self.ask(&Request::Append {
            id,
            draft: Box::new(draft),
        });
    }

    /// The next reply that is no `Head`; `None` at the end.
    fn reply(&mut self) -> Option<Reply> {
        let mut buffer = [0; 4096];
        loop {
            match self.decoder.next_frame().unwrap() {
                Some(Reply::Head { .. }) => {}
                Some(reply) => return Some(reply),
                None => match self.stream.read(&mut buffer).unwrap() {
                    0 => return None,
                    count => self.decoder.push(&buffer[..count]),
                },
            }
        }
    }
}

fn attest(launcher: &mut UnixStream, number: u64, event: Event, source: Source) {
    let mut draft = Draft::new(event, source);
    draft.sandbox_id = Some(format!("sb-{number}"));
    launcher
        .write_all(&encode(&Attestation { number, draft }).unwrap())
        .unwrap();
}

fn events(state_dir: &Path) -> Vec<Event> {
    let wanted = Wanted {
        to_seq: u64::MAX,
        lines_max: 10_000,
        ..Wanted::default()
    };
    let page = LogReader::new(state_dir)
        .page(Cursor::at(1), &wanted)
        .unwrap();
    assert!(page.at_end);
    page.lines
        .iter()
        .map(|line| line.record.draft.event)
        .collect()
}

fn verify(state_dir: &Path) -> Report {
    LogReader::new(state_dir).verify(Vec::new()).unwrap()
}

#[test]
fn records_are_acknowledged_durable_and_signed_at_the_end() {
    let dir = tempfile::tempdir().unwrap();
    let running = start(settings(dir.path()));
    let mut api = Api::new(running.api);
    assert!(matches!(api.reply(), Some(Reply::Ready { seq: 2, .. })));
    for id in 0..100 {
        api.append(id, Draft::new(Event::RunEnded, Source::Api).with("run", id));
    }
    let mut receipts = Vec::new();
    for wanted in 0..100 {
        match api.reply() {
            Some(Reply::Ack { id, seq, sha256 }) => {
                assert_eq!((id, seq), (wanted, wanted + 3));
                receipts.push(audit::Receipt { seq, sha256 });
            }
            other => panic!("{other:?}"),
        }
    }
    // Each receipt is in the file although nothing was signed since the start.
    let report = LogReader::new(dir.path()).verify(receipts).unwrap();
    assert!(report.holds(), "{:?}", report.findings);
    assert_eq!((report.receipts_found, report.complete_to_seq), (100, 2));
    api.append(100, Draft::new(Event::DaemonStopped, Source::Api));
    assert!(matches!(api.reply(), Some(Reply::Ack { .. })));
    drop((api, running.launcher));
    running.writer.join().unwrap().unwrap();
    assert_eq!(verify(dir.path()).tail, audit::Tail::Proven);
    let folder = dir.path().join("audit");
    for (name, mode) in [
        ("key.pem", 0o600),
        ("key.pub", 0o644),
        ("head.json", 0o640),
        ("00000001.jsonl", 0o640),
    ] {
        let got = fs::metadata(folder.join(name))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(got & 0o7777, mode, "{name}");
    }
}

#[test]
fn neither_peer_may_speak_for_the_other() {
    let dir = tempfile::tempdir().unwrap();
    let mut running = start(settings(dir.path()));
    let mut api = Api::new(running.api);
    assert!(matches!(api.reply(), Some(Reply::Ready { .. })));
    for (id, event, source) in [
        (1, Event::SandboxSpawned, Source::Launcher),
        (2, Event::Checkpoint, Source::Audit),
        (3, Event::SandboxSpawned, Source::Api),
    ] {
        api.append(id, Draft::new(event, source));
        match api.reply() {
            Some(Reply::Nack {
                id: got,
                refused: true,
                ..
            }) => assert_eq!(got, id),
            other => panic!("{other:?}"),
        }
    }
    attest(&mut running.launcher, 1, Event::RunEnded, Source::Api);
    attest(
        &mut running.launcher,
        2,
        Event::SandboxSpawned,
        Source::Launcher,
    );
    // Number 3 was dropped by the launcher.
    attest(
        &mut running.launcher,
        4,
        Event::SandboxReaped,
        Source::Launcher,
    );
    drop((api, running.launcher));
    running.writer.join().unwrap().unwrap();
    let events = events(dir.path());
    let count = |wanted| events.iter().filter(|event| **event == wanted).count();
    assert_eq!(count(Event::RunEnded), 0);
    assert_eq!(
        (count(Event::SandboxSpawned), count(Event::SandboxReaped)),
        (1, 1)
    );
    assert!(count(Event::AttestationsLost) >= 1);
    assert_eq!(count(Event::DaemonLost), 1);
    let report = verify(dir.path());
    assert!(report.holds());
    // The daemon never mentioned the two sandboxes.
    assert_eq!(report.warnings, 2);
}

#[test]
fn a_checkpoint_is_made_when_asked_and_when_due() {
    let dir = tempfile::tempdir().unwrap();
    let mut settings = settings(dir.path());
    settings.limits.checkpoint_ms_max = 20;
    let running = start(settings);
    let mut api = Api::new(running.api);
    assert!(matches!(api.reply(), Some(Reply::Ready { .. })));
    api.ask(&Request::Checkpoint { id: 7 });
    assert!(matches!(
        api.reply(),
        Some(Reply::Ack { id: 7, seq: 3, .. })
    ));
    assert_eq!(verify(dir.path()).tail, audit::Tail::Proven);
    api.append(8, Draft::new(Event::RunEnded, Source::Api));
    // The record's own head notice, then the checkpoint's.
    let mut heads = Vec::new();
    let mut buffer = [0; 4096];
    while heads.last() != Some(&5) {
        match api.decoder.next_frame::<Reply>().unwrap() {
            Some(Reply::Head { seq }) => heads.push(seq),
            Some(_) => {}
            None => {
                let count = api.stream.read(&mut buffer).unwrap();
                assert!(count > 0);
                api.decoder.push(&buffer[..count]);
            }
        }
    }
    assert_eq!(verify(dir.path()).complete_to_seq, 5);
    drop((api, running.launcher));
    running.writer.join().unwrap().unwrap();
}

#[test]
fn an_api_that_reads_nothing_does_not_stop_the_launcher() {
    let dir = tempfile::tempdir().unwrap();
    let mut running = start(settings(dir.path()));
    let mut api = Api::new(running.api);
    assert!(matches!(api.reply(), Some(Reply::Ready { .. })));
    let mut stream = api.stream.try_clone().unwrap();
    let frame = encode(&Request::Append {
        id: 1,
        draft: Box::new(Draft::new(Event::SandboxSpawned, Source::Api)),
    })
    .unwrap();
    // Refusals pile up until the socket and the writer's own buffer are full.
    stream.set_nonblocking(true).unwrap();
    let mut sent = 0_usize;
    while sent < 12 << 20 {
        match stream.write(&frame) {
            Ok(count) => sent += count,
            Err(error) => {
                assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock);
                break;
            }
        }
    }
    attest(
        &mut running.launcher,
        1,
        Event::SandboxSpawned,
        Source::Launcher,
    );
    let reader = LogReader::new(dir.path());
    let wanted = Wanted {
        to_seq: u64::MAX,
        lines_max: 10,
        ..Wanted::default()
    };
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while reader
        .page(Cursor::at(3), &wanted)
        .unwrap()
        .lines
        .is_empty()
    {
        assert!(
            std::time::Instant::now() < deadline,
            "the attestation never came"
        );
        std::thread::yield_now();
    }
    drop((stream, api, running.launcher));
    running.writer.join().unwrap().unwrap();
}

#[test]
fn a_start_that_fails_says_why() {
    let dir = tempfile::tempdir().unwrap();
    let first = start(settings(dir.path()));
    drop((first.api, first.launcher));
    first.writer.join().unwrap().unwrap();
    fs::remove_file(dir.path().join("audit/key.pem")).unwrap();
    let second = start(settings(dir.path()));
    match Api::new(second.api).reply() {
        Some(Reply::Failed { reason }) => assert!(reason.contains("key.pem"), "{reason}"),
        other => panic!("{other:?}"),
    }
    assert!(second.writer.join().unwrap().is_err());
}

#[test]
fn the_next_writer_waits_for_the_last_words_of_the_one_before() {
    let dir = tempfile::tempdir().unwrap();
    let first = start(settings(dir.path()));
    let mut api = Api::new(first.api);
    assert!(matches!(api.reply(), Some(Reply::Ready { .. })));
    let mut launcher = first.launcher;
    attest(&mut launcher, 1, Event::SandboxSpawned, Source::Launcher);
    // The daemon is killed; its launcher still cleans up while the next daemon starts.
    drop(api);
    let second = start(settings(dir.path()));
    attest(&mut launcher, 2, Event::SandboxReaped, Source::Launcher);
    drop(launcher);
    let mut api = Api::new(second.api);
    let Some(Reply::Ready { seq, .. }) = api.reply() else {
        panic!("the second writer is not ready");
    };
    first.writer.join().unwrap().unwrap();
    let events = events(dir.path());
    assert!(events.contains(&Event::SandboxReaped), "{events:?}");
    assert_eq!(seq, u64::try_from(events.len()).unwrap());
    drop((api, second.launcher));
    second.writer.join().unwrap().unwrap();
    assert!(verify(dir.path()).holds());
}

#[test]
fn a_writer_that_waits_in_vain_for_the_log_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let first = start(settings(dir.path()));
    let mut api = Api::new(first.api);
    assert!(matches!(api.reply(), Some(Reply::Ready { .. })));
    let second = start(settings(dir.path()));
    // Its daemon gives up: it ends and has not touched the log.
    drop((second.api, second.launcher));
    let error = second.writer.join().unwrap().unwrap_err();
    assert!(
        matches!(
            error,
            AuditWriterError::Folder(folder::FolderError::InUse { .. })
        ),
        "{error:?}"
    );
    drop((api, first.launcher));
    first.writer.join().unwrap().unwrap();
    assert!(verify(dir.path()).holds());
}
