//! The file: which tables there are, what each holds, and what is swept away when.
//!
//! Run ids begin with their time, so that their order is that of submission.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};

use prost::Message;
use proto::v1;
use redb::{
    Database, Durability, ReadTransaction, ReadableDatabase, ReadableTable, Table, TableDefinition,
};

use super::{Begin, Begun, StoreError};

/// (tenant, run id) -> record.
const RUNS: TableDefinition<'static, (&str, &str), &[u8]> = TableDefinition::new("runs");
/// Run id -> (tenant, bytes of its record, whether a key names it).
const ORDER: TableDefinition<'static, &str, (&str, u64, bool)> = TableDefinition::new("order");
/// (tenant, rpc, key) -> (run id, digest of the payload).
const KEYS: TableDefinition<'static, (&str, &str, &str), (&str, &str)> =
    TableDefinition::new("keys");
/// Run id -> (rpc, key), to find the key of a run that is swept away.
const KEY_OF: TableDefinition<'static, &str, (&str, &str)> = TableDefinition::new("key_of");
/// Run ids that are active and durable -> tenant.
const ACTIVE: TableDefinition<'static, &str, &str> = TableDefinition::new("active");

/// What is kept.
#[derive(Debug, Clone, Copy)]
pub struct Retention {
    /// How long, in milliseconds.
    pub keep_ms: u64,
    /// How many runs.
    pub entries_max: u64,
    /// How many bytes of records.
    pub bytes_max: u64,
}

/// Which runs to list.
#[derive(Debug, Clone, Default)]
pub struct Listing {
    /// Whose.
    pub tenant: String,
    /// Only of this group; empty: all.
    pub group: String,
    /// Only in this state; unspecified: all.
    pub state: v1::RunState,
    /// Most runs.
    pub page_size: usize,
    /// Run id to go on below; empty: from the latest.
    pub page_token: String,
}

/// A page of runs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Page {
    /// The runs, latest first.
    pub runs: Vec<v1::RunRecord>,
    /// For the next page; empty: none.
    pub next_page_token: String,
}

fn database<E: Into<redb::Error>>(doing: &'static str) -> impl FnOnce(E) -> StoreError {
    move |source| StoreError::Database {
        doing,
        source: Box::new(source.into()),
    }
}

/// Memory that the store keeps of its file, in bytes. Results are written once and seldom read.
const CACHE_BYTES_MAX: usize = 16 << 20;

fn create(path: &Path) -> Result<Database, StoreError> {
    // The library's own default is a gibibyte, which the daemon would grow to with its results.
    let mut builder = Database::builder();
    builder.set_cache_size(CACHE_BYTES_MAX);
    builder.create(path).map_err(|source| StoreError::Open {
        path: path.to_owned(),
        source: Box::new(source.into()),
    })
}

/// The open file.
#[derive(Debug)]
pub(super) struct Tables {
    path: PathBuf,
    /// `None` while it cannot be opened again after a disk that failed.
    database: RwLock<Option<Database>>,
    /// The disk failed: this database does nothing any more, and has to be opened again.
    has_failed: AtomicBool,
    retention: Retention,
    /// Bytes of all records; counted anew when the file is opened.
    bytes: AtomicU64,
}

impl Tables {
    pub(super) fn open(path: &Path, retention: Retention) -> Result<Self, StoreError> {
        let tables = Self {
            path: path.to_owned(),
            database: RwLock::new(Some(create(path)?)),
            has_failed: AtomicBool::new(false),
            retention,
            bytes: AtomicU64::new(0),
        };
        tables.count()?;
        Ok(tables)
    }

    /// Counts what is there; also makes the tables, so that reads find them.
    fn count(&self) -> Result<(), StoreError> {
        let bytes = self.try_write(true, |writing| writing.count_bytes())?;
        self.bytes.store(bytes, Ordering::Relaxed);
        Ok(())
    }

