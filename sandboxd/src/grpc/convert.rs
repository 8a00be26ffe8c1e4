//! The only converter between messages and what the engine works with.
//!
//! Every limit on a request is checked here, against the caller, the policy and the fixed bounds
//! below, before anything else sees it. Errors name field, value and what is allowed.

mod files;
mod limits;
mod result;
#[cfg(test)]
mod tests;
mod verify;

use std::collections::BTreeMap;

use policies::{InlineError, Policy};
use proto::v1;
use verdict::{StaticCheck, VerifySpec};

use super::auth::Session;
use super::status::{ApiError, shorten};
use crate::policy_set::{PolicySet, Ready};
use crate::run::request::Request;
use crate::self_test::{JUDGE, Proof};

pub use result::{ending_kind, event, outcome, run_result};

/// Longest single argument or environment entry in bytes: the kernel's own limit.
pub const ARGUMENT_BYTES_MAX: usize = 128 << 10;
/// Most bytes of arguments and environment together.
pub const ARGUMENTS_BYTES_MAX: usize = 1 << 20;
/// Most bytes of all files of a request, and of its standard input.
pub const FILES_BYTES_MAX: u64 = 64 << 20;
/// Longest `id`, `group`, `idempotency_key`, label key or value, in bytes.
pub const NAME_BYTES_MAX: usize = 256;
/// Most labels.
pub const LABELS_MAX: usize = 64;
/// Longest deadline in milliseconds.
pub const DEADLINE_MS_MAX: u64 = 24 * 60 * 60 * 1000;
/// Most patterns in `collect`.
pub const COLLECT_MAX: usize = 1_000;
/// Where files go.
pub const WORKSPACE: &str = "/workspace";

/// What this node has to offer.
#[derive(Debug, Clone, Copy)]
pub struct Offer<'a> {
    /// Policies.
    pub policies: &'a PolicySet,
    /// Images by name.
    pub images: &'a [&'a str],
}

/// A checked request. `run_id` is ours and serves as `id` where the caller gave none.
///
/// # Errors
/// The first thing that is not allowed.
pub fn run_request(
    message: v1::RunRequest,
    session: &Session,
    offer: Offer<'_>,
    run_id: String,
) -> Result<Request, ApiError> {
    check_names(&message)?;
    check_tier(message.tier)?;
    let image = image(&message.image, session, offer)?;
    let (ready, mut proof) = policy(&message, session, offer)?;
    let Ready {
        policy,
        sha256: policy_sha256,
    } = ready;
    let limits = limits::effective(&policy, message.limits.as_ref())?;
    let argv = argv(&message)?;
    check_environment(&argv, &message.env)?;
    let cwd = working_folder(message.cwd)?;
    let stdin_bytes = message.stdin.as_ref().map_or(0, |stdin| size(stdin.len()));
    if stdin_bytes > FILES_BYTES_MAX {
        let problem = format!("{stdin_bytes} bytes; at most {FILES_BYTES_MAX}");
        return Err(ApiError::invalid("STDIN_TOO_LARGE", "stdin", problem));
    }
    let static_check = static_check(message.static_check)?;
    let files = files::checked("files", message.files, &limits)?;
    let collect = files::patterns(&message.collect)?;
    let verify = message
        .verify
        .map(|verify| verify::spec(verify, &limits))
        .transpose()?;
    verify::check_against(verify.as_ref(), &argv, &files)?;
    if verify.as_ref().is_some_and(VerifySpec::needs_sandboxes) && proof.trouble().is_none() {
        // Test code runs in a sandbox of the daemon's own, which has to hold as well.
        let judge = offer.policies.proof(JUDGE);
        if judge.trouble().is_some() {
            proof = judge;
        }
    }
    Ok(Request {
        id: if message.id.is_empty() {
            run_id.clone()
        } else {
            message.id
        },
        run_id,
        caller: session.caller.clone(),
        policy,
        policy_sha256,
        image,
        files,
        argv,
        env: message.env,
        cwd,
        stdin: message.stdin,
        limits,
        collect,
        verify,
        static_check,
        group: message.group,
        priority: message.priority,
        deadline_ms: message.deadline_ms,
        labels: message.labels,
        traceparent: Some(message.traceparent).filter(|text| !text.is_empty()),
        retries_infra: false,
        probe: false,
        proof,
    })
}

