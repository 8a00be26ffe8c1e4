//! The compiler against the meaning of its input, on random tables.

use super::*;
use crate::seccomp::interpret::{Call, interpret};
use crate::seccomp::rule::{Clause, Denial};

const ARCH: u32 = 0xC000_003E;
const FOREIGN: u32 = 0x8000_0000;

/// A small generator, so that a failing seed is a whole reproduction.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(bound).unwrap()).unwrap()
    }

    fn word(&mut self) -> u32 {
        // Small values, so that tests often hold.
        u32::try_from(self.below(12)).unwrap() << (8 * self.below(3))
    }

    fn call(&mut self, nr: u32) -> Call {
        let args = std::array::from_fn(|_| u64::from(self.word()) | (u64::from(self.word()) << 32));
        let arch = if self.below(20) == 0 {
            0x4000_0003
        } else {
            ARCH
        };
        Call { arch, nr, args }
    }

    fn outcome(&mut self) -> Outcome {
        if self.below(2) == 0 {
            return Outcome::Allow;
        }
        let errno = u16::try_from(1 + self.below(40)).unwrap();
        Outcome::Deny(Box::leak(Box::new(Denial {
            errno,
            told: false,
            why: "",
            fix: "",
        })))
    }

    fn test(&mut self) -> Test {
        let arg = u8::try_from(self.below(6)).unwrap();
        let mask = [u32::MAX, 0xf, 0xff00, 0x0001_0001][self.below(4)];
        let want = if self.below(3) == 0 {
            Want::AnyBit
        } else {
            let count = self.below(9);
            Want::In((0..count).map(|_| self.word()).collect::<Vec<_>>().leak())
        };
        Test { arg, mask, want }
    }

    fn meaning(&mut self, ruled_per_mille: usize) -> Meaning {
        if self.below(1000) >= ruled_per_mille {
            return Meaning::Plain(self.outcome());
        }
        let count = 1 + self.below(5);
        let clauses: Vec<Clause> = (0..count)
            .map(|_| {
                let tests = 1 + self.below(3);
                let when: Vec<Test> = (0..tests).map(|_| self.test()).collect();
                Clause {
                    when: when.leak(),
                    then: self.outcome(),
                }
            })
            .collect();
        let rule = Rule {
            clauses: clauses.leak(),
            otherwise: self.outcome(),
        };
        Meaning::Ruled(Box::leak(Box::new(rule)))
    }
}

fn value(outcome: Outcome) -> u32 {
    match outcome {
        Outcome::Allow => 0x7fff_0000,
        Outcome::Deny(denial) => 0x0005_0000 | u32::from(denial.errno),
    }
}

fn expected(starts: &[(u32, Meaning)], call: &Call) -> u32 {
    if call.arch != ARCH {
        return FOREIGN;
    }
    match starts
        .iter()
        .rev()
        .find(|&&(start, _)| start <= call.nr)
        .unwrap()
        .1
    {
        Meaning::Plain(outcome) => value(outcome),
        Meaning::Ruled(rule) => value(rule.outcome(&call.args)),
        Meaning::Foreign => FOREIGN,
    }
}

fn assembled(starts: &[(u32, Meaning)]) -> Vec<SockFilter> {
    assemble(&Ranges {
        starts,
        value: &value,
        arch: ARCH,
        foreign: FOREIGN,
    })
    .unwrap()
}

#[test]
fn random_tables_do_what_they_say() {
    for seed in 1..=60u64 {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let ruled_per_mille = [0, 50, 400][random.below(3)];
        let count = 1 + random.below(120);
        let mut starts = vec![(0, random.meaning(ruled_per_mille))];
        for _ in 1..count {
            let last = starts.last().unwrap().0;
            let gap = 1 + u32::try_from(random.below(7)).unwrap();
            starts.push((last + gap, random.meaning(ruled_per_mille)));
        }
        let program = assembled(&starts);
        let end = starts.last().unwrap().0 + 3;
        let numbers = (0..=end).chain([0x3fff_ffff, 0x4000_0000, u32::MAX]);
        for nr in numbers.flat_map(|nr| [nr; 8]) {
            let call = random.call(nr);
            let result = interpret(&program, &call);
            assert_eq!(
                result,
                Ok(expected(&starts, &call)),
                "seed {seed}, {call:x?}"
            );
        }
    }
}

#[test]
fn far_targets_are_reached() {
    // Many rules: most of the tree is beyond a short jump.
    let mut random = Random(7);
    let starts: Vec<(u32, Meaning)> = (0..300).map(|nr| (nr, random.meaning(300))).collect();
    let program = assembled(&starts);
    assert!(program.len() > 1500, "{}", program.len());
    assert!(
        program
            .iter()
            .any(|instruction| instruction.code == op::JUMP)
    );
    for nr in (0..300).flat_map(|nr| [nr; 20]) {
        let call = random.call(nr);
        assert_eq!(
            interpret(&program, &call),
            Ok(expected(&starts, &call)),
            "{call:x?}"
        );
    }
}

#[test]
fn bad_ranges_and_overlong_programs_are_refused() {
    let refused = |starts: &[(u32, Meaning)]| {
        assemble(&Ranges {
            starts,
            value: &value,
            arch: ARCH,
            foreign: FOREIGN,
        })
        .unwrap_err()
    };
    let allow = Meaning::Plain(Outcome::Allow);
    assert_eq!(refused(&[]), ProgramError::Ranges);
    assert_eq!(refused(&[(1, allow)]), ProgramError::Ranges);
    assert_eq!(refused(&[(0, allow), (0, allow)]), ProgramError::Ranges);
    let mut random = Random(3);
    let long: Vec<(u32, Meaning)> = (0..3000).map(|nr| (nr, random.meaning(900))).collect();
    assert!(matches!(refused(&long), ProgramError::TooLong { .. }));
}

#[test]
fn layout_is_the_kernels() {
    assert_eq!(size_of::<SockFilter>(), size_of::<libc::sock_filter>());
    assert_eq!(align_of::<SockFilter>(), align_of::<libc::sock_filter>());
    assert_eq!(
        std::mem::offset_of!(SockFilter, jt),
        std::mem::offset_of!(libc::sock_filter, jt)
    );
    assert_eq!(
        std::mem::offset_of!(SockFilter, k),
        std::mem::offset_of!(libc::sock_filter, k)
    );
}
