//! `rollcage explain RUN`: why a run ended as it did, with everything that speaks for it.

use clap::Args;

use super::connection::with_daemon;
use super::failure::Failure;
use super::table::{Align, Table, one_line};
use super::terminal::{Color, Terminal};
use super::units::{show_bytes, show_ms};
use super::when::show_unix_ms;
use super::{Context, outcome};
use crate::pb;

/// Options of `explain`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  rollcage explain RUN           RUN as `rollcage ps --all` shows it
  rollcage explain RUN --json    the whole record with its result")]
pub(crate) struct ExplainArgs {
    /// The run.
    #[arg(value_name = "RUN")]
    run: String,
}

/// Does it.
pub(crate) async fn explain(context: &Context, args: &ExplainArgs) -> Result<u8, Failure> {
    let record = with_daemon(context, async |client| {
        Ok(client.get_run(&args.run).await?)
    })
    .await?;
    let terminal = &context.terminal;
    if terminal.json {
        terminal.json_line(&outcome::to_json(&record)?)?;
        return Ok(0);
    }
    terminal.line(&format!(
        "{} {}, policy {}, asked by {} at {} UTC",
        terminal.paint(Color::Bold, "run"),
        names(&record.run_id, &record.id),
        one_line(&record.policy),
        one_line(&record.principal),
        show_unix_ms(record.submitted_unix_ms)
    ))?;
    match &record.result {
        Some(result) => terminal.text(&text_of(terminal, result)?)?,
        None => terminal.line("it is waiting or running")?,
    }
    Ok(0)
}

/// The run's name and the caller's, which are often one.
fn names(run_id: &str, id: &str) -> String {
    let run_id = one_line(run_id);
    match one_line(id) {
        id if id.is_empty() || id == run_id => run_id,
        id => format!("{run_id} (id {id})"),
    }
}

fn text_of(terminal: &Terminal, result: &pb::RunResult) -> Result<String, Failure> {
    let mut text = String::new();
    let mut add = |name: &str, value: &str| {
        text.push_str(&format!(
            "{} {}\n",
            terminal.paint(Color::Bold, name),
            one_line(value)
        ));
    };
    add("ending:", &outcome::sentence(&outcome::ending_of(result)?));
    if let Some(verdict) = &result.verdict {
        add("verdict:", &verdict_sentence(verdict));
        for test in verdict.tests.iter().filter(|test| test.message.is_some()) {
            add(
                "  test",
                &format!(
                    "{}: {}",
                    test.id,
                    test.message.as_deref().unwrap_or_default()
                ),
            );
        }
        for note in &verdict.tamper {
            add("  tampered with", &format!("{}: {}", note.path, note.what));
        }
    }
    if let Some(usage) = &result.usage {
        add("used:", &usage_sentence(usage));
        add("pressure:", &pressure_sentence(usage.pressure.as_ref()));
    }
    if let Some(contention) = outcome::contention_of(result) {
        let calm = match contention.cpu_waited_ms {
            Some(ms) => format!(
                "none: others kept it from its CPUs for {} only",
                show_ms(ms)
            ),
            None => "this host does not tell whether it was busy".to_owned(),
        };
        add("contention:", &outcome::busy_host(result).unwrap_or(calm));
    }
    for denial in &result.denials {
        add("", outcome::denial_sentence(denial).as_str());
    }
    let weak: Vec<_> = result
        .manifest
        .iter()
        .filter(|row| row.status() == pb::ControlStatus::Degraded)
        .collect();
    let enforced = result
        .manifest
        .iter()
        .filter(|row| row.status() == pb::ControlStatus::Enforced)
        .count();
    add(
        "controls:",
        &format!("{enforced} enforced, {} degraded", weak.len()),
    );
    for row in weak {
        let reason = row.reason.as_deref().unwrap_or("no reason given");
        add("  degraded", &format!("{}: {reason}", row.name));
    }
    if let Some(receipt) = &result.audit {
        add("receipt:", &format!("{}:{}", receipt.seq, receipt.sha256));
    }
    if !result.manifest.is_empty() {
        text.push('\n');
        text.push_str(&manifest_table(&result.manifest).render(terminal.width));
    }
    Ok(text)
}

fn verdict_sentence(verdict: &pb::Verdict) -> String {
    let reward = match verdict.reward {
        Some(reward) => format!("reward {reward}"),
        None => "no reward".to_owned(),
    };
    let name = outcome::outcome_name(verdict.outcome());
    match verdict.reason.as_str() {
        "" => format!("{name}, {reward}"),
        reason => format!("{name}, {reward}: {reason}"),
    }
}

fn usage_sentence(usage: &pb::Usage) -> String {
    let waited = match usage.cpu_waited_ms {
        Some(ms) => format!(" and for {} by others", show_ms(ms)),
        None => String::new(),
    };
    format!(
        "{} wall, {} CPU (held back for {} by its rate{waited}), {} memory, {}, {} in the queue, \
         {} µs to start",
        show_ms(usage.wall_ms),
        show_ms(usage.cpu_user_ms.saturating_add(usage.cpu_system_ms)),
        show_ms(usage.cpu_throttled_ms),
        show_bytes(usage.memory_peak_bytes),
        tasks(usage.pids_peak),
        show_ms(usage.queue_ms),
        usage.start_us
    )
}