fn static_check(number: i32) -> Result<StaticCheck, ApiError> {
    match v1::StaticCheck::try_from(number) {
        Ok(v1::StaticCheck::Unspecified | v1::StaticCheck::None) => Ok(StaticCheck::None),
        Ok(v1::StaticCheck::Syntax) => Ok(StaticCheck::Syntax),
        Ok(v1::StaticCheck::Imports) => Ok(StaticCheck::Imports),
        Err(_unknown) => {
            let problem = format!("number {number} is unknown; known: none, syntax, imports");
            Err(ApiError::invalid(
                "STATIC_CHECK_UNKNOWN",
                "static_check",
                problem,
            ))
        }
    }
}

/// Whether `text` is printable ASCII without spaces.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Checks everything that is only a name or a number.
fn check_names(message: &v1::RunRequest) -> Result<(), ApiError> {
    for (field, value) in [
        ("id", &message.id),
        ("idempotency_key", &message.idempotency_key),
    ] {
        if value.len() > NAME_BYTES_MAX || !is_plain(value) {
            let problem = format!(
                "{:?} is not allowed; 1 to {NAME_BYTES_MAX} printable ASCII characters without spaces",
                shorten(value),
            );
            return Err(ApiError::invalid("NAME_INVALID", field, problem));
        }
    }
    if message.group.len() > NAME_BYTES_MAX || message.group.contains('\0') {
        let problem = format!(
            "{:?}; at most {NAME_BYTES_MAX} bytes",
            shorten(&message.group)
        );
        return Err(ApiError::invalid("NAME_INVALID", "group", problem));
    }
    if message.labels.len() > LABELS_MAX {
        let problem = format!("{} labels; at most {LABELS_MAX}", message.labels.len());
        return Err(ApiError::invalid("LABELS_TOO_MANY", "labels", problem));
    }
    for (key, value) in &message.labels {
        if key.is_empty() || key.len() > NAME_BYTES_MAX || value.len() > NAME_BYTES_MAX {
            let problem =
                format!("keys of 1 and values of 0 to {NAME_BYTES_MAX} bytes are allowed");
            let field = format!("labels[{:?}]", shorten(key));
            return Err(ApiError::invalid("LABEL_INVALID", field, problem));
        }
    }
    if !(-1000..=1000).contains(&message.priority) {
        let problem = format!("{} is outside -1000..=1000", message.priority);
        return Err(ApiError::invalid(
            "PRIORITY_OUT_OF_RANGE",
            "priority",
            problem,
        ));
    }
    if message.deadline_ms > DEADLINE_MS_MAX {
        let problem = format!("{} is outside 0..={DEADLINE_MS_MAX}", message.deadline_ms);
        return Err(ApiError::invalid(
            "DEADLINE_OUT_OF_RANGE",
            "deadline_ms",
            problem,
        ));
    }
    if !message.traceparent.is_empty() && !is_traceparent(&message.traceparent) {
        let problem = format!(
            "{:?} is no W3C trace context; write 00-<32 hex digits>-<16 hex digits>-<2 hex digits>",
            shorten(&message.traceparent),
        );
        return Err(ApiError::invalid(
            "TRACEPARENT_INVALID",
            "traceparent",
            problem,
        ));
    }
    Ok(())
}

fn is_traceparent(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let hex = |part: &str, digits: usize| {
        part.len() == digits
            && part
                .bytes()
                .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    };
    matches!(parts.as_slice(), [version, trace, span, flags]
        if hex(version, 2) && hex(trace, 32) && hex(span, 16) && hex(flags, 2))
}

fn check_tier(tier: i32) -> Result<(), ApiError> {
    match v1::Tier::try_from(tier) {
        Ok(v1::Tier::Unspecified | v1::Tier::Auto | v1::Tier::Container) => Ok(()),
        Ok(v1::Tier::Wasm) => {
            let problem = "wasm is not available on this node; available: auto, container";
            Err(ApiError::precondition("TIER_UNAVAILABLE", "tier", problem))
        }
        Err(_unknown) => {
            let problem = format!("number {tier} is unknown; known: auto, container, wasm");
            Err(ApiError::invalid("TIER_UNKNOWN", "tier", problem))
        }
    }
}

