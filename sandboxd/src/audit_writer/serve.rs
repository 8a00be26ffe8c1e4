//! The loop of the audit process: take what both peers have sent, make it durable with one write
//! and one sync, answer, sign when due. While a sync runs the next batch queues up in the sockets.

use std::time::{Duration, Instant};

use audit::frame::{self, Attestation, FrameError, Reply, Request};
use audit::{Draft, Event, Receipt, Source};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::connection::Connection;
use super::log::{Log, LogError, Store};
use super::{AuditWriterError, Connections, Limits, causes};

/// Bytes of records from one peer in a batch, so that neither starves the other.
const SHARE_BYTES: usize = 64 << 10;
/// How long to wait for the launcher's last attestations after the api is gone.
const LAST_WORDS: Duration = Duration::from_secs(2);

struct Server<S> {
    log: Log<S>,
    api: Connection,
    launcher: Connection,
    limits: Limits,
    /// Staged, to be answered after the commit.
    waiting: Vec<(u64, Receipt)>,
    checkpoints_asked: Vec<u64>,
    next_attestation: u64,
    /// Attestations that are not in the log.
    lost: u64,
    attested_in_batch: u64,
    /// When the oldest unsigned record became durable.
    unsigned_since: Option<Instant>,
    stopped_in_order: bool,
    last_words: Option<Instant>,
}

/// Serves until the api's connection ends.
pub(super) fn serve<S: Store>(
    log: Log<S>,
    connections: Connections,
    limits: Limits,
) -> Result<(), AuditWriterError> {
    let mut server = Server {
        log,
        api: Connection::new(connections.api).map_err(AuditWriterError::Connection)?,
        launcher: Connection::new(connections.launcher).map_err(AuditWriterError::Connection)?,
        limits,
        waiting: Vec::new(),
        checkpoints_asked: Vec::new(),
        next_attestation: 1,
        lost: 0,
        attested_in_batch: 0,
        unsigned_since: None,
        stopped_in_order: false,
        last_words: None,
    };
    let end = server.log.end();
    let key = server.log.public_key();
    server.answer(&Reply::Ready {
        seq: end.seq,
        sha256: end.sha256,
        key_id: key.key_id(),
        public_key_pem: key.to_pem(),
    });
    while server.round().map_err(AuditWriterError::Connection)? {}
    let signed = server.log.sign().map_err(AuditWriterError::Log);
    server.say_last().map_err(AuditWriterError::Connection)?;
    signed.map(|_| ())
}

impl<S: Store> Server<S> {
    /// One batch; `false` when all is said.
    fn round(&mut self) -> std::io::Result<bool> {
        self.api.flush()?;
        self.wait()?;
        self.api.fill()?;
        self.launcher.fill()?;
        // Read last and taken first: what the launcher attested before the api knew of it stands
        // before what the api says because of it.
        self.take_attestations();
        self.take_requests();
        self.commit();
        self.sign_if_due();
        self.api.flush()?;
        Ok(!self.is_over())
    }

    /// Gives an api that only closed its sending side the time to read its last answers.
    fn say_last(&mut self) -> std::io::Result<()> {
        let deadline = Instant::now() + LAST_WORDS;
        self.api.flush()?;
        while self.api.wants_write() && Instant::now() < deadline {
            let mut events = [PollFd::new(self.api.fd(), PollFlags::POLLOUT)];
            match poll(&mut events, timeout_until(deadline)) {
                Ok(_) | Err(nix::errno::Errno::EINTR) => {}
                Err(errno) => return Err(errno.into()),
            }
            self.api.flush()?;
        }
        Ok(())
    }

    fn is_over(&mut self) -> bool {
        if !self.api.is_over() {
            return false;
        }
        let deadline = match self.last_words {
            Some(deadline) => deadline,
            None => {
                if !self.stopped_in_order {
                    self.note(&Draft::new(Event::DaemonLost, Source::Audit));
                    self.commit();
                }
                *self.last_words.insert(Instant::now() + LAST_WORDS)
            }
        };
        self.launcher.is_over() || Instant::now() >= deadline
    }

