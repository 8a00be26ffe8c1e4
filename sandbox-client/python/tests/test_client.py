"""One program at a time through the daemon."""

from __future__ import annotations

import hashlib
import os
import random
import socket
import threading
import time
from pathlib import Path

import pytest

import rollcage
from rollcage import EndingKind, Outcome, TestStatus
from rollcage.results import Ending

from conftest import judged


def test_a_program_and_what_it_said(client: rollcage.Client) -> None:
    result = client.run(**rollcage.python("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"))
    assert (result.stdout, result.stderr, result.exit_code, result.ok) == (b"out\n", b"err\n", 3, False)
    assert result.outcome is Outcome.UNJUDGED and result.reward is None and not result.scorable
    assert result.describe() == "exit code 3\nstdout:\nout\nstderr:\nerr"
    assert result.usage.memory_peak_bytes > 0 and result.audit.seq > 0
    assert {row.name for row in result.manifest} >= {"seccomp"}
    assert result.to_dict()["ending"] == {"kind": "exited", "code": 3}


def test_input_environment_files_and_what_is_collected(client: rollcage.Client) -> None:
    code = "import os,sys; open('out.bin','wb').write(sys.stdin.buffer.read()[::-1]); print(os.environ['WHO'], sys.argv[1])"
    result = client.run(
        policy="python",
        files={"main.py": code},
        argv=["python3", "main.py", b"w\xc3\xb6rd"],
        env={"WHO": "me"},
        stdin=b"\x00\xff\x01",
        collect=["out.bin", "missing"],
    )
    assert result.stdout == "me w\u00f6rd\n".encode()
    assert result.files["out.bin"].content == b"\x01\xff\x00"
    assert [missing.path for missing in result.files_missing] == ["missing"]


@pytest.mark.parametrize(
    ("code", "limits", "kind", "says"),
    [
        ("while True: pass", {"wall_ms_max": 300}, EndingKind.WALL_TIME_UP, "wall time was up (300 ms)"),
        ("x = bytearray(400 << 20)", {"memory_bytes_max": "64 MiB"}, EndingKind.MEMORY_UP, "out of memory"),
        ("import os; os.kill(os.getpid(), 9)", {}, EndingKind.SIGNALLED, "ended by signal 9"),
    ],
)
def test_endings_are_data(
    client: rollcage.Client, code: str, limits: rollcage.Limits, kind: EndingKind, says: str
) -> None:
    result = client.run(**rollcage.python(code), limits=limits)
    assert result.ending.kind is kind and result.exit_code is None
    assert result.describe().startswith(says)


def test_a_program_that_is_not_there_is_an_ending(client: rollcage.Client) -> None:
    ending: Ending = client.run(policy="shell", argv=["no-such-program"]).ending
    assert ending.kind is EndingKind.NOT_STARTED and ending.code == 127


def test_a_verdict(client: rollcage.Client) -> None:
    right, wrong = client.run(**judged("1")), client.run(**judged("2"))
    assert right.outcome is Outcome.PASSED and right.reward == 1.0
    assert wrong.outcome is Outcome.FAILED and wrong.reward == 0.0
    assert [test.status for test in wrong.verdict.tests] == [TestStatus.FAILED]
    assert right.verdict.evidence is not None and right.verdict.evidence.isolation == "separate"


def test_cases_of_plain_values(client: rollcage.Client) -> None:
    result = client.run(
        policy="python",
        files={"s.py": "def swap(a, b, *, up=False): return (b, a), {a}, b'x', up"},
        verify={
            "kind": "cases",
            "file": "s.py",
            "function": "swap",
            "cases": [{"args": (1, 2), "kwargs": {"up": True}, "expected": ((2, 1), {1}, b"x", True)}],
        },
    )
    assert result.reward == 1.0, result.verdict


@pytest.mark.parametrize(
    ("request_", "kind", "field", "reason"),
    [
        ({"policy": "nope", "argv": ["true"]}, rollcage.InvalidRequest, "policy", "POLICY_UNKNOWN"),
        (
            {"policy": "python", "argv": ["true"], "limits": {"wall_ms_max": 10**9}},
            rollcage.InvalidRequest,
            "limits.wall_ms_max",
            "LIMIT_OUT_OF_RANGE",
        ),
        ({"policy": "python", "argv": []}, rollcage.InvalidRequest, "argv", ""),
    ],
)
def test_refusals_name_field_and_fix(
    client: rollcage.Client, request_: rollcage.Request, kind: type, field: str, reason: str
) -> None:
    with pytest.raises(kind) as refused:
        client.run_request(request_)
    assert refused.value.field == field and field in str(refused.value)
    assert not reason or refused.value.reason == reason


