//! What to put into the solution's sandbox and into the judge's, and what to start there.
//! Pure: it makes bytes and command lines; starting them, and joining the two by a socket, is the
//! caller's work.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use crate::verify::AssertsSpec;

/// Folder of our own programs below `/workspace`. Files of a request there are replaced.
pub const HARNESS_FOLDER: &str = ".rollcage";

/// Descriptor of the socket that joins solution and judge, in both sandboxes.
pub const SOCKET_FD: i32 = 3;

/// Descriptor of the judge's report pipe; the solution's sandbox never has it.
pub const REPORT_FD: i32 = 4;

/// Bytes of a report that are read at most; a longer one counts as none.
pub const REPORT_BYTES_MAX: usize = 16 << 20;

const WORKSPACE: &str = "/workspace";
/// The module of both processes.
const WIRE: [(&str, &str); 3] = [
    ("kinds.py", include_str!("../harness/kinds.py")),
    ("codec.py", include_str!("../harness/codec.py")),
    ("peer.py", include_str!("../harness/peer.py")),
];
const SOLUTION_HOST: &str = include_str!("../harness/solution_host.py");
const JUDGE: &str = include_str!("../harness/judge.py");

/// Our programs: name and text.
pub(crate) const HARNESS_FILES: [(&str, &str); 5] = [
    WIRE[0],
    WIRE[1],
    WIRE[2],
    ("judge.py", JUDGE),
    ("solution_host.py", SOLUTION_HOST),
];

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
}

/// Plans the judging of `files` by `spec`. The nonce must be fresh for this run.
#[must_use]
pub fn plan_asserts(
    spec: &AssertsSpec,
    files: &BTreeMap<String, Vec<u8>>,
    nonce: &str,
) -> JudgePlan {
    let ours = |name: &str| format!("{HARNESS_FOLDER}/{name}");
    let wire = WIRE
        .iter()
        .map(|(name, text)| (ours(name), text.as_bytes().to_vec()));
    let below = format!("{HARNESS_FOLDER}/");
    let mut solution_files: BTreeMap<String, Vec<u8>> = (files.iter())
        .filter(|(path, _)| path.as_str() != HARNESS_FOLDER && !path.starts_with(&below))
        .map(|(path, bytes)| (path.clone(), bytes.clone()))
        .collect();
    solution_files.extend(wire.clone());
    solution_files.insert(ours("solution_host.py"), SOLUTION_HOST.into());
    let mut judge_files: BTreeMap<String, Vec<u8>> = wire.collect();
    judge_files.insert(ours("judge.py"), JUDGE.into());
    judge_files.insert(ours("task.bin"), task_bytes(spec, nonce));
    let python = |program: &str| {
        let program = format!("{WORKSPACE}/{HARNESS_FOLDER}/{program}");
        ["python3", "-I", "-S", "-B", &program]
            .map(str::to_owned)
            .to_vec()
    };
    let mut solution_argv = python("solution_host.py");
    solution_argv.push(spec.file.clone());
    JudgePlan {
        solution_files,
        solution_argv,
        judge_files,
        judge_argv: python("judge.py"),
    }
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
