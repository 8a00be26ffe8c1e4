//! Files in and out.

use super::*;

fn put(source: &Path, destination: Option<&str>) -> Put {
    Put {
        source: source.to_owned(),
        destination: destination.map(str::to_owned),
    }
}

#[test]
fn folders_go_in_whole_with_their_modes() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    std::fs::create_dir_all(data.join("deep")).unwrap();
    std::fs::write(data.join("a.txt"), "a").unwrap();
    std::fs::write(data.join("deep/run.sh"), "b").unwrap();
    let executable = std::fs::Permissions::from_mode(0o700);
    std::fs::set_permissions(data.join("deep/run.sh"), executable).unwrap();
    let mut payload = Payload::new(100);
    payload.put(&put(&data, None)).unwrap();
    payload.put(&put(&data, Some("/workspace/in"))).unwrap();
    let files = payload.into_files();
    let seen: Vec<_> = files
        .iter()
        .map(|(path, file)| (path.as_str(), file.mode))
        .collect();
    assert_eq!(
        seen,
        [
            ("data/a.txt", Some(0o644)),
            ("data/deep/run.sh", Some(0o755)),
            ("in/a.txt", Some(0o644)),
            ("in/deep/run.sh", Some(0o755)),
        ]
    );
}

#[test]
fn a_file_too_large_is_refused_before_it_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("big");
    // Sparse: reading it would take memory, looking at it does not.
    File::create(&path).unwrap().set_len(200 << 20).unwrap();
    let failure = Payload::new(64 << 20).put(&put(&path, None)).unwrap_err();
    assert!(matches!(failure, Failure::TooLarge { bytes, .. } if bytes == 200 << 20));
}

#[test]
fn links_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/etc/passwd", folder.path().join("link")).unwrap();
    let failure = Payload::new(100)
        .put(&put(folder.path(), Some("x")))
        .unwrap_err();
    assert!(failure.to_string().contains("link"), "{failure}");
}

#[test]
fn destinations_stay_below_workspace() {
    for (written, path) in [
        ("a/b", "a/b"),
        ("/workspace/a", "a"),
        ("./a", "a"),
        ("/workspace", ""),
        ("workspace", "workspace"),
    ] {
        assert_eq!(workspace_path(written).unwrap(), path, "{written}");
    }
    for written in ["../a", "/etc/passwd", "/workspace/../etc", "/workspacex/a"] {
        assert!(workspace_path(written).is_err(), "{written}");
    }
}

fn collected(path: &str) -> pb::CollectedFile {
    pb::CollectedFile {
        path: path.to_owned(),
        content: b"x".to_vec(),
        mode: 0o6777,
    }
}

#[test]
fn collected_files_stay_in_their_folder() {
    let folder = tempfile::tempdir().unwrap();
    for path in ["../x", "/x", "", "a/../../x", "."] {
        assert!(save(folder.path(), &[&collected(path)]).is_err(), "{path}");
    }
    std::os::unix::fs::symlink("/nonexistent/elsewhere", folder.path().join("out")).unwrap();
    let files = [collected("out"), collected("deep/out")];
    save(folder.path(), &files.each_ref()).unwrap();
    assert_eq!(std::fs::read(folder.path().join("deep/out")).unwrap(), b"x");
    let mode = std::fs::symlink_metadata(folder.path().join("out"))
        .unwrap()
        .permissions()
        .mode();
    // No set-id bits, and nothing that others could write.
    assert_eq!(mode & 0o7777, 0o755);
}

#[test]
fn what_others_left_in_the_folder_leads_nowhere_else() {
    let top = tempfile::tempdir().unwrap();
    let (folder, outside) = (top.path().join("to"), top.path().join("outside"));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::create_dir_all(&outside).unwrap();
    std::fs::write(outside.join("own"), "mine").unwrap();
    std::os::unix::fs::symlink("../outside", folder.join("link")).unwrap();
    std::fs::hard_link(outside.join("own"), folder.join("hard")).unwrap();
    nix::unistd::mkfifo(&folder.join("pipe"), FileMode::from_bits_truncate(0o600)).unwrap();
    let failure = save(&folder, &[&collected("link/own")]).unwrap_err();
    assert!(matches!(failure, Failure::Write { .. }), "{failure}");
    let files = [collected("hard"), collected("pipe")];
    save(&folder, &files.each_ref()).unwrap();
    assert_eq!(
        std::fs::read_to_string(outside.join("own")).unwrap(),
        "mine"
    );
    for name in ["hard", "pipe"] {
        assert_eq!(std::fs::read_to_string(folder.join(name)).unwrap(), "x");
    }
    // A folder in the place of a file: refused, and nothing half-written is left.
    std::fs::create_dir_all(folder.join("taken/by")).unwrap();
    assert!(save(&folder, &[&collected("taken")]).is_err());
    let left = std::fs::read_dir(&folder).unwrap().flatten();
    let left: Vec<_> = left.map(|entry| entry.file_name()).collect();
    assert!(
        !left
            .iter()
            .any(|name| name.to_string_lossy().starts_with('.')),
        "{left:?}"
    );
}

