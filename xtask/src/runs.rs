//! Whole runs: `check`, `test` and `demo`, each a list of rows, and the report at the end, whose
//! last line is `N passed, N failed, N skipped`. Every row runs, whatever the rows before it said.

use crate::binaries::{self, Profile};
use crate::closing::{self, Counts};
use crate::emulated::{self, Ran};
use crate::gates::{self, Outcome};
use crate::setup;
use crate::shell;
use crate::skips::{self, Allowed, Place, Skip};
use crate::tidy;
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

/// What ran so far.
#[derive(Debug, Default)]
struct Report {
    rows: Vec<Row>,
    skips: Vec<Skip>,
    /// Tests that held on the emulated host, whatever became of them on this one.
    held_there: Vec<String>,
}

#[derive(Debug)]
struct Row {
    name: &'static str,
    counts: Counts,
    took: Duration,
}

/// Environment that tests get beside the caller's.
pub(crate) type Environment = Vec<(&'static str, std::ffi::OsString)>;

/// Format, lints, house rules, dependencies, unit and documentation tests.
///
/// # Errors
/// When a program that this needs cannot be started.
pub(crate) fn check(root: &Path) -> Result<ExitCode> {
    let target = binaries::target_folder(root)?;
    let log = fresh_skip_log(&target)?;
    let mut report = Report::default();
    run_checks(
        root,
        &mut report,
        &vec![(skips::LOG_VARIABLE, log.clone().into())],
    )?;
    report.close(root, &log)
}

/// Everything: [`check`], then the built programs under the integration tests.
///
/// # Errors
/// When a program that this needs cannot be started.
pub(crate) fn test(root: &Path) -> Result<ExitCode> {
    let target = binaries::target_folder(root)?;
    let log = fresh_skip_log(&target)?;
    let mut report = Report {
        skips: setup::install()?,
        ..Report::default()
    };
    let environment = integration_environment(root, &target, &log)?;
    run_checks(root, &mut report, &environment)?;
    if let Some(folder) = build_programs(root, &mut report)? {
        run_integration(root, &mut report, environment, (&folder, &[]))?;
        run_emulated(root, &mut report, (&folder, &[]))?;
    }
    report.close(root, &log)
}

/// The tests that also run on the emulated host, or those of them whose names contain one of
/// `filters`.
///
/// # Errors
/// When a program that this needs cannot be started.
pub(crate) fn emulated(root: &Path, filters: &[&str]) -> Result<ExitCode> {
    let target = binaries::target_folder(root)?;
    let log = fresh_skip_log(&target)?;
    let mut report = Report::default();
    if let Some(folder) = build_programs(root, &mut report)? {
        run_emulated(root, &mut report, (&folder, filters))?;
    }
    report.close(root, &log)
}

/// The integration tests alone; `arguments` go to the test runner, which takes a part of a name.
///
/// # Errors
/// When a program that this needs cannot be started.
pub(crate) fn integration(root: &Path, arguments: &[&str]) -> Result<ExitCode> {
    let target = binaries::target_folder(root)?;
    let log = fresh_skip_log(&target)?;
    let mut report = Report::default();
    let environment = integration_environment(root, &target, &log)?;
    if let Some(folder) = build_programs(root, &mut report)? {
        run_integration(root, &mut report, environment, (&folder, arguments))?;
    }
    report.close(root, &log)
}

pub(crate) fn integration_environment(
    root: &Path,
    target: &Path,
    log: &Path,
) -> Result<Environment> {
    Ok(vec![
        (skips::LOG_VARIABLE, log.into()),
        (
            "ROLLCAGE_DATA_DIR",
            setup::data_folder(root, target)?.into(),
        ),
        (setup::tools::FOLDER_VARIABLE, setup::tools::folder().into()),
    ])
}

/// The part of test names for which the programs with a switched off step are built.
const MUTATION: &str = "mutation";

/// The programs under test, or `None` when that is a failure of the run.
fn build_programs(root: &Path, report: &mut Report) -> Result<Option<PathBuf>> {
    let mut folder = None;
    report.gate("build", || match binaries::build(root, Profile::Debug) {
        Ok(built) => {
            folder = Some(built);
            Ok(Outcome::Held)
        }
        Err(error) => {
            eprintln!("xtask: {error:#}");
            Ok(Outcome::Broken)
        }
    })?;
    Ok(folder)
}

fn run_emulated(
    root: &Path,
    report: &mut Report,
    (folder, filters): (&Path, &[&str]),
) -> Result<()> {
    let mut held = Vec::new();
    report.row("emulated host", |skips| {
        match emulated::run(root, folder, filters) {
            Ok(Ran::Counted {
                counts,
                held: there,
            }) => {
                held = there;
                Ok(counts)
            }
            Ok(Ran::Skipped(skip)) => {
                skips.push(skip);
                Ok(Counts::default())
            }
            Err(error) => {
                eprintln!("xtask: {error:#}");
                Ok(judged(None, false))
            }
        }
    })?;
    report.held_there = held;
    Ok(())
}

fn run_integration(
    root: &Path,
    report: &mut Report,
    mut environment: Environment,
    (folder, arguments): (&Path, &[&str]),
) -> Result<()> {
    const NAME: &str = "integration tests";
    environment.push((binaries::FOLDER_VARIABLE, folder.into()));
    if arguments.is_empty() || arguments.iter().any(|filter| filter.contains(MUTATION)) {
        report.gate("mutation build", || match binaries::mutation::build(root) {
            Ok(folder) => {
                let variable = binaries::mutation::FOLDER_VARIABLE;
                environment.push((variable, folder.into()));
                Ok(Outcome::Held)
            }
            Err(error) => {
                eprintln!("xtask: {error:#}");
                Ok(Outcome::Broken)
            }
        })?;
    }
    let packages = [&["--package", "tests"], arguments].concat();
    // What a person filtered out is no skip.
    let filtered = !arguments.is_empty();
    report.tests(NAME, || {
        let counts = run_tests(root, &packages, &environment)?;
        Ok(Counts {
            skipped: if filtered { 0 } else { counts.skipped },
            ..counts
        })
    })
}

/// Builds for use and runs the demo, whose exit code it gives.
///
/// # Errors
/// When the build fails or the demo cannot be started.
pub(crate) fn demo(root: &Path, arguments: &[&str]) -> Result<ExitCode> {
    for Skip { name, reason } in setup::install()? {
        eprintln!("xtask: {name}: {reason}");
    }
    let folder = binaries::build(root, Profile::Release)?;
    let mut rollcage = Command::new(folder.join("rollcage"));
    rollcage
        .arg("demo")
        .args(arguments)
        .env(binaries::FOLDER_VARIABLE, &folder);
    let status = rollcage.status().context("start rollcage demo")?;
    Ok(status
        .code()
        .and_then(|code| u8::try_from(code).ok())
        .map_or(ExitCode::FAILURE, Into::into))
}

/// Builds the programs and prints the folder they lie in.
///
/// # Errors
/// When a build fails.
pub(crate) fn build(root: &Path, profile: Profile) -> Result<ExitCode> {
    println!("{}", binaries::build(root, profile)?.display());
    Ok(ExitCode::SUCCESS)
}

/// Installs what the tests need, fetches the data they read, and says what could not be had.
///
/// # Errors
/// When a program that this needs cannot be started.
pub(crate) fn set_up(root: &Path) -> Result<ExitCode> {
    for Skip { name, reason } in setup::install()? {
        println!("{name}: {reason}");
    }
    let data = setup::data_folder(root, &binaries::target_folder(root)?)?;
    println!("data: {}", data.display());
    Ok(ExitCode::SUCCESS)
}

fn run_checks(root: &Path, report: &mut Report, environment: &Environment) -> Result<()> {
    report.gate("fmt", || gates::fmt(root))?;
    report.gate("tidy", || Ok(tidy::holds(root)?.into()))?;
    report.gate("clippy", || gates::clippy(root))?;
    report.gate("deny", || gates::deny(root))?;
    let packages = ["--workspace", "--exclude", "tests"];
    report.tests("unit tests", || run_tests(root, &packages, environment))?;
    report.tests("documentation tests", || {
        let mut cargo = Command::new("cargo");
        cargo
            .current_dir(root)
            .args(["test", "--quiet", "--workspace", "--doc"]);
        let watched = shell::watch(cargo.envs(environment.iter().cloned()))?;
        // No example in the documentation at all is not a failure.
        let counts = closing::of_libtest(&watched.text);
        Ok(judged(
            counts.or(Some(Counts::default())),
            watched.succeeded,
        ))
    })
}

/// Runs tests with nextest where it is installed, else with cargo's own runner.
fn run_tests(root: &Path, packages: &[&str], environment: &Environment) -> Result<Counts> {
    let nextest = setup::has_subcommand("nextest")?;
    let mut cargo = Command::new("cargo");
    cargo.current_dir(root).envs(environment.iter().cloned());
    if nextest {
        cargo
            .args(["nextest", "run", "--no-fail-fast"])
            .args(packages);
    } else {
        // `--tests` means every target that has tests: libraries and programs too.
        cargo
            .args(["test", "--no-fail-fast", "--tests"])
            .args(packages);
    }
    let watched = shell::watch(&mut cargo)?;
    let counts = if nextest {
        closing::of_nextest(&watched.text)
    } else {
        closing::of_libtest(&watched.text)
    };
    Ok(judged(counts, watched.succeeded))
}

/// A runner that failed without naming a failed test (a build error, a crash) is one failure.
fn judged(counts: Option<Counts>, succeeded: bool) -> Counts {
    let mut counts = counts.unwrap_or_default();
    if !succeeded && counts.failed == 0 {
        counts.failed = 1;
    }
    counts
}

pub(crate) fn fresh_skip_log(target: &Path) -> Result<PathBuf> {
    let folder = target.join("rollcage");
    fs::create_dir_all(&folder).with_context(|| format!("create {}", folder.display()))?;
    let log = folder.join("skips.log");
    fs::write(&log, "").with_context(|| format!("empty {}", log.display()))?;
    Ok(log)
}

impl Report {
    fn gate(&mut self, name: &'static str, gate: impl FnOnce() -> Result<Outcome>) -> Result<()> {
        self.row(name, |skips| {
            let mut counts = Counts::default();
            match gate()? {
                Outcome::Held => counts.passed = 1,
                Outcome::Broken => counts.failed = 1,
                Outcome::Skipped(skip) => skips.push(skip),
            }
            Ok(counts)
        })
    }

    fn tests(&mut self, name: &'static str, run: impl FnOnce() -> Result<Counts>) -> Result<()> {
        self.row(name, |skips| {
            let mut counts = run()?;
            if counts.skipped > 0 {
                let reason = format!(
                    "{} tests are ignored or filtered, and why is not told",
                    counts.skipped
                );
                skips.push(Skip {
                    name: name.to_owned(),
                    reason,
                });
                counts.skipped = 0;
            }
            Ok(counts)
        })
    }

    fn row(
        &mut self,
        name: &'static str,
        run: impl FnOnce(&mut Vec<Skip>) -> Result<Counts>,
    ) -> Result<()> {
        eprintln!("== {name}");
        let start = Instant::now();
        let counts = run(&mut self.skips)?;
        self.rows.push(Row {
            name,
            counts,
            took: start.elapsed(),
        });
        Ok(())
    }

    /// Prints the report. The run failed when a row did, or a skip that nobody allowed happened.
    fn close(mut self, root: &Path, log: &Path) -> Result<ExitCode> {
        let mut told = skips::read_log(log)?;
        let allowed = Allowed::read(&root.join("tests/allowed-skips.toml"))?;
        let place = Place {
            is_root: setup::is_root()?,
            is_ci: std::env::var_os("CI").is_some(),
        };
        println!();
        for Row { name, counts, took } in &self.rows {
            println!("{name:20} {counts} in {} s", took.as_secs());
        }
        let mut total = total(&self.rows, &told);
        told.retain(|skip| !held(&self.held_there, &skip.name));
        self.skips.extend(told);
        for skip in &self.skips {
            let Skip { name, reason } = skip;
            total.skipped += 1;
            if allowed.permits(skip, place) {
                println!("SKIP {name}: {reason}");
            } else {
                println!(
                    "SKIP {name}: {reason} [not in tests/allowed-skips.toml: counts as failed]"
                );
                total.failed += 1;
            }
        }
        println!("{total}");
        Ok(if total.failed == 0 {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        })
    }
}

/// Whether a test of this name, with or without its module, is among `names`.
fn held(names: &[String], test: &str) -> bool {
    names.iter().any(|name| {
        name.strip_suffix(test)
            .is_some_and(|before| before.is_empty() || before.ends_with("::"))
    })
}

/// The sum of all rows, less the tests that a runner took for passed while they told of a skip.
fn total(rows: &[Row], told: &[Skip]) -> Counts {
    let mut total = Counts::default();
    for row in rows {
        total += row.counts;
    }
    let whole = told.iter().filter(|skip| skip.is_whole_test()).count();
    total.passed = total
        .passed
        .saturating_sub(u64::try_from(whole).unwrap_or(u64::MAX));
    total
}

#[cfg(test)]
mod tests;
