//! What all kinds ask of a report before its tests count: that it is whole, that something ran, and
//! that the command's own exit code does not contradict it. It knows no framework.

use super::{HarnessEvidence, Observed};
use crate::ending::Ending;
use crate::formats::{FormatError, Report};
use crate::grade::{WHERE_PROGRAMS_ARE, describe};
use crate::reading::last_words;
use crate::verdict::{Outcome, TestStatus};

/// Takes a report's tests; where it is not whole, says so in the words of a kind.
pub(super) fn observe(
    report: Result<Report, FormatError>,
    evidence: &HarnessEvidence<'_>,
) -> Observed {
    let mut observed = Observed::default();
    match report {
        Ok(report) => {
            observed.tests = report.tests;
            if !report.complete {
                let why = report.trouble.join("; ");
                not_whole(&mut observed, evidence, &why);
            }
        }
        Err(error) => not_whole(&mut observed, evidence, &error.to_string()),
    }
    observed
}

/// Notes that the report does not prove anything. A command that ended as if all were well although
/// its tests did not has shown none; any other has failed.
pub(super) fn not_whole(observed: &mut Observed, evidence: &HarnessEvidence<'_>, why: &str) {
    if observed.trouble.is_some() {
        return;
    }
    let ending = evidence.ended.ending;
    let told_failure = observed.tests.iter().any(|test| is_bad(test.status));
    let outcome = if observed.tests.is_empty() || (exited_well(ending) && !told_failure) {
        Outcome::NoTests
    } else {
        Outcome::Failed
    };
    let reason = format!(
        "the report is not whole: {why}; the command {}",
        how_it_ended(evidence)
    );
    observed.trouble = Some((outcome, reason));
}

/// How the command ended, and where it did not end well, what it said last.
pub(super) fn how_it_ended(evidence: &HarnessEvidence<'_>) -> String {
    let ending = evidence.ended.ending;
    let how = describe(ending);
    let said = last_words(evidence.stderr.kept);
    if exited_well(ending) || said.is_empty() {
        return how;
    }
    format!("{how}: {said}")
}

/// Notes where report and exit code say different things. For commands of our own only: an author's
/// may end as it likes.
pub(super) fn contradiction(observed: &mut Observed, evidence: &HarnessEvidence<'_>) {
    if observed.trouble.is_some() || observed.tests.is_empty() {
        return;
    }
    let ending = evidence.ended.ending;
    let bad = observed.tests.iter().any(|test| is_bad(test.status));
    let reason = match (bad, exited_well(ending)) {
        (true, true) => "tests are reported as failed",
        (false, false) => "no test is reported as failed",
        _ => return,
    };
    let reason = format!("{reason}, but the command {}", describe(ending));
    observed.trouble = Some((Outcome::Failed, reason));
}

/// A tool that this image does not have says nothing about the solution.
pub(super) fn without(tool: &str) -> Observed {
    let reason = format!("this image has no {tool}; {WHERE_PROGRAMS_ARE}");
    Observed {
        trouble: Some((Outcome::VerifierError, reason)),
        ..Observed::default()
    }
}

pub(super) fn exited_well(ending: &Ending) -> bool {
    matches!(ending, Ending::Exited { code: 0 })
}

fn is_bad(status: TestStatus) -> bool {
    matches!(
        status,
        TestStatus::Failed | TestStatus::Error | TestStatus::Timeout
    )
}
