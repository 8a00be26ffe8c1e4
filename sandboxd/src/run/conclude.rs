//! From what became known about a sandbox to what a result says: ending, usage, denials, manifest.
//!
//! Pure. The ending itself is decided by [`verdict::ending::decide_ending`]; here its evidence
//! is put together.

use confine::report::{Layer, Status, StepReport};
use confine::seccomp::explain_nr;
use confine::wire::{DeniedCall, DiskUse, KernelCounters, Stalls};
use policies::{DenyAction, EffectiveLimits};
use verdict::ending::{
    Counters, DiskAtEnd, KernelEvidence, KillCause, Limits, ProgramEnd, SandboxFault, decide_ending,
};
use verdict::{
    ControlLayer, ControlStatus, Denial, DenialLayer, Ending, ManifestRow, Pressure,
    PressureSource, Usage,
};

use super::facts::{Denials, Facts};
use super::program::Ran;

const SIGSYS: i32 = 31;
/// The kernel rounds a limit down to whole pages.
const PAGE_BYTES: u64 = 4096;
const EAGAIN: i32 = 11;
const ENOMEM: i32 = 12;
const ENOSPC: i32 = 28;

/// What a result says about one sandbox.
#[derive(Debug, Clone)]
pub(crate) struct Concluded {
    /// How the program ended.
    pub ending: Ending,
    /// What it used.
    pub usage: Usage,
    /// What it was refused.
    pub denials: Vec<Denial>,
    /// What was enforced.
    pub manifest: Vec<ManifestRow>,
}

/// Draws the conclusions. `queue_ms` is the time the run waited for its place.
pub(crate) fn conclude(
    ran: &Ran,
    limits: &EffectiveLimits,
    deny_action: DenyAction,
    queue_ms: u64,
) -> Concluded {
    let usage = usage_of(&ran.facts, queue_ms);
    let evidence = evidence_of(ran, limits, deny_action, &usage);
    Concluded {
        ending: decide_ending(&evidence),
        denials: denials_of(&ran.facts, limits),
        manifest: manifest_of(&ran.facts, limits),
        usage,
    }
}

fn evidence_of(
    ran: &Ran,
    limits: &EffectiveLimits,
    deny_action: DenyAction,
    usage: &Usage,
) -> KernelEvidence {
    let facts = &ran.facts;
    let counters = facts.reaped.as_ref().map(|reaped| &reaped.counters);
    let dropped_bytes = ran.stdout.dropped_bytes + ran.stderr.dropped_bytes;
    let mut kills = facts.kills.clone();
    for kill in &mut kills {
        if let KillCause::Output { dropped_bytes: all } = &mut kill.cause {
            *all = dropped_bytes;
        }
    }
    KernelEvidence {
        program: program_end(facts, deny_action),
        ended_at_ms: facts.ended_at.map(|ended| facts.ran_ms(ended)),
        kills,
        signals_sent: Vec::new(),
        limits: Limits {
            wall_ms: Some(limits.wall_ms_max),
            cpu_ms: Some(limits.cpu_ms_max),
            memory_bytes: Some(limits.memory_bytes_max),
            pids: Some(limits.pids_max),
            disk_bytes: Some(limits.disk_bytes_max),
            output_bytes_total: Some(limits.output_bytes_total_max),
        },
        counters: Counters {
            wall_ms: usage.wall_ms,
            cpu_ms: usage.cpu_user_ms + usage.cpu_system_ms,
            throttled_ms: usage.cpu_throttled_ms,
            oom_kills: usage.oom_kills,
            memory_limit_hits: counters.map_or(0, |counters| limit_hits(counters, limits)),
            memory_peak_bytes: usage.memory_peak_bytes,
            pids_limit_hits: counters.map_or(0, |counters| counters.pids_limit_hits),
        },
        disk: facts.disk.and_then(disk_at_end),
        fault: facts
            .fault
            .clone()
            .or_else(|| killed_before_exec(facts, usage)),
    }
}

/// What was to become the program was killed before it was: by the host, unless we or the memory
/// limit of the sandbox did it. Nothing of the program or the judge ran that could have.
fn killed_before_exec(facts: &Facts, usage: &Usage) -> Option<SandboxFault> {
    let Some(ProgramEnd::Signalled { signal, .. }) = facts.program else {
        return None;
    };
    let by_us = !facts.kills.is_empty() || usage.oom_kills > 0;
    (facts.spawned_at.is_none() && !by_us).then(|| SandboxFault {
        step: "spawn".to_owned(),
        reason: format!("signal {signal} ended its process before the program was executed"),
    })
}

/// How often the sandbox's own memory limit was hit. Some kernels (seen: 6.18, v1 groups) no
/// longer count that; a peak that touched the limit is the same evidence, worth one hit.
fn limit_hits(counters: &KernelCounters, limits: &EffectiveLimits) -> u64 {
    let touched = counters.memory_peak_bytes.saturating_add(PAGE_BYTES) > limits.memory_bytes_max;
    counters.memory_limit_hits.max(u64::from(touched))
}

