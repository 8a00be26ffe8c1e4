//! Default-deny system call filters, compiled by us into a tree over call numbers.
//!
//! [`profiles`] says what is allowed and why, [`compile`] makes the BPF program,
//! [`verdict_of`] says what the tables mean for one call, [`explain`] tells a
//! person. Installing the program is not done here, so nothing here needs
//! `unsafe` or changes any process; [`interpret`] runs a program on paper.
//!
//! Invariant: for every call, the program and `verdict_of` say the same (tested
//! for every number, both foreign ABIs and mutated arguments).

pub mod interpret;
pub mod own;
pub mod profiles;
pub mod program;
pub mod rule;
pub mod table;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use thiserror::Error;

use program::{ProgramError, Ranges, SockFilter, assemble};
use rule::{Denial, Meaning, Outcome};

/// The audit architecture word of x86_64.
pub const ARCH_X86_64: u32 = 0xC000_003E;
/// From this number on, a call came through the x32 ABI.
pub const X32_BIT: u32 = 0x4000_0000;
/// The number a tracer sets to skip a call; also what `syscall(-1)` gives.
const NR_SKIPPED: u32 = u32::MAX;

const RET_KILL_PROCESS: u32 = 0x8000_0000;
const RET_USER_NOTIF: u32 = 0x7FC0_0000;
const RET_TRACE: u32 = 0x7FF0_0000;
const RET_ERRNO: u32 = 0x0005_0000;
const RET_ALLOW: u32 = 0x7FFF_0000;

/// How much a program may do, from least to most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Profile {
    /// Interpreters and plain programs.
    Strict,
    /// Compilers, virtual machines, databases.
    Compat,
    /// Also debuggers.
    Debug,
}

/// Which sockets there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Network {
    /// No IP sockets at all.
    Sealed,
    /// TCP and UDP over IPv4 and IPv6, in an own network namespace.
    Loopback,
}

/// What happens on a denial that is worth a record; others always get their errno.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DenyAction {
    /// The call fails and the program goes on.
    Errno,
    /// The process ends with `SIGSYS`.
    Kill,
}

/// One filter, as asked for.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FilterSpec {
    /// The profile to start from.
    pub profile: Profile,
    /// Which sockets there are.
    pub network: Network,
    /// Call numbers refused in addition; wins over `extra_allow`.
    pub extra_deny: Vec<u32>,
    /// Call numbers allowed in addition; only those of [`profiles::OPTIONAL`].
    pub extra_allow: Vec<u32>,
    /// Whether files may not be made to signal others: where these are processes of the host.
    pub sealed_signals: bool,
    /// What a denial does.
    pub deny_action: DenyAction,
    /// Whether denials worth a record go to the filter's listener, which answers with
    /// [`verdict_of`]'s errno. Has no effect with [`DenyAction::Kill`].
    pub notify: bool,
}

/// What a filter does with one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// The kernel does it.
    Allow,
    /// It fails with this errno.
    Errno(u16),
    /// The listener is told, and answers with this errno.
    Notify(u16),
    /// The process ends with `SIGSYS`.
    Kill,
}

/// A compiled filter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filter {
    /// Instructions, at most [`program::INSTRUCTIONS_MAX`].
    pub program: Vec<SockFilter>,
    /// SHA-256 of the instructions in the kernel's layout, little endian.
    pub sha256: [u8; 32],
}

/// Why a filter cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CompileError {
    /// A number that is no call we know.
    #[error("{field} has {nr}, which is no known system call number; numbers end at {last}", last = table::NR_LAST)]
    UnknownNumber {
        /// The field of the spec.
        field: &'static str,
        /// The number.
        nr: u32,
    },
    /// A call that no policy may add.
    #[error("extra_allow has {name}, which is not optional; optional are: {optional}")]
    NotOptional {
        /// The call.
        name: &'static str,
        /// Names that may be added.
        optional: String,
    },
    /// A call without which the program could not start or end.
    #[error("extra_deny has {name}, without which no program can start or end; leave it out")]
    Needed {
        /// The call.
        name: &'static str,
    },
    /// The tables could not be assembled.
    #[error("assemble the filter of profile {profile:?}")]
    Assemble {
        /// The profile.
        profile: Profile,
        /// Why.
        #[source]
        source: ProgramError,
    },
}

