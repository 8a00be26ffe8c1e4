//! The list of targets. Each has seeds, which are valid inputs made here, and a function that
//! panics when a promise is broken.

#![expect(
    clippy::panic,
    clippy::expect_used,
    reason = "a broken promise is a panic: that is what a fuzzer looks for"
)]

mod audit_frames;
mod audit_log;
mod batch;
mod cases;
mod config;
mod files;
mod measures;
mod policy;
mod reports;
mod request;
mod sandboxfusion;
mod tasks;
mod verdicts;
mod wire;

/// One reader under test.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Its name: that of its corpus folder, and of its test.
    pub name: &'static str,
    /// What is read, in words.
    pub what: &'static str,
    /// Reads bytes; panics when a promise is broken.
    pub run: fn(&[u8]),
    /// Valid inputs.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Mutations of the seeds in the short form: fewer where one costs more.
    pub mutations: usize,
}

/// All of them.
pub const TARGETS: &[Target] = &[
    Target {
        name: "policy",
        what: "policy documents: parse, print, resolve, narrow",
        run: policy::run,
        seeds: policy::seeds,
        mutations: 2_500,
    },
    Target {
        name: "wire_launcher",
        what: "frames between api and launcher, both ways",
        run: wire::launcher,
        seeds: wire::launcher_seeds,
        mutations: 8_000,
    },
    Target {
        name: "wire_init",
        what: "frames and sealed values between api and sandbox-init, both ways",
        run: wire::init,
        seeds: wire::init_seeds,
        mutations: 8_000,
    },
    Target {
        name: "wire_boot",
        what: "frames and boot orders between forker and sandbox-init, both ways",
        run: wire::boot,
        seeds: wire::boot_seeds,
        mutations: 8_000,
    },
    Target {
        name: "audit_frames",
        what: "frames of the audit writer: requests, attestations, replies",
        run: audit_frames::run,
        seeds: audit_frames::seeds,
        mutations: 5_000,
    },
    Target {
        name: "audit_log",
        what: "the verifier over an altered log",
        run: audit_log::run,
        seeds: audit_log::seeds,
        mutations: 600,
    },
    Target {
        name: "batch",
        what: "lines of rollcage batch",
        run: batch::run,
        seeds: batch::seeds,
        mutations: 2_500,
    },
    Target {
        name: "files",
        what: "collected files as a sandbox sends them",
        run: files::run,
        seeds: files::seeds,
        mutations: 8_000,
    },
    Target {
        name: "verdict_report",
        what: "the judge's report, with its nonce",
        run: verdicts::report,
        seeds: verdicts::report_seeds,
        mutations: 3_000,
    },
    Target {
        name: "verdict_stdout",
        what: "standard output against what is expected",
        run: verdicts::stdout,
        seeds: verdicts::stdout_seeds,
        mutations: 8_000,
    },
    Target {
        name: "case_report",
        what: "what is told of a case",
        run: cases::run,
        seeds: cases::seeds,
        mutations: 8_000,
    },
    Target {
        name: "answers",
        what: "answers as text, numbers and expressions, and values of cases",
        run: cases::answers,
        seeds: cases::answer_seeds,
        mutations: 5_000,
    },
    Target {
        name: "verify_block",
        what: "the verify object of a request",
        run: verdicts::verify_block,
        seeds: verdicts::verify_seeds,
        mutations: 5_000,
    },
    Target {
        name: "test_reports",
        what: "reports of tests in every format",
        run: reports::run,
        seeds: reports::seeds,
        mutations: 8_000,
    },
    Target {
        name: "diagnostics",
        what: "messages of compilers and linters in every format",
        run: measures::diagnostics,
        seeds: measures::diagnostics_seeds,
        mutations: 6_000,
    },
    Target {
        name: "coverage",
        what: "reports of coverage tools in every format",
        run: measures::coverage,
        seeds: measures::coverage_seeds,
        mutations: 6_000,
    },
    Target {
        name: "leaks",
        what: "reports of sanitizers and valgrind",
        run: measures::leaks,
        seeds: measures::leaks_seeds,
        mutations: 6_000,
    },
    Target {
        name: "frameworks",
        what: "what the runners of test frameworks report",
        run: reports::frameworks,
        seeds: reports::framework_seeds,
        mutations: 4_000,
    },
    Target {
        name: "request",
        what: "RunRequest in protobuf or JSON, to a checked request",
        run: request::run,
        seeds: request::seeds,
        mutations: 3_000,
    },
    Target {
        name: "config",
        what: "the daemon's configuration file",
        run: config::run,
        seeds: config::seeds,
        mutations: 3_000,
    },
    Target {
        name: "sandboxfusion",
        what: "requests and files of keys of the SandboxFusion endpoint",
        run: sandboxfusion::run,
        seeds: sandboxfusion::seeds,
        mutations: 5_000,
    },
    Target {
        name: "patches",
        what: "unified diffs that are handed in as solutions of tasks",
        run: tasks::patch,
        seeds: tasks::patch_seeds,
        mutations: 8_000,
    },
    Target {
        name: "archives",
        what: "tar archives of task folders, plain and gzipped",
        run: tasks::archive,
        seeds: tasks::archive_seeds,
        mutations: 8_000,
    },
];

/// The target of that name.
#[must_use]
pub fn target(name: &str) -> Option<Target> {
    TARGETS.iter().find(|target| target.name == name).copied()
}
