//! Whether a request is consistent in itself and could be served: looked at before it waits.

use verdict::VerifySpec;

use super::request::{Request, RunError};
use super::{Inner, grade, proof};

/// Whether what has to be built for the verification could run under the policy.
pub(super) fn build(request: &Request) -> Result<(), RunError> {
    if !grade::runs_workspace(request) || grade::build::may_execute_workspace(&request.policy) {
        return Ok(());
    }
    Err(RunError::Refused {
        reason: "POLICY_FORBIDS_BUILD",
        field: Some("policy".to_owned()),
        message: format!(
            "policy {} lets nothing in /workspace be executed, and verify.language needs the \
             solution built there; name a policy that does, for example build",
            request.policy.name
        ),
    })
}

/// What no policy has to say about a request, but its own consistency.
pub(super) fn consistent(inner: &Inner, request: &Request) -> Result<(), RunError> {
    let unavailable = |message: &str| RunError::Unavailable {
        message: message.to_owned(),
    };
    if inner.draining.is_cancelled() {
        return Err(unavailable("the daemon is stopping"));
    }
    if inner.link.is_gone() {
        return Err(unavailable("the launcher is gone; the daemon is stopping"));
    }
    let refused = |reason, field: &str, message: String| {
        let field = Some(field.to_owned());
        Err(RunError::Refused {
            reason,
            field,
            message,
        })
    };
    if !request.probe {
        proof::check(inner, request)?;
    }
    if !inner.unpinned_images && !request.probe {
        // The only image so far, and what it shows changes with every upgrade of this host.
        let message = format!(
            "image {} is unpinned, and this daemon's host_image.accept_unpinned is false",
            request.image
        );
        return refused("IMAGE_UNPINNED", "image", message);
    }
    if request.argv.is_empty() {
        if request.verify.as_ref().is_none_or(VerifySpec::needs_run) {
            let message = "argv is empty: name a program, or a verify of a kind that needs none";
            return refused("ARGV_EMPTY", "argv", message.to_owned());
        }
        if !request.collect.is_empty() {
            let message = "collect needs a program in argv that leaves the files";
            return refused("COLLECT_WITHOUT_RUN", "collect", message.to_owned());
        }
    }
    let bytes: u64 = request
        .files
        .iter()
        .map(|file| file.content.len() as u64)
        .sum();
    if bytes > request.limits.disk_bytes_max {
        let max = request.limits.disk_bytes_max;
        let message = format!("files have {bytes} bytes, more than limits.disk_bytes_max = {max}");
        return refused("FILES_TOO_LARGE", "files", message);
    }
    if request.files.len() as u64 > request.limits.files_max {
        let (count, max) = (request.files.len(), request.limits.files_max);
        let message = format!("{count} files are more than limits.files_max = {max}");
        return refused("TOO_MANY_FILES", "files", message);
    }
    Ok(())
}