/// What to tell a person about a refused call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Explanation {
    /// Kernel name of the call, `unknown` for a number of no known call.
    pub name: &'static str,
    /// Why it is closed.
    pub rule: &'static str,
    /// The smallest policy change that would allow it, or that there is none.
    pub fix: &'static str,
    /// What the program got.
    pub errno: u16,
}

/// A denial that the policy's own additions cause.
static BY_POLICY: Denial = Denial {
    errno: profiles::EPERM,
    told: true,
    why: "denied by the policy in addition to its profile",
    fix: "take the call out of the policy's denied system calls",
};

/// Calls that `extra_deny` must not name: the filter is installed before the program is executed.
const NEEDED: &[&str] = &["execve", "execveat", "exit", "exit_group", "rt_sigreturn"];

impl Verdict {
    /// The filter's return value for it.
    #[must_use]
    pub fn return_value(self) -> u32 {
        match self {
            Self::Allow => RET_ALLOW,
            Self::Errno(errno) => RET_ERRNO | u32::from(errno),
            Self::Notify(_) => RET_USER_NOTIF,
            Self::Kill => RET_KILL_PROCESS,
        }
    }
}

impl FilterSpec {
    /// The plain filter of a profile: errno, nothing added, nobody told.
    #[must_use]
    pub fn new(profile: Profile, network: Network) -> Self {
        Self {
            profile,
            network,
            extra_deny: Vec::new(),
            extra_allow: Vec::new(),
            sealed_signals: false,
            deny_action: DenyAction::Errno,
            notify: false,
        }
    }

    fn verdict(&self, outcome: Outcome) -> Verdict {
        match outcome {
            Outcome::Allow => Verdict::Allow,
            Outcome::Deny(denial) if !denial.told => Verdict::Errno(denial.errno),
            Outcome::Deny(_) if self.deny_action == DenyAction::Kill => Verdict::Kill,
            Outcome::Deny(denial) if self.notify => Verdict::Notify(denial.errno),
            Outcome::Deny(denial) => Verdict::Errno(denial.errno),
        }
    }

    /// What this filter says about a number.
    fn meaning(&self, nr: u32) -> Meaning {
        if nr >= X32_BIT && nr != NR_SKIPPED {
            return Meaning::Foreign;
        }
        let Some(name) = table::name_of(nr) else {
            return Meaning::Plain(Outcome::Deny(&profiles::UNKNOWN));
        };
        if self.extra_deny.contains(&nr) {
            return Meaning::Plain(Outcome::Deny(&BY_POLICY));
        }
        if self.extra_allow.contains(&nr) && profiles::optional_group(name).is_some() {
            return Meaning::Plain(Outcome::Allow);
        }
        if let Some(rule) = profiles::arguments::signals::rule(name)
            && self.sealed_signals
        {
            return Meaning::Ruled(rule);
        }
        profiles::meaning(name, self.profile, self.network)
    }

    fn outcome(&self, nr: u32, args: &[u64; 6]) -> Option<Outcome> {
        match self.meaning(nr) {
            Meaning::Plain(outcome) => Some(outcome),
            Meaning::Ruled(rule) => Some(rule.outcome(args)),
            Meaning::Foreign => None,
        }
    }

    fn check(&self) -> Result<(), CompileError> {
        for &nr in &self.extra_allow {
            let name = known("extra_allow", nr)?;
            if profiles::optional_group(name).is_none() {
                let optional: Vec<&str> = profiles::OPTIONAL
                    .iter()
                    .flat_map(|group| group.names)
                    .copied()
                    .collect();
                return Err(CompileError::NotOptional {
                    name,
                    optional: optional.join(", "),
                });
            }
        }
        for &nr in &self.extra_deny {
            let name = known("extra_deny", nr)?;
            if NEEDED.contains(&name) {
                return Err(CompileError::Needed { name });
            }
        }
        Ok(())
    }
}

