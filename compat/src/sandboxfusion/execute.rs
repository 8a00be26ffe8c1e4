//! One request of `/run_code`, from its bytes to its answer: parse, look whether the language is
//! there, build if it is built, run.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use proto::v1::{CollectedFile, RunResult};
use serde_json::Value;

use super::language::{self, Language};
use super::request::{Invalid, RunCode};
use super::response::{Answer, StageAnswer, Status};
use super::stages::{Plan, relative};
use super::status::{self, BusyTimeouts};
use super::toolchains::Toolchains;
use crate::daemon::{Ceilings, Daemon, Ran, Trouble};

/// Clients give up this long after all time limits are over (verl: 10 s); until a little before,
/// a request may wait for its turn.
const PATIENCE: Duration = Duration::from_secs(8);

/// How requests are carried out.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The policy of every run; none: those of the languages.
    pub policy: Option<String>,
    /// The `PATH` of every run; none: the daemon's.
    pub search_path: Option<String>,
    /// Bytes of output that a stage may write.
    pub output_bytes_max: u64,
    /// What a time limit on a busy host means.
    pub busy_timeouts: BusyTimeouts,
}

/// Carries requests out, for the holders of one key.
#[derive(Debug)]
pub struct Executor {
    daemon: Arc<dyn Daemon>,
    settings: Settings,
    key: Option<String>,
    toolchains: Toolchains,
}

/// Why a request has no answer about its program.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failed {
    /// The request cannot be used.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// The caller may not have it, or nobody can be asked.
    #[error(transparent)]
    Trouble(#[from] Trouble),
}

impl Executor {
    /// For the holder of the key of this name; none: for everybody.
    #[must_use]
    pub fn new(daemon: Arc<dyn Daemon>, settings: Settings, key: Option<String>) -> Self {
        let toolchains = Toolchains::new(
            Arc::clone(&daemon),
            settings.search_path.clone(),
            settings.policy.clone(),
        );
        Self {
            daemon,
            settings,
            key,
            toolchains,
        }
    }

    /// Answers one request.
    ///
    /// # Errors
    /// There is nothing to say about its program.
    pub async fn run_code(&self, body: &[u8]) -> Result<Answer, Failed> {
        let request = RunCode::parse(body)?;
        let language = self.language(&request.language).await?;
        let placed = language.place(&request.code, |path| is_taken(&request, path))?;
        let plan = Plan {
            request: &request,
            language,
            placed: &placed,
            policy: self.settings.policy.as_deref(),
            search_path: self.settings.search_path.as_deref(),
            key: self.key.as_deref(),
            output_bytes_max: self.settings.output_bytes_max,
        };
        self.check_limits(&plan).await?;
        let patience = Patience::of(&request);
        let mut notes = Vec::new();
        let mut built = Vec::new();
        let mut compile_result = None;
        if let Some((stage, pattern)) = &language.build {
            if is_taken(&request, pattern) {
                return Err(Invalid::taken(pattern).into());
            }
            let ceilings = self.ceilings(&plan.policy_of(stage)).await?;
            let message = plan.build((stage, pattern), &ceilings, patience.left_ms());
            let ran = self.daemon.run(message).await;
            let mut ran = ran.map_err(|trouble| blamed(trouble, &request))?;
            let answer = self.told(&ran, "compile", &mut notes)?;
            if !answer.is_success() {
                return Ok(answered(&request, (Some(answer), None), ran.result, notes));
            }
            built = artefacts(&mut ran.result)?;
            compile_result = Some(answer);
        }
        let ceilings = self.ceilings(&plan.policy_of(&language.run)).await?;
        let message = plan.run(built, &ceilings, patience.left_ms());
        let ran = self.daemon.run(message).await;
        let ran = ran.map_err(|trouble| blamed(trouble, &request))?;
        let answer = self.told(&ran, "run", &mut notes)?;
        let results = (compile_result, Some(answer));
        Ok(answered(&request, results, ran.result, notes))
    }

    async fn language(&self, name: &str) -> Result<&'static Language, Failed> {
        let there = self.toolchains.available(name).await?;
        let language = language::find(name).filter(|it| there.contains(it.name));
        language.ok_or_else(|| {
            let there: Vec<&str> = there.iter().copied().collect();
            let problem = format!(
                "not available on this node; available: {}",
                there.join(", ")
            );
            Failed::Invalid(Invalid::new("language", &Value::from(name), problem))
        })
    }

    /// What the policies do not give is told before anything is built.
    async fn check_limits(&self, plan: &Plan<'_>) -> Result<(), Failed> {
        let request = plan.request;
        if let Some((stage, _)) = &plan.language.build {
            let policy = plan.policy_of(stage);
            let ceilings = self.ceilings(&policy).await?;
            within_time(
                "compile_timeout",
                request.compile_ms_max,
                (&policy, &ceilings),
            )?;
        }
        let policy = plan.policy_of(&plan.language.run);
        let ceilings = self.ceilings(&policy).await?;
        within_time("run_timeout", request.run_ms_max, (&policy, &ceilings))?;
        match request.memory_bytes_max {
            Some(bytes) if bytes > ceilings.memory_bytes_max => {
                let most = ceilings.memory_bytes_max >> 20;
                let problem = format!("policy {policy} gives at most {most} MiB");
                Err(Invalid::new("memory_limit_MB", &Value::from(bytes >> 20), problem).into())
            }
            _ => Ok(()),
        }
    }

    async fn ceilings(&self, policy: &str) -> Result<Ceilings, Trouble> {
        self.daemon.ceilings(policy).await
    }

    fn told(
        &self,
        ran: &Ran,
        stage: &str,
        notes: &mut Vec<String>,
    ) -> Result<StageAnswer, Trouble> {
        let told = status::told(ran, self.settings.busy_timeouts)?;
        notes.extend(told.note.map(|note| format!("{stage}: {note}")));
        Ok(told.answer)
    }
}

