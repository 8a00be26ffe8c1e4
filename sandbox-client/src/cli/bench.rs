//! `rollcage bench`: the figures of this machine, beside bare processes and installed peers, all
//! measured in one interleaved loop so that a busy moment strikes each of them alike.

mod contender;
mod limits;
mod locks;
mod oci;
mod peers;
mod samples;

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::Context;
use super::connection::with_daemon;
use super::failure::Failure;
use super::table::{Align, Table};
use crate::client::Client;
use contender::{Contender, Contenders, elapsed_micros};
use samples::Samples;

/// Measurements.
#[derive(Debug, Subcommand)]
pub(crate) enum BenchCommand {
    /// Measure whole runs of /bin/true and of `python3 -c 1`: from the call to the result.
    Start(StartArgs),
    /// Measure how far behind a wall-clock limit the result of a run comes.
    Limits(limits::LimitsArgs),
    /// Try the probe battery here, unconfined and under installed peers: which locks hold where.
    Locks(locks::LocksArgs),
}

/// Options of `bench start`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  rollcage bench start
  rollcage bench start --runs 500 --json

Every figure is a whole run, one after the other: for Rollcage a gRPC call to its result, files,
limits and a durable audit record included; for the others from spawn to exit. Peers that are not
installed are named as such. Peers confine less than a policy does; the options used are printed.")]
pub(crate) struct StartArgs {
    /// Rounds; each contender runs each program once in each.
    #[arg(long, value_name = "N", default_value_t = 100,
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    runs: u32,
}

/// Rounds before those that count: caches fill, connections and pools come up.
const WARM_UP_ROUNDS: u32 = 3;

/// A program to start.
struct Program {
    name: &'static str,
    policy: &'static str,
    argv: Vec<String>,
}

/// What was measured of one program.
struct Figures {
    program: &'static str,
    /// Contender and what it took, in the order they are shown.
    rows: Vec<(String, Samples)>,
}

/// Does it.
pub(crate) async fn bench(context: &Context, command: BenchCommand) -> Result<u8, Failure> {
    let args = match command {
        BenchCommand::Start(args) => args,
        BenchCommand::Limits(args) => return limits::limits(context, args).await,
        BenchCommand::Locks(args) => return locks::locks(context, args).await,
    };
    let programs = programs()?;
    let contenders = Contenders::find()?;
    with_daemon(context, async |client| {
        let mut figures = Vec::new();
        for program in &programs {
            figures.push(measure(context, client, &contenders, program, args.runs).await?);
        }
        if context.terminal.json {
            let document = to_json(&figures, &contenders, args.runs);
            context.terminal.json_line(&document)?;
        } else {
            show(context, &figures, &contenders)?;
        }
        Ok(0)
    })
    .await
}

/// Both programs by their full path, so that every contender starts the same file.
fn programs() -> Result<Vec<Program>, Failure> {
    let mut programs = vec![Program {
        name: "/bin/true",
        policy: "shell",
        argv: vec!["/bin/true".to_owned()],
    }];
    // The folders that are on PATH inside a sandbox.
    let python = ["/usr/local/bin/python3", "/usr/bin/python3", "/bin/python3"]
        .into_iter()
        .find(|path| std::path::Path::new(path).is_file());
    match python {
        Some(python) => programs.push(Program {
            name: "python3 -c 1",
            policy: "python",
            argv: [python, "-c", "1"].map(str::to_owned).to_vec(),
        }),
        None => {
            return Err(Failure::Measure {
                what: "find python3 in /usr/local/bin, /usr/bin or /bin".to_owned(),
            });
        }
    }
    Ok(programs)
}

