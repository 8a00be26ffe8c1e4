//! Layouts of hosts as small trees, and this host itself.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use super::*;

struct Host(tempfile::TempDir);

impl Host {
    fn new() -> Self {
        let host = Self(tempfile::tempdir().unwrap());
        host.dir("usr/bin");
        host.dir("usr/lib");
        host.file("usr/lib/os-release", "ID=test\n");
        host
    }

    fn root(&self) -> &Path {
        self.0.path()
    }

    fn dir(&self, path: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(&path).unwrap();
        fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
    }

    fn file(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn link(&self, target: &str, link: &str) {
        symlink(target, self.root().join(link)).unwrap();
    }

    fn inspect(&self, extra: &[&str]) -> Result<HostImage, RootfsError> {
        let extra_read_paths = extra.iter().map(ToString::to_string).collect();
        HostImage::inspect_at(self.root(), &HostImageConfig { extra_read_paths })
    }
}

fn link_to<'a>(plan: &'a RootPlan, path: &str) -> Option<&'a str> {
    plan.ops.iter().find_map(|op| match op {
        RootOp::Symlink { target, link } if link == path => Some(target.as_str()),
        _ => None,
    })
}

fn bind_of<'a>(plan: &'a RootPlan, path: &str) -> Option<(&'a str, bool, bool)> {
    plan.ops.iter().find_map(|op| match op {
        RootOp::Bind {
            source,
            target,
            read_only,
            devices,
        } if target == path => Some((source.as_str(), *read_only, *devices)),
        _ => None,
    })
}

#[test]
fn merged_layout_becomes_links() {
    let host = Host::new();
    host.link("usr/bin", "bin");
    host.link("/usr/lib", "lib");
    host.link("lib", "lib64");
    let plan = host.inspect(&[]).unwrap().plan("/state/etc", "/state/dev");
    assert_eq!(link_to(&plan, "/bin"), Some("usr/bin"));
    assert_eq!(link_to(&plan, "/lib"), Some("usr/lib"));
    assert_eq!(link_to(&plan, "/lib64"), Some("lib"));
    assert!(!plan.has("/sbin"));
    assert_eq!(bind_of(&plan, "/usr"), Some(("/usr", true, false)));
    assert_eq!(bind_of(&plan, "/etc"), Some(("/state/etc", true, false)));
    assert_eq!(bind_of(&plan, "/dev"), Some(("/state/dev", true, true)));
}

#[test]
fn separate_layout_becomes_binds() {
    let host = Host::new();
    host.dir("bin");
    host.dir("lib");
    let plan = host.inspect(&[]).unwrap().plan("/e", "/d");
    assert_eq!(bind_of(&plan, "/bin"), Some(("/bin", true, false)));
    assert_eq!(bind_of(&plan, "/lib"), Some(("/lib", true, false)));
    assert_eq!(link_to(&plan, "/bin"), None);
}

#[test]
fn parents_come_before_children_and_nothing_twice() {
    let host = Host::new();
    host.dir("opt/kit/bin");
    host.dir("root/.cargo");
    let plan = host
        .inspect(&["/root/.cargo", "/opt/kit"])
        .unwrap()
        .plan("/e", "/d");
    let mut made: Vec<&str> = vec![""];
    for op in &plan.ops {
        let parent = op.target().rsplit_once('/').unwrap().0;
        assert!(made.contains(&parent), "{op:?} before its parent");
        let again = made.contains(&op.target());
        assert_eq!(again, matches!(op, RootOp::Bind { .. }), "{op:?}");
        made.push(op.target());
        // Whoever runs inside can reach whatever is shown.
        assert!(
            !matches!(op, RootOp::Dir { mode, .. } if mode & 0o005 != 0o005),
            "{op:?}"
        );
    }
    for path in ["/tmp", "/workspace", "/proc", "/var/tmp", "/run"] {
        assert!(plan.has(path), "{path}");
    }
    assert_eq!(
        bind_of(&plan, "/root/.cargo"),
        Some(("/root/.cargo", true, false))
    );
}

#[test]
fn stray_links_and_missing_usr_are_refused() {
    let host = Host::new();
    host.link("/elsewhere/bin", "bin");
    assert!(matches!(
        host.inspect(&[]),
        Err(RootfsError::StrayLink { .. })
    ));
    let host = Host::new();
    host.link("../../usr", "bin");
    assert!(matches!(
        host.inspect(&[]),
        Err(RootfsError::StrayLink { .. })
    ));
    let empty = tempfile::tempdir().unwrap();
    let inspected = HostImage::inspect_at(empty.path(), &HostImageConfig::default());
    assert!(matches!(inspected, Err(RootfsError::NoDirectory { .. })));
}

#[test]
fn extra_paths_that_hold_more_than_programs_are_refused() {
    let host = Host::new();
    for dir in [
        "home/ann/kit",
        "root/.ssh",
        "etc/x",
        "opt/open",
        "opt/shut",
        "opt/kit",
    ] {
        host.dir(dir);
    }
    host.file("opt/file", "");
    host.link("kit", "opt/link");
    for (dir, mode) in [("opt/open", 0o777), ("opt/shut", 0o750)] {
        fs::set_permissions(host.root().join(dir), Permissions::from_mode(mode)).unwrap();
    }
    let refused = [
        "opt/kit",
        "/opt/../opt/kit",
        "/opt/kit/",
        "/",
        "/root",
        "/home",
        "/home/ann",
        "/etc/x",
        "/etc",
        "/proc",
        "/root/.ssh",
        "/opt/open",
        "/opt/shut",
        "/opt/none",
        "/opt/file",
        "/var",
        "/run/x",
        "/opt/link",
    ];
    for path in refused {
        let error = host.inspect(&[path]).unwrap_err();
        assert!(matches!(&error, RootfsError::ExtraPath { path: named, .. } if named == path));
    }
    let link = host.inspect(&["/opt/link"]).unwrap_err().to_string();
    assert!(link.contains("write /opt/kit"), "{link}");
    let image = host
        .inspect(&["/opt/kit", "/home/ann/kit", "/opt/kit", "/usr/lib"])
        .unwrap();
    assert_eq!(image.extra_read_paths(), ["/home/ann/kit", "/opt/kit"]);
}

#[test]
fn the_digest_follows_the_package_list_and_the_extra_paths() {
    let host = Host::new();
    host.dir("opt/kit");
    let release = host.inspect(&[]).unwrap().digest().clone();
    assert_eq!(release.source, "/usr/lib/os-release");
    assert!(release.unpinned);
    host.file("var/lib/dpkg/status", "Package: a\n");
    let first = host.inspect(&[]).unwrap().digest().clone();
    assert_eq!(first.source, "/var/lib/dpkg/status");
    assert_eq!(&first, host.inspect(&[]).unwrap().digest());
    let more = host.inspect(&["/opt/kit"]).unwrap().digest().clone();
    host.file("var/lib/dpkg/status", "Package: b\n");
    let second = host.inspect(&[]).unwrap().digest().clone();
    let mut all = [release.sha256, first.sha256, more.sha256, second.sha256].to_vec();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 4);
}

#[test]
fn this_host_can_be_inspected() {
    let image = HostImage::inspect(&HostImageConfig::default()).unwrap();
    let plan = image.plan("/e", "/d");
    assert!(plan.has("/usr") && plan.has("/bin"));
    assert_eq!(image.digest().sha256.len(), 64);
    let json = serde_json::to_string(&plan).unwrap();
    assert_eq!(serde_json::from_str::<RootPlan>(&json).unwrap(), plan);
}