fn tasks(count: u64) -> String {
    let word = if count == 1 { "task" } else { "tasks" };
    format!("{count} {word}")
}

/// Time in which some, or all, that could run had to wait.
fn pressure_sentence(pressure: Option<&pb::Pressure>) -> String {
    let Some(pressure) = pressure else {
        return "this host does not tell".to_owned();
    };
    let whose = match pressure.source() {
        pb::PressureSource::Host => "of the whole host",
        _ => "of the sandbox",
    };
    let ms = |us: u64| show_ms(us / 1000);
    format!(
        "{whose}, some and full: CPU {} and {}, memory {} and {}, block devices {} and {}",
        ms(pressure.cpu_some_us),
        ms(pressure.cpu_full_us),
        ms(pressure.memory_some_us),
        ms(pressure.memory_full_us),
        ms(pressure.io_some_us),
        ms(pressure.io_full_us)
    )
}

fn manifest_table(rows: &[pb::ManifestRow]) -> Table {
    let mut table = Table::new(&[
        ("control", Align::Left),
        ("status", Align::Left),
        ("asked", Align::Left),
        ("applied", Align::Left),
    ]);
    for row in rows {
        let status = row
            .status()
            .as_str_name()
            .trim_start_matches("CONTROL_STATUS_")
            .to_ascii_lowercase();
        table.row([
            row.name.clone(),
            status,
            row.asked.clone().unwrap_or_default(),
            row.applied.clone().unwrap_or_default(),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::super::terminal::Acts;
    use super::*;

    #[test]
    fn one_name_is_told_once_and_one_task_is_one() {
        assert_eq!(names("r-1", "r-1"), "r-1");
        assert_eq!(names("r-1", ""), "r-1");
        assert_eq!(names("r-1", "mine"), "r-1 (id mine)");
        assert_eq!(tasks(1), "1 task");
        assert_eq!(tasks(2), "2 tasks");
    }

    #[test]
    fn everything_that_matters_is_told() {
        let terminal = Terminal {
            json: false,
            moving: false,
            color: false,
            width: None,
            acts: Acts::default(),
        };
        let result = pb::RunResult {
            ending: Some(pb::Ending {
                kind: pb::EndingKind::Exited.into(),
                code: Some(3),
                ..pb::Ending::default()
            }),
            verdict: Some(pb::Verdict {
                outcome: pb::Outcome::Failed.into(),
                reward: Some(0.0),
                reason: "1 of 1 tests failed".into(),
                ..pb::Verdict::default()
            }),
            manifest: vec![pb::ManifestRow {
                name: "seccomp".into(),
                status: pb::ControlStatus::Degraded.into(),
                reason: Some("too old".into()),
                ..pb::ManifestRow::default()
            }],
            usage: Some(pb::Usage {
                cpu_throttled_ms: 30,
                ..pb::Usage::default()
            }),
            audit: Some(pb::AuditReceipt {
                seq: 7,
                sha256: "ab".into(),
            }),
            ..pb::RunResult::default()
        };
        let text = text_of(&terminal, &result).unwrap();
        for wanted in [
            "it exited with code 3",
            "failed, reward 0: 1 of 1 tests failed",
            "0 enforced, 1 degraded",
            "seccomp: too old",
            "receipt: 7:ab",
            "held back for 30 ms by its rate)",
            "pressure: this host does not tell",
        ] {
            assert!(text.contains(wanted), "{wanted}: {text}");
        }
    }

    #[test]
    fn a_busy_host_is_told_and_a_calm_one_is_not_blamed() {
        let terminal = Terminal {
            json: false,
            moving: false,
            color: false,
            width: None,
            acts: Default::default(),
        };
        let with = |host_busy, cpu_waited_ms| {
            let contention = pb::Contention {
                host_busy,
                cpu_ms: 900,
                cpu_share_ms: 4000,
                cpu_waited_ms,
                source: Some(pb::PressureSource::Sandbox.into()),
                rerun_alone: false,
            };
            let result = pb::RunResult {
                ending: Some(pb::Ending {
                    kind: pb::EndingKind::WallTimeUp.into(),
                    limit_ms: Some(4000),
                    used_ms: Some(4001),
                    throttled_ms: Some(0),
                    ..pb::Ending::default()
                }),
                verdict: Some(pb::Verdict {
                    outcome: pb::Outcome::Timeout.into(),
                    evidence: Some(pb::Evidence {
                        contention: Some(contention),
                        ..pb::Evidence::default()
                    }),
                    ..pb::Verdict::default()
                }),
                ..pb::RunResult::default()
            };
            text_of(&terminal, &result).unwrap()
        };
        let busy = with(true, Some(3000));
        assert!(busy.contains("contention: the host was busy"), "{busy}");
        assert!(busy.contains("got no CPU for 3.0 s"), "{busy}");
        assert!(with(false, Some(2)).contains("contention: none"));
        assert!(with(false, None).contains("does not tell whether it was busy"));
    }
}