fn image(name: &str, session: &Session, offer: Offer<'_>) -> Result<String, ApiError> {
    let name = if name.is_empty() { "host" } else { name };
    let known: Vec<&str> = offer
        .images
        .iter()
        .copied()
        .filter(|image| session.images.contains(image))
        .collect();
    if known.contains(&name) {
        return Ok(name.to_owned());
    }
    let problem = unknown_name(name, "image", &known);
    Err(ApiError::invalid("IMAGE_UNKNOWN", "image", problem))
}

/// The message about a name that is not in a list. What a caller may not use is not in the list
/// either: the two look the same.
fn unknown_name(name: &str, what: &str, known: &[&str]) -> String {
    let names: Vec<String> = known.iter().map(|name| (*name).to_owned()).collect();
    let nearest = proto::json::nearest(name, &names);
    let hint = nearest
        .map(|name| format!("; did you mean {name:?}?"))
        .unwrap_or_default();
    format!(
        "no {what} {:?}; known: {}{hint}",
        shorten(name),
        known.join(", ")
    )
}

/// The policy of a catalog that the caller may use.
///
/// # Errors
/// It is not there, or not the caller's to use.
pub fn named_policy<'a>(
    name: &str,
    field: &str,
    session: &Session,
    policies: &'a PolicySet,
) -> Result<&'a Ready, ApiError> {
    if session.policies.contains(name)
        && let Some(ready) = policies.get(name)
    {
        return Ok(ready);
    }
    let known: Vec<&str> = policies
        .catalog()
        .names()
        .filter(|known| session.policies.contains(known))
        .collect();
    let problem = unknown_name(name, "policy", &known);
    Err(ApiError::invalid("POLICY_UNKNOWN", field, problem))
}

/// The policy of a document that came with a request.
///
/// # Errors
/// It cannot be read, widens what it extends, or extends what the caller may not use.
pub fn inline_policy(
    document: &str,
    field: &str,
    session: &Session,
    policies: &PolicySet,
) -> Result<Policy, ApiError> {
    let policy =
        policies::resolve_inline(document, policies.catalog()).map_err(|error| match error {
            InlineError::Parse(error) => ApiError::invalid("POLICY_UNREADABLE", field, error),
            other => ApiError::invalid("POLICY_REFUSED", field, other),
        })?;
    match policy.parent() {
        Some(parent) => named_policy(parent, field, session, policies).map(|_ready| policy),
        None => Err(ApiError::invalid(
            "POLICY_REFUSED",
            field,
            "it must extend a catalog policy",
        )),
    }
}

fn policy(
    message: &v1::RunRequest,
    session: &Session,
    offer: Offer<'_>,
) -> Result<(Ready, Proof), ApiError> {
    let mut proof = offer.policies.proof(&message.policy);
    let ready = match (&message.policy_document, message.policy.as_str()) {
        (None, "") => {
            let known: Vec<&str> = offer
                .policies
                .catalog()
                .names()
                .filter(|name| session.policies.contains(name))
                .collect();
            let problem = format!("none given; name one of {}", known.join(", "));
            return Err(ApiError::invalid("POLICY_MISSING", "policy", problem));
        }
        (Some(_), name) if !name.is_empty() => {
            let problem = "given beside policy; give only one of the two";
            return Err(ApiError::invalid(
                "POLICY_TWICE",
                "policy_document",
                problem,
            ));
        }
        (Some(document), _) => {
            let policy = inline_policy(document, "policy_document", session, offer.policies)?;
            // It may only narrow what it extends: what is wrong there is wrong here. What is right
            // there was not tested with this document.
            let parent = policy.parent().map(|name| offer.policies.proof(name));
            proof = parent
                .filter(|proof| proof.trouble().is_some())
                .unwrap_or_default();
            Ready::new(policy)
        }
        (None, name) => named_policy(name, "policy", session, offer.policies)?.clone(),
    };
    let missing = policies::unenforceable(&ready.policy);
    if let Some(first) = missing.first() {
        let problem = format!("{:?}: {first}", ready.policy.name);
        return Err(ApiError::precondition(
            "POLICY_NOT_ENFORCEABLE",
            "policy",
            problem,
        ));
    }
    Ok((ready, proof))
}

