//! Manifests, on small texts.

use super::{member, root};

#[test]
fn each_outside_dependency_says_why() {
    let text = "[workspace.dependencies]\nown = { path = \"own\" }\n\n# Why.\na = \"1\"\nb = \"2\"\n\n\
                [profile.dev]\ndebug = 1\n";
    let findings = root(text);
    assert_eq!(findings.len(), 1);
    assert!(
        findings[0].to_string().starts_with("Cargo.toml:6:"),
        "{}",
        findings[0]
    );
}

#[test]
fn versions_stand_in_the_root_only() {
    let good = "[package]\nname = \"a\"\n[dependencies]\nb.workspace = true\n\
                c = { workspace = true, features = [\"x\"] }\n";
    assert_eq!(member("a/Cargo.toml", good), []);
    assert_eq!(
        member("a/Cargo.toml", "[dependencies]\nb = \"1\"\n").len(),
        1
    );
    assert_eq!(
        member(
            "a/Cargo.toml",
            "[dev-dependencies]\nb = { path = \"../b\" }\n"
        )
        .len(),
        1
    );
    assert_eq!(
        member(
            "a/Cargo.toml",
            "[target.'cfg(unix)'.dependencies]\nb = \"1\"\n"
        )
        .len(),
        1
    );
}
