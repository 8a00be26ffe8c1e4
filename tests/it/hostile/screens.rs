//! What a program, a name or a verdict says, on a terminal: nothing of it is acted on. In files and
//! pipes a program's output is what it wrote, byte for byte.

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::world::World;

/// Screen and cursor, clipboard (OSC 52), link (OSC 8), title, device strings, answers that terminals
/// type back, single-byte controls in both forms, character sets, reordered text.
const HOSTILE: &str = "\u{1b}[2J\u{1b}[6n\u{1b}]52;c;ZXZpbA==\u{7}\u{1b}]8;;http://evil.example\u{1b}\\x\
                       \u{1b}]0;title\u{7}\u{1b}P$q\"p\u{1b}\\\u{1b}[31m\u{5}\u{e}\u{8}\u{7f}\
                       \u{9b}2J\u{9d}52;c;x\u{9c}invoice\u{202e}fdp\u{2066}\u{200f}.exe";
/// A control of eight bits that is no text.
const HOSTILE_BYTES: &[u8] = b"\x9b2J\x9d52;c;x\x9c\xff";

/// Runs a command with a terminal as its output and error, and gives what the terminal was sent.
fn on_a_terminal(command: &mut Command) -> Vec<u8> {
    on_a_terminal_with(command, Stdio::null())
}

fn on_a_terminal_with(command: &mut Command, stdin: Stdio) -> Vec<u8> {
    let pair = nix::pty::openpty(None, None).expect("a terminal");
    let copy = |fd: &OwnedFd| Stdio::from(fd.try_clone().expect("copy a descriptor"));
    command
        .stdin(stdin)
        .stdout(copy(&pair.slave))
        .stderr(copy(&pair.slave))
        .env("NO_COLOR", "1")
        .env("TERM", "dumb");
    let mut child = command.spawn().expect("start a command");
    // The command holds the other side too as long as it has its descriptors.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    drop(pair.slave);
    let mut sent = Vec::new();
    let mut master = File::from(pair.master);
    let mut buffer = [0; 4096];
    // EIO: the other side is closed.
    while let Ok(count @ 1..) = master.read(&mut buffer) {
        sent.extend_from_slice(&buffer[..count]);
    }
    child.wait().expect("wait for the command");
    sent
}

fn is_acted_on(c: char) -> bool {
    let plain = matches!(c, '\n' | '\r' | '\t');
    let reorders =
        matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    (c.is_control() && !plain) || reorders
}

#[track_caller]
fn is_harmless(what: &str, sent: &[u8]) {
    let text = std::str::from_utf8(sent).unwrap_or_else(|_bad| {
        panic!(
            "{what}: bytes that are no text: {:?}",
            String::from_utf8_lossy(sent)
        )
    });
    assert!(!text.is_empty(), "{what}: nothing was sent");
    assert!(!text.contains(is_acted_on), "{what}: {text:?}");
}

/// Writes its first argument and the bytes to both streams.
const PROGRAM: &str = "import os, sys\nbad = os.fsencode(sys.argv[1]) + bytes.fromhex(sys.argv[2])\n\
                       for fd in (1, 2): os.write(fd, bad)\n";

fn run<'a>(world: &World, options: &[&'a str], code: &'a str, more: &[&'a str]) -> Command {
    let mut command = world.rollcage();
    command
        .arg("run")
        .args(options)
        .args(["--policy", "python"]);
    command.args(["--", "python3", "-c", code]).args(more);
    command
}

