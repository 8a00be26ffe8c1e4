//! What a self-test means for a run: refused where the confinement does not hold, and in its
//! manifest the probes that showed each control.

use verdict::{ControlStatus, ManifestRow};

use super::Inner;
use super::request::{Request, RunError};
use crate::self_test::Proof;

/// Whether the confinement that the run asks for is known to hold here.
pub(super) fn check(inner: &Inner, request: &Request) -> Result<(), RunError> {
    let refused = |message| RunError::Refused {
        reason: "PROBE_FAILED",
        field: None,
        message,
    };
    if let Some(trouble) = inner.unproven.get() {
        return Err(refused(format!(
            "no run is taken, because confinement does not hold on this host: {trouble}; put the \
             host right and start the daemon anew"
        )));
    }
    match request.proof.trouble() {
        None => Ok(()),
        Some(trouble) => {
            let name = &request.policy.name;
            Err(refused(format!(
                "policy {name} is not served, because its confinement does not hold on this host: \
                 {trouble}; once the host is put right, an admin's `rollcage doctor --self-test \
                 --fresh` tests again"
            )))
        }
    }
}

/// Says of each control that holds which probes have shown so, where there was a self-test.
pub(super) fn mark(manifest: &mut [ManifestRow], proof: &Proof) {
    let Some(tested) = proof.tested() else {
        return;
    };
    for row in manifest
        .iter_mut()
        .filter(|row| row.status == ControlStatus::Enforced)
    {
        tested.proof_of(&row.name).clone_into(&mut row.proof);
    }
}
