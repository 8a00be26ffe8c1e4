//! `rollcage bench limits`: how far behind a wall-clock limit the result of a run comes.

use std::time::Instant;

use clap::Args;
use proto::v1 as pb;
use serde_json::json;

use super::samples::Samples;
use super::{Context, Failure, elapsed_micros, millis_text, with_daemon};
use crate::cli::outcome;
use crate::error::ClientError;

/// Options of `bench limits`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  rollcage bench limits
  rollcage bench limits --runs 50 --wall-ms 500 --json

Each run is `sleep 60` under the limit, one after the other. The figure is from the call to the
result: queue, start, limit, kill of the whole tree, empty cgroup and durable audit record.")]
pub(crate) struct LimitsArgs {
    /// Runs.
    #[arg(long, value_name = "N", default_value_t = 10,
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    runs: u32,
    /// The limit, in milliseconds.
    #[arg(long, value_name = "MS", default_value_t = 100,
          value_parser = clap::value_parser!(i64).range(10..=60_000))]
    wall_ms: i64,
}

/// Does it.
pub(super) async fn limits(context: &Context, args: LimitsArgs) -> Result<u8, Failure> {
    with_daemon(context, async |client| {
        let mut samples = Samples::default();
        let mut worst = 0;
        for _run in 0..args.runs {
            let request = pb::RunRequest {
                policy: "shell".to_owned(),
                argv: ["sleep", "60"].map(str::to_owned).to_vec(),
                limits: Some(pb::Limits {
                    wall_ms_max: Some(args.wall_ms),
                    ..pb::Limits::default()
                }),
                ..pb::RunRequest::default()
            };
            let started = Instant::now();
            let result = client.run(request).await?;
            let micros = elapsed_micros(started);
            if let Some(fault) = result.error {
                return Err(ClientError::from(fault).into());
            }
            match outcome::ending_of(&result)? {
                verdict::Ending::WallTimeUp { .. } => {}
                other => {
                    return Err(Failure::Measure {
                        what: format!("end a run at its limit: {}", outcome::sentence(&other)),
                    });
                }
            }
            samples.add(micros);
            worst = worst.max(micros);
        }
        if context.terminal.json {
            context.terminal.json_line(&json!({
                "bench": "limits",
                "runs": args.runs,
                "wall_ms_max": args.wall_ms,
                "median_us": samples.median(),
                "p95_us": samples.p95(),
                "max_us": worst,
            }))?;
        } else {
            context.terminal.line(&format!(
                "{} runs with a limit of {} ms ended after {} ms (median), {} ms (longest)",
                args.runs,
                args.wall_ms,
                millis_text(samples.median()),
                millis_text(Some(worst)),
            ))?;
        }
        Ok(0)
    })
    .await
}
