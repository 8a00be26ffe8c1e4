//! From results and events of the engine to messages. Pure naming: nothing is decided here.

use proto::v1;
use verdict::ending::MemorySource;
use verdict::{
    ControlLayer, ControlStatus, Denial, DenialLayer, Diagnostic, Ending, Evidence, Isolation,
    ManifestRow, Outcome, Pressure, PressureSource, Severity, TestResult, TestStatus, Usage,
    Verdict,
};

use crate::run::request::{Attempt, Captured, Event, OutputStream, RunResult, Why};

/// A result as told to its caller.
#[must_use]
pub fn run_result(result: RunResult, node: &str) -> v1::RunResult {
    let (stdout, stdout_summary) = captured(result.stdout);
    let (stderr, stderr_summary) = captured(result.stderr);
    v1::RunResult {
        id: result.id,
        run_id: result.run_id,
        ending: Some(ending(result.ending)),
        verdict: Some(verdict(result.verdict)),
        dropped_bytes: Some(v1::DroppedBytes {
            stdout: stdout.1,
            stderr: stderr.1,
        }),
        stdout: stdout.0,
        stderr: stderr.0,
        stdout_summary: Some(stdout_summary),
        stderr_summary: Some(stderr_summary),
        usage: Some(usage(&result.usage)),
        denials: result.denials.into_iter().map(denial).collect(),
        manifest: result.manifest.into_iter().map(manifest_row).collect(),
        files: result
            .files
            .into_iter()
            .map(|file| v1::CollectedFile {
                path: file.path,
                content: file.content,
                mode: file.mode,
            })
            .collect(),
        files_missing: result
            .files_missing
            .into_iter()
            .map(|(path, reason)| v1::MissingFile { path, reason })
            .collect(),
        audit: Some(v1::AuditReceipt {
            seq: result.audit.seq,
            sha256: result.audit.sha256,
        }),
        sandbox_id: result.sandbox_id,
        node: node.to_owned(),
        error: None,
        earlier_attempts: result.earlier.into_iter().map(attempt).collect(),
    }
}

fn attempt(attempt: Attempt) -> v1::Attempt {
    let why = match attempt.why {
        Why::InfraError => v1::RetryReason::InfraError,
        Why::HostBusy => v1::RetryReason::HostBusy,
    };
    v1::Attempt {
        why: why.into(),
        sandbox_id: attempt.sandbox_id,
        outcome: outcome(attempt.outcome).into(),
        reason: attempt.reason,
        audit: Some(v1::AuditReceipt {
            seq: attempt.audit.seq,
            sha256: attempt.audit.sha256,
        }),
    }
}

fn captured(stream: Captured) -> ((Vec<u8>, u64), v1::StreamSummary) {
    let summary = v1::StreamSummary {
        total_bytes: stream.total_bytes,
        head_bytes: stream.head_bytes,
        sha256: stream.sha256,
    };
    ((stream.kept, stream.dropped_bytes), summary)
}

/// An event as told to the caller of `Stream`.
#[must_use]
pub fn event(event: Event, run_id: &str) -> v1::RunEvent {
    let run_id = run_id.to_owned();
    let event = match event {
        Event::Queued => v1::run_event::Event::Queued(v1::RunQueued { run_id }),
        Event::Started { sandbox_id } => {
            v1::run_event::Event::Started(v1::RunStarted { run_id, sandbox_id })
        }
        Event::Output { stream, seq, bytes } => {
            let stream = match stream {
                OutputStream::Stdout => v1::OutputStream::Stdout,
                OutputStream::Stderr => v1::OutputStream::Stderr,
            };
            v1::run_event::Event::Output(v1::RunOutput {
                stream: stream.into(),
                seq,
                data: bytes,
            })
        }
    };
    v1::RunEvent { event: Some(event) }
}

/// The kind of an ending.
#[must_use]
pub fn ending_kind(ending: &Ending) -> v1::EndingKind {
    match ending {
        Ending::Exited { .. } => v1::EndingKind::Exited,
        Ending::Signalled { .. } => v1::EndingKind::Signalled,
        Ending::WallTimeUp { .. } => v1::EndingKind::WallTimeUp,
        Ending::CpuTimeUp { .. } => v1::EndingKind::CpuTimeUp,
        Ending::MemoryUp { .. } => v1::EndingKind::MemoryUp,
        Ending::OutputUp { .. } => v1::EndingKind::OutputUp,
        Ending::DiskUp { .. } => v1::EndingKind::DiskUp,
        Ending::PidsUp { .. } => v1::EndingKind::PidsUp,
        Ending::SyscallDenied { .. } => v1::EndingKind::SyscallDenied,
        Ending::Cancelled { .. } => v1::EndingKind::Cancelled,
        Ending::NotStarted { .. } => v1::EndingKind::NotStarted,
        Ending::SandboxFailed { .. } => v1::EndingKind::SandboxFailed,
    }
}

