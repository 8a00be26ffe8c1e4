//! Probes of single fields: the same act under `base`, where it succeeds, and under a document
//! that narrows one field of it, where it must not.

use sandbox_client::{ClientError, pb};
use serde_json::{Value, json};
use verdict::Ending;

use crate::world::{Outcome, World};

/// A request under `base` with `change` on top.
pub(super) fn under(change: &str, argv: &[&str]) -> Value {
    let document = format!("name = \"probe\"\nextends = \"base\"\n{change}");
    json!({ "policy_document": document, "argv": argv })
}

/// Python code under `base` with `change` on top.
#[track_caller]
fn python(world: &World, change: &str, code: &str) -> Outcome {
    world.run(&under(change, &["python3", "-c", code]))
}

/// The words that the code prints, after it exited with 0.
#[track_caller]
fn words(world: &World, change: &str, code: &str) -> Vec<String> {
    let outcome = python(world, change, code);
    outcome.exited(0);
    outcome
        .stdout()
        .split_whitespace()
        .map(str::to_owned)
        .collect()
}

#[track_caller]
fn refusal(world: &World, request: &Value) -> (String, String) {
    match world.try_run(request) {
        Err(ClientError::Refused(answer)) => (answer.reason, answer.message),
        other => panic!("{request} was not refused: {other:?}"),
    }
}

fn summary(world: &World, name: &str) -> pb::PolicySummary {
    let client = world.client();
    let all = world.wait(client.list_policies()).expect("the policies");
    all.into_iter()
        .find(|policy| policy.name == name)
        .expect("it is listed")
}

pub(super) fn name(world: &World) {
    let outcome = world.run(&under("", &["true"]));
    let records = world.cli(&["audit", "query", "--run", &outcome.result.run_id]);
    let records = records.ended(0).stdout();
    assert!(
        records.contains("\"policy\":{\"name\":\"probe\""),
        "{records}"
    );
    let document = "name = \"Not A Name\"\nextends = \"base\"";
    let request = json!({ "policy_document": document, "argv": ["true"] });
    let (reason, message) = refusal(world, &request);
    assert_eq!(reason, "POLICY_REFUSED", "{message}");
}

pub(super) fn description(world: &World) {
    let builtin = policies::Catalog::builtin().expect("the built-in policies");
    let python = &builtin.get("python").expect("python").policy;
    assert_eq!(summary(world, "python").description, python.description);
    let shown = world.cli(&["policy", "list"]);
    assert!(
        shown.ended(0).stdout().contains("Python programs"),
        "{shown:?}"
    );
}

pub(super) fn extends(world: &World) {
    let (reason, message) = refusal(world, &under("[limits]\npids_max = 1_000_000", &["true"]));
    assert_eq!(reason, "POLICY_REFUSED");
    assert!(message.contains("limits.pids_max"), "{message}");
    let alone = json!({ "policy_document": "name = \"probe\"", "argv": ["true"] });
    assert_eq!(refusal(world, &alone).0, "POLICY_REFUSED");
}

const SPIN: &str = "while True: pass";
const EAT: &str = "import mmap\nkept = b'x' * (200 << 20)\nprint(len(kept))";

pub(super) fn default_wall_ms(world: &World) {
    let change = "[defaults]\nwall_ms = 700\ncpu_ms = 100";
    let outcome = world.run(&under(change, &["sleep", "30"]));
    assert!(
        matches!(outcome.ending, Ending::WallTimeUp { limit_ms: 700, .. }),
        "{outcome:?}"
    );
    // Only a default: a request may ask for more.
    let mut asked = under(change, &["sleep", "1"]);
    asked["limits"] = json!({ "wall_ms_max": 20_000 });
    world.run(&asked).exited(0);
}

pub(super) fn default_cpu_ms(world: &World) {
    let outcome = python(world, "[defaults]\nwall_ms = 20_000\ncpu_ms = 300", SPIN);
    assert!(
        matches!(outcome.ending, Ending::CpuTimeUp { limit_ms: 300, .. }),
        "{outcome:?}"
    );
}

pub(super) fn default_memory_bytes(world: &World) {
    assert_eq!(words(world, "", EAT), [(200 << 20).to_string()]);
    let outcome = python(world, "[defaults]\nmemory_bytes = \"64 MiB\"", EAT);
    is_memory_up(&outcome);
}

fn is_memory_up(outcome: &Outcome) {
    let limit = 64 << 20;
    assert!(
        matches!(outcome.ending, Ending::MemoryUp { limit_bytes, .. } if limit_bytes == limit),
        "{outcome:?}"
    );
    assert!(outcome.usage().oom_kills > 0 && outcome.usage().memory_peak_bytes <= limit);
}

