//! Small hosts with everything that must not be copied, and this host itself.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use super::*;

struct Host {
    scratch: tempfile::TempDir,
}

impl Host {
    fn new() -> Self {
        let host = Self {
            scratch: tempfile::tempdir().unwrap(),
        };
        fs::create_dir_all(host.path("etc")).unwrap();
        host
    }

    fn path(&self, path: &str) -> PathBuf {
        self.scratch.path().join("host").join(path)
    }

    fn out(&self, path: &str) -> PathBuf {
        self.scratch.path().join("out").join(path)
    }

    fn file(&self, path: &str, text: &str, mode: u32) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    fn link(&self, target: &str, path: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(target, path).unwrap();
    }

    fn prepare(&self, extra: &[&str], limits: Limits) -> Result<EtcReport, EtcError> {
        let extra: Vec<String> = extra.iter().map(ToString::to_string).collect();
        prepare_from(&self.path(""), &self.out(""), &extra, limits)
    }

    fn prepared(&self) -> EtcReport {
        self.prepare(&[], Limits::DEFAULT).unwrap()
    }
}

fn reason_of(report: &EtcReport, path: &str) -> Option<SkipReason> {
    report
        .skipped_first
        .iter()
        .find(|skipped| skipped.path == path)
        .map(|skipped| skipped.reason)
}

fn mode_of(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn an_empty_host_gets_our_files() {
    let host = Host::new();
    let report = host.prepared();
    let passwd = fs::read_to_string(host.out("passwd")).unwrap();
    assert!(
        passwd.contains("user:x:1000:1000:user:/workspace:"),
        "{passwd}"
    );
    assert_eq!(fs::read(host.out("resolv.conf")).unwrap(), b"");
    assert_eq!(fs::read(host.out("localtime")).unwrap().len(), 44 + 6 + 4);
    assert!(
        fs::read_to_string(host.out("os-release"))
            .unwrap()
            .contains("ID=linux")
    );
    assert_eq!((report.files, report.links, report.skipped), (0, 0, 0));
    assert_eq!(mode_of(&host.out("passwd")), 0o644);
}

#[test]
fn the_listed_subset_is_copied_and_nothing_else() {
    let host = Host::new();
    for path in [
        "ld.so.cache",
        "ld.so.conf.d/a.conf",
        "ssl/certs/ca.crt",
        "python3.11/s.py",
    ] {
        host.file(&format!("etc/{path}"), path, 0o644);
    }
    let unlisted = [
        "shadow",
        "passwd-",
        "machine-id",
        "ssh/ssh_host_rsa_key",
        "sudoers",
        "krb5.conf",
        "ssl/private/a.pem",
        "npmrc",
        "pip.conf",
        "gitconfig",
        "fstab",
        "systemd/a",
    ];
    for path in unlisted {
        host.file(&format!("etc/{path}"), "SECRET", 0o644);
    }
    host.file("etc/passwd", "real:x:1:1::/:/bin/sh\n", 0o644);
    host.file("usr/lib/os-release", "ID=x\n", 0o644);
    let report = host.prepared();
    assert_eq!(
        fs::read_to_string(host.out("ld.so.conf.d/a.conf")).unwrap(),
        "ld.so.conf.d/a.conf"
    );
    assert_eq!(report.files, 4);
    for path in unlisted {
        assert!(fs::symlink_metadata(host.out(path)).is_err(), "{path}");
    }
    assert!(
        !fs::read_to_string(host.out("passwd"))
            .unwrap()
            .contains("real")
    );
    let release = fs::read_link(host.out("os-release")).unwrap();
    assert_eq!(release, Path::new("../usr/lib/os-release"));
}

#[test]
fn what_others_cannot_read_or_has_a_closed_name_stays_out() {
    let host = Host::new();
    host.file("etc/java-17/management/jmxremote.access", "x", 0o640);
    host.file("etc/java-17/management/jmxremote.password", "x", 0o644);
    host.file("etc/ssl/certs/site.key", "x", 0o644);
    host.file("etc/perl/run", "x", 0o6755);
    host.file("etc/fonts/conf.d/a", "x", 0o666);
    fs::create_dir_all(host.path("etc/python3/shut")).unwrap();
    fs::set_permissions(host.path("etc/python3/shut"), Permissions::from_mode(0o700)).unwrap();
    let fifo = host.path("etc/xml");
    nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::from_bits_truncate(0o644)).unwrap();
    let report = host.prepared();
    let reason = |path| reason_of(&report, path);
    assert_eq!(
        reason("java-17/management/jmxremote.access"),
        Some(SkipReason::NotForAll)
    );
    assert_eq!(
        reason("java-17/management/jmxremote.password"),
        Some(SkipReason::ClosedName)
    );
    assert_eq!(reason("ssl/certs/site.key"), Some(SkipReason::ClosedName));
    assert_eq!(reason("python3/shut"), Some(SkipReason::NotForAll));
    assert_eq!(reason("xml"), Some(SkipReason::NotAFile));
    assert_eq!(report.skipped, 5);
    assert_eq!(mode_of(&host.out("perl/run")), 0o755);
    assert_eq!(mode_of(&host.out("fonts/conf.d/a")), 0o644);
}

