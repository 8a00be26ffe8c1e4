"""Runs the test code against a solution in another sandbox, and reports over descriptor 4.

No code of the solution runs here: names that the test code lacks are proxies of the solution's.
The report is one JSON line with the run's nonce, written at the very end.
"""
import posix
import sys
from _json import encode_basestring_ascii as quote
from time import perf_counter

# `wire` (the module of both processes) and `FOLDER` are given by start.py.

MESSAGE_CHARS_MAX = 2000
# Built-in names that a task may ask for (`def sum(a, b)`) and that tests do not need themselves.
SHADOWABLE = frozenset((
    "sum", "max", "min", "pow", "divmod", "hash", "bin", "hex", "oct", "ord", "chr", "filter",
    "reversed", "slice", "next", "iter", "input", "compile", "id", "vars", "ascii", "format",
    "eval", "exec", "dir", "help", "copyright", "credits", "license", "exit", "quit"))


# Modules that do something when they are imported, and ours.
NOT_IMPORTED = frozenset((
    "", "__main__", "solution", "antigravity", "this", "test", "idlelib", "turtledemo", "lib2to3",
    "ensurepip", "pip"))
LOAD_FIELDS = ("state", "type", "message", "file", "line", "column", "code")
CHANGED_MAX = 50


def read_task():
    with open(FOLDER + "/task.bin", "rb") as file:
        return wire.Decoder(None, file.read()).get()


def json_text(value):
    """JSON of what `Run.plain` leaves; the json module would cost a third of the start."""
    kind = type(value)
    if kind is dict:
        return "{%s}" % ",".join(quote(key) + ":" + json_text(item) for key, item in value.items())
    if kind is list:
        return "[%s]" % ",".join(map(json_text, value))
    if kind is str:
        return quote(value)
    return {None: "null", True: "true", False: "false"}[value] if kind is not int else str(value)


def short(text):
    return text if len(text) <= MESSAGE_CHARS_MAX else text[:MESSAGE_CHARS_MAX] + "..."


class Names:
    """Which names of test code are its own, and which it takes from elsewhere."""

    def __init__(self):
        self.loaded, self.bound, self.in_classes = set(), set(), set()
        self.imported = set()

    def walk(self, node, in_class=False):
        kind = type(node).__name__
        if kind == "Name":
            if type(node.ctx).__name__ == "Load":
                self.loaded.add(node.id)
                if in_class:
                    self.in_classes.add(node.id)
            else:
                self.bound.add(node.id)
        elif kind in ("FunctionDef", "AsyncFunctionDef", "ClassDef"):
            self.bound.add(node.name)
        elif kind == "arg":
            self.bound.add(node.arg)
        elif kind == "ImportFrom":
            self.imported.add(node.module)
        elif kind == "Import":
            self.imported.update(alias.name for alias in node.names)
        elif kind == "alias":
            self.bound.add((node.asname or node.name).partition(".")[0])
        elif kind == "ExceptHandler" and node.name:
            self.bound.add(node.name)
        in_class = in_class or kind == "ClassDef"
        for field in node._fields:
            value = getattr(node, field, None)
            for child in value if type(value) is list else (value,):
                if hasattr(child, "_fields"):
                    self.walk(child, in_class)


def shadowed_builtins(names, builtin_names, entry_points, stem):
    """Built-in names that mean the solution's own: only those the author names, or, if the test
    code takes nothing else from the solution, those that it must be about."""
    if entry_points:
        return frozenset(entry_points)
    free = names.loaded - names.bound
    if "solution" in names.imported or stem in names.imported:
        return frozenset()
    if any(name not in builtin_names for name in free):
        return frozenset()
    return SHADOWABLE & free


