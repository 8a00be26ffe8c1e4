"""What verl makes of our answers: its own client, which scores by them.

The cases are those that verl's own tests of this client try against a live endpoint: right and
wrong output, programs that do not compile, raise, or take too long, 100 cases at once, functions
called by name, and standard input that is not there. Its result codes: True, False, -1 no answer,
-2 runtime error, -3 time up, -4 does not compile.
"""

import http.server
import json
import threading

import pytest

ECHO = "import sys\nword = sys.stdin.read()\nprint('saw ' + word)\n"
PAIR = {"inputs": ["left", "right"], "outputs": ["saw left\n", "saw right\n"]}
ONE = {"inputs": ["left"], "outputs": ["saw left\n"]}


@pytest.fixture()
def check(verl, url):
    def check(cases, code, **options):
        return verl.check_correctness(url, cases, code, **options)

    return check


def test_right_output(check):
    results, told = check(PAIR, ECHO)
    assert results == [True, True]
    assert [one["status"] for one in told] == ["success", "success"]
    assert [one["stdout"] for one in told] == PAIR["outputs"]


def test_wrong_output(check):
    results, told = check(PAIR, "print('something else')")
    assert results == [False, False]
    assert [one["status"] for one in told] == ["wrong_answer"] * 2
    assert told[0]["stdout"] == "something else\n"


def test_a_program_that_does_not_compile(check):
    results, told = check(PAIR, "no C++ at all", language="cpp")
    assert results == [-4, -4]
    assert told[0]["status"] == "compile_error"
    assert "main.cpp:1" in told[0]["compile_stderr"]


def test_a_built_program(check):
    code = "#include <iostream>\nint main() { std::string s; std::cin >> s; std::cout << \"saw \" << s; }"
    results, told = check(PAIR, code, language="cpp", timeout=30)
    assert results == [True, True], told


def test_a_program_that_raises(check):
    results, told = check(ONE, "raise ValueError('on purpose')")
    assert results == [-2]
    assert told[0]["status"] == "runtime_error"
    assert told[0]["exit_code"] == 1
    assert "ValueError: on purpose" in told[0]["stderr"]


def test_a_program_that_takes_too_long(check):
    results, told = check(ONE, "import time\nprint('first', flush=True)\ntime.sleep(60)", timeout=2)
    assert results == [-3]
    assert told[0]["status"] == "timeout"
    assert told[0]["stdout"] == "first\n"


def test_a_hundred_cases_of_three_kinds_at_once(check):
    late, wrong = {5, 30, 60, 90}, {10, 25, 50}
    code = (
        "import sys, time\n"
        "word = sys.stdin.read()\n"
        "if word.startswith('late'): time.sleep(60)\n"
        "print('saw ' + word)\n"
    )
    inputs = [("late" if n in late else "case") + str(n) for n in range(100)]
    outputs = ["no such output" if n in wrong else f"saw case{n}\n" for n in range(100)]
    results, told = check({"inputs": inputs, "outputs": outputs}, code, timeout=12)
    expected = [-3 if n in late else n not in wrong for n in range(100)]
    different = [(n, results[n], told[n]) for n in range(100) if results[n] != expected[n]]
    assert not different


def test_many_cases_whose_time_is_up(check):
    cases = {"inputs": [str(n) for n in range(64)], "outputs": ["never"] * 64}
    results, _ = check(cases, "while True:\n    pass", timeout=3)
    assert results == [-3] * 64


def test_functions_called_by_name(check):
    code = (
        "class Solution:\n"
        "    def how_often(self, numbers: List[int], wanted: int) -> int:\n"
        "        return Counter(numbers)[wanted]\n"
    )
    cases = {"fn_name": "how_often", "inputs": ["[1, 3, 1]\n1", "[]\n7"], "outputs": ["2", "0"]}
    results, told = check(cases, code, timeout=10)
    assert results == [True, True], told


def test_standard_input_that_is_not_there(check):
    code = (
        "import select, sys\n"
        "ready, _, _ = select.select([sys.stdin], [], [], 5)\n"
        "print(bool(ready), repr(sys.stdin.readline().strip()))\n"
    )
    cases = {
        "inputs": [None, "", "word"],
        "outputs": ["True ''", "True ''", "True 'word'"],
    }
    results, told = check(cases, code, timeout=10)
    assert results == [True, True, True], told


def test_a_score_is_the_share_of_right_cases(verl, url):
    cases = {"inputs": ["left", "right"], "outputs": ["saw left\n", "other\n"]}
    score, told = verl.compute_score(url, None, 256, f"```python\n{ECHO}```", cases)
    assert score == 0.5, told


def test_trouble_is_tried_again_and_then_has_no_score_of_ours(verl):
    """An endpoint that says 504 throughout: verl asks three times, and calls it -1."""
    asked = []

    class Troubled(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            asked.append(self.path)
            self.rfile.read(int(self.headers["Content-Length"]))
            body = json.dumps({"status": "SandboxError", "message": "fault"}).encode()
            self.send_response(504)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Troubled)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        address = f"http://127.0.0.1:{server.server_port}/run_code"
        results, told = verl.check_correctness(address, ONE, ECHO)
    finally:
        server.shutdown()
        server.server_close()
    assert results == [-1]
    assert told[0]["status"] == "api_error"
    assert len(asked) == 3
