"""What both test runners start with: their orders, the report, and where modules come from.

All of it happens before the first line of the solution is run. What the report needs lives in
closures alone. It does not know a test framework.
"""
import os
import posix
import sys
from _json import encode_basestring_ascii as quote
from _thread import allocate_lock
from fcntl import F_DUPFD_CLOEXEC, fcntl
from hashlib import sha256
from importlib.machinery import PathFinder
from json import loads

REPORT_FD = 4
# Far from what a program gets when it opens files, and from what it would try first.
HIDDEN_FD = 200
MESSAGE_CHARS_MAX = 2000
NOTES_MAX = 60
# Files that an interpreter or a framework runs or obeys by itself.
START_UP = ("sitecustomize.py", "usercustomize.py", "conftest.py")


def encode(value):
    """JSON of plain values; the json module is within the solution's reach."""
    kind = type(value)
    if kind is dict:
        return "{%s}" % ",".join([quote(key) + ":" + encode(item) for key, item in value.items()])
    if kind in (list, tuple):
        return "[%s]" % ",".join([encode(item) for item in value])
    if kind is str:
        return quote(value)
    if kind is bool:
        return "true" if value else "false"
    return "null" if value is None else int.__repr__(value)


def short(text):
    text = str.__str__(text) if isinstance(text, str) else ""
    return text if len(text) <= MESSAGE_CHARS_MAX else text[:MESSAGE_CHARS_MAX] + "..."


def read_orders(folder):
    """The orders hold the nonce: they are taken off the disk before anything else runs."""
    path = folder + "/orders.json"
    with open(path, "rb") as file:
        orders = loads(file.read())
    posix.unlink(path)
    return orders


def make_report(nonce):
    """A function that writes one record.

    Each record is sealed by a key that the next record's key follows from and that is then
    forgotten, so that what was written cannot be learnt from, changed or left out later.
    """
    fd = fcntl(REPORT_FD, F_DUPFD_CLOEXEC, HIDDEN_FD)
    posix.close(REPORT_FD)
    key = sha256(nonce.encode()).digest()
    owner, lock = posix.getpid(), allocate_lock()
    write, getpid, digest, close = posix.write, posix.getpid, sha256, posix.close
    # A child that goes its own way has no part in the report.
    posix_register = getattr(posix, "register_at_fork", None)
    if posix_register is not None:
        posix_register(after_in_child=lambda: close(fd))

    def report(record):
        nonlocal key
        if getpid() != owner:
            return
        body = encode(record).encode()
        with lock:
            line = digest(key + body).hexdigest().encode() + b" " + body + b"\n"
            key = digest(key + b"next").digest()
            while line:
                line = line[write(fd, line):]

    return report


def environment_of(executable):
    """The virtual environment that an interpreter is of, and whether it has the system's modules too.

    The interpreter was started without the part of it that looks for one.
    """
    folder = os.path.dirname(os.path.dirname(os.path.abspath(executable)))
    try:
        with open(folder + "/pyvenv.cfg", "rb") as file:
            lines = file.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return None, True
    settings = [[word.strip().lower() for word in line.partition("=")[::2]] for line in lines]
    return folder, ["include-system-site-packages", "true"] in settings


def pristine_path():
    """Where the image keeps modules. No .pth file is read, nothing of the workspace is in it."""
    version = "python%d.%d" % sys.version_info[:2]
    places = list(sys.path)
    environment, has_system = environment_of(sys.executable)
    prefixes = [environment] if environment else []
    if has_system:
        prefixes += [sys.prefix, "/usr/local", "/usr"]
    for prefix in dict.fromkeys(prefixes):
        places += ["%s/lib/%s/%s" % (prefix, version, name)
                   for name in ("site-packages", "dist-packages")]
    if has_system:
        places.append("/usr/lib/python3/dist-packages")
    return [place for place in dict.fromkeys(places) if place]


def inside(path, root):
    return path == root or path.startswith(root + "/")


