"""Runs pytest and reports each test over descriptor 4, as it ends.

pytest and everything it may load later are imported before anything of the solution. What a test
came to is taken from what was raised, not from what a report says of it. Hidden tests that must
fail are run first and last.
"""
import os
import sys

FOLDER = os.path.dirname(os.path.abspath(sys.argv[0]))
ROOT = os.path.dirname(FOLDER)
# Entries of the framework that decide how a test ends.
CORE = ("_pytest.runner.", "_pytest.reports.", "_pytest.outcomes.", "_pytest.python.Function.",
        "_pytest.python.pytest_pyfunc_call", "_pytest.unittest.", "pluggy._", "unittest.case.",
        "builtins.AssertionError", "builtins.Exception", "builtins.BaseException",
        "builtins.isinstance", "builtins.len", "builtins.all", "builtins.any")


def load(name):
    module = type(sys)("rollcage_" + name)
    with open(FOLDER + "/" + name + ".py", "rb") as file:
        exec(compile(file.read(), FOLDER + "/" + name + ".py", "exec", dont_inherit=True), module.__dict__)
    return module


def import_framework():
    """pytest, all its parts, and what its parts import when they are first used."""
    import importlib
    import pkgutil
    import pytest
    import _pytest
    for module in pkgutil.walk_packages(_pytest.__path__, "_pytest."):
        if not module.name.endswith("__main__"):
            try:
                importlib.import_module(module.name)
            except ImportError:
                pass
    for name in ("unittest.mock", "unittest.case", "unittest.suite", "unittest.loader",
                 "unittest.result", "unittest.async_case", "difflib", "pprint", "statistics",
                 "decimal", "fractions", "random", "json", "inspect", "traceback"):
        importlib.import_module(name)
    return pytest


def short(text):
    return text if len(text) <= 2000 else text[:2000] + "..."


