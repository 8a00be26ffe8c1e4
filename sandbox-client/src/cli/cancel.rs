//! `rollcage cancel`: ends runs.

use clap::Args;
use serde_json::json;

use super::Context;
use super::connection::with_daemon;
use super::failure::Failure;
use crate::pb;

/// Options of `cancel`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  rollcage cancel RUN                  RUN as `rollcage ps` shows it
  rollcage ps --json | jq -r '.[].run_id' | xargs rollcage cancel")]
pub(crate) struct CancelArgs {
    /// Runs to end.
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<String>,
}

/// Does it.
pub(crate) async fn cancel(context: &Context, args: &CancelArgs) -> Result<u8, Failure> {
    with_daemon(context, async |client| {
        for run_id in &args.runs {
            let was_active = client.cancel(run_id).await? == pb::RunState::Active;
            if context.terminal.json {
                let document = json!({"run_id": run_id, "was_active": was_active});
                context.terminal.json_line(&document)?;
            } else if was_active {
                context.terminal.line(&format!("{run_id} is cancelled"))?;
            } else {
                context
                    .terminal
                    .line(&format!("{run_id} had finished before"))?;
            }
        }
        Ok(0)
    })
    .await
}