/// The answer of both stages, with the files that were asked for.
fn answered(
    request: &RunCode,
    (compile_result, run_result): (Option<StageAnswer>, Option<StageAnswer>),
    result: RunResult,
    mut notes: Vec<String>,
) -> Answer {
    let succeeded = run_result.as_ref().is_some_and(StageAnswer::is_success);
    let mut files = BTreeMap::new();
    if run_result.is_some() {
        for missing in result.files_missing {
            notes.push(format!("{}: {}", missing.path, missing.reason));
        }
        for asked in &request.fetch_files {
            let found = result
                .files
                .iter()
                .find(|file| file.path == relative(asked));
            files.extend(found.map(|file| (asked.clone(), STANDARD.encode(&file.content))));
        }
    }
    Answer {
        status: match succeeded {
            true => Status::Success,
            false => Status::Failed,
        },
        message: notes.join("; "),
        compile_result,
        run_result,
        executor_pod_name: Some(result.node).filter(|node| !node.is_empty()),
        files,
    }
}

/// Until when a request is worth doing.
struct Patience {
    since: Instant,
    all: Duration,
}

impl Patience {
    /// Clients count both time limits, whether or not a language is built.
    fn of(request: &RunCode) -> Self {
        let limits_ms = (request.run_ms_max).saturating_add(request.compile_ms_max);
        Self {
            since: Instant::now(),
            all: Duration::from_millis(limits_ms).saturating_add(PATIENCE),
        }
    }

    /// At least a millisecond: 0 means that there is no end.
    fn left_ms(&self) -> u64 {
        let left = self.all.saturating_sub(self.since.elapsed());
        u64::try_from(left.as_millis()).unwrap_or(u64::MAX).max(1)
    }
}

fn is_taken(request: &RunCode, path: &str) -> bool {
    request.files.keys().any(|given| relative(given) == path)
}

/// What was built; nothing at all is our trouble, since the compiler said that all went well.
fn artefacts(result: &mut RunResult) -> Result<Vec<CollectedFile>, Trouble> {
    let built = std::mem::take(&mut result.files);
    match result.files_missing.first() {
        None if !built.is_empty() => Ok(built),
        None => Err(Trouble::fault("the compiler left no program")),
        Some(missing) => Err(Trouble::fault(format!(
            "what the compiler left could not be taken along: {}: {}",
            missing.path, missing.reason
        ))),
    }
}

fn within_time(
    field: &str,
    wall_ms: u64,
    (policy, ceilings): (&str, &Ceilings),
) -> Result<(), Invalid> {
    if wall_ms <= ceilings.wall_ms_max {
        return Ok(());
    }
    let seconds = |ms: u64| Duration::from_millis(ms).as_secs_f64();
    let most = seconds(ceilings.wall_ms_max);
    let problem = format!("policy {policy} gives at most {most} seconds");
    Err(Invalid::new(field, &Value::from(seconds(wall_ms)), problem))
}

/// A refusal of the daemon in the words of the request that it is about.
fn blamed(trouble: Trouble, request: &RunCode) -> Failed {
    let Trouble::Refused {
        field: Some(field),
        message,
    } = trouble
    else {
        return trouble.into();
    };
    let problem = message
        .strip_prefix(&format!("{field}: "))
        .unwrap_or(&message);
    if field.starts_with("files") {
        return Invalid::new(field, &Value::Null, problem).into();
    }
    if let Some(index) = field.strip_prefix("collect") {
        let number = index.trim_matches(['[', ']']).parse().ok();
        let path = number.and_then(|number: usize| request.fetch_files.get(number));
        let value = path.map_or(Value::Null, |path| Value::from(path.as_str()));
        return Invalid::new(format!("fetch_files{index}"), &value, problem).into();
    }
    if field == "limits.memory_bytes_max" {
        let mib = request.memory_bytes_max.unwrap_or_default() >> 20;
        return Invalid::new("memory_limit_MB", &Value::from(mib), problem).into();
    }
    Trouble::Refused {
        field: Some(field),
        message,
    }
    .into()
}
