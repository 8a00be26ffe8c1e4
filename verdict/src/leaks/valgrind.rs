//! Valgrind's XML, protocol 4. The program under test may be able to write into it, so what
//! valgrind never writes (comments, sections of raw text, attributes, elements of other names at
//! the top) makes it no report, and no `<error>` can be hidden.

use crate::reading::ReadError;
use crate::xml::{Piece, Puller};

use super::{Finding, LeakReport};

const FORMAT: &str = "valgrind_xml";

/// Elements below the outermost one.
const TOP: [&str; 14] = [
    "protocolversion",
    "protocoltool",
    "preamble",
    "pid",
    "ppid",
    "tool",
    "usercomment",
    "args",
    "status",
    "error",
    "errorcounts",
    "suppcounts",
    "announcethread",
    "fatal_signal",
];

/// What is known of the error that is being read.
#[derive(Default)]
struct Open {
    kind: String,
    what: String,
    leaked_bytes: Option<u64>,
    /// Whether the first stack, that of the fault, is over.
    stack_over: bool,
    object: String,
    file: String,
    folder: String,
    line: Option<u64>,
    own: Option<(String, Option<u64>)>,
}

/// Reads a report.
pub(super) fn read(text: &str) -> Result<LeakReport, ReadError> {
    if text.contains("<!") {
        return Err(ReadError::malformed(FORMAT, "valgrind writes no comments"));
    }
    let mut report = LeakReport::default();
    let mut puller = Puller::new(text);
    let mut path: Vec<String> = Vec::new();
    let mut open: Option<Open> = None;
    let mut errors = 0_usize;
    loop {
        let piece = puller.next();
        match piece.map_err(|error| ReadError::malformed(FORMAT, error))? {
            Piece::Open(element) => {
                let name = element.name();
                check(path.len(), name)?;
                if name == "error" {
                    errors += 1;
                    open = Some(Open::default());
                }
                path.push(name.to_owned());
            }
            Piece::Text(text) => match (&mut open, path.last()) {
                (Some(open), Some(name)) => open.text(name, &text),
                (None, Some(name)) if name == "state" && text.trim() == "FINISHED" => {
                    report.complete = true;
                }
                _ => {}
            },
            Piece::Close => {
                let name = path.pop().unwrap_or_default();
                if name == "error" {
                    if let Some(open) = open.take() {
                        report.add(open.finding())?;
                    }
                } else if let Some(open) = open.as_mut() {
                    open.close(&name);
                }
            }
            Piece::End => break,
        }
    }
    if errors != text.matches("<error>").count() {
        return Err(ReadError::malformed(
            FORMAT,
            "an error stands where none can be",
        ));
    }
    Ok(report)
}

fn check(depth: usize, name: &str) -> Result<(), ReadError> {
    let right = match depth {
        0 => name == "valgrindoutput",
        1 => TOP.contains(&name),
        _ => name != "error",
    };
    if right {
        return Ok(());
    }
    let reason = format!("element {name:?} stands where none can be");
    Err(ReadError::malformed(FORMAT, reason))
}

impl Open {
    fn text(&mut self, name: &str, text: &str) {
        let add = |to: &mut String| {
            if to.len() < crate::reading::MESSAGE_BYTES_MAX {
                to.push_str(text.trim());
            }
        };
        match name {
            "kind" => add(&mut self.kind),
            "what" | "text" if self.what.is_empty() => add(&mut self.what),
            "leakedbytes" => self.leaked_bytes = text.trim().parse().ok(),
            "obj" => add(&mut self.object),
            "file" => add(&mut self.file),
            "dir" => add(&mut self.folder),
            "line" => self.line = text.trim().parse().ok(),
            _ => {}
        }
    }

    fn close(&mut self, name: &str) {
        match name {
            "stack" => self.stack_over = true,
            "frame" => {
                let file = std::mem::take(&mut self.file);
                let folder = std::mem::take(&mut self.folder);
                let object = std::mem::take(&mut self.object);
                let line = self.line.take();
                // A frame of the program has a source; valgrind's own and the libraries' may too.
                let library = object.contains("vgpreload") || object.starts_with("/usr/lib");
                let free = self.own.is_none() && !self.stack_over;
                if free && !file.is_empty() && !library && !folder.starts_with("/usr") {
                    self.own = Some((file, line));
                }
            }
            _ => {}
        }
    }

    fn finding(self) -> Finding {
        let (file, line) = self.own.unwrap_or_default();
        // Memory that is still pointed to when the program ends is no leak that it could be
        // blamed for; valgrind tells it only where it is asked to.
        let leak = self.kind.starts_with("Leak_");
        Finding {
            tool: "valgrind",
            kind: self.kind,
            message: self.what,
            file,
            line,
            leaked_bytes: leak.then(|| self.leaked_bytes.unwrap_or(0)),
        }
    }
}
