//! Our program that runs a solution under a measuring tool: its files, its task, and the steps
//! that it reports. Commands of the author are planned here too.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::json;

use crate::harness::{HarnessEvidence, HarnessPlan, ReportPipe};
use crate::plan::HARNESS_FOLDER;
use crate::verify::{Language, MeasureSpec, ReportFrom};

pub(super) const MEASURE: &str = include_str!("../../harness/measure.py");
pub(super) const MEASURED: &str = include_str!("../../harness/measured.py");

/// Steps that are read at most.
const STEPS_MAX: usize = 10_000;

/// Plans the author's own command.
pub(super) fn plan_of_author(spec: &MeasureSpec) -> HarnessPlan {
    let collect = match &spec.report {
        ReportFrom::File(path) => vec![path.clone()],
        _ => Vec::new(),
    };
    HarnessPlan {
        argv: spec.argv.clone(),
        env: spec.env.clone(),
        cwd: spec.cwd.clone(),
        files: BTreeMap::new(),
        collect,
        report: ReportPipe::of(&spec.report),
    }
}

/// Plans our program in one of its modes.
pub(super) fn plan(spec: &MeasureSpec, nonce: &str, mode: &str) -> HarnessPlan {
    let ours = |name: &str| format!("{HARNESS_FOLDER}/{name}");
    let task = json!({
        "nonce": nonce,
        "mode": mode,
        "language": spec.language.map_or("", Language::name),
        "file": spec.file,
        "tool": tool_of(&spec.format),
        "argv": spec.argv,
    });
    let files = BTreeMap::from([
        (ours("measure.py"), (MEASURE.as_bytes().to_vec(), 0o644)),
        (ours("measured.py"), (MEASURED.as_bytes().to_vec(), 0o644)),
        (ours("task.json"), (task.to_string().into_bytes(), 0o644)),
    ]);
    // Its own files are found from the working folder.
    let up = spec.cwd.split('/').filter(|part| !part.is_empty());
    let up = up.map(|_| "../").collect::<String>();
    let path = |name: &str| format!("{up}{}", ours(name));
    let argv = ["python3", "-I", &path("measure.py"), &path("task.json")];
    let mut env = BTreeMap::from([("LC_ALL".to_owned(), "C.UTF-8".to_owned())]);
    env.extend(spec.env.clone());
    HarnessPlan {
        argv: argv.map(str::to_owned).to_vec(),
        env,
        cwd: spec.cwd.clone(),
        files,
        collect: Vec::new(),
        report: ReportPipe::Private,
    }
}

/// The tool that a format of leaks is of.
fn tool_of(format: &str) -> &'static str {
    match format {
        "asan" => "asan",
        "valgrind_xml" => "valgrind",
        _ => "",
    }
}

/// One step that our program reported.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Step {
    nonce: String,
    pub(super) what: String,
    #[serde(default)]
    pub(super) tool: String,
    #[serde(default)]
    pub(super) code: i64,
    #[serde(default)]
    pub(super) text: String,
    #[serde(default)]
    pub(super) compiler: bool,
    #[serde(default)]
    pub(super) coverage: bool,
    #[serde(default)]
    pub(super) lsan: bool,
    #[serde(default, rename = "use")]
    pub(super) tools: Vec<String>,
}

/// All steps of this run, in order.
#[derive(Debug, Clone, Default)]
pub(super) struct Steps(Vec<Step>);

impl Steps {
    /// Reads the report; lines without the nonce are nothing, one that is broken ends it.
    pub(super) fn read(nonce: &str, evidence: &HarnessEvidence<'_>) -> Self {
        let lines = evidence.report.inner().split(|&byte| byte == b'\n');
        let steps = lines
            .map_while(|line| serde_json::from_slice::<Step>(line).ok())
            .filter(|step| step.nonce == nonce)
            .take(STEPS_MAX);
        Self(steps.collect())
    }

    /// The first step of that name, and of that tool where one is given.
    pub(super) fn first(&self, what: &str, tool: &str) -> Option<&Step> {
        let same = |step: &&Step| step.what == what && (tool.is_empty() || step.tool == tool);
        self.0.iter().find(same)
    }

    /// All steps of that name.
    pub(super) fn all<'a>(&'a self, what: &'a str) -> impl Iterator<Item = &'a Step> {
        self.0.iter().filter(move |step| step.what == what)
    }

    /// Whether our program came to its end.
    pub(super) fn ended(&self) -> bool {
        self.0.last().is_some_and(|step| step.what == "end")
    }
}
