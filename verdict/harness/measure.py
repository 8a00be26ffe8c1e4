"""Runs a solution under a measuring tool and reports over descriptor 4, which nothing that it
starts is given. It decides nothing: figures and findings are read and judged on the host.

Started as `python3 -I measure.py TASK`, TASK being a JSON file beside it. It runs as the same user
as the solution, so that a solution bent on it can reach it: the verdict says so.
"""

import ctypes
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

REPORT_FD = 4
TEXT_BYTES_MAX = 1 << 20
KEPT_BYTES_MAX = 64 << 20
SANITIZER_CODE = 97
LOST_LEAKS = "LeakSanitizer has encountered a fatal error"


class Reporter:
    """Lines of JSON, each with the nonce."""

    def __init__(self, nonce):
        self.nonce = nonce

    def say(self, what, **more):
        line = json.dumps({"nonce": self.nonce, "what": what, **more}) + "\n"
        rest = line.encode("utf-8", "backslashreplace")
        while rest:
            rest = rest[os.write(REPORT_FD, rest):]


def text_of(data):
    return data[:TEXT_BYTES_MAX].decode("utf-8", "replace")


def hide_from_others():
    """Makes our descriptors and memory unreadable for processes of the same user."""
    try:
        ctypes.CDLL(None, use_errno=True).prctl(4, 0, 0, 0, 0)
    except (OSError, AttributeError):
        pass


class Reading:
    """A pipe that is read to its end; its beginning is kept, and passed on if there is a place."""

    def __init__(self, on=None):
        self.ours, self.theirs = os.pipe()
        self.on = on
        self.kept = bytearray()
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        while True:
            piece = os.read(self.ours, 65536)
            if not piece:
                return
            self.kept += piece[:TEXT_BYTES_MAX - len(self.kept)]
            if self.on is not None:
                os.write(self.on, piece)

    def end(self):
        os.close(self.theirs)
        # What outlives the program in a session of its own may hold the pipe for ever.
        self.thread.join(5)
        return bytes(self.kept)


def run(argv, env=None, pass_fds=(), stderr=None):
    """Runs a program to its end, and then ends what it left running. Its exit code."""
    try:
        started = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stderr=stderr, env=env, pass_fds=pass_fds,
            start_new_session=True,
        )
    except OSError as error:
        print(f"{argv[0]}: {error.strerror}", file=sys.stderr)
        return 127
    code = started.wait()
    try:
        os.killpg(started.pid, signal.SIGKILL)
    except OSError:
        pass
    return code


def quietly(argv, env=None, cwd=None):
    """Runs a program of the image; its exit code and all it said."""
    try:
        done = subprocess.run(
            argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env=env, cwd=cwd, check=False,
        )
    except OSError as error:
        return 127, f"{argv[0]}: {error.strerror}"
    return done.returncode, text_of(done.stdout)


# Leaks and misuses of memory.

def compiler(task):
    return "g++" if task["language"] == "cpp" else "gcc"


def build_line(task, flags, program):
    words = [compiler(task), "-g", "-O0", "-w", *flags]
    for name in ("CPPFLAGS", "CXXFLAGS" if task["language"] == "cpp" else "CFLAGS"):
        words += shlex.split(os.environ.get(name, ""))
    words += ["-o", program, os.path.relpath(os.path.join(task["top"], task["file"]))]
    for name in ("LDFLAGS", "LDLIBS"):
        words += shlex.split(os.environ.get(name, ""))
    return words


ASAN = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-fno-omit-frame-pointer"]


def sanitizers_work(folder):
    """Whether the image can build with sanitizers, and whether leaks can be looked for here."""
    source = os.path.join(folder, "empty.c")
    with open(source, "w", encoding="ascii") as file:
        file.write("int main(void) { return 0; }\n")
    program = os.path.join(folder, "empty")
    code, _said = quietly(["gcc", *ASAN, "-o", program, source])
    if code != 0:
        return False, False
    without = dict(os.environ, ASAN_OPTIONS="detect_leaks=0")
    if quietly([program], without)[0] != 0:
        return False, False
    code, said = quietly([program], dict(os.environ, ASAN_OPTIONS="detect_leaks=1"))
    return True, code == 0 and LOST_LEAKS not in said


