//! One program in one fresh sandbox: pipes, launch, supervision, captured output.
//!
//! It never fails: a fault of ours is part of what became known. How the program ended is
//! decided in [`super::conclude`].

use std::os::fd::OwnedFd;
use std::time::Duration;

use confine::plan::Plan;
use confine::wire::{CollectedFile, SpawnSpec};
use policies::EffectiveLimits;
use tokio::net::unix::pipe;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use verdict::ending::SandboxFault;

use super::cancel::Cancel;
use super::collect::{self, Wanted};
use super::facts::Facts;
use super::launcher_link::LauncherLink;
use super::request::{Captured, Event, InputFile, OutputStream};
use super::sandbox::{Sandbox, StartFault, Stdio};
use super::streams::{
    Capture, OutputTotal, Tell, Way, drain, feed, input_pipe, openable, output_pipe,
};
use super::supervise::{CpuBudget, Signals, supervise};
use super::watch::{Input, Watch, WatchLimits};

/// How long a slow consumer of live events may take after the program's end.
const TELL_MAX: Duration = Duration::from_secs(5);
/// How long a pipe without a writer may take to show its end.
const CUT_MAX: Duration = Duration::from_secs(2);

/// What to run.
#[derive(Debug)]
pub(crate) struct Program<'a> {
    /// Name of the sandbox.
    pub sandbox_id: String,
    /// What the sandbox is to be.
    pub plan: &'a Plan,
    /// Limits that the daemon enforces.
    pub limits: &'a EffectiveLimits,
    /// Files below `/workspace`.
    pub files: &'a [InputFile],
    /// The command.
    pub spec: SpawnSpec,
    /// Standard input; `None` = at end of file.
    pub stdin: Option<Vec<u8>>,
    /// Descriptors 3, 4, ...
    pub extra: Vec<OwnedFd>,
    /// Sandboxes of one group take turns and share their CPUs; see [`LauncherLink::next_group`].
    pub group: Option<u64>,
    /// Patterns of files to collect when it is over.
    pub collect: &'a [String],
    /// Whether the launcher is to look at it: a self-test.
    pub inspect: bool,
}

/// Who follows it, and who may end it.
#[derive(Debug, Clone)]
pub(crate) struct Outside {
    /// Live events, if somebody wants them.
    pub events: Option<mpsc::Sender<Event>>,
    /// Cancels the run.
    pub cancel: Cancel,
    /// When the request's own time is up.
    pub deadline: Option<Instant>,
    /// Ends the sandbox when nobody needs it any more.
    pub release: CancellationToken,
}

impl Outside {
    /// The same without live events.
    pub(crate) fn quiet(&self) -> Self {
        Self {
            events: None,
            ..self.clone()
        }
    }

    /// The same for a solution that its judge may release, with live events if `told`.
    pub(crate) fn for_solution(&self, told: bool) -> Self {
        Self {
            events: self.events.clone().filter(|_| told),
            release: CancellationToken::new(),
            ..self.clone()
        }
    }
}

/// What became of it.
#[derive(Debug)]
pub(crate) struct Ran {
    /// The sandbox.
    pub sandbox_id: String,
    /// What is known of it.
    pub facts: Facts,
    /// Descriptor 1.
    pub stdout: Captured,
    /// Descriptor 2.
    pub stderr: Captured,
    /// Files it left that were asked for.
    pub files: Vec<CollectedFile>,
}

impl Ran {
    /// A program that was never asked for.
    pub(crate) fn never() -> Self {
        let nothing = || Capture::new(0).finish();
        Self {
            sandbox_id: String::new(),
            facts: Facts::default(),
            stdout: nothing(),
            stderr: nothing(),
            files: Vec::new(),
        }
    }

    fn not_at_all(sandbox_id: String, fault: StartFault) -> Self {
        let mut ran = Self::never();
        ran.sandbox_id = sandbox_id;
        ran.facts.fault = Some(fault.into());
        ran
    }
}

/// Our ends of the program's pipes.
struct Pipes {
    stdin: pipe::Sender,
    stdout: pipe::Receiver,
    stderr: pipe::Receiver,
}

/// Runs it to its end. On return no process of it is left.
pub(crate) async fn run_program(
    link: &LauncherLink,
    program: Program<'_>,
    outside: Outside,
) -> Ran {
    run_leaving(link, program, outside, Wanted::Asked).await
}

/// The same, with a choice of what is taken out of its sandbox.
pub(crate) async fn run_leaving(
    link: &LauncherLink,
    program: Program<'_>,
    outside: Outside,
    wanted: Wanted,
) -> Ran {
    let sandbox_id = program.sandbox_id.clone();
    let made = make_pipes(program.extra).and_then(|made| {
        let collect = collect::begin(program.collect, program.limits, wanted)?;
        Ok((made, collect))
    });
    let ((pipes, stdio), collect) = match made {
        Ok(made) => made,
        Err(error) => return Ran::not_at_all(sandbox_id, StartFault::Pipe(error)),
    };
    let (collect, collecting) = collect.unzip();
    let sandbox = match Sandbox::open(link, &sandbox_id, program.plan, program.group).await {
        Ok(sandbox) => sandbox,
        Err(fault) => return Ran::not_at_all(sandbox_id, fault),
    };
    let limits = program.limits;
    let cpu = CpuBudget {
        us: limits.cpu_ms_max.saturating_mul(1000),
        millicores: limits.cpu_millicores_max,
    };
    let watch_limits = WatchLimits {
        wall: Duration::from_millis(limits.wall_ms_max),
        cpu_us: cpu.us,
    };
    let mut watch = Watch::new(watch_limits, collect.is_some()).inspecting(program.inspect);
    let signals = Signals {
        cancel: outside.cancel,
        release: outside.release,
        deadline: outside.deadline,
        output: OutputTotal::new(limits.output_bytes_total_max),
        started: CancellationToken::new(),
    };
    let drains = Drains::start(
        pipes,
        program.stdin,
        limits,
        &signals,
        (&sandbox_id, outside.events),
    );
    if let Err(fault) = instruct(
        &sandbox,
        program.files,
        &program.spec,
        stdio,
        collect.is_none(),
    )
    .await
        && !fault.is_hangup()
    {
        watch.on(Input::Fault(fault.into()), sandbox.opened_at().elapsed());
    }
    let mut facts = supervise(sandbox, watch, &signals, cpu, collect).await;
    let (stdout, stderr) = drains.finish(&mut facts).await;
    let files = match collecting {
        Some(collecting) => collect::finish(collecting, &mut facts.problems).await,
        None => Vec::new(),
    };
    Ran {
        sandbox_id,
        facts,
        stdout,
        stderr,
        files,
    }
}

