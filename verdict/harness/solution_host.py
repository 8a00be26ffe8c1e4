"""Runs beside the solution: loads its file as a module and serves the judge over descriptor 3.

It knows no test and no expected value. Nothing it says is evidence by itself: whatever it reports,
the judge decides on plain values in another sandbox.
"""
import builtins
import posix
import sys

# `wire` (the module of both processes) and `FOLDER` are given by start.py.


def prepare_interpreter(file, wire):
    """What a program started as `python3 file` would find."""
    from _sitebuiltins import Quitter
    builtins.exit = Quitter("exit", "Ctrl-D (i.e. EOF)")
    builtins.quit = Quitter("quit", "Ctrl-D (i.e. EOF)")
    sys.meta_path.append(wire.SiteFinder)
    sys.path.insert(0, file.rpartition("/")[0] or "/")
    sys.argv[:] = [file]


def snapshot():
    """Names of the interpreter that no honest solution replaces."""
    watched = {"builtins." + name: value for name, value in vars(builtins).items()
               if name in ("exit", "quit", "__import__", "isinstance", "__build_class__")
               or type(value) is type and BaseException in value.__mro__}
    watched["sys.exit"], watched["os._exit"] = sys.exit, posix._exit
    os = sys.modules.get("os")
    if os is not None:
        watched["os._exit"] = os._exit
    return watched


def changed(before):
    now = snapshot()
    return tuple(sorted(name for name, value in before.items() if now.get(name) is not value))


def syntax_error(error, file):
    def number(value):
        return value if type(value) is int and value > 0 else None
    return {"state": "syntax_error", "type": type(error).__name__,
            "message": str(getattr(error, "msg", None) or error), "file": file,
            "line": number(getattr(error, "lineno", None)),
            "column": number(getattr(error, "offset", None))}


def failing_line(error, path):
    line, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == path:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def load(path, file, module):
    """Runs the solution's top level; says in plain values how that went."""
    try:
        with open(path, "rb") as source:
            text = source.read()
    except OSError as error:
        return {"state": "missing", "message": str(error), "file": file}
    try:
        code = compile(text, path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        return syntax_error(error, file)
    try:
        exec(code, module.__dict__)
    except SystemExit as error:
        code = error.code
        return {"state": "exit", "code": code if type(code) is int else (1 if code else 0)}
    except BaseException as error:
        try:
            sys.__excepthook__(type(error), error, error.__traceback__)
            text = str(error)
        except BaseException:
            text = ""
        return {"state": "exception", "type": type(error).__name__, "file": file,
                "message": text if type(text) is str else "", "line": failing_line(error, path)}
    return {"state": "ok"}


def main():
    file = sys.argv[2]
    path = FOLDER.rpartition("/")[0] + "/" + file
    # A copy that programs started by the solution do not inherit; 3 is free for the solution.
    fd = posix.dup(3)
    posix.close(3)
    if not posix.get_blocking(fd):
        posix.set_blocking(fd, True)
    prepare_interpreter(path, wire)
    sys.setrecursionlimit(sys.getrecursionlimit() + 20)

    module = type(sys)("solution")
    module.__file__ = path
    module.__builtins__ = builtins
    sys.modules["solution"] = module
    stem = file.rpartition("/")[2].rpartition(".")[0]
    if stem not in sys.modules and stem not in getattr(sys, "stdlib_module_names", (stem,)):
        sys.modules[stem] = module
    before = snapshot()
    loaded = load(path, file, module)
    names = module.__dict__

    class Host(wire.Peer):
        def perform(self, action, target, name, args, kwargs):
            if action == "name":
                if name in names:
                    return names[name]
                raise NameError("name %r is not defined" % (name,))
            if action == "load":
                return loaded, tuple(key for key in names if type(key) is str)
            if action == "changed":
                return changed(before)
            return super().perform(action, target, name, args, kwargs)

    host = Host(fd)
    leave = posix._exit
    try:
        while True:
            host.serve(host.receive())
    except wire.Gone:
        pass
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:
            pass
    leave(0)
