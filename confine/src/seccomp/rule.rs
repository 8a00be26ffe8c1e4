//! The vocabulary of the tables: outcomes, denials and rules over arguments,
//! and what they mean for a call. No rule of any profile is here.
//!
//! Arguments are compared on their low 32 bits: every argument that a rule
//! looks at is an `int` or an `unsigned` to the kernel, which drops the upper
//! half too, so a comparison of all 64 bits could be walked around by setting
//! an upper one.

/// A refusal: what the caller gets, and what a person is told.
#[derive(Debug, PartialEq, Eq)]
pub struct Denial {
    /// The `errno` of the refused call.
    pub errno: u16,
    /// Whether it is worth a record: an act, not a program probing for features.
    pub told: bool,
    /// Why it is closed, in a few words.
    pub why: &'static str,
    /// The smallest policy change that would allow it, or that there is none.
    pub fix: &'static str,
}

/// What a table says about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The kernel does it.
    Allow,
    /// The caller gets the denial's errno.
    Deny(&'static Denial),
}

/// One test of one argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Test {
    /// Position of the argument, 0 to 5.
    pub arg: u8,
    /// Bits that count, of the low 32.
    pub mask: u32,
    /// What they have to be.
    pub want: Want,
}

/// What the masked argument has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Want {
    /// One of these values.
    In(&'static [u32]),
    /// Not zero: any of the mask's bits is set.
    AnyBit,
    /// The number of the process that asks: for filters of our own, made where they are installed.
    OwnProcess,
}

/// All tests hold: the outcome stands, and no later clause is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clause {
    /// The tests; none is never written, as it would always hold.
    pub when: &'static [Test],
    /// The outcome.
    pub then: Outcome,
}

/// Clauses in order, the first that holds decides.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// The clauses.
    pub clauses: &'static [Clause],
    /// The outcome where no clause holds.
    pub otherwise: Outcome,
}

/// What a table says about one call number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// The same for all arguments.
    Plain(Outcome),
    /// Depends on them.
    Ruled(&'static Rule),
    /// A number of another ABI, which is never legitimate: the process ends.
    Foreign,
}

impl Test {
    /// Whether the test holds for these arguments.
    #[must_use]
    pub fn holds(&self, args: &[u64; 6]) -> bool {
        let masked = args
            .get(usize::from(self.arg))
            .map_or(0, |&arg| low_half(arg))
            & self.mask;
        match self.want {
            Want::In(values) => values.contains(&masked),
            Want::AnyBit => masked != 0,
            Want::OwnProcess => masked == std::process::id(),
        }
    }
}

impl Rule {
    /// The outcome for these arguments.
    #[must_use]
    pub fn outcome(&self, args: &[u64; 6]) -> Outcome {
        let held = |clause: &&Clause| clause.when.iter().all(|test| test.holds(args));
        self.clauses
            .iter()
            .find(held)
            .map_or(self.otherwise, |clause| clause.then)
    }

    /// The denial of everything else, or where everything else is allowed, the first one.
    #[must_use]
    pub fn usual_denial(&self) -> Option<&'static Denial> {
        let outcomes = self.clauses.iter().map(|clause| clause.then);
        std::iter::once(self.otherwise)
            .chain(outcomes)
            .find_map(|outcome| match outcome {
                Outcome::Deny(denial) => Some(denial),
                Outcome::Allow => None,
            })
    }
}

/// The low 32 bits of an argument.
#[must_use]
pub fn low_half(arg: u64) -> u32 {
    let [a, b, c, d, ..] = arg.to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}
