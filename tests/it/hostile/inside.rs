//! From inside: our own programs overwritten, our own command called, policies and configuration made,
//! working folders and program names that lead out.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::json;
use sha2::{Digest, Sha256};
use verdict::Ending;

use super::{SENTINEL, is_unchanged, place, plant};
use crate::modes::Mode;
use crate::nobody::Nobody;
use crate::skips;
use crate::world::{World, python};

fn digests(folder: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(folder).expect("list the programs").flatten();
    let digest = |entry: fs::DirEntry| {
        let bytes = fs::read(entry.path()).expect("read a program");
        let name = entry.file_name().to_string_lossy().into_owned();
        (name, hex::encode(Sha256::digest(bytes)))
    };
    entries.map(digest).collect()
}

/// Opens every program that runs and can be seen, for writing, while others of the sandbox come and go.
const OVERWRITE: &str = r#"
import os, subprocess, time
reached = []
end = time.time() + 1.5
while time.time() < end:
    child = subprocess.Popen(["true"])
    for pid in os.listdir("/proc"):
        if not pid.isdigit(): continue
        for name in (f"/proc/{pid}/exe", f"/proc/{pid}/task/{pid}/exe", f"/proc/{pid}/map_files"):
            try:
                os.close(os.open(name, os.O_WRONLY))
                reached.append(name)
            except OSError: pass
    child.wait()
print(reached)
"#;

#[test]
fn our_programs_cannot_be_overwritten_through_their_processes() {
    let test = "our_programs_cannot_be_overwritten_through_their_processes";
    if !skips::is_root(test) {
        return;
    }
    let before = digests(&skips::bin_dir());
    let Some(world) = World::start(test) else {
        return;
    };
    assert_eq!(world.python(OVERWRITE).exited(0).stdout(), "[]\n");
    for policy in ["node", "build"] {
        let mut request = python(OVERWRITE);
        request["policy"] = json!(policy);
        assert_eq!(world.run(&request).exited(0).stdout(), "[]\n");
    }
    // What runs as "myself" before the exec is pid 1's own program, from sealed memory: as a program
    // of a sandbox it has no more rights than any other, and no work.
    let script = json!({ "text": "#!/proc/self/exe\n", "mode": 0o755 });
    for (argv, files) in [
        (json!(["/proc/self/exe"]), json!({})),
        (json!(["/proc/1/exe"]), json!({})),
        (json!(["./x"]), json!({ "x": script })),
    ] {
        let outcome = world.run(&json!({ "policy": "build", "argv": argv, "files": files }));
        assert_ne!(
            outcome.ending,
            Ending::Exited { code: 0 },
            "{argv}: {outcome:?}"
        );
    }
    assert_eq!(digests(&skips::bin_dir()), before);
}

#[test]
fn a_working_folder_leads_nowhere_outside() {
    let test = "a_working_folder_leads_nowhere_outside";
    let hidden = place(Path::new("/opt"));
    let sentinel = plant(hidden.path(), "sentinel");
    let Some(world) = World::start(test) else {
        return;
    };
    let path = sentinel.to_string_lossy();
    let code = format!(
        "import os\nhere = os.getcwd()\nassert here.startswith('/'), here\n\
         for up in ('', '../', '../../', '../../../', '../../../../', '../../../../../../'):\n    \
         assert not os.path.exists(up + {:?}), (here, up)\n\
         assert os.stat('/').st_ino == os.stat('/proc/self/root').st_ino\n",
        path.trim_start_matches('/')
    );
    let descriptors = (0..64).map(|number| format!("/proc/self/fd/{number}"));
    let others = [
        "/proc/1/root",
        "/proc/1/cwd",
        "/proc/self/root",
        "/proc/self/cwd",
        "/proc/thread-self/root",
        "/proc/self/task/1/root",
        "/proc/1/fd",
        "/proc/self/ns",
        "/dev/fd",
        "/dev/fd/3",
        "/",
        "/proc",
    ];
    let mut requests = Vec::new();
    for cwd in descriptors.chain(others.map(str::to_owned)) {
        requests.push(json!({ "policy": "python", "argv": ["python3", "-c", code], "cwd": cwd }));
    }
    let mut started = 0;
    for chunk in requests.chunks(8) {
        for (request, outcome) in chunk.iter().zip(world.run_at_once(chunk)) {
            match outcome.ending {
                Ending::Exited { code: 0 } => started += 1,
                Ending::NotStarted { .. } => {}
                ref other => panic!("{}: {other:?} {}", request["cwd"], outcome.stderr()),
            }
        }
    }
    // The control: `/` and `/proc` are folders like others.
    assert!(started >= 2, "{started}");
    for cwd in [
        "proc/self/fd/3",
        "..",
        "/workspace/..",
        "/proc/self/fd/../fd",
        "",
    ] {
        let request = json!({ "policy": "python", "argv": ["true"], "cwd": cwd });
        let refused = world.try_run(&request).map(|outcome| outcome.ending);
        let accepted = refused.is_ok_and(|_| !cwd.is_empty());
        assert!(!accepted, "{cwd}");
    }
    is_unchanged(&sentinel);
}

