//! The command line of `sandboxd`, and how each command calls the library. The environment is read
//! here and nowhere else.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, Parser, Subcommand};
use sandboxd::audit_writer::{self, Connections, Limits, RunAs, Settings};
use sandboxd::config::{self, Config, Overrides, Surroundings};
use sandboxd::daemon::{self, ServeOptions};
use sandboxd::policy_set::PolicySet;
use sandboxd::telemetry;

#[derive(Debug, Parser)]
#[command(version, about = "Runs programs in sandboxes, over gRPC")]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve until told to stop.
    Serve(ServeArgs),
    /// Check the configuration and the policies, print the result and exit.
    CheckConfig(ConfigArgs),
    /// Keep the audit log; started by `serve`, never by hand.
    #[command(hide = true)]
    AuditWriter(AuditWriterArgs),
}

/// What wins over the configuration file; flags win over the environment.
#[derive(Debug, Args)]
struct ConfigArgs {
    /// Configuration file [default: /etc/rollcage/sandboxd.toml, if it exists].
    #[arg(long, env = "ROLLCAGE_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
    /// Unix socket of the API [default: /run/rollcage/sandboxd.sock].
    #[arg(long, env = "ROLLCAGE_SOCKET", value_name = "PATH")]
    socket: Option<PathBuf>,
    /// State folder: results, audit log, lock [default: /var/lib/rollcage].
    #[arg(long, env = "ROLLCAGE_STATE_DIR", value_name = "DIR")]
    state_dir: Option<PathBuf>,
    /// Log filter, such as `info` or `sandboxd=debug,warn`.
    #[arg(long, env = "ROLLCAGE_LOG", value_name = "FILTER")]
    log: Option<String>,
}

#[derive(Debug, Args)]
struct ServeArgs {
    #[command(flatten)]
    config: ConfigArgs,
    /// End when standard input closes: a daemon for the duration of one command.
    #[arg(long)]
    embedded: bool,
    /// Write the line `ready SOCKET` to this descriptor once the daemon serves.
    #[arg(long, value_name = "N")]
    ready_fd: Option<i32>,
    /// To show what is wrong with this host: where the self-test fails serve all the same, but
    /// take no runs.
    #[arg(long)]
    diagnose: bool,
}

#[derive(Debug, Args)]
struct AuditWriterArgs {
    #[arg(long)]
    state_dir: PathBuf,
    #[arg(long)]
    node: String,
    #[arg(long, requires = "gid")]
    uid: Option<u32>,
    #[arg(long, requires = "uid")]
    gid: Option<u32>,
    #[arg(long)]
    reader_gid: Option<u32>,
    #[arg(long, default_value = "info")]
    log: String,
}

impl Cli {
    /// Does what was asked.
    pub(crate) fn run(self) -> anyhow::Result<()> {
        match self.command {
            Command::Serve(args) => serve(args),
            Command::CheckConfig(args) => check_config(args),
            Command::AuditWriter(args) => write_audit_log(args),
        }
    }
}

fn load(args: ConfigArgs) -> anyhow::Result<Config> {
    let path = |name| std::env::var_os(name).map(PathBuf::from);
    let surroundings = Surroundings {
        uid: nix::unistd::geteuid().as_raw(),
        home: path("HOME"),
        xdg_state_home: path("XDG_STATE_HOME"),
        xdg_runtime_dir: path("XDG_RUNTIME_DIR"),
    };
    let overrides = Overrides {
        config: args.config,
        socket: args.socket,
        state_dir: args.state_dir,
        log: args.log,
    };
    Ok(config::load(overrides, &surroundings)?)
}

fn serve(args: ServeArgs) -> anyhow::Result<()> {
    let config = load(args.config)?;
    telemetry::start(&config.log, config.log_json)?;
    daemon::serve(
        config,
        ServeOptions {
            embedded: args.embedded,
            ready_fd: args.ready_fd,
            diagnose: args.diagnose,
        },
    )?;
    Ok(())
}

fn check_config(args: ConfigArgs) -> anyhow::Result<()> {
    let config = load(args)?;
    let policies = PolicySet::load(&config.policies_dir)?;
    let names: Vec<&str> = policies.catalog().names().collect();
    let file = config
        .file
        .as_deref()
        .map(|path| path.display().to_string());
    let mut out = std::io::stdout();
    writeln!(
        out,
        "configuration: {}\nsocket: {}\nstate: {}\nprincipals: {}\npolicies: {}",
        file.as_deref().unwrap_or("defaults"),
        config.socket.display(),
        config.state_dir.display(),
        config.principals.len(),
        names.join(", "),
    )
    .context("print the result")
}

fn write_audit_log(args: AuditWriterArgs) -> anyhow::Result<()> {
    telemetry::start(&args.log, false)?;
    let settings = Settings {
        state_dir: args.state_dir,
        node: args.node,
        run_as: args.uid.zip(args.gid).map(|(uid, gid)| RunAs { uid, gid }),
        reader_gid: args.reader_gid,
        limits: Limits::default(),
    };
    let connections = Connections::from_stdio().context("take over the connections")?;
    audit_writer::run(&settings, connections)?;
    Ok(())
}
