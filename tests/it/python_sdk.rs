//! The Python package `rollcage`: its own tests against a private daemon, its calls while that is
//! killed, and its wheel in an environment that has nothing else.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::skips;
use crate::tls::{Keys, configuration, free_port};
use crate::tools;
use crate::wait;
use crate::world::{Spoken, World, speak, speak_within};

/// Debian's: the folder of what it needs is made for it.
const PYTHON: &str = "/usr/bin/python3";
/// All tests of the package at once take longer than a command may.
const TESTS_MAX: Duration = Duration::from_secs(600);
/// How often a file that another process makes is looked for.
const PERIOD: Duration = Duration::from_millis(20);

fn package() -> PathBuf {
    skips::repository().join("sandbox-client/python")
}

/// Where grpc, pytest and the like lie; `None`, told and counted, where they are missing.
fn dependencies(test: &str) -> Option<PathBuf> {
    let folder = tools::folder().join("python-sdk");
    let file = folder.join("grpc/__init__.py");
    skips::has_file(test, file.to_str()?).then_some(folder)
}

/// Python in the world's environment, with the package and what it needs.
fn python(world: &World, dependencies: &Path) -> Command {
    let mut command = Command::new(PYTHON);
    let path = [package().join("src"), dependencies.to_owned()];
    let path = std::env::join_paths(path).expect("paths without colons");
    // Short, since sockets lie below it; gone with the world.
    let temporary = world.work().join("t");
    command
        .current_dir(package())
        .env("PYTHONPATH", path)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env(
            "PYTEST_ADDOPTS",
            format!("--basetemp={}", temporary.display()),
        )
        .env("ROLLCAGE_SOCKET", world.socket())
        .env("ROLLCAGE_BIN_DIR", skips::bin_dir());
    for name in ["ROLLCAGE_CONFIG", "ROLLCAGE_STATE_DIR", "ROLLCAGE_TOKEN"] {
        command.env_remove(name);
    }
    command
}

/// The numbers that pytest's last line tells: passed, failed or broken, skipped.
fn counts(spoken: &Spoken) -> (usize, usize, usize) {
    let text = spoken.stdout();
    let last = text.trim_end().lines().last().unwrap_or_default();
    let number = |word: &str| {
        let before = last.split(word).next().filter(|before| *before != last)?;
        before.trim_end().rsplit(' ').next()?.parse::<usize>().ok()
    };
    let count = |word: &str| number(word).unwrap_or(0);
    (
        count(" passed"),
        count(" failed") + count(" error"),
        count(" skipped"),
    )
}

/// Fails the test unless all that ran passed, and at least `least` did; only what `skipped` names may
/// have been left out.
#[track_caller]
fn all_passed(spoken: &Spoken, least: usize, skipped: usize) {
    let (passed, failed, left_out) = counts(spoken);
    let shown = (spoken.stdout(), spoken.stderr());
    println!("pytest: {passed} passed, {failed} failed, {left_out} skipped");
    assert_eq!(spoken.code, Some(0), "{}\n{}", shown.0, shown.1);
    assert_eq!((failed, left_out), (0, skipped), "{}", shown.0);
    assert!(passed >= least, "only {passed} passed: {}", shown.0);
}

/// The policies of the operator: one whose output may be 8 MiB.
fn write_policies(world: &World) {
    let base = skips::repository().join("policies/catalog/base.toml");
    let base = fs::read_to_string(base).expect("the widest policy");
    let wide = base.replace("name = \"base\"", "name = \"wide\"").replace(
        "output_bytes_max = \"4 MiB\"",
        "output_bytes_max = \"8 MiB\"",
    );
    assert_ne!(wide, base);
    fs::create_dir_all(world.policies_dir()).expect("a folder of policies");
    fs::write(world.policies_dir().join("wide.toml"), wide).expect("write a policy");
}

#[test]
fn the_tests_of_the_python_package_pass() {
    const TEST: &str = "python_sdk::the_tests_of_the_python_package_pass";
    let Some(dependencies) = dependencies(TEST) else {
        return;
    };
    let keys = Keys::new();
    let port = free_port();
    let Some(mut world) = World::with_config(TEST, &configuration(&keys, port, true)) else {
        return;
    };
    world.stop();
    write_policies(&world);
    world.boot();
    let mut pytest = python(&world, &dependencies);
    pytest
        .args(["-m", "pytest", "-q", "--durations=5"])
        .env("ROLLCAGE_TEST_HTTPS", format!("https://127.0.0.1:{port}"))
        .env("ROLLCAGE_TEST_KEYS", keys.folder());
    // Those for which somebody has to kill the daemon are another test's.
    let spoken = speak_within(&mut pytest, b"", TESTS_MAX);
    all_passed(&spoken, 150, 5);
}

#[test]
fn python_s_calls_outlive_a_killed_daemon() {
    const TEST: &str = "python_sdk::python_s_calls_outlive_a_killed_daemon";
    let Some(dependencies) = dependencies(TEST) else {
        return;
    };
    let Some(mut world) = World::start(TEST) else {
        return;
    };
    world.allow_log("runs were active when the daemon ended before");
    let asked = world.work().join("kill");
    let mut pytest = python(&world, &dependencies);
    pytest
        .args(["-m", "pytest", "-q", "tests/test_crash.py"])
        .env("ROLLCAGE_TEST_KILL", &asked);
    let over = AtomicBool::new(false);
    let spoken = std::thread::scope(|scope| {
        let tests = scope.spawn(|| {
            let spoken = speak_within(&mut pytest, b"", TESTS_MAX);
            over.store(true, Ordering::Release);
            spoken
        });
        while !over.load(Ordering::Acquire) {
            if asked.exists() {
                kill(Pid::from_raw(world.pid()), Signal::SIGKILL).expect("kill the daemon");
                world.crashed();
                world.boot();
                fs::remove_file(&asked).expect("take the file away");
            }
            wait::pause(PERIOD);
        }
        tests.join().expect("the tests of the package")
    });
    all_passed(&spoken, 5, 0);
}

