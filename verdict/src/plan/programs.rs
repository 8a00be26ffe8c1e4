//! Whole programs of the languages that have to be built, or are checked once, before they run: the
//! command that makes one, and the command that then runs it. It knows no input and no output.

use std::collections::BTreeMap;

use super::build::Build;
use super::{HARNESS_FOLDER, golang, java, ours, without_harness};
use crate::diagnostics::DiagnosticFormat;
use crate::verdict::{Outcome, Verdict};
use crate::verify::{AssertsSpec, Language};

/// Languages that a program is made of here.
const LANGUAGES: [Language; 6] = [
    Language::JavaScript,
    Language::Go,
    Language::Java,
    Language::C,
    Language::Cpp,
    Language::Rust,
];
const PROGRAM: &str = "program";

/// A program: what makes it, and what runs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Made {
    /// What makes it, or looks whether it can be run at all.
    pub build: Build,
    /// The command that runs it.
    pub argv: Vec<String>,
    /// Files of ours that it needs beside it.
    pub beside: BTreeMap<String, Vec<u8>>,
}

/// Whether a program of this language is made first.
pub(crate) fn is_made(language: Language) -> bool {
    LANGUAGES.contains(&language)
}

/// Whether what is made lies in `/workspace` and is executed there.
pub(crate) fn is_native(language: Language) -> bool {
    is_made(language) && !matches!(language, Language::JavaScript)
}

/// Plans the program in `file`.
///
/// # Errors
/// The verdict on a solution that is not there, or no text.
pub(crate) fn plan(
    language: Language,
    file: &str,
    files: &BTreeMap<String, Vec<u8>>,
) -> Result<Made, Box<Verdict>> {
    let mut all = without_harness(files);
    let bytes = all.get(file).ok_or_else(|| {
        let reason = format!("{file} is not among the files");
        Box::new(Verdict::new(Outcome::Failed, reason))
    })?;
    let text = String::from_utf8(bytes.clone()).map_err(|_not_text| {
        let reason = format!("{file} is not UTF-8 text");
        Box::new(Verdict::new(Outcome::CompileError, reason))
    })?;
    // The folder that compilers write to has to be there.
    all.insert(ours("place"), Vec::new());
    let named = match file.strip_prefix('-') {
        Some(_) => format!("./{file}"),
        None => file.to_owned(),
    };
    Ok(match language {
        Language::Go => golang::program(file, &text),
        Language::Java => java::program(file, &text, all),
        Language::JavaScript => javascript(&named, all),
        Language::Rust => rust(&named, all),
        language => c(language, &named, &text, all),
    })
}

/// Whether functions of this language can be called one process a call.
pub(crate) fn has_calls(language: Language) -> bool {
    matches!(
        language,
        Language::JavaScript | Language::C | Language::Cpp | Language::Rust
    )
}

/// Plans the solution's end of calls of `function`. It is that of test code which names the
/// function and nothing else, without that test code.
///
/// # Errors
/// The verdict on a solution that is not there, has no such function, or one whose types cannot
/// cross.
pub(crate) fn plan_calls(
    (language, file): (Language, &str),
    (function, declaration): (&str, &str),
    files: &BTreeMap<String, Vec<u8>>,
) -> Result<Made, Box<Verdict>> {
    let failed = |reason: String| Box::new(Verdict::new(Outcome::Failed, reason));
    if language == Language::JavaScript {
        let text = without_harness(files).remove(file);
        let text = text.ok_or_else(|| failed(format!("{file} is not among the files")))?;
        return Ok(javascript_calls(file, &text, files));
    }
    let spec = AssertsSpec {
        file: file.to_owned(),
        language,
        declaration: declaration.to_owned(),
        entry_points: vec![function.to_owned()],
        ..AssertsSpec::default()
    };
    let planned = super::plan_asserts(&spec, files, "")?;
    let build = planned.solution_build.unwrap_or_default();
    let label = format!("\"{function}/");
    let is_there = [".rollcage/solution.cpp", ".rollcage/solution.rs"]
        .iter()
        .filter_map(|path| build.files.get(*path))
        .any(|text| String::from_utf8_lossy(text).contains(&label));
    if !is_there {
        return Err(match declaration.trim() {
            "" => failed(format!(
                "{file} has no function {function} that could be called"
            )),
            _ => {
                let reason = format!("verify.declaration does not declare {function}");
                Box::new(Verdict::new(Outcome::VerifierError, reason))
            }
        });
    }
    Ok(Made {
        build,
        argv: planned.solution_argv,
        beside: BTreeMap::new(),
    })
}