def test_an_idempotency_key_is_for_one_request(client: rollcage.Client) -> None:
    key = f"sdk-{random.random()}"
    request: rollcage.Request = {**rollcage.python("import os; print(os.urandom(8))"), "idempotency_key": key}
    first, second = client.run_request(request), client.run_request(request)
    assert first.stdout == second.stdout and first.run_id == second.run_id
    with pytest.raises(rollcage.Conflict):
        client.run(**rollcage.python("print(2)"), idempotency_key=key)


def test_five_megabytes_come_byte_for_byte(client: rollcage.Client) -> None:
    code = "import os, hashlib; data = os.urandom(5_000_000); os.write(2, hashlib.sha256(data).hexdigest().encode()); __import__('sys').stdout.buffer.write(data)"
    result = client.run(policy="wide", files={"main.py": code}, argv=["python3", "main.py"], limits={"output_bytes_max": "8 MiB"})
    assert len(result.stdout) == 5_000_000 and result.dropped_bytes.stdout == 0
    assert hashlib.sha256(result.stdout).hexdigest() == result.stderr.decode() == result.stdout_summary.sha256


def test_detached_runs(client: rollcage.Client) -> None:
    run_id = client.submit(**rollcage.python("import time; time.sleep(1); print('late')"))
    assert client.fetch(run_id, wait_s=0) is None
    result = client.fetch(run_id)
    assert result is not None and result.stdout == b"late\n"
    client.cancel(run_id)
    run_id = client.submit(**rollcage.python("import time; time.sleep(60)"))
    client.cancel(run_id)
    result = client.fetch(run_id, wait_s=30)
    assert result is not None and result.ending.kind is EndingKind.CANCELLED and result.trouble is not None
    with pytest.raises(rollcage.NotFound):
        client.fetch("no-such-run")


def test_queries(client: rollcage.Client) -> None:
    assert {"python", "shell"} <= {policy.name for policy in client.policies()}
    assert "[limits]" in client.policy("python").document
    capabilities = client.capabilities()
    assert capabilities.mode == "root" and "asserts" in capabilities.verify_kinds and capabilities.features
    assert client.status().sandboxes_max >= 1
    with pytest.raises(rollcage.NotFound):
        client.policy("nope")


def test_a_call_takes_no_longer_than_its_caller_lets_it(uri: str) -> None:
    with rollcage.connect(uri, timeout_s=0.5) as client, pytest.raises(rollcage.TimedOut):
        client.run(**rollcage.python("import time; time.sleep(60)"))


def test_many_threads_use_one_client(client: rollcage.Client) -> None:
    said: list[bytes] = []

    def run(number: int) -> None:
        said.append(client.run(**rollcage.python(f"print({number})")).stdout)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(said) == sorted(f"{number}\n".encode() for number in range(16))


def test_no_daemon_is_told_at_once(tmp_path: Path) -> None:
    began = time.monotonic()
    with pytest.raises(rollcage.DaemonUnreachable, match="embedded=True"):
        rollcage.connect(f"unix://{tmp_path}/none.sock")
    silent = socket.socket(socket.AF_UNIX)
    silent.bind(f"{tmp_path}/s")
    with pytest.raises(rollcage.DaemonUnreachable):
        rollcage.connect(f"{tmp_path}/s")
    silent.close()
    assert time.monotonic() - began < 60


@pytest.mark.parametrize("uri", ["http://a:1", "tcp://a:1", "a:1", "https://a", "https://a:1", "https://a:0"])
def test_endpoints_that_cannot_be_used(uri: str) -> None:
    with pytest.raises(rollcage.InvalidRequest) as refused:
        rollcage.connect(uri)
    assert refused.value.field == "uri"


def test_a_closed_client_says_so(uri: str) -> None:
    client = rollcage.connect(uri)
    client.close()
    with pytest.raises(rollcage.RollcageError, match="closed"):
        client.run(**rollcage.python("print(1)"))


@pytest.mark.skipif("ROLLCAGE_TEST_HTTPS" not in os.environ, reason="no daemon over TCP is named")
def test_over_tcp_with_tls() -> None:
    uri, keys = os.environ["ROLLCAGE_TEST_HTTPS"], Path(os.environ["ROLLCAGE_TEST_KEYS"])
    ca, token = keys / "ca.pem", (keys / "token").read_text()
    for credentials in ({"token": token}, {"tls_cert": keys / "trainer.pem", "tls_key": keys / "trainer.key"}):
        with rollcage.connect(uri, tls_ca=ca, **credentials) as client:  # type: ignore[arg-type]
            assert client.run(**rollcage.python("print(1)")).stdout == b"1\n"
    with pytest.raises(rollcage.NotAllowed):
        rollcage.connect(uri, tls_ca=ca, token="of nobody", patience_s=0)
    with rollcage.connect(uri, tls_ca=ca, token=token) as client:
        assert client.status().node
