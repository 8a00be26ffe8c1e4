//! Text and bytes of strangers on their way to a terminal: whatever a terminal would act on (escape
//! sequences, control characters, reordering of text) is shown instead of done. Writes nowhere.

use std::fmt::Write as _;

/// Whether a terminal may act on the character, or lay out text differently because of it.
pub(crate) fn is_acted_on(c: char) -> bool {
    let reorders = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let ends_line = matches!(c, '\u{2028}' | '\u{2029}');
    c.is_control() || reorders || ends_line
}

/// Colours of our own, the only sequences that [`text`] lets through.
const OWN_SEQUENCES: [&str; 5] = [
    "\u{1b}[31m",
    "\u{1b}[32m",
    "\u{1b}[33m",
    "\u{1b}[1m",
    "\u{1b}[0m",
];

/// Text with line breaks, tabs and our own colours, and everything else that is acted on shown.
pub(crate) fn text(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let own = OWN_SEQUENCES
            .into_iter()
            .find(|sequence| rest.starts_with(sequence));
        let taken = match own {
            Some(sequence) => {
                shown.push_str(sequence);
                sequence.len()
            }
            None => {
                push(c, &['\n', '\t'], &mut shown);
                c.len_utf8()
            }
        };
        rest = rest.get(taken..).unwrap_or_default();
    }
    shown
}

/// A JSON document that means the same, with everything that is acted on written as `\uXXXX`.
/// Between strings JSON has no such character but line breaks and tabs.
pub(crate) fn json(document: &str) -> String {
    let mut shown = String::with_capacity(document.len());
    for c in document.chars() {
        if is_acted_on(c) && !matches!(c, '\n' | '\t') {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                write_to(&mut shown, format_args!("\\u{unit:04x}"));
            }
        } else {
            shown.push(c);
        }
    }
    shown
}

fn push(c: char, passed: &[char], shown: &mut String) {
    match c {
        _ if passed.contains(&c) || !is_acted_on(c) => shown.push(c),
        // In the caret notation that terminals themselves use.
        '\0'..='\u{1f}' => {
            shown.push('^');
            shown.extend(char::from_u32(u32::from(c) | 0x40));
        }
        '\u{7f}' => shown.push_str("^?"),
        _ => write_to(shown, format_args!("\\u{{{:x}}}", u32::from(c))),
    }
}

fn write_to(text: &mut String, what: std::fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let (Ok(()) | Err(_)) = text.write_fmt(what);
}

/// A program's output on its way to a terminal, part by part; a character may be cut by a part.
/// Line breaks, tabs and returns to the line's start are left as they are.
#[derive(Debug, Default)]
pub(crate) struct Stream {
    /// The beginning of a character.
    begun: Vec<u8>,
}

impl Stream {
    /// What to write for the next part.
    pub(crate) fn next(&mut self, part: &[u8]) -> String {
        let mut bytes = std::mem::take(&mut self.begun);
        bytes.extend_from_slice(part);
        let mut shown = String::with_capacity(bytes.len());
        let mut rest = bytes.as_slice();
        loop {
            let (whole, bad) = match std::str::from_utf8(rest) {
                Ok(whole) => (whole, None),
                Err(error) => {
                    let (whole, after) = rest.split_at(error.valid_up_to());
                    let whole = std::str::from_utf8(whole).unwrap_or_default();
                    (whole, Some((after, error.error_len())))
                }
            };
            for c in whole.chars() {
                push(c, &['\n', '\t', '\r'], &mut shown);
            }
            let Some((after, length)) = bad else {
                return shown;
            };
            let Some(length) = length else {
                after.clone_into(&mut self.begun);
                return shown;
            };
            let (bad, after) = after.split_at(length);
            show_bytes(bad, &mut shown);
            rest = after;
        }
    }

    /// What to write when nothing more comes.
    pub(crate) fn end(&mut self) -> String {
        let mut shown = String::new();
        show_bytes(&std::mem::take(&mut self.begun), &mut shown);
        shown
    }
}

/// Bytes that are no text; some terminals take those from 0x80 to 0x9f for controls.
fn show_bytes(bytes: &[u8], shown: &mut String) {
    for byte in bytes {
        write_to(shown, format_args!("\\x{byte:02x}"));
    }
}

#[cfg(test)]
mod tests;
