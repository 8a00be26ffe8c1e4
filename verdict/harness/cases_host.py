"""Runs cases one after another, each in a fork or process of its own, for the daemon at the other
end of descriptor 3, which alone knows what is expected.

`start.py cases FORM SWEEP BYTES_MAX ...`: `program FILE` compiles a program once and runs it in a
fork for each case; `command ARGV...` starts a command for each; `exchange ARGV...` starts one
that reads what the case has from descriptor 3 and answers there; `function FILE NAME` loads a
module once and calls a function of it in a fork for each. It follows `solution_host.py` in one module.
A case has pipes of its own and none of this process: what it writes is its own output, whatever it
looks like. Still nothing said here is evidence by itself.
"""
import _signal
import _socket
import errno
import gc
import resource
import select
from posix import WNOHANG, close, dup2, execve, fork, kill, pipe, read, setpgid, wait4, write
from time import monotonic

ORDER = wire.Struct("<III")
REPORT = wire.Struct("<IIBiQQQI")
LOADED = 0xFFFFFFFF
STDERR_KEPT = 2000
CHUNK = 1 << 16


class NoPeer:
    """Nobody to call back: only plain values cross."""
    judges = False


def plain(value):
    """The value in the coding of `codec.py`."""
    encoder = PlainEncoder(NoPeer)
    encoder.put(value)
    return bytes(encoder.out[1:])


class PlainEncoder(wire.Encoder):
    def refuse(self, value, *rest):
        kind = type.__dict__["__name__"].__get__(type(value))
        raise wire.CannotCross("%s is no plain value" % kind)

    put_class = put_module = put_by_name = put_handle = refuse

    def put_other(self, value):
        kind = type(value)
        if BaseException in type.__dict__["__mro__"].__get__(kind):
            self.refuse(value)
        super().put_other(value)

    def put_extension(self, value, kind):
        base = wire.plain_base(kind)
        if base is not None:
            self.put(wire.PLAIN_COPIES[base](value))
            return True
        return super().put_extension(value, kind)


def exit_status(code):
    if code is None:
        return 0
    if type(code) is int:
        return code & 0xFF
    sys.stderr.write("%s\n" % (code,))
    return 1


def leave(status):
    """As the interpreter ends: threads, what was registered, what is buffered."""
    threading, registered = sys.modules.get("threading"), sys.modules.get("atexit")
    try:
        if threading is not None:
            threading._shutdown()
        if registered is not None:
            registered._run_exitfuncs()
    finally:
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except BaseException:
                status = status or 120
        posix._exit(status)


def run_program(code, path, arguments):
    sys.argv[1:] = arguments
    module = type(sys)("__main__")
    module.__file__, module.__builtins__ = path, builtins
    sys.modules["__main__"] = module
    status = 1
    try:
        try:
            exec(code, module.__dict__)
            status = 0
        except SystemExit as error:
            status = exit_status(error.code)
        except BaseException as error:
            trace = error.__traceback__.tb_next
            sys.excepthook(type(error), error.with_traceback(trace), trace)
    finally:
        leave(status)


def resolve(names, path):
    """What a path of names means: `solve`, `module.solve`, `Solution().solve`."""
    value = None
    for position, part in enumerate(path.split(".")):
        name = part[:-2] if part.endswith("()") else part
        if position:
            value = getattr(value, name)
        elif name in names:
            value = names[name]
        elif hasattr(builtins, name):
            value = getattr(builtins, name)
        else:
            raise NameError("name %r is not defined" % (name,))
        if name is not part:
            value = value()
    return value


def call(names, path, message, out):
    """Calls the function and tells what it returned."""
    try:
        args, kwargs = wire.Decoder(NoPeer, b"\0" + message).get()
        told = b"r" + plain(resolve(names, path)(*args, **kwargs))
    except wire.CannotCross as error:
        told = b"c" + plain(str(error))
    except BaseException as error:
        name = type.__dict__["__name__"].__get__(type(error))
        try:
            text = str(error)
        except BaseException:
            text = ""
        told = b"x" + plain((name, str.__str__(text)[:1000]))
    told = memoryview(told)
    while told:
        told = told[write(out, told):]
    leave(0)


def command(argv):
    """Becomes the command, or says why not as a shell does."""
    _signal.signal(_signal.SIGPIPE, _signal.SIG_DFL)
    names = [argv[0]]
    if "/" not in argv[0]:
        folders = posix.environ.get(b"PATH", b"/usr/local/bin:/usr/bin:/bin").decode().split(":")
        names = [folder + "/" + argv[0] for folder in folders if folder.startswith("/")]
    why = errno.ENOENT
    for name in names:
        try:
            execve(name, argv, posix.environ)
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENOTDIR):
                why = error.errno
    write(2, ("%s: %s" % (argv[0], posix.strerror(why))).encode())
    posix._exit(127 if why == errno.ENOENT else 126)


def split(body):
    """Further arguments of a case, and what it reads."""
    arguments, at = [], 4
    for _ in range(wire.U32.unpack_from(body)[0]):
        size = wire.U32.unpack_from(body, at)[0]
        arguments.append(body[at + 4:at + 4 + size].decode("utf-8", "surrogateescape"))
        at += 4 + size
    return arguments, body[at:]


