//! JSON of coverage.py, gcov and llvm-cov.

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::reading::{self, ENTRIES_MAX, List, NAME_BYTES_MAX, ReadError};

use super::lines::Lines;
use super::{CoverageReport, FileCoverage};

#[derive(Deserialize)]
struct CoveragePy {
    meta: Meta,
    files: Files,
}

#[derive(Deserialize)]
struct Meta {
    #[serde(default)]
    branch_coverage: bool,
}

/// A JSON object of files, with a bound.
struct Files(Vec<(String, PyFile)>);

#[derive(Deserialize)]
struct PyFile {
    summary: PySummary,
}

#[derive(Deserialize)]
struct PySummary {
    covered_lines: u64,
    num_statements: u64,
    #[serde(default)]
    num_branches: u64,
    #[serde(default)]
    covered_branches: u64,
}

impl<'de> Deserialize<'de> for Files {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FilesVisitor;
        impl<'de> Visitor<'de> for FilesVisitor {
            type Value = Files;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object of files")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Files, A::Error> {
                let mut files = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    if files.len() == ENTRIES_MAX {
                        return Err(serde::de::Error::custom("too many files"));
                    }
                    files.push(entry);
                }
                Ok(Files(files))
            }
        }
        deserializer.deserialize_map(FilesVisitor)
    }
}

/// Reads `coverage json`. Its figure counts branches where they were measured.
pub(super) fn coverage_py(report: &[u8]) -> Result<CoverageReport, ReadError> {
    let format = "coverage_py_json";
    let read: CoveragePy = reading::json(format, report)?;
    let mut files = Vec::new();
    for (path, file) in read.files.0 {
        let of = file.summary;
        if of.covered_lines > of.num_statements || of.covered_branches > of.num_branches {
            let reason = format!("more of {path:?} ran than there is");
            return Err(ReadError::malformed(format, reason));
        }
        files.push(FileCoverage {
            path: reading::cut(&path, NAME_BYTES_MAX),
            lines: of.num_statements,
            lines_covered: of.covered_lines,
            branches: of.num_branches,
            branches_covered: of.covered_branches,
        });
    }
    if files.is_empty() {
        return Err(ReadError::malformed(format, "it names no file"));
    }
    Ok(CoverageReport {
        files,
        with_branches: read.meta.branch_coverage,
    })
}

#[derive(Deserialize)]
struct Gcov {
    #[serde(default)]
    files: List<GcovFile>,
}

#[derive(Deserialize)]
struct GcovFile {
    file: String,
    #[serde(default)]
    lines: List<GcovLine>,
}

#[derive(Deserialize)]
struct GcovLine {
    line_number: u64,
    count: i64,
    #[serde(default)]
    branches: List<GcovBranch>,
}

#[derive(Deserialize)]
struct GcovBranch {
    count: i64,
}

/// Reads gcov's JSON, one document a line.
pub(super) fn gcov(report: &[u8]) -> Result<CoverageReport, ReadError> {
    let mut lines = Lines::default();
    for document in report.split(|&byte| byte == b'\n') {
        if document.trim_ascii().is_empty() {
            continue;
        }
        let read: Gcov = reading::json("gcov_json", document)?;
        for file in read.files.0 {
            lines.file(&file.file)?;
            for line in file.lines.0 {
                lines.line(&file.file, line.line_number, line.count > 0)?;
                for (number, branch) in (0..).zip(line.branches.0) {
                    let branch_of = (line.line_number, number);
                    lines.branch(&file.file, branch_of, branch.count > 0)?;
                }
            }
        }
    }
    lines.report("gcov_json")
}

#[derive(Deserialize)]
struct Llvm {
    data: List<LlvmData>,
}

#[derive(Deserialize)]
struct LlvmData {
    #[serde(default)]
    files: List<LlvmFile>,
}

#[derive(Deserialize)]
struct LlvmFile {
    filename: String,
    summary: LlvmSummary,
}

#[derive(Deserialize)]
struct LlvmSummary {
    lines: LlvmCount,
    #[serde(default)]
    branches: LlvmCount,
}

#[derive(Deserialize, Default)]
struct LlvmCount {
    count: u64,
    covered: u64,
}

/// Reads `llvm-cov export`: its files' summaries, in lines.
pub(super) fn llvm(report: &[u8]) -> Result<CoverageReport, ReadError> {
    let format = "llvm_cov_json";
    let read: Llvm = reading::json(format, report)?;
    let mut files = Vec::new();
    for file in read.data.0.into_iter().flat_map(|data| data.files.0) {
        let of = &file.summary;
        if of.lines.covered > of.lines.count || of.branches.covered > of.branches.count {
            let reason = format!("more of {:?} ran than there is", file.filename);
            return Err(ReadError::malformed(format, reason));
        }
        let covered = FileCoverage {
            path: reading::cut(&file.filename, NAME_BYTES_MAX),
            lines: of.lines.count,
            lines_covered: of.lines.covered,
            branches: of.branches.count,
            branches_covered: of.branches.covered,
        };
        reading::push(&mut files, covered, "files")?;
    }
    if files.is_empty() {
        return Err(ReadError::malformed(format, "it names no file"));
    }
    Ok(CoverageReport {
        files,
        with_branches: false,
    })
}
