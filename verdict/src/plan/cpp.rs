//! The judging of C++ and C: what each end is built from. Calls cross as plain values; the judge's
//! program is made of the author's text, or of functions whose types are plain, and of nothing else
//! of the solution.

mod stubs;
mod text;

use std::collections::{BTreeMap, BTreeSet};

use text::{boost, quoted, using};

use super::build::Build;
use super::cxx::{Body, Function, functions, is_plain, matching};
use super::declared::{FUNCTIONS_MAX, failed, names_meant, solution_text, verifier};
use super::tokens::{Dialect, Kind, tokens};
use super::{JudgePlan, ours, without_harness};
use crate::diagnostics::DiagnosticFormat;
use crate::verdict::Verdict;
use crate::verify::{AssertsSpec, Language, WHOLE_TEST_ID};

/// Our programs: name and text.
pub(crate) const HARNESS_FILES: [(&str, &str); 4] = [
    ("wire.hpp", include_str!("../../harness/cpp/wire.hpp")),
    ("host.hpp", include_str!("../../harness/cpp/host.hpp")),
    ("judge.hpp", include_str!("../../harness/cpp/judge.hpp")),
    (
        "boost_any.hpp",
        include_str!("../../harness/cpp/boost_any.hpp"),
    ),
];

const SOLUTION: &str = ".rollcage/solution";
const JUDGE: &str = ".rollcage/judge";
/// Where errors in the calls of a solution's functions are told to be.
const CALLS: &str = "calls of the solution";
/// Words that a solution may have made macros of, and that our part needs as they are.
const WORDS_NEEDED: [&str; 20] = [
    "int",
    "long",
    "char",
    "bool",
    "float",
    "double",
    "auto",
    "const",
    "static",
    "return",
    "if",
    "else",
    "for",
    "while",
    "void",
    "unsigned",
    "struct",
    "template",
    "class",
    "namespace",
];
/// What a judge's program includes where only the solution says which functions there are.
const C_HEADERS: &str = "#include <assert.h>\n#include <ctype.h>\n#include <math.h>\n#include <stdbool.h>\n\
    #include <stddef.h>\n#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n\
    #include <string.h>\n";
const CPP_HEADERS: &str = "#include <algorithm>\n#include <cassert>\n#include <cmath>\n#include <climits>\n\
    #include <iostream>\n#include <sstream>\n";

/// What the tests call, and what stands before it in the judge's program.
struct Declared {
    functions: Vec<Function>,
    /// The author's text before them, with functions that the author has written whole.
    prelude: String,
    by_solution: bool,
}

