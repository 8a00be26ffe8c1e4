//! `rollcage demo`: the main job in a minute. A batch of little tasks, some of them hostile, each
//! with the ending and verdict it must have; then the audit log that came of it, verified.

mod tasks;

use std::collections::HashMap;
use std::time::Instant;

use clap::Args;
use futures::StreamExt;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};
use serde_json::{Value, json};

use super::audit::verify::{VerifyArgs, check};
use super::connection::{Session, with_session};
use super::failure::{Failure, NEGATIVE};
use super::table::{Align, Table, cut, one_line};
use super::terminal::{Color, Terminal};
use super::units::show_ms;
use super::{Context, audit, batch, outcome};
use crate::error::ClientError;
use crate::pb;
use tasks::Task;

/// Options of `demo`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  rollcage demo
  rollcage demo --json | jq '.tasks[] | select(.as_expected | not)'

Exit code 1 if a result differs from the one its task must have, or if the audit log does not hold.")]
pub(crate) struct DemoArgs {
    /// Only tasks whose id contains this.
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true
    )]
    only: String,
}

/// Width of the table where there is no terminal.
const WIDTH: usize = 120;

/// What came of it.
struct Outcome {
    rows: Vec<Row>,
    log: Log,
    wall_ms: u64,
}

struct Row {
    task: Task,
    result: pb::RunResult,
    as_expected: bool,
}

/// What verification of the log found.
struct Log {
    holds: bool,
    text: String,
    document: Value,
}

/// Does it.
pub(crate) async fn demo(context: &Context, args: &DemoArgs) -> Result<u8, Failure> {
    let mut chosen = tasks::all()?;
    chosen.retain(|task| task.request.id.contains(&args.only));
    if chosen.is_empty() {
        return Err(Failure::Usage {
            message: format!("no task has `{}` in its id", args.only),
        });
    }
    with_session(context, async |session| {
        let outcome = run(context, session, chosen).await?;
        report(&context.terminal, &outcome)
    })
    .await
}

async fn run(context: &Context, session: &Session, chosen: Vec<Task>) -> Result<Outcome, Failure> {
    let started = Instant::now();
    let bar = bar(&context.terminal, chosen.len());
    let requests = chosen.iter().map(|task| task.request.clone()).collect();
    let mut results = Box::pin(batch::run_all(&session.client, requests).await?);
    let mut by_id = HashMap::new();
    while let Some(result) = results.next().await {
        let result = result?;
        bar.set_message(format!("{} {}", result.id, outcome::label(&result)));
        bar.inc(1);
        by_id.insert(result.id.clone(), result);
    }
    bar.finish_and_clear();
    let mut rows = Vec::new();
    for task in chosen {
        let result = by_id
            .remove(&task.request.id)
            .ok_or(ClientError::NoResult)?;
        let as_expected = task.expect.fits(&result);
        rows.push(Row {
            task,
            result,
            as_expected,
        });
    }
    let log = verify_log(context, session, &rows).await?;
    let wall_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    Ok(Outcome { rows, log, wall_ms })
}

