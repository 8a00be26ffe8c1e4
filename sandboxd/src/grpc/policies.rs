//! The `Policies` service: documents in and out; what they mean is the `policies` crate's to say.

use policies::{Catalog, Severity};
use proto::v1;
use proto::v1::policy_ref::Policy as Reference;
use tonic::{Request, Response, Status};

use super::auth::{Rpc, Session, authorize};
use super::convert::{inline_policy, named_policy};
use super::desk::Desk;
use super::self_test;
use super::status::ApiError;
use super::stubs::policies_server::Policies;
use crate::policy_set::{PolicySet, Ready};
use crate::self_test::Proof;

/// The service.
#[derive(Debug, Clone)]
pub struct PoliciesService {
    desk: Desk,
}

impl PoliciesService {
    /// The service of a desk's policies.
    #[must_use]
    pub fn new(desk: Desk) -> Self {
        Self { desk }
    }
}

#[tonic::async_trait]
impl Policies for PoliciesService {
    async fn list(
        &self,
        request: Request<v1::ListPoliciesRequest>,
    ) -> Result<Response<v1::ListPoliciesReply>, Status> {
        let session = authorize(request.extensions(), Rpc::PoliciesList)?;
        let set = self.desk.policies();
        let policies = set
            .catalog()
            .names()
            .filter(|name| session.policies.contains(name))
            .filter_map(|name| Some(summary(set.get(name)?, &set.proof(name))))
            .collect();
        Ok(Response::new(v1::ListPoliciesReply { policies }))
    }

    async fn get(
        &self,
        request: Request<v1::GetPolicyRequest>,
    ) -> Result<Response<v1::PolicyDocument>, Status> {
        let session = authorize(request.extensions(), Rpc::PoliciesGet)?;
        let set = self.desk.policies();
        let name = &request.get_ref().name;
        let ready = named_policy(name, "name", &session, &set).map_err(as_not_found)?;
        let document = set.catalog().get(name).map(|entry| entry.source.clone());
        let canonical = String::from_utf8_lossy(&ready.policy.canonical_json()).into_owned();
        let (self_test, self_test_trouble) = self_test::state(&set.proof(name));
        Ok(Response::new(v1::PolicyDocument {
            self_test: self_test.into(),
            self_test_trouble,
            name: name.clone(),
            document: document.unwrap_or_default(),
            canonical,
            policy_sha256: ready.sha256.clone(),
        }))
    }

    async fn lint(
        &self,
        request: Request<v1::LintPolicyRequest>,
    ) -> Result<Response<v1::LintPolicyReply>, Status> {
        let session = authorize(request.extensions(), Rpc::PoliciesLint)?;
        let set = self.desk.policies();
        let reference = reference(request.into_inner().policy, "policy")?;
        let (text, resolved) = match &reference {
            Reference::Name(name) => {
                let ready = named_policy(name, "policy.name", &session, &set)?;
                let source = set.catalog().get(name).map(|entry| entry.source.clone());
                (source.unwrap_or_default(), Some(ready.sha256.clone()))
            }
            Reference::Document(text) => (text.clone(), document_sha256(text, set.catalog())),
        };
        let mut findings: Vec<v1::PolicyFinding> = policies::lint(&text, set.catalog())
            .into_iter()
            .map(finding)
            .collect();
        findings.sort_by_key(|finding| finding.severity);
        let error = i32::from(v1::Severity::Error);
        Ok(Response::new(v1::LintPolicyReply {
            usable: findings.iter().all(|finding| finding.severity != error),
            findings,
            policy_sha256: resolved,
        }))
    }

    async fn explain(
        &self,
        request: Request<v1::ExplainPolicyRequest>,
    ) -> Result<Response<v1::ExplainPolicyReply>, Status> {
        let session = authorize(request.extensions(), Rpc::PoliciesExplain)?;
        let set = self.desk.policies();
        let ready = ready(request.into_inner().policy, "policy", &session, &set)?;
        Ok(Response::new(v1::ExplainPolicyReply {
            text: format!(
                "{}\n{}",
                policies::explain(&ready.policy).trim_end(),
                confinement_in_order()
            ),
            policy_sha256: ready.sha256,
        }))
    }

