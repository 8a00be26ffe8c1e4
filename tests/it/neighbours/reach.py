"""Tries to reach everything that `planted.py` planted, and prints the names of what was reached."""
import ctypes, fcntl, json, os, resource, signal, socket, sys

planted = json.loads(sys.argv[-1])
libc = ctypes.CDLL(None, use_errno=True)
reached = []


def attempt(what, act):
    try:
        if act() is not False:
            reached.append(what)
    except (OSError, ValueError):
        pass


def call(number, *arguments):
    # The words of a call are as wide as a register.
    words = [ctypes.c_long(word) if isinstance(word, int) else word for word in arguments]
    return libc.syscall(ctypes.c_long(number), *words) >= 0


def connect(family, address, kind=socket.SOCK_STREAM):
    with socket.socket(family, kind) as one:
        one.settimeout(3)
        one.connect(address)
        if kind == socket.SOCK_DGRAM:
            one.send(b"x")


def second_name(path):
    name = "/workspace/name" if os.path.isdir("/workspace") else path + ".link"
    os.link(path, name)
    os.unlink(name)


for what in ("ssh key", "file at home", "file in tmp", "shared memory file"):
    path = planted[what]
    attempt(what, lambda: open(path).read() + "")
    attempt(what + " for writing", lambda: open(path, "r+").close())
    attempt(what + " by another name", lambda: second_name(path))
    for way in ("/proc/1/root", "/proc/self/root", f"/proc/{planted['process']}/root"):
        attempt(what + " through /proc", lambda: open(way + path).close())
for what in ("ssh agent", "message bus", "container daemon"):
    attempt(what, lambda: connect(socket.AF_UNIX, planted[what]))
attempt("datagram socket", lambda: connect(socket.AF_UNIX, planted["datagram socket"], socket.SOCK_DGRAM))
attempt("abstract socket", lambda: connect(socket.AF_UNIX, "\0" + planted["abstract socket"]))
attempt("tcp", lambda: connect(socket.AF_INET, ("127.0.0.1", planted["tcp"])))
attempt("tcp", lambda: connect(socket.AF_INET6, ("::ffff:127.0.0.1", planted["tcp"])))
attempt("pipe", lambda: os.write(os.open(planted["pipe"], os.O_WRONLY | os.O_NONBLOCK), b"x"))
attempt("key", lambda: call(249, b"user", planted["key"].encode(), None, 0))
attempt("key", lambda: call(250, 10, -3, b"user", planted["key"].encode(), 0))
attempt("name of the key", lambda: planted["key"] in open("/proc/keys").read())
attempt("memory", lambda: libc.shmget(planted["memory"], 0, 0) >= 0)
attempt("queue", lambda: libc.msgget(planted["memory"], 0) >= 0)
terminal = planted["terminal"]
attempt("terminal", lambda: open(terminal).close())
attempt("terminal for writing", lambda: open(terminal, "w").close())
attempt("own terminal", lambda: os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)))


def type_in(fd):
    fcntl.ioctl(fd, 0x5412, b"x")


for fd in (0, 1, 2):
    attempt("typing", lambda: type_in(fd))
attempt("typing", lambda: type_in(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)))
process = planted["process"]
attempt("signal", lambda: os.kill(process, 0))
attempt("signal", lambda: signal.pidfd_send_signal(os.pidfd_open(process), 0))
attempt("environment", lambda: open(f"/proc/{process}/environ", "rb").read() != b"")
attempt("memory of a process", lambda: open(f"/proc/{process}/mem", "rb").close())
attempt("descriptor list", lambda: os.listdir(f"/proc/{process}/fd") != [])
attempt("descriptor", lambda: call(438, os.pidfd_open(process), 1, 0))
attempt("working folder", lambda: os.listdir(f"/proc/{process}/cwd"))
attempt("limits", lambda: resource.prlimit(process, resource.RLIMIT_CORE) is not None)
attempt("priority", lambda: os.setpriority(os.PRIO_PROCESS, process, os.getpriority(os.PRIO_PROCESS, process)))
attempt("processors", lambda: os.sched_setaffinity(process, os.sched_getaffinity(process)))
attempt("command line", lambda: b"planted" in open(f"/proc/{process}/cmdline", "rb").read())
attempt("whether a file is there", lambda: os.stat(planted["ssh key"]) is not None)
attempt("mode of a file", lambda: os.chmod(planted["ssh key"], 0o600))
attempt("list of a folder", lambda: os.listdir(os.path.dirname(planted["file at home"])))
attempt("name in a folder", lambda: open(os.path.dirname(planted["file at home"]) + "/made", "w").close())
print(json.dumps(sorted(set(reached))))