fn ending(ending: Ending) -> v1::Ending {
    let kind = ending_kind(&ending).into();
    let empty = v1::Ending {
        kind,
        ..v1::Ending::default()
    };
    match ending {
        Ending::Exited { code } => v1::Ending {
            code: Some(code),
            ..empty
        },
        Ending::Signalled {
            signal,
            core_dumped,
            sent_by,
        } => v1::Ending {
            signal: Some(signal),
            core_dumped: Some(core_dumped),
            sent_by,
            ..empty
        },
        Ending::SyscallDenied { syscall, rule } => v1::Ending {
            syscall: Some(syscall),
            rule: Some(rule),
            ..empty
        },
        Ending::Cancelled { by } => v1::Ending {
            by: Some(by),
            ..empty
        },
        Ending::NotStarted { code, path, reason } => v1::Ending {
            code: Some(code),
            path: Some(path),
            reason: Some(reason),
            ..empty
        },
        Ending::SandboxFailed { step, reason } => v1::Ending {
            step: Some(step),
            reason: Some(reason),
            ..empty
        },
        limit => limit_ending(limit, empty),
    }
}

/// The endings by a limit; others stay as they are.
fn limit_ending(ending: Ending, empty: v1::Ending) -> v1::Ending {
    match ending {
        Ending::WallTimeUp {
            limit_ms,
            used_ms,
            throttled_ms,
        }
        | Ending::CpuTimeUp {
            limit_ms,
            used_ms,
            throttled_ms,
        } => v1::Ending {
            limit_ms: Some(limit_ms),
            used_ms: Some(used_ms),
            throttled_ms: Some(throttled_ms),
            ..empty
        },
        Ending::MemoryUp {
            limit_bytes,
            peak_bytes,
            source,
        } => v1::Ending {
            limit_bytes: Some(limit_bytes),
            peak_bytes: Some(peak_bytes),
            source: Some(memory_source(source).into()),
            ..empty
        },
        Ending::OutputUp {
            cap_bytes,
            dropped_bytes,
        } => v1::Ending {
            cap_bytes: Some(cap_bytes),
            dropped_bytes: Some(dropped_bytes),
            ..empty
        },
        Ending::DiskUp {
            limit_bytes,
            first_refusal,
        } => v1::Ending {
            limit_bytes: Some(limit_bytes),
            first_refusal: Some(first_refusal),
            ..empty
        },
        Ending::PidsUp {
            limit,
            first_refusal,
        } => v1::Ending {
            limit: Some(limit),
            first_refusal: Some(first_refusal),
            ..empty
        },
        _ => empty,
    }
}

fn memory_source(source: MemorySource) -> v1::MemorySource {
    match source {
        MemorySource::Cgroup => v1::MemorySource::Cgroup,
        MemorySource::RssPoll => v1::MemorySource::RssPoll,
    }
}

/// An outcome.
#[must_use]
pub fn outcome(outcome: Outcome) -> v1::Outcome {
    match outcome {
        Outcome::Passed => v1::Outcome::Passed,
        Outcome::Failed => v1::Outcome::Failed,
        Outcome::CompileError => v1::Outcome::CompileError,
        Outcome::Timeout => v1::Outcome::Timeout,
        Outcome::OutOfMemory => v1::Outcome::OutOfMemory,
        Outcome::PolicyViolation => v1::Outcome::PolicyViolation,
        Outcome::OutputLimit => v1::Outcome::OutputLimit,
        Outcome::NoTests => v1::Outcome::NoTests,
        Outcome::Tampered => v1::Outcome::Tampered,
        Outcome::VerifierError => v1::Outcome::VerifierError,
        Outcome::InfraError => v1::Outcome::InfraError,
        Outcome::Unjudged => v1::Outcome::Unjudged,
    }
}

fn verdict(verdict: Verdict) -> v1::Verdict {
    v1::Verdict {
        outcome: outcome(verdict.outcome()).into(),
        reward: verdict.reward(),
        scorable: verdict.scorable(),
        reason: verdict.reason,
        tests: verdict.tests.into_iter().map(test).collect(),
        diagnostics: verdict.diagnostics.into_iter().map(diagnostic).collect(),
        tamper: verdict
            .tamper
            .into_iter()
            .map(|note| v1::TamperNote {
                path: note.path,
                what: note.what,
            })
            .collect(),
        evidence: Some(evidence(verdict.evidence)),
        metrics: verdict.metrics,
    }
}

fn some_text(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}

fn test(test: TestResult) -> v1::TestResult {
    let status = match test.status {
        TestStatus::Passed => v1::TestStatus::Passed,
        TestStatus::Failed => v1::TestStatus::Failed,
        TestStatus::Error => v1::TestStatus::Error,
        TestStatus::Skipped => v1::TestStatus::Skipped,
        TestStatus::Xfail => v1::TestStatus::Xfail,
        TestStatus::Xpass => v1::TestStatus::Xpass,
        TestStatus::Timeout => v1::TestStatus::Timeout,
        TestStatus::Missing => v1::TestStatus::Missing,
    };
    v1::TestResult {
        id: test.id,
        status: status.into(),
        duration_ms: test.duration_ms,
        message: some_text(test.message),
        file: some_text(test.file),
        line: test.line,
    }
}

