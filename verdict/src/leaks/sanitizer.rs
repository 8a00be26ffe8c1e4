//! Text of the sanitizers: `==PID==ERROR: TOOL: kind ...`, the stack below it, `LeakSanitizer`'s
//! records, and `FILE:LINE:COLUMN: runtime error: message`.

use crate::reading::ReadError;

use super::{Finding, LeakReport};

/// Parts of a frame's path that are not the program's own.
const NOT_OWN: [&str; 6] = [
    "libsanitizer",
    "../sysdeps",
    "../csu",
    "compiler-rt",
    "/usr/include/",
    "/usr/lib/",
];

/// Reads the text.
pub(super) fn read(text: &str) -> Result<LeakReport, ReadError> {
    let mut report = LeakReport::default();
    // The finding whose stack is being read: only the first stack is that of the fault.
    let mut open: Option<Finding> = None;
    for line in text.lines() {
        if let Some((file, row)) = frame(line) {
            if let Some(finding) = open.as_mut().filter(|finding| finding.file.is_empty())
                && !NOT_OWN.iter().any(|part| file.contains(part))
            {
                file.clone_into(&mut finding.file);
                finding.line = Some(row);
            }
            continue;
        }
        if line.trim().is_empty() {
            close(&mut open, &mut report)?;
            continue;
        }
        if line.contains("LeakSanitizer has encountered a fatal error") {
            report.leaks_not_looked_for = true;
            continue;
        }
        if let Some(finding) = leak(line)
            .or_else(|| fault(line))
            .or_else(|| undefined(line))
        {
            close(&mut open, &mut report)?;
            open = Some(finding);
        }
    }
    close(&mut open, &mut report)?;
    Ok(report)
}

fn close(open: &mut Option<Finding>, report: &mut LeakReport) -> Result<(), ReadError> {
    match open.take() {
        Some(finding) => report.add(finding),
        None => Ok(()),
    }
}

fn finding(tool: &'static str, kind: &str, message: &str) -> Finding {
    Finding {
        tool,
        kind: kind.to_owned(),
        message: message.to_owned(),
        file: String::new(),
        line: None,
        leaked_bytes: None,
    }
}

/// `Direct leak of 800 byte(s) in 1 object(s) allocated from:`.
fn leak(line: &str) -> Option<Finding> {
    let kind = ["Direct leak", "Indirect leak"];
    let kind = kind.iter().find(|kind| line.starts_with(**kind))?;
    let rest = line.strip_prefix(kind)?.strip_prefix(" of ")?;
    let (bytes, _) = rest.split_once(' ')?;
    let mut leak = finding("lsan", kind, line.trim_end_matches(" allocated from:"));
    leak.leaked_bytes = Some(bytes.parse().ok()?);
    Some(leak)
}

/// `==3533==ERROR: AddressSanitizer: heap-buffer-overflow on address ...`.
fn fault(line: &str) -> Option<Finding> {
    let tools = [
        ("ERROR: AddressSanitizer: ", "asan"),
        ("WARNING: ThreadSanitizer: ", "tsan"),
        ("ERROR: ThreadSanitizer: ", "tsan"),
        ("WARNING: MemorySanitizer: ", "msan"),
        ("ERROR: UndefinedBehaviorSanitizer: ", "ubsan"),
    ];
    let rest = line
        .trim_start_matches('=')
        .trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = rest.trim_start_matches('=');
    tools.iter().find_map(|(words, tool)| {
        let message = rest.strip_prefix(words)?;
        let kind = message.split([' ', ':']).next().unwrap_or(message);
        Some(finding(tool, kind, message))
    })
}

/// `FILE:LINE:COLUMN: runtime error: message`.
fn undefined(line: &str) -> Option<Finding> {
    let (place, message) = line.split_once(": runtime error: ")?;
    let mut undefined = finding("ubsan", "undefined-behavior", message);
    let mut parts = place.rsplitn(3, ':');
    let (_column, row, file) = (parts.next(), parts.next(), parts.next());
    if let (Some(file), Some(Ok(row))) = (file, row.map(str::parse)) {
        file.clone_into(&mut undefined.file);
        undefined.line = Some(row);
    }
    Some(undefined)
}

/// `    #1 0x55 in function /path/file.c:39[:5]`: the path and the line.
fn frame(line: &str) -> Option<(&str, u64)> {
    let rest = line.strip_prefix("    #")?;
    let (_, place) = rest.split_once(" in ")?;
    let place = place.rsplit_once(' ').map_or(place, |(_, place)| place);
    let (before, last) = place.rsplit_once(':')?;
    let last: u64 = last.parse().ok()?;
    match before
        .rsplit_once(':')
        .map(|(file, row)| (file, row.parse()))
    {
        Some((file, Ok(row))) => Some((file, row)),
        _ => Some((before, last)),
    }
}
