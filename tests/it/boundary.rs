//! A captured api: whoever speaks to the launcher, it makes only sandboxes within its own ceilings,
//! and nothing is left of it however it ends. These tests speak its frames themselves.

mod fuzz;
mod launched;

use std::io::Read;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use confine::packet;
use confine::plan::{Mode, Plan};
use confine::wire::{FromInit, FromLauncher, SandboxToken, ToInit, ToLauncher};
use nix::sys::socket::MsgFlags;

use launched::Launched;

/// One change to a good plan, and the field that must be blamed.
type Change = (&'static str, fn(&mut Plan));

const TOO_MUCH: &[Change] = &[
    ("mode", |plan| plan.mode = Mode::Landlock),
    ("mode", |plan| plan.mode = Mode::Rootless),
    ("image", |plan| plan.image = "other".to_owned()),
    ("image", |plan| plan.image = "/".to_owned()),
    ("image", |plan| plan.image = "../host".to_owned()),
    ("image", |plan| plan.image = String::new()),
    ("hostname", |plan| plan.hostname = "a/b".to_owned()),
    ("hostname", |plan| plan.hostname = String::new()),
    ("hostname", |plan| plan.hostname = "x".repeat(64)),
    ("limits.memory_bytes_max", |plan| {
        plan.limits.memory_bytes_max = u64::MAX;
    }),
    ("limits.memory_bytes_max", |plan| {
        plan.limits.memory_bytes_max = 0;
    }),
    ("limits.pids_max", |plan| plan.limits.pids_max = u64::MAX),
    ("limits.pids_max", |plan| plan.limits.pids_max = 0),
    ("limits.cpu_millicores_max", |plan| {
        plan.limits.cpu_millicores_max = u64::MAX;
    }),
    ("limits.cpu_millicores_max", |plan| {
        plan.limits.cpu_millicores_max = 0;
    }),
    ("limits.disk_bytes_max", |plan| {
        plan.limits.disk_bytes_max = u64::MAX;
    }),
    ("limits.disk_bytes_max", |plan| {
        plan.limits.disk_bytes_max = 0;
    }),
    ("limits.files_max", |plan| plan.limits.files_max = u64::MAX),
    ("limits.files_max", |plan| plan.limits.files_max = 0),
    ("limits.open_files_max", |plan| {
        plan.limits.open_files_max = u64::MAX;
    }),
    ("limits.cpu_ms_max", |plan| {
        plan.limits.cpu_ms_max = u64::MAX;
    }),
    ("limits.cpu_ms_max", |plan| plan.limits.cpu_ms_max = 0),
    ("files.write", |plan| plan.files.write.push("/".to_owned())),
    ("files.write", |plan| {
        plan.files.write.push("/usr".to_owned());
    }),
    ("files.write", |plan| {
        plan.files.write.push("/workspace/../etc".to_owned());
    }),
    ("files.write", |plan| {
        plan.files.write.push("/workspacex".to_owned());
    }),
    ("files.read", |plan| plan.files.read.push("etc".to_owned())),
    ("files.read", |plan| {
        plan.files.read.push("/proc/../etc".to_owned());
    }),
    ("files.read", |plan| {
        plan.files.read.push("/etc\0".to_owned());
    }),
    ("files.read", |plan| {
        plan.files.read = vec!["/usr".to_owned(); 300];
    }),
    ("files.execute", |plan| {
        plan.files.execute.push("./x".to_owned());
    }),
    ("degradable", |plan| {
        plan.degradable.push("seccomp".to_owned());
    }),
    ("degradable", |plan| {
        plan.degradable.push("memory".to_owned());
    }),
    ("syscalls.allow", |plan| {
        plan.syscalls.allow.push("mount".to_owned());
    }),
    ("syscalls.allow", |plan| {
        plan.syscalls.allow.push("unshare".to_owned());
    }),
    ("syscalls.allow", |plan| {
        plan.syscalls.allow.push("no_such_call".to_owned());
    }),
];

#[test]
fn plans_beyond_the_launchers_own_ceilings_are_refused() {
    let Some(mut launched) =
        Launched::start("plans_beyond_the_launchers_own_ceilings_are_refused", &[])
    else {
        return;
    };
    let good = launched.plan();
    for (number, (field, change)) in (0_u64..).zip(TOO_MUCH) {
        let mut plan = good.clone();
        change(&mut plan);
        let token = SandboxToken(number);
        let _channel = launched.ask(token, "one", plan);
        match launched.answer() {
            FromLauncher::StartFailed {
                token: of,
                reason,
                refused,
                ..
            } => {
                assert_eq!(of, token);
                assert!(
                    refused,
                    "row {number}, {field}: a fault, not a refusal: {reason}"
                );
                let last = field.rsplit('.').next().expect("a name");
                assert!(
                    reason.contains(field) || reason.contains(last),
                    "row {number}: {reason:?} does not name {field}"
                );
            }
            other => panic!("row {number}, {field}: {other:?}"),
        }
    }
    assert!(
        launched.instance().sandbox_groups().is_empty(),
        "{:?}",
        launched.instance().sandbox_groups()
    );
    // The control: what was changed was good before.
    assert_eq!(
        launched.run("one", good, &["echo", "confined"]),
        "confined\n"
    );
    launched.end();
}

#[test]
fn names_tokens_and_descriptors_are_checked() {
    let Some(mut launched) = Launched::start("names_tokens_and_descriptors_are_checked", &[])
    else {
        return;
    };
    let plan = launched.plan();
    for id in [
        "",
        "a/b",
        "..",
        ".",
        "a b",
        "é",
        "a\0",
        "a\n",
        &"x".repeat(65),
    ] {
        let _channel = launched.ask(SandboxToken(1), id, plan.clone());
        match launched.answer() {
            FromLauncher::StartFailed {
                refused: true,
                reason,
                ..
            } => assert!(reason.contains("id"), "{reason}"),
            other => panic!("{id:?}: {other:?}"),
        }
    }
    // None, and one too many.
    let start = |token| ToLauncher::Start {
        token: SandboxToken(token),
        id: format!("s{token}"),
        plan: Box::new(plan.clone()),
        group: None,
    };
    launched.send(&start(2), &[]);
    launched.refused();
    let (one, other) = packet::pair().expect("a pair");
    launched.send(&start(3), &[one.as_fd(), other.as_fd()]);
    launched.refused();
    // One that is no channel: the sandbox ends, or does not begin, and nothing else happens.
    let null = std::fs::File::open("/dev/null").expect("open /dev/null");
    launched.send(&start(4), &[null.as_fd()]);
    loop {
        match launched.answer() {
            FromLauncher::Started { .. } => {}
            FromLauncher::StartFailed { .. } => break,
            FromLauncher::Reaped { leftovers, .. } => {
                assert!(leftovers.is_empty(), "{leftovers:?}");
                break;
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(launched.instance().sandbox_groups().is_empty());
    launched.end();
}

#[test]
fn what_is_in_use_is_nobody_elses() {
    let Some(mut launched) = Launched::start("what_is_in_use_is_nobody_elses", &[]) else {
        return;
    };
    let plan = launched.plan();
    let channel = launched.ask(SandboxToken(5), "five", plan.clone());
    assert!(matches!(launched.answer(), FromLauncher::Started { .. }));
    let _again = launched.ask(SandboxToken(5), "six", plan.clone());
    launched.refused();
    let _again = launched.ask(SandboxToken(6), "five", plan);
    launched.refused();
    // The first one was not touched by that. Nor is anyone by a kill of nobody.
    launched.send(
        &ToLauncher::Kill {
            token: SandboxToken(999),
        },
        &[],
    );
    assert_eq!(launched.command(&channel, &["echo", "whole"]), "whole\n");
    launched.reaped(SandboxToken(5));
    assert!(launched.instance().sandbox_groups().is_empty());
    launched.end();
}

#[test]
fn no_more_sandboxes_than_leased_ranges_and_ranges_come_back() {
    let test = "no_more_sandboxes_than_leased_ranges_and_ranges_come_back";
    let Some(mut launched) = Launched::start(test, &["--sandboxes-max", "2"]) else {
        return;
    };
    let plan = launched.plan();
    let mut channels = Vec::new();
    let mut bases = Vec::new();
    for number in [1, 2] {
        channels.push(launched.ask(SandboxToken(number), &format!("s{number}"), plan.clone()));
        match launched.answer() {
            FromLauncher::Started { uid_base, .. } => bases.push(uid_base),
            other => panic!("{other:?}"),
        }
    }
    assert!(bases[0].abs_diff(bases[1]) >= 65_536, "{bases:?}");
    let _third = launched.ask(SandboxToken(3), "s3", plan.clone());
    match launched.answer() {
        FromLauncher::StartFailed {
            refused: false,
            step,
            ..
        } => assert_eq!(step, "uid_range"),
        other => panic!("{other:?}"),
    }
    launched.send(
        &ToLauncher::Kill {
            token: SandboxToken(1),
        },
        &[],
    );
    launched.reaped(SandboxToken(1));
    assert_eq!(launched.run("s4", plan, &["echo", "room"]), "room\n");
    launched.end();
}

/// Found by the noise of `fuzz`: the refusal of a second start under a token took the first one's
/// slot while it was still being made, and gave its ids to the next.
#[test]
fn a_refused_start_does_not_touch_the_one_whose_token_it_names() {
    let test = "a_refused_start_does_not_touch_the_one_whose_token_it_names";
    let Some(mut launched) = Launched::start(test, &["--sandboxes-max", "1"]) else {
        return;
    };
    let plan = launched.plan();
    for round in 0..20 {
        let token = SandboxToken(round);
        let id = format!("s{round}");
        // The second one comes while a forker has the first.
        let channel = launched.ask(token, &id, plan.clone());
        let _again = launched.ask(token, "other", plan.clone());
        let answers = [launched.answer(), launched.answer()];
        let started = answers.iter().filter(
            |answer| matches!(answer, FromLauncher::Started { token: of, .. } if *of == token),
        );
        assert_eq!(started.count(), 1, "{answers:?}");
        assert_eq!(launched.command(&channel, &["echo", "whole"]), "whole\n");
        launched.reaped(token);
    }
    launched.end();
}

fn send_raw(socket: &OwnedFd, bytes: &[u8]) {
    nix::sys::socket::send(socket.as_raw_fd(), bytes, MsgFlags::MSG_NOSIGNAL)
        .expect("send raw bytes");
}

#[test]
fn frames_that_are_none_end_the_launcher_and_all_it_made() {
    for (name, bytes) in [
        ("noise", vec![0xff; 300]),
        ("an unknown kind", vec![9, 1, 2, 3]),
        ("a cut frame", vec![0, 1]),
    ] {
        let Some(mut launched) =
            Launched::start("frames_that_are_none_end_the_launcher_and_all_it_made", &[])
        else {
            return;
        };
        let plan = launched.plan();
        let channel = launched.ask(SandboxToken(1), "one", plan);
        assert!(matches!(launched.answer(), FromLauncher::Started { .. }));
        let output = launched.begin(&channel, &["sh", "-c", "echo up; exec sleep 300"]);
        let mut up = [0; 3];
        std::fs::File::from(output)
            .read_exact(&mut up)
            .expect("it runs");
        send_raw(launched.api(), &bytes);
        let status = launched.ended();
        assert!(!status.success(), "{name}: {status}");
        let left = launched.instance().leftovers_at_end();
        assert!(left.is_empty(), "{name}: {left:?}");
    }
}

#[test]
fn noise_to_a_sandbox_ends_that_sandbox_alone() {
    let Some(mut launched) = Launched::start("noise_to_a_sandbox_ends_that_sandbox_alone", &[])
    else {
        return;
    };
    let plan = launched.plan();
    let other = launched.ask(SandboxToken(2), "two", plan.clone());
    assert!(matches!(launched.answer(), FromLauncher::Started { .. }));
    for (number, bytes) in (10..).zip([vec![0xff; 300], vec![77], vec![0; 60_000]]) {
        let token = SandboxToken(number);
        let channel = launched.ask(token, &format!("s{number}"), plan.clone());
        assert!(matches!(launched.answer(), FromLauncher::Started { .. }));
        send_raw(&channel, &bytes);
        launched.reaped(token);
    }
    // Its channel's end ends a sandbox too.
    let channel = launched.ask(SandboxToken(20), "gone", plan);
    assert!(matches!(launched.answer(), FromLauncher::Started { .. }));
    drop(channel);
    launched.reaped(SandboxToken(20));
    assert_eq!(launched.command(&other, &["echo", "well"]), "well\n");
    launched.reaped(SandboxToken(2));
    launched.end();
}

#[test]
fn a_killed_launcher_leaves_nothing_to_the_next() {
    let test = "a_killed_launcher_leaves_nothing_to_the_next";
    let Some(mut launched) = Launched::start(test, &[]) else {
        return;
    };
    let plan = launched.plan();
    let mut channels = Vec::new();
    for number in 1..=3 {
        let channel = launched.ask(SandboxToken(number), &format!("s{number}"), plan.clone());
        assert!(matches!(launched.answer(), FromLauncher::Started { .. }));
        let output = launched.begin(
            &channel,
            &["sh", "-c", "trap '' TERM; echo up; sleep 300; sleep 300"],
        );
        let mut up = [0; 3];
        std::fs::File::from(output)
            .read_exact(&mut up)
            .expect("it runs");
        channels.push(channel);
    }
    assert!(!launched.instance().leased_processes().is_empty());
    let before = launched.instance().clone();
    launched.kill9();
    let Some(mut next) = Launched::start(test, &[]) else {
        return;
    };
    // It has swept the number, and taken it unless another launcher of this host was faster.
    let left = if next.instance().number == before.number {
        (before.sandbox_groups(), before.leased_processes())
    } else {
        assert_eq!(before.leftovers_at_end(), Vec::<String>::new());
        Default::default()
    };
    assert_eq!(left, (Vec::new(), Vec::new()));
    let plan = next.plan();
    assert_eq!(next.run("s1", plan, &["echo", "again"]), "again\n");
    next.end();
}

#[test]
fn a_sandbox_can_be_killed_at_any_moment() {
    let Some(mut launched) = Launched::start("a_sandbox_can_be_killed_at_any_moment", &[]) else {
        return;
    };
    let plan = launched.plan();
    // Asked to die before it can have begun.
    for number in 1..=10 {
        let token = SandboxToken(number);
        let _channel = launched.ask(token, &format!("s{number}"), plan.clone());
        launched.send(&ToLauncher::Kill { token }, &[]);
        loop {
            match launched.answer() {
                FromLauncher::Started { .. } => {}
                FromLauncher::Reaped { leftovers, .. } => {
                    assert!(leftovers.is_empty(), "{leftovers:?}");
                    break;
                }
                FromLauncher::StartFailed { refused, .. } => {
                    assert!(!refused);
                    break;
                }
                other => panic!("{other:?}"),
            }
        }
    }
    assert!(launched.instance().sandbox_groups().is_empty());
    assert!(launched.instance().leased_processes().is_empty());
    // And one that was told to finish by itself tells how much it had used.
    let channel = launched.ask(SandboxToken(11), "last", plan);
    assert!(matches!(launched.answer(), FromLauncher::Started { .. }));
    packet::send(channel.as_fd(), &ToInit::Finish, &[]).expect("finish");
    let frames = launched::frames(&channel);
    assert!(
        matches!(frames.last(), Some(FromInit::Finished { .. })),
        "{frames:?}"
    );
    launched.reaped(SandboxToken(11));
    launched.end();
}