#[test]
fn a_programs_output_is_bytes_in_pipes_and_harmless_on_a_terminal() {
    let test = "a_programs_output_is_bytes_in_pipes_and_harmless_on_a_terminal";
    let Some(world) = World::start(test) else {
        return;
    };
    let bytes = hex::encode(HOSTILE_BYTES);
    let arguments = [HOSTILE, bytes.as_str()];
    let all = [HOSTILE.as_bytes(), HOSTILE_BYTES].concat();
    let piped = crate::world::speak(&mut run(&world, &[], PROGRAM, &arguments), b"");
    piped.ended(0);
    assert_eq!((&piped.stdout_bytes, &piped.stderr_bytes), (&all, &all));
    is_harmless(
        "run",
        &on_a_terminal(&mut run(&world, &[], PROGRAM, &arguments)),
    );
    is_harmless(
        "run --json",
        &on_a_terminal(&mut run(&world, &["--json"], PROGRAM, &arguments)),
    );
    // The control: asked for, all of it arrives.
    let raw = on_a_terminal(&mut run(&world, &["--raw"], PROGRAM, &arguments));
    let count = raw.windows(all.len()).filter(|part| *part == all).count();
    assert_eq!(count, 2, "{:?}", String::from_utf8_lossy(&raw));
}

#[test]
fn names_messages_and_records_are_harmless_on_a_terminal() {
    let Some(world) = World::start("names_messages_and_records_are_harmless_on_a_terminal") else {
        return;
    };
    // Names of files that cannot be or are not to be brought back, and of programs that are not there.
    let code = "import os, sys\nos.mkdir(sys.argv[1].replace('/', '|'))\n\
                open('x' + sys.argv[1].replace('/', '|'), 'w').close()\nsys.exit(3)";
    let mut command = run(&world, &["--get", "*", "--get", HOSTILE], code, &[HOSTILE]);
    is_harmless("names of files", &on_a_terminal(&mut command));
    let left = std::fs::read_dir(world.work()).expect("list").flatten();
    let left: Vec<_> = left.map(|entry| entry.file_name()).collect();
    assert!(left.is_empty(), "{left:?}");
    for word in [HOSTILE.to_owned(), format!("/usr/bin/{HOSTILE}")] {
        let mut command = world.rollcage();
        command.args(["run", "--policy", "shell", "--", &word]);
        is_harmless("the name of a program", &on_a_terminal(&mut command));
    }
    // A verdict with a message, and labels, of the same kind.
    let code = "def f(x): raise ValueError(x)\n";
    let numbers: Vec<u32> = HOSTILE.chars().map(u32::from).collect();
    let judge =
        format!("assert f(''.join(map(chr, {numbers:?}))) == 1, ''.join(map(chr, {numbers:?}))");
    let line = json!({
        "id": "hostile", "policy": "python", "group": HOSTILE, "labels": { HOSTILE: HOSTILE },
        "files": { "solution.py": code, HOSTILE.replace('/', "|"): "x" },
        "verify": { "kind": "asserts", "file": "solution.py", "code": judge },
    });
    let file = world.write("lines.jsonl", format!("{line}\n"));
    let mut command = world.rollcage();
    command.arg("batch");
    let sent = {
        let input = File::open(&file).expect("open the lines");
        on_a_terminal_with(&mut command, input.into())
    };
    is_harmless("batch", &sent);
    // What was shown is JSON all the same, and means what a pipe gets.
    let text = String::from_utf8(sent).expect("text");
    let shown = text
        .lines()
        .find(|line| line.starts_with('{'))
        .expect("a result");
    let shown: Value = serde_json::from_str(shown).expect("JSON on a terminal");
    assert_eq!(shown["verdict"]["outcome"], "failed", "{shown}");
    let run_id = shown["run_id"].as_str().expect("a run id");
    for words in [
        &["ps", "--all"][..],
        &["explain", run_id],
        &["audit", "tail", "-n", "100"],
    ] {
        let mut command = world.rollcage();
        is_harmless(words[0], &on_a_terminal(command.args(words)));
    }
    // In a pipe the log's lines are those that were hashed, in which nothing is acted on anyway.
    let piped = world.cli(&["audit", "tail", "-n", "100"]);
    assert!(
        piped.ended(0).stdout().contains(r"\u202e"),
        "{}",
        piped.stdout()
    );
}
