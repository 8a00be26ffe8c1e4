//! Somebody swaps files and folders with links, as fast as he can, while others work on them: nothing
//! from behind a link is read, written or removed. `./x racers` takes ten thousand opens of each kind
//! instead of a thousand.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::{SENTINEL, is_unchanged, place, plant};
use crate::modes::Mode;
use crate::nobody::Nobody;
use crate::world::World;

/// Files that are collected in one run, each opened once.
const FILES: usize = 1_000;
/// Opens of each kind in the short form.
const ROUNDS: usize = 1_000;
/// Runs after which both sides of a race must have been seen.
const RUNS_MAX: usize = 12;

fn rounds() -> usize {
    let written = std::env::var("ROLLCAGE_RACER_ROUNDS");
    written.map_or(ROUNDS, |text| {
        text.parse().expect("ROLLCAGE_RACER_ROUNDS is a number")
    })
}

/// Swaps a folder with a link to `outside`, and single files with links, from the end of the program
/// until the sandbox's.
const RACER: &str = r#"
import ctypes, os, sys
outside, count = sys.argv[1], int(sys.argv[2])
libc = ctypes.CDLL(None, use_errno=True)
def exchange(one, other):
    libc.syscall(316, -100, one.encode(), -100, other.encode(), 2)
os.mkdir("folder")
os.symlink(outside, "link")
os.mkdir("single")
os.mkdir("spare")
for number in range(count):
    open(f"folder/f{number}", "w").write("own")
    open(f"single/f{number}", "w").write("own")
    os.symlink(f"{outside}/f{number}", f"spare/f{number}")
exchange("folder", "link")
assert os.path.islink("folder")
for _ in range(2):
    if os.fork() == 0:
        os.setsid()
        os.closerange(0, 3)
        number = 0
        while True:
            exchange("folder", "link")
            for _ in range(20):
                number = (number + 1) % count
                exchange(f"single/f{number}", f"spare/f{number}")
"#;

/// What became of the files of one kind.
#[derive(Debug, Default)]
struct Met {
    own: usize,
    links: usize,
}

impl Met {
    #[track_caller]
    fn take(&mut self, result: &Value, kind: &str) {
        assert_eq!(result["ending"]["code"], 0, "{result}");
        for file in result["files"].as_array().into_iter().flatten() {
            let path = file["path"].as_str().expect("a path");
            if path.starts_with(kind) {
                assert_eq!(super::content(file), Some("own"), "{path} led elsewhere");
                self.own += 1;
            }
        }
        for missing in result["files_missing"].as_array().into_iter().flatten() {
            let reason = missing["reason"].as_str().expect("a reason");
            let of_this = missing["path"]
                .as_str()
                .is_some_and(|path| path.starts_with(kind));
            self.links += usize::from(of_this && reason.contains("link"));
        }
    }

    fn saw_both(&self) -> bool {
        self.own > 0 && self.links > 0
    }
}

fn request(outside: &Path, patterns: &[String]) -> Value {
    json!({
        "policy": "python",
        "files": { "racer.py": RACER },
        "argv": ["python3", "racer.py", outside, FILES.to_string()],
        "collect": patterns,
    })
}

/// Half of the files by name, all by a pattern.
fn names(kind: &str) -> Vec<String> {
    let literal = (0..FILES / 2).map(|number| format!("{kind}/f{number}"));
    literal.chain([format!("{kind}/f?*")]).collect()
}

fn outside(parent: &Path, id: u32) -> tempfile::TempDir {
    let folder = place(parent);
    for number in 0..FILES {
        give(&plant(folder.path(), &format!("f{number}")), id);
    }
    give(folder.path(), id);
    folder
}

fn give(path: &Path, id: u32) {
    std::os::unix::fs::chown(path, Some(id), Some(id)).expect("give it away");
}

#[track_caller]
fn all_unchanged(outside: &Path) {
    for number in 0..FILES {
        is_unchanged(&outside.join(format!("f{number}")));
    }
    assert_eq!(fs::read_dir(outside).expect("list").count(), FILES);
}

