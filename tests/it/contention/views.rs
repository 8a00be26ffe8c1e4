//! Every place from which programs and libraries count CPUs says what the policy gives.

use std::path::Path;

use serde_json::{Value, json};

use super::host_cpus;
use crate::skips;
use crate::world::{World, limited};

/// What Python, the C library and the tools see, as JSON.
const COUNTS: &str = r#"
import json, multiprocessing, os, re, subprocess
def read(path):
    try:
        return open(path).read()
    except FileNotFoundError:
        return None
def numbers(path, pattern):
    text = read(path)
    return None if text is None else [int(n) for n in re.findall(pattern, text, re.M)]
tool = lambda *argv: int(subprocess.check_output(argv))
folder = "/sys/devices/system/cpu/"
print(json.dumps({
    "counts": {
        "nproc": tool("nproc"),
        "nproc --all": tool("nproc", "--all"),
        "online": os.sysconf("SC_NPROCESSORS_ONLN"),
        "os.cpu_count": os.cpu_count(),
        "multiprocessing": multiprocessing.cpu_count(),
        "configured": os.sysconf("SC_NPROCESSORS_CONF"),
        "folders": len([n for n in os.listdir(folder) if re.fullmatch(r"cpu\d+", n)]),
    },
    "affinity": sorted(os.sched_getaffinity(0)),
    "lists": [read(folder + name).strip() for name in ("online", "possible", "present")],
    "files": sorted(os.listdir(folder)),
    "cpuinfo": numbers("/proc/cpuinfo", r"^processor\s*: (\d+)$"),
    "cores": numbers("/proc/cpuinfo", r"^cpu cores\s*: (\d+)$"),
    "stat": numbers("/proc/stat", r"^cpu(\d+) "),
    "text": read("/proc/cpuinfo"),
}))
"#;

/// As the kernel writes lists; there are no gaps among two.
fn list(cpus: &[u64]) -> String {
    match cpus {
        [one] => one.to_string(),
        [one, next] if one + 1 == *next => format!("{one}-{next}"),
        [one, other] => format!("{one},{other}"),
        more => panic!("{more:?}"),
    }
}

/// The requests that ask for `cpus` CPUs: what is shown, whether there is a whole `/proc`.
fn requests(cpus: usize) -> Vec<(&'static str, bool, Value)> {
    let document = |profile: &str| {
        format!("name = \"two\"\nextends = \"base\"\n[syscalls]\nprofile = \"{profile}\"\n")
    };
    let argv = json!(["python3", "-c", COUNTS]);
    if cpus == 1 {
        let named = |policy: &str| json!({ "policy": policy, "argv": argv.clone() });
        let one = json!({ "cpu_millicores_max": 1000 });
        return vec![
            ("python", false, named("python")),
            ("shell", false, named("shell")),
            ("node", true, named("node")),
            ("build", true, limited(named("build"), one)),
            // Half a CPU is one CPU, half of the time.
            (
                "half",
                false,
                limited(named("python"), json!({ "cpu_millicores_max": 500 })),
            ),
        ];
    }
    let inline = |profile: &str| json!({ "policy_document": document(profile), "argv": argv });
    vec![
        ("strict", false, inline("strict")),
        ("compat", true, inline("compat")),
        ("build", true, json!({ "policy": "build", "argv": argv })),
    ]
}

#[test]
fn programs_count_the_cpus_that_their_rate_is_worth() {
    let Some(world) = World::start("programs_count_the_cpus_that_their_rate_is_worth") else {
        return;
    };
    for cpus in [1, 2.min(host_cpus())] {
        for (name, whole_proc, request) in requests(cpus) {
            let outcome = world.run(&request);
            outcome.exited(0);
            let seen: Value = serde_json::from_str(&outcome.stdout()).expect("JSON");
            let counts = seen["counts"].as_object().expect("counts");
            for (place, count) in counts {
                assert_eq!(*count, json!(cpus), "{name}: {place}: {seen}");
            }
            let affinity: Vec<u64> = serde_json::from_value(seen["affinity"].clone()).unwrap();
            assert_eq!(affinity.len(), cpus, "{name}: {seen}");
            // All places name the same CPUs: what a program binds its threads to exists.
            let named = json!(list(&affinity));
            assert_eq!(seen["lists"], json!([named, named, named]), "{name}");
            let whole = |value: Value| if whole_proc { value } else { Value::Null };
            assert_eq!(seen["cpuinfo"], whole(json!(affinity)), "{name}: {seen}");
            assert_eq!(seen["stat"], whole(json!(affinity)), "{name}: {seen}");
            assert_eq!(seen["cores"], whole(json!(vec![cpus; cpus])), "{name}");
            // Nothing else is there, and nothing that tells machines apart.
            let files = seen["files"].as_array().expect("files").len();
            assert_eq!(files, 3 + cpus, "{name}: {seen}");
            let text = seen["text"].as_str().unwrap_or("flags");
            assert!(text.contains("flags"), "{name}: {text}");
            assert!(!text.contains("microcode"), "{name}: {text}");
            assert!(!text.contains("MHz"), "{name}: {text}");
        }
    }
}