pub(super) fn wall_ms_max(world: &World) {
    let change = "[defaults]\nwall_ms = 600\ncpu_ms = 100\n[limits]\nwall_ms_max = 600";
    let outcome = world.run(&under(change, &["sleep", "30"]));
    assert!(
        matches!(outcome.ending, Ending::WallTimeUp { limit_ms: 600, .. }),
        "{outcome:?}"
    );
    let mut asked = under(change, &["true"]);
    asked["limits"] = json!({ "wall_ms_max": 601 });
    let (reason, message) = refusal(world, &asked);
    assert!(
        reason == "LIMIT_OUT_OF_RANGE" && message.contains("601"),
        "{message}"
    );
}

pub(super) fn cpu_ms_max(world: &World) {
    let change = "[defaults]\ncpu_ms = 300\n[limits]\ncpu_ms_max = 300";
    let outcome = python(world, change, SPIN);
    assert!(
        matches!(outcome.ending, Ending::CpuTimeUp { limit_ms: 300, .. }),
        "{outcome:?}"
    );
    // Of all processes together: four that use 150 ms each are one too many.
    let code = "import os, time\nfor _ in range(4):\n    if os.fork() == 0:\n        \
                while time.process_time() < 0.15: pass\n        os._exit(0)\n\
                for _ in range(4): os.wait()\nprint('done')";
    let outcome = python(world, change, code);
    assert!(
        matches!(outcome.ending, Ending::CpuTimeUp { limit_ms: 300, .. }),
        "{outcome:?}"
    );
}

pub(super) fn cpu_millicores_max(world: &World) {
    let code = "import time\nstart = time.monotonic()\nused = time.process_time()\n\
                while time.process_time() < used + 0.3: pass\nprint(time.monotonic() - start)";
    let outcome = python(world, "[limits]\ncpu_millicores_max = 100", code);
    outcome.exited(0);
    // 300 ms of a tenth of a core take about 3 s, less what the first period lets through.
    let took: f64 = outcome.stdout().trim().parse().expect("seconds");
    assert!(took > 1.5, "300 ms of CPU time took {took} s");
    assert!(
        outcome.usage().cpu_throttled_ms > 1_000,
        "{:?}",
        outcome.usage()
    );
}

pub(super) fn memory_bytes_max(world: &World) {
    let change = "[defaults]\nmemory_bytes = \"64 MiB\"\n[limits]\nmemory_bytes_max = \"64 MiB\"\n\
                  disk_bytes_max = \"32 MiB\"";
    is_memory_up(&python(world, change, EAT));
}

pub(super) fn pids_max(world: &World) {
    let code = "import os, time\ncount = error = 0\ntry:\n    while count < 40:\n        \
                if os.fork() == 0:\n            time.sleep(60)\n            os._exit(0)\n        \
                count += 1\nexcept OSError as e: error = e.errno\nprint(count, error)";
    assert_eq!(words(world, "", code), ["40", "0"]);
    // Itself and eleven more; EAGAIN.
    assert_eq!(words(world, "[limits]\npids_max = 12", code), ["11", "11"]);
}

pub(super) fn disk_bytes_max(world: &World) {
    let code = "import os\ntotal = error = 0\nplaces = [os.open(p + '/f', os.O_CREAT | os.O_WRONLY) \
                for p in ('/workspace', '/tmp', '/dev/shm')]\ntry:\n    while total < 24 << 20:\n        \
                for place in places: total += os.write(place, b'x' * (1 << 18))\n\
                except OSError as e: error = e.errno\nprint(total, error)";
    assert_eq!(words(world, "", code)[1], "0");
    let narrowed = words(world, "[limits]\ndisk_bytes_max = \"8 MiB\"", code);
    let total: u64 = narrowed[0].parse().expect("a number");
    assert!((4 << 20..=8 << 20).contains(&total), "{narrowed:?}");
    assert_eq!(narrowed[1], "28", "ENOSPC");
}

pub(super) fn files_max(world: &World) {
    let code = "import os\ncount = error = 0\ntry:\n    while count < 300:\n        \
                os.close(os.open(f'/workspace/{count}', os.O_CREAT | os.O_WRONLY))\n        \
                count += 1\nexcept OSError as e: error = e.errno\nprint(count, error)";
    assert_eq!(words(world, "", code), ["300", "0"]);
    let narrowed = words(world, "[limits]\nfiles_max = 64", code);
    let count: u64 = narrowed[0].parse().expect("a number");
    assert!((32..=64).contains(&count), "{narrowed:?}");
    assert_eq!(narrowed[1], "28", "ENOSPC");
}

