//! The role x rpc matrix. The only place that says which role may call what.

use crate::config::Role;

/// Every rpc of package `rollcage.v1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "service and rpc, as in the .proto files")]
pub enum Rpc {
    RunsRun,
    RunsRunBatch,
    RunsStream,
    RunsSubmit,
    RunsFetch,
    RunsCancel,
    RunsGet,
    RunsList,
    PoliciesList,
    PoliciesGet,
    PoliciesLint,
    PoliciesExplain,
    PoliciesDiff,
    AuditQuery,
    AuditTail,
    AuditVerify,
    AuditCheckpoint,
    NodeCapabilities,
    NodeStatus,
    NodeSelfTest,
}

/// One row of the matrix. `admin` may call everything.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// The rpc.
    pub rpc: Rpc,
    /// Its service.
    pub service: &'static str,
    /// Its name.
    pub name: &'static str,
    /// Roles that may call it.
    pub roles: &'static [Role],
}

/// Roles that may have the self-test made anew, beyond [`Rpc::NodeSelfTest`] itself: its outcome
/// counts for every tenant.
pub const TEST_ANEW: &[Role] = &[Role::Admin];

const RUN: &[Role] = &[Role::Run];
const RUN_OR_OPERATE: &[Role] = &[Role::Run, Role::Operate];
const ANY: &[Role] = &[Role::Run, Role::Operate, Role::Audit];
const AUDIT: &[Role] = &[Role::Audit];

const fn row(rpc: Rpc, service: &'static str, name: &'static str, roles: &'static [Role]) -> Rule {
    Rule {
        rpc,
        service,
        name,
        roles,
    }
}

/// The matrix, in the order of [`Rpc`].
pub const RULES: [Rule; 20] = [
    row(Rpc::RunsRun, "Runs", "Run", RUN),
    row(Rpc::RunsRunBatch, "Runs", "RunBatch", RUN),
    row(Rpc::RunsStream, "Runs", "Stream", RUN),
    row(Rpc::RunsSubmit, "Runs", "Submit", RUN),
    row(Rpc::RunsFetch, "Runs", "Fetch", RUN),
    row(Rpc::RunsCancel, "Runs", "Cancel", RUN_OR_OPERATE),
    row(Rpc::RunsGet, "Runs", "Get", RUN_OR_OPERATE),
    row(Rpc::RunsList, "Runs", "List", RUN_OR_OPERATE),
    row(Rpc::PoliciesList, "Policies", "List", ANY),
    row(Rpc::PoliciesGet, "Policies", "Get", ANY),
    row(Rpc::PoliciesLint, "Policies", "Lint", ANY),
    row(Rpc::PoliciesExplain, "Policies", "Explain", ANY),
    row(Rpc::PoliciesDiff, "Policies", "Diff", ANY),
    row(Rpc::AuditQuery, "Audit", "Query", AUDIT),
    row(Rpc::AuditTail, "Audit", "Tail", AUDIT),
    row(Rpc::AuditVerify, "Audit", "Verify", AUDIT),
    row(Rpc::AuditCheckpoint, "Audit", "Checkpoint", AUDIT),
    row(Rpc::NodeCapabilities, "Node", "Capabilities", ANY),
    row(Rpc::NodeStatus, "Node", "Status", RUN_OR_OPERATE),
    // To read the last outcome; a fresh test takes `operate`, which its handler asks for.
    row(Rpc::NodeSelfTest, "Node", "SelfTest", ANY),
];

impl Rpc {
    /// Its row.
    #[must_use]
    pub fn rule(self) -> &'static Rule {
        // The order of the table is that of the enum, which a test checks.
        &RULES[self as usize]
    }
}