fn bar(terminal: &Terminal, tasks: usize) -> ProgressBar {
    if !terminal.moving {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(u64::try_from(tasks).unwrap_or(0));
    bar.set_draw_target(ProgressDrawTarget::stderr());
    // A template that could not be read would only cost the looks.
    match ProgressStyle::with_template("{bar:30} {pos}/{len}  {wide_msg}") {
        Ok(style) => bar.with_style(style).with_finish(ProgressFinish::AndClear),
        Err(_unreadable) => bar,
    }
}

/// Verifies the log: by ourselves where its files are ours to read, with a receipt for each result;
/// else by the daemon.
async fn verify_log(context: &Context, session: &Session, rows: &[Row]) -> Result<Log, Failure> {
    session.client.checkpoint_audit().await?;
    let receipts: Vec<(u64, String)> = rows
        .iter()
        .filter_map(|row| row.result.audit.as_ref())
        .map(|receipt| (receipt.seq, receipt.sha256.clone()))
        .collect();
    if !session.has_our_state_dir {
        let reply = session.client.verify_audit().await?;
        let text = if reply.ok {
            format!(
                "the daemon says that its log of {} records holds",
                reply.records
            )
        } else {
            reply.problem.clone()
        };
        return Ok(Log {
            holds: reply.ok,
            text,
            document: outcome::to_json(&reply)?,
        });
    }
    let args = VerifyArgs::with_receipts(&receipts)?;
    let (report, _key_beside) = check(&audit::log_folder(context), &args)?;
    let text = match report.findings.iter().find(|_| !report.holds()) {
        Some(finding) => finding.message.clone(),
        None => format!(
            "{} records verified offline, {} of {} receipts found in them, signed to record {}",
            report.records,
            report.receipts_found,
            receipts.len(),
            report.complete_to_seq
        ),
    };
    let document = serde_json::to_value(&report).map_err(|error| Failure::Answer {
        what: error.to_string(),
    })?;
    Ok(Log {
        holds: report.holds(),
        text,
        document,
    })
}

fn report(terminal: &Terminal, outcome: &Outcome) -> Result<u8, Failure> {
    let differing = outcome.rows.iter().filter(|row| !row.as_expected).count();
    let code = if differing == 0 && outcome.log.holds {
        0
    } else {
        NEGATIVE
    };
    if terminal.json {
        let tasks = outcome
            .rows
            .iter()
            .map(Row::to_json)
            .collect::<Result<Vec<_>, _>>()?;
        terminal.json_line(&json!({
            "as_expected": outcome.rows.len() - differing,
            "tasks": tasks,
            "audit": {"holds": outcome.log.holds, "report": outcome.log.document},
            "wall_ms": outcome.wall_ms,
        }))?;
        return Ok(code);
    }
    let width = terminal.width.unwrap_or(WIDTH);
    let table = table_of(&outcome.rows).render(Some(width));
    for line in table.lines() {
        terminal.line(&painted(terminal, line))?;
    }
    terminal.line("")?;
    let (color, state) = if outcome.log.holds {
        (Color::Green, "holds")
    } else {
        (Color::Red, "does NOT hold")
    };
    terminal.line(&format!(
        "audit log {}: {}",
        terminal.paint(color, state),
        one_line(&outcome.log.text)
    ))?;
    let hostile = outcome.rows.iter().filter(|row| row.task.hostile).count();
    let total = outcome.rows.len();
    let color = if differing == 0 {
        Color::Green
    } else {
        Color::Red
    };
    let count = format!("{} of {total} as expected", total - differing);
    terminal.line(&format!(
        "{}, {hostile} of them hostile, in {}",
        terminal.paint(color, &count),
        show_ms(outcome.wall_ms)
    ))?;
    Ok(code)
}

/// The first word of a row in colour.
fn painted(terminal: &Terminal, line: &str) -> String {
    for (word, color) in [("ok", Color::Green), ("DIFFERS", Color::Red)] {
        if let Some(rest) = line.strip_prefix(word) {
            return format!("{}{rest}", terminal.paint(color, word));
        }
    }
    terminal.paint(Color::Bold, line)
}

fn table_of(rows: &[Row]) -> Table {
    let mut table = Table::new(&[
        ("", Align::Left),
        ("task", Align::Left),
        ("ending", Align::Left),
        ("outcome", Align::Left),
        ("reward", Align::Right),
        ("wall ms", Align::Right),
        ("why", Align::Left),
    ]);
    for row in rows {
        let verdict = row.result.verdict.clone().unwrap_or_default();
        let reward = verdict
            .reward
            .map_or_else(|| "none".to_owned(), |reward| reward.to_string());
        let wall = row.result.usage.as_ref().map_or(0, |usage| usage.wall_ms);
        let state = if row.as_expected { "ok" } else { "DIFFERS" };
        table.row([
            state.to_owned(),
            row.task.request.id.clone(),
            outcome::ending_name(&row.result),
            outcome::outcome_name(verdict.outcome()),
            reward,
            wall.to_string(),
            cut(&row.why(), WIDTH),
        ]);
    }
    table
}

impl Row {
    fn why(&self) -> String {
        if !self.as_expected {
            return format!("expected {}; {}", self.task.expect.text(), self.reason());
        }
        match self.result.verdict.as_ref().map(pb::Verdict::outcome) {
            Some(pb::Outcome::Passed) => self.task.shows.clone(),
            _ => format!("{}: {}", self.task.shows, self.reason()),
        }
    }

    fn reason(&self) -> String {
        if let Some(fault) = &self.result.error {
            return fault.message.clone();
        }
        match self
            .result
            .verdict
            .as_ref()
            .map(|verdict| verdict.reason.as_str())
        {
            Some(reason) if !reason.is_empty() => reason.to_owned(),
            _ => match outcome::ending_of(&self.result) {
                Ok(ending) => outcome::sentence(&ending),
                Err(failure) => failure.to_string(),
            },
        }
    }

    fn to_json(&self) -> Result<Value, Failure> {
        Ok(json!({
            "id": self.task.request.id,
            "shows": self.task.shows,
            "hostile": self.task.hostile,
            "as_expected": self.as_expected,
            "expected": self.task.expect,
            "result": outcome::to_json(&self.result)?,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_that_differs_says_what_was_expected() {
        let mut tasks = tasks::all().unwrap();
        tasks.retain(|task| ["gcd-right", "fork-bomb"].contains(&task.request.id.as_str()));
        let rows: Vec<Row> = tasks
            .into_iter()
            .map(|task| {
                let result = pb::RunResult {
                    ending: Some(pb::Ending {
                        kind: pb::EndingKind::Exited.into(),
                        code: Some(0),
                        ..pb::Ending::default()
                    }),
                    verdict: Some(pb::Verdict {
                        outcome: pb::Outcome::Passed.into(),
                        reward: Some(1.0),
                        ..pb::Verdict::default()
                    }),
                    ..pb::RunResult::default()
                };
                let as_expected = task.expect.fits(&result);
                Row {
                    task,
                    result,
                    as_expected,
                }
            })
            .collect();
        let text = table_of(&rows).render(Some(WIDTH));
        let lines: Vec<&str> = text.lines().collect();
        assert!(
            lines[1].starts_with("ok ") && lines[1].ends_with("a right solution"),
            "{text}"
        );
        assert!(lines[2].starts_with("DIFFERS"), "{text}");
        assert!(
            lines[2].contains("expected pids_up, failed or policy_violation"),
            "{text}"
        );
        let column = lines[0].find("ending").unwrap();
        assert!(
            lines[1..]
                .iter()
                .all(|line| line[column..].starts_with("exited")),
            "{text}"
        );
    }
}
