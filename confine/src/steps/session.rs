//! What pid 1 does once: builds the only file tree there is, leaves the host's, gives up its
//! privileges. See [`crate::sequence::SESSION`] for the order and the reasons.

use std::ffi::CString;
use std::io::Write as _;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use landlock::RulesetCreated;
use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, AtFlags, OFlag, OpenHow, ResolveFlag, openat2};
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, unshare};
use nix::sys::stat::{FchmodatFlags, Mode as FileMode, fchmodat, mkdirat};
use nix::unistd::{Gid, Uid, fchdir, fchownat, symlinkat};

use super::{StepError, Taken, proc_view};
use crate::boot::{Boot, FromBoot, RootOp, ToBoot};
use crate::plan::{Mode, NetworkPlan, ProcView};
use crate::sys::{self, mount as mounts, process};
use crate::{landlock_rules as rules, mutation, packet};

/// Uid and gid of commands inside the sandbox.
pub const PAYLOAD_ID: u32 = 1000;

/// Where the new root is attached for a moment; any directory that every host has.
const STAGING: &str = "/tmp";
/// Name of the writable file system while its parts are being bound.
const DATA: &str = ".data";

/// What the session steps work on.
#[derive(Debug)]
pub struct Session {
    /// Orders from the launcher.
    pub boot: Boot,
    /// Socket to the forker.
    pub link: OwnedFd,
    /// The new root, once made.
    pub root: Option<OwnedFd>,
    /// Landlock rules for commands, once made.
    pub rules: Option<RulesetCreated>,
}

impl Session {
    /// Nothing done yet.
    pub fn new(boot: Boot, link: OwnedFd) -> Self {
        Self {
            boot,
            link,
            root: None,
            rules: None,
        }
    }

    pub(crate) fn root(&self) -> Result<BorrowedFd<'_>, StepError> {
        let missing = StepError {
            doing: "use the root before it is made".into(),
            errno: Errno::EINVAL,
        };
        self.root.as_ref().map(AsFd::as_fd).ok_or(missing)
    }

    fn rootless(&self) -> bool {
        self.boot.plan.mode == Mode::Rootless
    }

    pub(super) fn namespaces(&self) -> bool {
        self.boot.plan.mode != Mode::Landlock
    }

    /// Asks the forker to write the id maps of the namespace we are in, and waits for it.
    fn ask_maps(&self) -> Result<(), StepError> {
        let failed = |error: packet::PacketError| StepError {
            doing: format!("have the id maps written: {error}"),
            errno: error.errno(),
        };
        packet::send(self.link.as_fd(), &FromBoot::NeedMaps, &[]).map_err(failed)?;
        match packet::receive::<ToBoot>(self.link.as_fd(), false).map_err(failed)? {
            Some((ToBoot::Mapped, _)) => Ok(()),
            Some((ToBoot::Start, _)) | None => Err(StepError {
                doing: "wait for the id maps: the launcher is gone".into(),
                errno: Errno::EPIPE,
            }),
        }
    }
}

fn c_path(path: &str) -> Result<CString, StepError> {
    CString::new(path).map_err(|_nul| StepError {
        doing: format!("use path {path:?} with a NUL byte"),
        errno: Errno::EINVAL,
    })
}

/// Rootless: the first user namespace, made by the forker's clone, got its one-id map before the
/// exec of this program; only the ids of this process are still to be changed.
pub fn outer_maps(session: &mut Session) -> Result<Taken, StepError> {
    if !session.rootless() {
        return Ok(Taken::not_asked("not rootless"));
    }
    process::set_identity(0, 0, false)
        .map_err(StepError::at("become root of the outer namespace"))?;
    Ok(Taken::enforced(format!(
        "outer uid {}",
        session.boot.outer_uid
    )))
}

/// Leaves the host's session keyring.
pub fn session_keyring(_session: &mut Session) -> Result<Taken, StepError> {
    match (sys::new_session_keyring(), sys::session_keyring()) {
        (Ok(()), _) => Ok(Taken::enforced("")),
        // A filter around all of us: nobody from here on can name a key.
        (Err(Errno::EPERM | Errno::ENOSYS), Err(Errno::EPERM | Errno::ENOSYS)) => {
            Ok(Taken::enforced("the host refuses every key call"))
        }
        (Err(errno), _) => Err(StepError::at("join a new session keyring")(errno)),
    }
}

