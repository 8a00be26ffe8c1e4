"""A daemon of our own: nothing of it is left, however its owner ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

import rollcage

pytestmark = pytest.mark.skipif(
    "ROLLCAGE_BIN_DIR" not in os.environ, reason="the built programs are not named in ROLLCAGE_BIN_DIR"
)


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place for private folders that nobody else uses."""
    # What a daemon under another user has to reach.
    for folder in [tmp_path, *list(tmp_path.parents)[:2]]:
        folder.chmod(0o755)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    yield tmp_path  # type: ignore[misc]
    monkeypatch.setattr(tempfile, "tempdir", None)


def gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


def daemons(folder: Path) -> list[int]:
    """Processes that name the folder in their command line."""
    found = []
    for line in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if str(folder).encode() in line.read_bytes() and int(line.parent.name) != os.getpid():
                found.append(int(line.parent.name))
        except OSError:
            continue
    return found


def wait_until_nothing_is_left(folder: Path) -> None:
    until = time.monotonic() + 40
    while (daemons(folder) or list(folder.iterdir())) and time.monotonic() < until:
        time.sleep(0.1)
    assert daemons(folder) == [] and list(folder.iterdir()) == []


def test_a_daemon_for_one_block(own_folders: Path) -> None:
    with rollcage.Daemon() as daemon, rollcage.connect(daemon.uri) as client:
        assert client.run(**rollcage.python("print(1)")).stdout == b"1\n"
        assert daemons(own_folders)
    wait_until_nothing_is_left(own_folders)
    with pytest.raises(rollcage.DaemonUnreachable):
        rollcage.connect(daemon.uri)


def test_a_client_with_a_daemon_of_its_own(own_folders: Path) -> None:
    with rollcage.connect(embedded=True) as client:
        # Its own, whatever runs elsewhere.
        assert client.status().runs_finished == 0 and str(own_folders) in client.uri
    wait_until_nothing_is_left(own_folders)


async def test_an_async_client_with_a_daemon_of_its_own(own_folders: Path) -> None:
    async with rollcage.connect_async(embedded=True) as client:
        assert (await client.run(**rollcage.python("print(1)"))).ok
    wait_until_nothing_is_left(own_folders)


def test_a_daemon_ends_though_a_client_is_open(own_folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rollcage.daemon.END_S_MAX", 2.0)
    daemon = rollcage.Daemon()
    client = rollcage.connect(daemon.uri, patience_s=0)
    client.status()
    daemon.close()
    wait_until_nothing_is_left(own_folders)
    with pytest.raises(rollcage.DaemonUnreachable):
        client.run(**rollcage.python("print(1)"))
    client.close()


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, None])
def test_it_ends_with_its_process(own_folders: Path, how: signal.Signals | None) -> None:
    code = (
        "import rollcage, sys\n"
        "client = rollcage.connect(embedded=True)\n"
        "client.submit(**rollcage.python('import time; time.sleep(60)')) if sys.argv[1] != 'None' else 0\n"
        "print('up', flush=True)\n"
        "sys.argv[1] == 'None' or __import__('time').sleep(600)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(how)], stdout=subprocess.PIPE)
    assert process.stdout is not None and process.stdout.readline() == b"up\n"
    if how is not None:
        process.send_signal(how)
    process.wait(60)
    process.stdout.close()
    wait_until_nothing_is_left(own_folders)


def test_a_state_folder_that_is_named_stays(own_folders: Path, tmp_path: Path) -> None:
    state = tmp_path / "kept"
    with rollcage.connect(embedded=True, state_dir=state) as client:
        run_id = client.submit(**rollcage.python("print('kept')"))
        client.fetch(run_id)
    assert (state / "audit").is_dir()
    with rollcage.connect(embedded=True, state_dir=state) as client:
        result = client.fetch(run_id)
        assert result is not None and result.stdout == b"kept\n"
    # A second daemon on the folder is refused, and the first one lives on.
    with rollcage.connect(embedded=True, state_dir=state) as client:
        with pytest.raises(rollcage.NotStarted, match="ended before it was ready"):
            rollcage.Daemon(state_dir=state)
        assert client.status().node


def test_programs_that_are_missing_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ROLLCAGE_BIN_DIR", str(tmp_path))
    with pytest.raises(rollcage.NotStarted, match="ROLLCAGE_BIN_DIR"):
        rollcage.Daemon()


def test_what_it_said_is_told_where_it_does_not_start(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ROLLCAGE_CONFIG", str(tmp_path / "none.toml"))
    with pytest.raises(rollcage.NotStarted, match="none.toml"):
        rollcage.Daemon()


BUSY = "[runs]\nsandboxes_max = 1\nqueue_len_max = 2\n"


@pytest.fixture
def busy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> rollcage.Daemon:
    """A daemon that runs one program at a time and lets two wait."""
    config = tmp_path / "busy.toml"
    config.write_text(BUSY)
    monkeypatch.setenv("ROLLCAGE_CONFIG", str(config))
    with rollcage.Daemon() as daemon:
        yield daemon  # type: ignore[misc]


def naps() -> list[rollcage.Request]:
    return [rollcage.python("import time; time.sleep(0.3)") for _ in range(12)]


def test_a_full_daemon_is_waited_for_in_a_batch(busy: rollcage.Daemon) -> None:
    # Longer than the patience, since it gets on.
    with rollcage.connect(busy.uri, patience_s=3) as client:
        results = list(client.run_batch(naps(), in_flight=12))
    assert [result for result in results if not isinstance(result, rollcage.RunResult)] == []


async def test_a_full_daemon_is_waited_for_in_a_batch_async(busy: rollcage.Daemon) -> None:
    async with rollcage.connect_async(busy.uri, patience_s=3) as client:
        results = [result async for result in client.run_batch(naps(), in_flight=12)]
    assert [result for result in results if not isinstance(result, rollcage.RunResult)] == []


def test_without_patience_a_full_daemon_says_when_to_come_again(busy: rollcage.Daemon) -> None:
    with rollcage.connect(busy.uri, patience_s=0) as client:
        results = list(client.run_batch(naps(), in_flight=12))
    refused = [result.error for result in results if isinstance(result, rollcage.NotRun)]
    assert len(results) == 12 and 0 < len(refused) < 12
    for error in refused:
        assert isinstance(error, rollcage.QueueFull) and error.retry_after_s > 0 and error.reason == "QUEUE_FULL"