def read_some(end):
    """What is there, none if nothing is, empty at its end."""
    try:
        return read(end, CHUNK)
    except BlockingIOError:
        return None
    except ConnectionResetError:
        return b""


def own_pipe(ours_reads):
    """Our end, which does not block, and the case's."""
    read_end, write_end = pipe()
    ours, theirs = (read_end, write_end) if ours_reads else (write_end, read_end)
    posix.set_blocking(ours, False)
    return ours, theirs


class Case:
    """One case: its process, and our ends of its pipes."""

    def __init__(self, cases, wall_ms, cpu_ms, body):
        self.cases, self.body = cases, body
        self.reads, theirs = [], []
        self.feed, self.data = None, b""
        self.socket = None
        if cases.form == "exchange":
            theirs = self.connect()
        for _ in range({"function": 1, "exchange": 0}.get(cases.form, 2)):
            ours, their = own_pipe(True)
            self.reads.append(ours)
            theirs.append(their)
        if cases.form in ("program", "command"):
            self.feed, their = own_pipe(False)
            theirs.insert(0, their)
            self.data = memoryview(split(body)[1])
        self.outputs, self.total = [bytearray() for _ in self.reads], 0
        self.begun = monotonic()
        self.until = self.begun + wall_ms / 1000
        self.how = self.status = self.usage = None
        try:
            self.pid = fork()
        except OSError as error:
            self.pid, self.how = None, "n"
            self.outputs[-1] += str(error).encode()
        if self.pid == 0:
            try:
                # Who holds the other end of its own input never comes to the end of it.
                for end in self.reads if self.feed is None else self.reads + [self.feed]:
                    close(end)
                cases.child(theirs, cpu_ms, body)
            finally:
                posix._exit(125)
        for end in theirs:
            close(end)
        self.opened = set(self.reads)
        self.poller = select.poll()
        self.poller.register(cases.wake, select.POLLIN)
        for end in self.reads:
            self.poller.register(end, select.POLLIN)
        if self.feed is not None:
            self.opened.add(self.feed)
            self.poller.register(self.feed, select.POLLOUT)
            self.give(select.POLLOUT)

    def connect(self):
        """A socket both ways, and a pipe for whatever else it writes; nothing to read."""
        self.socket, their = _socket.socketpair()
        their = their.detach()
        self.socket.setblocking(False)
        self.reads.append(posix.dup(self.socket.fileno()))
        self.feed, self.data = posix.dup(self.socket.fileno()), memoryview(self.body)
        read_end, rest = own_pipe(True)
        self.reads.append(read_end)
        return [posix.open("/dev/null", posix.O_RDONLY | posix.O_CLOEXEC), rest, posix.dup(rest), their]

    def shut(self, end):
        self.poller.unregister(end)
        if end == self.feed and self.socket is not None:
            try:
                self.socket.shutdown(_socket.SHUT_WR)
            except OSError:
                pass
        close(end)
        self.opened.discard(end)

    def give(self, event):
        """Writes what the case reads; it may not want it."""
        try:
            if self.data and event & select.POLLOUT:
                self.data = self.data[write(self.feed, self.data[:CHUNK]):]
                if self.data:
                    return
            elif self.data and not event & select.POLLERR:
                return
        except BlockingIOError:
            return
        except OSError:
            pass
        self.shut(self.feed)

    def take(self, end):
        """Reads what is there; whether there may be more."""
        part = read_some(end)
        if part is None:
            return False
        if not part:
            self.shut(end)
            return False
        kept = self.outputs[self.reads.index(end)]
        if end == self.reads[0]:
            self.total += len(part)
            kept += part[:max(0, self.cases.bytes_max - len(kept))]
            return self.total <= self.cases.bytes_max
        kept += part
        del kept[:-STDERR_KEPT]
        return True

    def follow(self):
        """Until it is over or has to be."""
        while True:
            left = self.until - monotonic()
            if left <= 0:
                self.how = "t"
            elif self.total > self.cases.bytes_max:
                self.how = "o"
            if self.how is not None:
                self.cases.sweep(self.pid)
                _, self.status, self.usage = wait4(self.pid, 0)
                return
            gone, status, usage = wait4(self.pid, WNOHANG)
            if gone:
                self.status, self.usage = status, usage
                return
            if not self.opened:
                left = min(left, 0.05)
            for end, event in self.poller.poll(int(left * 1000) + 1):
                if end == self.cases.wake:
                    read_some(end)
                elif end == self.feed:
                    self.give(event)
                else:
                    self.take(end)

    def run(self):
        """Its end, for `Cases.tell`."""
        if self.pid is not None:
            self.follow()
        wall = monotonic() - self.begun
        if self.pid is not None:
            self.cases.sweep(self.pid)
        for end in self.reads:
            while end in self.opened and self.take(end):
                pass
        for end in tuple(self.opened):
            self.shut(end)
        if self.socket is not None:
            self.socket.close()
        if self.how is None and self.total > self.cases.bytes_max:
            self.how = "o"
        code = 0
        if self.how is None:
            signal = self.status & 0x7F
            self.how, code = ("s", signal) if signal else ("e", self.status >> 8)
        cpu = self.usage.ru_utime + self.usage.ru_stime if self.usage else 0.0
        output = self.outputs[0] if self.how in ("e", "s") else b""
        stderr = self.outputs[1] if len(self.outputs) > 1 else b""
        if self.pid is None:
            stderr = self.outputs[-1]
        return self.how, code, wall, cpu, self.total, output, stderr


