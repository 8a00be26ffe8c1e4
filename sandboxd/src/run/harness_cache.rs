//! The judge's own programs, compiled once for the image's interpreter.
//!
//! Compiling takes longer than starting the interpreter. It is done in a sandbox of the judge's
//! kind that has seen no file of any request, so that its output is as good as our own text.

use std::collections::BTreeMap;

use audit::{Draft, Event, Source};
use confine::plan::Plan;
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;
use verdict::Ending;
use verdict::plan::{HarnessCache, plan_cache};
use verdict::untrusted::Untrusted;

use super::Inner;
use super::cancel::Cancel;
use super::conclude::conclude;
use super::plan::{CWD_DEFAULT, spawn_spec};
use super::program::{Outside, Program, run_program};
use super::request::InputFile;

/// Compiled programs, `None` within where the image has no fitting interpreter.
pub(super) type Cell = OnceCell<Option<HarnessCache>>;

/// Why there is no answer yet; the next run tries again.
#[derive(Debug, thiserror::Error)]
enum Unknown {
    #[error("no random bytes for a sandbox id")]
    Random,
    #[error("its sandbox is not recorded: {0}")]
    Record(String),
    #[error("its run ended as {0}")]
    HostFault(&'static str),
}

/// The compiled programs, compiling them if that was not done yet. `plan` is the judge's.
pub(super) async fn compiled(inner: &Inner, plan: &Plan) -> Option<HarnessCache> {
    let cache = inner.harness.get_or_try_init(|| compile(inner, plan)).await;
    match cache {
        Ok(cache) => cache.clone(),
        Err(unknown) => {
            let error = &unknown as &dyn std::error::Error;
            tracing::warn!(error, "the judge's programs are not compiled ahead");
            None
        }
    }
}

async fn compile(inner: &Inner, plan: &Plan) -> Result<Option<HarnessCache>, Unknown> {
    let mut random = [0; 8];
    getrandom::fill(&mut random).map_err(|_no_entropy| Unknown::Random)?;
    let sandbox_id = format!("sb-{}-compile", hex::encode(random));
    let mut draft = Draft::new(Event::SandboxRequested, Source::Api).with("role", "compile");
    draft.sandbox_id = Some(sandbox_id.clone());
    let recorded = inner.audit.append(draft).await;
    recorded.map_err(|failed| Unknown::Record(failed.reason))?;
    let ours = plan_cache();
    let files: Vec<InputFile> = ours
        .files
        .into_iter()
        .map(|(path, content)| InputFile {
            path,
            content,
            mode: 0o644,
        })
        .collect();
    let argv: Vec<Vec<u8>> = ours.argv.into_iter().map(String::into_bytes).collect();
    let limits = &inner.judge.limits;
    let program = Program {
        sandbox_id,
        plan,
        limits,
        files: &files,
        spec: spawn_spec(&argv, &BTreeMap::new(), CWD_DEFAULT),
        stdin: None,
        extra: Vec::new(),
        group: None,
        collect: &[],
        inspect: false,
    };
    let alone = Outside {
        events: None,
        cancel: Cancel::new(),
        deadline: None,
        release: CancellationToken::new(),
    };
    let ran = run_program(&inner.link, program, alone).await;
    let deny_action = inner.judge.policy.syscalls.deny_action;
    let ending = conclude(&ran, limits, deny_action, 0).ending;
    if ending.is_host_fault() {
        return Err(Unknown::HostFault(ending.kind()));
    }
    if ending != (Ending::Exited { code: 0 }) || ran.stdout.dropped_bytes > 0 {
        tracing::warn!(
            ?ending,
            "the judge's programs cannot be compiled in this image"
        );
        return Ok(None);
    }
    match HarnessCache::from_output(&Untrusted::new(ran.stdout.kept)) {
        Ok(cache) => Ok(Some(cache)),
        Err(error) => {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(error, "the judge's programs are not compiled ahead");
            Ok(None)
        }
    }
}
