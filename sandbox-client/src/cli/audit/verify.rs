//! `rollcage audit verify`: a log's files, without a daemon. What a log must be is crate `audit`'s
//! business; this finds the files and says what was found.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use audit::{PublicKey, Receipt, Report, Tail, VerifyOptions, verify_segments};
use clap::Args;
use serde_json::json;

use super::super::failure::{Failure, NEGATIVE, chain};
use super::super::table::one_line;
use super::super::terminal::{Color, Terminal};

/// Options of `audit verify`.
#[derive(Debug, Default, Args)]
pub(crate) struct VerifyArgs {
    /// Folder of the log; without it the one below our state folder.
    #[arg(value_name = "DIR")]
    pub(super) folder: Option<PathBuf>,
    /// A receipt that must be found in the log, as results carry it; may be repeated.
    #[arg(long, value_name = "SEQ:SHA256", value_parser = parse_receipt)]
    receipt: Vec<Receipt>,
    /// Public key (PEM) whose signatures count; may be repeated. Without it the key beside the log
    /// is used, which proves nothing against somebody who can replace both.
    #[arg(long, value_name = "FILE")]
    key: Vec<PathBuf>,
}

/// A written receipt that is none.
#[derive(Debug, thiserror::Error)]
#[error(
    "`{text}` is no receipt; write SEQ:SHA256 as in a result's `audit`, for instance 1042:9f86d0…"
)]
struct ReceiptError {
    text: String,
}

fn parse_receipt(text: &str) -> Result<Receipt, ReceiptError> {
    let wrong = || ReceiptError {
        text: text.to_owned(),
    };
    let (seq, sha256) = text.split_once(':').ok_or_else(wrong)?;
    match (seq.parse(), sha256.parse()) {
        (Ok(seq), Ok(sha256)) => Ok(Receipt { seq, sha256 }),
        _ => Err(wrong()),
    }
}

impl VerifyArgs {
    /// Receipts from results, and nothing else.
    pub(crate) fn with_receipts(receipts: &[(u64, String)]) -> Result<Self, Failure> {
        let receipt = receipts
            .iter()
            .map(|(seq, sha256)| parse_receipt(&format!("{seq}:{sha256}")))
            .collect::<Result<_, _>>()
            .map_err(|error| Failure::Answer {
                what: error.to_string(),
            })?;
        Ok(Self {
            receipt,
            ..Self::default()
        })
    }
}

/// Does it.
pub(crate) fn verify(terminal: &Terminal, folder: &Path, args: &VerifyArgs) -> Result<u8, Failure> {
    let (report, key_beside) = check(folder, args)?;
    if key_beside {
        terminal.talk(&format!(
            "checked with the key beside the log; keep a copy elsewhere and give it with --key \
             ({})",
            folder.display()
        ));
    }
    if terminal.json {
        let mut document = serde_json::to_value(&report).map_err(|error| Failure::Answer {
            what: error.to_string(),
        })?;
        document["holds"] = json!(report.holds());
        terminal.json_line(&document)?;
    } else {
        terminal.text(&text_of(terminal, &report))?;
    }
    Ok(if report.holds() { 0 } else { NEGATIVE })
}

/// Verifies; also whether the key came from beside the log.
pub(crate) fn check(folder: &Path, args: &VerifyArgs) -> Result<(Report, bool), Failure> {
    let files = Files::find(folder)?;
    let key_beside = args.key.is_empty() && !files.keys.is_empty();
    let key_files = if args.key.is_empty() {
        &files.keys
    } else {
        &args.key
    };
    let keys = key_files
        .iter()
        .map(|path| read_key(path))
        .collect::<Result<_, _>>()?;
    let head = match &files.head {
        Some(path) => Some(std::fs::read(path).map_err(|source| read_failure(path, source))?),
        None => None,
    };
    let options = VerifyOptions {
        keys,
        head,
        receipts: args.receipt.clone(),
    };
    let segments = files.segments.iter().map(|path| {
        let name = path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        let reader = BufReader::with_capacity(256 << 10, File::open(path)?);
        Ok((name.unwrap_or_default(), reader))
    });
    let report = verify_segments(segments, &options).map_err(|error| Failure::Local {
        what: format!("read the log in {}", folder.display()),
        source: std::io::Error::other(chain(&error)),
    })?;
    Ok((report, key_beside))
}

fn text_of(terminal: &Terminal, report: &Report) -> String {
    let mut text = String::new();
    for finding in &report.findings {
        let (color, weight) = match finding.severity {
            audit::verify::Severity::Error => (Color::Red, "error"),
            audit::verify::Severity::Warning => (Color::Yellow, "warning"),
        };
        let place = match (finding.segment.as_str(), finding.line) {
            ("", _) => String::new(),
            (segment, 0) => format!("{segment}: "),
            (segment, line) => format!("{segment}:{line}: "),
        };
        let seq = finding
            .seq
            .map(|seq| format!("record {seq}: "))
            .unwrap_or_default();
        let weight = terminal.paint(color, weight);
        // The log may be anybody's.
        let said = one_line(&format!("{place}{seq}{}", finding.message));
        text.push_str(&format!("{weight}: {said}\n"));
    }
    let judged = if report.holds() {
        terminal.paint(Color::Green, "the log holds")
    } else {
        terminal.paint(Color::Red, "the log does NOT hold")
    };
    let tail = match report.tail {
        Tail::Proven => "signed to its end".to_owned(),
        Tail::Unproven { from_seq } => {
            format!(
                "complete to {}, tail unproven from {from_seq} on",
                report.complete_to_seq
            )
        }
    };
    text.push_str(&format!(
        "{judged}: {} records in {} segments, {} checkpoints, {tail}, {} receipts found, {} errors, \
         {} warnings\n",
        report.records,
        report.segments,
        report.checkpoints,
        report.receipts_found,
        report.errors,
        report.warnings
    ));
    text
}

fn read_failure(path: &Path, source: std::io::Error) -> Failure {
    Failure::Read {
        path: path.to_owned(),
        source,
    }
}

fn read_key(path: &Path) -> Result<PublicKey, Failure> {
    let text = std::fs::read_to_string(path).map_err(|source| read_failure(path, source))?;
    PublicKey::from_pem(&text).map_err(|error| Failure::Usage {
        message: format!("{}: {}", path.display(), chain(&error)),
    })
}

/// The files of a log.
#[derive(Debug, Default)]
struct Files {
    segments: Vec<PathBuf>,
    keys: Vec<PathBuf>,
    head: Option<PathBuf>,
}

impl Files {
    fn find(folder: &Path) -> Result<Self, Failure> {
        let mut found = Self::default();
        for entry in std::fs::read_dir(folder).map_err(|source| read_failure(folder, source))? {
            let path = entry.map_err(|source| read_failure(folder, source))?.path();
            let name = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            match name.rsplit_once('.') {
                Some((_, "jsonl")) => found.segments.push(path),
                Some((_, "pub")) => found.keys.push(path),
                Some(("head", "json")) => found.head = Some(path),
                _ => {}
            }
        }
        // By number, also where one has more digits than the others.
        found.segments.sort_by_key(|path| {
            let name = path
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            (number_in(&name), name)
        });
        found.keys.sort();
        Ok(found)
    }
}

fn number_in(name: &str) -> u64 {
    let digits: String = name.chars().filter(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(0)
}

#[cfg(test)]
mod tests;
