//! The engine against a launcher of threads: what each behaviour of launcher, init and program
//! comes to in the result. No root needed.

mod behaviour;
mod checked;
mod fake;
mod grading;
mod limits;
mod phases;
mod proved;
mod retries;
mod scrubbed;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use audit::Draft;
use futures::future::BoxFuture;
use policies::{Catalog, Policy, RequestedLimits};
use verdict::Ending;

use super::record::AppendFailed;
use super::request::{Caller, InputFile, Receipt};
use super::*;

/// An audit log in memory, which may be told to fail.
#[derive(Debug, Default)]
struct MemoryLog {
    drafts: Mutex<Vec<Draft>>,
    fails: bool,
    /// Fails for the sandbox of a request's own program alone.
    fails_for_programs: bool,
}

impl MemoryLog {
    fn events(&self) -> Vec<audit::Event> {
        self.drafts
            .lock()
            .unwrap()
            .iter()
            .map(|draft| draft.event)
            .collect()
    }
}

impl AuditSink for MemoryLog {
    fn append(&self, draft: Draft) -> BoxFuture<'_, Result<Receipt, AppendFailed>> {
        Box::pin(async move {
            draft.check().unwrap();
            let role = draft.data.get("role").cloned();
            let is_program = role.is_some_and(|role| role == "program");
            if self.fails || self.fails_for_programs && is_program {
                let reason = "disk full".to_owned();
                return Err(AppendFailed { reason });
            }
            let value = serde_json::to_value(&draft).unwrap();
            let bytes = audit::encode::canonical(&value).unwrap();
            let mut drafts = self.drafts.lock().unwrap();
            drafts.push(draft);
            Ok(Receipt {
                seq: drafts.len() as u64,
                sha256: audit::Digest::of(&bytes).to_string(),
            })
        })
    }
}

fn policy(name: &str) -> Policy {
    Catalog::builtin()
        .unwrap()
        .get(name)
        .unwrap()
        .policy
        .clone()
}

fn request(argv: &[&str]) -> Request {
    let policy = Arc::new(policy("python"));
    let limits = policy
        .effective_limits(&RequestedLimits::default())
        .unwrap();
    Request {
        id: "caller/1".to_owned(),
        run_id: "run-1".to_owned(),
        caller: Caller {
            principal: "uid:1000".to_owned(),
            tenant: "team".to_owned(),
        },
        policy,
        policy_sha256: "2".repeat(64),
        image: "host".to_owned(),
        files: vec![InputFile {
            path: "main.py".to_owned(),
            content: b"print(1)".to_vec(),
            mode: 0o644,
        }],
        argv: argv.iter().map(|arg| arg.as_bytes().to_vec()).collect(),
        env: Default::default(),
        cwd: "/workspace".to_owned(),
        stdin: None,
        limits,
        collect: Vec::new(),
        verify: None,
        group: String::new(),
        priority: 0,
        deadline_ms: 0,
        labels: Default::default(),
        traceparent: None,
        retries_infra: false,
        static_check: verdict::StaticCheck::None,
        probe: false,
        proof: crate::self_test::Proof::None,
    }
}

fn judge_sandbox(name: &str) -> JudgeSandbox {
    let policy = Arc::new(policy(name));
    let limits = policy
        .effective_limits(&RequestedLimits::default())
        .unwrap();
    JudgeSandbox { policy, limits }
}

struct House {
    engine: Engine,
    log: Arc<MemoryLog>,
}

async fn house_with(script: fake::Script, log: MemoryLog, live_max: u32) -> House {
    house_retrying(script, log, live_max, RetryLimits::default()).await
}

async fn house_retrying(
    script: fake::Script,
    log: MemoryLog,
    live_max: u32,
    retries: RetryLimits,
) -> House {
    let link = LauncherLink::connect(fake::launcher(script)).await.unwrap();
    let log = Arc::new(log);
    let engine = Engine::new(EngineParts {
        link,
        audit: log.clone(),
        admission: AdmissionLimits {
            live_max,
            queued_max: 2,
        },
        retries,
        judge: judge_sandbox("python"),
        builder: judge_sandbox("build"),
        unpinned_images: true,
    });
    House { engine, log }
}

async fn house(script: fake::Script) -> House {
    house_with(script, MemoryLog::default(), 4).await
}

async fn run(script: fake::Script, request: Request) -> RunResult {
    let house = house(script).await;
    let run = house.engine.run(request, None, Cancel::new());
    let result = tokio::time::timeout(Duration::from_secs(20), run).await;
    result.unwrap().unwrap()
}

fn step_of(ending: &Ending) -> &str {
    match ending {
        Ending::SandboxFailed { step, .. } => step,
        other => panic!("not sandbox_failed but {other:?}"),
    }
}
