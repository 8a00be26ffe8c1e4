"""Starts one of our programs: `start.py judge`, `start.py solution FILE`, `start.py cases FORM ...`
or `start.py compile`.

Compiling these files takes longer than starting the interpreter, so that code compiled before, in
a pristine sandbox of the same image, is taken where there is some for this interpreter.
"""
import marshal
import posix
import sys

WIRE = ("kinds.py", "codec.py", "peer.py")
PROGRAMS = {"judge": ("judge.py",), "solution": ("solution_host.py",),
            "cases": ("solution_host.py", "cases_host.py")}
# The working folder is /workspace; where a sandbox has no root of its own, that lies elsewhere.
FOLDER = posix.getcwd() + "/" + sys.argv[0].rpartition("/")[0]
MARK = b"rollcage-cache-1\n" + sys.modules["_frozen_importlib_external"].MAGIC_NUMBER


def from_text(name):
    with open(FOLDER + "/" + name, "rb") as file:
        return compile(file.read(), FOLDER + "/" + name, "exec", dont_inherit=True)


def from_cache():
    try:
        with open(FOLDER + "/cache.bin", "rb") as file:
            data = file.read()
    except OSError:
        return {}
    return marshal.loads(data[len(MARK):]) if data.startswith(MARK) else {}


def main():
    task = sys.argv[1]
    if task == "compile":
        names = WIRE + ("judge.py",) + PROGRAMS["cases"]
        sys.stdout.buffer.write(MARK + marshal.dumps({name: from_text(name) for name in names}))
        return
    cache = from_cache()
    wire, program = type(sys)("rollcage_wire"), type(sys)("rollcage_" + task)
    program.wire, program.FOLDER = wire, FOLDER
    for name in WIRE:
        exec(cache.get(name) or from_text(name), wire.__dict__)
    for name in PROGRAMS[task]:
        exec(cache.get(name) or from_text(name), program.__dict__)
    program.main()


main()