    /// After a disk that failed (one that was full, for instance) the file is opened again, once
    /// for each write that is tried: space may be back.
    fn reopen(&self) -> Result<(), StoreError> {
        {
            let mut database = self
                .database
                .write()
                .unwrap_or_else(PoisonError::into_inner);
            // The old one holds the file's lock.
            drop(database.take());
            *database = Some(create(&self.path)?);
        }
        self.count()?;
        self.has_failed.store(false, Ordering::Relaxed);
        tracing::info!("the result store is open again");
        Ok(())
    }

    fn begin_read(&self, doing: &'static str) -> Result<ReadTransaction, StoreError> {
        let database = self.database.read().unwrap_or_else(PoisonError::into_inner);
        let database = database.as_ref().ok_or(StoreError::Closed)?;
        database.begin_read().map_err(self::database(doing))
    }

    /// Runs `change` in one transaction. Without `durable` it is not waited for on disk: the sync
    /// would compete with the audit log's, which every reply waits for. Called by one thread.
    pub(super) fn write<T>(
        &self,
        durable: bool,
        change: impl FnOnce(&mut Writing<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        if self.has_failed.load(Ordering::Relaxed) {
            self.reopen()?;
        }
        let written = self.try_write(durable, change);
        if let Err(StoreError::Database { source, .. }) = &written
            && matches!(**source, redb::Error::Io(_) | redb::Error::PreviousIo)
        {
            self.has_failed.store(true, Ordering::Relaxed);
        }
        written
    }

    fn try_write<T>(
        &self,
        durable: bool,
        change: impl FnOnce(&mut Writing<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let database = self.database.read().unwrap_or_else(PoisonError::into_inner);
        let database = database.as_ref().ok_or(StoreError::Closed)?;
        let mut transaction = database
            .begin_write()
            .map_err(self::database("begin to write results"))?;
        transaction
            .set_durability(if durable {
                Durability::Immediate
            } else {
                Durability::None
            })
            .map_err(self::database("begin to write results"))?;
        let changed = {
            let open = "open tables of results";
            let mut writing = Writing {
                runs: transaction.open_table(RUNS).map_err(self::database(open))?,
                order: transaction
                    .open_table(ORDER)
                    .map_err(self::database(open))?,
                keys: transaction.open_table(KEYS).map_err(self::database(open))?,
                key_of: transaction
                    .open_table(KEY_OF)
                    .map_err(self::database(open))?,
                active: transaction
                    .open_table(ACTIVE)
                    .map_err(self::database(open))?,
                retention: self.retention,
                bytes: &self.bytes,
            };
            change(&mut writing)?
        };
        transaction
            .commit()
            .map_err(self::database("commit results"))?;
        Ok(changed)
    }

    /// Gives runs that were active when the daemon died their result; tells how many.
    pub(super) fn end_lost_runs(&self, now_unix_ms: u64) -> Result<usize, StoreError> {
        self.write(true, |writing| {
            let read = "read active runs";
            let mut lost = Vec::new();
            for entry in writing.active.iter().map_err(database(read))? {
                let (run_id, tenant) = entry.map_err(database(read))?;
                lost.push((tenant.value().to_owned(), run_id.value().to_owned()));
            }
            for (tenant, run_id) in &lost {
                if let Some(record) = writing.get(tenant, run_id)? {
                    writing.finish(
                        tenant,
                        &super::lost_record(record, "daemon", DAEMON_ENDED, now_unix_ms),
                    )?;
                } else {
                    writing
                        .active
                        .remove(run_id.as_str())
                        .map_err(database(read))?;
                }
            }
            Ok(lost.len())
        })
    }

    pub(super) fn get(
        &self,
        tenant: &str,
        run_id: &str,
    ) -> Result<Option<v1::RunRecord>, StoreError> {
        let read = "read a result";
        let transaction = self.begin_read(read)?;
        let runs = transaction.open_table(RUNS).map_err(database(read))?;
        match runs.get((tenant, run_id)).map_err(database(read))? {
            Some(bytes) => decode(run_id, bytes.value()).map(Some),
            None => Ok(None),
        }
    }

    pub(super) fn list(&self, listing: &Listing) -> Result<Page, StoreError> {
        let read = "list results";
        let transaction = self.begin_read(read)?;
        let runs = transaction.open_table(RUNS).map_err(database(read))?;
        let token = listing.page_token.as_str();
        if !token
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        {
            return Err(StoreError::PageToken {
                token: token.to_owned(),
            });
        }
        let tenant = listing.tenant.as_str();
        // `~` is after every character of a run id.
        let end = if token.is_empty() { "~" } else { token };
        let mut page = Page::default();
        for entry in runs
            .range((tenant, "")..(tenant, end))
            .map_err(database(read))?
            .rev()
        {
            let (key, bytes) = entry.map_err(database(read))?;
            let mut record = decode(key.value().1, bytes.value())?;
            let group = listing.group.is_empty() || record.group == listing.group;
            let state =
                listing.state == v1::RunState::Unspecified || record.state() == listing.state;
            if !group || !state {
                continue;
            }
            if page.runs.len() == listing.page_size {
                page.next_page_token = page
                    .runs
                    .last()
                    .map(|last| last.run_id.clone())
                    .unwrap_or_default();
                break;
            }
            record.result = None;
            page.runs.push(record);
        }
        Ok(page)
    }
}

fn decode(run_id: &str, bytes: &[u8]) -> Result<v1::RunRecord, StoreError> {
    v1::RunRecord::decode(bytes).map_err(|source| StoreError::Entry {
        run_id: run_id.to_owned(),
        source,
    })
}

/// Why a run that was active when the daemon died has no result of its own.
const DAEMON_ENDED: &str = "the daemon ended while this run was active";

/// A transaction that writes.
pub(super) struct Writing<'a> {
    runs: Table<'a, (&'static str, &'static str), &'static [u8]>,
    order: Table<'a, &'static str, (&'static str, u64, bool)>,
    keys: Table<'a, (&'static str, &'static str, &'static str), (&'static str, &'static str)>,
    key_of: Table<'a, &'static str, (&'static str, &'static str)>,
    active: Table<'a, &'static str, &'static str>,
    retention: Retention,
    bytes: &'a AtomicU64,
}

impl Writing<'_> {
    pub(super) fn begin(&mut self, begin: &Begin) -> Result<Begun, StoreError> {
        let write = "store a run that begins";
        let tenant = begin.tenant.as_str();
        let run_id = begin.record.run_id.as_str();
        if let Some(key) = &begin.key {
            let scope = (tenant, key.rpc, key.key.as_str());
            if let Some(before) = self.keys.get(scope).map_err(database(write))? {
                let (run_id, payload) = before.value();
                let run_id = run_id.to_owned();
                let same = payload == key.payload_sha256;
                return Ok(if same {
                    Begun::Before { run_id }
                } else {
                    Begun::OtherPayload { run_id }
                });
            }
            self.keys
                .insert(scope, (run_id, key.payload_sha256.as_str()))
                .map_err(database(write))?;
            self.key_of
                .insert(run_id, (key.rpc, key.key.as_str()))
                .map_err(database(write))?;
        }
        self.active
            .insert(run_id, tenant)
            .map_err(database(write))?;
        self.put(tenant, &begin.record)?;
        Ok(Begun::New)
    }

