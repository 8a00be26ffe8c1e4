//! Leaks and misuses of memory.

use verdict::leaks::{LeakFormat as F, parse};

use super::{bytes, set};

/// Samples: what is found, where, how many of them are leaks and how many bytes these have.
const SAMPLES: [(&str, F, &[&str], usize, u64); 10] = [
    (
        "asan_CWE122/stderr.txt",
        F::Asan,
        &["heap-buffer-overflow _01.c:39"],
        0,
        0,
    ),
    (
        "asan_CWE401/stderr.txt",
        F::Asan,
        &["Direct leak _01.c:29"],
        1,
        800,
    ),
    (
        "asan_CWE416/stderr.txt",
        F::Asan,
        &["heap-use-after-free io.c:15"],
        0,
        0,
    ),
    (
        "asan_CWE476/stderr.txt",
        F::Asan,
        &["undefined-behavior _01.c:26", "SEGV _01.c:26"],
        0,
        0,
    ),
    ("asan_CWE190/stdout.txt", F::Asan, &[], 0, 0),
    (
        "valgrind_xml_CWE121/v.xml",
        F::ValgrindXml,
        &["Overlap _01.c:37"],
        0,
        0,
    ),
    ("valgrind_xml_CWE369/v.xml", F::ValgrindXml, &[], 0, 0),
    (
        "valgrind_xml_CWE401/v.xml",
        F::ValgrindXml,
        &["Leak_DefinitelyLost _01.c:29"],
        1,
        800,
    ),
    (
        "valgrind_xml_CWE476/v.xml",
        F::ValgrindXml,
        &["InvalidRead _01.c:26"],
        0,
        0,
    ),
    (
        "valgrind_xml_CWE590/v.xml",
        F::ValgrindXml,
        &["InvalidFree _01.c:36"],
        0,
        0,
    ),
];

#[test]
fn sanitizers_and_valgrind_are_understood() {
    let Some(folder) = set("tool_outputs_local", 10) else {
        return;
    };
    for (name, format, expected, leaks, leaked_bytes) in SAMPLES {
        let report = parse(format, &bytes(&folder.join(name))).expect("a report");
        let found: Vec<_> = (report.findings.iter())
            .map(|it| format!("{} {}:{}", it.kind, it.file, it.line.unwrap_or(0)))
            .collect();
        let same = found.len() == expected.len()
            && found.iter().zip(expected).all(|(found, expected)| {
                let (kind, place) = expected.rsplit_once(' ').expect("kind and place");
                found.starts_with(kind) && found.ends_with(place)
            });
        assert!(same, "{name}: {report:#?}");
        assert_eq!(
            (report.leaks(), report.leaked_bytes()),
            (leaks, leaked_bytes),
            "{name}"
        );
        assert_eq!(report.complete, format == F::ValgrindXml, "{name}");
    }
}

/// The converter whose sample this is joins both errors into one test case that failed.
#[test]
fn an_older_valgrinds_sample_has_its_errors() {
    let Some(folder) = set("reports_xunit_plugin", 1) else {
        return;
    };
    let input = folder.join("valgrind/testcase1/input.xml");
    let report = parse(F::ValgrindXml, &bytes(&input)).expect("a report");
    let kinds: Vec<_> = report.findings.iter().map(|it| it.kind.as_str()).collect();
    assert_eq!(kinds, ["UninitCondition", "SyscallParam"]);
}
