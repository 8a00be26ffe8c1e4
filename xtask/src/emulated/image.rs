//! The emulated host's file system: a few programs of this host's own Debian with the libraries
//! they need, Python, and our programs without what only debuggers read.

use crate::shell;
use anyhow::{Context, Result};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

pub(super) const BUSYBOX: &str = "/usr/bin/busybox";
pub(super) const MAKE_FS: &str = "/usr/sbin/mke2fs";
pub(super) const STRIP: &str = "/usr/bin/strip";
pub(super) const PYTHON: &str = "/usr/bin/python3";
/// Programs of `/usr/bin` that tests start, in sandboxes and beside them.
const PROGRAMS: &str = "awk basename bash busybox cat chmod cp cut date dd dirname du echo env \
     expr false find grep head id kill ln ls mkdir mkfifo mktemp mv nice nproc od ps python3 \
     readlink rm rmdir sed seq setpriv setsid sh sha256sum sleep sort stat tail tee timeout touch \
     tr true truncate uname uniq unshare wc xargs yes";
/// Of `/etc`, what Debian has everywhere.
const SETTINGS: [&str; 7] = [
    "alternatives/awk",
    "debian_version",
    "group",
    "ld.so.cache",
    "nsswitch.conf",
    "os-release",
    "passwd",
];
/// Parts of Python's library that no test imports and that are large.
const NOT_OF_PYTHON: [&str; 7] = [
    "__pycache__",
    "ensurepip",
    "idlelib",
    "lib2to3",
    "pydoc_data",
    "test",
    "tkinter",
];
const OURS: [&str; 5] = [
    "rollcage",
    "sandboxd",
    "sandbox-launcher",
    "sandbox-init",
    "sandbox-probe",
];
/// Where the guest mounts, or where its programs make folders of their own.
const EMPTY: [&str; 8] = [
    "proc", "sys", "dev", "run", "tmp", "root", "var/lib", "var/tmp",
];
/// Room beyond its files.
const FREE_BYTES: u64 = 128 << 20;

/// Builds the image; gives its path.
///
/// # Errors
/// When a file is missing or cannot be copied, or a tool fails.
pub(super) fn build(
    work: &Path,
    programs: &Path,
    tests: &Path,
    names: &[String],
) -> Result<PathBuf> {
    let stage = work.join("root");
    if stage.exists() {
        fs::remove_dir_all(&stage).with_context(|| format!("remove {}", stage.display()))?;
    }
    let mut tree = Tree::new(&stage)?;
    for link in ["bin", "sbin", "lib", "lib64"] {
        symlink(format!("usr/{link}"), stage.join(link)).context("link into /usr")?;
    }
    for name in PROGRAMS.split_whitespace() {
        tree.add(&Path::new("/usr/bin").join(name))?;
    }
    let python = fs::canonicalize(PYTHON).context("find Python")?;
    let version = python.file_name().context("name Python")?;
    tree.add(&Path::new("/usr/lib").join(version))?;
    for name in SETTINGS {
        tree.add(&Path::new("/etc").join(name))?;
    }
    for name in OURS {
        tree.place_stripped(&programs.join(name), &format!("opt/rollcage/{name}"))?;
    }
    tree.place_stripped(tests, "opt/it")?;
    tree.add_libraries()?;
    for folder in EMPTY {
        make_folder(&stage.join(folder))?;
    }
    write(&stage.join("tests.txt"), names.join("\n").as_bytes(), 0o644)?;
    write(&stage.join("second.sh"), include_bytes!("second.sh"), 0o755)?;
    let image = pack(work, &stage, tree.bytes)?;
    fs::remove_dir_all(&stage).with_context(|| format!("remove {}", stage.display()))?;
    Ok(image)
}

fn pack(work: &Path, stage: &Path, bytes: u64) -> Result<PathBuf> {
    let image = work.join("root.ext4");
    if image.exists() {
        fs::remove_file(&image).with_context(|| format!("remove {}", image.display()))?;
    }
    let mib = (bytes + bytes / 8 + FREE_BYTES) >> 20;
    let mut make = Command::new(MAKE_FS);
    make.args(["-q", "-t", "ext4", "-O", "^has_journal", "-m", "0", "-d"])
        .args([stage, &image])
        .arg(format!("{mib}M"));
    shell::must(&mut make)?;
    Ok(image)
}

fn make_folder(path: &Path) -> Result<()> {
    fs::create_dir_all(path).with_context(|| format!("make {}", path.display()))
}

fn write(path: &Path, content: &[u8], mode: u32) -> Result<()> {
    fs::write(path, content).with_context(|| format!("write {}", path.display()))?;
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
        .with_context(|| format!("set the mode of {}", path.display()))
}