/// A file system without a size is one that could not be looked at.
fn disk_at_end(disk: DiskUse) -> Option<DiskAtEnd> {
    (disk.bytes_max > 0).then(|| DiskAtEnd {
        free_bytes: disk.bytes_max.saturating_sub(disk.bytes),
        free_inodes: disk.inodes_max.saturating_sub(disk.inodes),
    })
}

/// What init said, and for a policy that kills on denied calls the call that did it.
fn program_end(facts: &Facts, deny_action: DenyAction) -> ProgramEnd {
    let end = facts.program.clone().unwrap_or(ProgramEnd::NotReported);
    let killed_by_filter = deny_action == DenyAction::Kill
        && matches!(end, ProgramEnd::Signalled { signal: SIGSYS, .. });
    if !killed_by_filter {
        return end;
    }
    let explained = facts.denials.last.and_then(explain_nr);
    ProgramEnd::SyscallKilled {
        syscall: explained.map_or("unknown", |call| call.name).to_owned(),
        rule: explained
            .map_or("the system call filter of the policy's profile", |call| {
                call.rule
            })
            .to_owned(),
    }
}

fn usage_of(facts: &Facts, queue_ms: u64) -> Usage {
    let counters = facts.reaped.as_ref().map(|reaped| reaped.counters.clone());
    let counters = counters.unwrap_or_default();
    let disk = facts.disk.unwrap_or_default();
    let ended_at = facts.ended_at.or(facts.over_at);
    // The sum is what limits are about: it is rounded once, not each part of it.
    let cpu_ms = (counters.cpu_user_us + counters.cpu_system_us) / 1000;
    let cpu_system_ms = counters.cpu_system_us / 1000;
    let usage = Usage {
        wall_ms: ended_at.map_or(0, |ended| facts.ran_ms(ended)),
        // Polled time is not told apart; it counts as user time.
        cpu_user_ms: (cpu_ms - cpu_system_ms).max(facts.polled_cpu_ms),
        cpu_system_ms,
        cpu_throttled_ms: counters.cpu_throttled_us / 1000,
        memory_peak_bytes: counters.memory_peak_bytes.max(facts.polled_peak_bytes),
        oom_kills: counters.oom_kills,
        pids_peak: counters.pids_peak,
        disk_bytes: disk.bytes,
        inodes: disk.inodes,
        io_bytes: counters.io_bytes,
        queue_ms,
        start_us: facts.spawn_us,
        pressure: counters.pressure.map(pressure_of),
        ..Usage::default()
    };
    Usage {
        cpu_waited_ms: verdict::cpu_waited_ms(&usage),
        ..usage
    }
}

fn pressure_of(stalls: Stalls) -> Pressure {
    Pressure {
        source: if stalls.of_host {
            PressureSource::Host
        } else {
            PressureSource::Sandbox
        },
        cpu_some_us: stalls.cpu_some_us,
        cpu_full_us: stalls.cpu_full_us,
        memory_some_us: stalls.memory_some_us,
        memory_full_us: stalls.memory_full_us,
        io_some_us: stalls.io_some_us,
        io_full_us: stalls.io_full_us,
    }
}

fn denials_of(facts: &Facts, limits: &EffectiveLimits) -> Vec<Denial> {
    let mut rows = syscall_denials(&facts.denials);
    let counters = facts.reaped.as_ref().map(|reaped| reaped.counters.clone());
    let counters = counters.unwrap_or_default();
    if counters.pids_limit_hits > 0 {
        let asked = limits.pids_max;
        let row = limit_denial("fork", "limits.pids_max", asked, counters.pids_limit_hits);
        rows.push(Denial {
            errno: EAGAIN,
            ..row
        });
    }
    if counters.oom_kills > 0 && limit_hits(&counters, limits) > 0 {
        let asked = limits.memory_bytes_max;
        let row = limit_denial(
            "allocate memory",
            "limits.memory_bytes_max",
            asked,
            counters.oom_kills,
        );
        rows.push(Denial {
            errno: ENOMEM,
            ..row
        });
    }
    let full = |disk: &DiskUse| disk.bytes >= disk.bytes_max && disk.bytes_max > 0;
    if facts.disk.as_ref().is_some_and(full) {
        let row = limit_denial("write", "limits.disk_bytes_max", limits.disk_bytes_max, 1);
        rows.push(Denial {
            errno: ENOSPC,
            ..row
        });
    }
    rows
}

fn limit_denial(act: &str, field: &str, value: u64, count: u64) -> Denial {
    Denial {
        layer: DenialLayer::Cgroup,
        act: act.to_owned(),
        target: String::new(),
        rule: format!("{field} = {value}"),
        count,
        errno: 0,
        fix: format!("ask for a higher {field}, or choose a policy that allows one"),
        suppressed: 0,
    }
}

fn syscall_denials(denials: &Denials) -> Vec<Denial> {
    let mut rows: Vec<Denial> = denials.calls.values().map(syscall_denial).collect();
    if let Some(first) = rows.first_mut() {
        first.suppressed = denials.suppressed;
    }
    rows
}

