//! Standard streams, and the report of a verification, opened by their paths: `/dev/stdin`,
//! `/dev/stdout`, `/dev/fd/4`. They are pipes of the daemon's, which no program owns.

use serde_json::{Value, json};

use crate::batch;
use crate::modes::Mode;
use crate::nobody::Nobody;
use crate::world::{World, speak};

/// Opens each stream in its own direction, then what goes the other way.
const OPENS: &str = "\
import os, sys
open('/dev/stdout', 'w').write(open('/dev/stdin').read())
open('/proc/self/fd/2', 'w').write('err\\n')
for path, flags in (('/dev/stdin', os.O_WRONLY), ('/dev/stdout', os.O_RDONLY), ('/dev/stderr', os.O_RDWR)):
    try: print(os.open(path, flags))
    except OSError as error: print(error.errno)
";

#[test]
fn in_every_mode_programs_open_their_streams_by_path() {
    let test = "in_every_mode_programs_open_their_streams_by_path";
    for mode in Mode::all(test, Nobody::Streaming, Nobody::StreamingLowest) {
        let words = ["run", "--json", "--stdin", "-", "--policy", "python", "--"];
        let mut command = mode.command();
        command.args(words).args(["python3", "-c", OPENS]);
        let result: Value = speak(&mut command, b"in\n").ended(0).json();
        let (stdout, stderr) = (&result["stdout"], &result["stderr"]);
        assert_eq!(stdout, "in\n13\n13\n13\n", "{}: {result:#}", mode.name);
        assert_eq!(stderr, "err\n", "{}: {result:#}", mode.name);
        mode.nothing_is_left();
    }
}

/// Whoever writes a report of one test that passed to the path that follows, by opening it.
const WRITES: &str = "\
python3 -c 'import sys; open(sys.argv[1], \"w\").write(\"<testsuite><testcase name=\\\"a\\\"/></testsuite>\")'";

/// The shell stays beside what it starts, and keeps the descriptor that this may close.
fn reported(id: &str, report: &str, to: &str) -> Value {
    json!({
        "id": id, "policy": "task", "argv": [],
        "verify": {
            "kind": "junit_xml", "report": report,
            "argv": ["sh", "-c", format!("({WRITES} {to})\nexit $?")],
        },
    })
}

#[test]
fn a_report_is_opened_by_path_only_where_the_author_says_so() {
    let Some(world) = World::start("a_report_is_opened_by_path_only_where_the_author_says_so")
    else {
        return;
    };
    let parents = "/proc/$$/fd/4 4>&-";
    let lines = [
        reported("opened", "/dev/fd/4", "/dev/fd/4"),
        reported("of-the-parent", "/dev/fd/4", parents),
        reported("dup", "/dev/fd/4", "/dev/stdout >&4"),
        reported("output", "stdout", "/dev/stdout"),
        reported("private", "descriptor", "/dev/fd/4"),
        reported("private-parent", "descriptor", parents),
    ];
    let results = batch::run(&world, &lines);
    for (id, outcome) in [
        ("opened", "passed"),
        ("of-the-parent", "passed"),
        ("dup", "passed"),
        ("output", "passed"),
        ("private", "no_tests"),
        ("private-parent", "no_tests"),
    ] {
        let result = &results[id];
        assert_eq!(result["verdict"]["outcome"], outcome, "{id}: {result:#}");
    }
    let said = results["private-parent"]["stderr"].as_str();
    assert!(
        said.is_some_and(|said| said.contains("PermissionError")),
        "{said:?}"
    );
}