fn diagnostic(diagnostic: Diagnostic) -> v1::Diagnostic {
    let severity = match diagnostic.severity {
        Severity::Error => v1::Severity::Error,
        Severity::Warning => v1::Severity::Warning,
        Severity::Note => v1::Severity::Note,
    };
    v1::Diagnostic {
        tool: diagnostic.tool,
        severity: severity.into(),
        code: some_text(diagnostic.code),
        message: diagnostic.message,
        file: some_text(diagnostic.file),
        line: diagnostic.line,
        column: diagnostic.column,
    }
}

fn evidence(evidence: Evidence) -> v1::Evidence {
    let isolation = match evidence.isolation {
        Isolation::Separate => v1::Isolation::Separate,
        Isolation::Shared => v1::Isolation::Shared,
    };
    v1::Evidence {
        image_sha256: evidence.image_sha256,
        image_unpinned: evidence.image_unpinned,
        policy_sha256: evidence.policy_sha256,
        inputs_sha256: evidence.inputs_sha256,
        tests_sha256: evidence.tests_sha256,
        verifier_sha256: evidence.verifier_sha256,
        isolation: isolation.into(),
        contention: evidence.contention.map(|contention| v1::Contention {
            host_busy: contention.host_busy,
            cpu_ms: contention.cpu_ms,
            cpu_share_ms: contention.cpu_share_ms,
            cpu_waited_ms: contention.cpu_waited_ms,
            source: contention
                .source
                .map(|source| pressure_source(source).into()),
            rerun_alone: contention.rerun_alone,
        }),
        flake: evidence.flake.map(|flake| v1::Flake {
            runs: flake.runs,
            passed: flake.passed,
            test_ids: flake.test_ids,
        }),
    }
}

fn pressure_source(source: PressureSource) -> v1::PressureSource {
    match source {
        PressureSource::Sandbox => v1::PressureSource::Sandbox,
        PressureSource::Host => v1::PressureSource::Host,
    }
}

fn usage(usage: &Usage) -> v1::Usage {
    v1::Usage {
        wall_ms: usage.wall_ms,
        cpu_user_ms: usage.cpu_user_ms,
        cpu_system_ms: usage.cpu_system_ms,
        cpu_throttled_ms: usage.cpu_throttled_ms,
        cpu_waited_ms: usage.cpu_waited_ms,
        memory_peak_bytes: usage.memory_peak_bytes,
        oom_kills: usage.oom_kills,
        pids_peak: usage.pids_peak,
        disk_bytes: usage.disk_bytes,
        inodes: usage.inodes,
        io_bytes: usage.io_bytes,
        net_bytes_in: usage.net_bytes_in,
        net_bytes_out: usage.net_bytes_out,
        gpu_ms: usage.gpu_ms,
        queue_ms: usage.queue_ms,
        start_us: usage.start_us,
        pressure: usage.pressure.map(
            |Pressure {
                 source,
                 cpu_some_us,
                 cpu_full_us,
                 memory_some_us,
                 memory_full_us,
                 io_some_us,
                 io_full_us,
             }| v1::Pressure {
                source: pressure_source(source).into(),
                cpu_some_us,
                cpu_full_us,
                memory_some_us,
                memory_full_us,
                io_some_us,
                io_full_us,
            },
        ),
    }
}

fn denial(denial: Denial) -> v1::Denial {
    let layer = match denial.layer {
        DenialLayer::Seccomp => v1::DenialLayer::Seccomp,
        DenialLayer::Landlock => v1::DenialLayer::Landlock,
        DenialLayer::Mount => v1::DenialLayer::Mount,
        DenialLayer::Cgroup => v1::DenialLayer::Cgroup,
        DenialLayer::Network => v1::DenialLayer::Network,
        DenialLayer::Code => v1::DenialLayer::Code,
    };
    v1::Denial {
        layer: layer.into(),
        act: denial.act,
        target: some_text(denial.target),
        rule: some_text(denial.rule),
        count: denial.count,
        errno: denial.errno,
        fix: some_text(denial.fix),
        suppressed: denial.suppressed,
    }
}

fn manifest_row(row: ManifestRow) -> v1::ManifestRow {
    let layer = match row.layer {
        ControlLayer::Semantics => v1::ControlLayer::Semantics,
        ControlLayer::AttackSurface => v1::ControlLayer::AttackSurface,
        ControlLayer::Resource => v1::ControlLayer::Resource,
    };
    let status = match row.status {
        ControlStatus::Enforced => v1::ControlStatus::Enforced,
        ControlStatus::Degraded => v1::ControlStatus::Degraded,
        ControlStatus::NotAsked => v1::ControlStatus::NotAsked,
    };
    v1::ManifestRow {
        name: row.name,
        layer: layer.into(),
        asked: some_text(row.asked),
        applied: some_text(row.applied),
        status: status.into(),
        reason: some_text(row.reason),
        proof: some_text(row.proof),
    }
}
