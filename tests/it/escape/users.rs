//! The same ways out without root: in namespaces of an ordinary user, and in the lowest grade, which
//! has none.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use confine::plan::Mode;

use super::{ProbeFolder, setting, wrong_rows};
use crate::nobody::Nobody;
use crate::skips;
use crate::user::{User, has_landlock};

/// A user of no account on the host.
const PROBING: u32 = Nobody::Probing.id();

#[test]
fn every_way_out_is_closed_without_root() {
    let test = "every_way_out_is_closed_without_root";
    if !skips::is_root(test) {
        return;
    }
    let folder = ProbeFolder::with_probe();
    let user = User::new(PROBING);
    fs::write(user.path("rootless.toml"), folder.config()).expect("write a configuration");
    configure_lowest(&user, &folder.config());
    let mut wrong = Vec::new();
    for (configuration, mode, name) in [
        ("rootless.toml", Mode::Rootless, "rootless"),
        ("lowest.toml", Mode::Landlock, "landlock"),
    ] {
        let doctor = user.say_with(configuration, &["doctor", "--json"]);
        let doctor = doctor.json();
        if doctor["mode"] != name || (mode == Mode::Landlock && !has_landlock(&doctor)) {
            let part = format!("{test}/{name}");
            skips::skip(&part, &format!("this host gives mode {}", doctor["mode"]));
            continue;
        }
        for policy in ["python", "node", "build"] {
            let words = ["run", "--policy", policy, "--", &folder.program("probe")];
            let spoken = user.say_with(configuration, &words);
            let found = probe::parse(spoken.ended(0).stdout().as_bytes()).expect("findings");
            let setting = setting::without_root(policy, &folder.path(), mode);
            wrong.extend(wrong_rows(&format!("{name}, {policy}"), &found, &setting));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Writes `lowest.toml`, under which the daemon does as on a host that gives users no namespaces.
fn configure_lowest(user: &User, more: &str) {
    let script = format!(
        "#!/bin/sh\nexec {} \"$@\" --force-landlock\n",
        user.path("bin/sandbox-launcher").display()
    );
    let launcher = user.path("bin/launcher.sh");
    fs::write(&launcher, script).expect("write a script");
    let open = fs::Permissions::from_mode(0o755);
    fs::set_permissions(&launcher, open).expect("make it a program");
    let text = format!("launcher = {launcher:?}\naccept_landlock_mode = true\n{more}");
    fs::write(user.path("lowest.toml"), text).expect("write the configuration");
}
