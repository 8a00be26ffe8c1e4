//! Git repositories that hold the answer somewhere beyond HEAD, scrubbed by the real program.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use verdict::{GitScrubError, Untrusted, plan_git_scrub, read_git_scrub};

use super::{python_or_skip, skip};

/// Makes a repository whose future lies in every place where git keeps things.
const HISTORY: &str = r#"
set -e
git init -q -b main .
echo one > a; git add a; git commit -qm one
echo two > a; git commit -qam two
git checkout -q -b fix; echo ANSWER1 > a; git commit -qam ANSWER2; git tag v2; git tag -a -m ANSWER3 v3
git notes add -m ANSWER4; echo ANSWER5 > a; git stash -q
git checkout -q main; git merge -q fix; git reset -q --hard HEAD~1; git branch -q -D fix
git update-ref refs/remotes/origin/main v2
test -z "$PACKED" || { git gc -q; git pack-refs --all; }
echo ANSWER6 | git hash-object -w --stdin > loose; rm loose
echo ANSWER7 > b; git add b; rm b
echo ANSWER8 > .git/FETCH_HEAD; mkdir -p .git/hooks; echo ANSWER9 > .git/hooks/post-checkout
git config remote.origin.url https://example.invalid/ANSWER0
test -z "$DETACHED" || git checkout -q --detach main~1
git update-ref refs/replace/$(git rev-parse main~1) v2
test -z "$SHALLOW" || git rev-parse main > .git/shallow
"#;

/// Files by path.
type Files = Vec<(String, Vec<u8>)>;

fn git(folder: &Path) -> Command {
    let mut command = Command::new("git");
    command
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null");
    command
}

fn make(folder: &Path, settings: &[(&str, &str)]) {
    let names = [
        "AUTHOR_NAME",
        "AUTHOR_EMAIL",
        "COMMITTER_NAME",
        "COMMITTER_EMAIL",
    ];
    let who = names.map(|name| (format!("GIT_{name}"), "a"));
    let mut shell = Command::new("sh");
    shell.args(["-c", HISTORY]).current_dir(folder).envs(who);
    shell
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .envs(settings.iter().copied());
    let output = shell.output().expect("starts");
    assert!(output.status.success(), "{output:?}");
}

fn files_below(folder: &Path, below: &Path) -> Files {
    let mut found = Vec::new();
    let Ok(entries) = fs::read_dir(below) else {
        return found;
    };
    for entry in entries {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(files_below(folder, &path));
        } else {
            let name = path
                .strip_prefix(folder)
                .expect("below")
                .to_str()
                .expect("plain");
            found.push((name.to_owned(), fs::read(&path).expect("reads")));
        }
    }
    found
}

/// Scrubs a copy of the repositories among `files`, as a sandbox would.
fn scrub(
    python: &str,
    files: &[(String, Vec<u8>)],
) -> Result<BTreeMap<String, Vec<u8>>, GitScrubError> {
    let plan = plan_git_scrub(files.iter().map(|(path, _)| path.as_str()))?;
    let plan = plan.expect("a repository");
    let copy = tempfile::tempdir().expect("a private folder");
    let theirs = files.iter().filter(|(path, _)| plan.holds(path)).cloned();
    let ours = plan
        .files
        .iter()
        .map(|(path, (bytes, _))| (path.clone(), bytes.clone()));
    for (path, bytes) in theirs.chain(ours) {
        let path = copy.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("makes it");
        fs::write(path, bytes).expect("writes");
    }
    let output = Command::new(python)
        .args(plan.argv.iter().skip(1))
        .current_dir(copy.path())
        .output()
        .expect("starts");
    let made = files_below(copy.path(), &copy.path().join(".rollcage/git"));
    read_git_scrub(&plan, &Untrusted::new(output.stdout), made)
}

/// All of a repository in plain text: its files, and what its objects say.
fn plain(folder: &Path) -> String {
    let mut text = String::new();
    for (path, bytes) in files_below(folder, &folder.join(".git")) {
        text += &format!("{path} {}\n", String::from_utf8_lossy(&bytes));
    }
    let list = ["cat-file", "--batch-all-objects", "--batch"];
    let objects = git(folder).args(list).output().expect("starts");
    assert!(objects.status.success(), "{objects:?}");
    text + &String::from_utf8_lossy(&objects.stdout)
}