    pub(super) fn finish(
        &mut self,
        tenant: &str,
        record: &v1::RunRecord,
    ) -> Result<(), StoreError> {
        self.active
            .remove(record.run_id.as_str())
            .map_err(database("store a run that ended"))?;
        self.put(tenant, record)
    }

    pub(super) fn forget(&mut self, tenant: &str, run_id: &str) -> Result<(), StoreError> {
        let write = "take back a run";
        let key = self.key_of.remove(run_id).map_err(database(write))?;
        let key = key.map(|key| (key.value().0.to_owned(), key.value().1.to_owned()));
        if let Some((rpc, key)) = key {
            self.keys
                .remove((tenant, rpc.as_str(), key.as_str()))
                .map_err(database(write))?;
        }
        self.active.remove(run_id).map_err(database(write))?;
        let place = self.order.remove(run_id).map_err(database(write))?;
        if let Some(place) = place {
            self.bytes.fetch_sub(place.value().1, Ordering::Relaxed);
        }
        self.runs
            .remove((tenant, run_id))
            .map_err(database(write))?;
        Ok(())
    }

    fn get(&self, tenant: &str, run_id: &str) -> Result<Option<v1::RunRecord>, StoreError> {
        match self
            .runs
            .get((tenant, run_id))
            .map_err(database("read a result"))?
        {
            Some(bytes) => decode(run_id, bytes.value()).map(Some),
            None => Ok(None),
        }
    }

