//! `rollcage run`: one program, live output, the program's own exit code.

pub(super) mod files;
mod program;
mod refusal;
mod request;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use futures::StreamExt;

use super::connection::Session;
use super::failure::{Failure, INTERRUPTED};
use super::signals::Signals;
use super::terminal::ProgramOutput;
use super::units::{self, EnvVar, Put};
use super::{Context, outcome, table};
use crate::client::Client;
use crate::error::ClientError;
use crate::pb;

/// How often a run that no daemon has begun is offered again after "busy" or a daemon that left.
const ATTEMPTS_MAX: u32 = 5;

/// Options of `run`.
#[derive(Debug, Args)]
#[command(
    override_usage = "rollcage run [OPTIONS] FILE [ARGS]...\n       rollcage run [OPTIONS] -- COMMAND [ARGS]...",
    after_help = "\
Examples:
  rollcage run solution.py                        python3, policy `python`
  rollcage run --time 5s --memory 256M main.rs    compiled and run inside the sandbox
  rollcage run --put data/ --get out.csv plot.py  files in, files out
  rollcage run --json -- node -e 'console.log(1)' the whole result as JSON
  echo 2 3 | rollcage run --stdin - add.py        standard input is forwarded only when asked

Options stand before FILE; everything after it belongs to the program."
)]
pub(crate) struct RunArgs {
    /// Policy by name; without it the one of the program's language [see: rollcage policy list].
    #[arg(long, value_name = "NAME")]
    policy: Option<String>,
    /// A policy document (TOML) of your own that extends one you may use.
    #[arg(long, value_name = "FILE", conflicts_with = "policy")]
    policy_file: Option<PathBuf>,
    /// Image by name; the default is the host's own programs, read-only.
    #[arg(long, value_name = "NAME", default_value = "host")]
    image: String,
    /// Put a local file or folder below /workspace; may be repeated.
    #[arg(long, value_name = "SRC[:DEST]", value_parser = units::parse_put)]
    put: Vec<Put>,
    /// Bring files back (path or pattern below /workspace) to --get-to, or with --json in the
    /// result; may be repeated. A pattern brings no hidden name that it does not begin itself.
    #[arg(long, value_name = "PATH")]
    get: Vec<String>,
    /// Folder for what --get brings back.
    #[arg(long, value_name = "DIR", default_value = ".")]
    get_to: PathBuf,
    /// Standard input of the program: a file, or `-` for our own; without it, it is empty.
    #[arg(long, value_name = "FILE")]
    stdin: Option<PathBuf>,
    /// Set an environment variable, or pass ours on; may be repeated.
    #[arg(long, value_name = "NAME[=VALUE]", value_parser = units::parse_env_var)]
    env: Vec<EnvVar>,
    /// Wall-clock limit: 500ms, 10s, 2m.
    #[arg(long, value_name = "TIME", value_parser = units::parse_duration_ms)]
    time: Option<u64>,
    /// CPU time limit of all its processes together.
    #[arg(long, value_name = "TIME", value_parser = units::parse_duration_ms)]
    cpu_time: Option<u64>,
    /// Memory limit: 256M, 2G (powers of 1024).
    #[arg(long, value_name = "SIZE", value_parser = units::parse_size_bytes)]
    memory: Option<u64>,
    /// Most processes and threads at one time.
    #[arg(long, value_name = "N")]
    pids: Option<u64>,
    /// Most bytes in /workspace, /tmp and /dev/shm together.
    #[arg(long, value_name = "SIZE", value_parser = units::parse_size_bytes)]
    disk: Option<u64>,
    /// Most bytes of output; beyond it the run ends.
    #[arg(long, value_name = "SIZE", value_parser = units::parse_size_bytes)]
    output_cap: Option<u64>,
    /// Let the program's escape sequences and control characters act on the terminal; without it
    /// they are shown. Files and pipes always get every byte as it is.
    #[arg(long)]
    raw: bool,
    /// Let the program reach this host through the proxy.
    #[arg(long, value_name = "HOST")]
    allow_host: Vec<String>,
    /// Let the program use a GPU.
    #[arg(long)]
    gpu: bool,
    /// Run in the WebAssembly tier.
    #[arg(long)]
    wasm: bool,
    /// The program's file and its arguments: the language is told by the file's ending, or by its
    /// `#!` line. After `--`: a command of the image and its arguments.
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "FILE [ARGS]"
    )]
    words: Vec<OsString>,
    /// Whether `--` stood before the words, so that they are a command.
    #[arg(skip)]
    is_command: bool,
}

impl RunArgs {
    /// Learns from the whole command line whether `--` stood before the words, which the parser
    /// does not tell.
    pub(crate) fn look_for_separator(&mut self, command_line: &[OsString]) {
        let before = command_line.len().checked_sub(self.words.len() + 1);
        self.is_command = before
            .and_then(|index| command_line.get(index))
            .is_some_and(|word| word == "--");
    }

    /// What stands where FILE should and begins with a dash is an option that we do not have: the
    /// parser takes everything from there on as the program's.
    fn refuse_unknown_option(&self) -> Result<(), Failure> {
        let first = self.words.first().map(|word| word.to_string_lossy());
        match first {
            Some(word) if !self.is_command && word.len() > 1 && word.starts_with('-') => {
                Err(Failure::Usage {
                    message: format!(
                        "{word}: no such option of `run`; see rollcage run --help. A file of this \
                         name is ./{word}"
                    ),
                })
            }
            _ => Ok(()),
        }
    }

    #[cfg(test)]
    pub(crate) fn shown(&self) -> (bool, String) {
        let words: Vec<_> = self
            .words
            .iter()
            .map(|word| word.to_string_lossy())
            .collect();
        (self.is_command, words.join(" "))
    }
}

