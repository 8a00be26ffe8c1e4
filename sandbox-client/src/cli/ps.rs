//! `rollcage ps`: runs, latest first.

use clap::Args;
use serde_json::json;

use super::connection::with_daemon;
use super::failure::Failure;
use super::table::{Align, Table};
use super::when::show_unix_ms;
use super::{Context, outcome};
use crate::pb;

/// Options of `ps`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  rollcage ps                 runs that are waiting or running
  rollcage ps --all -n 20     finished ones too
  rollcage ps --all --group prompt-7 --json")]
pub(crate) struct PsArgs {
    /// Finished runs too.
    #[arg(long, short)]
    all: bool,
    /// At most this many.
    #[arg(short = 'n', long = "count", value_name = "N", default_value_t = 100,
          value_parser = clap::value_parser!(u32).range(1..=1000))]
    count: u32,
    /// Only runs of this group.
    #[arg(
        long,
        value_name = "GROUP",
        default_value = "",
        hide_default_value = true
    )]
    group: String,
}

/// Does it.
pub(crate) async fn ps(context: &Context, args: &PsArgs) -> Result<u8, Failure> {
    let state = if args.all {
        pb::RunState::Unspecified
    } else {
        pb::RunState::Active
    };
    let request = pb::ListRunsRequest {
        page_size: args.count,
        group: args.group.clone(),
        state: state.into(),
        ..pb::ListRunsRequest::default()
    };
    let runs = with_daemon(context, async |client| {
        Ok(client.list_runs(request).await?)
    })
    .await?
    .runs;
    let terminal = &context.terminal;
    if terminal.json {
        let all: Vec<_> = runs
            .iter()
            .map(outcome::to_json)
            .collect::<Result<_, _>>()?;
        terminal.json_line(&json!(all))?;
        return Ok(0);
    }
    if runs.is_empty() {
        let kind = if args.all {
            "runs"
        } else {
            "runs at present; finished ones: --all"
        };
        terminal.talk(&format!("no {kind}"));
        return Ok(0);
    }
    terminal.text(&table_of(&runs).render(terminal.width))?;
    Ok(0)
}

fn table_of(runs: &[pb::RunRecord]) -> Table {
    let mut table = Table::new(&[
        ("run", Align::Left),
        ("id", Align::Left),
        ("policy", Align::Left),
        ("submitted (UTC)", Align::Left),
        ("state", Align::Left),
        ("outcome", Align::Left),
        ("principal", Align::Left),
    ]);
    for run in runs {
        let state = match run.ending_kind {
            Some(_) => outcome::ending_kind_name(run.ending_kind()),
            None => "active".to_owned(),
        };
        let outcome = run
            .outcome
            .map_or_else(String::new, |_| outcome::outcome_name(run.outcome()));
        table.row([
            run.run_id.clone(),
            run.id.clone(),
            run.policy.clone(),
            show_unix_ms(run.submitted_unix_ms),
            state,
            outcome,
            run.principal.clone(),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn active_and_finished_runs() {
        let active = pb::RunRecord {
            run_id: "r1".into(),
            ..pb::RunRecord::default()
        };
        let finished = pb::RunRecord {
            run_id: "r2".into(),
            ending_kind: Some(pb::EndingKind::WallTimeUp.into()),
            outcome: Some(pb::Outcome::Timeout.into()),
            ..pb::RunRecord::default()
        };
        let text = table_of(&[active, finished]).render(None);
        assert!(
            text.contains("active") && text.contains("wall_time_up  timeout"),
            "{text}"
        );
    }
}
