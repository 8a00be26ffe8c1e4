//! The compiler's back end: a balanced tree of number ranges as classic BPF.
//!
//! It knows nothing of profiles. The kernel runs a filter once for each call
//! number when it is installed (its allow bitmap), so a tree of eight
//! comparisons instead of a list of hundreds is what makes installing cheap.
//!
//! Code is written from its end to its start: a jump is then always written
//! after its targets, whose distances are known. Conditional jumps reach 255
//! instructions; a return that is further away is written again, and other
//! code is reached through an unconditional jump, whose distance has 32 bits.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::rule::{Meaning, Outcome, Rule, Test, Want};

/// One instruction, laid out as the kernel's `struct sock_filter`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SockFilter {
    /// What it does.
    pub code: u16,
    /// Instructions to skip if the comparison holds.
    pub jt: u8,
    /// Instructions to skip if it does not.
    pub jf: u8,
    /// Its constant.
    pub k: u32,
}

/// The instructions and offsets we use.
pub(super) mod op {
    /// `BPF_LD | BPF_W | BPF_ABS`.
    pub(in super::super) const LOAD: u16 = 0x20;
    /// `BPF_ALU | BPF_AND | BPF_K`.
    pub(in super::super) const AND: u16 = 0x54;
    /// `BPF_JMP | BPF_JA`.
    pub(in super::super) const JUMP: u16 = 0x05;
    /// `BPF_JMP | BPF_JEQ | BPF_K`.
    pub(in super::super) const IF_EQUAL: u16 = 0x15;
    /// `BPF_JMP | BPF_JGE | BPF_K`.
    pub(in super::super) const IF_AT_LEAST: u16 = 0x35;
    /// `BPF_JMP | BPF_JSET | BPF_K`.
    pub(in super::super) const IF_ANY_BIT: u16 = 0x45;
    /// `BPF_RET | BPF_K`.
    pub(in super::super) const RETURN: u16 = 0x06;

    /// Of the call number in `struct seccomp_data`.
    pub(in super::super) const OFFSET_NR: u32 = 0;
    /// Of the architecture word.
    pub(in super::super) const OFFSET_ARCH: u32 = 4;
    /// Of the first argument; eight bytes each, low half first on this architecture.
    pub(in super::super) const OFFSET_ARGS: u32 = 16;
}

/// Most instructions the kernel takes (`BPF_MAXINSNS`).
pub const INSTRUCTIONS_MAX: usize = 4096;

/// Why a table could not be compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ProgramError {
    /// No range, or the first does not start at 0, or starts are not ascending.
    #[error("ranges do not cover all call numbers in ascending order")]
    Ranges,
    /// A conditional jump that does not reach its target: a fault of this compiler.
    #[error("a jump is too far for its instruction")]
    Unreachable,
    /// Too long for the kernel.
    #[error("filter has {instructions} instructions, the kernel takes {INSTRUCTIONS_MAX}")]
    TooLong {
        /// Its length.
        instructions: usize,
    },
}

/// Where a jump goes.
#[derive(Debug, Clone, Copy)]
enum Target {
    /// To a return of this value, wherever one is near.
    Return(u32),
    /// To the instruction at this index, counted from the end.
    At(usize),
}

/// Farthest a conditional jump reaches.
const REACH: usize = 255;

/// The ranges of a whole table: each holds from its number to the next one's.
pub(super) struct Ranges<'a> {
    /// First number and meaning, ascending, the first at 0.
    pub(super) starts: &'a [(u32, Meaning)],
    /// The return value of an outcome.
    pub(super) value: &'a dyn Fn(Outcome) -> u32,
    /// The architecture word that is let through to the table.
    pub(super) arch: u32,
    /// The return value for every other architecture.
    pub(super) foreign: u32,
}

/// Compiles a table.
///
/// # Errors
/// The ranges are not a partition of the numbers, or the result is too long.
pub(super) fn assemble(ranges: &Ranges<'_>) -> Result<Vec<SockFilter>, ProgramError> {
    let starts = ranges.starts;
    let ascending = starts
        .windows(2)
        .all(|pair| matches!(pair, [a, b] if a.0 < b.0));
    if starts.first().is_none_or(|&(first, _)| first != 0) || !ascending {
        return Err(ProgramError::Ranges);
    }
    let mut writer = Writer {
        reversed: Vec::with_capacity(starts.len() * 3),
        returns: BTreeMap::new(),
        foreign: ranges.foreign,
        unreachable: false,
    };
    let root = writer.tree(starts, ranges.value);
    writer.fall_into(root);
    writer.push(op::LOAD, op::OFFSET_NR);
    writer.push(op::RETURN, ranges.foreign);
    writer.reversed.push(SockFilter {
        code: op::IF_EQUAL,
        jt: 1,
        jf: 0,
        k: ranges.arch,
    });
    writer.push(op::LOAD, op::OFFSET_ARCH);
    if writer.unreachable {
        return Err(ProgramError::Unreachable);
    }
    let mut program = writer.reversed;
    program.reverse();
    if program.len() > INSTRUCTIONS_MAX {
        return Err(ProgramError::TooLong {
            instructions: program.len(),
        });
    }
    Ok(program)
}