    async fn diff(
        &self,
        request: Request<v1::DiffPoliciesRequest>,
    ) -> Result<Response<v1::DiffPoliciesReply>, Status> {
        let session = authorize(request.extensions(), Rpc::PoliciesDiff)?;
        let set = self.desk.policies();
        let message = request.into_inner();
        let before = ready(message.before, "before", &session, &set)?;
        let after = ready(message.after, "after", &session, &set)?;
        let changes = policies::diff(&before.policy, &after.policy);
        let lines: Vec<String> = changes
            .iter()
            .map(|change| {
                let direction = format!("{:?}", change.direction).to_lowercase();
                format!(
                    "{}: {} -> {} ({direction})",
                    change.field, change.left, change.right
                )
            })
            .collect();
        let changes = changes
            .into_iter()
            .map(|change| v1::PolicyChange {
                field: change.field.to_owned(),
                before: change.left,
                after: change.right,
                direction: direction(change.direction).into(),
            })
            .collect();
        Ok(Response::new(v1::DiffPoliciesReply {
            text: lines.join("\n"),
            changes,
        }))
    }
}

/// The steps that a program is confined by, as they are taken.
fn confinement_in_order() -> String {
    let steps = confine::sequence::explain();
    let width = steps.iter().map(|(name, ..)| name.len()).max().unwrap_or(0);
    let mut text =
        "\nSteps of confinement, in order; a step that fails starts no program\n".to_owned();
    for (index, (name, _layer, why)) in steps.into_iter().enumerate() {
        if index == 0 {
            text.push_str("  once, by process 1 of the sandbox:\n");
        } else if index == confine::sequence::SESSION.len() {
            text.push_str("  by each program, between fork and exec:\n");
        }
        text.push_str(&format!("    {name:width$}  {why}\n"));
    }
    text
}

fn summary(ready: &Ready, proof: &Proof) -> v1::PolicySummary {
    let (self_test, self_test_trouble) = self_test::state(proof);
    let missing = policies::unenforceable(&ready.policy);
    v1::PolicySummary {
        name: ready.policy.name.clone(),
        description: ready.policy.description.clone(),
        policy_sha256: ready.sha256.clone(),
        lineage: ready.policy.lineage.clone(),
        unenforceable: missing.iter().map(ToString::to_string).collect(),
        self_test: self_test.into(),
        self_test_trouble,
    }
}

fn as_not_found(error: ApiError) -> ApiError {
    ApiError {
        code: tonic::Code::NotFound,
        ..error
    }
}

fn reference(policy: Option<v1::PolicyRef>, field: &str) -> Result<Reference, ApiError> {
    policy.and_then(|policy| policy.policy).ok_or_else(|| {
        ApiError::invalid(
            "POLICY_MISSING",
            field,
            "none given; give a name or a document",
        )
    })
}

fn ready(
    policy: Option<v1::PolicyRef>,
    field: &str,
    session: &Session,
    set: &PolicySet,
) -> Result<Ready, ApiError> {
    match reference(policy, field)? {
        Reference::Name(name) => {
            named_policy(&name, &format!("{field}.name"), session, set).cloned()
        }
        Reference::Document(text) => {
            inline_policy(&text, &format!("{field}.document"), session, set).map(Ready::new)
        }
    }
}

fn document_sha256(text: &str, catalog: &Catalog) -> Option<String> {
    policies::resolve_inline(text, catalog)
        .ok()
        .map(|policy| policy.sha256_hex())
}

fn direction(direction: policies::Direction) -> v1::ChangeDirection {
    match direction {
        policies::Direction::Narrower => v1::ChangeDirection::Narrower,
        policies::Direction::Wider => v1::ChangeDirection::Wider,
        policies::Direction::Other => v1::ChangeDirection::Other,
    }
}

fn finding(finding: policies::Finding) -> v1::PolicyFinding {
    let severity = match finding.severity {
        Severity::Error => v1::Severity::Error,
        Severity::Warning => v1::Severity::Warning,
        Severity::Note => v1::Severity::Note,
    };
    v1::PolicyFinding {
        severity: severity.into(),
        field: Some(finding.field).filter(|field| !field.is_empty()),
        line: Some(finding.line),
        column: Some(finding.column),
        message: finding.message,
        fix: Some(finding.fix).filter(|fix| !fix.is_empty()),
    }
}
