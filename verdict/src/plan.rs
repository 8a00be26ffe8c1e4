//! What to put into the solution's sandbox and into the judge's, and what to start there.
//! Pure: it makes bytes and command lines; starting them, and joining the two by a socket, is the
//! caller's work.

mod blank;
pub mod build;
pub(crate) mod cpp;
mod cxx;
mod declared;
pub(crate) mod golang;
pub(crate) mod java;
pub(crate) mod javascript;
pub(crate) mod programs;
pub(crate) mod rust;
#[cfg(test)]
mod tests;
mod tokens;

use std::collections::BTreeMap;

use self::build::Build;

use crate::untrusted::Untrusted;
use crate::verdict::{Outcome, Verdict};
use crate::verify::{AssertsSpec, Language};

/// Folder of our own programs below `/workspace`. Files of a request there are replaced.
pub const HARNESS_FOLDER: &str = ".rollcage";

/// Descriptor of the socket that joins solution and judge, in both sandboxes.
pub const SOCKET_FD: i32 = 3;

/// Descriptor of the judge's report pipe; the solution's sandbox never has it.
pub const REPORT_FD: i32 = 4;

/// Bytes of a report that are read at most; a longer one counts as none.
pub const REPORT_BYTES_MAX: usize = 16 << 20;

/// Bytes of a solution or of test code in a language that is built.
const SOURCE_BYTES_MAX: usize = 4 << 20;

const CACHE_MARK: &[u8] = b"rollcage-cache-1\n";
const CACHE_BYTES_MAX: usize = 4 << 20;
/// The module of both processes.
const WIRE: [(&str, &str); 3] = [
    ("kinds.py", include_str!("../harness/kinds.py")),
    ("codec.py", include_str!("../harness/codec.py")),
    ("peer.py", include_str!("../harness/peer.py")),
];
const START: &str = include_str!("../harness/start.py");
const SOLUTION_HOST: &str = include_str!("../harness/solution_host.py");
const CASES_HOST: &str = include_str!("../harness/cases_host.py");
const JUDGE: &str = include_str!("../harness/judge.py");

/// Our programs: name and text.
const HARNESS_FILES: [(&str, &str); 7] = [
    WIRE[0],
    WIRE[1],
    WIRE[2],
    ("cases_host.py", CASES_HOST),
    ("judge.py", JUDGE),
    ("solution_host.py", SOLUTION_HOST),
    ("start.py", START),
];

/// Our programs that judge a language: name and text.
pub(crate) fn harness_files(language: Language) -> &'static [(&'static str, &'static str)] {
    match language {
        Language::Python => &HARNESS_FILES,
        Language::JavaScript => &javascript::HARNESS_FILES,
        Language::Go => &golang::HARNESS_FILES,
        Language::Java => &java::HARNESS_FILES,
        Language::C | Language::Cpp => &cpp::HARNESS_FILES,
        Language::Rust => &rust::HARNESS_FILES,
        _ => &[],
    }
}

/// Files and command lines of both sandboxes.
///
/// The caller starts both with a connected pair of stream sockets (`SOCK_STREAM`) as descriptor 3
/// and, for the judge alone, the writing end of a pipe as descriptor 4. No end of the socket may
/// stay open elsewhere: each side learns from its end of file that the other is gone. The judge's
/// wall limit must be longer than the solution's, so that a solution that hangs ends by its own
/// limit. When the judge has ended, the solution's sandbox ends by itself, or is killed by
/// [`crate::grade::ENDED_BY_GRADER`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgePlan {
    /// Files of the solution's sandbox: path below `/workspace` -> bytes.
    pub solution_files: BTreeMap<String, Vec<u8>>,
    /// Command line in the solution's sandbox.
    pub solution_argv: Vec<String>,
    /// Files of the judge's sandbox: path below `/workspace` -> bytes. They hold the nonce.
    pub judge_files: BTreeMap<String, Vec<u8>>,
    /// Command line in the judge's sandbox.
    pub judge_argv: Vec<String>,
    /// What makes the solution's program first, in a sandbox of the solution's kind.
    pub solution_build: Option<Build>,
    /// What makes the judge's program first, in a sandbox of the judge's kind.
    pub judge_build: Option<Build>,
    /// Whether the judge's program was made against functions as the solution declares them.
    pub declared_by_solution: bool,
}

