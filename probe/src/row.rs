//! What a row of the battery is, and which answers are right for it.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Setting;

/// What is lost if the attempt works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// The program acts outside of its sandbox.
    Escape,
    /// It learns what is the host's or another's.
    HostLeak,
    /// It sends out what it knows.
    Exfiltration,
    /// It reaches another sandbox or a service.
    Lateral,
    /// It takes the host down or slows it.
    HostDos,
    /// It takes another sandbox down or slows it.
    PeerDos,
    /// It gains privileges inside, and with them a step towards the rest.
    InternalEscalation,
}

impl Class {
    /// Its name, as in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Escape => "escape",
            Self::HostLeak => "host_leak",
            Self::Exfiltration => "exfiltration",
            Self::Lateral => "lateral",
            Self::HostDos => "host_dos",
            Self::PeerDos => "peer_dos",
            Self::InternalEscalation => "internal_escalation",
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What the same attempt comes to where nothing confines it, as root in namespaces of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outside {
    /// Something else than inside, on any host.
    Differs,
    /// Hosts differ: a kernel without that part, a root without that capability.
    Varies,
    /// The same: it is to work inside as well. A battery that finds all closed proves nothing.
    Works,
    /// Not tried: it would change or burden the host.
    NotTried,
}

/// One attempt.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// Its name, unique in the battery: lower case, digits and `_`.
    pub name: &'static str,
    /// What is lost if it works.
    pub class: Class,
    /// What is tried, in one line.
    pub what: &'static str,
    /// The steps of `confine` and the locks of the launcher whose loss this row notices.
    pub steps: &'static [&'static str],
    /// What comes of it outside.
    pub outside: Outside,
    /// Whether it may end the run that it is part of: `sandbox-probe row NAME` in a run of its own.
    /// Without a line of it, the kind of the ending of that run is its result.
    pub alone: bool,
    pub(crate) want: Want,
}

/// How the right answers are known.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Want {
    /// These, everywhere.
    Always(&'static [&'static str]),
    /// These, where there are namespaces; in landlock mode it is not asked, for this reason.
    Namespaced(&'static [&'static str], &'static str),
    /// A number that is not greater.
    AtMost(u64),
    /// It depends.
    By(fn(&Setting) -> Expectation),
}

/// The right answers of one row in one setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expectation {
    /// Any of these; all are safe, the first is the usual one.
    OneOf(Vec<Cow<'static, str>>),
    /// A number, and not a greater one: a host's own limit may be lower than ours.
    AtMost(u64),
    /// The setting does not promise it; why.
    NotAsked(&'static str),
}

impl Expectation {
    /// Any of these words.
    pub(crate) fn any(words: &[&'static str]) -> Self {
        Self::OneOf(words.iter().map(|word| Cow::Borrowed(*word)).collect())
    }

    /// Whether a result is right; `None` where it is not asked.
    #[must_use]
    pub fn allows(&self, result: &str) -> Option<bool> {
        match self {
            Self::OneOf(words) => Some(words.iter().any(|word| word == result)),
            Self::AtMost(most) => Some(result.parse::<u64>().is_ok_and(|number| number <= *most)),
            Self::NotAsked(_) => None,
        }
    }
}

impl fmt::Display for Expectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OneOf(words) => f.pad(&words.join(" | ")),
            Self::AtMost(most) => write!(f, "at most {most}"),
            Self::NotAsked(why) => write!(f, "not asked: {why}"),
        }
    }
}

/// The right answers of `row` in `setting`.
#[must_use]
pub fn expected(row: &Row, setting: &Setting) -> Expectation {
    match row.want {
        Want::Always(words) => Expectation::any(words),
        Want::Namespaced(_, why) if !setting.own_namespaces => Expectation::NotAsked(why),
        Want::Namespaced(words, _) => Expectation::any(words),
        Want::AtMost(most) => Expectation::AtMost(most),
        Want::By(of) => of(setting),
    }
}

/// A row that answers otherwise outside.
pub(crate) const fn row(
    name: &'static str,
    class: Class,
    what: &'static str,
    steps: &'static [&'static str],
    want: Want,
) -> Row {
    Row {
        name,
        class,
        what,
        steps,
        outside: Outside::Differs,
        alone: false,
        want,
    }
}

impl Row {
    /// The host's own answer may be the same.
    pub(crate) const fn varies(mut self) -> Self {
        self.outside = Outside::Varies;
        self
    }

    /// It works inside and outside.
    pub(crate) const fn works(mut self) -> Self {
        self.outside = Outside::Works;
        self
    }

    /// It is not tried outside.
    pub(crate) const fn not_outside(mut self) -> Self {
        self.outside = Outside::NotTried;
        self
    }

    /// It needs a run of its own.
    pub(crate) const fn by_itself(mut self) -> Self {
        self.alone = true;
        self
    }
}