pub(super) fn plan(
    spec: &AssertsSpec,
    files: &BTreeMap<String, Vec<u8>>,
    nonce: &str,
) -> Result<JudgePlan, Box<Verdict>> {
    let solution = solution_text(spec, files)?;
    let is_c = spec.language == Language::C;
    let declared = if spec.declaration.trim().is_empty() {
        from_solution(spec, solution)?
    } else {
        from_author(&spec.declaration)?
    };
    let calls: Vec<stubs::Call<'_>> =
        stubs::calls(&declared.functions, is_c).map_err(|reason| {
            if declared.by_solution {
                failed(reason)
            } else {
                verifier(format!("verify.declaration: {reason}"))
            }
        })?;
    let (host, judge) = if is_c {
        (
            c_host(spec, solution, &calls),
            c_judge(spec, &declared, &calls),
        )
    } else {
        (
            cpp_host(spec, solution, &calls, &declared.prelude),
            cpp_judge(spec, &declared, &calls),
        )
    };
    let mut solution_build = build(is_c, SOLUTION, "-O1", links(solution));
    solution_build.files.extend(without_harness(files));
    solution_build.files.extend(harness("host.hpp"));
    solution_build.files.extend(host);
    let mut judge_build = build(is_c, JUDGE, "-O0", links(&declared.prelude));
    judge_build.files.extend(harness("judge.hpp"));
    judge_build.files.extend(judge);
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

/// The author's declaration: the function whose body is left open, and prototypes. Functions with
/// a body are the author's own helpers.
fn from_author(text: &str) -> Result<Declared, Box<Verdict>> {
    let all = functions(text);
    let mut prelude = text.to_owned();
    let open = all.iter().find(|one| one.body == Body::Open);
    if let Some(open) = open {
        prelude.truncate(open.start);
    }
    let meant: Vec<Function> = all
        .into_iter()
        .filter(|one| one.body != Body::Whole)
        .collect();
    if meant.is_empty() {
        let reason = "verify.declaration declares no function: end it with ';', or with '{' and \
                      no body";
        return Err(verifier(reason));
    }
    Ok(Declared {
        functions: meant,
        prelude,
        by_solution: false,
    })
}

fn from_solution(spec: &AssertsSpec, solution: &str) -> Result<Declared, Box<Verdict>> {
    let is_c = spec.language == Language::C;
    let all: Vec<Function> = functions(solution)
        .into_iter()
        .filter(|one| one.body == Body::Whole && one.name != "main")
        .take(FUNCTIONS_MAX)
        .collect();
    let defined: BTreeSet<&str> = all.iter().map(|one| one.name.as_str()).collect();
    let code: Vec<&str> = test_texts(spec);
    let in_tests: BTreeSet<&str> = (code.iter())
        .flat_map(|text| tokens(text, Dialect::C))
        .filter(|token| token.kind == Kind::Word)
        .map(|token| token.text)
        .collect();
    let by_tests: Vec<Function> = code.iter().flat_map(|text| functions(text)).collect();
    let by_tests: BTreeSet<&str> = by_tests.iter().map(|one| one.name.as_str()).collect();
    // What the C library has cannot be declared anew: there it is an error.
    let is_library = |name: &str| !is_c && LIBRARY.contains(&name);
    let meant = names_meant(spec, &defined, (&in_tests, &by_tests), is_library);
    let mut chosen = Vec::new();
    for one in all.iter().filter(|one| meant.contains(one.name.as_str())) {
        let kinds = one.params.iter().map(|param| &param.kind);
        if let Some(kind) = { kinds }.chain([&one.returns]).find(|kind| !is_plain(kind)) {
            return Err(failed(format!(
                "{}: a value of type {kind} cannot cross",
                one.name
            )));
        }
        chosen.push(Function {
            params: (one.params.iter().enumerate())
                .map(|(number, param)| super::cxx::Param {
                    kind: param.kind.clone(),
                    name: if stubs::says_count(&param.name) {
                        "returnSize".to_owned()
                    } else {
                        format!("rollcage_{number}")
                    },
                    default: String::new(),
                })
                .collect(),
            ..one.clone()
        });
    }
    let mut prelude = if is_c { C_HEADERS } else { CPP_HEADERS }.to_owned();
    if !is_c
        && solution
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .contains("using namespace std")
    {
        prelude.push_str("using namespace std;\n");
    }
    Ok(Declared {
        functions: chosen,
        prelude,
        by_solution: true,
    })
}

fn test_texts(spec: &AssertsSpec) -> Vec<&str> {
    let tests = spec.tests.iter().map(|test| test.code.as_str());
    [spec.code.as_str()].into_iter().chain(tests).collect()
}

fn harness(end: &str) -> BTreeMap<String, Vec<u8>> {
    let ours_here = ["wire.hpp", "boost_any.hpp", end];
    (HARNESS_FILES.iter())
        .filter(|(name, _)| ours_here.contains(name))
        .map(|(name, text)| (ours(name), text.as_bytes().to_vec()))
        .collect()
}

/// Libraries that a text needs beyond the usual ones.
fn links(text: &str) -> &'static str {
    if text.contains("openssl/") {
        "-lcrypto"
    } else {
        "-lm"
    }
}

