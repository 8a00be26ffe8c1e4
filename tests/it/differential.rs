//! The table of system calls against the kernel: every number is called, with arguments of zero, and
//! what comes back must be what the table says. First under a filter that differs from a profile's
//! own in one thing, an errno that no kernel gives, so that a denial cannot be taken for the
//! kernel's own answer; then in sandboxes, under the filters as they are.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use confine::seccomp::interpret::{Call, interpret};
use confine::seccomp::program::SockFilter;
use confine::seccomp::{
    ARCH_X86_64, FilterSpec, Network, Profile, Verdict, X32_BIT, compile, table, verdict_of,
};
use probe::lists::{CALL_DENIED, CALL_LAST, CALLS_LEFT_OUT, CALLS_UNFILTERED};
use serde_json::json;

use crate::escape::ProbeFolder;
use crate::nobody::Nobody;
use crate::skips;
use crate::world::World;

const PROFILES: [Profile; 3] = [Profile::Strict, Profile::Compat, Profile::Debug];
/// A user of no account on the host.
const CALLING: u32 = Nobody::Calling.id();
/// `SIGSYS`, by which a filter ends a process.
const KILLED: &str = "signal 31";

const RETURN: u16 = 0x06;
const ACTION: u32 = 0xffff_0000;
const ACTION_ERRNO: u32 = 0x0005_0000;

/// A profile's own program, in which every errno is [`CALL_DENIED`].
fn marked(spec: &FilterSpec) -> Vec<SockFilter> {
    let mut program = compile(spec).expect("a filter").program;
    for instruction in &mut program {
        if instruction.code == RETURN && instruction.k & ACTION == ACTION_ERRNO {
            instruction.k = ACTION_ERRNO | CALL_DENIED.unsigned_abs();
        }
    }
    program
}

/// As the kernel reads it.
fn bytes(program: &[SockFilter]) -> Vec<u8> {
    let one = |filter: &SockFilter| {
        let mut bytes = filter.code.to_ne_bytes().to_vec();
        bytes.extend([filter.jt, filter.jf]);
        bytes.extend(filter.k.to_ne_bytes());
        bytes
    };
    program.iter().flat_map(one).collect()
}

fn told(output: &[u8]) -> BTreeMap<String, String> {
    let findings = probe::parse(output).expect("findings");
    let all: BTreeMap<String, String> = findings
        .into_iter()
        .map(|finding| (finding.name, finding.result))
        .collect();
    let numbers = usize::try_from(CALL_LAST).expect("a small number") + 1;
    assert_eq!(all.len(), 3 * numbers, "some numbers were not told");
    all
}

fn left_out(number: u32) -> bool {
    CALLS_LEFT_OUT.iter().any(|(left, _)| *left == number)
}

/// Whether it is the kernel's own refusal of a call that it shows to no filter.
fn is_unfiltered(number: u32, result: &str) -> bool {
    CALLS_UNFILTERED.contains(&(number, result))
}

/// Calls through the foreign ABIs end the process, whatever their number.
fn wrong_foreign(found: &BTreeMap<String, String>) -> Vec<String> {
    let foreign = found
        .iter()
        .filter(|(name, result)| !name.starts_with('n') && *result != KILLED);
    foreign
        .map(|(name, result)| format!("{name}: {result}, wanted {KILLED}"))
        .collect()
}

