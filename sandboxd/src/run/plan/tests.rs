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
