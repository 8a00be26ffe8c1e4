//! The judging of Rust: what each end is built from. The judge's program is made of the author's
//! text, or of functions whose types are plain, and of nothing else of the solution.

mod functions;
mod steps;

use std::collections::{BTreeMap, BTreeSet};

use self::functions::{Function, Param, functions, is_plain};
use super::build::Build;
use super::declared::{FUNCTIONS_MAX, failed, names_meant, solution_text, verifier};
use super::tokens::{Dialect, Kind, tokens};
use super::{JudgePlan, ours, without_harness};
use crate::diagnostics::DiagnosticFormat;
use crate::verdict::Verdict;
use crate::verify::{AssertsSpec, WHOLE_TEST_ID};

/// Our programs: name and text.
pub(crate) const HARNESS_FILES: [(&str, &str); 4] = [
    (
        "rollcage/wire.rs",
        include_str!("../../harness/rust/wire.rs"),
    ),
    (
        "rollcage/values.rs",
        include_str!("../../harness/rust/values.rs"),
    ),
    (
        "rollcage/host.rs",
        include_str!("../../harness/rust/host.rs"),
    ),
    (
        "rollcage/judge.rs",
        include_str!("../../harness/rust/judge.rs"),
    ),
];

const SOLUTION: &str = ".rollcage/solution";
const JUDGE: &str = ".rollcage/judge";
/// Names that every Rust text has; a solution's function never takes their place in test code.
const PRELUDE: [&str; 12] = [
    "Some", "None", "Ok", "Err", "Box", "String", "Vec", "Option", "Result", "drop", "main",
    "rollcage",
];
/// Types that the declared functions may name without saying where they are from.
const USES: &str = "use ::std::any::Any; use ::std::collections::{BTreeMap, BTreeSet, HashMap, \
    HashSet, LinkedList, VecDeque}; use ::std::rc::Rc; use ::std::sync::Arc;";

/// What the tests call.
struct Declared {
    functions: Vec<Function>,
    /// The beginning of the judge's program: the functions as it has them, and the author's text.
    text: String,
    by_solution: bool,
}

pub(super) fn plan(
    spec: &AssertsSpec,
    files: &BTreeMap<String, Vec<u8>>,
    nonce: &str,
) -> Result<JudgePlan, Box<Verdict>> {
    let solution = solution_text(spec, files)?;
    let declared = if spec.declaration.trim().is_empty() {
        from_solution(spec, solution)?
    } else {
        from_author(&spec.declaration)?
    };
    let mut solution_build = build(SOLUTION, 1);
    solution_build.files.extend(without_harness(files));
    solution_build.files.extend(harness("rollcage/judge.rs"));
    let host = host(solution, &declared.functions);
    solution_build
        .files
        .insert(ours("solution.rs"), host.into_bytes());
    let as_built = ours("solution.rs");
    solution_build.files_renamed = vec![(as_built, spec.file.clone())];
    solution_build.lines_before = 1;
    let mut judge_build = build(JUDGE, 0);
    judge_build.files.extend(harness("rollcage/host.rs"));
    let judge = judge(spec, &declared);
    judge_build
        .files
        .insert(ours("judge.rs"), judge.into_bytes());
    Ok(JudgePlan {
        solution_files: without_harness(files),
        solution_argv: vec![SOLUTION.to_owned()],
        judge_files: BTreeMap::from([(ours("nonce"), nonce.as_bytes().to_vec())]),
        judge_argv: vec![JUDGE.to_owned()],
        solution_build: Some(solution_build),
        judge_build: Some(judge_build),
        declared_by_solution: declared.by_solution,
    })
}

/// The author's text, with stubs in the places of the functions that have no body.
fn from_author(text: &str) -> Result<Declared, Box<Verdict>> {
    let meant: Vec<Function> = functions(text)
        .into_iter()
        .filter(|one| !one.has_body)
        .collect();
    if meant.is_empty() {
        let reason = "verify.declaration declares no function: end it with ';', or with '{' and \
                      no body";
        return Err(verifier(reason));
    }
    let mut program = String::new();
    let mut from = 0;
    for (number, one) in meant.iter().enumerate() {
        program.push_str(text.get(from..one.start).unwrap_or_default());
        let head = text.get(one.start..one.head_end).unwrap_or_default();
        program.push_str(&stub(head.trim_end(), one, number));
        from = one.end;
    }
    program.push_str(text.get(from..).unwrap_or_default());
    Ok(Declared {
        functions: meant,
        text: program,
        by_solution: false,
    })
}

