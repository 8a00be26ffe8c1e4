"""Watches what the solution does to the framework that runs it in the same process.

It finds what is known and careless. What knows this file can get past it: verdicts made with it
say `isolation: shared`.
"""
import ast
import posix
import sys
from functools import partial

FRAMEWORKS = ("_pytest", "pytest", "pluggy", "unittest", "iniconfig")
# Modules of which functions and classes must be the same objects at the end.
STEADY = ("builtins", "time", "math", "operator", "os", "posix", "json", "re", "inspect", "traceback",
          "functools", "itertools", "collections", "datetime", "copy", "types", "threading", "ast",
          "decimal", "fractions", "statistics", "random", "io", "importlib", "contextlib", "difflib")
STEADY_SYS = ("exit", "_getframe", "settrace", "setprofile", "exc_info", "gettrace", "addaudithook")
REACHING_CALLS = frozenset((
    "get_objects", "get_referrers", "get_referents", "_getframe", "currentframe", "stack", "settrace",
    "setprofile", "from_item_and_call", "_exit", "getouterframes", "addaudithook", "unfreeze"))
REACHING_NAMES = frozenset((
    "f_back", "f_locals", "tb_frame", "gi_frame", "__closure__", "cell_contents", "excepthook",
    "TestReport", "pytest_runtest_makereport", "pytest_collection_modifyitems", "CallInfo",
    "addSuccess", "addFailure", "failureException", "AssertionError"))
REACHING_MODULES = frozenset(("_pytest", "pluggy", "gc", "ctypes", "_ctypes"))
SOURCE_BYTES_MAX = 512 << 10
SAME = object()


def public_parts(space):
    """Entries that are code or classes; other values are a module's own state."""
    function = type(public_parts)
    return [(name, value) for name, value in list(space.items())
            if isinstance(value, (function, type, type(len), staticmethod, classmethod, property))]


class Snapshot:
    """What the framework consists of, by identity: entries of modules and classes, and code."""

    def __init__(self, allowed):
        self.allowed, self.rows, self.classes = allowed, [], set()
        for name, module in list(sys.modules.items()):
            top = name.partition(".")[0]
            # Plugins change what mocks say, and no test ends by that.
            if name == "unittest.mock":
                continue
            if top in FRAMEWORKS:
                self.take(name, vars(module), True)
            elif name in STEADY:
                self.take(name, vars(module), False)
        self.rows += [("sys." + name, vars(sys), name, getattr(sys, name), None) for name in STEADY_SYS]
        names = vars(sys.modules["builtins"])
        self.rows += [("builtins." + name, names, name, names.get(name, SAME), None)
                      for name in ("exit", "quit", "help")]
        self.modules = {name: module for name, module in sys.modules.items()
                        if name.partition(".")[0] in FRAMEWORKS + STEADY}

    def take(self, where, space, deep):
        for name, value in public_parts(space):
            self.rows.append((where + "." + name, space, name, value, code_of(value)))
            if deep and isinstance(value, type) and value not in self.classes:
                home = (getattr(value, "__module__", "") or "").partition(".")[0]
                if home in FRAMEWORKS and value.__module__ != "unittest.mock":
                    self.classes.add(value)
                    self.take(where + "." + name, vars(value), True)

    def take_tests(self, where, space):
        """Functions and classes of test code, and the methods of those classes."""
        for name, value in public_parts(space):
            if name[:4] in ("test", "Test") or where.rpartition(".")[2][:4] == "Test":
                self.rows.append((where + "." + name, space, name, value, code_of(value)))
                if isinstance(value, type):
                    self.take_tests(where + "." + name, vars(value))

    def core(self, names):
        """A small one of the entries that decide how a test ends."""
        small = object.__new__(Snapshot)
        small.allowed, small.modules, small.classes = self.allowed, {}, set()
        small.rows = [row for row in self.rows if row[0].startswith(names)]
        return small

    def changes(self):
        """Paths of entries that are not what they were."""
        found = []
        for path, space, name, value, code in self.rows:
            now = space.get(name, SAME)
            if now is value and (code is None or code_of(value) is code):
                continue
            if not self.allowed(path, now):
                found.append(path)
        for name, module in self.modules.items():
            if sys.modules.get(name) is not module:
                found.append("sys.modules[%r]" % name)
        return found


def code_of(value):
    value = getattr(value, "__func__", value)
    return getattr(value, "__code__", None)


def over(note, author, core):
    """Functions that take the tests, and compare: all, the parts named `core`, the tests. And the
    ids of all code."""

    def allowed(path, now):
        if path.startswith(("builtins.", "unittest.", "_pytest.", "pluggy.", "pytest.")):
            return path == "builtins.breakpoint"
        # Since 8.4 pytest puts its own in here, with a list to remember exceptions of threads in.
        if path == "threading.excepthook" and type(now) is partial:
            now = now.func
        code = code_of(now)
        return code is not None and (code.co_filename in author or "-packages" in code.co_filename)

    whole = Snapshot(allowed)
    small = whole.core(core)
    tests = whole.core(())
    codes = frozenset(id(row[3]) for row in whole.rows if row[4] is not None)
    noted = []

    def check(snapshot):
        for path in snapshot.changes()[:20]:
            if path not in noted:
                noted.append(path)
                note(path, "replaced in the process of the tests", 2)
        return not noted

    def take_tests():
        """The author's tests are as they were read."""
        for name, module in list(sys.modules.items()):
            if getattr(module, "__file__", None) in author:
                tests.take_tests(name, vars(module))

    def check_all():
        return check(tests) and check(whole)

    return take_tests, check_all, (lambda: check(small)), (lambda: check(tests)), codes


