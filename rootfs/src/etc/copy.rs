//! Copying the listed subset: files that everyone can read, links that stay inside.
//!
//! The host's `/etc` belongs to root and is trusted not to attack us, but not to be small or
//! free of secrets. Links are never followed: every file is opened with `O_NOFOLLOW`, and links
//! are made last, when it is known what they can lead to.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::Read;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::{EtcError, EtcReport, SkipReason, Skipped, io_error};
use crate::host_image::normalize;

/// An entry of the host's `/etc` that programs need.
pub(super) enum Listed {
    /// This path and all below it.
    Path(&'static str),
    /// Every entry of `/etc` whose name starts like this, and all below it.
    Prefix(&'static str),
}

/// What is copied. Package managers' and shells' settings are not: they hold tokens on some hosts.
pub(super) const SUBSET: &[Listed] = &[
    // Many names of /usr/bin are links through here.
    Listed::Path("alternatives"),
    // Shared libraries.
    Listed::Prefix("ld.so."),
    // Certificates of the public, without private keys.
    Listed::Path("ssl/certs"),
    Listed::Path("ssl/openssl.cnf"),
    Listed::Path("pki/tls/certs"),
    Listed::Path("pki/ca-trust/extracted"),
    Listed::Path("crypto-policies"),
    Listed::Prefix("ca-certificates"),
    // Interpreters that keep part of themselves here.
    Listed::Prefix("java"),
    Listed::Prefix("python3"),
    Listed::Path("perl"),
    Listed::Path("maven/m2.conf"),
    Listed::Path("maven/logging"),
    // Names of things.
    Listed::Path("fonts"),
    Listed::Prefix("locale"),
    Listed::Path("mime.types"),
    Listed::Path("magic"),
    Listed::Path("magic.mime"),
    Listed::Path("services"),
    Listed::Path("protocols"),
    Listed::Path("rpc"),
    Listed::Path("networks"),
    Listed::Path("terminfo"),
    Listed::Path("inputrc"),
    Listed::Path("gai.conf"),
    Listed::Path("xml"),
    Listed::Path("sgml"),
    Listed::Path("debian_version"),
    Listed::Path("lsb-release"),
];

/// Parts of names that are never copied, even from listed directories.
const CLOSED: &[&str] = &[
    "shadow",
    "sudoers",
    "ssh_",
    "machine-id",
    "krb5",
    "keytab",
    "private",
    "secret",
    "password",
    "credential",
    "token",
    ".key",
    ".p12",
    ".pfx",
];

/// How much may be copied.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) bytes_max: u64,
    pub(super) file_bytes_max: u64,
    pub(super) entries_max: u64,
    pub(super) depth_max: usize,
}

impl Limits {
    /// Far above any real system's.
    pub(super) const DEFAULT: Self = Self {
        bytes_max: 64 << 20,
        file_bytes_max: 16 << 20,
        entries_max: 50_000,
        depth_max: 8,
    };
}

/// Most left-out entries named in the report.
const SKIPPED_NAMED_MAX: usize = 64;

/// Builds the tree and keeps the account of it.
pub(super) struct Copier {
    host: PathBuf,
    out: PathBuf,
    limits: Limits,
    report: EtcReport,
    entries: u64,
    /// Links seen on the host and not yet made: path below `/etc` to target.
    links: BTreeMap<String, PathBuf>,
    /// A line of the digest for each entry.
    made: BTreeMap<String, String>,
}

impl Copier {
    pub(super) fn new(host: &Path, out: &Path, limits: Limits) -> Self {
        Self {
            host: host.to_path_buf(),
            out: out.to_path_buf(),
            limits,
            report: EtcReport::default(),
            entries: 0,
            links: BTreeMap::new(),
            made: BTreeMap::new(),
        }
    }

    /// Writes a file of ours.
    pub(super) fn generate(&mut self, path: &str, content: &[u8]) -> Result<(), EtcError> {
        self.report.generated += 1;
        self.write(path, content, 0o644)
    }

    /// Makes a link of ours.
    pub(super) fn generate_link(&mut self, path: &str, target: &str) -> Result<(), EtcError> {
        self.report.generated += 1;
        self.link(path, Path::new(target))
    }

    /// Copies directories and files of the subset, and notes its links.
    pub(super) fn copy_subset(&mut self) -> Result<(), EtcError> {
        let top = self.names_of("")?;
        for listed in SUBSET {
            match listed {
                Listed::Path(path) if self.leads_over_a_link(path) => {
                    self.skip(path, SkipReason::LeadsOut);
                }
                Listed::Path(path) => self.copy(path, 1)?,
                Listed::Prefix(prefix) => top
                    .iter()
                    .filter(|name| name.starts_with(prefix))
                    .try_for_each(|name| self.copy(name, 1))?,
            }
        }
        Ok(())
    }