class LibraryFirst:
    """Finds modules of the standard library there, whatever lies in the workspace."""

    def __init__(self, library, places, shadowed):
        self.library, self.places, self.shadowed = library, places, shadowed

    def find_spec(self, name, path=None, target=None):
        if path is not None or name not in self.library or name in self.shadowed:
            return None
        return PathFinder.find_spec(name, self.places)


def restrict_modules(root, orders):
    """Modules of the image only, and no code compiled by somebody else."""
    sys.dont_write_bytecode = True
    external = sys.modules["_frozen_importlib_external"]
    original = external.cache_from_source

    def cache_from_source(path, *rest, **options):
        if inside(os.path.abspath(path), root):
            raise NotImplementedError("compiled files of the workspace are not taken")
        return original(path, *rest, **options)

    external.cache_from_source = cache_from_source
    sys.path[:] = pristine_path()
    # Names that programs know from an interpreter that was started in the usual way.
    import site
    for name in ("setquit", "setcopyright", "sethelper"):
        getattr(site, name)()
    library = [place for place in sys.path if "-packages" not in place]
    finder = LibraryFirst(frozenset(sys.stdlib_module_names) - {"test"}, library, frozenset(orders["own"]))
    sys.meta_path.insert(0, finder)


def solution_files(root, ours):
    """Python files below the workspace, at most so many, without links that lead elsewhere."""
    found, seen = [], 0
    for folder, names, files in os.walk(root):
        names[:] = sorted(name for name in names if name not in (".git", "__pycache__", ".rollcage"))
        for name in sorted(files):
            seen += 1
            if seen > 20_000 or len(found) >= 1_000:
                return found
            path = folder + "/" + name
            if name.endswith((".py", ".pth")) and path not in ours:
                found.append(path)
    return found


def places(root, orders):
    """Folders that the author wants modules from, and the working folder."""
    found = []
    for path in orders["path"]:
        if path == "/workspace" or path.startswith("/workspace/"):
            path = root + path[len("/workspace"):]
        found.append(os.path.normpath(os.path.join(posix.getcwd(), path)))
    return found + [posix.getcwd()]


def load_error(name, error, message, root):
    """The record of something that could not be loaded, and of where a source does not parse."""
    record = {"event": "collection_error", "id": short(name), "message": short(message)}
    if isinstance(error, SyntaxError):
        file = error.filename if type(error.filename) is str else ""
        number = lambda value: value if type(value) is int and value > 0 else None
        record.update(
            kind=type(error).__name__, text=short(str(error.msg)), line=number(error.lineno),
            column=number(error.offset), file=file[len(root) + 1:] if inside(file, root) else file)
    return record


def author_files(root, orders):
    """Files whose code is the author's. Where the request names none, tests are known by name."""
    if orders["author"]:
        return frozenset(root + "/" + path for path in orders["author"])
    files = solution_files(root, frozenset())
    tests = {path for path in files if is_test(path.rpartition("/")[2])}
    folders = {folder_of(path) for path in tests}
    return frozenset(tests | {folder + "/conftest.py" for folder in folders})


def is_test(name):
    return name.startswith("test") or name.endswith("_test.py")


def neutralise(root, author, note):
    """Takes files away that would be run unasked, unless they are the author's."""
    for path in solution_files(root, author):
        name = path.rpartition("/")[2]
        if name in START_UP or name.endswith(".pth"):
            try:
                posix.unlink(path)
            except OSError as error:
                raise RuntimeError("%s cannot be taken away: %s" % (path, error)) from None
            note(path[len(root) + 1:], "a start-up file; it was taken away", 1)
        elif folder_of(path) == root and name[:-3] in sys.stdlib_module_names:
            note(name, "named as a module of the standard library, which is taken instead", 1)


def folder_of(path):
    return path.rpartition("/")[0]


def make_notes(report):
    """A function that tells what was touched, each thing once.

    Its weight: 2 = the report proves nothing any more, 1 = it was touched, 0 = it is written in a
    source.
    """
    told = set()

    def note(path, what, weight):
        if (path, what) in told or len(told) >= NOTES_MAX:
            return
        told.add((path, what))
        report({"event": "note", "path": short(path), "what": what, "weight": weight})

    return note