def with_sanitizers(task, reporter, folder, leaks):
    program = os.path.join(folder, "sanitized")
    code, said = quietly(build_line(task, ASAN, program))
    reporter.say("build", tool="asan", code=code, text=said)
    if code != 0:
        return False
    logs = tempfile.mkdtemp(dir=folder)
    options = f"detect_leaks={int(leaks)}:exitcode={SANITIZER_CODE}:log_path={logs}/log:color=never"
    env = dict(os.environ, ASAN_OPTIONS=options, UBSAN_OPTIONS=options)
    # UndefinedBehaviorSanitizer knows no log.
    said = Reading(on=2)
    code = run([program], env, stderr=said.theirs)
    found = said.end() + b"\n\n"
    for name in sorted(os.listdir(logs)):
        with open(os.path.join(logs, name), "rb") as file:
            found += file.read(TEXT_BYTES_MAX) + b"\n"
    reporter.say("run", tool="asan", code=code, text=text_of(found))
    return True


def with_valgrind(task, reporter, folder):
    program = os.path.join(folder, "plain")
    code, said = quietly(build_line(task, [], program))
    reporter.say("build", tool="valgrind", code=code, text=said)
    if code != 0:
        return
    report = Reading()
    options = [
        "--quiet", "--leak-check=full", "--xml=yes", f"--xml-fd={report.theirs}",
        "--child-silent-after-fork=yes", "--error-limit=no",
    ]
    code = run(["valgrind", *options, program], pass_fds=(report.theirs,))
    reporter.say("run", tool="valgrind", code=code, text=text_of(report.end()))


def leaks(task, reporter):
    folder = tempfile.mkdtemp()
    sanitizers, lost = sanitizers_work(folder)
    valgrind = shutil.which("valgrind") is not None
    asked = task["tool"]
    use = [
        name for name, there in (("asan", sanitizers), ("valgrind", valgrind))
        if there and asked in ("", name)
    ]
    reporter.say("tools", compiler=shutil.which(compiler(task)) is not None, use=use, lsan=lost)
    if not use or (use == ["asan"] and not lost and asked == ""):
        return
    if "asan" in use and not with_sanitizers(task, reporter, folder, lost):
        return
    if "valgrind" in use:
        with_valgrind(task, reporter, folder)


# Coverage of Python.

def python_files(source):
    """All files below `source` that are there before anything ran, and those among them that
    coverage.py counts even where nothing ran of them: those in packages."""
    if not os.path.isdir(source):
        return [source], [source]
    there, counted = [], []
    for folder, folders, names in os.walk(source):
        folders[:] = sorted(name for name in folders if name not in (".rollcage", ".git"))
        here = [os.path.join(folder, name) for name in sorted(names) if name.endswith(".py")]
        there += here
        inside = folder
        while inside != source and os.path.isfile(os.path.join(inside, "__init__.py")):
            inside = os.path.dirname(inside)
        if inside == source:
            counted += here
    return there, counted


def kept(paths):
    """The content of the files, as far as it is not too much."""
    contents, size = {}, 0
    for path in paths:
        try:
            with open(path, "rb") as file:
                content = file.read(KEPT_BYTES_MAX - size)
        except OSError:
            continue
        size += len(content)
        contents[path] = content
    return contents


def put_back(contents, reporter):
    """What is counted are the lines that were there before."""
    for path, content in contents.items():
        try:
            with open(path, "rb") as file:
                if file.read(len(content) + 1) == content:
                    continue
        except OSError:
            pass
        reporter.say("changed", text=path)
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            if os.path.lexists(path):
                os.unlink(path)
            with open(path, "wb") as file:
                file.write(content)
        except OSError:
            pass


def python_words(argv):
    """The interpreter, and what `coverage run` is to run."""
    name = os.path.basename(argv[0])
    if name.startswith("python"):
        return argv[0], argv[1:]
    if name in ("pytest", "py.test"):
        return "python3", ["-m", "pytest", *argv[1:]]
    return "python3", argv


