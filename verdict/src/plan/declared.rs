//! Which functions of a solution the test code calls: those that the author declares, or those of
//! the solution's own text that the test code names. It does not know the language's types.

use std::collections::BTreeSet;

use crate::verdict::{Outcome, Verdict};
use crate::verify::AssertsSpec;

/// Functions taken from a solution at most; a name may stand for several.
pub(super) const FUNCTIONS_MAX: usize = 64;

/// The judging cannot be planned: what the author wrote does not do.
pub(super) fn verifier(reason: impl Into<String>) -> Box<Verdict> {
    Box::new(Verdict::new(Outcome::VerifierError, reason))
}

/// The judging cannot be planned: the solution is not there, or not what tests could call.
pub(super) fn failed(reason: impl Into<String>) -> Box<Verdict> {
    Box::new(Verdict::new(Outcome::Failed, reason))
}

/// Of the names that a solution defines, those that its tests are about: the ones that the author
/// names, or that occur in the test code, which does not define them itself. A name of the
/// language's library means the library's, unless the tests could be about nothing else.
pub(super) fn names_meant<'a>(
    spec: &AssertsSpec,
    defined: &BTreeSet<&'a str>,
    (in_tests, defined_by_tests): (&BTreeSet<&str>, &BTreeSet<&str>),
    is_library: impl Fn(&str) -> bool,
) -> BTreeSet<&'a str> {
    if !spec.entry_points.is_empty() {
        let asked = |name: &&&str| spec.entry_points.iter().any(|entry| entry == **name);
        return defined.iter().filter(asked).copied().collect();
    }
    let named: BTreeSet<&str> = (defined.iter().copied())
        .filter(|name| in_tests.contains(name) && !defined_by_tests.contains(name))
        .collect();
    let own: BTreeSet<&str> = (named.iter().copied())
        .filter(|name| !is_library(name))
        .collect();
    if own.is_empty() { named } else { own }
}

/// The solution's text.
///
/// # Errors
/// The verdict on a solution that is missing or no text.
pub(super) fn solution_text<'a>(
    spec: &AssertsSpec,
    files: &'a std::collections::BTreeMap<String, Vec<u8>>,
) -> Result<&'a str, Box<Verdict>> {
    let bytes = files
        .get(&spec.file)
        .ok_or_else(|| failed(format!("{} is not among the files", spec.file)))?;
    std::str::from_utf8(bytes).map_err(|_error| {
        Box::new(Verdict::new(
            Outcome::CompileError,
            format!("{} is not UTF-8 text", spec.file),
        ))
    })
}