/// Writes a program from its end to its start.
struct Writer {
    reversed: Vec<SockFilter>,
    /// The nearest return of each value.
    returns: BTreeMap<u32, usize>,
    /// The return value of what no table covers.
    foreign: u32,
    /// Whether a conditional jump was too far.
    unreachable: bool,
}

impl Writer {
    fn push(&mut self, code: u16, k: u32) {
        self.reversed.push(SockFilter {
            code,
            jt: 0,
            jf: 0,
            k,
        });
    }

    /// The instruction written last, which is the next one in program order.
    fn last(&self) -> Target {
        Target::At(self.reversed.len().saturating_sub(1))
    }

    /// Makes sure that `target` is the instruction written last.
    fn fall_into(&mut self, target: Target) {
        match target {
            Target::Return(value) => self.push_return(value),
            Target::At(index) if index + 1 == self.reversed.len() => {}
            Target::At(index) => self.push_jump(index),
        }
    }

    fn push_return(&mut self, value: u32) {
        self.returns.insert(value, self.reversed.len());
        self.push(op::RETURN, value);
    }

    fn push_jump(&mut self, index: usize) {
        let distance = self.reversed.len().saturating_sub(index + 1);
        // A program that long is refused by length anyway.
        self.push(op::JUMP, u32::try_from(distance).unwrap_or(u32::MAX));
    }

    /// The index of `target` or of a stand-in for it, at most `reach` instructions ahead of an
    /// instruction written now. Writes at most one instruction.
    fn near(&mut self, target: Target, reach: usize) -> usize {
        let limit = self.reversed.len().saturating_sub(reach + 1);
        match target {
            Target::Return(value) => {
                if let Some(&index) = self.returns.get(&value)
                    && index >= limit
                {
                    return index;
                }
                self.push_return(value);
            }
            Target::At(index) if index >= limit => return index,
            Target::At(index) => self.push_jump(index),
        }
        self.reversed.len() - 1
    }

    /// A conditional jump; returns where it stands.
    fn branch(&mut self, code: u16, k: u32, holds: Target, fails: Target) -> Target {
        // Finding the second target may write one instruction, which moves the first away.
        let holds = self.near(holds, REACH - 1);
        let fails = self.near(fails, REACH);
        let here = self.reversed.len();
        let skip = |index: usize| {
            here.checked_sub(index + 1)
                .and_then(|far| u8::try_from(far).ok())
        };
        if let (Some(jt), Some(jf)) = (skip(holds), skip(fails)) {
            self.reversed.push(SockFilter { code, jt, jf, k });
        } else {
            self.unreachable = true;
        }
        self.last()
    }

    /// The tree over some ranges.
    fn tree(&mut self, starts: &[(u32, Meaning)], value: &dyn Fn(Outcome) -> u32) -> Target {
        match starts {
            [] => Target::Return(self.foreign),
            [(_, Meaning::Plain(outcome))] => Target::Return(value(*outcome)),
            [(_, Meaning::Ruled(rule))] => self.rule(rule, value),
            [(_, Meaning::Foreign)] => Target::Return(self.foreign),
            [..] => {
                let (lower, upper) = starts.split_at(starts.len() / 2);
                let pivot = upper.first().map_or(0, |&(start, _)| start);
                let upper = self.tree(upper, value);
                let lower = self.tree(lower, value);
                self.branch(op::IF_AT_LEAST, pivot, upper, lower)
            }
        }
    }

    fn rule(&mut self, rule: &Rule, value: &dyn Fn(Outcome) -> u32) -> Target {
        let mut next = Target::Return(value(rule.otherwise));
        for clause in rule.clauses.iter().rev() {
            let mut holds = Target::Return(value(clause.then));
            for test in clause.when.iter().rev() {
                holds = self.test(test, holds, next);
            }
            next = holds;
        }
        next
    }

    fn test(&mut self, test: &Test, holds: Target, fails: Target) -> Target {
        match test.want {
            // No values, no comparison: nothing to load either.
            Want::In([]) => return fails,
            Want::In(values) => {
                let mut next = fails;
                for &wanted in values.iter().rev() {
                    next = self.branch(op::IF_EQUAL, wanted, holds, next);
                }
                if test.mask != u32::MAX {
                    self.push(op::AND, test.mask);
                }
            }
            Want::OwnProcess => {
                self.branch(op::IF_EQUAL, std::process::id(), holds, fails);
            }
            Want::AnyBit => {
                self.branch(op::IF_ANY_BIT, test.mask, holds, fails);
            }
        }
        self.push(op::LOAD, op::OFFSET_ARGS + 8 * u32::from(test.arg));
        self.last()
    }
}

#[cfg(test)]
mod tests;
