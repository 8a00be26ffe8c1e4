//! Files of a session.

use super::*;

#[test]
fn files_are_written_read_and_listed() {
    let mut workspace = Workspace::default();
    workspace.write("a/b", b"1".to_vec()).unwrap();
    workspace.write("/workspace/a/b", b"two".to_vec()).unwrap();
    assert_eq!(workspace.read("a/b").unwrap(), "two");
    assert_eq!(workspace.list(), json!([{ "path": "a/b", "bytes": 3 }]));
    assert_eq!(workspace.in_base64()["a/b"], "dHdv");
}

#[test]
fn what_cannot_be_is_told() {
    let mut workspace = Workspace::default();
    for path in ["", "/etc/x", "../x", "a/./b", "a//b", "/workspace/"] {
        assert!(workspace.write(path, Vec::new()).is_err(), "{path}");
    }
    workspace.write("a", Vec::new()).unwrap();
    assert!(workspace.write("a/b", Vec::new()).is_err());
    workspace.write("c/d", Vec::new()).unwrap();
    assert!(workspace.write("c", Vec::new()).is_err());
    assert!(workspace.write("large", vec![0; BYTES_MAX + 1]).is_err());
    assert!(workspace.read("none").is_err());
    workspace.write("binary", vec![0xff]).unwrap();
    assert!(workspace.read("binary").is_err());
}
