//! The confinement of one sandbox: what is asked ([`plan`]), in which order it is done
//! ([`sequence`]), and `sandbox-init`, which does it.
//!
//! It does not know the API, policies as written, results or the audit log.

pub mod boot;
pub mod host;
pub mod init;
mod landlock_rules;
mod make_plan;
pub mod mutation;
pub mod own;
pub mod packet;
pub mod plan;
pub mod report;
pub mod seccomp;
pub mod sequence;
pub mod steps;
pub mod sys;
pub mod wire;

pub use make_plan::{PlanError, make_plan};
