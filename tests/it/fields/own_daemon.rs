//! Probes of fields that need a daemon of their own.

pub(super) fn enforcement() {}
pub(super) fn audit_on_failure() {}
