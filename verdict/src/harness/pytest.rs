//! Kind `pytest`: our plugin in the process of the tests. See [`super::python`].

use super::{HarnessEvidence, HarnessPlan, Observed, python};
use crate::verify::HarnessSpec;

/// Plans the run. Configuration that the author does not bring is not obeyed, and ours says
/// nothing.
pub(super) fn plan(spec: &HarnessSpec, nonce: &str) -> HarnessPlan {
    python::plan(spec, nonce, "pytest_runner.py", &["pytest.ini"])
}

/// Reads its report.
pub(super) fn read(spec: &HarnessSpec, nonce: &str, evidence: &HarnessEvidence<'_>) -> Observed {
    python::read(spec, nonce, evidence)
}
