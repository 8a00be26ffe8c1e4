"""Runs unittest and reports each test over descriptor 4, as it ends.

The framework is imported before anything of the solution, and results are taken by methods that
only our own frames refer to. Hidden tests that must fail are run first and last.
"""
import os
import sys

FOLDER = os.path.dirname(os.path.abspath(sys.argv[0]))
ROOT = os.path.dirname(FOLDER)
# Entries of the framework that decide how a test ends.
CORE = ("unittest.case.", "unittest.result.", "unittest.suite.", "builtins.AssertionError",
        "builtins.Exception", "builtins.BaseException", "builtins.isinstance", "builtins.issubclass",
        "builtins.len", "builtins.all", "builtins.any")


def load(name):
    module = type(sys)("rollcage_" + name)
    with open(FOLDER + "/" + name + ".py", "rb") as file:
        exec(compile(file.read(), FOLDER + "/" + name + ".py", "exec", dont_inherit=True), module.__dict__)
    return module


def short(text):
    return text if len(text) <= 2000 else text[:2000] + "..."


def import_framework():
    import importlib
    for name in ("unittest", "unittest.mock", "unittest.case", "unittest.suite", "unittest.loader",
                 "unittest.result", "unittest.async_case", "unittest.util", "unittest.signals",
                 "difflib", "pprint", "statistics", "decimal", "fractions", "random", "json",
                 "inspect", "traceback", "asyncio", "logging"):
        importlib.import_module(name)
    keep_causes(sys.modules["unittest.loader"])
    return sys.modules["unittest"]


def keep_causes(loader):
    """What made a module fail to load is kept with the test that stands for it."""
    original = loader._make_failed_import_test

    def make(name, suite):
        made, message = original(name, suite)
        for test in made:
            test._exception.__cause__ = sys.exc_info()[1]
        return made, message

    loader._make_failed_import_test = make


def make_result(unittest, tools):
    """A result that tells each test when it stops; its state is on no outside."""
    report, note, check_core, check_tests, author, hidden, who_raised = tools
    from time import perf_counter
    rows, canaries, started, current = {}, {}, {}, []
    expected_failure = AssertionError

    def words(error):
        try:
            text = "%s: %s" % (error[0].__name__, error[1])
        except BaseException:
            text = error[0].__name__
        return short("\n".join(line for line in text.splitlines() if hidden not in line).rstrip(": "))

    def line_of(error):
        trace, line = error[2], None
        while trace is not None:
            if trace.tb_frame.f_code.co_filename in author:
                line = trace.tb_lineno
            trace = trace.tb_next
        return line

    def put(test, status, message="", line=None):
        row = rows.get(id(test))
        if row is None or row[0] == "passed":
            rows[id(test)] = (status, message, line)

    def raised(test, error):
        put(test, "failed" if issubclass(error[0], expected_failure) else "error", words(error),
            line_of(error))

    def stop(test):
        name = test.id()
        status, message, line = rows.pop(id(test), ("error", "nothing was told of it", None))
        if id(test) in canaries:
            canaries[id(test)] = status
            return
        if not (check_core() and check_tests()):
            status, message = "failed", "the test framework was changed"
        began = started.pop(id(test), None)
        spent = int((perf_counter() - began) * 1000) if began is not None else 0
        module = sys.modules.get(type(test).__module__)
        file = getattr(module, "__file__", None) or ""
        report({"event": "test", "id": name, "status": status, "message": message,
                "duration_ms": spent, "line": line,
                "file": file[len(ROOT) + 1:] if file.startswith(ROOT + "/") else file})

    class Result(unittest.TestResult):
        def startTest(self, test):
            current[:] = [test]
            started[id(test)] = perf_counter()
            check_tests()

        def stopTest(self, test):
            current[:] = []
            stop(test)

        def addSuccess(self, test):
            put(test, "passed")

        def addFailure(self, test, err):
            raised(test, err)

        def addError(self, test, err):
            if isinstance(test, unittest.TestCase):
                raised(test, err)
            else:
                report({"event": "collection_error", "id": str(test.id()), "message": words(err)})

        def addSkip(self, test, reason):
            trace = sys.exc_info()[2]
            file = who_raised(trace) if trace is not None else ""
            if file.startswith((ROOT + "/", "<")) and file not in author:
                name = "hidden test" if id(test) in canaries else test.id()
                note(name, "the solution skipped its test", 2)
                put(test, "failed", "the solution skipped the test")
            else:
                put(test, "skipped", short(str(reason)))
            if not isinstance(test, unittest.TestCase):
                report({"event": "collection_error", "id": str(test.id()),
                        "message": "skipped: " + short(str(reason))})

        def addExpectedFailure(self, test, err):
            put(test, "xfail", words(err))

        def addUnexpectedSuccess(self, test):
            put(test, "xpass")

        def addSubTest(self, test, subtest, err):
            if err is not None:
                raised(test, err)

        def wasSuccessful(self):
            return True

        def stop(self):
            pass

    return Result(), canaries