fn build(is_c: bool, program: &str, level: &str, library: &str) -> Build {
    let name = program.trim_start_matches(".rollcage/");
    let words = |text: String| text.split_whitespace().map(str::to_owned).collect();
    let argv: Vec<String> = if is_c {
        // Errors of the C end pass through it as they would through C++.
        let compile = format!(
            "gcc -std=gnu17 {level} -w -fexceptions -fmax-errors=20 -pthread -I.rollcage -c \
             -o {program}.o .rollcage/{name}.c && g++ -std=gnu++17 {level} -w -fmax-errors=20 \
             -pthread -I.rollcage -o {program} .rollcage/{name}.cpp {program}.o {library}"
        );
        vec!["sh".to_owned(), "-c".to_owned(), compile]
    } else {
        words(format!(
            "g++ -std=gnu++17 {level} -w -fmax-errors=20 -pthread -I.rollcage -I. -o {program} \
             .rollcage/{name}.cpp {library}"
        ))
    };
    Build {
        argv,
        collect: vec![program.to_owned()],
        required: vec![program.to_owned()],
        messages: Some(DiagnosticFormat::GccText),
        ..Build::default()
    }
}

/// The solution's own text, at its own lines; its `main` is nobody's.
fn solution_part(spec: &AssertsSpec, solution: &str) -> String {
    // In C `bool` is a macro by right.
    let needed = WORDS_NEEDED
        .iter()
        .filter(|word| spec.language != Language::C || **word != "bool");
    let undefined: String = needed.map(|word| format!("#undef {word}\n")).collect();
    format!(
        "#define main rollcage_solution_main\n#line 1 {}\n{solution}\n#undef main\n{undefined}#line 1 {}\n",
        quoted(&spec.file),
        quoted(CALLS),
    )
}