pub(super) fn output_bytes_max(world: &World) {
    let code = "import sys\nsys.stdout.write('x' * 10_000)\nsys.stderr.write('y' * 5_000)";
    let outcome = python(world, "[limits]\noutput_bytes_max = \"4 KiB\"", code);
    outcome.exited(0);
    assert_eq!(
        (outcome.result.stdout.len(), outcome.result.stderr.len()),
        (4_096, 4_096)
    );
    let dropped = outcome.result.dropped_bytes.expect("dropped bytes");
    assert_eq!(
        (dropped.stdout, dropped.stderr),
        (10_000 - 4_096, 5_000 - 4_096)
    );
}

pub(super) fn output_bytes_total_max(world: &World) {
    let change = "[limits]\noutput_bytes_max = \"4 KiB\"\noutput_bytes_total_max = \"64 KiB\"";
    let outcome = python(world, change, "import sys\nsys.stdout.write('x' * 60_000)");
    outcome.exited(0);
    let outcome = python(
        world,
        change,
        "import sys\nwhile True: sys.stdout.write('x' * 60_000)",
    );
    let cap = 64 << 10;
    assert!(
        matches!(outcome.ending, Ending::OutputUp { cap_bytes, .. } if cap_bytes == cap),
        "{outcome:?}"
    );
}

pub(super) fn open_files_max(world: &World) {
    let code = "import os\nkept = []\nerror = 0\ntry:\n    while len(kept) < 100:\n        \
                kept.append(os.open('/dev/null', 0))\nexcept OSError as e: error = e.errno\n\
                print(max(kept), error)";
    assert_eq!(words(world, "", code)[1], "0");
    assert_eq!(
        words(world, "[limits]\nopen_files_max = 32", code),
        ["31", "24"],
        "EMFILE"
    );
}

/// Prints the error number of an act, or 0.
fn errno_of(act: &str) -> String {
    format!("import os, errno\ntry:\n    {act}\n    print(0)\nexcept OSError as e: print(e.errno)")
}

pub(super) fn read(world: &World) {
    let code = errno_of("open('/etc/passwd').read()");
    assert_eq!(words(world, "", &code), ["0"]);
    let change = "[files]\nread = [\"/usr\", \"/lib\", \"/lib64\", \"/bin\", \"/sbin\", \"/proc\", \"/dev\"]";
    assert_eq!(words(world, change, &code), ["13"], "EACCES");
}

pub(super) fn write(world: &World) {
    for place in ["/tmp/f", "/dev/shm/f"] {
        let code = errno_of(&format!("open({place:?}, 'w').write('x')"));
        assert_eq!(words(world, "", &code), ["0"]);
        let narrowed = words(world, "[files]\nwrite = [\"/workspace\"]", &code);
        assert!(
            ["13", "30"].contains(&&*narrowed[0]),
            "{place}: {narrowed:?}, not EACCES or EROFS"
        );
    }
    let code = errno_of("open('/workspace/f', 'w').write('x')");
    assert_eq!(
        words(world, "[files]\nwrite = [\"/workspace\"]", &code),
        ["0"]
    );
}

pub(super) fn execute(world: &World) {
    let code = errno_of(
        "os.posix_spawn('/usr/sbin/ldconfig', ['ldconfig', '--version'], {}, \
         file_actions=[(os.POSIX_SPAWN_OPEN, 1, '/dev/null', os.O_WRONLY, 0)])",
    );
    assert_eq!(words(world, "", &code), ["0"]);
    let change = "[files]\nexecute = [\"/usr/bin\", \"/usr/lib\", \"/usr/lib64\", \"/lib\", \"/lib64\", \"/bin\"]";
    assert_eq!(words(world, change, &code), ["13"], "EACCES");
}

pub(super) fn writable_noexec(world: &World) {
    for place in ["/workspace", "/tmp"] {
        let code = errno_of(&format!(
            "import shutil; shutil.copy('/bin/true', '{place}/t'); os.chmod('{place}/t', 0o755); \
             os.posix_spawn('{place}/t', ['t'], {{}})"
        ));
        assert_eq!(words(world, "", &code), ["0"], "{place}");
        assert_eq!(
            words(world, "[files]\nwritable_noexec = true", &code),
            ["13"],
            "{place}"
        );
        let map = errno_of(&format!(
            "import mmap; f = open('{place}/m', 'wb+'); f.write(bytes(4096)); f.flush(); \
             mmap.mmap(f.fileno(), 4096, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC)"
        ));
        assert_eq!(words(world, "", &map), ["0"], "{place}");
        assert_eq!(
            words(world, "[files]\nwritable_noexec = true", &map),
            ["1"],
            "{place}: EPERM"
        );
    }
}

