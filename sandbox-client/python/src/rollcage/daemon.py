"""A daemon of our own: started, waited for, ended with this process, and nothing of it left behind."""

from __future__ import annotations

import atexit
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType

from . import _programs
from ._endpoint import StrPath
from .errors import NotStarted

READY_S_MAX = 180.0
"""A daemon must be ready within this time: the first one of a boot tests itself before."""
END_S_MAX = 10.0
"""A daemon must be gone within this time of our leaving it; then it is told to end, whoever uses it."""
_LOG_BYTES_SHOWN = 16 << 10

# The daemon ends when its standard input does, even if this process is killed; whoever started it
# then takes the folder away.
_SCRIPT = 'folder=$1; shift; "$@"; code=$?; rm -rf -- "$folder"; exit $code'


class Daemon:
    """`sandboxd` for the life of this object, or of this process at most.

    Its state (audit log, kept results) lies in a private folder that goes with it, or in `state_dir`.
    """

    def __init__(self, *, state_dir: StrPath | None = None, ready_s_max: float = READY_S_MAX) -> None:
        program = _programs.find("sandboxd")
        self._folder = Path(tempfile.mkdtemp(prefix="rollcage-"))
        # The daemon drops to a user of its own, which has to reach its state.
        self._folder.chmod(0o711)
        # Without a name: it is gone with whoever holds it, and can be read though the folder is gone.
        self._log = tempfile.TemporaryFile()
        self._state = self._folder / "state" if state_dir is None else Path(state_dir).absolute()
        self.socket = self._folder / "s.sock"
        """The unix socket that it listens on."""
        self._ended = False
        self._owner = os.getpid()
        self._process: subprocess.Popen[bytes] | None = None
        try:
            self._start(program, ready_s_max)
        except BaseException:
            self.close()
            raise
        atexit.register(self.close)

    @property
    def uri(self) -> str:
        """What `rollcage.connect` takes."""
        return f"unix://{self.socket}"

    def _start(self, program: Path, ready_s_max: float) -> None:
        environment = {**os.environ, "ROLLCAGE_STATE_DIR": str(self._state)}
        # The socket of another daemon is not this one's business.
        environment.pop("ROLLCAGE_SOCKET", None)
        shows_log = bool(environment.get("ROLLCAGE_LOG"))
        if not shows_log:
            environment["ROLLCAGE_LOG"] = "warn"
        ready, ready_write = os.pipe()
        words = [program, "serve", "--embedded", "--socket", self.socket, "--ready-fd", ready_write]
        try:
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", _SCRIPT, "sh", str(self._folder), *map(str, words)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=None if shows_log else self._log,
                env=environment,
                pass_fds=[ready_write],
                # Ctrl-C is for us: it ends our runs, then the daemon is ended in order.
                start_new_session=True,
            )
        except OSError as error:
            os.close(ready)
            raise NotStarted(f"execute {program}: {error}") from error
        finally:
            os.close(ready_write)
        with os.fdopen(ready, "rb", buffering=0) as pipe:
            self._await_ready(pipe.fileno(), time.monotonic() + ready_s_max, ready_s_max)

    def _await_ready(self, pipe: int, until: float, ready_s_max: float) -> None:
        line = b""
        while not line.endswith(b"\n"):
            if not select.select([pipe], [], [], max(until - time.monotonic(), 0))[0]:
                raise NotStarted(f"start a daemon: it was not ready within {ready_s_max:g} s{self._said()}")
            read = os.read(pipe, 4096)
            if not read:
                raise NotStarted(f"start a daemon: it ended before it was ready{self._said()}")
            line += read

    def _said(self) -> str:
        file = self._log.fileno()
        start = max(os.fstat(file).st_size - _LOG_BYTES_SHOWN, 0)
        # The daemon writes by the same offset, which this leaves alone.
        text = os.pread(file, _LOG_BYTES_SHOWN, start).decode(errors="replace").strip()
        return f"; it said:\n{text}" if text else ""

    def close(self) -> None:
        """Ends it and waits for that: runs that go on are given time, then cancelled."""
        if self._ended or os.getpid() != self._owner:
            return
        self._ended = True
        atexit.unregister(self.close)
        process = self._process
        if process is not None:
            self._end(process)
        self._log.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        if process.stdin is not None:
            process.stdin.close()
        try:
            process.wait(END_S_MAX)
        except subprocess.TimeoutExpired:
            # Somebody else holds a connection open.
            for name, signal in (("TERM", 15), ("KILL", 9)):
                self._signal(process, signal)
                try:
                    process.wait(END_S_MAX)
                    return
                except subprocess.TimeoutExpired:
                    continue
            raise NotStarted(f"the daemon does not end, not even by SIG{name}") from None

    def _signal(self, process: subprocess.Popen[bytes], signal: int) -> None:
        """Signals the daemon, whose pid is the first line of its state folder's lock, if it is ours."""
        try:
            pid = int((self._state / "lock").read_text().split()[0])
            if os.getsid(pid) == process.pid:
                os.kill(pid, signal)
        except (OSError, ValueError, IndexError):
            return

    def __enter__(self) -> Daemon:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Daemon {self.uri}{', ended' if self._ended else ''}>"
