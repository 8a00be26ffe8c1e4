//! Policies by interpreter.

use super::*;
use crate::testing::builtin;

#[test]
fn endings_and_programs() {
    for (extension, policy) in [
        ("py", "python"),
        (".py", "python"),
        ("JS", "node"),
        ("mjs", "node"),
        ("sh", "shell"),
        ("rb", "shell"),
        ("lua", "shell"),
        ("go", "build"),
        ("rs", "build"),
        ("c", "build"),
        ("cpp", "build"),
        ("java", "build"),
        ("", "shell"),
        ("unheard", "shell"),
    ] {
        assert_eq!(policy_for_extension(extension), policy, "{extension}");
    }
    for (program, policy) in [
        ("python3", "python"),
        ("/usr/bin/python3.11", "python"),
        ("pypy3", "python"),
        ("node", "node"),
        ("nodejs", "node"),
        ("bash", "shell"),
        ("/bin/sh", "shell"),
        ("gcc-12", "build"),
        ("g++", "build"),
        ("cargo", "build"),
        ("./a.out", "shell"),
        ("", "shell"),
        ("7", "shell"),
    ] {
        assert_eq!(policy_for_program(program), policy, "{program}");
    }
}

#[test]
fn every_policy_named_here_is_in_the_catalog() {
    let catalog = builtin();
    for (policy, _) in BY_EXTENSION
        .iter()
        .chain(BY_PROGRAM)
        .chain(&[(OTHERWISE, &[] as &[&str])])
    {
        assert!(catalog.get(policy).is_some(), "{policy}");
    }
}