#[test]
fn every_number_is_let_through_or_denied_as_the_table_says() {
    let test = "every_number_is_let_through_or_denied_as_the_table_says";
    if !skips::is_root(test) {
        return;
    }
    let folder = ProbeFolder::with_probe();
    let mut wrong = Vec::new();
    for profile in PROFILES {
        let spec = FilterSpec::new(profile, Network::Loopback);
        let file = folder.program("filter");
        fs::write(&file, bytes(&marked(&spec))).expect("write the filter");
        // What it lets through is called in earnest: by a user without any privilege.
        let output = Command::new(folder.program("probe"))
            .args(["syscalls", "--filter", &file])
            .stdin(Stdio::null())
            .current_dir("/")
            .uid(CALLING)
            .gid(CALLING)
            .output()
            .expect("start it");
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{profile:?}: {complaint}");
        let found = told(&output.stdout);
        wrong.extend(wrong_foreign(&found));
        for number in (0..=CALL_LAST).filter(|number| !left_out(*number)) {
            let result = found[&format!("n{number}")].as_str();
            let through = verdict_of(&spec, number, [0; 6]) == Verdict::Allow;
            let right = if through {
                result != "denied" && result != KILLED
            } else {
                result == "denied" || is_unfiltered(number, result)
            };
            if !right {
                let name = table::name_of(number).unwrap_or("unknown");
                wrong.push(format!(
                    "{profile:?}: {number} ({name}): {result}, the table lets it through: {through}"
                ));
            }
        }
        let new = (table::NR_LAST + 1..=CALL_LAST).filter(|number| {
            // A kernel newer than the table may have it; nobody gets it.
            found[&format!("n{number}")] != "denied"
        });
        wrong.extend(new.map(|number| format!("{profile:?}: the unknown {number} went through")));
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn in_a_sandbox_no_number_goes_through_that_the_table_denies() {
    let test = "in_a_sandbox_no_number_goes_through_that_the_table_denies";
    if !skips::is_root(test) {
        return;
    }
    let folder = ProbeFolder::with_probe();
    let Some(mut world) = World::with_config(test, &folder.config()) else {
        return;
    };
    // No shipped policy is that wide, and one that extends them cannot be.
    let wide = include_str!("../../policies/catalog/base.toml")
        .replace("name = \"base\"", "name = \"wide\"")
        .replace("profile = \"compat\"", "profile = \"debug\"");
    world.stop();
    fs::create_dir_all(world.policies_dir()).expect("a folder of policies");
    fs::write(world.policies_dir().join("wide.toml"), wide).expect("write a policy");
    world.boot();
    let mut wrong = Vec::new();
    for (policy, profile) in [
        ("python", Profile::Strict),
        ("build", Profile::Compat),
        ("wide", Profile::Debug),
    ] {
        let spec = FilterSpec::new(profile, Network::Loopback);
        let request = json!({ "policy": policy, "argv": [folder.program("probe"), "syscalls"] });
        let outcome = world.run(&request);
        outcome.exited(0);
        let found = told(&outcome.result.stdout);
        wrong.extend(wrong_foreign(&found));
        for number in (0..=CALL_LAST).filter(|number| !left_out(*number)) {
            let result = found[&format!("n{number}")].as_str();
            let wanted = match verdict_of(&spec, number, [0; 6]) {
                Verdict::Allow => continue,
                Verdict::Errno(errno) | Verdict::Notify(errno) => {
                    format!("{:?}", nix::errno::Errno::from_raw(i32::from(errno)))
                }
                Verdict::Kill => KILLED.to_owned(),
            };
            if result != wanted && !is_unfiltered(number, result) {
                let name = table::name_of(number).unwrap_or("unknown");
                wrong.push(format!(
                    "{profile:?}: {number} ({name}): {result}, wanted {wanted}"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn marking_a_filter_changes_no_decision() {
    // What is known to be called, the edges, and a sample of all the rest.
    let edges = [u32::MAX, u32::MAX - 1, X32_BIT - 1, X32_BIT, X32_BIT + 1];
    let mut state = 1u32;
    let sample: Vec<u32> = (0..200_000)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state
        })
        .collect();
    let arches = [ARCH_X86_64, 0x4000_0003, 0xC000_00B7, 0];
    for profile in PROFILES {
        let spec = FilterSpec::new(profile, Network::Loopback);
        let (plain, marked) = (compile(&spec).expect("a filter").program, marked(&spec));
        let numbers = (0..=CALL_LAST).chain(edges).chain(sample.iter().copied());
        for nr in numbers {
            for arch in arches {
                let call = Call {
                    arch,
                    nr,
                    args: [0; 6],
                };
                let is = interpret(&plain, &call).expect("a program of ours");
                let with = interpret(&marked, &call).expect("a program of ours");
                assert_eq!(is & ACTION, with & ACTION, "{profile:?} {arch:#x} {nr:#x}");
                let verdict = match arch {
                    ARCH_X86_64 => verdict_of(&spec, nr, [0; 6]),
                    _ => Verdict::Kill,
                };
                assert_eq!(is, verdict.return_value(), "{profile:?} {arch:#x} {nr:#x}");
                let unknown = nr > table::NR_LAST;
                assert!(!unknown || verdict != Verdict::Allow, "{profile:?} {nr:#x}");
            }
        }
    }
}
