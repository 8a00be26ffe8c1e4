//! The command line by which `sandboxd` starts the launcher. It reads no environment and no file.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

#[derive(Debug, Parser)]
#[command(
    version,
    about = "Makes and reaps sandboxes for sandboxd; not for use by hand"
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve the api over an inherited socket.
    Serve(ServeArgs),
}

/// How the daemon starts us.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Inherited SOCK_SEQPACKET to the api.
    #[arg(long)]
    pub(crate) api_fd: i32,
    /// Inherited socket to the audit process.
    #[arg(long)]
    pub(crate) audit_fd: i32,
    /// Folder for locks, the journal and prepared image parts.
    #[arg(long, default_value = "/run/rollcage")]
    pub(crate) runtime_dir: PathBuf,
    /// The static sandbox-init binary.
    #[arg(long)]
    pub(crate) init: PathBuf,
    /// The static sandbox-probe binary; without it no plan may ask for it.
    #[arg(long)]
    pub(crate) probe: Option<PathBuf>,
    /// The static sandbox-check binary; without it no plan may ask for it.
    #[arg(long)]
    pub(crate) check: Option<PathBuf>,
    /// Host path, beside the standard ones, that the host image shows read-only; repeatable.
    #[arg(long)]
    pub(crate) extra_read_path: Vec<String>,
    /// Most sandboxes that may live at once; each leases 65,536 host ids.
    #[arg(long, default_value_t = 256)]
    pub(crate) sandboxes_max: u16,
    /// Processes that do the cloning.
    #[arg(long, default_value_t = 2)]
    pub(crate) forkers: u8,
    /// Serve in landlock mode where the host gives no more.
    #[arg(long)]
    pub(crate) accept_landlock_mode: bool,
    /// Serve in landlock mode even where more is possible; for tests of it. It has to be accepted
    /// all the same.
    #[arg(long, hide = true)]
    pub(crate) force_landlock: bool,
}