fn syscall_denial(call: &DeniedCall) -> Denial {
    let explained = explain_nr(call.number);
    let known = |text: fn(&confine::seccomp::Explanation) -> &'static str| {
        explained.as_ref().map_or("", text).to_owned()
    };
    let name = known(|explained| explained.name);
    Denial {
        layer: DenialLayer::Seccomp,
        act: if name.is_empty() {
            format!("system call {}", call.number)
        } else {
            name
        },
        target: format!("{:#x}", call.first_arg),
        rule: known(|explained| explained.rule),
        count: call.count,
        errno: call.errno,
        fix: known(|explained| explained.fix),
        suppressed: 0,
    }
}

fn manifest_of(facts: &Facts, limits: &EffectiveLimits) -> Vec<ManifestRow> {
    let mut rows: Vec<ManifestRow> = facts
        .steps
        .iter()
        .map(|step| row_of(step, limits))
        .collect();
    if facts.spawned_at.is_some() {
        rows.extend(unreported(facts));
        rows.extend(own_rows(facts, limits));
    }
    if let Some(reaped) = &facts.reaped
        && !reaped.leftovers.is_empty()
    {
        let mut row = resource_row("cleanup", String::new());
        row.status = ControlStatus::Degraded;
        row.reason = format!("left behind: {}", reaped.leftovers.join(", "));
        rows.push(row);
    }
    rows
}

/// The limits that the daemon itself enforces by killing.
fn own_rows(facts: &Facts, limits: &EffectiveLimits) -> [ManifestRow; 3] {
    let mut cpu = resource_row("cpu_time", format!("{} ms", limits.cpu_ms_max));
    if !facts.cpu_watched {
        cpu.status = ControlStatus::Degraded;
        cpu.applied = "per process only".to_owned();
        cpu.reason = "the sandbox's CPU time cannot be read on this host".to_owned();
    }
    [
        resource_row("wall_time", format!("{} ms", limits.wall_ms_max)),
        cpu,
        resource_row("output", format!("{} bytes", limits.output_bytes_total_max)),
    ]
}

fn resource_row(name: &str, value: String) -> ManifestRow {
    ManifestRow {
        name: name.to_owned(),
        layer: ControlLayer::Resource,
        asked: value.clone(),
        applied: value,
        status: ControlStatus::Enforced,
        reason: String::new(),
        proof: String::new(),
    }
}

/// Steps that a started program must have behind it but that nobody told of.
fn unreported(facts: &Facts) -> Vec<ManifestRow> {
    let told = |name: &str| facts.steps.iter().any(|step| step.step == name);
    confine::sequence::explain()
        .into_iter()
        .filter(|(name, ..)| !told(name))
        .map(|(name, layer, _why)| ManifestRow {
            name: name.to_owned(),
            layer: layer_of(layer),
            asked: REQUIRED.to_owned(),
            applied: String::new(),
            status: ControlStatus::Degraded,
            reason: "pid 1 of the sandbox did not report this step".to_owned(),
            proof: String::new(),
        })
        .collect()
}

/// What is asked of a control that has no value: that it is there.
const REQUIRED: &str = "required";

/// What was asked of a control: said by us, whatever the sandbox reports.
fn asked_of(step: &StepReport, limits: &EffectiveLimits) -> String {
    match (step.step.as_str(), &step.status) {
        (_, Status::NotAsked) => String::new(),
        ("memory", _) => format!("{} bytes", limits.memory_bytes_max),
        ("pids", _) => limits.pids_max.to_string(),
        ("cpu", _) => format!("{} millicores", limits.cpu_millicores_max),
        ("cpu_lease" | "cpu_view", _) => match limits.cpu_millicores_max.div_ceil(1000) {
            1 => "1 CPU".to_owned(),
            cpus => format!("{cpus} CPUs"),
        },
        ("workspace", _) => {
            format!(
                "{} bytes, {} inodes",
                limits.disk_bytes_max, limits.files_max
            )
        }
        ("rlimits", _) => format!("{} open files", limits.open_files_max),
        _ => REQUIRED.to_owned(),
    }
}

fn layer_of(layer: Layer) -> ControlLayer {
    match layer {
        Layer::Semantics => ControlLayer::Semantics,
        Layer::AttackSurface => ControlLayer::AttackSurface,
        Layer::Resource => ControlLayer::Resource,
    }
}

fn row_of(step: &StepReport, limits: &EffectiveLimits) -> ManifestRow {
    let (status, reason) = match &step.status {
        Status::Enforced => (ControlStatus::Enforced, String::new()),
        Status::Degraded(why) => (ControlStatus::Degraded, why.clone()),
        Status::NotAsked => (ControlStatus::NotAsked, String::new()),
    };
    ManifestRow {
        name: step.step.clone(),
        layer: layer_of(step.layer),
        asked: asked_of(step, limits),
        applied: step.applied.clone(),
        status,
        reason,
        proof: String::new(),
    }
}

#[cfg(test)]
mod tests;
