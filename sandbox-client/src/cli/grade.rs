//! `rollcage grade`: a solution of a task, judged; or the task itself, proved. It composes requests
//! from folders; what they earn is decided by the daemon alone.

mod archive;
mod harbor;
mod own;
mod patch;
mod report;
mod self_check;
mod solution;
mod swe;
mod task;
mod terminal_bench;
mod tree;

use std::path::PathBuf;

use clap::Args;
use futures::StreamExt;

use super::connection::with_daemon;
use super::failure::{Failure, NEGATIVE, SANDBOX};
use super::units::{self, EnvVar};
use super::{Context, batch, outcome};
use crate::client::Client;
use crate::error::ClientError;
use crate::pb;
use solution::Solution;
pub(super) use task::TaskError;

/// Options of `grade`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  rollcage grade tasks/two-fer --solution my-two-fer/    a folder, laid over the task's files
  rollcage grade tasks/two-fer --solution fix.patch      a unified diff
  rollcage grade tasks/two-fer --solution work.sh        a bash script that does the work first
  rollcage grade tasks/two-fer --self-check              is the task itself right?
  rollcage grade tasks/two-fer --oracle --env PATH=/opt/pytest-9/bin:/usr/bin:/bin
  rollcage --json grade tasks/two-fer --solution my/ | jq .result.verdict.reward

Formats: our own (task.toml with [verify], see docs/tasks.md), Harbor (task.toml with tests/test.sh),
Terminal-Bench (task.yaml), SWE-bench (JSON with FAIL_TO_PASS, the repository beside it).

Exit codes: 0 passed (or proved); 1 judged and not passed (or not proved); 125 not judged: the task
needs what this machine cannot give, the request was refused, or something here failed; 2 usage.")]
pub(crate) struct GradeArgs {
    /// Folder of the task.
    #[arg(value_name = "TASK_DIR")]
    task: PathBuf,
    /// What is judged: a folder, a unified diff, or a bash script (.sh).
    #[arg(
        long,
        value_name = "DIR|PATCH|SCRIPT",
        required_unless_present_any = ["self_check", "oracle"]
    )]
    solution: Option<PathBuf>,
    /// Judge the task's own solution.
    #[arg(long, conflicts_with = "solution")]
    oracle: bool,
    /// Prove the task: its own solution passes, an empty one does not, and five gradings agree.
    #[arg(long, conflicts_with_all = ["solution", "oracle"])]
    self_check: bool,
    /// Only say in JSON what would be asked of a daemon: one line as `rollcage batch` reads it.
    #[arg(long, conflicts_with = "self_check")]
    print_request: bool,
    /// Policy instead of the one that the task names.
    #[arg(long, value_name = "NAME")]
    policy: Option<String>,
    /// Set an environment variable of the tests, over the task's own; may be repeated. With PATH a
    /// virtual environment is chosen, and with it the framework's version.
    #[arg(long, value_name = "NAME[=VALUE]", value_parser = units::parse_env_var)]
    env: Vec<EnvVar>,
}

/// Does it.
pub(crate) async fn grade(context: &Context, args: &GradeArgs) -> Result<u8, Failure> {
    let mut task = task::read(&args.task)?;
    if let Some(policy) = &args.policy {
        task.request.policy.clone_from(policy);
    }
    if let Some(verify) = &mut task.request.verify {
        set_env(verify, &args.env);
    }
    for note in &task.notes {
        context.terminal.talk(note);
    }
    if args.self_check {
        return with_daemon(context, async |client| {
            self_check::check(context, client, &task).await
        })
        .await;
    }
    let solution = match (&args.solution, &task.oracle) {
        (Some(path), _) => Solution::read(path)?,
        (None, Some(oracle)) => oracle.clone(),
        (None, None) => return Err(no_oracle(&args.task)),
    };
    let request = solution::request(&task, &solution)?;
    if args.print_request {
        context.terminal.json_line(&outcome::to_json(&request)?)?;
        return Ok(0);
    }
    let mut results = with_daemon(context, async |client| run(client, vec![request]).await).await?;
    let result = results.pop().ok_or(ClientError::NoResult)?;
    report::result(&context.terminal, &task, &result)?;
    Ok(match standing(&result) {
        Standing::Passed => 0,
        Standing::NotPassed => NEGATIVE,
        Standing::NotJudged => SANDBOX,
    })
}

/// Sets variables of a verification, or of each of its parts.
fn set_env(verify: &mut pb::Verify, env: &[EnvVar]) {
    let parts = verify.parts.iter_mut();
    parts
        .filter_map(|part| part.verify.as_mut())
        .for_each(|verify| set_env(verify, env));
    if verify.parts.is_empty() {
        let set = env.iter().map(|set| (set.name.clone(), set.value.clone()));
        verify.env.extend(set);
    }
}

fn no_oracle(folder: &std::path::Path) -> Failure {
    Failure::Usage {
        message: format!("{} has no solution of its own", folder.display()),
    }
}

/// What a unified diff makes of files; `None`: it is none, or does not fit.
pub fn apply_patch(files: &tree::Tree, patch: &[u8]) -> Option<tree::Tree> {
    patch::apply(files, patch).ok()
}

/// The files of a tar archive, plain or gzipped; `None`: it is none, or has what no task may have.
pub fn unpack_archive(bytes: &[u8]) -> Option<tree::Tree> {
    archive::unpack(bytes).ok()
}

/// Where a result leaves the solution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    Passed,
    NotPassed,
    /// Nothing is known of the solution.
    NotJudged,
}

fn standing(result: &pb::RunResult) -> Standing {
    let outcome = result.verdict.as_ref().map(pb::Verdict::outcome);
    match outcome {
        _ if result.error.is_some() => Standing::NotJudged,
        Some(pb::Outcome::Passed) => Standing::Passed,
        None
        | Some(
            pb::Outcome::Unspecified
            | pb::Outcome::Unjudged
            | pb::Outcome::InfraError
            | pb::Outcome::VerifierError,
        ) => Standing::NotJudged,
        Some(_) => Standing::NotPassed,
    }
}

/// Runs requests and gives their results in the same order.
async fn run(
    client: &Client,
    mut requests: Vec<pb::RunRequest>,
) -> Result<Vec<pb::RunResult>, Failure> {
    for (index, request) in requests.iter_mut().enumerate() {
        request.id = format!("grade-{index}");
    }
    let ids: Vec<String> = requests.iter().map(|request| request.id.clone()).collect();
    let mut stream = Box::pin(batch::run_all(client, requests).await?);
    let mut by_id = std::collections::HashMap::new();
    while let Some(result) = stream.next().await {
        let result = result?;
        by_id.insert(result.id.clone(), result);
    }
    let take = |id| by_id.remove(id).ok_or_else(|| ClientError::NoResult.into());
    ids.iter().map(take).collect()
}

#[cfg(test)]
mod tests;