#[test]
fn collecting_leads_nowhere_else_however_files_are_swapped() {
    let test = "collecting_leads_nowhere_else_however_files_are_swapped";
    // Shown to the sandbox on purpose: where the link leads the file is there, and readable.
    let outside = outside(Path::new("/opt"), 0);
    let shown = format!("[host_image]\nextra_read_paths = [{:?}]\n", outside.path());
    let Some(world) = World::with_config(test, &shown) else {
        return;
    };
    // The control: the program itself does read what lies behind the link.
    let code = format!("print(open('{}/f0').read())", outside.path().display());
    assert_eq!(
        world.python(&code).exited(0).stdout(),
        format!("{SENTINEL}\n")
    );
    for kind in ["folder", "single"] {
        let mut met = Met::default();
        let mut runs = 0;
        while runs * FILES < rounds() || (!met.saw_both() && runs < RUNS_MAX) {
            let line = request(outside.path(), &names(kind));
            let (spoken, results) = world.batch(&format!("{line}\n"));
            spoken.ended(0);
            met.take(&results[0], kind);
            runs += 1;
        }
        println!("{kind}: {runs} runs of {FILES} opens: {met:?}");
        assert!(met.saw_both(), "{kind} was never in a race: {met:?}");
    }
    all_unchanged(outside.path());
}

/// The helper that collects has no Landlock domain: without namespaces it could read whatever the user
/// can, if a path led it there.
#[test]
fn in_no_mode_do_links_lead_the_collector_out() {
    let test = "in_no_mode_do_links_lead_the_collector_out";
    for mode in Mode::all(test, Nobody::Racing, Nobody::RacingLowest) {
        let outside = outside(&mode.user.path(""), mode.user.id);
        fs::write(mode.user.path("work/racer.py"), RACER).expect("write the program");
        let (path, count) = (outside.path().to_string_lossy(), FILES.to_string());
        let wanted = names("folder");
        let mut words = vec!["run", "--json", "--policy", "python"];
        for name in &wanted {
            words.extend(["--get", name]);
        }
        words.extend(["racer.py", &path, &count]);
        let mut met = Met::default();
        let mut runs = 0;
        while runs * FILES < rounds() || (!met.saw_both() && runs < RUNS_MAX) {
            met.take(&mode.say(&words).json(), "folder");
            runs += 1;
        }
        println!("{}: {runs} runs of {FILES} opens: {met:?}", mode.name);
        assert!(met.saw_both(), "{}: never in a race: {met:?}", mode.name);
        all_unchanged(outside.path());
        mode.nothing_is_left();
    }
}

/// Deep, closed against its owner, with links, pipes and a process that goes on
/// swapping: it is removed all the same, and nothing else is.
#[test]
fn what_a_program_leaves_is_removed_and_nothing_else() {
    let code = r#"
import ctypes, os, sys
outside = sys.argv[1]
libc = ctypes.CDLL(None)
os.mkdir("closed")
os.symlink(outside, "closed/link")
os.symlink(outside, "link")
os.mkfifo("pipe")
try: os.link(outside + "/f0", "hard")
except OSError as error: print(error.errno)
here = os.getcwd()
for _ in range(300):
    os.mkdir("d"); os.chdir("d")
os.chdir(here)
os.mkdir("swapped")
os.chmod("closed", 0)
if os.fork() == 0:
    os.setsid()
    os.closerange(0, 3)
    while True:
        libc.syscall(316, -100, b"swapped", -100, b"link", 2)
"#;
    let test = "what_a_program_leaves_is_removed_and_nothing_else";
    for mode in Mode::all(test, Nobody::Leaving, Nobody::LeavingLowest) {
        let outside = outside(&mode.user.path(""), mode.user.id);
        fs::write(mode.user.path("work/leave.py"), code).expect("write the program");
        let path = outside.path().to_string_lossy();
        let words = ["run", "--json", "--policy", "python", "leave.py", &path];
        let result = mode.say(&words).json();
        assert_eq!(result["ending"]["code"], 0, "{}: {result}", mode.name);
        // A second name for a file of the host was not to be had.
        let errno = result["stdout"]
            .as_str()
            .map(|text| text.trim().parse::<i32>().is_ok());
        assert_eq!(errno, Some(true), "{}: {result}", mode.name);
        all_unchanged(outside.path());
        mode.nothing_is_left();
    }
}
