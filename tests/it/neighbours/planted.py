"""Plants what a host has for its users, runs a command beside it, and tells what was reached.

Called as `planted.py PLACE CODE COMMAND...`: PLACE is an empty folder, CODE tries to reach everything
and prints the names of what it reached as JSON; it is run outside first, as the control. COMMAND gets
CODE's arguments at its end.
"""
import ctypes, json, os, pty, secrets, socket, subprocess, sys, threading

place, code, command = sys.argv[1], sys.argv[2], sys.argv[3:]
libc = ctypes.CDLL(None, use_errno=True)
name = "rollcage-it-" + secrets.token_hex(6)
accepted = []


def serve(family, address, what):
    listener = socket.socket(family)
    listener.bind(address)
    listener.listen(64)
    if isinstance(address, str) and address[0] != "\0":
        os.chmod(address, 0o666)

    def accept():
        while True:
            connection, _ = listener.accept()
            accepted.append(what)
            connection.close()

    threading.Thread(target=accept, daemon=True).start()
    return listener.getsockname()


def write(path, mode):
    with open(path, "w") as file:
        file.write("secret of the host")
    os.chmod(path, mode)
    return path


os.makedirs(place + "/.ssh")
planted = {
    "ssh key": write(place + "/.ssh/id_ed25519", 0o600),
    "file at home": write(place + "/notes", 0o644),
    "file in tmp": write("/tmp/" + name, 0o644),
    "shared memory file": write("/dev/shm/" + name, 0o644),
}
for what, file in (("ssh agent", "agent"), ("message bus", "bus"), ("container daemon", "docker.sock")):
    planted[what] = serve(socket.AF_UNIX, f"{place}/{file}", what)
planted["abstract socket"] = name
serve(socket.AF_UNIX, "\0" + name, "abstract socket")
planted["tcp"] = serve(socket.AF_INET, ("127.0.0.1", 0), "tcp")[1]
datagrams = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
planted["datagram socket"] = place + "/dgram"
datagrams.bind(planted["datagram socket"])
os.mkfifo(place + "/fifo")
planted["pipe"] = place + "/fifo"
fifo = os.open(place + "/fifo", os.O_RDWR)

# A key in the session that the daemon is started in.
libc.syscall(250, 1, 0)
assert libc.syscall(248, b"user", name.encode(), b"secret", 6, -3) > 0
planted["key"] = name

# Memory and a queue of System V.
planted["memory"] = secrets.randbelow(1 << 30) + 1
memory = libc.shmget(planted["memory"], 4096, 0o1666)
queue = libc.msgget(planted["memory"], 0o1666)
assert memory >= 0 and queue >= 0

# A terminal, which becomes that of the command's session.
master, slave = pty.openpty()
planted["terminal"] = os.ttyname(slave)
planted["process"] = os.getpid()


def in_terminal():
    os.setsid()
    import fcntl
    fcntl.ioctl(slave, 0x540E, 0)


def run(words):
    done = subprocess.run(
        words + [json.dumps(planted)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, preexec_fn=in_terminal, text=True, cwd=place,
    )
    return {"code": done.returncode, "stdout": done.stdout, "stderr": done.stderr}


def waiting(fd):
    import array, fcntl, time
    time.sleep(0.2)
    count = array.array("i", [0])
    fcntl.ioctl(fd, 0x541B, count)
    return count[0]


try:
    control = run([sys.executable, "-c", code])
    import termios
    typed_by_control = waiting(slave)
    termios.tcflush(slave, termios.TCIFLUSH)
    datagrams.setblocking(False)
    os.set_blocking(fifo, False)
    for take in (lambda: datagrams.recv(99), lambda: os.read(fifo, 99)):
        try:
            take()
        except BlockingIOError:
            pass
    control_accepted, accepted = accepted, []
    inside = run(command)
    came = []
    for what, take in (("datagram", lambda: datagrams.recv(99)), ("pipe", lambda: os.read(fifo, 99))):
        try:
            take()
            came.append(what)
        except BlockingIOError:
            pass
    left = {
        what: open(planted[what]).read()
        for what in ("ssh key", "file at home", "file in tmp", "shared memory file")
    }
    print(json.dumps({
        "control": control, "inside": inside, "control_accepted": control_accepted,
        "accepted": accepted, "came": came, "typed": waiting(slave),
        "typed_by_control": typed_by_control, "left": left, "planted": planted,
    }))
finally:
    libc.shmctl(memory, 0, None)
    libc.msgctl(queue, 0, None)
    for what in ("file in tmp", "shared memory file"):
        os.unlink(planted[what])
