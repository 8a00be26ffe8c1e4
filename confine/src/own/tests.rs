//! The locks on a thread of this test: what works before fails after, as it does in a process of
//! the daemon. A filter and Landlock are a thread's own here, and end with it.

use std::fs::{self, File};
use std::path::Path;

use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};

use super::*;

type Act = (&'static str, fn(&Path) -> std::io::Result<()>);

/// Acts that need no privilege, each with what it does.
const ACTS: &[Act] = &[
    ("keyring", |_| {
        sys::new_session_keyring().map_err(sys::io_error)
    }),
    ("socket", |_| {
        let flags = SockFlag::SOCK_CLOEXEC;
        socket(AddressFamily::Unix, SockType::Stream, flags, None)?;
        Ok(())
    }),
    ("program", |_| {
        std::process::Command::new("/bin/true").status().map(drop)
    }),
    ("link", |folder| {
        std::os::unix::fs::symlink("/etc", folder.join("link"))
    }),
    ("dumpable", |_| {
        process::set_dumpable(true).map_err(sys::io_error)
    }),
    ("owner", |folder| {
        std::os::unix::fs::chown(folder, None, None)
    }),
];

fn try_all(folder: &Path) -> Vec<(&'static str, Option<i32>)> {
    let result = |act: fn(&Path) -> std::io::Result<()>| {
        act(folder)
            .err()
            .map(|error| error.raw_os_error().unwrap_or(-1))
    };
    ACTS.iter()
        .map(|(name, act)| (*name, result(*act)))
        .collect()
}

/// Runs `work` on a thread of its own.
fn apart<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| scope.spawn(work).join().expect("the thread"))
}

#[test]
fn what_a_filter_closes_fails_and_works_without_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let open = apart(|| try_all(folder.path()));
    assert!(open.iter().all(|(_, error)| error.is_none()), "{open:?}");
    fs::remove_file(folder.path().join("link")).expect("remove the link");
    for who in [
        OwnProcess::Api,
        OwnProcess::AuditWriter,
        OwnProcess::Launcher,
    ] {
        let closed = apart(|| {
            process::set_no_new_privs().expect("no new privileges");
            let filter = who.filter().expect("a filter");
            seccomp::install(&filter.program, false).expect("install it");
            // What each of them does all day goes on.
            fs::write(folder.path().join("file"), "1").expect("write a file");
            try_all(folder.path())
        });
        let eperm = Some(Errno::EPERM as i32);
        assert!(
            closed.iter().all(|(_, error)| *error == eperm),
            "{who:?}: {closed:?}"
        );
    }
}