#[test]
fn the_trainers_own_packages_take_its_rewards() {
    const TEST: &str = "python_sdk::the_trainers_own_packages_take_its_rewards";
    let Some(trainers) = std::env::var_os("ROLLCAGE_TRAINERS_PYTHON") else {
        let reason = "torch and TRL are some GB: ./x trainers installs them";
        skips::skip(TEST, reason);
        return;
    };
    let Some(dependencies) = dependencies(TEST) else {
        return;
    };
    let Some(world) = World::start(TEST) else {
        return;
    };
    // What the environment lacks is taken from where the package's own needs lie.
    let mut pytest = Command::new(trainers);
    let surroundings = python(&world, &dependencies);
    for (name, value) in surroundings.get_envs() {
        match value {
            Some(value) => pytest.env(name, value),
            None => pytest.env_remove(name),
        };
    }
    pytest
        .current_dir(package())
        .args(["-m", "pytest", "-q", "-s", "-rs", "trainers"]);
    let spoken = speak_within(&mut pytest, b"", TESTS_MAX);
    println!("{}", spoken.stdout());
    // What else is installed there is tried too; a GRPO step of TRL always is.
    let (passed, failed, _) = counts(&spoken);
    assert_eq!((spoken.code, failed), (Some(0), 0), "{}", spoken.stderr());
    assert!(passed >= 4, "only {passed} passed");
}

/// A program that uses the package as its README begins.
const QUICKSTART: &str = "\
import rollcage
with rollcage.connect(embedded=True) as client:
    result = client.run(**rollcage.python('print(6 * 7)'))
    print(result.stdout.decode(), end='')
    task = {'policy': 'python', 'verify': {'kind': 'stdout', 'stdout': '42', 'ignore_trailing_space': True}}
    print(client.run(**{**rollcage.python('print(6 * 7)'), **task}).reward)
print(rollcage.__file__)
";

#[test]
fn the_wheel_is_enough() {
    const TEST: &str = "python_sdk::the_wheel_is_enough";
    let Some(dependencies) = dependencies(TEST) else {
        return;
    };
    // Only for its folder and the checks of what is left behind: the wheel brings its own daemon.
    let Some(world) = World::start(TEST) else {
        return;
    };
    let work = world.work();
    let run = |command: &mut Command| speak(command.current_dir(&work), b"");
    let mut build = Command::new(PYTHON);
    build
        .args([
            "-m",
            "pip",
            "wheel",
            "--quiet",
            "--no-deps",
            "--no-cache-dir",
        ])
        .args(["--no-build-isolation", "--wheel-dir", "."])
        .arg(package())
        .env("PYTHONPATH", &dependencies)
        .env("ROLLCAGE_BIN_DIR", stripped(&work));
    run(&mut build).ended(0);
    let wheel = fs::read_dir(&work)
        .expect("the work folder")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .find(|name| name.ends_with(".whl"))
        .expect("a wheel");
    // The tag says what the programs need.
    assert!(
        wheel.starts_with("rollcage-0.1.0-py3-none-manylinux_2_"),
        "{wheel}"
    );
    assert!(wheel.ends_with("_x86_64.whl"), "{wheel}");
    run(Command::new(PYTHON).args(["-m", "venv", "--without-pip", "clean"])).ended(0);
    let mut install = Command::new(PYTHON);
    install
        .args([
            "-m",
            "pip",
            "--python",
            "clean/bin/python",
            "install",
            "--quiet",
        ])
        .args(["--no-deps", "--no-index", "--no-compile", &wheel]);
    run(&mut install).ended(0);
    let clean = |program: &str| {
        let mut command = Command::new(work.join("clean/bin").join(program));
        command.env_clear().env("PATH", "/usr/bin:/bin");
        command
    };
    // The command needs no Python, and finds its daemon beside itself.
    fs::write(work.join("hello.py"), "print('hello')\n").expect("write a program");
    let mut hello = clean("rollcage");
    hello
        .args(["run", "--embedded", "--state-dir"])
        .arg(work.join("state"))
        .arg("hello.py");
    assert_eq!(run(&mut hello).ended(0).stdout(), "hello\n");
    // And the package finds it too.
    let mut quickstart = clean("python");
    quickstart
        .args(["-c", QUICKSTART])
        .env("PYTHONPATH", &dependencies);
    let said = run(&mut quickstart).ended(0).stdout();
    let own = work.join("clean/lib");
    assert!(said.starts_with("42\n1.0\n"), "{said}");
    assert!(said.contains(own.to_str().expect("text")), "{said}");
}

/// The programs without what debuggers read, so that the wheel is made in seconds.
fn stripped(work: &Path) -> PathBuf {
    let folder = work.join("programs");
    fs::create_dir(&folder).expect("a folder");
    for program in fs::read_dir(skips::bin_dir()).expect("the programs") {
        let program = program.expect("a program").path();
        let name = program.file_name().expect("its name");
        let mut strip = Command::new("/usr/bin/strip");
        let status = strip
            .arg("-o")
            .arg(folder.join(name))
            .arg(&program)
            .status()
            .expect("start strip");
        assert!(status.success(), "{}", program.display());
    }
    folder
}
