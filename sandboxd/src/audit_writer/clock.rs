//! Time, boot and machine of a record: the only clock of the log.

use std::io;
use std::time::{SystemTime, UNIX_EPOCH};

use audit::Stamp;

/// Makes the stamps of records.
#[derive(Debug, Clone)]
pub(super) struct Clock {
    boot_id: String,
    node: String,
}

impl Clock {
    pub(super) fn new(node: &str) -> io::Result<Self> {
        let boot_id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
        Ok(Self {
            boot_id: boot_id.trim().to_owned(),
            node: node.to_owned(),
        })
    }

    pub(super) fn stamp(&self) -> Stamp {
        // A clock before 1970 is written as 1970: the order of records is the chain's, not time's.
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Stamp {
            time_unix_ns: u64::try_from(since.as_nanos()).unwrap_or(u64::MAX),
            boot_id: self.boot_id.clone(),
            node: self.node.clone(),
        }
    }
}