def coverage_python(task, reporter):
    try:
        import coverage
    except ImportError:
        reporter.say("tools", coverage=False)
        return
    reporter.say("tools", coverage=True)
    top = os.getcwd()
    source = os.path.normpath(os.path.join(task["top"], task["file"] or "."))
    there, counted = python_files(source)
    contents = kept(there)
    folder = tempfile.mkdtemp()
    data = os.path.join(folder, "data")
    where = f"--source={source}" if os.path.isdir(source) else f"--include={source}"
    interpreter, words = python_words(task["argv"])
    child = os.path.join(task["ours"], "measured.py")
    env = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
    code = run([interpreter, "-I", child, os.environ.get("PYTHONPATH", ""), "run",
                "--rcfile=/dev/null", f"--data-file={data}", where,
                f"--omit={task['ours']}/*", *words], env)
    reporter.say("run", tool="tests", code=code, text="")
    put_back(contents, reporter)
    os.chdir(top)
    measured = coverage.Coverage(data_file=data, config_file=False)
    ran = set()
    if os.path.isfile(data):
        measured.load()
        ran = set(measured.get_data().measured_files())
    files = sorted(set(counted) | (ran & set(there)))
    out = os.path.join(folder, "report.json")
    try:
        measured.json_report(morfs=files, outfile=out, ignore_errors=True)
        with open(out, encoding="utf-8") as file:
            reporter.say("report", tool="coverage_py_json", text=file.read())
    except coverage.CoverageException as error:
        reporter.say("report", tool="", text=str(error))


# Coverage of C and C++.

WRAPPED = {"cc": "gcc", "gcc": "gcc", "c++": "g++", "g++": "g++"}


def wrappers(folder):
    """Compilers that count, for whatever the command starts by name."""
    for name, real in WRAPPED.items():
        found = shutil.which(real)
        if found is None:
            continue
        path = os.path.join(folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\nexec {shlex.quote(found)} --coverage "$@"\n')
        os.chmod(path, 0o755)


def coverage_gcov(task, reporter):
    there = shutil.which("gcov") is not None and shutil.which(compiler(task)) is not None
    reporter.say("tools", coverage=there)
    if not there:
        return
    folder = tempfile.mkdtemp()
    if task["argv"]:
        bin_folder = tempfile.mkdtemp(dir=folder)
        wrappers(bin_folder)
        env = dict(os.environ, PATH=bin_folder + os.pathsep + os.environ.get("PATH", os.defpath))
        code = run(task["argv"], env)
    else:
        program = os.path.join(folder, "counted")
        code, said = quietly(build_line(task, ["--coverage"], program))
        reporter.say("build", tool="gcov", code=code, text=said)
        if code != 0:
            return
        code = run([program])
    reporter.say("run", tool="tests", code=code, text="")
    reports = []
    for place in (task["top"], folder):
        for at, _folders, names in os.walk(place):
            for name in sorted(name for name in names if name.endswith(".gcno")):
                done = subprocess.run(
                    ["gcov", "--json-format", "--stdout", "--branch-probabilities", name],
                    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                    cwd=at, check=False,
                )
                reports.append(done.stdout.strip())
    whole = b"\n".join(reports)
    if len(whole) > TEXT_BYTES_MAX:
        reporter.say("report", tool="", text="the report of gcov is too long")
    else:
        reporter.say("report", tool="gcov_json", text=text_of(whole))


MODES = {"leaks": leaks, "coverage_python": coverage_python, "coverage_gcov": coverage_gcov}


def main():
    path = os.path.abspath(sys.argv[1])
    with open(path, encoding="utf-8") as file:
        task = json.load(file)
    try:
        # Nothing that we start needs it, and it has the nonce.
        os.unlink(path)
    except OSError:
        pass
    hide_from_others()
    reporter = Reporter(task["nonce"])
    task["ours"] = os.path.dirname(path)
    task["top"] = os.path.dirname(task["ours"])
    MODES[task["mode"]](task, reporter)
    reporter.say("end")


main()
