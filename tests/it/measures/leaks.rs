//! Leaky samples are told from clean ones, also where they hide it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::{metric, outcome, request, set};
use crate::world::World;
use crate::{batch, skips};

/// Samples whose bad build a tool flags, and whose good build is clean.
const JULIET: [&str; 12] = [
    "CWE121/CWE121_Stack_Based_Buffer_Overflow__CWE805_char_declare_memcpy_01.c",
    "CWE122/CWE122_Heap_Based_Buffer_Overflow__c_CWE805_char_loop_01.c",
    "CWE122/CWE122_Heap_Based_Buffer_Overflow__cpp_CWE805_int64_t_loop_01.cpp",
    "CWE126/CWE126_Buffer_Overread__CWE170_char_loop_01.c",
    "CWE190/CWE190_Integer_Overflow__int_max_square_01.c",
    "CWE401/CWE401_Memory_Leak__int_calloc_01.c",
    "CWE401/CWE401_Memory_Leak__new_array_int_01.cpp",
    "CWE415/CWE415_Double_Free__new_delete_int_01.cpp",
    "CWE457/CWE457_Use_of_Uninitialized_Variable__double_01.c",
    "CWE476/CWE476_NULL_Pointer_Dereference__char_01.c",
    "CWE590/CWE590_Free_Memory_Not_on_Heap__free_char_static_01.c",
    "CWE762/CWE762_Mismatched_Memory_Management_Routines__delete_char_malloc_01.cpp",
];

/// What both tools say of a build, by the table beside the data.
#[derive(Debug, Default, Clone, Copy)]
struct Truth {
    flagged: bool,
    clean: bool,
}

fn truth(folder: &Path) -> BTreeMap<(String, String), Truth> {
    let table = folder.join("GROUND_TRUTH.juliet_subset.tsv");
    let text = fs::read_to_string(table).expect("a table of truth");
    let mut all: BTreeMap<(String, String), Truth> = BTreeMap::new();
    for row in text.lines().skip(1) {
        let mut columns = row.split('\t');
        let (id, verdict) = (columns.next(), columns.next());
        let (Some(id), Some(verdict)) = (id, verdict) else {
            continue;
        };
        let mut parts = id.split(':');
        let (Some(file), Some(build)) = (parts.next(), parts.next()) else {
            continue;
        };
        let key = (file.to_owned(), build.to_owned());
        let known = all.entry(key).or_insert(Truth {
            flagged: false,
            clean: true,
        });
        let found = ["asan:", "vg:", "lsan", "ubsan"];
        known.flagged |= found.iter().any(|start| verdict.starts_with(start));
        known.clean &= verdict == "clean_exit";
    }
    all
}

fn juliet_request(folder: &Path, (id, sample): (usize, &str), build: &str) -> Value {
    let support = [
        "io.c",
        "std_testcase.h",
        "std_testcase_io.h",
        "std_thread.c",
        "std_thread.h",
    ];
    let mut files = Map::new();
    for name in support {
        let path = folder.join("testcasesupport").join(name);
        if let Ok(text) = fs::read_to_string(path) {
            files.insert(name.to_owned(), json!(text));
        }
    }
    let cpp = sample.ends_with(".cpp");
    let file = if cpp { "sample.cpp" } else { "sample.c" };
    let text = fs::read(folder.join("testcases").join(sample)).expect("a sample");
    files.insert(file.to_owned(), json!(String::from_utf8_lossy(&text)));
    let without = if build == "bad" {
        "OMITGOOD"
    } else {
        "OMITBAD"
    };
    let verify = json!({
        "kind": "leaks", "language": if cpp { "cpp" } else { "c" }, "file": file,
        "env": {"CPPFLAGS": format!("-DINCLUDEMAIN -D{without} -I."), "LDLIBS": "io.c"},
    });
    let mut request = request(&format!("{id}-{build}"), Value::Object(files), verify);
    request["limits"] = json!({"wall_ms_max": 60_000, "cpu_ms_max": 20_000});
    request
}

