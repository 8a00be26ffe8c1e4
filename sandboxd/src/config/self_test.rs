//! The table `[self_test]` of the configuration.

use std::path::PathBuf;

use serde::Deserialize;

/// `[self_test]`: the proof that confinement holds on this host.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SelfTestConfig {
    /// Whether the daemon tests itself before it serves, and policies before they are in force.
    pub at_start: bool,
    /// Where right outcomes of this boot are kept for all daemons of the host.
    /// Default: `/run/rollcage/proof`; for an ordinary user `proof` in `runtime_dir`.
    pub cache_dir: Option<PathBuf>,
}

impl Default for SelfTestConfig {
    fn default() -> Self {
        Self {
            at_start: true,
            cache_dir: None,
        }
    }
}
