//! `sandbox-launcher`: the only process that stays root. Started by `sandboxd`, never by hand.
//!
//! One thread. It takes typed frames from the api, checks them against its own ceilings, makes
//! and removes kernel objects, and attests every spawn and reap to the audit process. It parses
//! no policy text and no network input.

mod attest;
mod ceilings;
mod cgroup;
mod forker;
mod image;
mod instance;
mod serve;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

#[derive(Debug, Parser)]
#[command(
    version,
    about = "Makes and reaps sandboxes for sandboxd; not for use by hand"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve the api over an inherited socket.
    Serve(ServeArgs),
}

/// How the daemon starts us.
#[derive(Debug, Args)]
struct ServeArgs {
    /// Inherited SOCK_SEQPACKET to the api.
    #[arg(long)]
    api_fd: i32,
    /// Inherited socket to the audit process.
    #[arg(long)]
    audit_fd: i32,
    /// Folder for locks, the journal and prepared image parts.
    #[arg(long, default_value = "/run/rollcage")]
    runtime_dir: PathBuf,
    /// The static sandbox-init binary.
    #[arg(long)]
    init: PathBuf,
    /// Host path, beside the standard ones, that the host image shows read-only; repeatable.
    #[arg(long)]
    extra_read_path: Vec<String>,
    /// Most sandboxes that may live at once; each leases 65,536 host ids.
    #[arg(long, default_value_t = 256)]
    sandboxes_max: u16,
    /// Processes that do the cloning.
    #[arg(long, default_value_t = 2)]
    forkers: u8,
    /// Serve in landlock mode where the host gives no more.
    #[arg(long)]
    accept_landlock_mode: bool,
    /// Serve in landlock mode even where more is possible; for tests of it.
    #[arg(long, hide = true)]
    force_landlock: bool,
}

fn main() -> anyhow::Result<()> {
    match Cli::parse().command {
        Command::Serve(args) => serve::run(&args),
    }
}
