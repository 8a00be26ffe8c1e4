//! Results that outlive their call, and idempotency keys: what `Get`, `Fetch`, `List` and a
//! retried call answer from, also after a restart.
//!
//! One thread writes; what waits is committed together. A run with an idempotency key, or a
//! detached one, is durable before it begins: if the daemon dies meanwhile, its result is
//! `sandbox_failed` and it is never run again by itself. It knows no engine and no connection.

mod tables;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use proto::v1;
use tokio::sync::oneshot;

pub use tables::{Listing, Page, Retention};
use tables::{Tables, Writing};

/// Why the store cannot do what was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The file cannot be opened.
    #[error("open result store {}", path.display())]
    Open {
        /// The file.
        path: std::path::PathBuf,
        /// Why.
        #[source]
        source: Box<redb::Error>,
    },
    /// Reading or writing failed.
    #[error("{doing}")]
    Database {
        /// What was being done.
        doing: &'static str,
        /// Why.
        #[source]
        source: Box<redb::Error>,
    },
    /// An entry cannot be read: the file is from another version, or damaged.
    #[error("read stored run {run_id}")]
    Entry {
        /// Which.
        run_id: String,
        /// Why.
        #[source]
        source: prost::DecodeError,
    },
    /// A page token that this store did not give.
    #[error("page_token {token:?} is not one that List gave")]
    PageToken {
        /// As given.
        token: String,
    },
    /// The writing thread has ended.
    #[error("the result store is closed")]
    Closed,
}

/// A run about to begin.
#[derive(Debug, Clone)]
pub struct Begin {
    /// Its tenant.
    pub tenant: String,
    /// Its record, without result.
    pub record: v1::RunRecord,
    /// The caller's key, if there is one.
    pub key: Option<Key>,
}

/// An idempotency key within a tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// Name of the rpc.
    pub rpc: &'static str,
    /// The key.
    pub key: String,
    /// Digest of the payload.
    pub payload_sha256: String,
}

/// What became of [`Store::begin`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Begun {
    /// It may run.
    New,
    /// The same call came before: this run has, or will have, the result.
    Before {
        /// Its id.
        run_id: String,
    },
    /// The key was used for another payload.
    OtherPayload {
        /// The run it was used for.
        run_id: String,
    },
}

enum Operation {
    Begin(Box<Begin>, oneshot::Sender<Result<Begun, StoreError>>),
    Finish {
        tenant: String,
        record: Box<v1::RunRecord>,
        durable: bool,
        done: oneshot::Sender<Result<(), StoreError>>,
    },
    Forget {
        tenant: String,
        run_id: String,
        done: oneshot::Sender<Result<(), StoreError>>,
    },
    Stop,
}

/// The store. Reads go straight to the file, writes through its thread.
#[derive(Debug)]
pub struct Store {
    tables: Arc<Tables>,
    operations: Sender<Operation>,
    writer: Option<JoinHandle<()>>,
}

impl Store {
    /// Opens or makes the file. Runs that were active when the daemon died get their result.
    ///
    /// # Errors
    /// The file cannot be opened, or its entries not be read.
    pub fn open(path: &Path, retention: Retention, now_unix_ms: u64) -> Result<Self, StoreError> {
        let tables = Arc::new(Tables::open(path, retention)?);
        let lost = tables.end_lost_runs(now_unix_ms)?;
        if lost > 0 {
            tracing::warn!(lost, "runs were active when the daemon ended before");
        }
        let (operations, waiting) = channel();
        let writing = Arc::clone(&tables);
        let writer = std::thread::Builder::new()
            .name("results".to_owned())
            .spawn(move || write_until_stopped(&writing, &waiting))
            .map_err(|source| StoreError::Open {
                path: path.to_owned(),
                source: Box::new(redb::Error::Io(source)),
            })?;
        Ok(Self {
            tables,
            operations,
            writer: Some(writer),
        })
    }

    /// Makes a run durable before it begins, unless its key was used before.
    ///
    /// # Errors
    /// It cannot be written.
    pub async fn begin(&self, begin: Begin) -> Result<Begun, StoreError> {
        let (done, answer) = oneshot::channel();
        self.send(Operation::Begin(Box::new(begin), done))?;
        answer.await.map_err(|_closed| StoreError::Closed)?
    }

    /// Stores a run's result. With `durable` it is on disk when this returns; else it can be read
    /// from then on, and reaches the disk with the next durable write or an orderly end.
    ///
    /// # Errors
    /// It cannot be written.
    pub async fn finish(
        &self,
        tenant: &str,
        record: v1::RunRecord,
        durable: bool,
    ) -> Result<(), StoreError> {
        let (done, answer) = oneshot::channel();
        self.send(Operation::Finish {
            tenant: tenant.to_owned(),
            record: Box::new(record),
            durable,
            done,
        })?;
        answer.await.map_err(|_closed| StoreError::Closed)?
    }

    /// Takes back a run that did not take place, so that its key can be used again.
    ///
    /// # Errors
    /// It cannot be written.
    pub async fn forget(&self, tenant: &str, run_id: &str) -> Result<(), StoreError> {
        let (done, answer) = oneshot::channel();
        let (tenant, run_id) = (tenant.to_owned(), run_id.to_owned());
        self.send(Operation::Forget {
            tenant,
            run_id,
            done,
        })?;
        answer.await.map_err(|_closed| StoreError::Closed)?
    }

