//! From a [`Document`] to a [`Policy`]: *resolve*.
//!
//! **An unset field** takes the value of the policy that the document extends. In a document that
//! extends nothing it takes the most restrictive value (0, empty, `false`, `sealed`, `strict`,
//! noexec), so that nothing is allowed by silence. Three fields have no restrictive value that
//! means less access and take the plain one: `syscalls.deny_action = "errno"` (both words deny the
//! same calls), `code.mode = "open"` (what may be executed is bounded by `files.execute`, which is
//! empty), `limits.io_bytes_per_second_max = 0` (no rate).
//! **A set field** may only narrow (`narrow`). An *inherited* value follows what the document sets
//! (a default down to a lower limit, a list out of force when its mode is narrowed away); a value
//! that is *written* is never changed, it is right or an error.

#[cfg(test)]
mod tests;

use crate::catalog::Catalog;
use crate::document::Document;
use crate::merge::merge;
use crate::narrow::widenings;
use crate::parse::{ParseError, nearest, parse};
use crate::policy::{Policy, WALL_PER_CPU_MIN};

/// The longest chain of `extends`, the policy itself included.
pub const LINEAGE_MAX: usize = 8;

/// The name of an inline document that has none.
pub const INLINE_NAME: &str = "inline";

/// A document that has no meaning, or would widen what it extends.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ResolveError {
    /// A field that must be written is not.
    #[error("{field} is missing; write {expected}")]
    Missing {
        /// Path of the field.
        field: String,
        /// What to write.
        expected: &'static str,
    },
    /// A value that its field cannot have.
    #[error("{field} = {value} is not valid; write {expected}")]
    Invalid {
        /// Path of the field.
        field: String,
        /// What was written.
        value: String,
        /// What to write.
        expected: &'static str,
    },
    /// The extended policy is not in the catalog.
    #[error("extends = \"{parent}\" names no policy of the catalog; known: {}{}", known.join(", "), nearest_text(nearest.as_deref()))]
    UnknownParent {
        /// The name that was written.
        parent: String,
        /// Names in the catalog.
        known: Vec<String>,
        /// The name that was probably meant.
        nearest: Option<String>,
    },
    /// A policy extends itself, perhaps over others.
    #[error("extends forms a cycle: {}; remove one extends", chain.join(" -> "))]
    Cycle {
        /// Names in order, the first again at the end.
        chain: Vec<String>,
    },
    /// Too many policies in a row.
    #[error("extends forms a chain of more than {LINEAGE_MAX} policies: {}; extend one nearer to the root", chain.join(" -> "))]
    ChainTooLong {
        /// Names, root first.
        chain: Vec<String>,
    },
    /// A field is wider than in the extended policy.
    #[error(
        "{field} = {value} is wider than policy \"{parent}\", which it extends and which allows {allowed}; narrow it or leave it out"
    )]
    Widens {
        /// Path of the field.
        field: &'static str,
        /// What is too wide; of a list only the entries that are.
        value: String,
        /// What the extended policy allows.
        allowed: String,
        /// Name of the extended policy.
        parent: String,
    },
    /// A default is beyond the limit of the same thing.
    #[error("{field} = {value} is more than {limit} = {max}; lower the default or raise the limit")]
    DefaultBeyondLimit {
        /// Path of the default.
        field: &'static str,
        /// What was written.
        value: u64,
        /// Path of the limit.
        limit: &'static str,
        /// The limit in force.
        max: u64,
    },
    /// The default wall time is too close to the default CPU time.
    #[error("defaults.wall_ms = {wall_ms} is less than {WALL_PER_CPU_MIN} times defaults.cpu_ms = {cpu_ms}; set wall_ms to {} or more, or lower cpu_ms", cpu_ms.saturating_mul(WALL_PER_CPU_MIN))]
    WallTooShort {
        /// Default wall time in milliseconds.
        wall_ms: u64,
        /// Default CPU time in milliseconds.
        cpu_ms: u64,
    },
}

fn nearest_text(nearest: Option<&str>) -> String {
    nearest
        .map(|name| format!("; did you mean \"{name}\"?"))
        .unwrap_or_default()
}