def make_plugin(pytest, orders, tools):
    """The plugin: hooks that judge, and no state on its outside."""
    report, note, take_tests, check_all, check_core, check_tests, author, hidden, who_raised, load_error = (
        tools)
    results, called, causes, canaries, state = {}, {}, {}, {}, {"collected": 0, "errors": 0, "canaries": 0}
    AssertionError_ = AssertionError
    skipped, xfailed = pytest.skip.Exception, pytest.xfail.Exception
    from unittest import SkipTest
    trusts_hooks = orders["conftest"]

    def raised_by_solution(excinfo):
        file = who_raised(excinfo.tb)
        return guard_inside(file) and file not in author

    def guard_inside(file):
        return file.startswith(ROOT + "/") or file.startswith("<")

    def tell(item, what):
        note("hidden test" if item.nodeid in canaries else item.nodeid, what, 2)

    def phase_of(item, call, before, result):
        """The state of one phase, and why."""
        raised = before or call.excinfo
        told = called.pop(item.nodeid, None) if call.when == "call" else None
        if raised is None and told is not None:
            tell(item, "what its test raised was lost")
            return "failed", "the test raised %s, which was lost" % told
        if hasattr(result, "wasxfail"):
            if raised is not None and isinstance(raised.value, xfailed) and raised_by_solution(raised):
                note(item.nodeid, "the solution declared its test an expected failure", 2)
                return "failed", "the solution declared the test an expected failure"
            return ("xfail" if result.skipped else "xpass"), short(str(result.wasxfail))
        if raised is None:
            return ("passed", "") if result.passed else ("failed", short(str(result.longrepr)))
        if isinstance(raised.value, (skipped, SkipTest)):
            if raised_by_solution(raised):
                note(item.nodeid, "the solution skipped its test", 2)
                return "failed", "the solution skipped the test"
            return "skipped", short(str(raised.value))
        if not result.failed and not (trusts_hooks and result.skipped):
            tell(item, "a hook changed what its test came to")
        failed = isinstance(raised.value, (AssertionError_, pytest.fail.Exception))
        return ("failed" if failed and call.when == "call" else "error"), short(words(raised))

    def words(raised):
        try:
            text = raised.exconly()
        except BaseException:
            text = type(raised.value).__name__
        return "\n".join(line for line in text.splitlines() if hidden not in line)

    def line_of(raised):
        trace, line = (raised.tb if raised is not None else None), None
        while trace is not None:
            if trace.tb_frame.f_code.co_filename in author:
                line = trace.tb_lineno
            trace = trace.tb_next
        return line

    def merge(item, call, status, message):
        row = results.setdefault(item.nodeid, {"status": "", "message": "", "ms": 0, "line": None})
        row["ms"] += int(call.duration * 1000)
        worse = status not in ("passed",) and row["status"] in ("", "passed")
        if worse or (call.when == "call" and row["status"] == ""):
            row["status"], row["message"], row["line"] = status, message, line_of(call.excinfo)
        if call.when == "teardown":
            file, line, _ = item.location
            where = row["line"] if row["line"] is not None else (line or 0) + 1
            report({"event": "test", "id": item.nodeid, "status": row["status"] or "error",
                    "message": row["message"], "duration_ms": row["ms"], "file": str(file),
                    "line": where})

    class Plugin:
        @pytest.hookimpl(hookwrapper=True, trylast=True)
        def pytest_pyfunc_call(self, pyfuncitem):
            outcome = yield
            if outcome.excinfo is not None:
                called[pyfuncitem.nodeid] = outcome.excinfo[0].__name__

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_runtest_makereport(self, item, call):
            before = call.excinfo
            outcome = yield
            result = outcome.get_result()
            status, message = phase_of(item, call, before, result)
            if item.nodeid in canaries:
                if call.when == "call":
                    canaries[item.nodeid] = status
                return
            if not check_core() or (call.when == "setup" and not check_tests()):
                status, message = "failed", "the test framework was changed"
            merge(item, call, status, message)

        @pytest.hookimpl(hookwrapper=True)
        def pytest_make_collect_report(self, collector):
            outcome = yield
            call = getattr(outcome.get_result(), "call", None)
            if call is not None and call.excinfo is not None:
                causes[collector.nodeid] = call.excinfo.value

        @pytest.hookimpl(tryfirst=True)
        def pytest_collectreport(self, report):
            tell_collection(report)

        @pytest.hookimpl(tryfirst=True)
        def pytest_internalerror(self, excinfo):
            report({"event": "internal", "message": short(words(excinfo))})

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_runtestloop(self, session):
            state["collected"] = len(session.items)
            tell_ids(session.items)
            take_tests()
            check_all()
            run_canary(session, session.items[:1])
            outcome = yield
            run_canary(session, [])
            check_all()

    def tell_collection(collected):
        if not collected.failed:
            return
        state["errors"] += 1
        error = causes.pop(collected.nodeid, None)
        while error is not None and error.__cause__ is not None and not isinstance(error, SyntaxError):
            error = error.__cause__
        report(load_error(collected.nodeid, error, str(collected.longrepr), ROOT))

    def tell_ids(items):
        ids = [item.nodeid for item in items]
        for start in range(0, len(ids), 500):
            report({"event": "collected", "ids": ids[start:start + 500]})

    def run_canary(session, following):
        from _pytest.runner import runtestprotocol
        from pathlib import Path
        path, saved = Path(orders["canary_path"]), list(sys.path)
        os.mkdir(path.parent)
        with open(path, "wb") as file:
            file.write(orders["canary"])
        module = pytest.Module.from_parent(session, path=path)
        items = list(session.genitems(module))
        os.unlink(path)
        os.rmdir(path.parent)
        for item in items:
            canaries[item.nodeid] = "missing"
        for item, after in zip(items, [*items[1:], (following or [None])[0]]):
            runtestprotocol(item, log=False, nextitem=after)
        state["canaries"] += len(items)
        sys.modules.pop(path.stem, None)
        sys.path[:] = saved

    def finish(code, fault):
        passed = sorted(name for name, status in canaries.items() if status in ("passed", "missing"))
        if passed:
            note("hidden test", "one that must fail did not", 2)
        report({"event": "complete", "collected": state["collected"], "errors": state["errors"],
                "canaries": state["canaries"], "canaries_passed": len(passed), "code": code,
                "fault": fault})

    return Plugin(), finish