def who_raised(trace):
    """The file whose code raised: the innermost frame outside the framework."""
    framework = ("/_pytest/", "/pluggy/", "/unittest/")
    file = ""
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        if not any(part in name for part in framework):
            file = name
        trace = trace.tb_next
    return file


def make_asker(root, author):
    """Who asked: `solution` if the innermost frame outside the library lies in the workspace."""
    getframe, ours = sys._getframe, root + "/.rollcage/"
    library = tuple(place for place in sys.path if place and "-packages" not in place
                    and not place.startswith(root))

    def asker():
        # The caller of whoever raised the event: past this function, `look` and the hook.
        frame = getframe(3)
        through = ""
        while frame is not None:
            file = frame.f_code.co_filename
            if not file.startswith(library) and not file.startswith("<frozen"):
                # Code without a file is somebody's `exec`.
                trusted = file in author or "-packages" in file or file.startswith(ours)
                return (None if trusted else file), through
            through = file
            frame = frame.f_back
        return None, through

    return asker


def install_audit(root, author, note, framework_codes):
    """Sees calls that reach for the framework, the tests or this process; nothing removes it."""
    asker = make_asker(root, author)
    busy = False
    secrets = ("/mem", "/maps", "/fd", "/environ")
    pid, parent = posix.getpid(), posix.getppid()
    names = {"gc.get_objects", "gc.get_referrers", "gc.get_referents", "sys._getframe", "sys.settrace",
             "sys.setprofile", "ctypes.dlopen", "ctypes.dlsym", "open", "os.kill", "os.listdir",
             "object.__setattr__", "sys._current_frames"}

    def hook(event, args):
        nonlocal busy
        if event not in names or busy:
            return
        busy = True
        try:
            blocked = look(event, args)
        finally:
            busy = False
        if blocked:
            raise RuntimeError("the test framework cannot be changed")

    def look(event, args):
        if event == "object.__setattr__":
            code = getattr(args[0], "__code__", None)
            if id(args[0]) in framework_codes or (code is not None and code.co_filename in author):
                note(getattr(args[0], "__qualname__", "?"), "its code was to be replaced", 2)
                return True
            return False
        if event in ("open", "os.listdir"):
            path = args[0] if type(args[0]) is str else ""
            full = path if path.startswith("/") else root + "/" + path
            private = full.startswith("/proc/") and any(part in full for part in secrets)
            if not private and full not in author:
                return False
            if asker()[0] is not None:
                note(full[len(root) + 1:] if full.startswith(root + "/") else full, "opened by the solution", 1)
            return False
        if event == "os.kill":
            if args[0] in (pid, parent, 0, -1):
                note("process %d" % args[0], "signalled by the solution", 1)
            return False
        who, through = asker()
        if event == "sys._getframe" and through and not through.endswith(("/inspect.py", "/traceback.py")):
            return False
        if who is not None:
            note(who.rpartition("/")[2], "calls " + event + " while it runs", 1)
        return False

    sys.addaudithook(hook)


def scan(files, root, note):
    """Reads sources before they run. What it finds is told, and is no proof of anything."""
    for path in files:
        if not path.endswith(".py"):
            continue
        try:
            with open(path, "rb") as file:
                tree = ast.parse(file.read(SOURCE_BYTES_MAX))
            found = sorted(reaching(tree))
        except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        for what in found[:10]:
            note(path[len(root) + 1:], what, 0)


def reaching(tree):
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names = [alias.name for alias in node.names]
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else names
            found.update("imports " + name for name in names
                         if name.partition(".")[0] in REACHING_MODULES)
        elif isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name in REACHING_CALLS:
                found.add("calls " + name)
        elif isinstance(node, ast.Attribute):
            if node.attr in REACHING_NAMES:
                found.add("names " + node.attr)
            elif isinstance(node.ctx, ast.Store) and getattr(node.value, "id", "") in (
                    "builtins", "sys", "unittest", "pytest", "__builtins__"):
                found.add("sets %s.%s" % (node.value.id, node.attr))
        elif isinstance(node, ast.Constant) and type(node.value) is str:
            if node.value.startswith(("/proc/self", "/proc/%")):
                found.add("names " + node.value[:40])
        elif isinstance(node, ast.FunctionDef) and node.name == "__eq__":
            last = node.body[-1]
            if isinstance(last, ast.Return) and isinstance(last.value, ast.Constant) and last.value.value:
                found.add("an __eq__ that says yes to everything")
    return found
