//! Files that cannot be or harm, on their way in and on their way out.

use serde_json::{Map, Value, json};

use crate::world::{World, limited, python};

/// Names that differ for the kernel, whatever they look like.
const ALIKE: [&str; 8] = [
    "name",
    "Name",
    "NAME",
    "name ",
    "n\u{e4}me",
    "na\u{308}me",
    "\u{ff4e}ame",
    "name\u{200b}",
];

#[test]
fn files_that_look_alike_stay_apart_and_odd_names_come_back_as_they_are() {
    let test = "files_that_look_alike_stay_apart_and_odd_names_come_back_as_they_are";
    let Some(world) = World::start(test) else {
        return;
    };
    let odd = [
        "-rf",
        "*",
        "?",
        "a b\tc",
        "\"'`$(id)",
        "..x",
        ".hidden",
        "x.",
        "\\",
        "\u{202e}txt",
    ];
    let (long, deep) = ("l".repeat(255), ["d"; 600].join("/"));
    let mut files = Map::new();
    for name in ALIKE
        .iter()
        .chain(&odd)
        .copied()
        .chain([long.as_str(), &deep])
    {
        files.insert(name.to_owned(), json!(name));
    }
    let count = files.len();
    let outcome = world.run(&json!({
        "policy": "python", "files": files, "argv": ["python3", "-c", "pass"], "collect": ["**"],
    }));
    outcome.exited(0);
    assert_eq!(
        outcome.result.files.len(),
        count,
        "{:?}",
        outcome.result.files_missing
    );
    for file in &outcome.result.files {
        assert_eq!(file.content, file.path.as_bytes());
    }
}

#[test]
fn files_that_cannot_be_are_refused_before_anything_is_made() {
    let test = "files_that_cannot_be_are_refused_before_anything_is_made";
    let Some(world) = World::start(test) else {
        return;
    };
    let (long, far) = ("l".repeat(256), ["dd"; 1_400].join("/"));
    let names = [
        "/etc/passwd",
        "/workspace/../etc/x",
        "..",
        "../x",
        "a/../../x",
        "",
        "/",
        "a//b",
        "a/",
        "./a",
        "a/.",
        "a\u{0}b",
        "/workspace",
        "/workspace/",
        "/proc/self/root/x",
        &long,
        &far,
    ];
    let sets = [
        json!({ "a": "x", "a/b": "y" }),
        json!({ "a/b/c": "x", "a/b": "y" }),
        json!({ "a": "x", "/workspace/a": "y" }),
        json!({ "a": { "text": "x", "mode": 0o4755 } }),
    ];
    let single = names.iter().map(|name| json!({ *name: "x" }));
    let bad: Vec<Value> = single.chain(sets).collect();
    let mut lines = String::new();
    for files in &bad {
        let line = json!({ "policy": "shell", "argv": ["true"], "files": files });
        lines.push_str(&format!("{line}\n"));
    }
    // More files than the policy lets a sandbox have, empty each.
    let many: Map<String, Value> = (0..20_001)
        .map(|number| (format!("f{number}"), json!("")))
        .collect();
    let line = json!({ "policy": "python", "argv": ["true"], "files": many });
    lines.push_str(&format!("{line}\n"));
    let (spoken, results) = world.batch(&lines);
    spoken.ended(0);
    assert_eq!(results.len(), bad.len() + 1);
    for result in &results {
        assert!(result["ending"].is_null(), "{result}");
        let field = result["error"]["field"].as_str().expect("a field");
        assert!(field.starts_with("files"), "{result}");
    }
    assert!(world.instance().sandbox_groups().is_empty());
}

/// Everything that can stand where a file was asked for.
const OUTPUTS: &str = r#"
import os, socket
os.mkfifo("fifo")
socket.socket(socket.AF_UNIX).bind("socket")
os.mkdir("folder"); open("folder/x", "w").write("x")
os.symlink("/etc/passwd", "link")
os.symlink("loop", "loop")
os.symlink("link", "chain")
os.symlink("folder", "way")
os.symlink("/proc/self/fd/0", "magic")
with open("sparse", "w") as file: file.truncate(200 << 20)
open("closed", "w").write("x"); os.chmod("closed", 0)
for kind in (0o020000, 0o060000):
    try: os.mknod(f"device{kind}", kind | 0o666, os.makedev(1, 3))
    except PermissionError: print("refused")
for name in ("/etc/passwd", "/usr/bin/env", "/proc/version"):
    try: os.link(name, "hard" + str(len(name)))
    except OSError: print("refused")
with open(b"bad\xff", "w") as file: file.write("x")
open("fine", "w").write("fine")
for _ in range(2500):
    os.mkdir("deep"); os.chdir("deep")
open("bottom", "w").write("x")
"#;

#[test]
fn what_is_no_file_is_told_and_never_waited_for() {
    let Some(world) = World::start("what_is_no_file_is_told_and_never_waited_for") else {
        return;
    };
    let asked = [
        "fifo",
        "socket",
        "folder",
        "link",
        "loop",
        "chain",
        "way/x",
        "magic",
        "sparse",
        "closed",
        "device8192",
        "device24576",
        "hard11",
        "hard12",
        "hard13",
        "none",
    ];
    let mut request = limited(python(OUTPUTS), json!({ "disk_bytes_max": 256 << 20 }));
    let all: Vec<&str> = asked.into_iter().chain(["fine", "bad*"]).collect();
    request["collect"] = json!(all);
    let outcome = world.run(&request);
    outcome.exited(0);
    assert_eq!(outcome.stdout(), "refused\n".repeat(5));
    let paths = |outcome: &crate::world::Outcome| {
        let files = outcome.result.files.iter();
        let mut paths: Vec<String> = files.map(|file| file.path.clone()).collect();
        paths.sort();
        paths
    };
    assert_eq!(paths(&outcome), ["fine"]);
    let missing = &outcome.result.files_missing;
    for name in asked {
        assert!(
            missing.iter().any(|one| one.path == name),
            "{name}: {missing:?}"
        );
    }
    assert!(
        missing.iter().any(|one| one.reason.contains("UTF-8")),
        "{missing:?}"
    );
    // All of it by wildcard: as many as can be had, in time.
    request["collect"] = json!(["**"]);
    let outcome = world.run(&request);
    assert_eq!(
        paths(&outcome),
        ["fine", "folder/x", "main.py"],
        "{:?}",
        outcome.result.files_missing
    );
}

#[test]
fn as_many_files_as_a_disk_holds_come_out_in_time_or_are_told() {
    let test = "as_many_files_as_a_disk_holds_come_out_in_time_or_are_told";
    let Some(world) = World::start(test) else {
        return;
    };
    let code = "import os\ncount = 0\ntry:\n    while True:\n        \
                os.makedirs(f'd{count % 50}', exist_ok=True)\n        \
                open(f'd{count % 50}/{count}', 'w').close()\n        count += 1\n\
                except OSError as error: print(error.errno, count > 15000)\n";
    let mut request = python(code);
    request["collect"] = json!(["**"]);
    let outcome = world.run(&request);
    assert_eq!(outcome.exited(0).stdout(), "28 True\n");
    assert_eq!(outcome.result.files.len(), 10_000);
    let told = &outcome.result.files_missing;
    assert!(
        told.iter().any(|one| one.reason.contains("10000 files")),
        "{:?}",
        told.first()
    );
    assert!(told.len() <= 257, "{}", told.len());
}