impl ResolveError {
    /// Path of the field that is wrong, with list indexes where they are known.
    pub fn field(&self) -> &str {
        match self {
            Self::Missing { field, .. } | Self::Invalid { field, .. } => field,
            Self::UnknownParent { .. } | Self::Cycle { .. } | Self::ChainTooLong { .. } => {
                "extends"
            }
            Self::Widens { field, .. } | Self::DefaultBeyondLimit { field, .. } => field,
            Self::WallTooShort { .. } => "defaults.wall_ms",
        }
    }
}

/// An inline document that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InlineError {
    /// It is not a policy document.
    #[error("the inline policy cannot be read: {0}")]
    Parse(ParseError),
    /// It has no meaning or would widen what it extends.
    #[error("the inline policy is refused: {0}")]
    Resolve(ResolveError),
}

/// Gives a document its meaning.
///
/// # Errors
/// The first error in document order; [`resolve_all`] gives them all.
pub fn resolve(document: &Document, catalog: &Catalog) -> Result<Policy, ResolveError> {
    resolve_all(document, catalog).map_err(|errors| errors.first)
}

/// All that is wrong with a document: at least one error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolveErrors {
    /// The first in document order.
    pub first: ResolveError,
    /// The others.
    pub rest: Vec<ResolveError>,
}

impl ResolveErrors {
    fn of(errors: Vec<ResolveError>) -> Option<Self> {
        let mut errors = errors.into_iter();
        let first = errors.next()?;
        Some(Self {
            first,
            rest: errors.collect(),
        })
    }

    /// All errors in document order.
    pub fn iter(&self) -> impl Iterator<Item = &ResolveError> {
        std::iter::once(&self.first).chain(&self.rest)
    }
}

impl From<ResolveError> for ResolveErrors {
    fn from(first: ResolveError) -> Self {
        Self {
            first,
            rest: Vec::new(),
        }
    }
}

/// As [`resolve`], with all errors.
///
/// # Errors
/// Everything that is wrong with the document.
pub fn resolve_all(document: &Document, catalog: &Catalog) -> Result<Policy, ResolveErrors> {
    let parent = match &document.extends {
        None => None,
        Some(name) => Some(find_parent(document, name, catalog)?),
    };
    let mut errors = Vec::new();
    let policy = merge(document, parent, &mut errors);
    if policy.lineage.len() > LINEAGE_MAX {
        errors.push(ResolveError::ChainTooLong {
            chain: policy.lineage.clone(),
        });
    }
    if let Some(parent) = parent {
        errors.extend(widenings(&policy, parent).into_iter().map(|widening| {
            ResolveError::Widens {
                field: widening.field,
                value: widening.value,
                allowed: widening.allowed,
                parent: parent.name.clone(),
            }
        }));
    }
    match ResolveErrors::of(errors) {
        Some(errors) => Err(errors),
        None => Ok(policy),
    }
}

fn find_parent<'a>(
    document: &Document,
    name: &str,
    catalog: &'a Catalog,
) -> Result<&'a Policy, ResolveError> {
    if document.name.as_deref() == Some(name) {
        return Err(ResolveError::Cycle {
            chain: vec![name.to_owned(), name.to_owned()],
        });
    }
    if let Some(entry) = catalog.get(name) {
        return Ok(&entry.policy);
    }
    Err(ResolveError::UnknownParent {
        parent: name.to_owned(),
        known: catalog.names().map(str::to_owned).collect(),
        nearest: nearest(name, catalog.names()).map(str::to_owned),
    })
}

/// Reads and resolves a document that came with a request. It must extend a policy of `catalog`;
/// whether the caller may use that policy ([`Policy::parent`]) is for the daemon to check. A
/// document without a name is called [`INLINE_NAME`].
///
/// # Errors
/// It cannot be read, extends nothing, or would widen what it extends.
pub fn resolve_inline(text: &str, catalog: &Catalog) -> Result<Policy, InlineError> {
    let mut document = parse(text).map_err(InlineError::Parse)?;
    if document.extends.is_none() {
        return Err(InlineError::Resolve(ResolveError::Missing {
            field: "extends".to_owned(),
            expected: "the name of a catalog policy: a document sent inline must extend one",
        }));
    }
    document.name.get_or_insert_with(|| INLINE_NAME.to_owned());
    resolve(&document, catalog).map_err(InlineError::Resolve)
}

impl Policy {
    /// The name of the policy that this one extends, if any.
    pub fn parent(&self) -> Option<&str> {
        self.lineage.iter().rev().nth(1).map(String::as_str)
    }
}