    /// Waits until a peer has something, or a signature is due.
    fn wait(&self) -> std::io::Result<()> {
        let timeout = if self.api.is_ready() || self.launcher.is_ready() {
            PollTimeout::ZERO
        } else {
            let due = self
                .unsigned_since
                .map(|since| since + self.checkpoint_after());
            match [due, self.last_words].into_iter().flatten().min() {
                Some(until) => timeout_until(until),
                None => PollTimeout::NONE,
            }
        };
        let mut events = Vec::with_capacity(2);
        for peer in [&self.api, &self.launcher] {
            let mut flags = PollFlags::empty();
            flags.set(PollFlags::POLLIN, peer.wants_read());
            flags.set(PollFlags::POLLOUT, peer.wants_write());
            // A peer with nothing wanted is left out: its hang-up would be reported for ever.
            if !flags.is_empty() {
                events.push(PollFd::new(peer.fd(), flags));
            }
        }
        match poll(&mut events, timeout) {
            Ok(_) | Err(nix::errno::Errno::EINTR) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }

    fn checkpoint_after(&self) -> Duration {
        Duration::from_millis(self.limits.checkpoint_ms_max)
    }

    fn take_requests(&mut self) {
        let before = self.log.batch_bytes();
        while self.api.is_ready() && self.log.batch_bytes() - before < SHARE_BYTES {
            match self.api.take::<Request>() {
                Ok(None) => break,
                Ok(Some(Request::Append { id, draft })) => self.append(id, &draft),
                Ok(Some(Request::Checkpoint { id })) => self.checkpoints_asked.push(id),
                Err(error) => {
                    tracing::error!(error = causes(&error), "the api broke the protocol");
                    self.api.end();
                }
            }
        }
    }

    fn append(&mut self, id: u64, draft: &Draft) {
        let refusal = if frame::Connection::Api.may_carry(draft.source) {
            match self.log.stage(draft) {
                Ok(receipt) => {
                    self.stopped_in_order |= draft.event == Event::DaemonStopped;
                    self.waiting.push((id, receipt));
                    return;
                }
                Err(error) => causes(&error),
            }
        } else {
            format!("source {:?} may not come from the api", draft.source)
        };
        self.answer(&Reply::Nack {
            id,
            refused: true,
            reason: refusal,
        });
    }

    fn take_attestations(&mut self) {
        let before = self.log.batch_bytes();
        while self.launcher.is_ready() && self.log.batch_bytes() - before < SHARE_BYTES {
            match self.launcher.take::<Attestation>() {
                Ok(None) => break,
                Ok(Some(attestation)) => self.attest(&attestation),
                Err(FrameError::Json(error)) => {
                    // Its number is unknown: the next attestation shows the gap.
                    tracing::error!(error = causes(&error), "the launcher sent another form");
                }
                Err(error) => {
                    tracing::error!(error = causes(&error), "the launcher broke the protocol");
                }
            }
        }
    }

    fn attest(&mut self, attestation: &Attestation) {
        self.lost += attestation.number.saturating_sub(self.next_attestation);
        self.next_attestation = attestation.number + 1;
        if !frame::Connection::Launcher.may_carry(attestation.draft.source) {
            self.lost += 1;
            tracing::error!(source = ?attestation.draft.source, "not the launcher's to report");
            return;
        }
        match self.log.stage(&attestation.draft) {
            Ok(_) => self.attested_in_batch += 1,
            Err(error) => {
                self.lost += 1;
                tracing::error!(error = causes(&error), "an attestation was refused");
            }
        }
    }

    /// Stages a record of our own.
    fn note(&mut self, draft: &Draft) {
        if let Err(error) = self.log.stage(draft) {
            tracing::error!(error = causes(&error), event = ?draft.event, "own record refused");
        }
    }

    /// Makes the batch durable and answers everyone in it.
    fn commit(&mut self) {
        let lost = std::mem::take(&mut self.lost);
        if lost > 0 {
            self.note(&Draft::new(Event::AttestationsLost, Source::Audit).with("missing", lost));
        }
        if self.log.batch_bytes() == 0 {
            return;
        }
        let attested = std::mem::take(&mut self.attested_in_batch);
        let waiting = std::mem::take(&mut self.waiting);
        match self.log.commit() {
            Ok(()) => {
                self.unsigned_since.get_or_insert_with(Instant::now);
                for (id, Receipt { seq, sha256 }) in waiting {
                    self.answer(&Reply::Ack { id, seq, sha256 });
                }
                let seq = self.log.end().seq;
                self.answer(&Reply::Head { seq });
            }
            Err(error) => {
                let reason = causes(&error);
                tracing::error!(error = reason, "the audit log was not written");
                self.lost = lost + attested;
                for (id, _) in waiting {
                    self.answer(&Reply::Nack {
                        id,
                        refused: false,
                        reason: reason.clone(),
                    });
                }
            }
        }
    }

    fn sign_if_due(&mut self) {
        let aged = self
            .unsigned_since
            .is_some_and(|since| since.elapsed() >= self.checkpoint_after());
        let many = self.log.unsigned() >= self.limits.checkpoint_records_max;
        let asked = std::mem::take(&mut self.checkpoints_asked);
        if !(aged || many || self.log.is_full() || !asked.is_empty()) {
            return;
        }
        let signed = self.log.sign();
        // After a failure the next try waits its time too, instead of spinning on a full disk.
        self.unsigned_since = signed.is_err().then(Instant::now);
        match signed {
            Ok(Receipt { seq, sha256 }) => {
                for id in asked {
                    self.answer(&Reply::Ack { id, seq, sha256 });
                }
                self.answer(&Reply::Head { seq });
            }
            Err(error) => self.sign_failed(asked, &error),
        }
    }

    fn sign_failed(&mut self, asked: Vec<u64>, error: &LogError) {
        let reason = causes(error);
        tracing::error!(error = reason, "the audit log was not signed");
        for id in asked {
            self.answer(&Reply::Nack {
                id,
                refused: false,
                reason: reason.clone(),
            });
        }
    }

    fn answer(&mut self, reply: &Reply) {
        if let Err(error) = self.api.send(reply) {
            tracing::error!(error = causes(&error), "a reply could not be written");
        }
    }
}

/// Rounded up, so that the poll does not end just before its time.
fn timeout_until(until: Instant) -> PollTimeout {
    let left = until.saturating_duration_since(Instant::now());
    let ms = left.as_micros().div_ceil(1000);
    match u16::try_from(ms) {
        Ok(ms) => PollTimeout::from(ms),
        Err(_) => PollTimeout::from(u16::MAX),
    }
}