#[test]
fn node_openmp_and_java_count_the_same() {
    let test = "node_openmp_and_java_count_the_same";
    let Some(world) = World::start(test) else {
        return;
    };
    let node = "const os = require('os');\
                console.log(os.cpus().length, (os.availableParallelism || (() => 1))(), \
                os.cpus()[0].model.length > 0)";
    let c = "#include <omp.h>\n#include <sched.h>\n#include <stdio.h>\n#include <sys/sysinfo.h>\n\
             int main(void) {\n    int threads = 0;\n#pragma omp parallel\n#pragma omp atomic\n\
             threads++;\n    printf(\"%d %d %d %d %d\\n\", omp_get_max_threads(), \
             omp_get_num_procs(), threads, get_nprocs(), get_nprocs_conf());\n}\n";
    let java = "class A { public static void main(String[] a) { \
                System.out.println(Runtime.getRuntime().availableProcessors()); } }";
    for cpus in [1, 2.min(host_cpus())] {
        let limits = json!({ "cpu_millicores_max": cpus * 1000 });
        if skips::has_file(&format!("{test}/node"), "/usr/bin/node") {
            let policy = if cpus == 1 { "node" } else { "build" };
            let request = json!({ "policy": policy, "argv": ["node", "-e", node] });
            let outcome = world.run(&limited(request, limits.clone()));
            // Only one CPU is given by policy `node`; old versions have no availableParallelism.
            let seen = outcome.exited(0).stdout();
            let expected = [format!("{cpus} {cpus} true\n"), format!("{cpus} 1 true\n")];
            assert!(expected.contains(&seen), "{seen}");
        }
        if Path::new("/usr/bin/gcc").exists() {
            let make = "gcc -fopenmp -o /tmp/a a.c && /tmp/a";
            let request =
                json!({ "policy": "build", "files": { "a.c": c }, "argv": ["sh", "-c", make] });
            let outcome = world.run(&limited(request, limits.clone()));
            let wanted = vec![cpus.to_string(); 5].join(" ");
            assert_eq!(outcome.exited(0).stdout().trim(), wanted);
        } else {
            skips::skip(&format!("{test}/gcc"), "/usr/bin/gcc is missing");
        }
        if Path::new("/usr/bin/javac").exists() {
            let request = json!({
                "policy": "build", "files": { "A.java": java }, "argv": ["java", "A.java"],
            });
            let outcome = world.run(&limited(request, limits));
            assert_eq!(outcome.exited(0).stdout().trim(), cpus.to_string());
        } else {
            skips::skip(&format!("{test}/java"), "/usr/bin/javac is missing");
        }
    }
}

#[test]
fn a_wider_mask_shows_more_cpus_and_gives_no_more_time() {
    let name = "a_wider_mask_shows_more_cpus_and_gives_no_more_time";
    let Some(world) = World::start(name) else {
        return;
    };
    let code = r#"
import os, threading, time, multiprocessing
before = len(os.sched_getaffinity(0))
os.sched_setaffinity(0, range(1024))
print(before, len(os.sched_getaffinity(0)), os.cpu_count())
def burn():
    end = time.monotonic() + 1
    while time.monotonic() < end: pass
workers = [multiprocessing.Process(target=burn) for _ in range(4)]
for w in workers: w.start()
for w in workers: w.join()
"#;
    let request = json!({ "policy": "python", "argv": ["python3", "-c", code] });
    let outcome = world.run(&limited(request, json!({ "cpu_millicores_max": 100 })));
    let stdout = outcome.exited(0).stdout();
    assert_eq!(stdout, format!("1 {} 1\n", host_cpus()));
    let usage = outcome.usage();
    let used = usage.cpu_user_ms + usage.cpu_system_ms;
    // A tenth of the wall time and what the first and the last periods let through.
    assert!(used <= usage.wall_ms / 10 + 200, "{usage:?}");
    assert!(usage.cpu_throttled_ms > 0, "{usage:?}");
}

#[test]
fn sandboxes_that_run_at_once_are_spread_over_the_cpus() {
    let name = "sandboxes_that_run_at_once_are_spread_over_the_cpus";
    let Some(world) = World::start(name) else {
        return;
    };
    // All are alive at the same time: each waits long enough for the others to be there.
    let code = "import os, time\nprint(*os.sched_getaffinity(0))\ntime.sleep(3)";
    let one = json!({ "policy": "python", "argv": ["python3", "-c", code] });
    let count = 2 * host_cpus().min(4);
    let outcomes = world.run_at_once(&vec![one; count]);
    let mut by_cpu = std::collections::BTreeMap::new();
    for outcome in &outcomes {
        *by_cpu.entry(outcome.exited(0).stdout()).or_insert(0) += 1;
    }
    assert_eq!(by_cpu.len(), host_cpus().min(count), "{by_cpu:?}");
    let most = by_cpu.values().max().copied().unwrap_or(0);
    assert!(most <= 2, "{by_cpu:?}");
}
