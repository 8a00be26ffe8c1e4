//! Tests of the choice of CPUs.

use super::*;

fn limits(cpu_millicores_max: u64) -> LimitPlan {
    LimitPlan {
        memory_bytes_max: 1 << 26,
        pids_max: 8,
        cpu_millicores_max,
        disk_bytes_max: 1 << 20,
        files_max: 100,
        open_files_max: 32,
        cpu_ms_max: 1000,
    }
}

fn books() -> Cpus {
    Cpus {
        host: HostCpus::default(),
        load_millicores: BTreeMap::new(),
        first: 0,
    }
}

#[test]
fn a_rate_is_worth_the_next_whole_number_of_cpus() {
    for (millicores, cpus) in [
        (10, 1),
        (500, 1),
        (1000, 1),
        (1001, 2),
        (2000, 2),
        (9500, 10),
    ] {
        assert_eq!(limits(millicores).cpus(), cpus, "{millicores}");
    }
}

#[test]
fn equal_sandboxes_are_spread_over_all_cpus() {
    let allowed = [0, 1, 4, 5];
    let mut load: BTreeMap<u32, u64> = BTreeMap::new();
    let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
    for first in 0..40 {
        for cpu in choose(&allowed, &load, 1, first) {
            *load.entry(cpu).or_insert(0) += 1000;
            *counts.entry(cpu).or_insert(0) += 1;
        }
    }
    assert_eq!(counts, BTreeMap::from([(0, 10), (1, 10), (4, 10), (5, 10)]));
}

#[test]
fn the_least_loaded_are_chosen_wherever_the_search_begins() {
    let load = BTreeMap::from([(0, 3000), (1, 1000), (2, 500), (3, 2000)]);
    for first in 0..9 {
        assert_eq!(choose(&[0, 1, 2, 3], &load, 2, first), [1, 2]);
    }
    let none = BTreeMap::new();
    assert_eq!(choose(&[0, 1, 2, 3], &none, 1, 2), [2]);
    assert_eq!(choose(&[0, 1, 2, 3], &none, 2, 7), [0, 3]);
    assert_eq!(choose(&[6], &none, 1, 5), [6]);
}

#[test]
fn what_is_given_back_is_free_again_and_no_host_gives_more_than_it_has() {
    let mut cpus = books();
    let lease = cpus.lease(&limits(1_000_000), None);
    assert_eq!(lease.numbers, allowed());
    assert!(cpus.load_millicores.values().all(|load| *load > 0));
    cpus.give_back(&lease);
    assert!(cpus.load_millicores.values().all(|load| *load == 0));
}

#[test]
fn two_that_take_turns_share_their_cpus() {
    let mut cpus = books();
    let first = cpus.lease(&limits(1000), None);
    let second = cpus.lease(&limits(1000), Some(&first));
    assert_eq!(first.numbers, second.numbers);
    let view = cpus.view(&second, ProcView::PidsOnly);
    assert_eq!(view.numbers.len(), 1);
    assert!(view.cpuinfo.is_empty() && view.stat.is_empty());
    let view = cpus.view(&second, ProcView::Masked);
    assert_eq!(view.cpuinfo.matches("processor").count(), 1);
}
