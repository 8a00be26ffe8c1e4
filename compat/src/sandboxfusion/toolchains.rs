//! Which languages the image has what they need for: found out in a sandbox, since only there is
//! seen what a program will see.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use proto::v1::{EndingKind, RunRequest};
use tokio::sync::Mutex;

use super::language::{LANGUAGES, Language, Need};
use crate::daemon::{Daemon, Trouble};

/// Something that was missing is looked for again after this time: it may have been installed.
const LOOK_AGAIN: Duration = Duration::from_secs(30);
/// Longest time to wait for a look, in milliseconds: others wait behind it.
const LOOK_MS_MAX: u64 = 20_000;
/// The policy under which is looked.
const POLICY: &str = "shell";

type Found = Arc<BTreeSet<&'static str>>;

/// What was found, and when.
#[derive(Debug)]
pub(crate) struct Toolchains {
    daemon: Arc<dyn Daemon>,
    search_path: Option<String>,
    policy: Option<String>,
    // Held while somebody looks, so that many first requests look once.
    found: Mutex<Option<(Instant, Found)>>,
}

impl Toolchains {
    /// Nothing is looked for yet.
    pub(crate) fn new(
        daemon: Arc<dyn Daemon>,
        search_path: Option<String>,
        policy: Option<String>,
    ) -> Self {
        Self {
            daemon,
            search_path,
            policy,
            found: Mutex::new(None),
        }
    }

    /// Names of the languages that are there. `wanted` is looked for again if it was missing a
    /// while ago.
    ///
    /// # Errors
    /// Nobody could look.
    pub(crate) async fn available(&self, wanted: &str) -> Result<Found, Trouble> {
        let mut found = self.found.lock().await;
        if let Some((at, names)) = &*found
            && (names.contains(wanted) || at.elapsed() < LOOK_AGAIN)
        {
            return Ok(Arc::clone(names));
        }
        let names = Arc::new(self.look().await?);
        *found = Some((Instant::now(), Arc::clone(&names)));
        Ok(names)
    }

    async fn look(&self) -> Result<BTreeSet<&'static str>, Trouble> {
        let mut request = RunRequest {
            policy: self.policy.clone().unwrap_or_else(|| POLICY.to_owned()),
            argv: vec!["sh".to_owned(), "-c".to_owned(), script()],
            deadline_ms: LOOK_MS_MAX,
            ..RunRequest::default()
        };
        if let Some(path) = &self.search_path {
            request.env.insert("PATH".to_owned(), path.clone());
        }
        let ran = self.daemon.run(request).await?;
        let ending = ran.result.ending.unwrap_or_default();
        if ending.kind() != EndingKind::Exited || ending.code != Some(0) {
            return Err(Trouble::fault(format!(
                "what the image has could not be looked up: the script ended as {:?}: {}",
                ending.kind(),
                String::from_utf8_lossy(&ran.stderr),
            )));
        }
        let said = String::from_utf8_lossy(&ran.stdout);
        let is_there = |language: &&Language| said.lines().any(|line| line == language.name);
        let there = LANGUAGES.iter().filter(is_there);
        Ok(there.map(|language| language.name).collect())
    }
}

/// Says the name of each language whose needs are met.
fn script() -> String {
    let mut script = String::new();
    for Language { name, needs, .. } in LANGUAGES {
        let met: Vec<String> = needs
            .iter()
            .map(|need| match need {
                Need::Program(program) => format!("command -v {program} >/dev/null"),
                Need::PythonModule(module) => format!("python3 -c 'import {module}' 2>/dev/null"),
            })
            .collect();
        let written = writeln!(script, "if {}; then echo {name}; fi", met.join(" && "));
        debug_assert!(written.is_ok(), "text takes all that is written to it");
    }
    script
}
