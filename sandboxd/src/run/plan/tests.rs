//! Tests of the environment a program starts with.

use super::*;

fn value<'a>(spec: &'a SpawnSpec, name: &str) -> Option<&'a [u8]> {
    let found = spec.env.iter().find(|(key, _)| key == name.as_bytes());
    found.map(|(_, value)| value.as_slice())
}

#[test]
fn defaults_are_there_and_the_request_wins() {
    let env = BTreeMap::from([
        ("LANG".to_owned(), "de_DE.UTF-8".to_owned()),
        ("X".to_owned(), "1".to_owned()),
    ]);
    let spec = spawn_spec(&[b"true".to_vec()], &env, "");
    assert_eq!(
        value(&spec, "PATH"),
        Some(&b"/usr/local/bin:/usr/bin:/bin"[..])
    );
    assert_eq!(value(&spec, "HOME"), Some(&b"/workspace"[..]));
    assert_eq!(value(&spec, "LANG"), Some(&b"de_DE.UTF-8"[..]));
    assert_eq!(value(&spec, "X"), Some(&b"1"[..]));
    assert_eq!(spec.env.len(), 6);
    assert_eq!(spec.cwd, "/workspace");
    assert_eq!(spawn_spec(&[], &env, "/tmp").cwd, "/tmp");
}

#[test]
fn no_program_of_ours_is_looked_for_among_a_solution_s_files() {
    let rows = [
        (
            "/workspace/bin:/workspace:/usr/bin:/bin",
            Some("/usr/bin:/bin"),
        ),
        ("/opt/rust/bin:/usr/bin/", Some("/opt/rust/bin:/usr/bin")),
        ("/workspaces/bin", Some("/workspaces/bin")),
        (
            "bin::.:/usr/../workspace/bin:/proc/self/cwd:/tmp/x:/dev/shm",
            None,
        ),
        ("", None),
    ];
    for (path, expected) in rows {
        let env = [("PATH", path), ("A", "b")];
        let env = env.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let made = env_for_ours(&env.into());
        assert_eq!(made.get("PATH").map(String::as_str), expected, "{path}");
        assert_eq!(made["A"], "b");
    }
}