/// Stops mounts from propagating in either direction.
pub fn private_mounts(session: &mut Session) -> Result<Taken, StepError> {
    if !session.namespaces() {
        return Ok(Taken::degraded("no mount namespace in landlock mode"));
    }
    let none: Option<&str> = None;
    mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_PRIVATE, none)
        .map_err(StepError::at("make all mounts private"))?;
    Ok(Taken::enforced(""))
}

/// Builds the root from the image's operations.
pub fn root_tree(session: &mut Session) -> Result<Taken, StepError> {
    if !session.namespaces() {
        return Ok(Taken::degraded("no mount namespace in landlock mode"));
    }
    // All host trees are taken before the new root covers the staging directory.
    let mut trees = Vec::new();
    for op in &session.boot.root {
        if let RootOp::Bind {
            source,
            target,
            devices,
            executable,
        } = op
        {
            trees.push((target.clone(), take_tree(source, *devices, *executable)?));
        }
    }
    let options = [
        (c"size", c"4m"),
        (c"nr_inodes", c"4096"),
        (c"mode", c"0755"),
    ];
    let attributes = mounts::ATTR_NOSUID | mounts::ATTR_NODEV;
    let root = mounts::make(c"tmpfs", &options, attributes)
        .map_err(StepError::at("make the root tmpfs"))?;
    let cwd = nix::fcntl::open(STAGING, OFlag::O_PATH | OFlag::O_CLOEXEC, FileMode::empty())
        .map_err(StepError::at("open the staging directory"))?;
    mounts::attach_onto(root.as_fd(), cwd.as_fd()).map_err(StepError::at("attach the root"))?;
    for op in &session.boot.root {
        make_entry(&root, op)?;
    }
    let count = trees.len();
    for (target, tree) in trees {
        mounts::attach(tree.as_fd(), root.as_fd(), &c_path(&target)?)
            .map_err(StepError::at(format!("attach {target}")))?;
    }
    attach_terminals(&root)?;
    session.root = Some(root);
    Ok(Taken::enforced(format!(
        "image {}, {count} read-only trees",
        session.boot.plan.image
    )))
}

/// Makes the place of one operation; binds are attached later.
fn make_entry(root: &OwnedFd, op: &RootOp) -> Result<(), StepError> {
    match op {
        RootOp::Dir { path, mode } => {
            mkdirat(root, path.as_str(), FileMode::from_bits_truncate(*mode))
                .map_err(StepError::at(format!("make directory {path}")))
        }
        RootOp::File { path } => make_file(root, path),
        RootOp::Symlink { target, link } => symlinkat(target.as_str(), root, link.as_str())
            .map_err(StepError::at(format!("make link {link}"))),
        RootOp::Bind { .. } => Ok(()),
    }
}

fn make_file(root: &OwnedFd, path: &str) -> Result<(), StepError> {
    let flags = OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_RDONLY | OFlag::O_CLOEXEC;
    nix::fcntl::openat(root, path, flags, FileMode::from_bits_truncate(0o444))
        .map(drop)
        .map_err(StepError::at(format!("make file {path}")))
}

fn take_tree(source: &str, devices: bool, executable: bool) -> Result<OwnedFd, StepError> {
    // Over no link: the folder may belong to somebody who puts one in its place.
    let how = OpenHow::new()
        .flags(OFlag::O_PATH | OFlag::O_CLOEXEC)
        .resolve(ResolveFlag::RESOLVE_NO_SYMLINKS | ResolveFlag::RESOLVE_NO_MAGICLINKS);
    let doing = || StepError::at(format!("take host tree {source}"));
    let place = openat2(AT_FDCWD, source, how).map_err(doing())?;
    let tree = mounts::clone_tree(Some(place.as_fd()), c"", true).map_err(doing())?;
    let mut set = mounts::ATTR_RDONLY | mounts::ATTR_NOSUID;
    if !devices {
        set |= mounts::ATTR_NODEV;
    }
    if !executable {
        set |= mounts::ATTR_NOEXEC;
    }
    // /run, where our own device folder lies, is mounted nodev on most hosts.
    let clear = if devices { mounts::ATTR_NODEV } else { 0 };
    mounts::set_attributes(tree.as_fd(), set, clear, true)
        .map_err(StepError::at(format!("make {source} read-only")))?;
    Ok(tree)
}