fn from_solution(spec: &AssertsSpec, solution: &str) -> Result<Declared, Box<Verdict>> {
    let all: Vec<Function> = functions(solution)
        .into_iter()
        .filter(|one| one.has_body && !PRELUDE.contains(&one.name.as_str()))
        .take(FUNCTIONS_MAX)
        .collect();
    let defined: BTreeSet<&str> = all.iter().map(|one| one.name.as_str()).collect();
    let tests = spec.tests.iter().map(|test| test.code.as_str());
    let code: Vec<&str> = [spec.code.as_str()].into_iter().chain(tests).collect();
    let in_tests: BTreeSet<&str> = (code.iter())
        .flat_map(|text| tokens(text, Dialect::Rust))
        .filter(|token| token.kind == Kind::Word)
        .map(|token| token.text)
        .collect();
    let by_tests: Vec<Function> = code.iter().flat_map(|text| functions(text)).collect();
    let by_tests: BTreeSet<&str> = by_tests.iter().map(|one| one.name.as_str()).collect();
    let meant = names_meant(spec, &defined, (&in_tests, &by_tests), |_| false);
    let mut chosen = Vec::new();
    for one in all.iter().filter(|one| meant.contains(one.name.as_str())) {
        let kinds = one.params.iter().map(|param| &param.kind);
        if let Some(kind) = { kinds }.chain([&one.returns]).find(|kind| !is_plain(kind)) {
            let reason = format!("{}: a value of type {kind} cannot cross", one.name);
            return Err(failed(reason));
        }
        chosen.push(one.anonymous());
    }
    let mut text = format!("{USES}\n");
    for (number, one) in chosen.iter().enumerate() {
        text.push_str(&stub(&one.head(), one, number));
        text.push('\n');
    }
    Ok(Declared {
        functions: chosen,
        text,
        by_solution: true,
    })
}

fn label(one: &Function, number: usize) -> String {
    format!("{}/{number}", one.name)
}

/// A function that asks the solution, on one line.
fn stub(head: &str, one: &Function, number: usize) -> String {
    let mut puts = String::new();
    let mut backs = String::new();
    for Param { name, kind } in &one.params {
        puts.push_str(&format!("rollcage_request.put(&{name}); "));
        let back = match kind.strip_prefix("&mut ") {
            Some(items) if items.starts_with('[') && !items.contains(';') => {
                format!("rollcage_backs.take_items(&mut *{name})?; ")
            }
            Some(_) => format!("rollcage_backs.take(&mut *{name})?; "),
            None => "rollcage_backs.skip()?; ".to_owned(),
        };
        backs.push_str(&back);
    }
    format!(
        "{head} {{ let mut rollcage_request = crate::rollcage::judge::Request::new(\"{}\"); {puts}\
         rollcage_request.send(|rollcage_backs| {{ {backs}Ok(()) }}) }}",
        label(one, number),
    )
}

/// The solution's own text one line down, and what answers for its functions.
fn host(solution: &str, declared: &[Function]) -> String {
    let mut entries = String::new();
    for (number, one) in declared.iter().enumerate() {
        entries.push_str(&entry(one, number));
    }
    format!(
        "mod solution {{\n{solution}\npub fn rollcage_serve() {{ {USES}\n\
         let rollcage_entries: [(&str, crate::rollcage::host::Answer); {}] = [\n{entries}];\n\
         crate::rollcage::host::serve(&rollcage_entries) }} }}\n\
         mod rollcage {{ pub mod host; mod values; pub mod wire; }}\nfn main() {{ solution::rollcage_serve() }}\n",
        declared.len(),
    )
}

