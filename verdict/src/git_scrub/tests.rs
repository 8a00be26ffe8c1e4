//! Which repositories are found, and what of an answer is believed.

use super::{GitScrubError, plan_git_scrub, read_git_scrub};
use crate::untrusted::Untrusted;

const ONE: [&str; 4] = [
    "a.py",
    ".git/HEAD",
    ".git/objects/12/34",
    ".git/refs/heads/main",
];

fn answered(stdout: &str, files: &[&str]) -> Result<Vec<String>, GitScrubError> {
    let plan = plan_git_scrub(ONE).expect("plans").expect("a repository");
    let files = files
        .iter()
        .map(|path| ((*path).to_owned(), Vec::new()))
        .collect();
    let stdout = Untrusted::new(stdout.as_bytes().to_vec());
    read_git_scrub(&plan, &stdout, files).map(|made| made.into_keys().collect())
}

#[test]
fn repositories_are_found_wherever_they_lie() {
    let found = |paths: &[&str]| {
        let plan = plan_git_scrub(paths.iter().copied()).expect("plans");
        plan.map(|plan| plan.repositories)
    };
    assert_eq!(found(&["a.py", "b/HEAD"]), None);
    assert_eq!(found(&ONE), Some(vec![".git".to_owned()]));
    let paths = [
        ".git/HEAD",
        ".git/modules/x/HEAD",
        ".git/modules/x/objects/1",
        ".git/modules/x/refs/heads/y",
        "old.git/HEAD",
        "old.git/objects/pack/p.pack",
        "old.git/refs/tags/z",
        "sub/.git/HEAD",
    ];
    let all = [".git", "old.git", "sub/.git"].map(str::to_owned).to_vec();
    assert_eq!(found(&paths), Some(all));
    // Folders without a file are not carried over: packed, a repository has no folder of references.
    let packed = [
        "a.git/HEAD",
        "a.git/objects/pack/pack-1.idx",
        "a.git/packed-refs",
    ];
    assert_eq!(found(&packed), Some(vec!["a.git".to_owned()]));
    // What git would not take for one holds its objects all the same.
    for path in [
        "a/.git/objects/12/34",
        "a/.git/x",
        "a/objects/pack/pack-1.pack",
    ] {
        let folder = path.split("/objects").next().expect("a folder");
        let folder = folder.strip_suffix("/x").unwrap_or(folder);
        assert_eq!(found(&[path]), Some(vec![folder.to_owned()]), "{path}");
        assert!(super::holds_git([path]));
    }
    assert!(!super::holds_git(["HEAD", "a/HEAD", "a/.gitignore"]));
    for paths in [["HEAD", "objects/12/34"], ["x", "objects/pack/pack-1.pack"]] {
        let bare = plan_git_scrub(paths);
        assert_eq!(bare, Err(GitScrubError::AtRoot), "{paths:?}");
    }
    let elsewhere = plan_git_scrub(["sub/.git", "a"]);
    assert!(matches!(elsewhere, Err(GitScrubError::Elsewhere { .. })));
}

#[test]
fn only_what_the_program_makes_comes_back() {
    let done = r#"{"repositories": [{"path": ".git", "commits": 2, "objects": 6}]}"#;
    let made = answered(
        done,
        &[
            ".rollcage/git/0/HEAD",
            ".rollcage/git/0/objects/pack/pack-0af9.pack",
            ".rollcage/git/0/refs/heads/main",
        ],
    );
    let expected = [
        ".git/HEAD",
        ".git/objects/pack/pack-0af9.pack",
        ".git/refs/heads/main",
    ];
    assert_eq!(made.expect("a repository"), expected);
    for more in [
        "0/logs/HEAD",
        "0/packed-refs",
        "0/hooks/pre-commit",
        "0/objects/info/alternates",
        "0/ORIG_HEAD",
        "1/HEAD",
        "x/HEAD",
        "0/refs/tags/v1",
        "0/objects/12/34",
    ] {
        let more = format!(".rollcage/git/{more}");
        let made = answered(done, &[".rollcage/git/0/HEAD", &more]);
        assert!(matches!(made, Err(GitScrubError::Failed { .. })), "{more}");
    }
    for answer in [
        "",
        "{}",
        "[]",
        r#"{"repositories": []}"#,
        r#"{"repositories": [{"path": "x"}]}"#,
    ] {
        let made = answered(answer, &[".rollcage/git/0/HEAD"]);
        assert!(
            matches!(made, Err(GitScrubError::Failed { .. })),
            "{answer}"
        );
    }
    assert!(matches!(
        answered(done, &[]),
        Err(GitScrubError::Failed { .. })
    ));
    let refused = answered(r#"{"path": ".git", "refused": "HEAD is no commit"}"#, &[]);
    assert!(matches!(refused, Err(GitScrubError::Refused { .. })));
}
