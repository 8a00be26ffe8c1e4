//! Kind `unittest`: our runner in the process of the tests. See [`super::python`].

use super::{HarnessEvidence, HarnessPlan, Observed, python};
use crate::verify::HarnessSpec;

/// Plans the run.
pub(super) fn plan(spec: &HarnessSpec, nonce: &str) -> HarnessPlan {
    python::plan(spec, nonce, "unittest_runner.py", &[])
}

/// Reads its report.
pub(super) fn read(spec: &HarnessSpec, nonce: &str, evidence: &HarnessEvidence<'_>) -> Observed {
    python::read(spec, nonce, evidence)
}
