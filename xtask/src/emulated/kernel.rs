//! The kernel and the file system it unpacks first. The package comes from Debian's archive by
//! `apt-get download` once, into the target folder; nothing is installed.

use super::archive::Archive;
use super::image::BUSYBOX;
use crate::shell;
use anyhow::{Context, Result};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The package that depends on the newest kernel of its kind.
const META_PACKAGE: &str = "linux-image-cloud-amd64";
/// What the kernel's own package is called: the host is to lack what later ones have.
const WANTED: &str = "linux-image-6.1.";
/// Modules to load before there is a disk, in this order.
const MODULES: [&str; 6] = [
    "drivers/virtio/virtio_ring.ko",
    "drivers/virtio/virtio.ko",
    "drivers/virtio/virtio_pci_legacy_dev.ko",
    "drivers/virtio/virtio_pci_modern_dev.ko",
    "drivers/virtio/virtio_pci.ko",
    "drivers/block/virtio_blk.ko",
];

/// What the emulator boots.
#[derive(Debug)]
pub(super) struct Kernel {
    pub(super) image: PathBuf,
    pub(super) first_files: PathBuf,
}

/// Whether there is one.
#[derive(Debug)]
pub(super) enum Fetched {
    /// There is.
    Kernel(Kernel),
    /// It cannot be had here.
    Missing {
        /// Why.
        reason: String,
    },
}

/// The kernel, fetched unless it lies in `work` already.
///
/// # Errors
/// When what was fetched is not what was expected, or files cannot be written.
pub(super) fn fetch(work: &Path) -> Result<Fetched> {
    let unpacked = work.join("kernel");
    if !unpacked.join("boot").is_dir()
        && let Some(reason) = download(work, &unpacked)?
    {
        return Ok(Fetched::Missing { reason });
    }
    let image = only_entry(&unpacked.join("boot"), "vmlinuz-")?;
    let modules = only_entry(&unpacked.join("lib/modules"), "6.1.")?;
    let first_files = work.join("first-files.cpio");
    let archive = first_files_archive(&modules.join("kernel"))?;
    fs::write(&first_files, archive).with_context(|| format!("write {}", first_files.display()))?;
    Ok(Fetched::Kernel(Kernel { image, first_files }))
}

/// Fetches and unpacks it; gives the reason when it is not to be had.
fn download(work: &Path, unpacked: &Path) -> Result<Option<String>> {
    if !Path::new("/usr/bin/apt-get").exists() {
        return Ok(Some(
            "its kernel is a Debian package, and this is not Debian".to_owned(),
        ));
    }
    let depends = shell::capture(Command::new("apt-cache").args(["depends", META_PACKAGE]));
    let Some(package) = depends.ok().as_deref().and_then(kernel_package) else {
        let reason = format!("apt knows no package {WANTED}* here; it is in Debian 12");
        return Ok(Some(reason));
    };
    let fetched = shell::run(Command::new("apt-get").current_dir(work).args([
        "-qq",
        "-o",
        "Acquire::Retries=1",
        "-o",
        "Acquire::http::Timeout=20",
        // The user that apt drops to may not reach this folder.
        "-o",
        "APT::Sandbox::User=root",
        "download",
        &package,
    ]))?;
    if !fetched {
        return Ok(Some(format!("{package} could not be downloaded")));
    }
    let file = only_entry(work, &package)?;
    // Under another name until it is whole.
    let partly = work.join("kernel-partly");
    remove_folder(&partly)?;
    shell::must(Command::new("dpkg-deb").arg("-x").args([&file, &partly]))?;
    remove_folder(unpacked)?;
    fs::rename(&partly, unpacked).context("place the kernel")?;
    fs::remove_file(&file).with_context(|| format!("remove {}", file.display()))?;
    Ok(None)
}

/// The package of the kernel in what `apt-cache depends` says.
fn kernel_package(depends: &str) -> Option<String> {
    depends
        .lines()
        .filter_map(|line| line.trim().strip_prefix("Depends: "))
        .find(|name| name.starts_with(WANTED))
        .map(str::to_owned)
}

fn remove_folder(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("remove {}", folder.display()))
        }
        _ => Ok(()),
    }
}

/// The one entry of a folder whose name begins so.
fn only_entry(folder: &Path, start: &str) -> Result<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("list {}", folder.display()))? {
        let entry = entry.with_context(|| format!("list {}", folder.display()))?;
        if entry.file_name().to_string_lossy().starts_with(start) {
            found.push(entry.path());
        }
    }
    match found.as_slice() {
        [one] => Ok(one.clone()),
        _ => anyhow::bail!("{} has {} entries {start}*", folder.display(), found.len()),
    }
}

fn first_files_archive(modules: &Path) -> Result<Vec<u8>> {
    let read = |path: &Path| fs::read(path).with_context(|| format!("read {}", path.display()));
    let mut archive = Archive::default();
    for folder in ["bin", "dev", "root"] {
        archive.folder(folder);
    }
    archive.program("bin/busybox", &read(Path::new(BUSYBOX))?);
    for module in MODULES {
        let path = modules.join(module);
        let name = path.file_name().and_then(OsStr::to_str);
        archive.program(name.context("name a module")?, &read(&path)?);
    }
    archive.program("init", include_bytes!("first.sh"));
    Ok(archive.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_package_is_found_and_no_other() {
        let told = "linux-image-cloud-amd64\n  Depends: linux-image-6.1.0-57-cloud-amd64\n";
        let found = kernel_package(told);
        assert_eq!(found.as_deref(), Some("linux-image-6.1.0-57-cloud-amd64"));
        assert_eq!(
            kernel_package("x\n  Depends: linux-image-6.12.9-amd64\n"),
            None
        );
    }
}
