//! Patches that apply, and what is said of those that do not.

use super::*;

fn tree(files: &[(&str, &str)]) -> Tree {
    let file = |text: &str| pb::File {
        content: text.as_bytes().to_vec(),
        mode: Some(0o644),
    };
    files
        .iter()
        .map(|(path, text)| ((*path).to_owned(), file(text)))
        .collect()
}

fn text(tree: &Tree, path: &str) -> Option<String> {
    let file = tree.get(path)?;
    Some(String::from_utf8(file.content.clone()).expect("text"))
}

fn refused(files: &Tree, patch: &str) -> String {
    apply(files, patch.as_bytes())
        .expect_err("it does not apply")
        .to_string()
}

const TWO: &str = "one\ntwo\nthree\nfour\nfive\nsix\n";

#[test]
fn changes_additions_and_removals() {
    let files = tree(&[("a.txt", TWO), ("gone.txt", "x\n"), ("old/name.txt", "n\n")]);
    let patch = "\
words before, as in a mail
diff --git a/a.txt b/a.txt
index 1..2 100644
--- a/a.txt
+++ b/a.txt
@@ -1,3 +1,4 @@ heading
 one
-two
+2
+2.5
 three
@@ -6 +7 @@
-six
+6
\\ No newline at end of file
diff --git a/gone.txt b/gone.txt
deleted file mode 100644
--- a/gone.txt
+++ /dev/null
@@ -1 +0,0 @@
-x
diff --git a/bin/new b/bin/new
new file mode 100755
--- /dev/null
+++ b/bin/new
@@ -0,0 +1,2 @@
+#!/bin/sh
+
diff --git a/empty.txt b/empty.txt
new file mode 100644
index 0000000..e69de29
diff --git a/old/name.txt b/new/name.txt
similarity index 100%
rename from old/name.txt
rename to new/name.txt
";
    let after = apply(&files, patch.as_bytes()).expect("it applies");
    let names: Vec<&str> = after.keys().map(String::as_str).collect();
    assert_eq!(names, ["a.txt", "bin/new", "empty.txt", "new/name.txt"]);
    assert_eq!(
        text(&after, "a.txt").as_deref(),
        Some("one\n2\n2.5\nthree\nfour\nfive\n6")
    );
    assert_eq!(after["bin/new"].mode, Some(0o755));
    assert_eq!(text(&after, "empty.txt").as_deref(), Some(""));
    assert_eq!(text(&after, "new/name.txt").as_deref(), Some("n\n"));
}

#[test]
fn a_plain_diff_with_times() {
    let patch = "--- ./a.txt\t2020-01-01\n+++ ./a.txt\t2020-01-02\n@@ -2 +2 @@\n-two\n+2\n";
    let after = apply(&tree(&[("a.txt", TWO)]), patch.as_bytes()).expect("it applies");
    assert!(text(&after, "a.txt").is_some_and(|text| text.starts_with("one\n2\nthree")));
}

#[test]
fn a_hunk_that_moved_goes_to_its_only_place() {
    let moved = format!("new first line\n{TWO}");
    let patch = "--- a/a.txt\n+++ b/a.txt\n@@ -2 +2 @@\n-two\n+2\n";
    let after = apply(&tree(&[("a.txt", &moved)]), patch.as_bytes()).expect("it applies");
    assert!(text(&after, "a.txt").is_some_and(|text| text.contains("one\n2\nthree")));
    let twice = tree(&[("a.txt", "x\nother\ntwo\ntwo\n")]);
    assert_eq!(
        refused(&twice, patch),
        "a.txt: hunk 1: its lines are not at line 2, and at more than one other place"
    );
    assert_eq!(
        refused(&tree(&[("a.txt", "x\n")]), patch),
        "a.txt: hunk 1: the lines that it changes (from line 2) are not in the file"
    );
}

#[test]
fn what_is_no_patch_or_does_not_fit() {
    let files = tree(&[("a.txt", TWO)]);
    let head = "--- a/a.txt\n+++ b/a.txt\n";
    let cases = [
        ("def f(): pass\n".to_owned(), "no file is changed"),
        (
            format!("{head}@@ -2 +2 @@\n-two\n"),
            "in the middle of a hunk",
        ),
        (
            format!("{head}@@ -2 +2 @@\n?two\n"),
            "line 4: a line of a hunk",
        ),
        (format!("{head}@@ two @@\n"), "@@ -N,N +N,N @@"),
        (head.to_owned(), "without a hunk"),
        ("@@ -1 +1 @@\n-a\n+b\n".to_owned(), "before any file name"),
        (
            "--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-a\n+b\n".to_owned(),
            "no file b.txt",
        ),
        (
            "--- a/../x\n+++ b/../x\n@@ -1 +1 @@\n-a\n+b\n".to_owned(),
            "`..`",
        ),
        (
            "--- /etc/passwd\n+++ /etc/passwd\n@@ -1 +1 @@\n-a\n+b\n".to_owned(),
            "not relative",
        ),
        (
            "--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+a\n".to_owned(),
            "there already",
        ),
        (
            "--- a/a.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n".to_owned(),
            "more is in it",
        ),
        (
            "diff --git a/i.png b/i.png\nBinary files a/i.png and b/i.png differ\n".to_owned(),
            "binary",
        ),
        (
            "diff --git a/l b/l\nnew file mode 120000\n".to_owned(),
            "only regular files",
        ),
    ];
    for (patch, says) in cases {
        let said = refused(&files, &patch);
        assert!(said.contains(says), "{patch}: {said}");
    }
}