fn cpp_host(
    spec: &AssertsSpec,
    solution: &str,
    calls: &[stubs::Call<'_>],
    prelude: &str,
) -> BTreeMap<String, Vec<u8>> {
    // The calls name types as the declaration does.
    let using = using(prelude);
    let text = format!(
        "{}#include \"host.hpp\"\n{}{using}#line 1 {}\n{}",
        solution_part(spec, solution),
        boost(&format!("{solution}{prelude}")),
        quoted(CALLS),
        stubs::answers(calls, ""),
    );
    BTreeMap::from([(ours("solution.cpp"), text.into_bytes())])
}

fn c_host(
    spec: &AssertsSpec,
    solution: &str,
    calls: &[stubs::Call<'_>],
) -> BTreeMap<String, Vec<u8>> {
    let text = format!(
        "{}#include <stddef.h>\n#include <stdint.h>\n#include <stdbool.h>\n#include <sys/types.h>\n{}",
        solution_part(spec, solution),
        stubs::thunks(calls),
    );
    let driver = format!(
        "#include \"host.hpp\"\n{}{}",
        stubs::prototypes(calls, "rollcage_call_"),
        stubs::answers(calls, "rollcage_call_"),
    );
    BTreeMap::from([
        (ours("solution.c"), text.into_bytes()),
        (ours("solution.cpp"), driver.into_bytes()),
    ])
}

fn cpp_judge(
    spec: &AssertsSpec,
    declared: &Declared,
    calls: &[stubs::Call<'_>],
) -> BTreeMap<String, Vec<u8>> {
    let (tests, table) = tests(spec, false);
    let text = format!(
        "#include \"judge.hpp\"\n#line 1 \"declaration\"\n{}\n{}{}{tests}\
         static const rollcage::Test rollcage_tests[] = {{{table}}};\n\
         int main() {{ return rollcage::judge(rollcage_tests, sizeof rollcage_tests / sizeof *rollcage_tests); }}\n",
        declared.prelude,
        boost(&declared.prelude),
        stubs::stubs(calls, declared.by_solution),
    );
    BTreeMap::from([(ours("judge.cpp"), text.into_bytes())])
}

fn c_judge(
    spec: &AssertsSpec,
    declared: &Declared,
    calls: &[stubs::Call<'_>],
) -> BTreeMap<String, Vec<u8>> {
    let (tests, table) = tests(spec, true);
    // The functions have other names for the linker, so that none of them takes the place of one
    // of the C library.
    let text = format!(
        "#include <stddef.h>\n#include <stdint.h>\n#include <stdbool.h>\n#include <sys/types.h>\n\
         #line 1 \"declaration\"\n{}\n{}{}{tests}",
        declared.prelude,
        stubs::prototypes_c(calls),
        stubs::forwards(calls, declared.by_solution),
    );
    let number = table.matches('{').count();
    let externs: String = (0..number)
        .map(|n| format!("extern \"C\" int rollcage_test_{n}();\n"))
        .collect();
    let driver = format!(
        "#include \"judge.hpp\"\n{}{externs}static const rollcage::Test rollcage_tests[] = {{{table}}};\n\
         int main() {{ return rollcage::judge(rollcage_tests, {number}); }}\n",
        stubs::stubs_c(calls),
    );
    BTreeMap::from([
        (ours("judge.c"), text.into_bytes()),
        (ours("judge.cpp"), driver.into_bytes()),
    ])
}

/// The tests as functions, and the table of them.
fn tests(spec: &AssertsSpec, is_c: bool) -> (String, String) {
    let whole = [(WHOLE_TEST_ID, spec.code.as_str())];
    let single: Vec<(&str, &str)> = (spec.tests.iter())
        .map(|test| (test.id.as_str(), test.code.as_str()))
        .collect();
    let (setup, list) = if single.is_empty() {
        ("", whole.to_vec())
    } else {
        (spec.code.as_str(), single)
    };
    let mut text = format!("#line 1 \"setup\"\n{setup}\n");
    let mut table = String::new();
    for (number, (id, code)) in list.iter().enumerate() {
        text.push_str(&test(id, code, number, is_c));
        table.push_str(&format!("{{{}, rollcage_test_{number}}},", quoted(id)));
    }
    (text, table)
}

/// One test: a program with a `main`, or statements.
fn test(id: &str, code: &str, number: usize, is_c: bool) -> String {
    let line = format!("#line 1 {}\n", quoted(id));
    let name = format!("rollcage_test_{number}");
    if let Some(program) = renamed_main(code, &name) {
        return format!("{line}{program}\n");
    }
    let head = if is_c {
        format!("int {name}(void)")
    } else {
        format!("static int {name}()")
    };
    format!("{head} {{\n{line}{code}\n;return 0; }}\n")
}

/// The program with its `main` under another name, and with the 0 that a `main` returns at its end.
fn renamed_main(code: &str, name: &str) -> Option<String> {
    let all = tokens(code, Dialect::C);
    let at = (0..all.len())
        .find(|&at| all[at].is("main") && all.get(at + 1).is_some_and(|next| next.is("(")))?;
    let close = matching(&all, at + 1, ("(", ")"))?;
    let open = (close..all.len()).find(|&at| all[at].is("{"))?;
    let end = matching(&all, open, ("{", "}"))?;
    let mut program = code.to_owned();
    program.insert_str(all[end].start, " ;return 0;");
    program.replace_range(all[at].start..all[at].end(), name);
    Some(program)
}

/// Names of the library of C++ that test code uses without saying whose they are.
const LIBRARY: [&str; 78] = [
    "abs",
    "accumulate",
    "adjacent_find",
    "all_of",
    "any_of",
    "atof",
    "atoi",
    "back_inserter",
    "begin",
    "binary_search",
    "ceil",
    "clamp",
    "copy",
    "count",
    "count_if",
    "distance",
    "end",
    "equal",
    "exp",
    "fabs",
    "fill",
    "find",
    "find_if",
    "floor",
    "fmod",
    "for_each",
    "free",
    "gcd",
    "generate",
    "get",
    "includes",
    "is_permutation",
    "is_sorted",
    "isdigit",
    "lcm",
    "log",
    "lower_bound",
    "make_pair",
    "make_tuple",
    "malloc",
    "max",
    "max_element",
    "memcmp",
    "memcpy",
    "merge",
    "min",
    "min_element",
    "minmax",
    "mismatch",
    "move",
    "next",
    "next_permutation",
    "none_of",
    "nth_element",
    "partition",
    "pow",
    "prev",
    "printf",
    "remove",
    "replace",
    "reverse",
    "rotate",
    "round",
    "search",
    "size",
    "sort",
    "sqrt",
    "stoi",
    "strcmp",
    "strlen",
    "strncmp",
    "swap",
    "tie",
    "to_string",
    "transform",
    "unique",
    "upper_bound",
    "tolower",
];
