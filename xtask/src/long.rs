//! Long forms of tests whose short forms run within `test`: fuzzing led by coverage, a soak of many
//! runs, kills and hardships for many rounds. Each ends in a short table, for a quiet machine.

mod locks;
mod trainers;

use crate::binaries::{self, Profile};
use crate::runs;
use crate::setup;
use crate::shell;
use anyhow::{Context, Result, bail};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Code that counts which of its edges ran and tells what it compares; stable compilers can do it.
const COVERAGE_FLAGS: [&str; 5] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
];
/// Seconds for each fuzz target when none are given.
const FUZZ_SECONDS: u64 = 60;
/// Runs of a soak when none are given.
const SOAK_RUNS: u64 = 10_000;
/// Runs on each host of the verdict-flip test when none are given.
const FLIP_RUNS: u64 = 200;
/// Opens of each kind in a race with links when none are given.
const RACER_ROUNDS: u64 = 10_000;
/// Faults put into judgements when none are given.
const FAULTS: u64 = 500;
/// Rounds of chaos when none are given.
const CHAOS_ROUNDS: u64 = 500;

/// Names of the long forms.
pub(crate) const NAMES: [&str; 9] = [
    "fuzz", "soak", "chaos", "faults", "flips", "racers", "sets", "locks", "trainers",
];

/// The long form that the first word names.
///
/// # Errors
/// When another word is wrong, or a program that this needs cannot be started.
pub(crate) fn run(root: &Path, words: &[&str]) -> Result<ExitCode> {
    match words {
        ["fuzz", rest @ ..] => fuzz(root, rest),
        ["soak", rest @ ..] => soak(root, rest),
        ["chaos", rest @ ..] => chaos(root, rest),
        ["faults", rest @ ..] => faults(root, rest),
        ["flips", rest @ ..] => flips(root, rest),
        ["racers", rest @ ..] => racers(root, rest),
        ["sets", rest @ ..] => sets(root, rest),
        ["locks"] => locks::write(root),
        ["trainers"] => trainers::run(root),
        other => bail!("unknown words: {}", other.join(" ")),
    }
}

/// `[WORD] [--OPTION N]` in any order.
fn options<'a>(words: &[&'a str], option: &str, default: u64) -> Result<(Option<&'a str>, u64)> {
    let (mut word, mut number) = (None, default);
    let mut rest = words.iter();
    while let Some(given) = rest.next() {
        if *given == option {
            let text = rest
                .next()
                .with_context(|| format!("{option} needs a number"))?;
            number = text
                .parse()
                .with_context(|| format!("{option} {text}: write a whole number"))?;
        } else if given.starts_with('-') || word.is_some() {
            bail!("unknown option `{given}`; there is {option} N");
        } else {
            word = Some(*given);
        }
    }
    Ok((word, number))
}

/// What libFuzzer says at its end.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Fuzzed {
    executions: u64,
    per_second: u64,
    edges: u64,
    features: u64,
    inputs: u64,
}