/// An own devpts: no terminal of the host or of another sandbox can be named.
fn attach_terminals(root: &OwnedFd) -> Result<(), StepError> {
    let options = [
        (c"newinstance", c""),
        (c"ptmxmode", c"0666"),
        (c"mode", c"0620"),
    ];
    let attributes = mounts::ATTR_NOSUID | mounts::ATTR_NOEXEC;
    let pts =
        mounts::make(c"devpts", &options, attributes).map_err(StepError::at("make devpts"))?;
    mounts::attach(pts.as_fd(), root.as_fd(), c"dev/pts").map_err(StepError::at("attach /dev/pts"))
}

/// One tmpfs, sized, behind `/workspace`, `/tmp` and `/dev/shm`.
pub fn workspace(session: &mut Session) -> Result<Taken, StepError> {
    if !session.namespaces() {
        process::become_subreaper().map_err(StepError::at("adopt all orphans"))?;
        return Ok(Taken::degraded("a host folder without a size limit"));
    }
    let limits = &session.boot.plan.limits;
    let (bytes, inodes) = (limits.disk_bytes_max, limits.files_max);
    let data = make_data(&bytes.to_string(), &inodes.to_string())?;
    let root = session.root()?;
    mkdirat(root, DATA, FileMode::from_bits_truncate(0o700))
        .map_err(StepError::at("make the data directory"))?;
    mounts::attach(data.as_fd(), root, c".data").map_err(StepError::at("attach the data tmpfs"))?;
    let owner = payload_host_id(&session.boot);
    let mut attributes = mounts::ATTR_NOSUID | mounts::ATTR_NODEV;
    if session.boot.plan.files.writable_noexec {
        attributes |= mounts::ATTR_NOEXEC;
    }
    for (name, target, mode) in [
        ("workspace", c"workspace", 0o755),
        ("tmp", c"tmp", 0o1777),
        ("shm", c"dev/shm", 0o1777),
    ] {
        let doing = |what: &str| StepError::at(format!("{what} of {name}"));
        mkdirat(&data, name, FileMode::from_bits_truncate(0o700))
            .map_err(doing("make directory"))?;
        fchmodat(
            &data,
            name,
            FileMode::from_bits_truncate(mode),
            FchmodatFlags::FollowSymlink,
        )
        .map_err(doing("set mode"))?;
        fchownat(
            &data,
            name,
            Some(Uid::from_raw(owner)),
            Some(Gid::from_raw(owner)),
            AtFlags::AT_SYMLINK_NOFOLLOW,
        )
        .map_err(doing("set owner"))?;
        let part = mounts::clone_tree(Some(root), &c_path(&format!("{DATA}/{name}"))?, false)
            .map_err(doing("bind"))?;
        mounts::set_attributes(part.as_fd(), attributes, 0, false).map_err(doing("set flags"))?;
        mounts::attach(part.as_fd(), root, target).map_err(doing("attach"))?;
    }
    fchdir(root).map_err(StepError::at("enter the new root"))?;
    umount2(DATA, MntFlags::MNT_DETACH).map_err(StepError::at("hide the data tmpfs"))?;
    nix::unistd::unlinkat(root, DATA, nix::unistd::UnlinkatFlags::RemoveDir)
        .map_err(StepError::at("remove the data directory"))?;
    Ok(Taken::enforced(format!("{bytes} bytes, {inodes} inodes")))
}

fn make_data(bytes: &str, inodes: &str) -> Result<OwnedFd, StepError> {
    let (size, count) = (c_path(bytes)?, c_path(inodes)?);
    let base = [
        (c"size", size.as_c_str()),
        (c"nr_inodes", count.as_c_str()),
        (c"mode", c"0755"),
    ];
    let attributes = mounts::ATTR_NOSUID | mounts::ATTR_NODEV;
    let mut noswap = base.to_vec();
    noswap.push((c"noswap", c""));
    // noswap came with Linux 6.4 and is not for unprivileged mounts; swap is limited by the
    // memory cgroup besides.
    mounts::make(c"tmpfs", &noswap, attributes)
        .or_else(|_unsupported| mounts::make(c"tmpfs", &base, attributes))
        .map_err(StepError::at("make the data tmpfs"))
}