def make_canaries(unittest):
    """Tests that must fail, of names that nothing knows."""
    word = os.urandom(6).hex()
    one, other = int.from_bytes(os.urandom(4), "big"), 1 << 40

    def equal(self):
        self.assertEqual(one, other)

    def true(self):
        self.assertTrue(one == other)

    def plain(self):
        assert one == other

    def other_error(self):
        raise ValueError(word)

    def raises(self):
        with self.assertRaises(ValueError):
            int("1")

    tests = {"test_%s%d" % (word, number): test
             for number, test in enumerate((equal, true, plain, other_error, raises))}
    kind = type("Test" + word, (unittest.TestCase,), tests)
    return [kind(name) for name in tests]


def collect(unittest, orders):
    """The tests that the arguments name, as `python -m unittest` does, and trouble with them."""
    loader = unittest.TestLoader()
    words, names = list(orders["args"]), []
    if words and words[0] == "discover":
        options = {"-s": ".", "-p": "test*.py", "-t": None}
        keys = {"--start-directory": "-s", "--pattern": "-p", "--top-level-directory": "-t"}
        words, plain = words[1:], ["-s", "-p", "-t"]
        while words:
            word = words.pop(0)
            key = keys.get(word, word)
            if key in options and words:
                options[key] = words.pop(0)
            elif plain and not word.startswith("-"):
                options[plain.pop(0)] = word
        suite = loader.discover(options["-s"], options["-p"], options["-t"])
    else:
        names = [module_name(word) for word in words if not word.startswith("-")]
        if not names:
            names = sorted(module_name(path) for path in orders["tests"])
        suite = loader.loadTestsFromNames(names) if names else loader.discover(".")
    return suite


def module_name(word):
    if not word.endswith(".py"):
        return word
    word = os.path.relpath(os.path.join(os.getcwd(), word)) if os.path.isabs(word) else word
    return os.path.normpath(word)[:-3].replace(os.sep, ".")


def flat(suite):
    try:
        inner = iter(suite)
    except TypeError:
        return [suite]
    return [test for part in inner for test in flat(part)]


def read_own_way(guard, equal, trusted, hidden):
    """Test code of the author is read with its comparisons watched."""
    from ast import parse
    from importlib.machinery import SourceFileLoader
    original = SourceFileLoader.source_to_code

    def source_to_code(self, data, path, *, _optimize=-1):
        if path not in trusted:
            return original(self, data, path, _optimize=_optimize)
        tree = equal.hand_over(parse(data, path), hidden)
        return compile(tree, path, "exec", dont_inherit=True, optimize=_optimize)

    SourceFileLoader.source_to_code = source_to_code


def judge(unittest, orders, tools, checks):
    report, note = tools[:2]
    take_tests, check_all, load_error = checks
    result, canaries = make_result(unittest, tools)

    def run_canaries():
        for test in make_canaries(unittest):
            canaries[id(test)] = "missing"
            kept.append(test)
            test.run(result)

    kept, state = [], {"collected": 0, "fault": None}
    try:
        suite = collect(unittest, orders)
        tests = flat(suite)
        broken = [test for test in tests if type(test).__name__ in ("_FailedTest", "ModuleSkipped")]
        for test in broken:
            error = getattr(test, "_exception", None)
            report(load_error(test.id(), getattr(error, "__cause__", None), str(error), ROOT))
        ids = [test.id() for test in tests if test not in broken]
        state["collected"] = len(ids)
        for start in range(0, len(ids), 500):
            report({"event": "collected", "ids": ids[start:start + 500]})
        take_tests()
        check_all()
        run_canaries()
        suite = unittest.TestSuite([suite]) if not broken else unittest.TestSuite(
            test for test in tests if test not in broken)
        suite.run(result)
        run_canaries()
    except BaseException as error:
        state["fault"] = type(error).__name__
        report(load_error("the tests", error, "%s: %s" % (type(error).__name__, error), ROOT))
    check_all()
    passed = [name for name, status in canaries.items() if status in ("passed", "missing")]
    if passed:
        note("hidden test", "one that must fail did not", 2)
    report({"event": "complete", "collected": state["collected"], "errors": 0,
            "canaries": len(canaries), "canaries_passed": len(passed), "code": 0,
            "fault": state["fault"]})


def main():
    guard, watch, equal = load("guard"), load("watch"), load("equal")
    orders = guard.read_orders(FOLDER)
    report = guard.make_report(orders.pop("nonce"))
    note = guard.make_notes(report)
    for name in list(os.environ):
        if name.startswith(("PYTHON", "ROLLCAGE")):
            del os.environ[name]
    guard.restrict_modules(ROOT, orders)
    unittest = import_framework()
    report({"event": "start"})
    places = guard.places(ROOT, orders)
    author = guard.author_files(ROOT, orders)
    guard.neutralise(ROOT, author, note)
    watch.scan(guard.solution_files(ROOT, author), ROOT, note)
    hidden = "see_" + os.urandom(6).hex()
    see = equal.make_see(lambda file: file in author or "-packages" in file, note)
    setattr(sys.modules["builtins"], hidden, see)
    read_own_way(guard, equal, author, hidden)
    take_tests, check_all, check_core, check_tests, codes = watch.over(note, author, CORE)
    watch.install_audit(ROOT, author, note, codes)
    sys.path[:0] = places
    leave, flush = os._exit, sys.stdout.flush
    tools = (report, note, check_core, check_tests, author, hidden, watch.who_raised)
    judge(unittest, orders, tools, (take_tests, check_all, guard.load_error))
    try:
        flush()
    finally:
        leave(0)


main()
