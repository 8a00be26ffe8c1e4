//! The daemon as a service: signals, policies that change under it, its numbers, and what it says
//! of a policy.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::host;
use crate::skips;
use crate::tls::free_port;
use crate::wait;
use crate::world::{World, rollcage, shell, speak};

/// Whatever is waited for here comes at once on an idle machine.
const SOON: Duration = Duration::from_secs(20);

fn signal(world: &World, signal: Signal) {
    kill(Pid::from_raw(world.pid()), signal).expect("signal the daemon");
}

#[test]
fn a_daemon_that_is_told_to_stop_lets_runs_end() {
    let Some(mut world) = World::start("a_daemon_that_is_told_to_stop_lets_runs_end") else {
        return;
    };
    let mut command = world.rollcage();
    let running = std::thread::spawn(move || {
        let script = "sleep 1; echo drained";
        speak(command.args(["run", "--", "sh", "-c", script]), b"")
    });
    wait::until_it_holds("the run is active", SOON, || {
        let runs = world.cli(&["--json", "ps"]).ended(0).json();
        runs.as_array().is_some_and(|runs| !runs.is_empty())
    });
    // SIGTERM, and the checks that an orderly end leaves nothing.
    world.stop();
    let spoken = running.join().expect("the command");
    assert_eq!(spoken.ended(0).stdout(), "drained\n");
}

#[test]
fn policies_are_read_anew_and_a_broken_one_changes_nothing() {
    let test = "policies_are_read_anew_and_a_broken_one_changes_nothing";
    let Some(world) = World::start(test) else {
        return;
    };
    let file = world.policies_dir().join("site.toml");
    fs::create_dir_all(world.policies_dir()).expect("a folder of policies");
    fs::write(&file, "name = \"site\"\nextends = \"shell\"\n").expect("write a policy");
    world.cli(&["policy", "show", "site"]).ended(125);
    signal(&world, Signal::SIGHUP);
    wait::until_it_holds("the policy is there", SOON, || {
        world.cli(&["policy", "show", "site"]).code == Some(0)
    });
    world.allow_log("policies not reloaded");
    fs::write(&file, "name = \"site\"\nno_such_field = 1\n").expect("break the policy");
    signal(&world, Signal::SIGHUP);
    wait::until_it_holds("the broken one is told", SOON, || {
        world.log().contains("policies not reloaded")
    });
    let shown = world.cli(&["policy", "show", "site"]);
    assert!(shown.ended(0).stdout().contains("extends = \"shell\""));
    let run = world.cli(&["run", "--policy", "site", "--", "echo", "still"]);
    assert_eq!(run.ended(0).stdout(), "still\n");
}

#[test]
fn numbers_are_there_for_prometheus() {
    let port = free_port();
    let metrics = format!("[metrics]\nlisten = \"127.0.0.1:{port}\"\n");
    let Some(world) = World::with_config("numbers_are_there_for_prometheus", &metrics) else {
        return;
    };
    world.run(&shell("exit 3")).exited(3);
    let mut text = String::new();
    wait::until_it_holds("the run is counted and its objects are gone", SOON, || {
        text = scrape(port);
        ["cgroup", "mount_namespace", "uid_range"]
            .iter()
            .all(|kind| text.contains(&format!("rollcage_kernel_objects{{kind=\"{kind}\"}} 0\n")))
    });
    for line in [
        "rollcage_runs_total{ending=\"exited\",outcome=\"unjudged\"} 1\n",
        "rollcage_runs_infra_total 0\n",
        "rollcage_queue_wait_seconds_count 1\n",
        "rollcage_start_seconds_count 1\n",
        "rollcage_sandboxes_live 0\n",
    ] {
        assert!(text.contains(line), "{line} is not in {text}");
    }
}

#[test]
fn unpinned_images_are_refused_where_the_site_says_so() {
    let test = "unpinned_images_are_refused_where_the_site_says_so";
    let config = "[host_image]\naccept_unpinned = false\n";
    let Some(world) = World::with_config(test, config) else {
        return;
    };
    let refused = world.cli(&["run", "--policy", "shell", "--", "true"]);
    let said = refused.ended(125).stderr();
    assert!(said.contains("host_image.accept_unpinned"), "{said}");
    let Some(other) = World::start(test) else {
        return;
    };
    let run = other.cli(&["run", "--json", "--policy", "shell", "--", "true"]);
    let result = run.ended(0).json();
    assert_eq!(
        result["verdict"]["evidence"]["image_unpinned"], true,
        "{result}"
    );
}

fn scrape(port: u16) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("connect");
    let request = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    stream.write_all(request).expect("ask");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("read the numbers");
    text
}

#[test]
fn explain_tells_the_steps_in_their_order() {
    let Some(world) = World::start("explain_tells_the_steps_in_their_order") else {
        return;
    };
    let text = world.cli(&["policy", "explain", "python"]);
    let text = text.ended(0).stdout();
    let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
    let mut from = 0;
    for (name, _layer, why) in confine::sequence::explain() {
        let is_step = |line: &&str| line.starts_with(&format!("{name} ")) && line.ends_with(why);
        let found = lines[from..].iter().position(is_step);
        let place = found.unwrap_or_else(|| panic!("{name} is not where it belongs:\n{text}"));
        from += place + 1;
    }
}

#[test]
fn commands_that_share_a_daemon_lose_no_run() {
    let test = "commands_that_share_a_daemon_lose_no_run";
    if !skips::is_root(test) {
        return;
    }
    let _turn = host::take_turn();
    let work = tempfile::tempdir().expect("a folder");
    let state = work.path().join("state");
    // No daemon runs: one of them starts it, the others come to it, and it is not theirs to lose.
    let say = |number: usize| {
        let mut command = rollcage(work.path());
        let script = format!("sleep 0.{}; echo {number}", number % 4);
        command
            .args(["run", "--", "sh", "-c", &script])
            .env("ROLLCAGE_STATE_DIR", &state)
            .env("ROLLCAGE_SOCKET", work.path().join("nobody"));
        (number, speak(&mut command, b""))
    };
    let spoken: Vec<_> = std::thread::scope(|scope| {
        let say = &say;
        let threads = (0..8)
            .map(|first| scope.spawn(move || [first, first + 8, first + 16].map(say).into_iter()));
        let threads: Vec<_> = threads.collect();
        let results = threads.into_iter().map(|thread| thread.join());
        results.flat_map(|all| all.expect("a thread")).collect()
    });
    assert_eq!(spoken.len(), 24);
    for (number, spoken) in spoken {
        assert_eq!(spoken.ended(0).stdout(), format!("{number}\n"));
    }
    let ours = state.to_string_lossy().into_owned();
    wait::until_it_holds("every daemon of them is gone", SOON, || {
        !host::processes()
            .iter()
            .any(|process| process.command_line.contains(&ours))
    });
}
