//! The `rollcage` command: its options, one module a command, and what it ends with.
//! Data goes to stdout, talk to stderr. It knows daemons only through [`crate::Client`].

mod audit;
mod batch;
mod bench;
mod cancel;
mod compat;
mod connection;
mod demo;
mod doctor;
mod explain;
mod failure;
mod grade;
mod mcp;
mod outcome;
mod policy;
mod ps;
mod run;
mod signals;
mod table;
mod terminal;
mod units;
mod visible;
mod when;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

pub use batch::read_batch;
use connection::ConnectionOptions;
use failure::Failure;
pub use grade::{apply_patch, unpack_archive};
use terminal::Terminal;

/// Threads of the runtime: one may block on a slow reader of stdout while another goes on.
const RUNTIME_THREADS: usize = 2;

/// Runs untrusted programs in sandboxes and says truthfully how they ended.
#[derive(Debug, Parser)]
#[command(
    name = "rollcage",
    version,
    propagate_version = true,
    after_help = "\
Examples:
  rollcage demo                              the main job in a minute
  rollcage run solution.py                   one program, live output, its own exit code
  rollcage run --time 5s --memory 256M -- node -e 'console.log(1)'
  rollcage batch < runs.jsonl > results.jsonl
  rollcage doctor                            what this host can enforce

Exit codes of `run`: the program's own; 124 time limit; 125 the sandbox failed or the request was
refused; 126 and 127 as in a shell; 137 memory or another limit; 2 usage.

Environment: ROLLCAGE_SOCKET, ROLLCAGE_STATE_DIR, ROLLCAGE_BIN_DIR, ROLLCAGE_TOKEN, ROLLCAGE_LOG,
NO_COLOR; read by a daemon that a command starts: ROLLCAGE_CONFIG, its configuration file."
)]
struct Cli {
    #[command(flatten)]
    connection: ConnectionOptions,
    /// Print one JSON document (or one a line) on stdout instead of text for people.
    #[arg(long, global = true, help_heading = None::<&str>)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run one program in a fresh sandbox.
    Run(Box<run::RunArgs>),
    /// Run many programs: a JSON request a line on stdin, a JSON result a line on stdout.
    Batch(batch::BatchArgs),
    /// Judge a solution of a task, or prove the task itself.
    Grade(grade::GradeArgs),
    /// Show and check policies.
    #[command(subcommand)]
    Policy(policy::PolicyCommand),
    /// Read and verify the audit log.
    #[command(subcommand)]
    Audit(audit::AuditCommand),
    /// Say what this host can enforce, and how to fix what it cannot.
    Doctor(doctor::DoctorArgs),
    /// Do the main job in a minute: real little tasks, some hostile, each with its verdict.
    Demo(demo::DemoArgs),
    /// Measure this machine, beside bare processes and the peers that are installed.
    #[command(subcommand)]
    Bench(bench::BenchCommand),
    /// Serve endpoints that other projects' clients know.
    #[command(subcommand)]
    Compat(compat::CompatCommand),
    /// Serve sandboxes as tools of a coding agent, on standard input and output.
    Mcp(mcp::McpArgs),
    /// List runs, latest first.
    Ps(ps::PsArgs),
    /// End a run.
    Cancel(cancel::CancelArgs),
    /// Say why a run ended as it did.
    Explain(explain::ExplainArgs),
}

/// What a command works with.
#[derive(Debug)]
struct Context {
    connection: ConnectionOptions,
    terminal: Terminal,
    /// Whether a daemon of our own is to show what is wrong with this host rather than to run.
    diagnose: bool,
}

impl Cli {
    fn read(command_line: &[OsString]) -> Result<Self, clap::Error> {
        let mut cli = Self::try_parse_from(command_line)?;
        if let Command::Run(args) = &mut cli.command {
            args.look_for_separator(command_line);
        }
        Ok(cli)
    }
}

/// Parses our arguments, does the command, and says how it ended.
pub fn main() -> ExitCode {
    let cli = match Cli::read(&std::env::args_os().collect::<Vec<_>>()) {
        Ok(cli) => cli,
        Err(error) => {
            let code = if error.use_stderr() {
                failure::USAGE
            } else {
                0
            };
            // Nobody can be told when even this cannot be written.
            return match error.print() {
                Ok(()) => ExitCode::from(code),
                Err(_unwritable) => ExitCode::from(failure::USAGE),
            };
        }
    };
    let context = Context {
        diagnose: matches!(cli.command, Command::Doctor(_)),
        connection: cli.connection,
        terminal: Terminal::of_process(cli.json),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(RUNTIME_THREADS)
        .enable_all()
        .build();
    let outcome = match runtime {
        Ok(runtime) => {
            let outcome = runtime.block_on(dispatch(&context, cli.command));
            // A thread that waits for more of our standard input must not keep us.
            runtime.shutdown_background();
            outcome
        }
        Err(source) => Err(Failure::Local {
            what: "start the runtime".to_owned(),
            source,
        }),
    };
    ExitCode::from(outcome.unwrap_or_else(|failure| failure.report(&context.terminal)))
}

async fn dispatch(context: &Context, command: Command) -> Result<u8, Failure> {
    match command {
        Command::Run(args) => run::run(context, &args).await,
        Command::Batch(args) => batch::batch(context, &args).await,
        Command::Grade(args) => grade::grade(context, &args).await,
        Command::Policy(command) => policy::policy(context, command).await,
        Command::Audit(command) => audit::audit(context, command).await,
        Command::Doctor(args) => doctor::doctor(context, &args).await,
        Command::Demo(args) => demo::demo(context, &args).await,
        Command::Bench(command) => bench::bench(context, command).await,
        Command::Compat(command) => compat::compat(context, command).await,
        Command::Mcp(args) => mcp::mcp(context, args).await,
        Command::Ps(args) => ps::ps(context, &args).await,
        Command::Cancel(args) => cancel::cancel(context, &args).await,
        Command::Explain(args) => explain::explain(context, &args).await,
    }
}

#[cfg(test)]
mod tests;