def prepare_canary(orders):
    """Tests that must fail, of names that nothing knows."""
    word = os.urandom(6).hex()
    path = "%s/%s/test_%s.py" % (FOLDER, word, word)
    one, other = int.from_bytes(os.urandom(4), "big"), 1 << 40
    text = ("import unittest\n\ndef test_a%(w)s():\n    assert %(a)d == %(b)d\n\n"
            "def test_b%(w)s():\n    raise ValueError('%(w)s')\n\n"
            "class TestC%(w)s(unittest.TestCase):\n    def test_c(self):\n"
            "        self.assertEqual(%(a)d, %(b)d)\n") % {"w": word, "a": one, "b": other}
    orders["canary_path"], orders["canary"] = path, text.encode()


def arguments(orders):
    config = ROOT + "/" + orders["config"] if orders["config"] else FOLDER + "/pytest.ini"
    # Else it would look for conftest.py in the folder of its configuration only, which is ours.
    words = ["-c", config, "--rootdir", os.getcwd(), "--confcutdir", ROOT,
             "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:stepwise", "-q", "--color=no",
             # pytest-mock, where the image has it, would wrap assertions of unittest.mock after
             # they were noted down, and look like a solution that does.
             "-o", "mock_traceback_monkeypatch=false"]
    if not orders["conftest"]:
        words.append("--noconftest")
    return words + orders["args"]


def run(pytest, orders, plugin, begin):
    """Runs it all; the workspace is importable only when the image's plugins are loaded."""

    class Starter:
        def pytest_load_initial_conftests(self):
            if orders["conftest"]:
                begin()
            sys.path[:0] = orders["places"]

        @pytest.hookimpl(trylast=True)
        def pytest_configure(self):
            # Without a conftest.py nothing of the solution can have been loaded by now.
            if not orders["conftest"]:
                begin()

    flush = sys.stdout.flush
    try:
        code, fault = int(pytest.main(arguments(orders), plugins=[plugin, Starter()])), None
    except BaseException as error:
        code, fault = 3, type(error).__name__
    try:
        flush()
    except (OSError, ValueError):
        pass
    return code, fault


def main():
    guard, watch, equal = load("guard"), load("watch"), load("equal")
    orders = guard.read_orders(FOLDER)
    report = guard.make_report(orders.pop("nonce"))
    note = guard.make_notes(report)
    for name in list(os.environ):
        if name.startswith(("PYTEST", "PYTHON", "ROLLCAGE")):
            del os.environ[name]
    guard.restrict_modules(ROOT, orders)
    try:
        pytest = import_framework()
    except ImportError as error:
        report({"event": "missing", "what": "pytest", "message": str(error)})
        return
    report({"event": "start"})
    orders["places"] = guard.places(ROOT, orders)
    author = guard.author_files(ROOT, orders)
    guard.neutralise(ROOT, author, note)
    watch.scan(guard.solution_files(ROOT, author), ROOT, note)
    hidden = "see_" + os.urandom(6).hex()
    see = equal.make_see(lambda file: file in author or "-packages" in file, note)
    setattr(sys.modules["builtins"], hidden, see)
    from _pytest.assertion import rewrite
    original = rewrite.rewrite_asserts

    def rewrite_asserts(tree, source, path=None, config=None):
        if path in author:
            equal.hand_over(tree, hidden)
        original(tree, source, path, config)

    rewrite.rewrite_asserts = rewrite_asserts
    # Files compiled before are not read: they may be somebody else's.
    rewrite._read_pyc = lambda *rest, **options: None
    watching = []

    def begin():
        """The image's plugins have changed what they change; from here on nothing may."""
        *checks, codes = watch.over(note, author, CORE)
        watch.install_audit(ROOT, author, note, codes)
        watching.extend(checks)

    prepare_canary(orders)
    checks = [lambda number=number: watching[number]() for number in range(4)]
    plugin, finish = make_plugin(pytest, orders, (report, note, *checks, author, hidden, watch.who_raised,
                                                   guard.load_error))
    leave = os._exit
    code, fault = run(pytest, orders, plugin, begin)
    finish(code, fault)
    leave(code & 255)


main()
