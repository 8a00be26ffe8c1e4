//! A wall clock that jumps, under the real programs: every one of the daemon loads `clock.c`, in a
//! mount namespace of its own, and the test moves the time that they see.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::place::{becomes, must, words};
use super::recovers;
use crate::audit;
use crate::skips;
use crate::wait;
use crate::world::{Place, World, limited, shell};

const DAY_S: i64 = 86_400;

/// The clock, and the command that becomes a daemon which goes by it.
struct Clock {
    folder: tempfile::TempDir,
}

impl Clock {
    fn make() -> Self {
        let folder = tempfile::Builder::new()
            .prefix("rollcage-it-clock-")
            .tempdir()
            .expect("a folder");
        let clock = Self { folder };
        clock.set(0);
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("it/hardship/clock.c");
        let define = format!("-DOFFSET_FILE=\"{}\"", clock.file().display());
        let (source, library) = (text(&source), text(&clock.library()));
        must(&[
            "cc", "-shared", "-fPIC", "-O1", &define, "-o", &library, &source,
        ]);
        // The daemon's users load it too.
        must(&["chmod", "-R", "a+rX", &text(clock.folder.path())]);
        clock
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("offset")
    }

    fn library(&self) -> PathBuf {
        self.folder.path().join("clock.so")
    }

    /// Moves the clock to `seconds` from the true time, at once.
    fn set(&self, seconds: i64) {
        use std::os::unix::fs::FileExt;
        let file = fs::File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(self.file());
        let file = file.expect("the clock's file");
        file.write_all_at(&seconds.to_ne_bytes(), 0)
            .expect("move the clock");
    }

    /// Every program below it loads the library: `/etc` there is a copy that names it.
    fn under(&self) -> Vec<String> {
        let etc = self.folder.path().join("etc");
        let cover = format!(
            "cp -a /etc {etc} && echo {library} > {etc}/ld.so.preload && mount --bind {etc} /etc",
            etc = etc.display(),
            library = self.library().display()
        );
        let mut under = words(&["unshare", "--mount"]);
        under.extend(becomes(&cover));
        under
    }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

#[test]
fn a_clock_that_jumps_ends_no_run_and_breaks_no_log() {
    let test = "a_clock_that_jumps_ends_no_run_and_breaks_no_log";
    if !skips::is_root(test) || !skips::has_file(test, "/usr/bin/cc") {
        return;
    }
    let clock = Clock::make();
    let place = Place {
        under: clock.under(),
        ..Place::default()
    };
    let Some(world) = World::in_place(test, place) else {
        return;
    };
    let mut results = Vec::new();
    for offset in [DAY_S, -DAY_S, 400 * DAY_S, 0] {
        let (short, long) = std::thread::scope(|scope| {
            scope.spawn(|| {
                wait::pause(Duration::from_millis(250));
                clock.set(offset);
            });
            let short = limited(shell("sleep 60"), serde_json::json!({ "wall_ms_max": 700 }));
            let long = limited(
                shell("sleep 1; exit 3"),
                serde_json::json!({ "wall_ms_max": 60_000 }),
            );
            let mut outcomes = world.run_at_once(&[short, long]).into_iter();
            (outcomes.next().expect("one"), outcomes.next().expect("two"))
        });
        assert_eq!(short.ending.kind(), "wall_time_up", "{offset}: {short:?}");
        // Neither a day nor nothing: what the clock that only goes forward measured.
        let used_ms = short.usage().wall_ms;
        assert!((700..60_000).contains(&used_ms), "{offset}: {used_ms} ms");
        long.exited(3);
        let used_ms = long.usage().wall_ms;
        assert!((1_000..60_000).contains(&used_ms), "{offset}: {used_ms} ms");
        results.extend([short.result, long.result]);
    }
    recovers(&world, &results);
    // The clock did move, and the chain's order is not time's.
    let times: Vec<u64> = audit::records(&world)
        .iter()
        .map(|record| record["time_unix_ns"].as_u64().expect("a time"))
        .collect();
    let half_a_day_ns = 43_200_000_000_000;
    let jumps = |from: u64, to: u64| from > to + half_a_day_ns;
    let back = times
        .windows(2)
        .filter(|pair| jumps(pair[0], pair[1]))
        .count();
    let forth = times
        .windows(2)
        .filter(|pair| jumps(pair[1], pair[0]))
        .count();
    assert!(
        back >= 2 && forth >= 2,
        "{back} back, {forth} forth: {times:?}"
    );
    println!(
        "{} records, {forth} jumps forth and {back} back",
        times.len()
    );
}
