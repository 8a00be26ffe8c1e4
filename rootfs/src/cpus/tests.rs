//! Tests of the texts about CPUs, with those of a made-up host.

use super::*;

const CPUINFO: &str = "processor\t: 0\nvendor_id\t: Acme\nmodel name\t: Acme 9\nmicrocode\t: 0x17\n\
cpu MHz\t\t: 2596.120\nphysical id\t: 3\napicid\t\t: 99\nflags\t\t: fpu avx2\nSerial\t\t: 4711\n\n\
processor\t: 1\nvendor_id\t: Acme\nmodel name\t: Acme 9\nflags\t\t: fpu avx2\nbugs\t\t: srso\n\n\
processor\t: 2\nvendor_id\t: Acme\nmodel name\t: Acme 9\nflags\t\t: fpu avx2\n\n";
const STAT: &str = "cpu  10 0 0 5 0\ncpu0 10 0 0 5 0\nintr 12 1 1\nctxt 99\nbtime 1700000000\n\
processes 5\n";

fn host() -> HostCpus {
    HostCpus::from_texts(CPUINFO, STAT, "1234.56 2000.00\n")
}

#[test]
fn only_leased_cpus_are_shown_and_nothing_that_names_the_machine() {
    let text = host().cpuinfo(&[0, 2]);
    assert_eq!(text.matches("processor\t: ").count(), 2);
    assert!(text.contains("processor\t: 0\n") && text.contains("processor\t: 2\n"));
    assert!(text.contains("flags\t\t: fpu avx2\n") && text.contains("Acme 9"));
    assert!(text.contains("siblings\t: 2\n") && text.contains("core id\t\t: 1\n"));
    for hidden in [
        "microcode",
        "MHz",
        "99",
        "Serial",
        "bugs",
        "physical id\t: 3",
    ] {
        assert!(!text.contains(hidden), "{hidden}: {text}");
    }
}

#[test]
fn a_cpu_that_the_host_did_not_describe_still_counts() {
    assert_eq!(host().cpuinfo(&[7]).matches("processor\t: 7\n").count(), 1);
}

#[test]
fn stat_has_a_line_for_each_leased_cpu_and_no_figure_of_the_host() {
    let text = host().stat(&[1]);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "cpu  0 0 0 123400 0 0 0 0 0 0");
    assert_eq!(lines[1], "cpu1 0 0 0 123400 0 0 0 0 0 0");
    assert!(lines[2].starts_with("intr"), "{text}");
    assert!(text.contains("btime 1700000000\n"), "{text}");
    assert!(!text.contains("12 1 1"), "{text}");
}

#[test]
fn lists_are_written_as_the_kernel_does() {
    assert_eq!(list(&[]), "");
    assert_eq!(list(&[1]), "1");
    assert_eq!(list(&[3, 0, 1, 2, 5, 7, 8]), "0-3,5,7-8");
    assert_eq!(list(&[u32::MAX, 4]), "4,4294967295");
}