fn python_and_git(cases: usize) -> Option<String> {
    if Command::new("git").arg("--version").output().is_err() {
        skip("git", cases, "there is no git on this machine");
        return None;
    }
    python_or_skip(cases)
}

#[test]
fn nothing_of_the_future_is_left_in_a_scrubbed_repository() {
    let Some(python) = python_and_git(4) else {
        return;
    };
    let rows: [(&[(&str, &str)], &str); 4] = [
        (&[], "2"),
        (&[("PACKED", "1")], "2"),
        (&[("DETACHED", "1")], "1"),
        (&[("PACKED", "1"), ("SHALLOW", "1")], "1"),
    ];
    for (settings, commits) in rows {
        let folder = tempfile::tempdir().expect("a private folder");
        make(folder.path(), settings);
        // The control: the answer is there, in all these places.
        let before = plain(folder.path());
        for number in [1, 2, 4, 5, 6, 7, 8, 9, 0] {
            assert!(
                before.contains(&format!("ANSWER{number}")),
                "{settings:?} {number}"
            );
        }
        let files = files_below(folder.path(), folder.path());
        let made = scrub(&python, &files).expect("a repository");
        fs::remove_dir_all(folder.path().join(".git")).expect("removes");
        for (path, bytes) in &made {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("makes it");
            fs::write(path, bytes).expect("writes");
        }
        let after = plain(folder.path());
        assert!(!after.contains("ANSWER"), "{settings:?}\n{after}");
        let all = ["rev-list", "--all", "--reflog", "--count", "HEAD"];
        let counted = git(folder.path()).args(all).output().expect("starts");
        assert_eq!(
            String::from_utf8_lossy(&counted.stdout).trim(),
            commits,
            "{settings:?}"
        );
        let checked = git(folder.path())
            .args(["fsck", "--full"])
            .output()
            .expect("starts");
        assert!(checked.status.success(), "{settings:?} {checked:?}");
        let status = git(folder.path())
            .args(["status", "--porcelain"])
            .output()
            .expect("starts");
        assert_eq!(String::from_utf8_lossy(&status.stdout), "", "{settings:?}");
    }
}

#[test]
fn a_repository_that_cannot_be_made_anew_is_refused() {
    let Some(python) = python_and_git(4) else {
        return;
    };
    let folder = tempfile::tempdir().expect("a private folder");
    make(folder.path(), &[]);
    let whole = files_below(folder.path(), folder.path());
    let with = |change: &dyn Fn(&mut Files)| {
        let mut files = whole.clone();
        change(&mut files);
        scrub(&python, &files)
    };
    let refused = |made: Result<BTreeMap<String, Vec<u8>>, GitScrubError>, what: &str| {
        assert!(
            matches!(made, Err(GitScrubError::Refused { .. })),
            "{what}: {made:?}"
        );
    };
    let set = |files: &mut Files, path: &str, text: &str| {
        files.retain(|(name, _)| name != path);
        files.push((path.to_owned(), text.as_bytes().to_vec()));
    };
    refused(
        with(&|files| set(files, ".git/HEAD", "ref: refs/tags/v2\n")),
        "HEAD on a tag",
    );
    refused(
        with(&|files| set(files, ".git/HEAD", &"0".repeat(40))),
        "HEAD on nothing",
    );
    refused(
        with(&|files| files.retain(|(path, _)| !path.starts_with(".git/objects/"))),
        "no objects on a branch with a commit",
    );
    let table = "[core]\nrepositoryformatversion = 1\n[extensions]\nrefStorage = reftable\n";
    refused(
        with(&|files| set(files, ".git/config", table)),
        "another form of references",
    );
    let elsewhere = scrub(&python, &[("sub/.git".to_owned(), b"gitdir: /x".to_vec())]);
    assert!(matches!(elsewhere, Err(GitScrubError::Elsewhere { .. })));
}