    /// Makes the links that lead to something a sandbox has.
    pub(super) fn copy_links(&mut self, extra_read_paths: &[String]) -> Result<(), EtcError> {
        // A link may lead to another, so go on until no more can be made.
        loop {
            let leads_in = |(path, target): (&String, &PathBuf)| {
                self.leads_in(path, target, extra_read_paths)
                    .then(|| path.clone())
            };
            let ready: Vec<String> = self.links.iter().filter_map(leads_in).collect();
            if ready.is_empty() {
                break;
            }
            for path in ready {
                let target = self.links.remove(&path).unwrap_or_default();
                self.report.links += 1;
                self.link(&path, &target)?;
            }
        }
        for path in std::mem::take(&mut self.links).into_keys() {
            self.skip(&path, SkipReason::LeadsOut);
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> EtcReport {
        let mut hasher = Sha256::new();
        for line in self.made.values() {
            hasher.update(line);
        }
        self.report.sha256 = hex::encode(hasher.finalize());
        self.report
    }

    /// Whether a directory above the path is a link, whose target would be walked unseen.
    fn leads_over_a_link(&self, path: &str) -> bool {
        let above = path
            .match_indices('/')
            .filter_map(|(slash, _)| path.get(..slash));
        above
            .map(|parent| self.host.join(parent))
            .any(|parent| fs::symlink_metadata(parent).is_ok_and(|metadata| metadata.is_symlink()))
    }

    fn leads_in(&self, path: &str, target: &Path, extra_read_paths: &[String]) -> bool {
        let parent = Path::new("/etc").join(path);
        let parent = parent.parent().unwrap_or(Path::new("/etc"));
        let resolved = normalize(&parent.join(target));
        let programs = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64"];
        let shown = programs
            .into_iter()
            .chain(extra_read_paths.iter().map(String::as_str));
        if shown.into_iter().any(|tree| resolved.starts_with(tree)) {
            return true;
        }
        let below = resolved.strip_prefix("/etc").ok().and_then(Path::to_str);
        below.is_some_and(|below| self.made.contains_key(below))
    }

    fn copy(&mut self, path: &str, depth: usize) -> Result<(), EtcError> {
        let on_host = self.host.join(path);
        let metadata = match fs::symlink_metadata(&on_host) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(io_error("look at", &on_host)(error)),
        };
        if self.made.contains_key(path) || self.links.contains_key(path) {
            return Ok(());
        }
        self.count_entry()?;
        if is_closed(path) {
            self.skip(path, SkipReason::ClosedName);
        } else if metadata.is_symlink() {
            let target = fs::read_link(&on_host).map_err(io_error("read link", &on_host))?;
            self.links.insert(path.to_owned(), target);
        } else if metadata.is_dir() {
            self.copy_dir(path, &metadata, depth)?;
        } else {
            self.copy_file(path)?;
        }
        Ok(())
    }

    fn copy_dir(
        &mut self,
        path: &str,
        metadata: &fs::Metadata,
        depth: usize,
    ) -> Result<(), EtcError> {
        if metadata.mode() & 0o005 != 0o005 {
            self.skip(path, SkipReason::NotForAll);
            return Ok(());
        }
        if depth > self.limits.depth_max {
            self.skip(path, SkipReason::TooDeep);
            return Ok(());
        }
        self.make_dir(path)?;
        for name in self.names_of(path)? {
            self.copy(&format!("{path}/{name}"), depth + 1)?;
        }
        Ok(())
    }

    fn copy_file(&mut self, path: &str) -> Result<(), EtcError> {
        let on_host = self.host.join(path);
        // Nonblocking, so that a FIFO cannot hold us.
        let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC;
        let opened = OpenOptions::new()
            .read(true)
            .custom_flags(flags)
            .open(&on_host);
        let file = match opened {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
                self.skip(path, SkipReason::NotForAll);
                return Ok(());
            }
            Err(error) if matches!(error.raw_os_error(), Some(libc::ENXIO | libc::ELOOP)) => {
                self.skip(path, SkipReason::NotAFile);
                return Ok(());
            }
            Err(error) => return Err(io_error("open", &on_host)(error)),
        };
        let metadata = file.metadata().map_err(io_error("look at", &on_host))?;
        if let Some(reason) = self.refusal(&metadata) {
            self.skip(path, reason);
            return Ok(());
        }
        let content = self.read(&on_host, file)?;
        // No set-id bits, no group or others writing, whatever the host has.
        let mode = if metadata.mode() & 0o001 == 0 {
            0o644
        } else {
            0o755
        };
        self.report.files += 1;
        self.write(path, &content, mode)
    }

