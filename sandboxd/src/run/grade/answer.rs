//! Judging an answer: from the run or a file of the request; expressions with the help of a sandbox
//! of the judge's kind, which gets nothing of the solution but a tree of known operations.

use std::collections::BTreeMap;

use verdict::answer::{
    Comparison, Graded, grade_answer, grade_answer_text, judge_symbolic, plan_symbolic,
};
use verdict::{AnswerSpec, Outcome, Output, Untrusted, Verdict};

use super::{FILE_MODE, bytes, ended};
use crate::run::Inner;
use crate::run::conclude::{Concluded, conclude};
use crate::run::plan::{CWD_DEFAULT, plan_for, spawn_spec};
use crate::run::program::{Outside, Program, Ran, run_program};
use crate::run::record;
use crate::run::request::{InputFile, Request};

/// Judges the answer; `id` is the name of the sandbox that may be needed for it.
pub(in crate::run) async fn by_answer(
    inner: &Inner,
    request: &Request,
    spec: &AnswerSpec,
    (first, id): (Option<(&Ran, &Concluded)>, &str),
    outside: &Outside,
) -> Verdict {
    let graded = match first {
        Some((ran, concluded)) if spec.file.is_empty() => {
            let kept = Untrusted::new(ran.stdout.kept.clone());
            let output = Output {
                kept: &kept,
                dropped_bytes: ran.stdout.dropped_bytes,
            };
            grade_answer(spec, ended(concluded), output)
        }
        _ => match request.files.iter().find(|file| file.path == spec.file) {
            Some(file) => grade_answer_text(spec, &Untrusted::new(file.content.clone())),
            None => {
                let reason = format!("there is no file {}", spec.file);
                return Verdict::new(Outcome::Failed, reason);
            }
        },
    };
    match graded {
        Graded::Verdict(verdict) => *verdict,
        Graded::Symbolic(comparison) => compare(inner, request, &comparison, id, outside).await,
    }
}

/// Has the expressions compared.
async fn compare(
    inner: &Inner,
    request: &Request,
    comparison: &Comparison,
    id: &str,
    outside: &Outside,
) -> Verdict {
    let judge = &inner.judge;
    let fault = |reason: String| Verdict::new(Outcome::InfraError, reason);
    let plan = match plan_for(&judge.policy, &judge.limits, "", inner.link.host()) {
        Ok(plan) => plan,
        Err(error) => return fault(format!("the judge's sandbox cannot be had: {error}")),
    };
    let asked = record::sandbox_requested(request, id, "judge");
    if let Err(failed) = inner.audit.append(asked).await {
        return fault(failed.to_string());
    }
    let ours = plan_symbolic(comparison);
    let files: Vec<InputFile> = (ours.files.into_iter())
        .map(|(path, content)| InputFile {
            path,
            content,
            mode: FILE_MODE,
        })
        .collect();
    let program = Program {
        sandbox_id: id.to_owned(),
        plan: &plan,
        limits: &judge.limits,
        files: &files,
        spec: spawn_spec(&bytes(&ours.argv), &BTreeMap::new(), CWD_DEFAULT),
        stdin: None,
        extra: Vec::new(),
        group: None,
        collect: &[],
        inspect: false,
    };
    let ran = run_program(&inner.link, program, outside.quiet()).await;
    let concluded = conclude(&ran, &judge.limits, judge.policy.syscalls.deny_action, 0);
    let kept = Untrusted::new(ran.stdout.kept);
    let output = Output {
        kept: &kept,
        dropped_bytes: ran.stdout.dropped_bytes,
    };
    judge_symbolic(comparison, ended(&concluded), output)
}
