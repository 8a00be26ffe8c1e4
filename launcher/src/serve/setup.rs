//! What the launcher looks up or prepares once, before it serves.

use std::os::fd::OwnedFd;
use std::path::Path;

use anyhow::{Context, Result};
use confine::host::HostFacts;
use confine::host::cgroups::MOUNT as CGROUPS;
use confine::own::{OwnProcess, Reach};
use confine::packet;
use confine::plan::Mode;
use nix::sys::memfd::MFdFlags;

use crate::attest::warn;
use crate::instance::Instance;

pub(super) fn set_cloexec(fd: &OwnedFd) -> Result<()> {
    use nix::fcntl::{FcntlArg, FdFlag, fcntl};
    fcntl(fd, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC)).context("keep a descriptor from children")?;
    Ok(())
}

/// A sealed copy of pid 1: nothing a sandbox could reach through it can be written.
pub(super) fn seal_init(path: &Path) -> Result<OwnedFd> {
    let bytes = std::fs::read(path).with_context(|| format!("read {}", path.display()))?;
    // MFD_EXEC, not yet named by the wrapper.
    let executable = MFdFlags::from_bits_retain(0x10);
    if confine::mutation::is_off("seal_init") {
        return unsealed(&bytes);
    }
    packet::seal_bytes(&bytes, executable)
        // Kernels before 6.3 do not know the flag; there every memfd is executable.
        .or_else(|_unknown_flag| packet::seal_bytes(&bytes, MFdFlags::empty()))
        .context("seal sandbox-init")
}

/// What a test build runs pid 1 from when it leaves the seals out.
fn unsealed(bytes: &[u8]) -> Result<OwnedFd> {
    let fd = nix::sys::memfd::memfd_create(c"rollcage", MFdFlags::MFD_ALLOW_SEALING)
        .context("make a memfd")?;
    let mut file = std::fs::File::from(fd);
    std::io::Write::write_all(&mut file, bytes).context("fill a memfd")?;
    Ok(file.into())
}

pub(super) fn memory_bytes_total() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let total = text.lines().find_map(|line| {
        line.strip_prefix("MemTotal:")?
            .trim()
            .strip_suffix("kB")?
            .trim()
            .parse::<u64>()
            .ok()
    });
    total.map_or(1 << 34, |kib| kib.saturating_mul(1024))
}

/// Controls this host cannot give, by the names a plan may call degradable.
pub(super) fn missing_controls(host: &HostFacts) -> Vec<String> {
    let mut missing: Vec<String> = ["memory", "pids", "cpu"]
        .into_iter()
        .filter(|name| !host.cgroups.has(name))
        .map(str::to_owned)
        .collect();
    if host.mode == Mode::Landlock {
        missing.push("namespaces".into());
    }
    if host.landlock_abi == 0 {
        missing.push("landlock".into());
    }
    missing
}

/// The launcher's own locks, once nothing is to be forked or mounted any more.
pub(super) fn lock_up(instance: &Instance) -> Result<()> {
    let launcher = OwnProcess::Launcher;
    launcher.drop_bounding()?;
    launcher.reduce_capabilities()?;
    let reach = Reach {
        read: &[Path::new("/proc")],
        write: &[
            Path::new(CGROUPS),
            instance.dir(),
            instance.locks(),
            instance.parent(),
        ],
    };
    if let Some(missing) = launcher.lock(reach)? {
        warn(&format!("locked up less than it could be: {missing}"));
    }
    Ok(())
}

/// Enters a mount namespace of our own and puts a small tmpfs on our folder there: on most hosts
/// `/run` is mounted nodev, and nothing of ours shows in the host's mount table.
pub(super) fn own_mounts(dir: &Path) -> Result<()> {
    use nix::mount::{MsFlags, mount};
    use nix::sched::{CloneFlags, unshare};
    let none: Option<&str> = None;
    unshare(CloneFlags::CLONE_NEWNS).context("enter an own mount namespace")?;
    // Slave, not private: what the host unmounts goes here too and is not kept busy.
    mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_SLAVE, none)
        .context("detach from the host's mounts")?;
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NOEXEC;
    mount(
        Some("tmpfs"),
        dir,
        Some("tmpfs"),
        flags,
        Some("mode=0711,size=96m"),
    )
    .with_context(|| format!("mount a tmpfs on {}", dir.display()))
}
