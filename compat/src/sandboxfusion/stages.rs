//! The runs that a request means: one for a script; for a built language one that builds and one
//! that runs what was built, each in a sandbox of its own.
//!
//! Two sandboxes because what the first one says of building must be out of the program's reach:
//! times, exit codes and output of both stages are then the daemon's own evidence.

#[cfg(test)]
mod tests;

use std::collections::HashMap;

use proto::v1::{CollectedFile, File, Limits, RunRequest};

use super::language::{Language, Placed, Stage};
use super::request::RunCode;
use crate::daemon::Ceilings;

/// Where files of a request lie in a sandbox.
const WORKSPACE: &str = "/workspace/";
/// The key of the label that says through which endpoint a run came.
const ENDPOINT_LABEL: &str = "endpoint";
/// The key of the label that says whose key it came with.
const KEY_LABEL: &str = "endpoint.key";

/// What a request means, as far as both stages need it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan<'a> {
    pub(super) request: &'a RunCode,
    pub(super) language: &'static Language,
    pub(super) placed: &'a Placed,
    /// The policy for every stage; none: those of the language.
    pub(super) policy: Option<&'a str>,
    /// The `PATH` of every stage; none: the daemon's.
    pub(super) search_path: Option<&'a str>,
    /// Whose key the request came with.
    pub(super) key: Option<&'a str>,
    /// Bytes of output that a stage may write.
    pub(super) output_bytes_max: u64,
}

/// A path as the daemon understands it: relative to the workspace.
pub(super) fn relative(path: &str) -> &str {
    path.strip_prefix(WORKSPACE).unwrap_or(path)
}

impl Plan<'_> {
    /// The policy of a stage.
    pub(super) fn policy_of(&self, stage: &Stage) -> String {
        self.policy.unwrap_or(stage.policy).to_owned()
    }

    /// The run that builds, and leaves what `pattern` names.
    pub(super) fn build(
        &self,
        (stage, pattern): (&Stage, &str),
        ceilings: &Ceilings,
        deadline_ms: u64,
    ) -> RunRequest {
        let limits = self.limits(self.request.compile_ms_max, ceilings);
        RunRequest {
            collect: vec![pattern.to_owned()],
            ..self.request(stage, limits, deadline_ms)
        }
    }

    /// The run of the program itself, with what was built for it.
    pub(super) fn run(
        &self,
        built: Vec<CollectedFile>,
        ceilings: &Ceilings,
        deadline_ms: u64,
    ) -> RunRequest {
        let mut limits = self.limits(self.request.run_ms_max, ceilings);
        limits.memory_bytes_max = self.request.memory_bytes_max.map(signed);
        let stage = &self.language.run;
        let mut request = RunRequest {
            stdin: self.request.stdin.clone().map(String::into_bytes),
            collect: self.request.fetch_files.clone(),
            ..self.request(stage, limits, deadline_ms)
        };
        for file in built {
            let content = File {
                content: file.content,
                mode: Some(file.mode),
            };
            request.files.insert(file.path, content);
        }
        request
    }

    fn request(&self, stage: &Stage, limits: Limits, deadline_ms: u64) -> RunRequest {
        let file = |content: &[u8]| File {
            content: content.to_vec(),
            mode: None,
        };
        let given = self.request.files.iter();
        let mut files: HashMap<String, File> = given
            .map(|(path, content)| (path.clone(), file(content)))
            .collect();
        files.insert(self.placed.path.clone(), file(self.request.code.as_bytes()));
        let fixed = stage.env.iter();
        let mut env: HashMap<String, String> = fixed
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        if let Some(path) = self.search_path {
            env.insert("PATH".to_owned(), path.to_owned());
        }
        let mut labels = HashMap::from([(ENDPOINT_LABEL.to_owned(), "sandboxfusion".to_owned())]);
        if let Some(key) = self.key {
            labels.insert(KEY_LABEL.to_owned(), key.to_owned());
        }
        RunRequest {
            policy: self.policy_of(stage),
            files: files.into_iter().collect(),
            argv: self.placed.argv(stage),
            env: env.into_iter().collect(),
            labels: labels.into_iter().collect(),
            limits: Some(limits),
            deadline_ms,
            retry_infra: Some(true),
            ..RunRequest::default()
        }
    }

    /// The caller's wall time, and CPU time enough that it is the wall time that counts.
    fn limits(&self, wall_ms: u64, ceilings: &Ceilings) -> Limits {
        let cpu_ms = wall_ms
            .saturating_mul(ceilings.cpu_millicores_max)
            .div_ceil(1000)
            .max(wall_ms);
        let output = self.output_bytes_max.min(ceilings.output_bytes_total_max);
        Limits {
            wall_ms_max: Some(signed(wall_ms.max(WALL_MS_MIN))),
            cpu_ms_max: Some(signed(cpu_ms.clamp(WALL_MS_MIN, ceilings.cpu_ms_max))),
            output_bytes_total_max: Some(signed(output)),
            ..Limits::default()
        }
    }
}

/// The least wall and CPU time that a daemon takes, in milliseconds.
const WALL_MS_MIN: u64 = 10;

fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