def make_judge():
    frames = (type(sys._getframe()), type(main.__code__), type(sys), type(type.__dict__))
    call_only = (wire.FunctionType, wire.BuiltinType, type(Names().walk))
    hidden = ("gi_", "cr_", "ag_", "tb_", "f_", "co_", "func_")

    class Judge(wire.Peer):
        """Serves the solution only what the test handed it: calls, and public data."""

        judges = True

        def handed_over(self, target):
            """Whether the test gave it away: not a module, type or value that the frame names."""
            number = self.export_numbers.get(id(target))
            if number is None or self.exports[number][0] is not target:
                return False
            return not isinstance(target, type) or type not in target.__mro__

        def perform(self, action, target, name, args, kwargs):
            if not self.handed_over(target):
                raise AttributeError("the test did not hand this over")
            if action == "get":
                return self.public(target, name)
            if action == "set":
                self.public_name(name)
                if isinstance(target, call_only + (type,)):
                    raise AttributeError("the test's %s cannot be changed" % name)
                return setattr(target, name, args)
            if action == "op" and (name not in wire.METHODS or name == "__call__"):
                raise AttributeError(name)
            if action not in ("op", "call"):
                raise AttributeError("not allowed")
            return super().perform(action, target, name, args, kwargs)

        def public_name(self, name):
            if type(name) is not str or name.startswith(("_",) + hidden):
                raise AttributeError(name)

        def public(self, target, name):
            if name in ("__name__", "__qualname__", "__doc__"):
                value = getattr(target, name)
                return value if type(value) is str else None
            self.public_name(name)
            if isinstance(target, call_only):
                raise AttributeError(name)
            value = getattr(target, name)
            if isinstance(value, frames):
                raise AttributeError(name)
            return value

        def local_module(self, name, proxy):
            """The judge's own copy of a module that the solution has: only of the pristine image."""
            if importable(name):
                __import__(name)
                return sys.modules[name]
            return proxy

    return Judge


def importable(name):
    top, _, last = name.partition(".")
    if top in NOT_IMPORTED or last.endswith("__main__"):
        return False
    if name in sys.modules:
        return True
    from importlib.util import find_spec
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError, AttributeError):
        return False


def make_namespace(peer, provided, builtin_names, shadowed):
    class Namespace(dict):
        """The test code's globals: its own names, then built-ins, then the solution's."""

        def __missing__(self, name):
            if name in builtin_names and not (name in shadowed and name in provided):
                raise KeyError(name)
            if name.startswith("__") and name.endswith("__"):
                raise KeyError(name)
            try:
                return peer.request("name", None, name)
            except NameError:
                raise KeyError(name) from None

    return Namespace({"__name__": "tests", "__builtins__": sys.modules["builtins"]})


def make_module(peer, provided):
    class Solution(type(sys)):
        """For test code that imports the solution by name."""

        def __getattr__(self, name):
            if name == "__all__":
                return [key for key in provided if not key.startswith("_")]
            if name.startswith("__"):
                raise AttributeError(name)
            try:
                return peer.request("name", None, name)
            except NameError:
                raise AttributeError(name) from None

    return Solution("solution")