/// Writes over whatever would change the rules, and reads what holds them. `/tmp` and `/dev/shm`
/// are its own.
const REWRITE: &str = r#"
import os, sys
reached = []
def own(name): return name.startswith(("/tmp/", "/dev/shm/"))
for name in sys.argv[1:]:
    for way in ("", "/proc/self/root", "/proc/1/root", "/proc/self/cwd/../../../../.."):
        try:
            if b"sentinel" in open(way + name, "rb").read(): reached.append(("read", way + name))
        except OSError: pass
        try:
            if not own(name): os.makedirs(os.path.dirname(way + name), exist_ok=True)
            open(way + name, "w").write("evil")
            if not own(name): reached.append(("write", way + name))
        except OSError: pass
print(reached)
"#;

/// Files of the host that tell what runs and what is allowed.
fn rules(home: &Path) -> Vec<String> {
    let own = [
        "lowest.toml",
        "sandboxd.toml",
        ".config/rollcage/sandboxd.toml",
        "bin/sandboxd",
        "state/lock",
        "state/audit/head.json",
        "state/audit/key.pem",
        "state/sentinel",
        "state/results/results.redb",
        ".git/hooks/post-checkout",
        ".bashrc",
    ];
    let hosts = [
        "/etc/rollcage/sandboxd.toml",
        "/etc/rollcage/policies/python.toml",
        "/run/rollcage/instance-0.lock",
        "/run/rollcage/x",
        "/var/lib/rollcage/lock",
        "/etc/ld.so.preload",
        "/usr/lib/rollcage-evil",
        "/etc/profile.d/evil.sh",
        "/root/.bashrc",
    ];
    let own = own.map(|name| home.join(name).to_string_lossy().into_owned());
    own.into_iter().chain(hosts.map(str::to_owned)).collect()
}

#[test]
fn in_no_mode_can_a_program_change_the_rules() {
    for mode in Mode::all(
        "in_no_mode_can_a_program_change_the_rules",
        Nobody::RuleChanging,
        Nobody::RuleChangingLowest,
    ) {
        let home = mode.user.path("");
        let list = || mode.say(&["policy", "list", "--json"]).ended(0).json();
        let before = (list(), digests(&home.join("bin")));
        let sentinels = [home.join(".bashrc"), home.join("state/sentinel")];
        for sentinel in &sentinels {
            fs::write(sentinel, SENTINEL).expect("plant it");
        }
        let mut rules = rules(&home);
        for name in ["sandboxd.sock", "instance-0.lock", "proof/evil"] {
            let path = mode.runtime_dir().join(name);
            rules.push(path.to_string_lossy().into_owned());
        }
        let words = [
            "run", "--json", "--policy", "build", "--", "python3", "-c", REWRITE,
        ];
        let rules: Vec<&str> = rules.iter().map(String::as_str).collect();
        let result = mode.say(&[&words[..], &rules].concat()).json();
        assert_eq!(result["ending"]["code"], 0, "{}: {result}", mode.name);
        assert_eq!(result["stdout"], "[]\n", "{}", mode.name);
        for file in rules {
            let evil = fs::read(file).is_ok_and(|bytes| bytes == b"evil");
            assert!(!evil, "{}: {file}", mode.name);
        }
        sentinels.iter().for_each(|sentinel| is_unchanged(sentinel));
        assert_eq!(
            (list(), digests(&home.join("bin"))),
            before,
            "{}",
            mode.name
        );
    }
}

#[test]
fn our_own_command_from_inside_reaches_no_daemon_and_starts_none() {
    let test = "our_own_command_from_inside_reaches_no_daemon_and_starts_none";
    if !skips::is_root(test) {
        return;
    }
    let shown = place(Path::new("/opt"));
    for name in [
        "rollcage",
        "sandboxd",
        "sandbox-launcher",
        "sandbox-init",
        "sandbox-probe",
    ] {
        fs::copy(skips::bin_dir().join(name), shown.path().join(name)).expect("copy a program");
    }
    let config = format!("[host_image]\nextra_read_paths = [{:?}]\n", shown.path());
    let Some(world) = World::with_config(test, &config) else {
        return;
    };
    // The control: outside the same words work.
    let connect = format!("unix://{}", world.socket().display());
    let words = [
        "--connect",
        &connect,
        "run",
        "--policy",
        "shell",
        "--",
        "echo",
        "ran",
    ];
    assert_eq!(world.cli(&words).ended(0).stdout(), "ran\n");
    let code = format!(
        "cd {}; ./rollcage --version >&2 || exit 9\n\
         ./rollcage --connect {connect} run --policy shell -- echo ran\n\
         ./rollcage --connect {connect} policy list\n\
         ./rollcage --embedded --state-dir /workspace/s run --policy shell -- echo ran\n\
         ./sandboxd serve --state-dir /workspace/s2 < /dev/null\n\
         ./sandbox-launcher serve --api-fd 0 --audit-fd 1 --runtime-dir /tmp/r --init ./sandbox-init\n\
         ./sandbox-init\nexit 0\n",
        shown.path().display()
    );
    let request = json!({
        "policy": "build", "argv": ["sh", "-c", code], "env": { "ROLLCAGE_BIN_DIR": shown.path() },
    });
    let outcome = world.run(&request);
    outcome.exited(0);
    assert!(!outcome.stdout().contains("ran"), "{}", outcome.stdout());
    assert!(
        outcome.stderr().contains("no daemon"),
        "{}",
        outcome.stderr()
    );
}
