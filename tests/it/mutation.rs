//! Locks switched off one by one, in builds that lie about it: the self-test must notice each, and
//! the daemon must then serve nothing and name a probe. What noticed which is the matrix of
//! `docs/locks-matrix.md`, which `./x locks` writes.

mod matrix;
mod mutant;

use std::collections::BTreeSet;
use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use confine::mutation;

use crate::nobody::Nobody;
use crate::skips;
use crate::user::User;
use crate::world::World;
use matrix::{Matrix, Noticed};
use mutant::Mutant;

/// Daemons that are started at once.
const AT_ONCE: usize = 3;
/// There without root only.
const ROOTLESS_ONLY: [&str; 2] = ["maps", "ns_user"];
/// There for root only: without root nothing is asked of these, and the manifest says so.
const ROOT_ONLY: [&str; 7] = [
    "cgroups",
    "identity",
    "lease",
    "cgroup_memory",
    "cgroup_pids",
    "cgroup_cpu",
    "cgroup_devices",
];
/// A user of no account on the host.
const ORDINARY: u32 = Nobody::Mutated.id();

/// Starts a daemon for each name and gives what came of it, in the order of the names.
fn try_all(names: &[&str], start: impl Fn(&str) -> Noticed + Sync) -> Vec<Noticed> {
    let next = AtomicUsize::new(0);
    let found = Mutex::new(vec![None; names.len()]);
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(name) = names.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let noticed = start(name);
                    let at = names.iter().position(|one| one == name).expect("its place");
                    found.lock().expect("the findings")[at] = Some(noticed);
                }
            });
        }
    });
    let found = found.into_inner().expect("the findings");
    found
        .into_iter()
        .map(|one| one.expect("a finding"))
        .collect()
}

#[test]
fn mutation_of_every_lock_is_noticed_and_nothing_is_served() {
    let test = "mutation_of_every_lock_is_noticed_and_nothing_is_served";
    if !skips::is_root(test) {
        return;
    }
    let names: Vec<&str> = mutation::all().iter().map(|(name, _)| *name).collect();
    let names: Vec<&str> = names
        .into_iter()
        .filter(|name| !ROOTLESS_ONLY.contains(name) && mutant::is_there(name))
        .collect();
    let found = try_all(&names, |name| Mutant::new(name).start(None));
    tell(&Matrix::new("root", names.into_iter().zip(found).collect()));
}

#[test]
fn mutation_of_every_lock_is_noticed_without_root_too() {
    let test = "mutation_of_every_lock_is_noticed_without_root_too";
    if !skips::is_root(test) {
        return;
    }
    let user = User::new(ORDINARY);
    let doctor = user.say(&["doctor", "--json"]).json();
    if doctor["mode"] != "rootless" {
        let mode = &doctor["mode"];
        skips::skip(test, &format!("this host gives users mode {mode}"));
        return;
    }
    let names: Vec<&str> = mutation::all().iter().map(|(name, _)| *name).collect();
    let names: Vec<&str> = names
        .into_iter()
        .filter(|name| !ROOT_ONLY.contains(name))
        .collect();
    let found = try_all(&names, |name| Mutant::new(name).start(Some(&user)));
    tell(&Matrix::new(
        "rootless",
        names.into_iter().zip(found).collect(),
    ));
}

/// Shows the matrix, leaves it for `./x locks`, and fails the test for whatever nobody noticed.
#[track_caller]
fn tell(matrix: &Matrix) {
    println!("{}", matrix.text());
    matrix.write(&mutant::folder_of_tables());
    let problems = matrix.problems();
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

/// The control: the same build with nothing switched off is right in every row.
#[test]
fn mutation_of_nothing_is_served() {
    let test = "mutation_of_nothing_is_served";
    if !skips::is_root(test) {
        return;
    }
    let mutant = Mutant::new("");
    let Some(world) = World::with_config(test, &mutant.programs()) else {
        return;
    };
    world.python("print(1)").exited(0);
}

#[test]
fn mutation_is_in_no_program_to_use() {
    for program in mutant::PROGRAMS {
        let bytes = fs::read(skips::bin_dir().join(program)).expect("read a program");
        assert_eq!(
            mutant::markers(&bytes).count(),
            0,
            "{program} has the marker"
        );
    }
}

#[test]
fn mutation_matrix_as_committed_names_every_lock() {
    let file = skips::repository().join("docs/locks-matrix.md");
    let text = fs::read_to_string(&file).expect("read docs/locks-matrix.md; `./x locks` writes it");
    let rows: BTreeSet<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`'))
        .map(|(name, _)| name)
        .collect();
    let missing: Vec<&str> = mutation::all()
        .into_iter()
        .map(|(name, _)| name)
        .filter(|name| !rows.contains(name))
        .collect();
    assert!(
        missing.is_empty(),
        "not in docs/locks-matrix.md, which `./x locks` writes: {missing:?}"
    );
}
