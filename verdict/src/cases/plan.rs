//! What to put into the sandbox of the cases, what to start there and what to say to it. No
//! expected value is in any of it.

use std::collections::BTreeMap;

use super::coding::encode;
use super::literal::{self, LiteralError};
use super::value::Value;
use super::wire;
use crate::plan::build::Build;
use crate::plan::{self, HarnessCache, harness, ours, programs, without_harness};
use crate::verdict::{Outcome, Verdict};
use crate::verify::cases::{Case, CasesSpec, Form};

/// Files and command line of the one sandbox. The command gets a stream socket as descriptor 3;
/// the other end is the caller's, who sends one frame of [`order`] a case and reads one frame of
/// [`super::report`] for each, in the same order. It ends when that end is closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CasesPlan {
    /// Path below `/workspace` -> bytes.
    pub files: BTreeMap<String, Vec<u8>>,
    /// Command line.
    pub argv: Vec<String>,
    /// What makes the solution's program before, in a sandbox of the same kind; what it leaves is
    /// put beside `files`.
    pub build: Option<Build>,
}

/// Bounds that the process which starts the cases keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CaseBounds {
    /// Bytes that a case may write to standard output, or return, at most.
    pub output_bytes_max: u64,
    /// Whether every other process that can be seen belongs to the sandbox, so that all of them may
    /// be ended between two cases.
    pub own_processes: bool,
}

/// Whether what is built for the cases is executed in `/workspace`.
#[must_use]
pub fn runs_what_it_builds(spec: &CasesSpec) -> bool {
    spec.argv.is_empty() && programs::is_native(spec.language)
}

/// Plans the cases of `spec` for `files`.
///
/// # Errors
/// The verdict, where there is nothing that could be built.
pub fn plan_cases(
    spec: &CasesSpec,
    files: &BTreeMap<String, Vec<u8>>,
    bounds: CaseBounds,
) -> Result<CasesPlan, Box<Verdict>> {
    let mut all = without_harness(files);
    all.extend(harness(&["start.py", "solution_host.py", "cases_host.py"]));
    let mut argv = plan::argv("cases");
    let sweep = if bounds.own_processes {
        "sweep"
    } else {
        "group"
    };
    let mut build = None;
    let (form, rest) = match spec.form() {
        Form::Program { file } if programs::is_made(spec.language) => {
            let made = programs::plan(spec.language, file, files)?;
            build = Some(made.build);
            ("command", made.argv)
        }
        Form::Function { file, function } if programs::is_made(spec.language) => {
            carried(spec)?;
            let function = (function, spec.declaration.as_str());
            let made = programs::plan_calls((spec.language, file), function, files)?;
            build = Some(made.build);
            all.extend(made.beside);
            ("exchange", made.argv)
        }
        Form::Program { file } => ("program", vec![file.to_owned()]),
        Form::Command { argv } => ("command", argv.to_vec()),
        Form::Function { file, function } => {
            ("function", vec![file.to_owned(), function.to_owned()])
        }
    };
    argv.extend([form, sweep, &bounds.output_bytes_max.to_string()].map(str::to_owned));
    argv.extend(rest);
    Ok(CasesPlan {
        files: all,
        argv,
        build,
    })
}

/// That the language has every value which is given to the function.
fn carried(spec: &CasesSpec) -> Result<(), Box<Verdict>> {
    for case in &spec.cases {
        let frame = call(spec, case);
        frame.map_err(|error| {
            let reason = format!("case {}: {error}", case.id);
            Box::new(Verdict::new(Outcome::VerifierError, reason))
        })?;
    }
    Ok(())
}

/// The call of a case as the solution's end of its language reads it.
fn call(spec: &CasesSpec, case: &Case) -> Result<Vec<u8>, OrderError> {
    let args = arguments(case)?;
    Ok(wire::request(spec.language, &spec.function, &args)?)
}

fn arguments(case: &Case) -> Result<Vec<Value>, LiteralError> {
    match case.args.as_str() {
        "" => Ok(Vec::new()),
        args => literal::parse_list(args),
    }
}

/// Why a case cannot be sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OrderError {
    /// An argument is no value.
    #[error("args {0}")]
    Literal(#[from] LiteralError),
    /// The language has no such value.
    #[error("{0}")]
    NotCarried(#[from] wire::NotCarried),
}

impl CasesPlan {
    /// The same plan with the programs compiled before, in the same image.
    #[must_use]
    pub fn with_cache(mut self, cache: &HarnessCache) -> Self {
        self.files.insert(ours("cache.bin"), cache.bytes().to_vec());
        self
    }
}

/// The frame that starts the case with this number from 0, its length included.
///
/// # Errors
/// [`OrderError`] if an argument of it is no value, or none that the language has.
pub fn order(spec: &CasesSpec, number: u32, case: &Case) -> Result<Vec<u8>, OrderError> {
    let mut out = vec![0; 4];
    out.extend(number.to_le_bytes());
    for ms in [spec.wall_ms(), spec.case_cpu_ms] {
        out.extend(ms.to_le_bytes());
    }
    match spec.form() {
        Form::Program { .. } | Form::Command { .. } => {
            let mut block = |bytes: &[u8]| {
                out.extend(u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes());
                out.extend_from_slice(bytes);
            };
            let count = u32::try_from(case.argv.len()).unwrap_or(u32::MAX);
            let arguments = case.argv.iter().map(String::as_bytes);
            arguments.for_each(&mut block);
            out.splice(16..16, count.to_le_bytes());
            out.extend_from_slice(&case.stdin);
        }
        Form::Function { .. } if programs::is_made(spec.language) => {
            out.extend(call(spec, case)?);
        }
        Form::Function { .. } => {
            let args = Value::Tuple(arguments(case)?.into());
            let named = match case.kwargs.as_str() {
                "" => Vec::new(),
                kwargs => literal::parse_named(kwargs)?,
            };
            let named = named.into_iter();
            let named = named.map(|(name, value)| (Value::text(&name), value));
            encode(
                &Value::Tuple([args, Value::Dict(named.collect())].into()),
                &mut out,
            );
        }
    }
    let length = u32::try_from(out.len() - 4).unwrap_or(u32::MAX);
    out[..4].copy_from_slice(&length.to_le_bytes());
    Ok(out)
}