    /// One run of a tenant; another tenant's is not there.
    ///
    /// # Errors
    /// It cannot be read.
    pub async fn get(
        &self,
        tenant: &str,
        run_id: &str,
    ) -> Result<Option<v1::RunRecord>, StoreError> {
        let (tenant, run_id) = (tenant.to_owned(), run_id.to_owned());
        self.read(move |tables| tables.get(&tenant, &run_id)).await
    }

    /// A page of a tenant's runs, latest first, without results.
    ///
    /// # Errors
    /// They cannot be read, or the page token is not ours.
    pub async fn list(&self, listing: Listing) -> Result<Page, StoreError> {
        self.read(move |tables| tables.list(&listing)).await
    }

    async fn read<T, F>(&self, read: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Tables) -> Result<T, StoreError> + Send + 'static,
    {
        let tables = Arc::clone(&self.tables);
        tokio::task::spawn_blocking(move || read(&tables))
            .await
            .map_err(|_cancelled| StoreError::Closed)?
    }

    fn send(&self, operation: Operation) -> Result<(), StoreError> {
        self.operations
            .send(operation)
            .map_err(|_closed| StoreError::Closed)
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        // The thread ends by itself when nobody can send; this makes it end while we wait.
        if self.operations.send(Operation::Stop).is_ok()
            && let Some(writer) = self.writer.take()
            && writer.join().is_err()
        {
            tracing::error!("the writer of the result store panicked");
        }
    }
}

/// The record of a run whose result is lost, which must not run again: our fault, at `step`.
#[must_use]
pub fn lost_record(
    record: v1::RunRecord,
    step: &str,
    reason: &str,
    now_unix_ms: u64,
) -> v1::RunRecord {
    let ending = v1::Ending {
        kind: v1::EndingKind::SandboxFailed.into(),
        step: Some(step.to_owned()),
        reason: Some(reason.to_owned()),
        ..v1::Ending::default()
    };
    let verdict = v1::Verdict {
        outcome: v1::Outcome::InfraError.into(),
        reason: reason.to_owned(),
        ..v1::Verdict::default()
    };
    v1::RunRecord {
        state: v1::RunState::Finished.into(),
        finished_unix_ms: Some(now_unix_ms),
        ending_kind: Some(v1::EndingKind::SandboxFailed.into()),
        outcome: Some(v1::Outcome::InfraError.into()),
        result: Some(v1::RunResult {
            id: record.id.clone(),
            run_id: record.run_id.clone(),
            ending: Some(ending),
            verdict: Some(verdict),
            ..v1::RunResult::default()
        }),
        ..record
    }
}

/// Most operations of one commit: bounds the memory and the wait of the first.
const BATCH_MAX: usize = 512;

fn write_until_stopped(tables: &Tables, waiting: &Receiver<Operation>) {
    while let Ok(first) = waiting.recv() {
        let mut batch = vec![first];
        while batch.len() < BATCH_MAX
            && let Ok(next) = waiting.try_recv()
        {
            batch.push(next);
        }
        let stop = batch
            .iter()
            .any(|operation| matches!(operation, Operation::Stop));
        write_batch(tables, batch);
        if stop {
            return;
        }
    }
}

/// An answer that waits for the commit.
type Answer = Box<dyn FnOnce(Result<(), StoreError>) + Send>;

fn write_batch(tables: &Tables, batch: Vec<Operation>) {
    let mut answers: Vec<Answer> = Vec::new();
    let lazy =
        |operation: &Operation| matches!(operation, Operation::Finish { durable: false, .. });
    let durable = !batch.iter().all(lazy);
    let written = tables.write(durable, |writing| {
        for operation in batch {
            if let Some(answer) = write_one(writing, operation) {
                answers.push(answer);
            }
        }
        writing.sweep(unix_ms())
    });
    if let Err(error) = &written {
        tracing::error!(error = error as &dyn std::error::Error, "write results");
    }
    let committed = written.is_ok();
    for answer in answers {
        answer(if committed {
            Ok(())
        } else {
            Err(StoreError::Closed)
        });
    }
}

fn write_one(writing: &mut Writing<'_>, operation: Operation) -> Option<Answer> {
    match operation {
        Operation::Begin(begin, done) => {
            let begun = writing.begin(&begin);
            Some(Box::new(move |committed| {
                deliver(done, committed.and(begun));
            }))
        }
        Operation::Finish {
            tenant,
            record,
            done,
            ..
        } => {
            let finished = writing.finish(&tenant, &record);
            Some(Box::new(move |committed| {
                deliver(done, committed.and(finished));
            }))
        }
        Operation::Forget {
            tenant,
            run_id,
            done,
        } => {
            let forgotten = writing.forget(&tenant, &run_id);
            Some(Box::new(move |committed| {
                deliver(done, committed.and(forgotten));
            }))
        }
        Operation::Stop => None,
    }
}

fn deliver<T>(done: oneshot::Sender<Result<T, StoreError>>, answer: Result<T, StoreError>) {
    if done.send(answer).is_err() {
        tracing::debug!("nobody waits for this write any more");
    }
}

/// Milliseconds since 1970.
#[must_use]
pub fn unix_ms() -> u64 {
    std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .ok()
        .and_then(|since| u64::try_from(since.as_millis()).ok())
        .unwrap_or(0)
}