class Cases:
    def __init__(self, fd, form, sweep, bytes_max, rest):
        self.fd, self.form, self.bytes_max, self.rest = fd, form, bytes_max, rest
        # Only in a process namespace of our own, whose first process started this one.
        self.may_sweep = sweep == "sweep" and posix.getppid() == 1 and posix.getpid() <= 8
        self.names = self.code = self.path = self.wake = self.waker = None

    def load(self):
        if self.form in ("command", "exchange"):
            return {"state": "ok"}
        file = self.rest[0]
        self.path = FOLDER.rpartition("/")[0] + "/" + file
        prepare_interpreter(self.path, wire)
        sys.setrecursionlimit(sys.getrecursionlimit() + 20)
        if self.form == "function":
            return self.load_module(file)
        try:
            with open(self.path, "rb") as source:
                text = source.read()
        except OSError as error:
            return {"state": "missing", "message": str(error), "file": file}
        try:
            self.code = compile(text, self.path, "exec", dont_inherit=True)
        except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
            return syntax_error(error, file)
        return {"state": "ok"}

    def load_module(self, file):
        module = type(sys)("solution")
        module.__file__, module.__builtins__ = self.path, builtins
        sys.modules["solution"] = module
        stem = file.rpartition("/")[2].rpartition(".")[0]
        if stem not in sys.modules and stem not in getattr(sys, "stdlib_module_names", (stem,)):
            sys.modules[stem] = module
        loaded = load(self.path, file, module)
        self.names = module.__dict__
        if loaded["state"] == "ok" and "(" not in self.rest[1]:
            try:
                resolve(self.names, self.rest[1])
            except BaseException as error:
                return {"state": "no_function", "message": str(error)}
        return loaded

    def watch_children(self):
        """A pipe that becomes readable when a child is over."""
        self.wake, self.waker = own_pipe(True)
        posix.set_blocking(self.waker, False)
        _signal.signal(_signal.SIGCHLD, lambda *_: None)
        _signal.set_wakeup_fd(self.waker, warn_on_full_buffer=False)

    def receive(self, size):
        data = bytearray()
        while len(data) < size:
            part = read(self.fd, min(size - len(data), 1 << 20))
            if not part:
                raise wire.Gone
            data += part
        return bytes(data)

    def tell(self, number, how, code=0, wall=0.0, cpu=0.0, written=0, output=b"", stderr=b""):
        head = REPORT.pack(37 + len(output) + len(stderr), number, ord(how), code,
                           int(wall * 1e6), int(cpu * 1e6), written, len(output))
        data = memoryview(b"".join((head, output, stderr)))
        while data:
            data = data[write(self.fd, data):]

    def serve(self):
        while True:
            message = self.receive(*wire.U32.unpack(self.receive(4)))
            number, wall_ms, cpu_ms = ORDER.unpack_from(message)
            self.tell(number, *Case(self, wall_ms, cpu_ms, message[ORDER.size:]).run())

    def child(self, ends, cpu_ms, body):
        """In the fork: only what the case may have stays open."""
        _signal.set_wakeup_fd(-1)
        _signal.signal(_signal.SIGCHLD, _signal.SIG_DFL)
        for end in (self.fd, self.wake, self.waker):
            close(end)
        setpgid(0, 0)
        if cpu_ms:
            seconds = (cpu_ms + 999) // 1000
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        if self.form == "function":
            call(self.names, self.rest[1], body, ends[0])
        for place, end in enumerate(ends):
            dup2(end, place)
            posix.set_inheritable(place, True)
        # Not before all are in their places: one of them may be 3 itself.
        for end in set(ends):
            if end >= len(ends):
                close(end)
        if self.form == "exchange":
            command(self.rest)
        arguments, _ = split(body)
        if self.form == "program":
            run_program(self.code, self.path, arguments)
        command(self.rest + arguments)

    def sweep(self, pid):
        """Ends whatever a case left, itself included."""
        for target in (-1,) if self.may_sweep else (-pid, pid):
            try:
                kill(target, 9)
            except OSError:
                pass


def main():
    form, sweep, bytes_max, rest = sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5:]
    fd = posix.dup(3)
    posix.close(3)
    if not posix.get_blocking(fd):
        posix.set_blocking(fd, True)
    cases = Cases(fd, form, sweep, bytes_max, rest)
    loaded = cases.load()
    cases.watch_children()
    try:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    except BaseException:
        pass
    gc.freeze()
    try:
        cases.tell(LOADED, "e", output=plain(loaded))
        if loaded["state"] == "ok":
            cases.serve()
    except (wire.Gone, OSError):
        pass
    posix._exit(0)