/// Host id of the payload: in root mode the namespace is not entered yet, so the host's number.
fn payload_host_id(boot: &Boot) -> u32 {
    match boot.plan.mode {
        Mode::Root => boot.uid_base.saturating_add(PAYLOAD_ID),
        Mode::Rootless | Mode::Landlock => 0,
    }
}

/// A new procfs of the own pid namespace.
pub fn proc(session: &mut Session) -> Result<Taken, StepError> {
    if !session.namespaces() {
        return Ok(Taken::degraded("the host's /proc is seen in landlock mode"));
    }
    let root = session.root()?;
    match session.boot.plan.proc {
        ProcView::PidsOnly => {
            proc_view::attach_pids_only(root)?;
            Ok(Taken::enforced("own processes only"))
        }
        ProcView::Masked => {
            let masked = proc_view::attach_masked(root)?;
            Ok(Taken::enforced(format!(
                "read-only, {masked} entries masked"
            )))
        }
    }
}

/// Swaps the roots, drops the old one, and checks that it is gone.
pub fn pivot(session: &mut Session) -> Result<Taken, StepError> {
    if !session.namespaces() {
        return Ok(Taken::degraded("no mount namespace in landlock mode"));
    }
    let root = session.root()?;
    mounts::set_attributes(root, mounts::ATTR_RDONLY, 0, false)
        .map_err(StepError::at("make the root read-only"))?;
    fchdir(root).map_err(StepError::at("enter the new root"))?;
    mounts::pivot_here().map_err(StepError::at("pivot"))?;
    umount2(".", MntFlags::MNT_DETACH).map_err(StepError::at("drop the old root"))?;
    nix::unistd::chdir("/").map_err(StepError::at("enter /"))?;
    let here = nix::unistd::getcwd().map_err(StepError::at("read the working directory"))?;
    if here != std::path::Path::new("/") {
        // The kernel says "(unreachable)..." when the directory lies outside the root.
        return Err(StepError {
            doing: format!("check that / is the root: {here:?}"),
            errno: Errno::EXDEV,
        });
    }
    session.root = None;
    Ok(Taken::enforced(""))
}

/// Shows a name of our own.
pub fn host_name(session: &mut Session) -> Result<Taken, StepError> {
    if !session.namespaces() {
        return Ok(Taken::degraded("no UTS namespace in landlock mode"));
    }
    nix::unistd::sethostname(&session.boot.plan.hostname)
        .map_err(StepError::at("set the host name"))?;
    Ok(Taken::enforced(session.boot.plan.hostname.clone()))
}

/// Brings `lo` up in the otherwise empty network namespace.
pub fn loopback(session: &mut Session) -> Result<Taken, StepError> {
    if !session.namespaces() {
        return Ok(Taken::degraded(
            "no network namespace; seccomp refuses IP sockets",
        ));
    }
    match session.boot.plan.network {
        NetworkPlan::Sealed => Ok(Taken::not_asked("sealed: lo stays down")),
        NetworkPlan::Loopback => {
            sys::loopback_up().map_err(StepError::at("bring lo up"))?;
            Ok(Taken::enforced("lo only, no route"))
        }
    }
}

/// Hands all mounts to a new owner, which locks their flags, and becomes uid 0 of it.
pub fn user_namespace(session: &mut Session) -> Result<Taken, StepError> {
    if !session.namespaces() {
        return Ok(Taken::degraded("no user namespace in landlock mode"));
    }
    let rootless = session.rootless();
    let maps = if rootless {
        Some(writable_proc()?)
    } else {
        None
    };
    unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNS)
        .map_err(StepError::at("enter a new user and mount namespace"))?;
    match maps {
        Some(proc) => map_own_id(&proc)?,
        None => session.ask_maps()?,
    }
    let id = if rootless { PAYLOAD_ID } else { 0 };
    process::set_identity(id, id, !rootless)
        .map_err(StepError::at("become root of the namespace"))?;
    Ok(Taken::enforced(if rootless {
        format!("one id ({})", session.boot.outer_uid)
    } else {
        format!(
            "host ids {} to {}",
            session.boot.uid_base,
            session.boot.uid_base.saturating_add(65_535)
        )
    }))
}