/// Does it.
pub(crate) async fn run(context: &Context, args: &RunArgs) -> Result<u8, Failure> {
    args.refuse_unknown_option()?;
    let request = request::build(args)?;
    let mut signals = Signals::take()?;
    let mut attempt = 0;
    let result = loop {
        attempt += 1;
        let session = tokio::select! {
            session = Session::open(context) => session?,
            () = signals.next() => return Err(Failure::Interrupted),
        };
        let mut shown = ProgramOutput::new(context.terminal, args.raw);
        let followed = Followed {
            context,
            client: &session.client,
            shown: &mut shown,
        };
        let outcome = followed.follow(request.clone(), &mut signals).await;
        shown.end()?;
        let ended = session.end(&context.terminal).await;
        match outcome {
            Ok(Some(result)) => {
                ended?;
                break result;
            }
            Ok(None) => return Ok(INTERRUPTED),
            Err(Lost { failure, began }) => match pause_before_retry(&failure, began) {
                Some(pause) if attempt < ATTEMPTS_MAX => tokio::select! {
                    () = tokio::time::sleep(pause) => {}
                    () = signals.next() => return Err(Failure::Interrupted),
                },
                _ => return Err(refusal::in_options(failure)),
            },
        }
    };
    finish(context, args, &result)
}

/// A call that gave no result.
struct Lost {
    failure: Failure,
    /// Whether the program may have begun; then it is never run a second time by itself.
    began: bool,
}

/// How long to wait before the same request is offered again, if that can help.
fn pause_before_retry(failure: &Failure, began: bool) -> Option<std::time::Duration> {
    const PAUSE: std::time::Duration = std::time::Duration::from_millis(200);
    const PAUSE_MAX: std::time::Duration = std::time::Duration::from_secs(5);
    match failure {
        _ if began => None,
        Failure::Client(ClientError::Busy(answer)) => {
            Some(answer.retry_after.unwrap_or(PAUSE).min(PAUSE_MAX))
        }
        // The daemon of another command, which ended with it: ours may take its place.
        Failure::Client(ClientError::Fault(answer)) if answer.code == "unavailable" => Some(PAUSE),
        _ => None,
    }
}

/// A run whose events are followed.
struct Followed<'a> {
    context: &'a Context,
    client: &'a Client,
    shown: &'a mut ProgramOutput,
}

impl Followed<'_> {
    /// Shows output as it comes until the result; `None` when it was interrupted twice.
    async fn follow(
        self,
        request: pb::RunRequest,
        signals: &mut Signals,
    ) -> Result<Option<pb::RunResult>, Lost> {
        let mut began = false;
        let early = |failure: ClientError| Lost {
            failure: failure.into(),
            began: false,
        };
        let events = tokio::select! {
            events = self.client.stream(request) => events.map_err(early)?,
            () = signals.next() => return Ok(None),
        };
        let mut events = Box::pin(events);
        let mut run_id = String::new();
        let mut cancelling = false;
        loop {
            let event = tokio::select! {
                event = events.next() => event,
                () = signals.next() => {
                    if cancelling || run_id.is_empty() {
                        return Ok(None);
                    }
                    cancelling = true;
                    self.context.terminal.talk("cancelling; interrupt again to leave at once");
                    let cancelled = self.client.cancel(&run_id).await;
                    cancelled.map_err(|error| Lost { failure: error.into(), began })?;
                    continue;
                }
            };
            let lost = move |failure: Failure| Lost { failure, began };
            let event = event
                .unwrap_or(Err(ClientError::NoResult))
                .map_err(|e| lost(e.into()))?;
            match event.event {
                Some(pb::run_event::Event::Queued(queued)) => run_id = queued.run_id,
                Some(pb::run_event::Event::Started(started)) => {
                    run_id = started.run_id;
                    began = true;
                }
                Some(pb::run_event::Event::Output(output)) => {
                    began = true;
                    show(self.context, self.shown, &output)
                        .map_err(|failure| Lost { failure, began })?;
                }
                Some(pb::run_event::Event::Result(result)) => return Ok(Some(*result)),
                // An event of a newer daemon.
                None => {}
            }
        }
    }
}

fn show(
    context: &Context,
    shown: &mut ProgramOutput,
    output: &pb::RunOutput,
) -> Result<(), Failure> {
    if context.terminal.json {
        return Ok(());
    }
    match output.stream() {
        pb::OutputStream::Stderr => {
            shown.stderr(&output.data);
            Ok(())
        }
        pb::OutputStream::Stdout | pb::OutputStream::Unspecified => shown.stdout(&output.data),
    }
}

fn finish(context: &Context, args: &RunArgs, result: &pb::RunResult) -> Result<u8, Failure> {
    if let Some(fault) = &result.error {
        let failure = ClientError::from(fault.clone()).into();
        return Err(refusal::in_options(failure));
    }
    let ending = outcome::ending_of(result)?;
    if context.terminal.json {
        context.terminal.json_line(&outcome::to_json(result)?)?;
    } else {
        let (asked, hidden) = files::asked_for(&args.get, &result.files);
        files::save(&args.get_to, &asked)?;
        for path in hidden {
            let line = format!(
                "{path} is not written: a hidden name has to be asked for, as in --get {path}"
            );
            context.terminal.talk(&table::one_line(&line));
        }
        for missing in &result.files_missing {
            let line = format!("no {}: {}", missing.path, missing.reason);
            // A program chose the name.
            context.terminal.talk(&table::one_line(&line));
        }
    }
    for line in outcome::explain_lines(&ending, result) {
        context.terminal.talk(&line);
    }
    Ok(outcome::exit_code(&ending))
}
