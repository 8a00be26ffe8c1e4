//! One subject through the battery: ordinary runs of the engine, whose output is judged.
//!
//! What a run prints is an allegation of a program in a sandbox; it is parsed and bounded by
//! [`probe::parse`]. What its program cannot see, pid 1 and the launcher tell. A run that did not
//! come to its end proves nothing.

use std::collections::BTreeMap;

use confine::plan::OwnProgram;
use confine::wire::Fact;
use probe::{
    BATTERY, Expectation, Finding, Judged, MISSING, ParseError, RESULT_BYTES_MAX, Row, expected,
    judge, judge_row, judge_witnessed,
};
use verdict::Ending;

use super::outcome::Proof;
use super::subject::Subject;
use crate::run::beyond;
use crate::run::cancel::Cancel;
use crate::run::request::{Caller, Captured, Request, RunError, RunResult};
use crate::run::{Engine, SELF_TEST_PRINCIPAL};
use crate::store::unix_ms;

/// Tries of one run: the host may have been short of something for a moment.
const TRIES_MAX: u32 = 3;
/// Longest wait for a place and the run's end, in milliseconds.
const DEADLINE_MS: u64 = 300_000;
/// Before all others of a tenant of its own.
const PRIORITY: i32 = 1000;
/// The row about what the launcher refuses, which takes no sandbox.
const CEILINGS: &str = "host:ceilings";
/// Bytes of the probe's own complaints that are told.
const COMPLAINT_BYTES_MAX: usize = 400;

