//! MultiPL-E and MBXP in PHP, Ruby, Lua, Perl and bash: the kind `command`, with a runner of ours that
//! takes the solution as a file of its own. It counts as passed only what came back from the last
//! test, so that neither a closing `?>`, nor an early exit, nor a lost test is a pass.

use serde_json::{Value, json};

use super::{Set, Task, Truth, lines, optional, set, text, truths};

/// What a runner exits with when its last test is done.
const DONE: &str = "77";

/// Reports for the language's own runner, which never sees the report.
const JUDGE: &str = "\
cd /workspace
RUNNER 4>&- </dev/null
code=$?
if [ $code = 77 ]; then echo 'ok 1 - tests'; else echo \"not ok 1 - tests # exit code $code\"; fi >&4
echo '1..1' >&4
";

pub(super) fn sets() -> Vec<Set> {
    vec![
        set("multipl_e_humaneval-php", 8, || multipl_e("humaneval-php")).with(&["/usr/bin/php"]),
        set("multipl_e_humaneval-rb", 4, || multipl_e("humaneval-rb")).with(&["/usr/bin/ruby"]),
        set("multipl_e_humaneval-lua", 4, || multipl_e("humaneval-lua"))
            .with(&["/usr/share/lua/5.4/luaunit.lua"]),
        set("multipl_e_humaneval-pl", 4, || multipl_e("humaneval-pl"))
            .with(&["/usr/share/perl5/Test/Deep.pm"]),
        set("multipl_e_humaneval-sh", 4, || multipl_e("humaneval-sh")).with(&["/usr/bin/bc"]),
        set("multipl_e_mbpp-php", 0, || multipl_e("mbpp-php")).with(&["/usr/bin/php"]),
        set("multipl_e_mbpp-rb", 0, || multipl_e("mbpp-rb")).with(&["/usr/bin/ruby"]),
        set("multipl_e_mbpp-lua", 0, || multipl_e("mbpp-lua"))
            .with(&["/usr/share/lua/5.4/luaunit.lua"]),
        set("multipl_e_mbpp-pl", 0, || multipl_e("mbpp-pl"))
            .with(&["/usr/share/perl5/Test/Deep.pm"]),
        set("multipl_e_mbpp-sh", 0, || multipl_e("mbpp-sh")).with(&["/usr/bin/bc"]),
        set("mbxp_php", 4, || mbxp("mbphp_release_v1.2", "php")).with(&["/usr/bin/php"]),
        set("mbxp_ruby", 4, || mbxp("mbrbp_release_v1.2", "ruby")).with(&["/usr/bin/ruby"]),
    ]
}

/// The code of an answer: its first fenced block, else all of it.
pub(super) fn code_of(answer: &str) -> String {
    let mut lines = answer.lines().skip_while(|line| !line.starts_with("```"));
    match lines.next() {
        None => answer.to_owned(),
        Some(_fence) => {
            let block = lines.take_while(|line| !line.starts_with("```"));
            block.map(|line| format!("{line}\n")).collect()
        }
    }
}

fn multipl_e(name: &str) -> Option<Vec<Task>> {
    let truth = truths("multipl_e", &format!("multipl_e_{name}"))?;
    let language = name.rsplit('-').next().unwrap_or(name);
    let task = |row: &Value| {
        let id = format!("{name}/{}", text(row, "task_id"));
        let solution = code_of(text(row, "gpt_solution"));
        let line = request(language, &solution, text(row, "tests"));
        // A set is told row by row only as far as it was measured.
        let truth = truth.get(&id).map(|(word, _)| Truth::of(word))?;
        Some(Task { id, line, truth })
    };
    let rows = lines("multipl_e", &format!("{name}.jsonl.gz"))?;
    Some(rows.iter().filter_map(task).collect())
}

fn mbxp(file: &str, language: &str) -> Option<Vec<Task>> {
    let truth = truths("mbxp", &format!("mbxp_{language}"))?;
    let short = if language == "ruby" { "rb" } else { language };
    let task = |row: &Value| {
        let id = text(row, "task_id").to_owned();
        let solution = format!(
            "{}{}",
            text(row, "prompt"),
            optional(row, "canonical_solution")
        );
        let line = request(short, &solution, text(row, "test"));
        let truth = truth.get(&id).map(|(word, _)| Truth::of(word))?;
        Some(Task { id, line, truth })
    };
    let rows = lines("mbxp", &format!("{file}.jsonl.gz"))?;
    Some(rows.iter().filter_map(task).collect())
}

/// The request for a solution and its tests.
fn request(language: &str, solution: &str, tests: &str) -> Value {
    let file = format!("solution.{language}");
    let (runner, program) = runner(language, tests);
    let run = format!(".task/run.{language}");
    let judge = JUDGE.replace("RUNNER", &format!("{program} {run}"));
    json!({
        "policy": super::POLICY, "argv": [], "files": {file: solution},
        "limits": {"wall_ms_max": 40_000, "cpu_ms_max": 10_000},
        "verify": {
            "kind": "command", "argv": ["bash", ".task/judge.sh"], "format": "tap",
            "test_files": {".task/judge.sh": judge, run: runner},
        },
    })
}

/// The program that runs the tests, and what runs it.
fn runner(language: &str, tests: &str) -> (String, &'static str) {
    match language {
        "php" => {
            let tests = tests.trim_start().trim_start_matches("<?php");
            let runner =
                format!("<?php\nrequire '/workspace/solution.php';\n{tests}\nexit({DONE});\n");
            // The extension is built apart, and what names it in /etc is not in a sandbox.
            (runner, "php -d extension=ctype")
        }
        "rb" => {
            let runner = format!(
                "require 'test/unit'\nTest::Unit::AutoRunner.need_auto_run = false\n\
                 load '/workspace/solution.rb'\n{tests}\n\
                 exit!(Test::Unit::AutoRunner.run ? {DONE} : 1)\n"
            );
            (runner, "ruby")
        }
        // A local function of a file is no other file's: here both are one chunk, put together at run
        // time, and only tests that ran to their end exit with our code.
        "lua" => {
            let tests = tests.replace(
                "os.exit(lu.LuaUnit.run())",
                &format!("if lu.LuaUnit.run() == 0 then os.exit({DONE}) end"),
            );
            let runner = format!(
                "local file = assert(io.open('/workspace/solution.lua'))\n\
                 local solution = file:read('a')\n\
                 local tests = [=====[\n{tests}\n]=====]\n\
                 assert(load(solution .. '\\n' .. tests, '=solution'))()\n"
            );
            (runner, "lua5.4")
        }
        "pl" => {
            let runner =
                format!("do '/workspace/solution.pl'; die $@ if $@;\n{tests}\nexit {DONE};\n");
            (runner, "perl")
        }
        _bash => {
            let tests = tests.trim_start().trim_start_matches('}');
            let runner = format!("source /workspace/solution.sh\n{tests}\nexit {DONE}\n");
            (runner, "bash")
        }
    }
}