/// Plans the judging of `files` by `spec`. The nonce must be fresh for this run.
///
/// # Errors
/// The verdict, where there is nothing to run: the functions of a compiled language cannot be read,
/// or take what cannot cross.
pub fn plan_asserts(
    spec: &AssertsSpec,
    files: &BTreeMap<String, Vec<u8>>,
    nonce: &str,
) -> Result<JudgePlan, Box<Verdict>> {
    if is_built(spec) {
        check_sizes(spec, files)?;
    }
    match spec.language {
        Language::Python => Ok(plan_python(spec, files, nonce)),
        Language::JavaScript => Ok(javascript::plan(spec, files, nonce)),
        Language::C | Language::Cpp => cpp::plan(spec, files, nonce),
        Language::Go => golang::plan(spec, files, nonce),
        Language::Java => java::plan(spec, files, nonce),
        Language::Rust => rust::plan(spec, files, nonce),
        // Refused when the request is read.
        other => {
            let reason = format!("asserts does not support {}", other.name());
            Err(Box::new(Verdict::new(Outcome::VerifierError, reason)))
        }
    }
}

/// Functions are looked for in the solution's text and the author's here, on the host: in no more
/// of it than that takes a moment.
fn check_sizes(spec: &AssertsSpec, files: &BTreeMap<String, Vec<u8>>) -> Result<(), Box<Verdict>> {
    let told = |outcome, what: &str, bytes: usize| {
        let reason = format!("{what} has {bytes} bytes, at most {SOURCE_BYTES_MAX} are read");
        Err(Box::new(Verdict::new(outcome, reason)))
    };
    let solution = files.get(&spec.file).map_or(0, Vec::len);
    if solution > SOURCE_BYTES_MAX {
        return told(Outcome::Failed, &spec.file, solution);
    }
    let tests = spec.tests.iter().map(|test| test.code.len()).sum::<usize>();
    let author = tests + spec.code.len() + spec.declaration.len();
    if author > SOURCE_BYTES_MAX {
        return told(Outcome::VerifierError, "the test code", author);
    }
    Ok(())
}

fn plan_python(spec: &AssertsSpec, files: &BTreeMap<String, Vec<u8>>, nonce: &str) -> JudgePlan {
    let mut solution_files = without_harness(files);
    solution_files.extend(harness(&["start.py", "solution_host.py"]));
    let mut judge_files = harness(&["start.py", "judge.py"]);
    judge_files.insert(ours("task.bin"), task_bytes(spec, nonce));
    let mut solution_argv = argv("solution");
    solution_argv.push(spec.file.clone());
    JudgePlan {
        solution_files,
        solution_argv,
        judge_files,
        judge_argv: argv("judge"),
        solution_build: None,
        judge_build: None,
        declared_by_solution: false,
    }
}

/// Whether programs have to be built before `spec` can be judged: then they run where what lies in
/// `/workspace` may be executed.
#[must_use]
pub fn is_built(spec: &AssertsSpec) -> bool {
    matches!(
        spec.language,
        Language::Go | Language::Java | Language::C | Language::Cpp | Language::Rust
    )
}

impl JudgePlan {
    /// The same plan with the programs compiled before, in the same image.
    #[must_use]
    pub fn with_cache(mut self, cache: &HarnessCache) -> Self {
        for files in [&mut self.solution_files, &mut self.judge_files] {
            files.insert(ours("cache.bin"), cache.0.clone());
        }
        self
    }
}

/// What to run in a pristine sandbox, without any file of a request, to compile our programs for
/// its interpreter. Its standard output is for [`HarnessCache::from_output`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CachePlan {
    /// Files of the sandbox: path below `/workspace` -> bytes.
    pub files: BTreeMap<String, Vec<u8>>,
    /// Command line.
    pub argv: Vec<String>,
}