#[test]
fn landlock_leaves_what_was_granted() {
    if sys::landlock_abi() == 0 {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let (read, write) = (folder.path().join("read"), folder.path().join("write"));
    for path in [&read, &write] {
        fs::create_dir(path).expect("a folder");
        fs::write(path.join("file"), "text").expect("a file");
    }
    let outside = folder.path().join("outside");
    fs::write(&outside, "secret").expect("a file");
    let missing = folder.path().join("missing");
    // The controls: all of it works for who is not restricted.
    assert!(File::open(&outside).is_ok());
    apart(|| {
        process::set_no_new_privs().expect("no new privileges");
        let reach = Reach {
            read: &[&read, &missing],
            write: &[&write],
        };
        restrict(sys::landlock_abi(), reach, OwnProcess::Api.scope())
            .expect("restrict this thread");
        let denied = |result: std::io::Result<()>| {
            result.err().and_then(|error| error.raw_os_error()) == Some(Errno::EACCES as i32)
        };
        assert_eq!(fs::read_to_string(read.join("file")).expect("read"), "text");
        assert!(denied(fs::write(read.join("file"), "x")));
        assert!(denied(fs::write(read.join("new"), "x")));
        assert!(denied(File::open(&outside).map(drop)));
        assert!(denied(fs::read_dir(folder.path()).map(drop)));
        fs::write(write.join("file.new"), "x").expect("write");
        fs::rename(write.join("file.new"), write.join("file")).expect("replace");
        fs::remove_file(write.join("file")).expect("remove");
        assert!(denied(
            std::net::TcpListener::bind(("127.0.0.1", 0)).map(drop)
        ));
    });
    assert!(std::net::TcpListener::bind(("127.0.0.1", 0)).is_ok());
}

/// Another process of this user, which waits to be killed.
struct Other(std::process::Child);

impl Other {
    fn start() -> Self {
        let child = std::process::Command::new("/bin/sleep").arg("600").spawn();
        Self(child.expect("a process"))
    }

    fn pid(&self) -> i32 {
        self.0.id().cast_signed()
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let ended = self.0.kill().and_then(|()| self.0.wait());
        assert!(ended.is_ok(), "{ended:?}");
    }
}

#[test]
fn a_filter_lets_a_process_signal_itself_alone() {
    use nix::sys::signal::{Signal, raise};
    let other = Other::start();
    for who in [
        OwnProcess::Api,
        OwnProcess::AuditWriter,
        OwnProcess::Launcher,
    ] {
        apart(|| {
            process::set_no_new_privs().expect("no new privileges");
            let filter = who.filter().expect("a filter");
            seccomp::install(&filter.program, false).expect("install it");
            let killed = process::kill_owner(other.pid(), other.pid());
            assert_eq!(killed, Err(Errno::EPERM), "{who:?}");
            raise(Signal::SIGWINCH).expect("signal this thread");
        });
    }
    // The control: without a filter it is this test's to kill.
    assert_eq!(process::kill_owner(other.pid(), other.pid()), Ok(true));
}

#[test]
fn landlock_leaves_signals_to_the_launcher() {
    use nix::sys::signal::{Signal, kill, raise};
    let level = sys::landlock_abi();
    if level < 6 {
        return;
    }
    let other = Other::start();
    let pid = nix::unistd::Pid::from_raw(other.pid());
    for (who, expected) in [
        (OwnProcess::Api, Err(Errno::EPERM)),
        (OwnProcess::AuditWriter, Err(Errno::EPERM)),
        (OwnProcess::Launcher, Ok(())),
    ] {
        apart(|| {
            process::set_no_new_privs().expect("no new privileges");
            restrict(level, Reach::default(), who.scope()).expect("restrict this thread");
            assert_eq!(kill(pid, None), expected, "{who:?}");
            raise(Signal::SIGWINCH).expect("signal this thread");
        });
    }
}

#[test]
fn any_privilege_left_is_seen() {
    let clean = "CapInh:\t0000000000000000\nCapPrm:\t0000000000000000\n\
                 CapEff:\t0000000000000000\nCapBnd:\t000001ffffffffff\n\
                 CapAmb:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\n";
    for who in OwnProcess::ALL {
        assert_eq!(who.first_left(clean), None);
        for (from, to, field) in [
            ("CapPrm:\t0", "CapPrm:\t8", "CapPrm"),
            ("CapEff:\t00", "CapEff:\t0f", "CapEff"),
            ("CapInh:\t0", "CapInh:\t1", "CapInh"),
            ("CapAmb:\t0", "CapAmb:\t1", "CapAmb"),
            ("NoNewPrivs:\t1", "NoNewPrivs:\t0", "NoNewPrivs"),
            ("Seccomp:\t2", "Seccomp:\t0", "Seccomp"),
        ] {
            let left = clean.replace(from, to);
            assert_eq!(who.first_left(&left).map(|(field, _)| field), Some(field));
        }
    }
    let forker = clean.replace("CapEff:\t0000000000000000", "CapEff:\t0000000000200000");
    assert_eq!(OwnProcess::Forker.first_left(&forker), None);
    assert!(OwnProcess::Launcher.first_left(&forker).is_some());
    assert_eq!(OwnProcess::Launcher.capability_mask(), 1 << 1);
}