fn known(field: &'static str, nr: u32) -> Result<&'static str, CompileError> {
    table::name_of(nr).ok_or(CompileError::UnknownNumber { field, nr })
}

/// Compiles a filter. The same spec always gives the same program.
///
/// # Errors
/// The spec names an unknown call, allows one that is not optional, or denies one that every
/// program needs.
pub fn compile(spec: &FilterSpec) -> Result<Filter, CompileError> {
    spec.check()?;
    let meaning = |nr| spec.meaning(nr);
    let value = |outcome| spec.verdict(outcome).return_value();
    compile_table(&meaning, &value).map_err(|source| CompileError::Assemble {
        profile: spec.profile,
        source,
    })
}

/// Compiles what a table says about every number; calls of another ABI end the process.
fn compile_table(
    meaning: &dyn Fn(u32) -> Meaning,
    value: &dyn Fn(Outcome) -> u32,
) -> Result<Filter, ProgramError> {
    let mut starts: Vec<(u32, Meaning)> = Vec::new();
    for nr in (0..=table::NR_LAST + 1).chain([X32_BIT, NR_SKIPPED]) {
        let here = if nr >= X32_BIT && nr != NR_SKIPPED {
            Meaning::Foreign
        } else {
            meaning(nr)
        };
        if !starts
            .last()
            .is_some_and(|(_, last)| same(last, &here, value))
        {
            starts.push((nr, here));
        }
    }
    let program = assemble(&Ranges {
        starts: &starts,
        value,
        arch: ARCH_X86_64,
        foreign: Verdict::Kill.return_value(),
    })?;
    Ok(Filter {
        sha256: digest(&program),
        program,
    })
}

/// What its return value is; rules are told apart by where they stand in the tables.
fn same(one: &Meaning, other: &Meaning, value: &dyn Fn(Outcome) -> u32) -> bool {
    match (one, other) {
        (Meaning::Plain(one), Meaning::Plain(other)) => value(*one) == value(*other),
        (Meaning::Foreign, Meaning::Foreign) => true,
        (Meaning::Ruled(_) | Meaning::Plain(_) | Meaning::Foreign, _) => false,
    }
}

fn digest(program: &[SockFilter]) -> [u8; 32] {
    let mut hasher = Sha256::new();
    for instruction in program {
        hasher.update(instruction.code.to_le_bytes());
        hasher.update([instruction.jt, instruction.jf]);
        hasher.update(instruction.k.to_le_bytes());
    }
    hasher.finalize().into()
}

/// What the tables mean for a native call of x86_64: the listener answers by this.
#[must_use]
pub fn verdict_of(spec: &FilterSpec, nr: u32, args: [u64; 6]) -> Verdict {
    spec.outcome(nr, &args)
        .map_or(Verdict::Kill, |outcome| spec.verdict(outcome))
}

/// Why a filter refuses a call, or `None` if it allows it.
#[must_use]
pub fn explain(spec: &FilterSpec, nr: u32, args: [u64; 6]) -> Option<Explanation> {
    let name = table::name_of(nr).unwrap_or("unknown");
    match spec.outcome(nr, &args) {
        Some(Outcome::Allow) => None,
        Some(Outcome::Deny(denial)) => Some(denial.explanation(name)),
        None => Some(Explanation {
            name,
            rule: "a system call of another ABI (x32), which no program needs",
            fix: profiles::NO_FIX,
            errno: profiles::EPERM,
        }),
    }
}

/// Why a call is refused as far as its number tells: for a call with a rule, the refusal that
/// the strict profile gives most of its arguments. [`explain`] is exact.
#[must_use]
pub fn explain_nr(nr: u32) -> Option<Explanation> {
    let spec = FilterSpec::new(Profile::Strict, Network::Sealed);
    let name = table::name_of(nr).unwrap_or("unknown");
    match spec.meaning(nr) {
        Meaning::Plain(Outcome::Allow) => None,
        Meaning::Ruled(rule) => rule.usual_denial().map(|denial| denial.explanation(name)),
        Meaning::Plain(Outcome::Deny(_)) | Meaning::Foreign => explain(&spec, nr, [0; 6]),
    }
}

impl Denial {
    fn explanation(&self, name: &'static str) -> Explanation {
        Explanation {
            name,
            rule: self.why,
            fix: self.fix,
            errno: self.errno,
        }
    }
}

#[cfg(test)]
mod tests;