class Run:
    """One judgement: sets up the namespace, runs the tests, keeps their results."""

    def __init__(self, peer, task):
        self.peer, self.task = peer, task
        self.report = {"version": 1, "nonce": task["nonce"], "load": None, "verifier_error": None,
                       "tests": [], "changed": [], "gone": None, "complete": False}
        self.sources = {}

    def compile_all(self):
        """Parses all test code first: an error in it is the verifier's, whatever the solution."""
        names, setup, tests = Names(), None, []
        pieces = [("<asserts>", None, self.task["code"])] if self.task["code"].strip() else []
        pieces += [("<%s>" % test["id"], test["id"], test["code"]) for test in self.task["tests"]]
        for file, name, text in pieces:
            try:
                tree = compile(text, file, "exec", 0x400, True)
                code = compile(tree, file, "exec", 0, True)
            except (SyntaxError, ValueError) as error:
                self.report["verifier_error"] = "the test code %s does not parse: %s" % (file, error)
                return None
            names.walk(tree)
            self.sources[file] = text.splitlines()
            if name is not None:
                tests.append((name, code))
            elif self.task["tests"]:
                setup = code
            else:
                tests.append(("asserts", code))
        return names, setup, tests

    def run(self):
        compiled = self.compile_all()
        if compiled is None:
            return
        names, setup, tests = compiled
        try:
            loaded, provided = self.peer.request("load", None)
        except (wire.Gone, wire.CannotCross):
            self.report["load"] = {"state": "gone"}
            return
        if type(loaded) is not dict:
            loaded = {"state": "gone"}
        self.report["load"] = {key: loaded[key] for key in LOAD_FIELDS if key in loaded}
        if self.report["load"].get("state") != "ok":
            return
        provided = frozenset(name for name in provided if type(name) is str)
        space = self.namespace(names, provided)
        failed = None if setup is None else self.attempt("setup", setup, space)
        if failed is not None and failed["status"] != "passed":
            self.report["tests"] = [dict(failed, id=name) for name, _ in tests]
        elif self.report["verifier_error"] is None:
            for name, code in tests:
                self.report["tests"].append(self.attempt(name, code, space))
        self.finish()

    def namespace(self, names, provided):
        builtin_names = frozenset(vars(sys.modules["builtins"]))
        stem = self.task["file"].rpartition("/")[2].rpartition(".")[0]
        shadowed = shadowed_builtins(names, builtin_names, self.task["entry_points"], stem)
        space = make_namespace(self.peer, provided, builtin_names, shadowed)
        # Class bodies look names up past `__missing__`.
        for name in (names.in_classes & provided) - names.bound - builtin_names:
            space[name] = self.peer.request("name", None, name)
        module = make_module(self.peer, provided)
        for name in ("solution", stem):
            if name == "solution" or not importable(name):
                sys.modules[name] = module
        return space

    def is_stand_in(self, name):
        """Whether it was to come from the solution: what that lacks is its own failure."""
        top = name.partition(".")[0] if type(name) is str else ""
        return type(sys.modules.get(top)).__name__ == "Solution"

    def attempt(self, name, code, space):
        self.peer.refused = None
        started = perf_counter()
        try:
            exec(code, space)
            status, message, line = "passed", "", None
        except BaseException as error:
            status, message, line = self.judge_error(error)
        if self.peer.refused is not None and status != "skipped":
            status, message = "failed", self.peer.refused
        if self.peer.gone is not None:
            self.report["gone"] = self.report["gone"] or name
            status, message = "error", "the solution is gone: " + self.peer.gone
        return {"id": name, "status": status, "message": short(message), "line": line,
                "duration_ms": int((perf_counter() - started) * 1000)}

    def judge_error(self, error):
        line, text = None, ""
        trace = error.__traceback__
        while trace is not None:
            file = trace.tb_frame.f_code.co_filename
            if file in self.sources:
                line = trace.tb_lineno
                lines = self.sources[file]
                text = lines[line - 1].strip() if line <= len(lines) else ""
            trace = trace.tb_next
        remote = getattr(error, "_rc_remote", False) is True
        unittest = sys.modules.get("unittest")
        if unittest is not None and not remote and isinstance(error, unittest.SkipTest):
            return "skipped", str(error), line
        if isinstance(error, ImportError) and not remote and not self.is_stand_in(error.name):
            self.report["verifier_error"] = "the test code cannot import: %s" % error
        try:
            words = str(error)
        except BaseException:
            words = ""
        message = "%s%s: %s" % ("the solution raised " if remote else "", type(error).__name__, words)
        message = message.rstrip(": ")
        failed = isinstance(error, AssertionError) and not remote
        return ("failed" if failed else "error"), (message + " | " + text if text else message), line

    def finish(self):
        if self.peer.gone is None:
            try:
                names = self.peer.request("changed", None)
            except (wire.Gone, wire.CannotCross, Exception):
                names = ()
            if type(names) is tuple:
                self.report["changed"] = [
                    short(name) for name in names[:CHANGED_MAX] if type(name) is str]

    def plain(self, value):
        """Only JSON of our own shape: what the solution sent may be anything."""
        kind = type(value)
        if kind is dict:
            return {str(key): self.plain(item) for key, item in value.items()}
        if kind is str:
            return short(value).encode("utf-8", "replace").decode("utf-8")
        if kind is list:
            return [self.plain(item) for item in value]
        return value if kind is bool or value is None or kind is int and -1 < value < 1 << 53 else None


def main():
    fds = [posix.dup(fd) for fd in (3, 4)]
    for fd in (3, 4):
        posix.close(fd)
    for fd in fds:
        if not posix.get_blocking(fd):
            posix.set_blocking(fd, True)
    sys.setrecursionlimit(wire.DEPTH)
    sys.meta_path.append(wire.SiteFinder)
    run = Run(make_judge()(fds[0]), read_task())
    leave = posix._exit
    try:
        run.run()
        run.report["complete"] = True
    except BaseException as error:
        run.report["fault"] = "%s: %s" % (type(error).__name__, short(str(error)))
    report = run.plain(run.report)
    line = memoryview((json_text(report) + "\n").encode("ascii"))
    while line:
        line = line[posix.write(fds[1], line):]
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:
            pass
    leave(0)
