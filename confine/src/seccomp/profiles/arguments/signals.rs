//! Signals about files, which go to whoever is set as the owner: closed where a sandbox shares the
//! host's processes and Landlock cannot keep signals in. Which sandboxes these are is not known here.

use super::super::{EPERM, denial};
use super::{Denial, FOLDER_SIGNALS, Outcome, Rule, TERMINAL, deny, is};

/// The rule of a call for sandboxes that share the host's processes, where the kernel cannot keep
/// the signals of files in.
#[must_use]
pub fn rule(name: &str) -> Option<&'static Rule> {
    match name {
        "ioctl" => Some(&IOCTL_SEALED),
        "fcntl" => Some(&FCNTL_SEALED),
        _ => None,
    }
}

static FILE_SIGNALS: Denial = denial(
    EPERM,
    true,
    "a file that signals its owner reaches every process of the user",
    "none: a kernel with Landlock ABI 6, or namespaces",
);
static IOCTL_SEALED: Rule = Rule {
    // FIOSETOWN and SIOCSPGRP beside the above.
    clauses: &[
        deny(&[is(1, &[0x5412, 0x541C, 0x541D, 0x5423])], &TERMINAL),
        deny(&[is(1, &[0x8901, 0x8902])], &FILE_SIGNALS),
    ],
    otherwise: Outcome::Allow,
};
static FCNTL_SEALED: Rule = Rule {
    // F_NOTIFY; F_SETOWN, F_SETSIG and F_SETOWN_EX.
    clauses: &[
        deny(&[is(1, &[1026])], &FOLDER_SIGNALS),
        deny(&[is(1, &[8, 10, 15])], &FILE_SIGNALS),
    ],
    otherwise: Outcome::Allow,
};
