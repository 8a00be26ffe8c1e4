//! A daemon of the tests: it answers what it was told to, and keeps what it was asked.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use proto::v1::{CollectedFile, Ending, EndingKind, RunRequest, RunResult};

use crate::daemon::{Ceilings, Daemon, Ran, Trouble};
use crate::sandboxfusion::LANGUAGES;

/// A daemon that runs nothing.
#[derive(Debug)]
pub(crate) struct Scripted {
    answers: Mutex<VecDeque<Result<Ran, Trouble>>>,
    asked: Mutex<Vec<RunRequest>>,
    languages: String,
}

impl Scripted {
    /// With these answers in their order, and every language there.
    pub(crate) fn new(answers: impl IntoIterator<Item = Result<Ran, Trouble>>) -> Arc<Self> {
        let names: Vec<&str> = LANGUAGES.iter().map(|language| language.name).collect();
        Self::with_languages(&names, answers)
    }

    /// With these languages only.
    pub(crate) fn with_languages(
        names: &[&str],
        answers: impl IntoIterator<Item = Result<Ran, Trouble>>,
    ) -> Arc<Self> {
        Arc::new(Self {
            answers: Mutex::new(answers.into_iter().collect()),
            asked: Mutex::default(),
            languages: names.join("\n"),
        })
    }

    /// What was asked, but for the looks at what is there.
    pub(crate) fn asked(&self) -> Vec<RunRequest> {
        let asked = self.asked.lock().unwrap();
        let is_look = |request: &&RunRequest| !request.argv.iter().any(|word| word == "-c");
        asked.iter().filter(is_look).cloned().collect()
    }
}

impl Daemon for Scripted {
    fn run(&self, request: RunRequest) -> BoxFuture<'_, Result<Ran, Trouble>> {
        let is_look = request.argv.first().is_some_and(|word| word == "sh");
        self.asked.lock().unwrap().push(request);
        let answer = match is_look {
            true => Ok(ran(exited(0), &self.languages)),
            false => self.answers.lock().unwrap().pop_front().unwrap(),
        };
        Box::pin(async { answer })
    }

    fn ceilings<'a>(&'a self, _policy: &'a str) -> BoxFuture<'a, Result<Ceilings, Trouble>> {
        let ceilings = Ceilings {
            wall_ms_max: 240_000,
            cpu_ms_max: 60_000,
            cpu_millicores_max: 2_000,
            memory_bytes_max: 2 << 30,
            output_bytes_total_max: 64 << 20,
        };
        Box::pin(async move { Ok(ceilings) })
    }
}

/// An ending of this kind without its evidence.
pub(crate) fn ending(kind: EndingKind) -> Ending {
    Ending {
        kind: kind.into(),
        ..Ending::default()
    }
}

/// A program that exited.
pub(crate) fn exited(code: i32) -> Ending {
    Ending {
        code: Some(code),
        ..ending(EndingKind::Exited)
    }
}

/// A run that ended so and wrote that.
pub(crate) fn ran(ending: Ending, stdout: &str) -> Ran {
    Ran {
        result: RunResult {
            ending: Some(ending),
            node: "node-1".to_owned(),
            ..RunResult::default()
        },
        stdout: stdout.as_bytes().to_vec(),
        stderr: Vec::new(),
    }
}

/// A build that left this file.
pub(crate) fn built(path: &str) -> Ran {
    let mut ran = ran(exited(0), "");
    ran.result.files = vec![CollectedFile {
        path: path.to_owned(),
        content: b"program".to_vec(),
        mode: 0o755,
    }];
    ran
}
