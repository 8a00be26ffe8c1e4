//! Every environment variable the client reads, in one place. Reads, never sets.

use std::ffi::OsString;
use std::path::PathBuf;

/// Socket of a running daemon; flags win over it.
pub const SOCKET: &str = "ROLLCAGE_SOCKET";
/// Folder of the daemon's state: the audit log, results, keys.
pub const STATE_DIR: &str = "ROLLCAGE_STATE_DIR";
/// Folder that holds `sandboxd` and the programs beside it.
pub const BIN_DIR: &str = "ROLLCAGE_BIN_DIR";
/// Bearer token for a daemon reached over TCP.
pub const TOKEN: &str = "ROLLCAGE_TOKEN";
/// What the daemon logs; set, an embedded daemon's log is shown.
pub const LOG: &str = "ROLLCAGE_LOG";
/// Set to anything: no colour.
pub const NO_COLOR: &str = "NO_COLOR";

/// The value of a variable; empty counts as unset.
#[must_use]
pub fn read(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// The value of a variable as an absolute path.
#[must_use]
pub fn read_path(name: &str) -> Option<PathBuf> {
    read(name)
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
}
