//! The classic BPF machine, as far as seccomp programs use it: pure, for tests
//! and for showing what a filter does without installing it.
//!
//! It refuses, with the place, every instruction that our compiler does not
//! write, and so is stricter than the kernel.

use thiserror::Error;

use super::program::{SockFilter, op};
use super::rule::low_half;

/// What the kernel shows a filter about one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// The audit architecture word.
    pub arch: u32,
    /// Call number, with the x32 bit if the call came that way.
    pub nr: u32,
    /// The six argument registers.
    pub args: [u64; 6],
}

/// Why a program is not one of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum InterpretError {
    /// An instruction outside our vocabulary.
    #[error("unknown instruction {code:#x} at {at}")]
    UnknownInstruction {
        /// Index of the instruction.
        at: usize,
        /// Its code.
        code: u16,
    },
    /// A load outside the data the kernel gives.
    #[error("load from offset {offset} at {at}")]
    BadLoad {
        /// Index of the instruction.
        at: usize,
        /// The offset.
        offset: u32,
    },
    /// The program ran past its end.
    #[error("no instruction at {at}")]
    PastEnd {
        /// The index that does not exist.
        at: usize,
    },
}

/// The return value of the program for a call (`SECCOMP_RET_*` with its data).
///
/// # Errors
/// The program has an instruction, a load or a jump that our compiler never writes.
pub fn interpret(program: &[SockFilter], call: &Call) -> Result<u32, InterpretError> {
    let mut accumulator = 0u32;
    let mut at = 0usize;
    loop {
        let &SockFilter { code, jt, jf, k } =
            program.get(at).ok_or(InterpretError::PastEnd { at })?;
        let jump = |holds: bool| usize::from(if holds { jt } else { jf });
        let skip = match code {
            op::LOAD => {
                accumulator = call
                    .word(k)
                    .ok_or(InterpretError::BadLoad { at, offset: k })?;
                0
            }
            op::AND => {
                accumulator &= k;
                0
            }
            op::JUMP => usize::try_from(k).unwrap_or(usize::MAX),
            op::IF_EQUAL => jump(accumulator == k),
            op::IF_AT_LEAST => jump(accumulator >= k),
            op::IF_ANY_BIT => jump(accumulator & k != 0),
            op::RETURN => return Ok(k),
            _ => return Err(InterpretError::UnknownInstruction { at, code }),
        };
        at = at.saturating_add(1).saturating_add(skip);
    }
}

impl Call {
    /// The 32-bit word at an offset of `struct seccomp_data`; the instruction pointer reads as 0.
    fn word(&self, offset: u32) -> Option<u32> {
        if !offset.is_multiple_of(4) {
            return None;
        }
        match offset {
            op::OFFSET_NR => Some(self.nr),
            op::OFFSET_ARCH => Some(self.arch),
            8 | 12 => Some(0),
            _ => {
                let from_args = offset.checked_sub(op::OFFSET_ARGS)?;
                let arg = *self.args.get(usize::try_from(from_args / 8).ok()?)?;
                Some(low_half(if from_args.is_multiple_of(8) {
                    arg
                } else {
                    arg >> 32
                }))
            }
        }
    }
}