fn make_pipes(extra: Vec<OwnedFd>) -> std::io::Result<(Pipes, Stdio)> {
    let (our_stdin, stdin) = input_pipe()?;
    let (our_stdout, stdout) = output_pipe()?;
    let (our_stderr, stderr) = output_pipe()?;
    let pipes = Pipes {
        stdin: our_stdin,
        stdout: our_stdout,
        stderr: our_stderr,
    };
    let stdio = Stdio {
        stdin: openable(stdin, Way::In)?,
        stdout: openable(stdout, Way::Out)?,
        stderr: openable(stderr, Way::Out)?,
        extra,
    };
    Ok((pipes, stdio))
}

/// Everything init has to do, sent at once.
async fn instruct(
    sandbox: &Sandbox,
    files: &[InputFile],
    spec: &SpawnSpec,
    stdio: Stdio,
    last: bool,
) -> Result<(), StartFault> {
    if !files.is_empty() {
        sandbox.stage(files).await?;
    }
    sandbox.spawn(spec, stdio, last).await
}

type Drained = (Captured, std::io::Result<()>);

/// The tasks at our ends of the pipes.
struct Drains {
    stdout: JoinHandle<Drained>,
    stderr: JoinHandle<Drained>,
    stdin: Option<JoinHandle<()>>,
    hurry: CancellationToken,
    cut: CancellationToken,
}

impl Drains {
    fn start(
        pipes: Pipes,
        stdin: Option<Vec<u8>>,
        limits: &EffectiveLimits,
        signals: &Signals,
        (sandbox_id, events): (&str, Option<mpsc::Sender<Event>>),
    ) -> Self {
        let hurry = CancellationToken::new();
        let cut = CancellationToken::new();
        // Output is read from the first byte; it is only told after the start has been told.
        let told = CancellationToken::new();
        let started = Event::Started {
            sandbox_id: sandbox_id.to_owned(),
        };
        let gate = signals.started.clone();
        tokio::spawn(tell_start(
            gate,
            told.clone(),
            events.clone(),
            started,
            hurry.clone(),
        ));
        let stream = |receiver, stream| {
            let capture = Capture::new(limits.output_bytes_max);
            let tell = Tell {
                stream,
                events: events.clone(),
                hurry: hurry.clone(),
            };
            let (total, cut, told) = (signals.output.clone(), cut.clone(), told.clone());
            tokio::spawn(async move {
                told.cancelled().await;
                drain(receiver, capture, total, tell, cut).await
            })
        };
        Self {
            stdout: stream(pipes.stdout, OutputStream::Stdout),
            stderr: stream(pipes.stderr, OutputStream::Stderr),
            // Without content our end is closed here, which puts the program's at end of file.
            stdin: stdin.map(|bytes| tokio::spawn(feed(pipes.stdin, bytes))),
            hurry,
            cut,
        }
    }

    /// Waits for the ends of both streams; to be called when no process is left.
    async fn finish(mut self, facts: &mut Facts) -> (Captured, Captured) {
        if let Some(stdin) = &self.stdin {
            stdin.abort();
        }
        let (hurry, cut) = (self.hurry.clone(), self.cut.clone());
        let hasten = tokio::spawn(async move {
            tokio::time::sleep(TELL_MAX).await;
            hurry.cancel();
            tokio::time::sleep(CUT_MAX).await;
            cut.cancel();
        });
        let (stdout, stderr) = tokio::join!(&mut self.stdout, &mut self.stderr);
        hasten.abort();
        (
            taken(stdout, "stdout", facts),
            taken(stderr, "stderr", facts),
        )
    }
}

async fn tell_start(
    started: CancellationToken,
    told: CancellationToken,
    events: Option<mpsc::Sender<Event>>,
    event: Event,
    hurry: CancellationToken,
) {
    let _told = told.drop_guard();
    started.cancelled().await;
    if let Some(events) = events {
        tokio::select! {
            sent = events.send(event) => if sent.is_err() {
                tracing::debug!("nobody listens to live events any more");
            },
            () = hurry.cancelled() => {}
        }
    }
}

fn taken(
    drained: Result<Drained, tokio::task::JoinError>,
    stream: &str,
    facts: &mut Facts,
) -> Captured {
    let (captured, reason) = match drained {
        Ok((captured, Ok(()))) => return captured,
        Ok((captured, Err(error))) => (captured, error.to_string()),
        Err(error) => (Captured::default(), error.to_string()),
    };
    facts.fault.get_or_insert(SandboxFault {
        step: stream.to_owned(),
        reason: format!("the stream could not be read to its end: {reason}"),
    });
    captured
}