/// Shared memory of System V: `compat` has it, `strict` does not.
const SHMGET: &str = "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\n\
                      made = libc.shmget(0, 4096, 0o1600) >= 0\n\
                      print('made' if made else 'refused', os.path.exists('/proc/cpuinfo'))";

pub(super) fn profile(world: &World) {
    assert_eq!(words(world, "", SHMGET), ["made", "True"]);
    let strict = "[syscalls]\nprofile = \"strict\"";
    assert_eq!(words(world, strict, SHMGET), ["refused", "False"]);
}

pub(super) fn allow(world: &World) {
    let allowed = "[syscalls]\nprofile = \"strict\"\nallow = [\"shmget\"]";
    assert_eq!(words(world, allowed, SHMGET), ["made", "False"]);
}

pub(super) fn deny_action(world: &World) {
    let code = "import ctypes\nprint(ctypes.CDLL(None).ptrace(0, 0, 0, 0))";
    assert_eq!(words(world, "", code), ["-1"]);
    let outcome = python(world, "[syscalls]\ndeny_action = \"kill\"", code);
    let Ending::SyscallDenied { syscall, .. } = &outcome.ending else {
        panic!("{outcome:?}");
    };
    assert_eq!(
        (syscall.as_str(), outcome.stdout().as_str()),
        ("ptrace", "")
    );
}

pub(super) fn network_mode(world: &World) {
    let loopback = errno_of(
        "import socket; s = socket.create_server(('127.0.0.1', 0)); \
         socket.create_connection(s.getsockname(), 2)",
    );
    let outside = errno_of("import socket; socket.create_connection(('192.0.2.1', 80), 2)");
    assert_eq!(words(world, "", &loopback), ["0"], "none: loopback is up");
    assert_eq!(words(world, "", &outside), ["101"], "none: ENETUNREACH");
    let sealed = "[network]\nmode = \"sealed\"";
    for code in [&loopback, &outside] {
        let refused = words(world, sealed, code);
        assert!(
            ["1", "13", "97"].contains(&&*refused[0]),
            "sealed: {refused:?}"
        );
    }
}

pub(super) fn run_as(world: &World) {
    let code = "import os\nstatus = open('/proc/self/status').read()\n\
                caps = [l.split()[1] for l in status.splitlines() if l.startswith('Cap')]\n\
                print(os.getuid() != 0, os.getgid() != 0, set(caps))";
    assert_eq!(
        words(world, "[process]\nrun_as = \"user\"", code),
        ["True", "True", "{'0000000000000000'}"]
    );
}

pub(super) fn shared_reward(world: &World) {
    let request = |policy: &str| {
        json!({
            "policy": policy, "argv": [], "files": { "s.py": "def f(): return 1" },
            "verify": { "kind": "tap", "report": "stdout",
                "argv": ["python3", "-c", "print('1..1\\nok 1 - it')"] },
        })
    };
    let judged = |policy: &str| {
        let outcome = world.run(&request(policy));
        let verdict = outcome.result.verdict.as_ref().expect("a verdict");
        assert_eq!(verdict.outcome(), pb::Outcome::Passed, "{verdict:?}");
        let evidence = verdict.evidence.as_ref().expect("evidence");
        assert_eq!(evidence.isolation(), pb::Isolation::Shared);
        verdict.reward
    };
    // Off in base and all that extends it, on by name only.
    assert_eq!(judged("python"), None);
    assert_eq!(judged("task"), Some(1.0));
    // Test code that runs apart is separate, and cannot be asked to share.
    let mut request = json!({
        "policy": "python", "files": { "s.py": "def f(): return 1" }, "argv": [],
        "verify": { "kind": "asserts", "file": "s.py", "code": "assert f() == 1", "isolation": "shared" },
    });
    let (reason, message) = refusal(world, &request);
    assert!(
        reason == "VERIFY_INVALID" && message.contains("isolation"),
        "{message}"
    );
    request["verify"]["isolation"] = json!("separate");
    let outcome = world.run(&request);
    let verdict = outcome.result.verdict.as_ref().expect("a verdict");
    assert_eq!(verdict.outcome(), pb::Outcome::Passed, "{verdict:?}");
    let evidence = verdict.evidence.as_ref().expect("evidence");
    assert_eq!(evidence.isolation(), pb::Isolation::Separate);
}
