//! What pid 1 has become, as the kernel tells it and nobody else: asked apart from the steps that
//! were to bring it about.

use nix::errno::Errno;
use nix::sys::prctl;
use nix::sys::signal::Signal;

use crate::sys;
use crate::wire::Fact;

/// Said where the kernel does not answer.
const UNKNOWN: &str = "unknown";

/// The facts; `born_with` is the session keyring that pid 1 had before the first step.
pub(super) fn facts(born_with: sys::SysResult<i32>) -> Vec<Fact> {
    let keyring = match (born_with, sys::session_keyring()) {
        (Ok(before), Ok(now)) if before == now => "inherited",
        (Ok(_), Ok(_)) => "own",
        // A kernel without keyrings has none to share; a filter around all of us leaves none to reach.
        (Err(Errno::ENOSYS), _) | (Err(Errno::EPERM), Err(Errno::EPERM)) => "none",
        _ => UNKNOWN,
    };
    let traceable = match prctl::get_dumpable() {
        Ok(false) => "no",
        Ok(true) => "yes",
        Err(_errno) => UNKNOWN,
    };
    let with_launcher = match prctl::get_pdeathsig() {
        Ok(Some(Signal::SIGKILL)) => "killed",
        Ok(Some(_)) => "signalled",
        Ok(None) => "lives_on",
        Err(_errno) => UNKNOWN,
    };
    vec![
        Fact::new("init:keyring", keyring),
        Fact::new("init:traceable", traceable),
        Fact::new("init:launcher_dies", with_launcher),
    ]
}
