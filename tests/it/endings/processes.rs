//! Processes that would outlive their run, play dead, or reach for others.

use verdict::Ending;

use crate::world::{World, limited, python, shell};
use serde_json::json;

/// Nothing runs under ids leased to sandboxes: true the moment a result is there.
#[track_caller]
fn nothing_runs(world: &World) {
    let running = world.instance().leased_processes();
    assert!(running.is_empty(), "still running: {running:?}");
}

#[test]
fn a_sleeper_that_holds_stdout_delays_nothing_and_dies() {
    let Some(world) = World::start("a_sleeper_that_holds_stdout_delays_nothing_and_dies") else {
        return;
    };
    let outcome = world.python(
        "import subprocess\n\
         subprocess.Popen(['sleep', '300'])\n\
         print('done')\n",
    );
    nothing_runs(&world);
    outcome.exited(0);
    assert_eq!(outcome.stdout(), "done\n");
    assert!(outcome.usage().wall_ms < 20_000, "{:?}", outcome.usage());
    let outcome = world.run(&shell("sleep 300 & sleep 300 2>/dev/null & echo done"));
    nothing_runs(&world);
    assert_eq!(outcome.exited(0).stdout(), "done\n");
    assert!(outcome.usage().wall_ms < 20_000, "{:?}", outcome.usage());
}

#[test]
fn a_double_forked_session_that_ignores_signals_dies_with_its_run() {
    let Some(world) =
        World::start("a_double_forked_session_that_ignores_signals_dies_with_its_run")
    else {
        return;
    };
    let outcome = world.python(
        r#"
import os, signal, sys
told, tell = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.setsid()
        for number in range(1, 65):
            if number not in (9, 19, 32, 33):
                signal.signal(number, signal.SIG_IGN)
        os.write(tell, b"alive in session %d" % os.getsid(0))
        while True:
            signal.pause()
    os._exit(0)
os.wait()
said = os.read(told, 100).decode()
assert said.startswith("alive in session "), said
assert int(said.split()[-1]) != os.getsid(0)
print(said.split(" in ")[0])
"#,
    );
    nothing_runs(&world);
    assert_eq!(outcome.exited(0).stdout(), "alive\n");
    assert!(outcome.usage().wall_ms < 20_000, "{:?}", outcome.usage());
}

#[test]
fn a_program_that_stops_itself_ends_at_the_wall_limit() {
    let Some(world) = World::start("a_program_that_stops_itself_ends_at_the_wall_limit") else {
        return;
    };
    let stop = python(
        "import os, signal\n\
         print('stopping', flush=True)\n\
         os.kill(os.getpid(), signal.SIGSTOP)\n\
         print('never')\n",
    );
    let outcome = world.run(&limited(stop, json!({ "wall_ms_max": 700 })));
    nothing_runs(&world);
    match outcome.ending {
        Ending::WallTimeUp {
            limit_ms: 700,
            used_ms,
            ..
        } => {
            assert!((700..10_000).contains(&used_ms), "{used_ms}");
        }
        ref other => panic!("{other:?}"),
    }
    assert_eq!(outcome.stdout(), "stopping\n");
}

#[test]
fn exit_codes_and_signals_of_the_program_are_its_own() {
    let Some(world) = World::start("exit_codes_and_signals_of_the_program_are_its_own") else {
        return;
    };
    for code in [0, 1, 42, 124, 125, 126, 127, 137, 255] {
        world.run(&shell(&format!("exit {code}"))).exited(code);
    }
    let signalled = |signal| Ending::Signalled {
        signal,
        core_dumped: false,
        sent_by: None,
    };
    assert_eq!(world.python("import os; os.abort()").ending, signalled(6));
    let segfault = world.python("import ctypes; ctypes.string_at(0)");
    assert_eq!(segfault.ending, signalled(11));
    // A kill by itself is no memory limit: nothing is inferred from 137.
    let killed = world.run(&shell("kill -KILL $$"));
    assert_eq!(killed.ending, signalled(9));
    assert_eq!(killed.usage().oom_kills, 0);
    let terminated = world.run(&shell("kill -TERM $$"));
    assert_eq!(terminated.ending, signalled(15));
    nothing_runs(&world);
}

#[test]
fn a_program_may_delete_its_own_working_folder() {
    let Some(world) = World::start("a_program_may_delete_its_own_working_folder") else {
        return;
    };
    let outcome = world.run(&json!({
        "policy": "python",
        "argv": ["python3", "-c", r#"
import os, shutil
os.mkdir("/workspace/here")
os.chdir("/workspace/here")
os.rmdir("/workspace/here")
try:
    os.getcwd()
except FileNotFoundError:
    print("gone")
for name in os.listdir("/workspace"):
    shutil.rmtree("/workspace/" + name, ignore_errors=True)
    if os.path.lexists("/workspace/" + name):
        os.unlink("/workspace/" + name)
try:
    os.rmdir("/workspace")
except OSError as error:
    print("kept")
"#],
        "files": { "a/b/c.txt": "x", "d.txt": "y" },
        "collect": ["d.txt", "**"],
    }));
    assert_eq!(outcome.exited(0).stdout(), "gone\nkept\n");
    assert!(
        outcome.result.files.is_empty(),
        "{:?}",
        outcome.result.files
    );
    assert_eq!(
        outcome.result.files_missing.len(),
        2,
        "{:?}",
        outcome.result.files_missing
    );
    nothing_runs(&world);
}

#[test]
fn signals_reach_nobody_else() {
    let Some(world) = World::start("signals_reach_nobody_else") else {
        return;
    };
    let outcome = world.python(
        r#"
import os, signal
shown = sorted(int(name) for name in os.listdir("/proc") if name.isdigit())
assert set(shown) <= {1, os.getpid()}, shown
assert os.getpid() != 1
def send(target, number):
    try:
        os.kill(target, number)
    except (PermissionError, ProcessLookupError):
        pass
# Everything to pid 1, the last ones being those that no handler can take.
for number in [n for n in range(1, 65) if n not in (9, 19, 32, 33)] + [19, 9]:
    send(1, number)
# All that can be seen, but not ourselves: Linux leaves the caller out of -1.
for number in (signal.SIGTERM, signal.SIGKILL):
    send(-1, number)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.killpg(0, signal.SIGTERM)
# The host's processes have these numbers; here there are none.
for target in [target for target in range(2, 70000) if target != os.getpid()]:
    try:
        os.kill(target, 0)
        print("reached", target)
    except ProcessLookupError:
        pass
print("still here")
"#,
    );
    assert_eq!(outcome.exited(0).stdout(), "still here\n");
    nothing_runs(&world);
    // And init was well enough to tell about the next one.
    world.python("print(1)").exited(0);
}