    fn put(&mut self, tenant: &str, record: &v1::RunRecord) -> Result<(), StoreError> {
        let write = "store a run";
        let bytes = record.encode_to_vec();
        let run_id = record.run_id.as_str();
        let keyed = self.key_of.get(run_id).map_err(database(write))?.is_some();
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let before = self
            .order
            .insert(run_id, (tenant, length, keyed))
            .map_err(database(write))?;
        self.bytes.fetch_add(length, Ordering::Relaxed);
        if let Some(before) = before {
            self.bytes.fetch_sub(before.value().1, Ordering::Relaxed);
        }
        self.runs
            .insert((tenant, run_id), bytes.as_slice())
            .map_err(database(write))?;
        Ok(())
    }

    fn count_bytes(&self) -> Result<u64, StoreError> {
        let read = "count stored results";
        let mut bytes = 0;
        for entry in self.order.iter().map_err(database(read))? {
            bytes += entry.map_err(database(read))?.1.value().1;
        }
        Ok(bytes)
    }

    /// Takes away what is too old, and the oldest of what is too much; never a run that is active,
    /// and a run with a key only by age.
    pub(super) fn sweep(&mut self, now_unix_ms: u64) -> Result<(), StoreError> {
        let read = "sweep old results";
        // Cheap in the common case: nothing is too old and nothing too much.
        let oldest = crate::run_id::prefix_at(now_unix_ms.saturating_sub(self.retention.keep_ms));
        let mut gone = Vec::new();
        for entry in self
            .order
            .range::<&str>(..oldest.as_str())
            .map_err(database(read))?
        {
            let (run_id, place) = entry.map_err(database(read))?;
            gone.push((place.value().0.to_owned(), run_id.value().to_owned()));
        }
        let entries = redb::ReadableTableMetadata::len(&self.order).map_err(database(read))?;
        let mut too_many = entries.saturating_sub(self.retention.entries_max);
        let mut too_much = self
            .bytes
            .load(Ordering::Relaxed)
            .saturating_sub(self.retention.bytes_max);
        if too_many > 0 || too_much > 0 {
            for entry in self.order.iter().map_err(database(read))? {
                let (run_id, place) = entry.map_err(database(read))?;
                let (tenant, bytes, keyed) = place.value();
                if too_many == 0 && too_much == 0 {
                    break;
                }
                if keyed {
                    continue;
                }
                too_many = too_many.saturating_sub(1);
                too_much = too_much.saturating_sub(bytes);
                gone.push((tenant.to_owned(), run_id.value().to_owned()));
            }
        }
        for (tenant, run_id) in gone {
            let active = self
                .active
                .get(run_id.as_str())
                .map_err(database(read))?
                .is_some();
            if !active {
                self.forget(&tenant, &run_id)?;
            }
        }
        Ok(())
    }
}