/// Fuzzes one target, or each of them, for some seconds.
///
/// # Errors
/// When a program that this needs cannot be built or started, or there is no such target.
fn fuzz(root: &Path, words: &[&str]) -> Result<ExitCode> {
    let (chosen, seconds) = options(words, "--seconds", FUZZ_SECONDS)?;
    let folder = binaries::target_folder(root)?.join("fuzz");
    let program = build_fuzzer(root, &folder)?;
    let mut seeds = Command::new("cargo");
    seeds
        .current_dir(root)
        .args(["run", "--quiet", "--package", "fuzz", "--bin", "fuzz-seeds"])
        .arg(folder.join("corpus"));
    let listed = shell::capture(&mut seeds)?;
    let targets: Vec<(&str, &str)> = listed
        .lines()
        .filter_map(|line| line.split_once('\t'))
        .filter(|(name, _)| chosen.is_none_or(|chosen| chosen == *name))
        .collect();
    if targets.is_empty() {
        bail!("no such target; there are:\n{listed}");
    }
    let mut rows = Vec::new();
    let mut crashed = false;
    for (name, what) in targets {
        let log = folder.join(format!("{name}.log"));
        let held = fuzz_one(root, &program, &folder, (name, seconds))?;
        let said = fs::read_to_string(&log).with_context(|| format!("read {}", log.display()))?;
        if !held {
            crashed = true;
            println!("{name} broke; the input and why stand in {}", log.display());
        }
        rows.push((name, what, read_stats(&said), held));
    }
    println!(
        "\n{:16} {:>12} {:>8} {:>8} {:>9} {:>7} {:>7}  what",
        "target", "executions", "per s", "edges", "features", "inputs", "breaks"
    );
    for (name, what, stats, held) in rows {
        let Fuzzed {
            executions,
            per_second,
            edges,
            features,
            inputs,
        } = stats;
        let breaks = u8::from(!held);
        println!(
            "{name:16} {executions:>12} {per_second:>8} {edges:>8} {features:>9} {inputs:>7} {breaks:>7}  {what}"
        );
    }
    Ok(if crashed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// The explicit target keeps the flags away from build scripts and macros.
fn build_fuzzer(root: &Path, folder: &Path) -> Result<PathBuf> {
    let host = binaries::host_triple()?;
    let mut cargo = Command::new("cargo");
    cargo
        .current_dir(root)
        .args(["build", "--profile", "fuzz", "--package", "fuzz"])
        .args(["--bin", "fuzz-coverage", "--features", "coverage"])
        .args(["--target", &host, "--target-dir"])
        .arg(folder)
        .env("RUSTFLAGS", COVERAGE_FLAGS.join(" "))
        .env_remove("CARGO_ENCODED_RUSTFLAGS");
    shell::must(&mut cargo)
        .context("build the fuzzer; libFuzzer needs a C++ compiler: apt-get install g++")?;
    Ok(folder.join(host).join("fuzz/fuzz-coverage"))
}

/// Runs one target at low priority; its words go to a log.
fn fuzz_one(
    root: &Path,
    program: &Path,
    folder: &Path,
    (name, seconds): (&str, u64),
) -> Result<bool> {
    let log = folder.join(format!("{name}.log"));
    let log = File::create(&log).with_context(|| format!("create {}", log.display()))?;
    let artifacts = folder.join(format!("breaks-{name}-"));
    let kept = root.join("fuzz/corpus").join(name);
    let mut fuzzer = Command::new("nice");
    fuzzer
        .args(["-n", "10"])
        .arg(program)
        .arg(format!("-max_total_time={seconds}"))
        .arg(format!("-artifact_prefix={}", artifacts.display()))
        .args(["-print_final_stats=1", "-timeout=10", "-rss_limit_mb=2048"])
        .arg(folder.join("corpus").join(name))
        .env("ROLLCAGE_FUZZ_TARGET", name)
        .stderr(log);
    if kept.is_dir() {
        fuzzer.arg(kept);
    }
    shell::run(&mut fuzzer)
}

fn read_stats(log: &str) -> Fuzzed {
    let number = |text: Option<&str>| text.and_then(|text| text.parse().ok()).unwrap_or(0);
    let stat = |name: &str| {
        let line = log.lines().rev().find_map(|line| line.strip_prefix(name));
        number(line.map(str::trim))
    };
    let last = log
        .lines()
        .rev()
        .find(|line| line.contains(" cov: "))
        .unwrap_or_default();
    let after = |key: &str| {
        let mut words = last.split_whitespace().skip_while(|word| *word != key);
        words.nth(1).and_then(|word| word.split('/').next())
    };
    Fuzzed {
        executions: stat("stat::number_of_executed_units:"),
        per_second: stat("stat::average_exec_per_sec:"),
        edges: number(after("cov:")),
        features: number(after("ft:")),
        inputs: number(after("corp:")),
    }
}

/// Many runs of all kinds through one daemon: what is left, what it holds, how its pace drifts.
///
/// # Errors
/// When a program that this needs cannot be built or started.
fn soak(root: &Path, words: &[&str]) -> Result<ExitCode> {
    let (word, runs) = options(words, "--runs", SOAK_RUNS)?;
    if let Some(word) = word {
        bail!("unknown word `{word}`; there is --runs N");
    }
    long_test(root, &["leaks::"], ("ROLLCAGE_SOAK_RUNS", runs.to_string()))
}

/// Many rounds of kills at random moments, and every hardship once.
///
/// # Errors
/// When a program that this needs cannot be built or started.
fn chaos(root: &Path, words: &[&str]) -> Result<ExitCode> {
    let (word, rounds) = options(words, "--rounds", CHAOS_ROUNDS)?;
    if let Some(word) = word {
        bail!("unknown word `{word}`; there is --rounds N");
    }
    let filters = ["kill9::", "chaos::", "hardship::"];
    long_test(
        root,
        &filters,
        ("ROLLCAGE_CHAOS_ROUNDS", rounds.to_string()),
    )
}

/// Faults of the host and of the verifier while solutions are judged whose right verdict is known.
fn faults(root: &Path, words: &[&str]) -> Result<ExitCode> {
    let (word, faults) = options(words, "--faults", FAULTS)?;
    if let Some(word) = word {
        bail!("unknown word `{word}`; there is --faults N");
    }
    long_test(root, &["faults::"], ("ROLLCAGE_FAULTS", faults.to_string()))
}

/// One program with a fair time limit, many runs on the host as it is and on a loaded one: how many
/// verdicts differ.
fn flips(root: &Path, words: &[&str]) -> Result<ExitCode> {
    let (word, runs) = options(words, "--runs", FLIP_RUNS)?;
    if let Some(word) = word {
        bail!("unknown word `{word}`; there is --runs N");
    }
    let filters = ["contention::flips::"];
    long_test(root, &filters, ("ROLLCAGE_FLIP_RUNS", runs.to_string()))
}

/// Files and folders swapped with links while they are collected and removed.
///
/// # Errors
/// When a program that this needs cannot be built or started.
fn racers(root: &Path, words: &[&str]) -> Result<ExitCode> {
    let (word, rounds) = options(words, "--rounds", RACER_ROUNDS)?;
    if let Some(word) = word {
        bail!("unknown word `{word}`; there is --rounds N");
    }
    let filters = ["hostile::racers::"];
    long_test(
        root,
        &filters,
        ("ROLLCAGE_RACER_ROUNDS", rounds.to_string()),
    )
}

/// Whole data sets, or those that are named, against their measured truth.
///
/// # Errors
/// When a program that this needs cannot be built or started.
fn sets(root: &Path, words: &[&str]) -> Result<ExitCode> {
    if let Some(option) = words.iter().find(|word| word.starts_with('-')) {
        bail!("unknown option `{option}`; name sets, or none for all");
    }
    for skip in setup::install()? {
        println!("{}: {}", skip.name, skip.reason);
    }
    let chosen = if words.is_empty() {
        "all".to_owned()
    } else {
        words.join(",")
    };
    long_test(root, &["sets::"], ("ROLLCAGE_SETS", chosen))
}

/// Integration tests against programs as they are shipped, one after the other, with what they say.
fn long_test(root: &Path, filters: &[&str], (name, value): (&str, String)) -> Result<ExitCode> {
    let target = binaries::target_folder(root)?;
    let log = runs::fresh_skip_log(&target)?;
    let folder = binaries::build(root, Profile::Release)?;
    let mut cargo = Command::new("cargo");
    cargo
        .current_dir(root)
        .args(["test", "--package", "tests", "--test", "it", "--"])
        .args(["--nocapture", "--test-threads", "1"])
        .args(filters);
    for (name, value) in runs::integration_environment(root, &target, &log)? {
        cargo.env(name, value);
    }
    cargo
        .env(binaries::FOLDER_VARIABLE, folder)
        .env(name, value);
    Ok(if shell::run(&mut cargo)? {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

#[cfg(test)]
mod tests;