#[test]
fn links_are_copied_as_links_if_they_stay_inside() {
    let host = Host::new();
    host.file("etc/fonts/conf.avail/a", "x", 0o644);
    host.file("etc/shadow", "SECRET", 0o600);
    let kept = [
        ("/usr/bin/vim", "alternatives/editor"),
        ("/etc/alternatives/editor", "alternatives/vi"),
        ("../conf.avail/a", "fonts/conf.d/a"),
        ("../../lib/x", "alternatives/x"),
        ("/opt/jdk/bin/java", "alternatives/java"),
    ];
    let dropped = [
        ("/etc/shadow", "alternatives/s1"),
        ("../shadow", "alternatives/s2"),
        ("/usr/../etc/shadow", "alternatives/s3"),
        ("/root/.ssh/id", "ssl/certs/k"),
        ("/var/lib/x", "sgml"),
        ("loop2", "alternatives/loop1"),
        ("loop1", "alternatives/loop2"),
        ("/usrlocal", "alternatives/u"),
    ];
    for (target, path) in kept.into_iter().chain(dropped) {
        host.link(target, &format!("etc/{path}"));
    }
    let report = host.prepare(&["/opt/jdk"], Limits::DEFAULT).unwrap();
    for (target, path) in kept {
        assert_eq!(
            fs::read_link(host.out(path)).unwrap(),
            Path::new(target),
            "{path}"
        );
    }
    for (_, path) in dropped {
        assert_eq!(
            reason_of(&report, path),
            Some(SkipReason::LeadsOut),
            "{path}"
        );
        assert!(fs::symlink_metadata(host.out(path)).is_err(), "{path}");
    }
    assert_eq!(report.links, 5);
}

#[test]
fn a_linked_directory_is_not_walked() {
    let host = Host::new();
    host.file("secret/a", "SECRET", 0o644);
    host.link("../secret", "etc/fonts");
    let report = host.prepared();
    assert_eq!(reason_of(&report, "fonts"), Some(SkipReason::LeadsOut));
    assert!(fs::symlink_metadata(host.out("fonts")).is_err());

    let host = Host::new();
    host.file("secret/certs/a", "SECRET", 0o644);
    host.link("../secret", "etc/ssl");
    let report = host.prepared();
    assert_eq!(reason_of(&report, "ssl/certs"), Some(SkipReason::LeadsOut));
    assert!(fs::symlink_metadata(host.out("ssl")).is_err());
}

#[test]
fn sizes_are_bounded() {
    let limits = Limits {
        bytes_max: 10_000,
        file_bytes_max: 4_000,
        entries_max: 20,
        depth_max: 2,
    };
    let host = Host::new();
    host.file("etc/magic", &"x".repeat(4_001), 0o644);
    host.file("etc/perl/a/b/c", "x", 0o644);
    let report = host.prepare(&[], limits).unwrap();
    assert_eq!(reason_of(&report, "magic"), Some(SkipReason::TooLarge));
    assert_eq!(reason_of(&report, "perl/a/b"), Some(SkipReason::TooDeep));

    let host = Host::new();
    for name in ["a", "b", "c"] {
        host.file(&format!("etc/perl/{name}"), &"x".repeat(3_500), 0o644);
    }
    let error = host.prepare(&[], limits).unwrap_err().to_string();
    assert!(error.contains("10000 bytes"), "{error}");

    let host = Host::new();
    for number in 0..25 {
        host.file(&format!("etc/perl/{number}"), "", 0o644);
    }
    let error = host.prepare(&[], limits).unwrap_err().to_string();
    assert!(error.contains("20 entries"), "{error}");
}

#[test]
fn the_digest_follows_content_and_links() {
    let digest = |text: &str, target: &str| {
        let host = Host::new();
        host.file("etc/magic", text, 0o644);
        host.link(target, "etc/alternatives/a");
        host.prepared().sha256
    };
    let first = digest("a", "/usr/a");
    assert_eq!(first, digest("a", "/usr/a"));
    assert_ne!(first, digest("b", "/usr/a"));
    assert_ne!(first, digest("a", "/usr/b"));
}

#[test]
fn this_host_is_served_without_its_secrets() {
    let scratch = tempfile::tempdir().unwrap();
    let out = scratch.path().join("etc");
    let report = prepare_etc(&out, &[]).unwrap();
    assert!(report.bytes > 0 && report.sha256.len() == 64);
    for path in [
        "shadow",
        "gshadow",
        "sudoers",
        "machine-id",
        "ssh",
        "ssl/private",
        "krb5.conf",
    ] {
        assert!(fs::symlink_metadata(out.join(path)).is_err(), "{path}");
    }
    println!("{report:#?}");
    // A second one needs a new directory.
    assert!(matches!(
        prepare_etc(&out, &[]),
        Err(EtcError::Claim { .. })
    ));
}