/// A `/proc` that is mounted nowhere, for the id maps: the sandbox's own one is read-only where it
/// is masked, and from within the new user namespace none could be made.
fn writable_proc() -> Result<OwnedFd, StepError> {
    let attributes = mounts::ATTR_NOSUID | mounts::ATTR_NODEV | mounts::ATTR_NOEXEC;
    mounts::make(c"proc", &[(c"subset", c"pid")], attributes)
        .map_err(StepError::at("make a procfs for the id maps"))
}

/// Rootless: a process may map its own single id itself; nobody outside could.
fn map_own_id(proc: &OwnedFd) -> Result<(), StepError> {
    let map = format!("{PAYLOAD_ID} 0 1");
    for (file, text) in [("setgroups", "deny"), ("uid_map", &map), ("gid_map", &map)] {
        let flags = OFlag::O_WRONLY | OFlag::O_CLOEXEC;
        let path = format!("self/{file}");
        let open = nix::fcntl::openat(proc, path.as_str(), flags, FileMode::empty())
            .map_err(StepError::at(format!("open {file}")))?;
        std::fs::File::from(open)
            .write_all(text.as_bytes())
            .map_err(StepError::io(format!("write {file}")))?;
    }
    Ok(())
}

/// Makes the Landlock ruleset that every command is put under.
pub fn landlock_rules(session: &mut Session) -> Result<Taken, StepError> {
    let abi = session.boot.landlock_abi;
    if abi == 0 {
        return Ok(Taken::degraded(
            "the kernel has no Landlock; the mount namespace stands alone",
        ));
    }
    session.rules = Some(rules::build(&session.boot, abi)?);
    Ok(rules::taken(&session.boot, session.namespaces()))
}

/// Keeps only what pid 1 needs to start, signal and reap commands.
pub fn init_privileges(session: &mut Session) -> Result<Taken, StepError> {
    const CAP_KILL: u32 = 5;
    const CAP_SETGID: u32 = 6;
    const CAP_SETUID: u32 = 7;
    const CAP_SETPCAP: u32 = 8;
    if !session.namespaces() {
        no_new_privs()?;
        return Ok(Taken::not_asked("the launcher has no privileges"));
    }
    const CAP_SYS_PTRACE: u32 = 19;
    let mut kept = vec![CAP_KILL, CAP_SETGID, CAP_SETUID, CAP_SETPCAP];
    let mut names = "KILL SETGID SETUID SETPCAP".to_owned();
    if session
        .boot
        .plan
        .degradable
        .iter()
        .any(|name| name == "memory")
    {
        // Pid 1 adds up what its processes use; one that is not dumpable would be hidden from it.
        kept.push(CAP_SYS_PTRACE);
        names.push_str(" SYS_PTRACE");
    }
    for capability in 0..=sys::last_capability() {
        if !kept.contains(&capability) {
            process::drop_bounding(capability)
                .map_err(StepError::at(format!("drop capability {capability}")))?;
        }
    }
    let mask = kept
        .iter()
        .fold(0u64, |mask, capability| mask | (1 << capability));
    process::set_capabilities(mask).map_err(StepError::at("reduce the capabilities of init"))?;
    no_new_privs()?;
    Ok(Taken::enforced(names))
}

/// For pid 1 itself. Programs inherit it, so a build without the step of that name lacks it here too.
fn no_new_privs() -> Result<(), StepError> {
    if mutation::is_off("no_new_privs") {
        return Ok(());
    }
    process::set_no_new_privs().map_err(StepError::at("set no_new_privs"))
}

/// Nobody may trace pid 1, and it dies with the launcher.
pub fn init_guard(_session: &mut Session) -> Result<Taken, StepError> {
    process::set_dumpable(false).map_err(StepError::at("make init untraceable"))?;
    process::die_with_parent().map_err(StepError::at("set the parent-death signal"))?;
    Ok(Taken::enforced(""))
}