/// Why a battery was not carried through.
#[derive(Debug, thiserror::Error)]
pub(super) enum BatteryFault {
    /// A run was refused, or the daemon cannot run anything.
    #[error("one of its runs")]
    Run(#[source] RunError),
    /// Nothing ran, tried again.
    #[error("{why}")]
    NotRun { why: String },
    /// No id for a run.
    #[error("no random bytes for a run id")]
    RunId(#[source] std::io::Error),
    /// The program did not come to its end.
    #[error("its run ended as {how}{complaint}")]
    Ended { how: String, complaint: String },
    /// More output than it has.
    #[error("it printed {bytes} bytes, more than a battery has")]
    TooLong { bytes: u64 },
    /// Other output than it has.
    #[error("its output cannot be read{complaint}")]
    Unreadable {
        complaint: String,
        #[source]
        source: ParseError,
    },
}

impl BatteryFault {
    /// Whether the probe itself ended otherwise than it should. Else it never came to an answer,
    /// which says nothing about the confinement.
    pub(super) fn is_answer(&self) -> bool {
        match self {
            Self::Run(_) | Self::NotRun { .. } | Self::RunId(_) => false,
            Self::Ended { .. } | Self::TooLong { .. } | Self::Unreadable { .. } => true,
        }
    }
}

/// All rows of the battery, judged.
///
/// # Errors
/// Why it could not be carried through.
pub(super) async fn run(engine: &Engine, subject: &Subject) -> Result<Vec<Judged>, BatteryFault> {
    let (result, mut rows) = whole(engine, subject).await?;
    for row in BATTERY.iter().filter(|row| row.alone) {
        rows.push(alone(engine, subject, row).await?);
    }
    let mut seen: Vec<Finding> = result.witnessed.iter().map(seen).collect();
    let mut witnessed = Vec::new();
    for _try in 1..TRIES_MAX {
        if !is_unseen(&seen, subject) {
            break;
        }
        // Its pid 1 was gone before the launcher came to look: a busy host, a short battery.
        let (again, again_rows) = whole(engine, subject).await?;
        keep_wrong(&mut rows, &again_rows, |_row| true);
        witnessed.push(judge_witnessed(&seen, &subject.setting));
        seen = again.witnessed.iter().map(self::seen).collect();
    }
    let id = format!("{}-beyond", result.sandbox_id);
    let word = beyond::ask(engine.launcher(), &id, &subject.plan).await;
    seen.push(Finding {
        name: CEILINGS.to_owned(),
        result: word.to_owned(),
    });
    let mut last = judge_witnessed(&seen, &subject.setting);
    for before in witnessed {
        keep_wrong(&mut last, &before, |row| !is_blind(row));
    }
    rows.extend(last);
    Ok(rows)
}

/// The battery once, judged.
async fn whole(
    engine: &Engine,
    subject: &Subject,
) -> Result<(RunResult, Vec<Judged>), BatteryFault> {
    let result = one(engine, subject, None).await?;
    let findings = findings(&result)?;
    let rows = judge(&findings, &subject.setting);
    let ended = result.ending == (Ending::Exited { code: 0 });
    // One that a row has ended says by what it did not tell which one that was.
    let row_missing = rows.iter().any(|row| row.right == Some(false));
    if !ended && (findings.is_empty() || !row_missing) {
        return Err(BatteryFault::Ended {
            how: in_words(&result.ending),
            complaint: complaint(&result.stderr),
        });
    }
    Ok((result, rows))
}

/// What was wrong once is wrong, whatever another try came to.
fn keep_wrong(rows: &mut [Judged], other: &[Judged], counts: impl Fn(&Judged) -> bool) {
    for row in rows {
        let same = |one: &&Judged| one.name == row.name && one.right == Some(false);
        if row.right == Some(true)
            && let Some(wrong) = other.iter().find(same)
            && counts(wrong)
        {
            row.clone_from(wrong);
        }
    }
}

/// Whether a row tells that something could not be looked at.
fn is_blind(row: &Judged) -> bool {
    const UNKNOWN: &str = "unknown";
    row.right == Some(false) && (row.found == UNKNOWN || row.found == MISSING)
}

/// Whether something that should be seen from outside of the program could not be looked at.
fn is_unseen(seen: &[Finding], subject: &Subject) -> bool {
    let rows = judge_witnessed(seen, &subject.setting);
    rows.iter().filter(|row| row.name != CEILINGS).any(is_blind)
}

/// What was seen from outside of the program, in the form of what a program finds.
fn seen(fact: &Fact) -> Finding {
    let plain = |byte: u8| byte.is_ascii_graphic() || byte == b' ';
    let is_plain = fact.found.len() <= RESULT_BYTES_MAX && fact.found.bytes().all(plain);
    Finding {
        name: fact.name.clone(),
        result: if is_plain {
            fact.found.clone()
        } else {
            "strange".to_owned()
        },
    }
}

/// A row that may end its run: where it left no line, the way the run ended is the answer.
async fn alone(engine: &Engine, subject: &Subject, row: &Row) -> Result<Judged, BatteryFault> {
    if let Expectation::NotAsked(_) = expected(row, &subject.setting) {
        return Ok(judge_row(row, None, &subject.setting));
    }
    let result = one(engine, subject, Some(row.name)).await?;
    let findings = findings(&result)?;
    let told = findings.iter().find(|finding| finding.name == row.name);
    let found = match told {
        Some(finding) => finding.result.clone(),
        None => result.ending.kind().to_owned(),
    };
    Ok(judge_row(row, Some(&found), &subject.setting))
}

async fn one(
    engine: &Engine,
    subject: &Subject,
    row: Option<&str>,
) -> Result<RunResult, BatteryFault> {
    let mut last = String::new();
    for _try in 0..TRIES_MAX {
        let request = request(subject, row)?;
        match engine.run(request, None, Cancel::new()).await {
            Ok(result) => match &result.ending {
                Ending::SandboxFailed { step, reason } => {
                    last = format!("the sandbox failed at {step}: {reason}");
                }
                Ending::Cancelled { by } => last = format!("its run was cancelled by {by}"),
                _ => return Ok(result),
            },
            Err(error) => return Err(BatteryFault::Run(error)),
        }
        tracing::info!(
            policy = subject.policy.name,
            why = last,
            "a probe did not run"
        );
    }
    Err(BatteryFault::NotRun { why: last })
}

fn request(subject: &Subject, row: Option<&str>) -> Result<Request, BatteryFault> {
    let run_id = crate::run_id::new(unix_ms()).map_err(BatteryFault::RunId)?;
    let what = row.unwrap_or("battery");
    let mut argv = vec![OwnProgram::Probe.path().as_bytes().to_vec()];
    argv.extend(row.map(|_| b"row".to_vec()));
    argv.extend(row.map(|row| row.as_bytes().to_vec()));
    Ok(Request {
        id: format!("self-test/{}/{what}", subject.policy.name),
        run_id,
        caller: Caller {
            principal: SELF_TEST_PRINCIPAL.to_owned(),
            tenant: SELF_TEST_PRINCIPAL.to_owned(),
        },
        policy: std::sync::Arc::clone(&subject.policy),
        policy_sha256: subject.policy_sha256.clone(),
        image: "host".to_owned(),
        files: Vec::new(),
        argv,
        env: BTreeMap::new(),
        cwd: String::new(),
        stdin: None,
        limits: subject.limits,
        collect: Vec::new(),
        verify: None,
        static_check: verdict::StaticCheck::None,
        group: "self-test".to_owned(),
        priority: PRIORITY,
        deadline_ms: DEADLINE_MS,
        labels: BTreeMap::from([("self_test".to_owned(), what.to_owned())]),
        traceparent: None,
        retries_infra: false,
        probe: true,
        proof: Proof::None,
    })
}

fn findings(result: &RunResult) -> Result<Vec<Finding>, BatteryFault> {
    if result.stdout.dropped_bytes > 0 {
        let bytes = result.stdout.total_bytes;
        return Err(BatteryFault::TooLong { bytes });
    }
    probe::parse(&result.stdout.kept).map_err(|source| BatteryFault::Unreadable {
        complaint: complaint(&result.stderr),
        source,
    })
}

/// How a run ended, in words.
fn in_words(ending: &Ending) -> String {
    match ending {
        Ending::Exited { code } => format!("exited with code {code}"),
        Ending::Signalled { signal, .. } => format!("signalled, {signal}"),
        Ending::NotStarted { code, path, reason } => {
            format!("not_started, code {code}: {path}: {reason}")
        }
        other => other.kind().to_owned(),
    }
}

/// What it said on standard error, made safe to show.
fn complaint(stderr: &Captured) -> String {
    let said = stderr.kept.get(..COMPLAINT_BYTES_MAX);
    let said = said.unwrap_or(&stderr.kept);
    let text: String = String::from_utf8_lossy(said)
        .trim()
        .chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect();
    if text.is_empty() {
        text
    } else {
        format!("; it said: {text}")
    }
}

#[cfg(test)]
mod tests;
