"""The `sandbox-fusion` package from PyPI against the endpoint."""

import base64

import pytest

sandbox_fusion = pytest.importorskip("sandbox_fusion")
from sandbox_fusion import RunCodeRequest, RunStatus, run_code, run_concurrent  # noqa: E402


@pytest.fixture(autouse=True)
def endpoint(url):
    sandbox_fusion.set_sandbox_endpoint(url.removesuffix("/run_code"))


def ask(**fields):
    return run_code(RunCodeRequest(**fields), max_attempts=1)


def test_files_go_in_and_come_out():
    code = "print(open('a/b.txt').read()); open('out.bin', 'wb').write(bytes(range(256)))"
    content = base64.b64encode(b"hello").decode()
    answer = ask(
        code=code, language="python", files={"a/b.txt": content}, fetch_files=["out.bin", "none"]
    )
    assert answer.status == RunStatus.Success
    assert answer.compile_result is None
    assert answer.run_result.stdout == "hello\n"
    assert base64.b64decode(answer.files["out.bin"]) == bytes(range(256))
    assert "none" not in answer.files


def test_what_does_not_compile_is_not_run():
    answer = ask(code="int main() { return x; }", language="cpp")
    assert answer.status == RunStatus.Failed
    assert answer.compile_result.return_code == 1
    assert "was not declared" in answer.compile_result.stderr
    assert answer.run_result is None


def test_time_that_is_up():
    answer = ask(code="while True: pass", language="python", run_timeout=1)
    assert answer.status == RunStatus.Failed
    assert answer.run_result.status == "TimeLimitExceeded"
    assert answer.run_result.return_code is None


def test_many_at_once():
    requests = [[RunCodeRequest(code=f"print({n})", language="python")] for n in range(40)]
    answers = run_concurrent(run_code, args=requests, concurrency=20)
    assert [answer.run_result.stdout for answer in answers] == [f"{n}\n" for n in range(40)]