/// Plans the compiling.
#[must_use]
pub fn plan_cache() -> CachePlan {
    let files = harness(&["start.py", "judge.py", "solution_host.py", "cases_host.py"]);
    CachePlan {
        files,
        argv: argv("compile"),
    }
}

/// Our programs as compiled code of one interpreter; another one ignores it. It may be kept for
/// as long as the image's digest and this build stay the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HarnessCache(Vec<u8>);

/// The output is no compiled code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the output of {bytes} bytes is not that of our compiling")]
pub struct NotACache {
    /// Its length.
    pub bytes: usize,
}

impl HarnessCache {
    /// The compiled code.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Takes the output of a [`CachePlan`] run that exited with 0.
    ///
    /// # Errors
    /// [`NotACache`] if it does not begin as it must, or is out of proportion.
    pub fn from_output(output: &Untrusted<Vec<u8>>) -> Result<Self, NotACache> {
        let bytes = output.inner();
        if bytes.starts_with(CACHE_MARK) && bytes.len() <= CACHE_BYTES_MAX {
            return Ok(Self(bytes.clone()));
        }
        Err(NotACache { bytes: bytes.len() })
    }
}

/// The request's files but those that lie where our own go.
pub(crate) fn without_harness(files: &BTreeMap<String, Vec<u8>>) -> BTreeMap<String, Vec<u8>> {
    (files.iter())
        .filter(|(path, _)| !touches_harness(path))
        .map(|(path, bytes)| (path.clone(), bytes.clone()))
        .collect()
}

pub(crate) fn ours(name: &str) -> String {
    format!("{HARNESS_FOLDER}/{name}")
}

/// The module of both processes and the programs named.
pub(crate) fn harness(programs: &[&str]) -> BTreeMap<String, Vec<u8>> {
    let wire = WIRE.map(|(name, _)| name);
    (HARNESS_FILES.iter())
        .filter(|(name, _)| programs.contains(name) || wire.contains(name))
        .map(|(name, text)| (ours(name), text.as_bytes().to_vec()))
        .collect()
}

pub(crate) fn argv(task: &str) -> Vec<String> {
    let program = format!("{HARNESS_FOLDER}/start.py");
    ["python3", "-I", "-S", "-B", &program, task]
        .map(str::to_owned)
        .to_vec()
}

/// Whether files of a request lie where our own programs go.
#[must_use]
pub fn touches_harness(path: &str) -> bool {
    path == HARNESS_FOLDER || path.starts_with(&format!("{HARNESS_FOLDER}/"))
}

/// The task in the coding of `codec.py`, so that the judge needs no other parser.
fn task_bytes(spec: &AssertsSpec, nonce: &str) -> Vec<u8> {
    let mut out = TaskWriter(vec![0]);
    out.head(b'm', 10);
    for (name, value) in [("nonce", nonce), ("file", &spec.file), ("code", &spec.code)] {
        out.text(name);
        out.text(value);
    }
    out.text("tests");
    out.head(b't', spec.tests.len());
    for test in &spec.tests {
        out.head(b'm', 4);
        for (name, value) in [("id", &test.id), ("code", &test.code)] {
            out.text(name);
            out.text(value);
        }
    }
    out.text("entry_points");
    out.head(b't', spec.entry_points.len());
    for name in &spec.entry_points {
        out.text(name);
    }
    out.0
}

struct TaskWriter(Vec<u8>);

impl TaskWriter {
    /// A tag and a length; lengths beyond 32 bits cannot come out of a request of 64 MiB.
    fn head(&mut self, tag: u8, length: usize) {
        self.0.push(tag);
        let length = u32::try_from(length).unwrap_or(u32::MAX);
        self.0.extend_from_slice(&length.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.head(b's', text.len());
        self.0.extend_from_slice(text.as_bytes());
    }
}
