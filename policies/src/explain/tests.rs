//! What people read.

use super::*;
use crate::testing::{builtin, policy};

#[test]
fn python_is_explained() {
    let policy = &builtin().get("python").expect("python").policy.clone();
    let text = explain(policy);
    for line in [
        "policy python (base -> python)",
        "  It may run for 40 s, or up to 4 min when the request asks for it.",
        "  It may use 10 s of CPU time, or up to 1 min, at most 1.000 cores at a time.",
        "  It may use 512 MiB of memory, or up to 2 GiB.",
        "  It may have 64 processes and threads, and 256 open files in each process.",
        "  It may write 256 MiB in 20000 files; they count as memory too.",
        "  Of each output stream 1 MiB are kept; the run ends beyond 64 MiB of output.",
        "  It may read and write /dev/shm, /tmp, /workspace.",
        "  Nothing that it writes can be executed.",
        "  Any other call fails with an error.",
        "  It may talk to itself over loopback and reaches nothing else.",
        "  It runs as an ordinary user without capabilities.",
        "  It has no GPU.",
        "  A host that lacks a control refuses the run, except for cpu, memory, namespaces, pids.",
        "  Without an audit record there is no result.",
    ] {
        assert!(
            text.lines().any(|found| found == line),
            "{line}\nis not in\n{text}"
        );
    }
    assert!(!text.contains("This build refuses"));
    assert!(text.ends_with(".\n"));
}

#[test]
fn the_full_document_is_explained_with_what_is_refused() {
    let text = explain(&policy(
        &crate::testing::FULL.replace("extends = \"base\"", ""),
    ));
    for line in [
        "  It may reach [GET packages.example:443/simple].",
        "  It may move 1 GiB at 10 MiB a second over 8 connections.",
        "  It may move 100 MiB a second to and from disk.",
        "  Besides it may call splice.",
        "  Only code that its lists admit runs (3 entries).",
        "  It must not import ctypes.",
        "  It runs as root inside, with a fixed capability set.",
        "  It may use a GPU.",
        "  A host that lacks a control runs it and says so in the manifest.",
        "  Without an audit record the result says that it is missing.",
        "  A verdict from tests that share a process with the solution may earn reward.",
        "This build refuses runs under this policy",
    ] {
        assert!(
            text.lines().any(|found| found == line),
            "{line}\nis not in\n{text}"
        );
    }
    let grant = "  Verified code gets more: signed by \"team-key\": network \"allowlist\" \
                 [GET artifacts.internal:443], secrets [\"HF_TOKEN\"], gpu.";
    assert!(text.lines().any(|found| found == grant), "{text}");
}