/// What has `import` or `export` is a module, whatever its name.
fn javascript_calls(file: &str, text: &[u8], files: &BTreeMap<String, Vec<u8>>) -> Made {
    let is_module = String::from_utf8_lossy(text)
        .lines()
        .any(|line| line.starts_with("import ") || line.starts_with("export "));
    let mut all = without_harness(files);
    let checked = if is_module && !file.ends_with(".mjs") {
        let name = ours("module.mjs");
        all.insert(name.clone(), text.to_vec());
        name
    } else {
        file.to_owned()
    };
    let mut made = javascript(&checked, all);
    let renamed = format!("/workspace/{checked}");
    made.build.files_renamed = vec![(renamed, file.to_owned())];
    made.argv = super::javascript::host_argv(file);
    made.beside = super::javascript::host_files();
    made
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// What is made lies at one path, which is the command.
fn single(files: BTreeMap<String, Vec<u8>>, argv: Vec<String>, messages: DiagnosticFormat) -> Made {
    let program = ours(PROGRAM);
    let build = Build {
        files,
        argv,
        collect: vec![program.clone()],
        required: vec![program.clone()],
        messages: Some(messages),
        ..Build::default()
    };
    Made {
        build,
        argv: vec![program],
        beside: BTreeMap::new(),
    }
}

fn c(language: Language, file: &str, text: &str, files: BTreeMap<String, Vec<u8>>) -> Made {
    let (compiler, standard, kind) = match language {
        Language::C => ("gcc", "gnu17", "c"),
        _ => ("g++", "gnu++17", "c++"),
    };
    let mut argv = words(&format!(
        "{compiler} -std={standard} -O2 -w -fmax-errors=20 -pthread -I. -o {HARNESS_FOLDER}/{PROGRAM} \
         -x {kind}"
    ));
    argv.push(file.to_owned());
    argv.extend(words("-x none -lm"));
    if text.contains("openssl/") {
        argv.push("-lcrypto".to_owned());
    }
    single(files, argv, DiagnosticFormat::GccText)
}

fn rust(file: &str, files: BTreeMap<String, Vec<u8>>) -> Made {
    let mut argv = words(&format!(
        "rustc --edition 2021 --cap-lints allow --error-format=json -C opt-level=2 -C debuginfo=0 \
         -C strip=symbols --crate-name {PROGRAM} -o {HARNESS_FOLDER}/{PROGRAM}"
    ));
    argv.push(file.to_owned());
    single(files, argv, DiagnosticFormat::RustcJson)
}

/// Nothing is built; that it parses is seen once, and not by every case.
fn javascript(file: &str, files: BTreeMap<String, Vec<u8>>) -> Made {
    let argv = |option: &str| [words("node --no-warnings"), words(option)].concat();
    let with_file = |mut argv: Vec<String>| {
        argv.push(file.to_owned());
        argv
    };
    let build = Build {
        files,
        argv: with_file(argv("--check")),
        messages: Some(DiagnosticFormat::Node),
        files_renamed: vec![(format!("/workspace/{file}"), file.to_owned())],
        ..Build::default()
    };
    Made {
        build,
        argv: with_file(argv("")),
        beside: BTreeMap::new(),
    }
}

#[cfg(test)]
mod tests;