fn entry(one: &Function, number: usize) -> String {
    let mut takes = String::new();
    let (mut passed, mut backs) = (Vec::new(), Vec::new());
    for (at, param) in one.params.iter().enumerate() {
        let (owned, pass, back) = carried(&param.kind, at);
        takes.push_str(&format!(
            "let mut rollcage_{at}: {owned} = \
             crate::rollcage::host::argument(rollcage_in, &mut rollcage_first)?;\n"
        ));
        passed.push(pass);
        backs.push(if back {
            format!("Some(&rollcage_{at})")
        } else {
            "None".to_owned()
        });
    }
    format!(
        "(\"{}\", |rollcage_in, rollcage_out| {{ let mut rollcage_first = true;\n{takes}\
         crate::rollcage::host::end(rollcage_in, &mut rollcage_first)?;\n\
         let rollcage_result: {} = {}({});\n\
         crate::rollcage::host::answer(rollcage_out, &rollcage_result, &[{}]) }}),\n",
        label(one, number),
        functions::without_lifetimes(&one.returns),
        one.name,
        passed.join(", "),
        backs.join(", "),
    )
}

/// How an argument is kept at the solution's end, how it is handed over, and whether it comes back.
fn carried(kind: &str, at: usize) -> (String, String, bool) {
    let kind = functions::without_lifetimes(kind);
    let name = format!("rollcage_{at}");
    let (lent, back) = match (kind.strip_prefix("&mut "), kind.strip_prefix('&')) {
        (Some(lent), _) => (lent, true),
        (None, Some(lent)) => (lent, false),
        (None, None) => return (kind, name, false),
    };
    let borrow = if back { "&mut " } else { "&" };
    match lent {
        "str" => ("String".to_owned(), format!("{borrow}{name}"), back),
        "dyn Any" => ("Box<dyn Any>".to_owned(), format!("{borrow}*{name}"), back),
        _ => match lent
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
        {
            Some(item) if !item.contains(';') => {
                (format!("Vec<{item}>"), format!("{borrow}{name}[..]"), back)
            }
            _ => (lent.to_owned(), format!("{borrow}{name}"), back),
        },
    }
}

fn judge(spec: &AssertsSpec, declared: &Declared) -> String {
    let mut text = format!(
        "{}\nmod rollcage {{ pub mod judge; mod values; pub mod wire; }}\n",
        declared.text
    );
    let whole = [(WHOLE_TEST_ID, spec.code.as_str())];
    let single: Vec<(&str, &str)> = (spec.tests.iter())
        .map(|test| (test.id.as_str(), test.code.as_str()))
        .collect();
    let list = if single.is_empty() {
        whole.to_vec()
    } else {
        text.push_str(&spec.code);
        text.push('\n');
        single
    };
    let mut table = String::new();
    for (number, (id, code)) in list.iter().enumerate() {
        let module = format!("rollcage_test_{number}");
        let steps = steps::read(code);
        text.push_str(&format!("mod {module} {{ use super::*;{}\n", steps.before));
        let first = text.matches('\n').count() + 1;
        let last = first + steps.code.matches('\n').count();
        text.push_str(&format!("{}\n{}}}\n", steps.code, steps.after));
        let each: String = (steps.all.iter())
            .map(|step| {
                format!(
                    "rollcage::judge::Step {{ name: {:?}, panics: {}, \
                     run: || rollcage::judge::Ended::failure({module}::{}()) }}, ",
                    step.path,
                    step.panics
                        .as_ref()
                        .map_or("None".to_owned(), |words| format!("Some({words})")),
                    step.path,
                )
            })
            .collect();
        table.push_str(&format!(
            "rollcage::judge::Test {{ id: {id:?}, lines: ({first}, {last}), steps: &[{each}] }},\n"
        ));
    }
    format!(
        "{text}static ROLLCAGE_TESTS: &[rollcage::judge::Test] = &[\n{table}];\nfn main() {{ rollcage::judge::judge(ROLLCAGE_TESTS) }}\n"
    )
}

fn harness(without: &str) -> BTreeMap<String, Vec<u8>> {
    (HARNESS_FILES.iter())
        .filter(|(name, _)| *name != without)
        .map(|(name, text)| (ours(name), text.as_bytes().to_vec()))
        .collect()
}

fn build(program: &str, level: u8) -> Build {
    let command = format!(
        "rustc --edition 2021 --cap-lints allow --error-format=json -C opt-level={level} \
         -C debug-assertions=on -C debuginfo=0 -C strip=symbols -o {program} {program}.rs"
    );
    Build {
        argv: command.split_whitespace().map(str::to_owned).collect(),
        collect: vec![program.to_owned()],
        required: vec![program.to_owned()],
        messages: Some(DiagnosticFormat::RustcJson),
        ..Build::default()
    }
}
