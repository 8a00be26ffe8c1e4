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
    std::fs::File::create(&path)
        .unwrap()
        .set_len(200 << 20)
        .unwrap();
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

#[test]
fn collected_files_stay_in_their_folder() {
    let folder = tempfile::tempdir().unwrap();
    let file = |path: &str| pb::CollectedFile {
        path: path.to_owned(),
        content: b"x".to_vec(),
        mode: 0o4755,
    };
    for path in ["../x", "/x", "", "a/../../x", "."] {
        assert!(save(folder.path(), &[file(path)]).is_err(), "{path}");
    }
    std::os::unix::fs::symlink("/nonexistent/elsewhere", folder.path().join("out")).unwrap();
    save(folder.path(), &[file("out"), file("deep/out")]).unwrap();
    assert_eq!(std::fs::read(folder.path().join("deep/out")).unwrap(), b"x");
    let mode = std::fs::symlink_metadata(folder.path().join("out"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o7777, 0o755);
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