async fn measure(
    context: &Context,
    client: &Client,
    contenders: &Contenders,
    program: &Program,
    runs: u32,
) -> Result<Figures, Failure> {
    let mut rows: Vec<(&Contender, Samples)> = contenders
        .present
        .iter()
        .map(|contender| (contender, Samples::default()))
        .collect();
    for round in 0..WARM_UP_ROUNDS + runs {
        // Who comes first changes, so that nobody always profits from the one before.
        let count = rows.len();
        for place in 0..count {
            let first = usize::try_from(round).unwrap_or(0) % count;
            let Some((contender, samples)) = rows.get_mut((first + place) % count) else {
                continue;
            };
            match contender.run(client, program).await {
                Ok(micros) if round >= WARM_UP_ROUNDS => samples.add(micros),
                Ok(_) => {}
                Err(failure) if contender.is_ours() => return Err(failure),
                Err(failure) => samples.fail(failure.to_string()),
            }
        }
        rows.retain(|(contender, samples)| {
            let Some(reason) = samples.failure() else {
                return true;
            };
            context
                .terminal
                .talk(&format!("{} is left out: {reason}", contender.name()));
            false
        });
    }
    let rows = rows
        .into_iter()
        .map(|(contender, samples)| (contender.name().to_owned(), samples));
    Ok(Figures {
        program: program.name,
        rows: rows.collect(),
    })
}

impl Figures {
    fn median_of(&self, name: &str) -> Option<u64> {
        self.rows.iter().find(|(row, _)| row == name)?.1.median()
    }
}

fn show(context: &Context, figures: &[Figures], contenders: &Contenders) -> Result<(), Failure> {
    let terminal = &context.terminal;
    let mut table = Table::new(&[
        ("program", Align::Left),
        ("started by", Align::Left),
        ("runs", Align::Right),
        ("median ms", Align::Right),
        ("p95 ms", Align::Right),
        ("x bare", Align::Right),
        ("x runc", Align::Right),
    ]);
    for figure in figures {
        for (name, samples) in &figure.rows {
            let ratio = |to: &str| ratio_text(samples.median(), figure.median_of(to));
            table.row([
                figure.program.to_owned(),
                name.clone(),
                samples.count().to_string(),
                millis_text(samples.median()),
                millis_text(samples.p95()),
                ratio(contender::BARE),
                ratio(contender::RUNC),
            ]);
        }
    }
    terminal.text(&table.render(None))?;
    terminal.line("")?;
    for contender in &contenders.present {
        terminal.line(&format!("{}: {}", contender.name(), contender.how()))?;
    }
    if !contenders.absent.is_empty() {
        terminal.line(&format!("not installed: {}", contenders.absent.join(", ")))?;
    }
    Ok(())
}

fn to_json(figures: &[Figures], contenders: &Contenders, runs: u32) -> Value {
    let figures: Vec<Value> = figures
        .iter()
        .flat_map(|figure| {
            figure.rows.iter().map(|(name, samples)| {
                json!({
                    "program": figure.program,
                    "started_by": name,
                    "runs": samples.count(),
                    "median_us": samples.median(),
                    "p95_us": samples.p95(),
                    "min_us": samples.min(),
                })
            })
        })
        .collect();
    let how: serde_json::Map<String, Value> = contenders
        .present
        .iter()
        .map(|contender| (contender.name().to_owned(), contender.how().into()))
        .collect();
    json!({"runs": runs, "figures": figures, "how": how, "not_installed": contenders.absent})
}

fn millis_text(micros: Option<u64>) -> String {
    micros.map_or_else(String::new, |micros| {
        format!("{}.{:02}", micros / 1_000, micros % 1_000 / 10)
    })
}

fn ratio_text(micros: Option<u64>, base: Option<u64>) -> String {
    match (micros, base) {
        (Some(micros), Some(base)) if base > 0 => {
            let hundredths = micros.saturating_mul(100) / base;
            format!("{}.{:02}", hundredths / 100, hundredths % 100)
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_shown() {
        assert_eq!(millis_text(Some(1_239)), "1.23");
        assert_eq!(millis_text(None), "");
        assert_eq!(ratio_text(Some(450), Some(200)), "2.25");
        assert_eq!(ratio_text(Some(450), Some(0)), "");
        assert_eq!(ratio_text(Some(450), None), "");
    }
}
