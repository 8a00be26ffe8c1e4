//! Copies of a real log with something changed, and what `rollcage audit verify` says of them.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{receipt, session};
use crate::world::{Spoken, World};

/// A copy of the log, to be changed.
struct Copy {
    folder: tempfile::TempDir,
    segment: PathBuf,
}

impl Copy {
    fn of(log: &Path) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["00000001.jsonl", "head.json", "key.pub"] {
            fs::copy(log.join(name), folder.path().join(name)).expect("copy a file of the log");
        }
        let segment = folder.path().join("00000001.jsonl");
        Self { folder, segment }
    }

    fn lines(&self) -> Vec<String> {
        let text = fs::read_to_string(&self.segment).expect("a segment");
        text.lines().map(|line| format!("{line}\n")).collect()
    }

    fn with_lines(self, change: impl FnOnce(&mut Vec<String>)) -> Self {
        let mut lines = self.lines();
        change(&mut lines);
        fs::write(&self.segment, lines.concat()).expect("write the copy");
        self
    }

    fn without_head(self) -> Self {
        fs::remove_file(self.folder.path().join("head.json")).expect("remove the head file");
        self
    }

    fn verify(&self, world: &World, more: &[&str]) -> Spoken {
        let folder = self.folder.path().to_str().expect("a plain path");
        world.cli(&[&["audit", "verify", folder], more].concat())
    }
}

/// Ends in order with exit code 1 and says why.
#[track_caller]
fn is_rejected(spoken: &Spoken, what: &str) {
    let said = spoken.stdout();
    assert_eq!(
        spoken.code,
        Some(1),
        "{what} was not noticed: {said}{}",
        spoken.stderr()
    );
    assert!(
        said.contains("the log does NOT hold") && said.contains("error: "),
        "{what}: {said}"
    );
}

#[test]
fn every_change_of_the_log_is_seen() {
    const TEST: &str = "audit::tampering::every_change_of_the_log_is_seen";
    let Some(mut world) = World::start(TEST) else {
        return;
    };
    let results = session(&world);
    world.stop();
    let log = world.state_dir().join("audit");
    // The control: nothing changed, signed to its end.
    let whole = Copy::of(&log).verify(&world, &[]);
    let said = whole.ended(0).stdout();
    assert!(
        said.contains("the log holds") && said.contains("signed to its end"),
        "{said}"
    );

    let count = Copy::of(&log).lines().len();
    assert!(count > 60, "{count} lines are few for such a session");
    bytes_changed(&world, &log);
    for at in [0, 1, count / 2, count - 2] {
        let copy = Copy::of(&log).with_lines(|lines| drop(lines.remove(at)));
        is_rejected(&copy.verify(&world, &[]), &format!("line {at} removed"));
        let copy = Copy::of(&log).with_lines(|lines| lines.swap(at, at + 1));
        is_rejected(
            &copy.verify(&world, &[]),
            &format!("lines {at} and {} swapped", at + 1),
        );
        let copy = Copy::of(&log).with_lines(|lines| lines.insert(at, lines[at].clone()));
        is_rejected(&copy.verify(&world, &[]), &format!("line {at} doubled"));
    }
    let copy = Copy::of(&log).with_lines(|lines| lines.swap(3, count - 3));
    is_rejected(&copy.verify(&world, &[]), "two far lines swapped");

    let last = results
        .values()
        .filter(|result| result["audit"]["seq"].is_u64());
    let last = last
        .max_by_key(|result| result["audit"]["seq"].as_u64())
        .expect("a last result");
    tail_cut(&world, &log, last);
}

/// One byte, at places all over the log: a fixed step that is no divisor of a line's length.
fn bytes_changed(world: &World, log: &Path) {
    let text = fs::read(log.join("00000001.jsonl")).expect("the log");
    let step = text.len() / 40 + 7;
    let last = text.len() - 1;
    for at in (0..text.len()).step_by(step).chain([last]) {
        let copy = Copy::of(log);
        let mut changed = text.clone();
        changed[at] ^= 1;
        fs::write(&copy.segment, changed).expect("write the copy");
        is_rejected(&copy.verify(world, &[]), &format!("byte {at} changed"));
    }
}

fn tail_cut(world: &World, log: &Path, last: &Value) {
    let seq = last["audit"]["seq"].as_u64().expect("a receipt");
    let kept = usize::try_from(seq).expect("few") - 1;
    let cut = || Copy::of(log).with_lines(|lines| lines.truncate(kept));
    is_rejected(
        &cut().verify(world, &[]),
        "a tail cut off behind the head file",
    );

    // Head file and tail gone: the log cannot know, and says how far it is proven.
    let spoken = cut().without_head().verify(world, &[]);
    let said = spoken.ended(0).stdout();
    let text = said
        .split("complete to ")
        .nth(1)
        .unwrap_or_else(|| panic!("not told: {said}"));
    assert!(text.contains("tail unproven"), "{said}");
    let complete: u64 = text
        .split(',')
        .next()
        .expect("a number")
        .parse()
        .expect("a number");
    assert!(complete < seq, "{said}");

    // Who holds a receipt knows.
    let receipt = receipt(last);
    let spoken = cut().without_head().verify(world, &["--receipt", &receipt]);
    is_rejected(&spoken, "a tail cut off before a receipt's record");
    Copy::of(log)
        .verify(world, &["--receipt", &receipt])
        .ended(0);
    let other = format!("{seq}:{}", "0".repeat(64));
    is_rejected(
        &Copy::of(log).verify(world, &["--receipt", &other]),
        "a forged receipt",
    );
}