/// All of the set with `ROLLCAGE_JULIET=all`, the long form.
#[test]
fn leaky_samples_are_told_from_clean_ones() {
    const TEST: &str = "measures::leaks::leaky_samples_are_told_from_clean_ones";
    let tools_there =
        skips::has_file(TEST, "/usr/bin/valgrind") && skips::has_file(TEST, "/usr/bin/g++");
    let (true, Some(folder), Some(world)) =
        (tools_there, set(TEST, "juliet_subset"), World::start(TEST))
    else {
        return;
    };
    let truth = truth(&folder);
    let mut samples: Vec<String> = JULIET.iter().map(|&sample| sample.to_owned()).collect();
    let all = std::env::var_os("ROLLCAGE_JULIET").is_some();
    if all {
        samples = (truth.keys().filter(|(_, build)| build == "bad"))
            .map(|(file, _)| format!("{}/{file}", file.split('_').next().unwrap_or(file)))
            .collect();
    }
    let builds = (samples.iter().enumerate())
        .flat_map(|sample| ["bad", "good"].map(|build| (sample, build)))
        // In the short form every third good build.
        .filter(|((id, _), build)| all || *build == "bad" || id % 3 == 0);
    let requests: Vec<Value> = builds
        .map(|((id, sample), build)| juliet_request(&folder, (id, sample), build))
        .collect();
    let results = batch::run(&world, &requests);
    let (mut agree, mut differ) = (0, Vec::new());
    for (id, sample) in samples.iter().enumerate() {
        let file = sample.rsplit('/').next().unwrap_or(sample);
        for build in ["bad", "good"] {
            let Some(result) = results.get(&format!("{id}-{build}")) else {
                continue;
            };
            assert!(result["verdict"].is_object(), "{result}");
            let Some(known) = truth.get(&(file.to_owned(), build.to_owned())) else {
                continue;
            };
            let found = metric(result, "leaks").unwrap_or(0.0)
                + metric(result, "memory_errors").unwrap_or(0.0);
            let same = match (known.flagged, known.clean) {
                (true, _) => outcome(result) == "failed" && found > 0.0,
                (false, true) => outcome(result) == "passed" && found == 0.0,
                // Neither tool says anything, and it does not end well: limits, signals, codes.
                (false, false) => outcome(result) != "passed",
            };
            if same {
                agree += 1;
            } else {
                differ.push(format!("{file}:{build}: {known:?}, {}", result["verdict"]));
            }
        }
    }
    println!(
        "juliet_subset: {agree} builds agree, {} differ",
        differ.len()
    );
    assert!(differ.is_empty() || all, "{differ:#?}");
    for line in differ {
        println!("{line}");
    }
}

#[test]
fn a_program_that_hides_its_leaks_does_not_pass() {
    const TEST: &str = "measures::leaks::a_program_that_hides_its_leaks_does_not_pass";
    let (true, Some(world)) = (
        skips::has_file(TEST, "/usr/bin/valgrind"),
        World::start(TEST),
    ) else {
        return;
    };
    let leak =
        "#include <stdlib.h>\n#include <unistd.h>\n#include <signal.h>\n#include <stdio.h>\n";
    let hacks = [
        ("leaves_at_once", "malloc(10); _exit(0);"),
        (
            "kills_the_runner",
            "malloc(10); kill(getppid(), SIGKILL); sleep(1);",
        ),
        (
            "writes_into_reports",
            "volatile char *p = malloc(10); p[11] = 1; for (int fd = 3; fd < 32; fd++) dprintf(fd, \"<!--\");",
        ),
        ("clean", ""),
    ];
    let requests: Vec<Value> = (hacks.iter())
        .map(|(id, body)| {
            let source = format!("{leak}int main(void) {{ {body} return 0; }}\n");
            let verify = json!({"kind": "leaks", "language": "c", "file": "m.c"});
            request(id, json!({"m.c": source}), verify)
        })
        .collect();
    let results = batch::run(&world, &requests);
    for (id, _) in hacks {
        let expected = if id == "clean" { "passed" } else { "failed" };
        assert_eq!(outcome(&results[id]), expected, "{id}: {}", results[id]);
        assert_eq!(
            results[id]["verdict"]["evidence"]["isolation"], "shared",
            "{id}"
        );
    }
}
