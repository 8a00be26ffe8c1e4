//! The short form: every target over its seeds, over what once broke something, and over mutations
//! of both that are the same every time. `ROLLCAGE_TEST_SEED` gives others.

use std::path::Path;

use crate::mutate::{Random, mutate};
use crate::{TARGETS, Target, target};

/// Inputs that broke something, kept in `fuzz/corpus/TARGET/`; none yet.
fn kept(target: &Target) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let Ok(entries) = std::fs::read_dir(folder.join(target.name)) else {
        return Vec::new();
    };
    let mut paths: Vec<_> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    let read = |path| std::fs::read(path).expect("an input");
    paths.into_iter().map(read).collect()
}

fn seed() -> u64 {
    let given = std::env::var("ROLLCAGE_TEST_SEED").ok();
    given.and_then(|text| text.parse().ok()).unwrap_or(1)
}

/// Runs one input; a broken promise shows it.
fn try_one(target: &Target, input: &[u8]) {
    let tried = std::panic::catch_unwind(|| (target.run)(input));
    if let Err(panic) = tried {
        println!("{} breaks on {}", target.name, hex::encode(input));
        std::panic::resume_unwind(panic);
    }
}

fn short_form(name: &str) {
    let target = target(name).expect("a target of that name");
    let mut inputs = (target.seeds)();
    assert!(!inputs.is_empty(), "{name} has no seeds");
    inputs.extend(kept(&target));
    for input in &inputs {
        try_one(&target, input);
    }
    println!("ROLLCAGE_TEST_SEED={}", seed());
    let mut random = Random::new(seed());
    for _ in 0..target.mutations {
        let mut input = inputs[random.below(inputs.len())].clone();
        mutate(&mut random, &mut input, &inputs);
        try_one(&target, &input);
    }
}

macro_rules! short_forms {
    ($($name:ident)*) => {
        const TESTED: &[&str] = &[$(stringify!($name)),*];
        $(
            #[test]
            fn $name() {
                short_form(stringify!($name));
            }
        )*
    };
}

short_forms! {
    policy wire_launcher wire_init wire_boot audit_frames audit_log batch files
    verdict_report verdict_stdout case_report answers verify_block test_reports diagnostics coverage leaks frameworks
    request config sandboxfusion patches archives
}

#[test]
fn every_target_has_its_short_form() {
    let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
    assert_eq!(names, TESTED);
}

#[test]
fn the_same_number_gives_the_same_mutations() {
    let seeds = (TARGETS[0].seeds)();
    let made = |number| {
        let mut random = Random::new(number);
        let mut input = seeds[0].clone();
        mutate(&mut random, &mut input, &seeds);
        input
    };
    assert_eq!(made(5), made(5));
    assert_ne!(made(5), made(6));
}

#[test]
fn what_is_allocated_is_seen() {
    let (kept, peak) = crate::memory::peak_bytes(|| {
        drop(vec![1_u8; 1 << 20]);
        vec![1_u8; 10]
    });
    assert_eq!(kept.len(), 10);
    assert!((1 << 20..1 << 21).contains(&peak), "{peak}");
    assert_eq!(crate::memory::peak_bytes(|| 5), (5, 0));
}