    /// Why an opened file is left out, if it is.
    fn refusal(&self, metadata: &fs::Metadata) -> Option<SkipReason> {
        if !metadata.is_file() {
            Some(SkipReason::NotAFile)
        } else if metadata.mode() & 0o004 == 0 {
            Some(SkipReason::NotForAll)
        } else if metadata.len() > self.limits.file_bytes_max {
            Some(SkipReason::TooLarge)
        } else {
            None
        }
    }

    fn read(&self, on_host: &Path, file: File) -> Result<Vec<u8>, EtcError> {
        let mut content = Vec::new();
        // It may have grown since it was looked at.
        file.take(self.limits.file_bytes_max)
            .read_to_end(&mut content)
            .map_err(io_error("read", on_host))?;
        Ok(content)
    }

    fn write(&mut self, path: &str, content: &[u8], mode: u32) -> Result<(), EtcError> {
        let length = u64::try_from(content.len()).unwrap_or(u64::MAX);
        self.report.bytes = self.report.bytes.saturating_add(length);
        if self.report.bytes > self.limits.bytes_max {
            let what = format!("{} bytes", self.limits.bytes_max);
            return Err(EtcError::TooMuch { what });
        }
        self.make_parents(path)?;
        let out = self.out.join(path);
        fs::write(&out, content).map_err(io_error("write", &out))?;
        fs::set_permissions(&out, Permissions::from_mode(mode))
            .map_err(io_error("set mode of", &out))?;
        let sha256 = hex::encode(Sha256::digest(content));
        self.made
            .insert(path.to_owned(), format!("file {mode:o} {sha256} {path}\n"));
        Ok(())
    }

    fn link(&mut self, path: &str, target: &Path) -> Result<(), EtcError> {
        self.make_parents(path)?;
        let out = self.out.join(path);
        symlink(target, &out).map_err(io_error("link", &out))?;
        self.made.insert(
            path.to_owned(),
            format!("link {} {path}\n", target.display()),
        );
        Ok(())
    }

    fn make_parents(&mut self, path: &str) -> Result<(), EtcError> {
        for (slash, _) in path.match_indices('/') {
            self.make_dir(path.get(..slash).unwrap_or_default())?;
        }
        Ok(())
    }

    fn make_dir(&mut self, path: &str) -> Result<(), EtcError> {
        if self.made.contains_key(path) {
            return Ok(());
        }
        self.make_parents(path)?;
        let out = self.out.join(path);
        fs::create_dir(&out).map_err(io_error("make directory", &out))?;
        fs::set_permissions(&out, Permissions::from_mode(0o755))
            .map_err(io_error("set mode of", &out))?;
        self.made.insert(path.to_owned(), format!("dir {path}\n"));
        Ok(())
    }

    /// The names in a directory of the host's `/etc`, sorted; none where there is no directory.
    fn names_of(&mut self, path: &str) -> Result<Vec<String>, EtcError> {
        let dir = self.host.join(path);
        let entries = match fs::read_dir(&dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(io_error("read", &dir)(error)),
        };
        let mut names = Vec::new();
        for entry in entries {
            let name = entry.map_err(io_error("read", &dir))?.file_name();
            match name.to_str() {
                Some(name) => names.push(name.to_owned()),
                None => self.skip(&format!("{path}/{}", name.display()), SkipReason::BadName),
            }
        }
        names.sort();
        Ok(names)
    }

    fn count_entry(&mut self) -> Result<(), EtcError> {
        self.entries += 1;
        if self.entries > self.limits.entries_max {
            let what = format!("{} entries", self.limits.entries_max);
            return Err(EtcError::TooMuch { what });
        }
        Ok(())
    }

    fn skip(&mut self, path: &str, reason: SkipReason) {
        self.report.skipped += 1;
        if self.report.skipped_first.len() < SKIPPED_NAMED_MAX {
            self.report.skipped_first.push(Skipped {
                path: path.to_owned(),
                reason,
            });
        }
    }
}

/// Whether any part of the path has a name that is never copied.
fn is_closed(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    // Certificates are public and may be called anything.
    !lower.starts_with("ssl/certs/") && CLOSED.iter().any(|part| lower.contains(part))
        || lower.ends_with(".key")
}
