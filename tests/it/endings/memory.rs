//! Out of memory, told by the kernel's own counts and never by an exit code.

use sandbox_client::pb;
use serde_json::json;
use verdict::{Ending, ending::MemorySource};

use crate::world::{World, limited, python};

const MEMORY: u64 = 64 << 20;
/// Control groups v2 let a few pages in over the limit before they kill, and say so.
const OVER: u64 = 256 << 10;

/// A child is killed at the limit; the parent does not care.
const SHAMELESS: &str = r#"
import os, sys
pid = os.fork()
if pid == 0:
    hoard = []
    while True:
        hoard.append(b"x" * (4 << 20))
_, status = os.waitpid(pid, 0)
assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == 9, status
print("all tests passed")
"#;

#[test]
fn a_child_killed_at_the_memory_limit_shows_and_never_passes() {
    let Some(world) = World::start("a_child_killed_at_the_memory_limit_shows_and_never_passes")
    else {
        return;
    };
    let shameless = limited(python(SHAMELESS), json!({ "memory_bytes_max": MEMORY }));
    let outcome = world.run(&shameless);
    assert_eq!(outcome.exited(0).stdout(), "all tests passed\n");
    assert!(outcome.usage().oom_kills > 0, "{:?}", outcome.usage());
    assert_eq!(outcome.verdict(), pb::Outcome::Unjudged);
    for verify in [
        json!({ "kind": "exit_code" }),
        json!({ "kind": "stdout", "stdout": "all tests passed\n" }),
    ] {
        let mut judged = shameless.clone();
        judged["verify"] = verify;
        let outcome = world.run(&judged);
        outcome.exited(0);
        assert!(outcome.usage().oom_kills > 0, "{:?}", outcome.usage());
        assert_eq!(outcome.verdict(), pb::Outcome::OutOfMemory);
        let verdict = outcome.result.verdict.as_ref().expect("a verdict");
        assert_eq!(verdict.reward, Some(0.0));
    }
    // The control: the same judgement passes where nothing was killed.
    let mut honest = python("print('all tests passed')");
    honest["verify"] = json!({ "kind": "stdout", "stdout": "all tests passed\n" });
    let outcome = world.run(&honest);
    assert_eq!(outcome.verdict(), pb::Outcome::Passed);
    assert_eq!(outcome.usage().oom_kills, 0);
}

#[test]
fn the_program_itself_killed_at_the_memory_limit_ends_as_memory_up() {
    let Some(world) =
        World::start("the_program_itself_killed_at_the_memory_limit_ends_as_memory_up")
    else {
        return;
    };
    for hoard in [
        // Its own memory; files in each of the writable places, which are memory too.
        "hoard = []\nwhile True: hoard.append(b'x' * (4 << 20))",
        "f = open('/tmp/x', 'wb')\nwhile True: f.write(b'x' * (1 << 20))",
        "f = open('/dev/shm/x', 'wb')\nwhile True: f.write(b'x' * (1 << 20))",
        "import mmap\nm = mmap.mmap(-1, 1 << 30)\nfor at in range(0, 1 << 30, 4096): m[at] = 1",
    ] {
        let limits = json!({ "memory_bytes_max": MEMORY, "disk_bytes_max": 256 << 20 });
        let outcome = world.run(&limited(python(hoard), limits));
        match outcome.ending {
            Ending::MemoryUp {
                limit_bytes: MEMORY,
                peak_bytes,
                source: MemorySource::Cgroup,
            } => {
                let plausible = MEMORY / 2..=MEMORY + OVER;
                assert!(plausible.contains(&peak_bytes), "{peak_bytes}");
            }
            ref other => panic!("{hoard}: {other:?}"),
        }
        assert!(outcome.usage().oom_kills > 0, "{:?}", outcome.usage());
        assert!(world.instance().leased_processes().is_empty());
    }
    // Much address space is no memory: no RLIMIT_AS.
    // MAP_PRIVATE, MAP_ANONYMOUS, and MAP_NORESERVE, as runtimes reserve their heaps.
    let sparse = python("import mmap\nm = mmap.mmap(-1, 1 << 36, flags=0x4022)\nprint(len(m))");
    let outcome = world.run(&limited(sparse, json!({ "memory_bytes_max": MEMORY })));
    assert_eq!(outcome.exited(0).stdout(), format!("{}\n", 1_u64 << 36));
}