fn argv(message: &v1::RunRequest) -> Result<Vec<Vec<u8>>, ApiError> {
    if !message.argv.is_empty() && !message.argv_bytes.is_empty() {
        let problem = "given beside argv; give only one of the two";
        return Err(ApiError::invalid("ARGV_TWICE", "argv_bytes", problem));
    }
    let argv: Vec<Vec<u8>> = if message.argv.is_empty() {
        message.argv_bytes.clone()
    } else {
        message
            .argv
            .iter()
            .map(|argument| argument.clone().into_bytes())
            .collect()
    };
    let Some(program) = argv.first() else {
        if message.verify.is_some() {
            return Ok(argv);
        }
        let problem =
            "empty; name a program, or give verify to judge files without running them first";
        return Err(ApiError::invalid("ARGV_EMPTY", "argv", problem));
    };
    if program.is_empty() {
        return Err(ApiError::invalid(
            "ARGV_EMPTY",
            "argv[0]",
            "empty; name a program",
        ));
    }
    for (index, argument) in argv.iter().enumerate() {
        check_argument(&format!("argv[{index}]"), argument)?;
    }
    Ok(argv)
}

fn check_argument(field: &str, bytes: &[u8]) -> Result<(), ApiError> {
    if bytes.contains(&0) {
        let problem = "has a NUL byte, which no argument or environment entry can have";
        return Err(ApiError::invalid("ARGUMENT_NUL", field, problem));
    }
    if bytes.len() > ARGUMENT_BYTES_MAX {
        let problem = format!(
            "{} bytes; at most {ARGUMENT_BYTES_MAX}; put more into files or stdin",
            bytes.len(),
        );
        return Err(ApiError::invalid("ARGUMENT_TOO_LONG", field, problem));
    }
    Ok(())
}

fn check_environment(argv: &[Vec<u8>], env: &BTreeMap<String, String>) -> Result<(), ApiError> {
    for (name, value) in env {
        let field = format!("env[{:?}]", shorten(name));
        if name.is_empty() || name.contains('=') {
            let problem = "a name must not be empty nor have a `=`";
            return Err(ApiError::invalid("ENV_NAME_INVALID", field, problem));
        }
        check_argument(&field, name.as_bytes())?;
        check_argument(&field, value.as_bytes())?;
    }
    // As the kernel counts: each with its end byte, names with their `=`.
    let arguments: usize = argv.iter().map(|argument| argument.len() + 1).sum();
    let entries: usize = env
        .iter()
        .map(|(name, value)| name.len() + value.len() + 2)
        .sum();
    let total = arguments + entries;
    if total > ARGUMENTS_BYTES_MAX {
        let problem =
            format!("argv and env have {total} bytes together; at most {ARGUMENTS_BYTES_MAX}");
        return Err(ApiError::invalid("ARGUMENTS_TOO_LONG", "argv", problem));
    }
    Ok(())
}

fn working_folder(cwd: String) -> Result<String, ApiError> {
    if cwd.is_empty() {
        return Ok(WORKSPACE.to_owned());
    }
    let climbs = cwd.split('/').any(|part| part == "..");
    if !cwd.starts_with('/') || climbs || cwd.contains('\0') || cwd.len() > files::PATH_BYTES_MAX {
        let problem = format!(
            "{:?} is not allowed; an absolute path inside the sandbox without `..`, at most {} bytes",
            shorten(&cwd),
            files::PATH_BYTES_MAX,
        );
        return Err(ApiError::invalid("CWD_INVALID", "cwd", problem));
    }
    Ok(cwd)
}

/// A length as the type in which limits are written.
fn size(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

/// The digest of a request's payload: what makes two requests with one idempotency key the same.
#[must_use]
pub fn payload_sha256(message: &v1::RunRequest) -> String {
    use prost::Message;
    use sha2::{Digest, Sha256};
    let payload = v1::RunRequest {
        idempotency_key: String::new(),
        traceparent: String::new(),
        ..message.clone()
    };
    // Maps are sorted, so that equal messages have equal bytes.
    hex::encode(Sha256::digest(payload.encode_to_vec()))
}

/// A wrong token, id or number of a call.
///
/// # Errors
/// Always `Err` when `ok` is false.
pub fn require(ok: bool, field: &str, problem: &str) -> Result<(), ApiError> {
    if ok {
        Ok(())
    } else {
        Err(ApiError::invalid("FIELD_INVALID", field, problem))
    }
}
