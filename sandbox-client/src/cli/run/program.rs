//! How a file becomes a command inside the sandbox: by its ending, else by its `#!` line.
//! The policy of each language is crate `policies`' business.

use std::ffi::OsString;
use std::path::Path;

use super::super::failure::Failure;

/// How to run a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Launch {
    /// Words before the file's name.
    words: &'static [&'static str],
    /// The policy it gets if none is named.
    pub(super) policy: &'static str,
}

// Compiled languages: the shell gets file and arguments as words of their own, never as text of
// the script, so that no name can say anything to it. The program lies in TMPDIR, out of the way of
// the files in /workspace.
macro_rules! compiled {
    ($compiler:literal, $options:literal) => {
        &[
            "sh",
            "-c",
            concat!(
                "command -v ",
                $compiler,
                " >/dev/null || { echo 'rollcage: ",
                $compiler,
                " is not in the image or not on its PATH: install it below /usr, or see \
                 host_image.extra_read_paths and --env PATH=...' >&2; exit 127; }; \
                 source=$1; shift; ",
                $compiler,
                " ",
                $options,
                " && exec \"${TMPDIR:-/tmp}/program\" \"$@\""
            ),
            "sh",
        ]
    };
}

/// Ending, words before the file's name.
const LANGUAGES: &[(&str, &[&str])] = &[
    ("py", &["python3"]),
    ("js", &["node"]),
    ("mjs", &["node"]),
    ("cjs", &["node"]),
    ("sh", &["bash"]),
    ("bash", &["bash"]),
    ("rb", &["ruby"]),
    ("lua", &["lua5.4"]),
    ("pl", &["perl"]),
    ("php", &["php"]),
    // `go run` would turn every exit code into 1.
    (
        "go",
        compiled!("go", "build -o \"${TMPDIR:-/tmp}/program\" \"$source\""),
    ),
    (
        "rs",
        compiled!(
            "rustc",
            "--edition 2021 -O --crate-name program -o \"${TMPDIR:-/tmp}/program\" \"$source\""
        ),
    ),
    (
        "c",
        compiled!(
            "gcc",
            "-O2 -o \"${TMPDIR:-/tmp}/program\" \"$source\" -lm -pthread"
        ),
    ),
    (
        "cc",
        compiled!(
            "g++",
            "-O2 -o \"${TMPDIR:-/tmp}/program\" \"$source\" -pthread"
        ),
    ),
    (
        "cpp",
        compiled!(
            "g++",
            "-O2 -o \"${TMPDIR:-/tmp}/program\" \"$source\" -pthread"
        ),
    ),
    (
        "cxx",
        compiled!(
            "g++",
            "-O2 -o \"${TMPDIR:-/tmp}/program\" \"$source\" -pthread"
        ),
    ),
];

/// Interpreter in a `#!` line (without folder and version), ending of its language.
const INTERPRETERS: &[(&str, &str)] = &[
    ("python", "py"),
    ("node", "js"),
    ("nodejs", "js"),
    ("sh", "sh"),
    ("bash", "sh"),
    ("dash", "sh"),
    ("ruby", "rb"),
    ("lua", "lua"),
    ("perl", "pl"),
    ("php", "php"),
];

impl Launch {
    /// The command for the file of this name in /workspace.
    pub(super) fn argv(&self, name: &str) -> Vec<OsString> {
        // A name in front of which a dash stands would be an option.
        let name = if name.starts_with('-') {
            format!("./{name}")
        } else {
            name.to_owned()
        };
        self.words
            .iter()
            .map(OsString::from)
            .chain([OsString::from(name)])
            .collect()
    }
}

/// How to run the file at `path` with this content.
pub(super) fn launch_of(path: &Path, content: &[u8]) -> Result<Launch, Failure> {
    let ending = path
        .extension()
        .map(|ending| ending.to_string_lossy().to_ascii_lowercase());
    if ending.as_deref() == Some("wasm") {
        return Err(Failure::Usage {
            message: format!(
                "{}: the WebAssembly tier is not in this build; run a program of another language",
                path.display()
            ),
        });
    }
    let by_ending = ending.as_deref().and_then(launch_by_ending);
    by_ending.or_else(|| interpreter_of(content).and_then(launch_by_ending)).ok_or_else(|| {
        let known: Vec<String> = LANGUAGES.iter().map(|(ending, _)| format!(".{ending}")).collect();
        Failure::Usage {
            message: format!(
                "{}: neither its ending nor a `#!` line tells its language; known endings: {}. Or \
                 say how to run it: rollcage run --put {} -- COMMAND",
                path.display(),
                known.join(" "),
                path.display()
            ),
        }
    })
}

fn launch_by_ending(ending: &str) -> Option<Launch> {
    let (_, words) = LANGUAGES.iter().find(|(known, _)| *known == ending)?;
    Some(Launch {
        words,
        policy: policies::policy_for_extension(ending),
    })
}

/// The ending that stands for the interpreter of a `#!` line.
fn interpreter_of(content: &[u8]) -> Option<&'static str> {
    let line = content
        .strip_prefix(b"#!")?
        .split(|byte| *byte == b'\n')
        .next()?;
    let line = std::str::from_utf8(line).ok()?;
    let base = |word: &str| word.rsplit('/').next().unwrap_or(word).to_owned();
    let mut words = line.split_ascii_whitespace();
    let first = base(words.next()?);
    let name = match first.as_str() {
        "env" => base(words.find(|word| !word.starts_with('-'))?),
        _ => first,
    };
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    INTERPRETERS
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, ending)| *ending)
}

#[cfg(test)]
mod tests;
