//! A receiver that has no descriptors left. What frames mean is not known here.

use std::fs::File;
use std::os::fd::AsFd;
use std::process::Command;

use nix::sys::resource::{Resource, getrlimit, setrlimit};

use super::*;

/// Set in the copy of this program that has no descriptors left.
const COPY: &str = "ROLLCAGE_TEST_WITHOUT_DESCRIPTORS";
/// As many as a process may have there.
const OPEN_MAX: u64 = 64;

fn files(count: usize) -> Vec<File> {
    (0..count)
        .map(|_| File::open("/dev/null").unwrap())
        .collect()
}

/// Opens files until no number is free.
fn fill() -> Vec<File> {
    let mut all = Vec::new();
    while let Ok(file) = File::open("/dev/null") {
        all.push(file);
    }
    all
}

fn send_with(socket: BorrowedFd<'_>, frame: u32, files: &[File]) {
    let fds: Vec<_> = files.iter().map(AsFd::as_fd).collect();
    send(socket, &frame, &fds).unwrap();
}

/// In a process of its own: the limit counts for all threads.
#[test]
fn without_descriptors_left_a_frame_comes_with_fewer_and_none_leaks() {
    if std::env::var_os(COPY).is_none() {
        let own = std::env::current_exe().unwrap();
        let name =
            "packet::tests::without_descriptors_left_a_frame_comes_with_fewer_and_none_leaks";
        let mut copy = Command::new(own);
        copy.args([name, "--exact", "--nocapture"]).env(COPY, "1");
        let ended = copy.output().unwrap();
        let told = String::from_utf8_lossy(&ended.stdout);
        assert!(ended.status.success(), "{ended:?}");
        assert!(told.contains("1 passed"), "{told}");
        return;
    }
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    setrlimit(Resource::RLIMIT_NOFILE, OPEN_MAX.min(hard), hard).unwrap();
    let (ours, theirs) = pair().unwrap();
    let sent = files(3);
    for free in 0..=3 {
        send_with(theirs.as_fd(), 7, &sent);
        send_with(theirs.as_fd(), 8, &[]);
        let mut full = fill();
        full.truncate(full.len() - free);
        let (frame, fds) = receive::<u32>(ours.as_fd(), true).unwrap().unwrap();
        assert_eq!((frame, fds.len()), (7, free));
        // The next one comes as it was sent.
        let (frame, none) = receive::<u32>(ours.as_fd(), true).unwrap().unwrap();
        assert_eq!((frame, none.len()), (8, 0));
        // As many are free as before: nothing stayed open that nobody holds.
        drop(fds);
        assert_eq!(fill().len(), free);
    }
}
