//! Who is calling, and what they may call.
//!
//! [`Gate`] turns a connection's credentials into a [`Session`] before any handler runs;
//! [`authorize`] is the first line of every handler and looks its rpc up in [`RULES`], the one
//! table of roles. Whether a thing belongs to the caller's tenant is checked where it is looked up.

mod gate;
mod rules;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use tonic::{Code, Extensions};

use super::status::ApiError;
use crate::config::{Names, Role};
use crate::run::request::Caller;

pub use gate::{Gate, Peer};
pub use rules::{RULES, Rpc, Rule, TEST_ANEW};

/// An authenticated caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Principal and tenant.
    pub caller: Caller,
    /// What it may do.
    pub roles: Vec<Role>,
    /// Policies it may use.
    pub policies: Names,
    /// Images it may use.
    pub images: Names,
    /// Runs it may have at once.
    pub runs_max: Option<u32>,
}

impl Session {
    /// Whether it has one of `roles`, or is an admin.
    #[must_use]
    pub fn has_any(&self, roles: &[Role]) -> bool {
        self.roles
            .iter()
            .any(|role| *role == Role::Admin || roles.contains(role))
    }
}

/// The caller of a request, if it may call `rpc`.
///
/// # Errors
/// UNAUTHENTICATED without a session, PERMISSION_DENIED without a role that the rpc needs.
pub fn authorize(extensions: &Extensions, rpc: Rpc) -> Result<Arc<Session>, ApiError> {
    let Some(session) = extensions.get::<Arc<Session>>() else {
        let message = "no identity came with this call";
        return Err(ApiError::new(
            Code::Unauthenticated,
            "UNAUTHENTICATED",
            message,
        ));
    };
    let rule = rpc.rule();
    if session.has_any(rule.roles) {
        return Ok(Arc::clone(session));
    }
    let needed: Vec<String> = rule
        .roles
        .iter()
        .map(|role| format!("{role:?}").to_lowercase())
        .collect();
    let message = format!(
        "{} may not call {}/{}: it needs one of the roles {}",
        session.caller.principal,
        rule.service,
        rule.name,
        needed.join(", "),
    );
    Err(ApiError::new(
        Code::PermissionDenied,
        "ROLE_MISSING",
        message,
    ))
}