#[test]
fn a_wildcard_does_not_ask_for_hidden_names() {
    let files = ["a/out", ".git/hooks/pre-commit", "b/.envrc", "x\u{1b}[2J"].map(collected);
    let asked = |words: &[&str]| {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let (wanted, hidden) = asked_for(&words, &files);
        let wanted: Vec<String> = wanted.into_iter().map(|file| file.path.clone()).collect();
        assert_eq!(wanted.len() + hidden.len(), files.len());
        wanted
    };
    assert_eq!(asked(&["**", "*"]), ["a/out"]);
    assert_eq!(
        asked(&["**", ".git/**"]),
        ["a/out", ".git/hooks/pre-commit"]
    );
    assert_eq!(asked(&["**", "b/.env*"]).len(), 3);
    assert_eq!(
        asked(&["/workspace/b/.envrc", "a/*"]),
        ["a/out", "b/.envrc"]
    );
    assert_eq!(asked(&["x\u{1b}[2J"]), ["a/out", "x\u{1b}[2J"]);
}

#[test]
fn what_is_no_file_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    nix::unistd::mkfifo(&pipe, FileMode::from_bits_truncate(0o600)).unwrap();
    let failure = Payload::new(100)
        .put(&put(folder.path(), Some("x")))
        .unwrap_err();
    assert!(failure.to_string().contains("pipe"), "{failure}");
    // Without end: read up to what fits, and no further.
    let endless = put(Path::new("/dev/zero"), Some("zero"));
    let failure = Payload::new(100).put(&endless).unwrap_err();
    assert!(
        matches!(failure, Failure::TooLarge { bytes: 101, .. }),
        "{failure}"
    );
}

/// Somebody swaps a folder with a link while it is being put: nothing from behind the link goes in.
#[test]
fn a_folder_that_is_swapped_with_a_link_gives_nothing_from_elsewhere() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let top = tempfile::tempdir().unwrap();
    let (data, outside) = (top.path().join("data"), top.path().join("outside"));
    for folder in [&outside, &data.join("deep")] {
        std::fs::create_dir_all(folder).unwrap();
    }
    std::fs::write(outside.join("file"), "sentinel").unwrap();
    std::fs::write(data.join("deep/file"), "own").unwrap();
    std::os::unix::fs::symlink(&outside, top.path().join("link")).unwrap();
    let stop = AtomicBool::new(false);
    let (mut whole, mut refused) = (0, 0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                let (deep, link) = (data.join("deep"), top.path().join("link"));
                let flags = nix::fcntl::RenameFlags::RENAME_EXCHANGE;
                let here = nix::fcntl::AT_FDCWD;
                nix::fcntl::renameat2(here, &deep, here, &link, flags).unwrap();
            }
        });
        for _ in 0..2_000 {
            let mut payload = Payload::new(1_000);
            match payload.put(&put(&data, Some("x"))) {
                Ok(()) => {
                    whole += 1;
                    let files = payload.into_files();
                    assert!(
                        files.values().all(|file| file.content == b"own"),
                        "{files:?}"
                    );
                }
                Err(_) => refused += 1,
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert_eq!(whole + refused, 2_000);
}

#[test]
fn two_files_for_one_place_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a", "b"] {
        std::fs::write(folder.path().join(name), name).unwrap();
    }
    let mut payload = Payload::new(100);
    let place = Some("same");
    payload.put(&put(&folder.path().join("a"), place)).unwrap();
    payload.put(&put(&folder.path().join("a"), place)).unwrap();
    let failure = payload
        .put(&put(&folder.path().join("b"), place))
        .unwrap_err();
    assert!(failure.to_string().contains("/workspace/same"), "{failure}");
}

/// Somebody swaps a folder with a link while files are brought back into it.
#[test]
fn a_folder_that_is_swapped_with_a_link_gets_what_is_meant_for_it_or_nothing() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let top = tempfile::tempdir().unwrap();
    let (to, outside) = (top.path().join("to"), top.path().join("outside"));
    for folder in [&outside, &to.join("deep")] {
        std::fs::create_dir_all(folder).unwrap();
    }
    std::fs::write(outside.join("file"), "sentinel").unwrap();
    let (deep, link) = (to.join("deep"), top.path().join("link"));
    std::os::unix::fs::symlink(&outside, &link).unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let here = nix::fcntl::AT_FDCWD;
            while !stop.load(Ordering::Relaxed) {
                let flags = nix::fcntl::RenameFlags::RENAME_EXCHANGE;
                nix::fcntl::renameat2(here, &deep, here, &link, flags).unwrap();
            }
        });
        for _ in 0..2_000 {
            // Written, or refused for the link.
            if let Err(failure) = save(&to, &[&collected("deep/file")]) {
                assert!(matches!(failure, Failure::Write { .. }), "{failure}");
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    let text = std::fs::read_to_string(outside.join("file")).unwrap();
    assert_eq!(text, "sentinel");
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 1);
}
