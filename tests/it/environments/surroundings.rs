//! Surroundings that a daemon may be started in, each as the beginning of a command line: what
//! follows it runs inside. Made from facts about container engines, with Debian's own programs.

use nix::libc;

/// What Docker leaves to root by default.
const DOCKER_CAPABILITIES: &str = "-all,+chown,+dac_override,+fsetid,+fowner,+mknod,+net_raw,\
     +setgid,+setuid,+setfcap,+setpcap,+net_bind_service,+sys_chroot,+kill,+audit_write";

/// Calls that Docker's default filter refuses to those without `CAP_SYS_ADMIN`, as far as they are
/// anything to a sandbox.
const DOCKER_REFUSES: [libc::c_long; 17] = [
    libc::SYS_add_key,
    libc::SYS_bpf,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_keyctl,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_perf_event_open,
    libc::SYS_pivot_root,
    libc::SYS_request_key,
    libc::SYS_setns,
    libc::SYS_umount2,
    libc::SYS_unshare,
];
/// Flags of clone(2) that make a namespace.
const NAMESPACES: u32 = 0x7e02_0000;

/// Lays a filter, given in hexadecimal, on itself and executes the rest.
const FILTERED: &str = r"
import ctypes, os, struct, sys
code = bytes.fromhex(sys.argv[1])
text = ctypes.create_string_buffer(code, len(code))
program = struct.pack('HxxxxxxQ', len(code) // 8, ctypes.addressof(text))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(22, 2, ctypes.create_string_buffer(program, 16), 0, 0) == 0, ctypes.get_errno()
os.execv(sys.argv[2], sys.argv[2:])
";

/// Executes the rest under a uid in a user namespace that has every id of the host and in which,
/// and below which, no further one may be made.
const WITHOUT_NAMESPACES: &str = r"
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
made, tell_made = os.pipe()
mapped, tell_mapped = os.pipe()
child = os.fork()
if child == 0:
    assert libc.unshare(0x10000000) == 0, ctypes.get_errno()
    os.write(tell_made, b'x')
    assert os.read(mapped, 1) == b'x'
    open('/proc/sys/user/max_user_namespaces', 'w').write('0')
    user = int(sys.argv[1])
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    os.execv(sys.argv[2], sys.argv[2:])
os.read(made, 1)
for name in ('uid_map', 'gid_map'):
    open(f'/proc/{child}/{name}', 'w').write('0 0 4294967295')
os.write(tell_mapped, b'x')
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
";

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// Own process, mount, cgroup and other namespaces, and all of root's powers: a privileged container.
pub(super) fn privileged() -> Vec<String> {
    let own = "unshare --pid --fork --kill-child --mount --uts --ipc --cgroup --mount-proc --";
    words(&own.split(' ').collect::<Vec<_>>())
}

/// The same for a plain user.
pub(super) fn unfiltered(user: u32) -> Vec<String> {
    [privileged(), become_user(user)].concat()
}

/// The same, with a part of `/proc` hidden, as container engines do it.
pub(super) fn with_hidden_proc(user: u32) -> Vec<String> {
    let hide = "mount -t tmpfs -o ro tmpfs /proc/tty && exec \"$@\"";
    [
        privileged(),
        words(&["/bin/sh", "-c", hide, "sh"]),
        become_user(user),
    ]
    .concat()
}

/// Docker's default for root.
pub(super) fn docker() -> Vec<String> {
    let take = ["/usr/bin/setpriv", "--bounding-set", DOCKER_CAPABILITIES];
    [
        privileged(),
        words(&["/usr/bin/python3", "-I", "-c", FILTERED, &filter()]),
        words(&take),
        words(&["--inh-caps=-all", "--"]),
    ]
    .concat()
}

/// Docker's default for a plain user.
pub(super) fn docker_user(user: u32) -> Vec<String> {
    [docker(), become_user(user)].concat()
}

/// A host without user namespaces, for a user, or for a root that is one in a namespace only.
pub(super) fn without_namespaces(user: u32) -> Vec<String> {
    let python = ["/usr/bin/python3", "-I", "-c", WITHOUT_NAMESPACES];
    [words(&python), vec![user.to_string()]].concat()
}

fn become_user(user: u32) -> Vec<String> {
    let user = user.to_string();
    words(&[
        "/usr/bin/setpriv",
        "--reuid",
        &user,
        "--regid",
        &user,
        "--clear-groups",
        "--",
    ])
}

/// The filter's instructions, in hexadecimal.
fn filter() -> String {
    const LOAD: u16 = 0x20;
    const IF_EQUAL: u16 = 0x15;
    const IF_ANY_BIT: u16 = 0x45;
    const RETURN: u16 = 0x06;
    const NUMBER_AT: u32 = 0;
    const FIRST_ARGUMENT_AT: u32 = 16;
    const ALLOW: u32 = 0x7fff_0000;
    let refuse = |errno: i32| 0x0005_0000 | errno.unsigned_abs();
    let number = |call: libc::c_long| u32::try_from(call).expect("a number of a call");
    let mut program: Vec<(u16, u8, u8, u32)> = vec![(LOAD, 0, 0, NUMBER_AT)];
    for call in DOCKER_REFUSES {
        program.push((IF_EQUAL, 0, 1, number(call)));
        program.push((RETURN, 0, 0, refuse(libc::EPERM)));
    }
    // Its arguments lie in memory, where no filter can look.
    program.push((IF_EQUAL, 0, 1, number(libc::SYS_clone3)));
    program.push((RETURN, 0, 0, refuse(libc::ENOSYS)));
    program.push((IF_EQUAL, 0, 3, number(libc::SYS_clone)));
    program.push((LOAD, 0, 0, FIRST_ARGUMENT_AT));
    program.push((IF_ANY_BIT, 0, 1, NAMESPACES));
    program.push((RETURN, 0, 0, refuse(libc::EPERM)));
    program.push((RETURN, 0, 0, ALLOW));
    let bytes = program.into_iter().flat_map(|(code, yes, no, value)| {
        let [a, b] = code.to_le_bytes();
        let [c, d, e, f] = value.to_le_bytes();
        [a, b, yes, no, c, d, e, f]
    });
    hex::encode(bytes.collect::<Vec<u8>>())
}
