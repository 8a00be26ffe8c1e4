//! `[[principal]]`: who may call, as which tenant, and what they may do.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::{Config, ConfigError};

/// What a principal may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Run programs and see their results.
    Run,
    /// See and cancel the tenant's runs, and see the node's load.
    Operate,
    /// Read and check the audit log.
    Audit,
    /// Everything, and the audit records of all tenants.
    Admin,
}

impl Role {
    /// All roles.
    pub const ALL: [Self; 4] = [Self::Run, Self::Operate, Self::Audit, Self::Admin];
}

/// A list of names, or all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Names {
    /// All names.
    All,
    /// Only these.
    Only(BTreeSet<String>),
}

impl Names {
    /// Whether `name` is among them.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::Only(names) => names.contains(name),
        }
    }
}

/// One `[[principal]]`. Exactly one of `uid`, `certificate_name`, `certificate_sha256` and
/// `token_sha256` says who it is.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrincipalConfig {
    /// Stable name, in audit records and results.
    pub name: String,
    /// Tenant; runs of one tenant are invisible to others.
    pub tenant: String,
    /// What it may do.
    pub roles: BTreeSet<Role>,
    /// Local user, by the credentials of its connection to the unix socket.
    pub uid: Option<u32>,
    /// DNS name in the client certificate's subject alternative names.
    pub certificate_name: Option<String>,
    /// SHA-256 of the client certificate (DER), 64 hexadecimal digits.
    pub certificate_sha256: Option<String>,
    /// SHA-256 of the bearer token, 64 hexadecimal digits.
    pub token_sha256: Option<String>,
    /// Policies it may use, also as the base of inline documents. Default: all.
    pub policies: Option<BTreeSet<String>>,
    /// Images it may use. Default: all.
    pub images: Option<BTreeSet<String>>,
    /// Runs it may have at once. Default: no limit of its own.
    pub runs_max: Option<u32>,
}

/// Checks all principals, and that a TCP listener has somebody to let in.
pub(super) fn check(config: &Config) -> Result<(), ConfigError> {
    let mut names = BTreeSet::new();
    let mut credentials = BTreeSet::new();
    for (index, principal) in config.principals.iter().enumerate() {
        let refuse = |key: &str, value: &str, allowed: &str| ConfigError::Value {
            key: format!("principal[{index}].{key}"),
            value: value.to_owned(),
            allowed: allowed.to_owned(),
        };
        check_names(principal, &refuse)?;
        if !names.insert(&principal.name) {
            let allowed = "two principals must not have one name";
            return Err(refuse("name", &principal.name, allowed));
        }
        let credential = credential(principal, config, &refuse)?;
        if let Some((key, value)) = credentials.replace(credential) {
            let allowed = "two principals must not share one credential";
            return Err(refuse(key, &value, allowed));
        }
    }
    let remote = config
        .principals
        .iter()
        .any(|principal| principal.uid.is_none());
    match &config.tcp {
        Some(tcp) if !remote => Err(ConfigError::Value {
            key: "tcp.listen".to_owned(),
            value: tcp.listen.to_string(),
            allowed: "needs a [[principal]] with certificate_name, certificate_sha256 or \
                      token_sha256: nobody could call"
                .to_owned(),
        }),
        _ => Ok(()),
    }
}

/// Makes the error about one key of one principal.
type Refuse<'a> = &'a dyn Fn(&str, &str, &str) -> ConfigError;

fn check_names(principal: &PrincipalConfig, refuse: Refuse<'_>) -> Result<(), ConfigError> {
    for (key, value) in [("name", &principal.name), ("tenant", &principal.tenant)] {
        if !is_name(value) {
            let allowed = "1 to 64 letters, digits, `.`, `_`, `-`, `:`, `@`";
            return Err(refuse(key, &format!("{value:?}"), allowed));
        }
    }
    if principal.roles.is_empty() {
        let allowed = "at least one of run, operate, audit, admin";
        return Err(refuse("roles", "[]", allowed));
    }
    Ok(())
}

/// The one credential of a principal, if it can ever be seen.
fn credential(
    principal: &PrincipalConfig,
    config: &Config,
    refuse: Refuse<'_>,
) -> Result<(&'static str, String), ConfigError> {
    let given = given_credentials(principal);
    let [(key, value)] = given.as_slice() else {
        let keys: Vec<&str> = given.iter().map(|(key, _)| *key).collect();
        let allowed =
            "exactly one of uid, certificate_name, certificate_sha256, token_sha256 is needed";
        return Err(refuse("uid", &format!("{keys:?}"), allowed));
    };
    if key.ends_with("_sha256") && !is_sha256(value) {
        return Err(refuse(key, value, "64 lower-case hexadecimal digits"));
    }
    let authority = config.tcp.as_ref().map(|tcp| tcp.client_ca.is_some());
    match (*key, authority) {
        ("uid", _) | ("token_sha256", Some(_)) | (_, Some(true)) => Ok((key, value.clone())),
        (_, None) => {
            let allowed = "needs a [tcp] table, since it is not known over a unix socket";
            Err(refuse(key, value, allowed))
        }
        (_, Some(false)) => {
            let allowed = "needs tcp.client_ca, since no certificate is asked without it";
            Err(refuse(key, value, allowed))
        }
    }
}

fn given_credentials(principal: &PrincipalConfig) -> Vec<(&'static str, String)> {
    let mut given = Vec::new();
    given.extend(principal.uid.map(|uid| ("uid", uid.to_string())));
    given.extend(
        principal
            .certificate_name
            .clone()
            .map(|name| ("certificate_name", name)),
    );
    given.extend(
        principal
            .certificate_sha256
            .clone()
            .map(|hash| ("certificate_sha256", hash)),
    );
    given.extend(
        principal
            .token_sha256
            .clone()
            .map(|hash| ("token_sha256", hash)),
    );
    given
}

fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"._-:@".contains(&byte))
}

fn is_sha256(text: &str) -> bool {
    text.len() == 64
        && text
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}