/// Copies of files of this host, at the paths they have here.
struct Tree {
    stage: PathBuf,
    seen: BTreeSet<PathBuf>,
    /// Programs and libraries whose own libraries are not here yet.
    linked: Vec<PathBuf>,
    bytes: u64,
}

impl Tree {
    fn new(stage: &Path) -> Result<Self> {
        make_folder(stage)?;
        Ok(Self {
            stage: stage.to_owned(),
            seen: BTreeSet::new(),
            linked: Vec::new(),
            bytes: 0,
        })
    }

    /// Adds a file, a link with what it leads to, or a folder with all that is in it.
    fn add(&mut self, path: &Path) -> Result<()> {
        let folder = path.parent().context("a path below /")?;
        let name = path.file_name().context("a path with a name")?;
        // Links among the folders (/lib -> usr/lib) are there already.
        let folder =
            fs::canonicalize(folder).with_context(|| format!("find {}", path.display()))?;
        let path = folder.join(name);
        if !self.seen.insert(path.clone()) {
            return Ok(());
        }
        let data =
            fs::symlink_metadata(&path).with_context(|| format!("find {}", path.display()))?;
        let to = self.stage.join(path.strip_prefix("/")?);
        make_folder(to.parent().context("a place with a folder")?)?;
        if data.is_symlink() {
            let target =
                fs::read_link(&path).with_context(|| format!("read {}", path.display()))?;
            symlink(&target, &to).with_context(|| format!("link {}", to.display()))?;
            return self.add(&folder.join(target));
        }
        if data.is_dir() {
            return self.add_entries(&path);
        }
        self.copy(&path, &to)
    }

    fn add_entries(&mut self, folder: &Path) -> Result<()> {
        for entry in fs::read_dir(folder).with_context(|| format!("list {}", folder.display()))? {
            let entry = entry.with_context(|| format!("list {}", folder.display()))?;
            let name = entry.file_name();
            if !NOT_OF_PYTHON.iter().any(|part| name == *part) {
                self.add(&entry.path())?;
            }
        }
        Ok(())
    }

    fn copy(&mut self, from: &Path, to: &Path) -> Result<()> {
        let content = fs::read(from).with_context(|| format!("read {}", from.display()))?;
        if content.starts_with(b"\x7fELF") {
            self.linked.push(from.to_owned());
        }
        self.bytes += content.len() as u64;
        let mode = fs::metadata(from).with_context(|| format!("inspect {}", from.display()))?;
        write(to, &content, mode.permissions().mode() & 0o7777)
    }

    fn place_stripped(&mut self, program: &Path, to: &str) -> Result<()> {
        let to = self.stage.join(to);
        make_folder(to.parent().context("a place with a folder")?)?;
        shell::must(Command::new(STRIP).arg("-o").args([&to, program]))?;
        self.linked.push(program.to_owned());
        let data = fs::metadata(&to).with_context(|| format!("inspect {}", to.display()))?;
        self.bytes += data.len();
        Ok(())
    }

    /// Adds what the dynamic loader would load for all that is linked so far.
    fn add_libraries(&mut self) -> Result<()> {
        let linked = std::mem::take(&mut self.linked);
        let output = Command::new("/usr/bin/ldd")
            .args(linked)
            .output()
            .context("start ldd")?;
        // It fails when one of the files is static, after it told of the others.
        for library in libraries(&String::from_utf8_lossy(&output.stdout)) {
            self.add(&library)?;
        }
        Ok(())
    }
}

/// Paths in what `ldd` says of several files.
fn libraries(told: &str) -> BTreeSet<PathBuf> {
    told.lines()
        .filter_map(|line| line.trim_end().strip_suffix(')'))
        .filter_map(|line| line.rsplit_once(" (0x"))
        .filter_map(|(line, _address)| line.split_whitespace().next_back())
        .filter(|word| word.starts_with('/'))
        .map(PathBuf::from)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_the_paths_that_the_loader_found() {
        let told = "/usr/bin/cat:\n\tlinux-vdso.so.1 (0x00007ffd)\n\tlibc.so.6 => \
                    /lib/x86_64-linux-gnu/libc.so.6 (0x00007f)\n\t/lib64/ld-linux-x86-64.so.2 \
                    (0x00007f)\n/opt/static:\n\tnot a dynamic executable\n";
        let found: Vec<_> = libraries(told).into_iter().collect();
        assert_eq!(
            found,
            [
                PathBuf::from("/lib/x86_64-linux-gnu/libc.so.6"),
                PathBuf::from("/lib64/ld-linux-x86-64.so.2")
            ]
        );
    }
}
