# Arbitrary frames for the judge's end of the socket: `frames.py FOLDER SEED COUNT`. The three files of
# the wire are loaded as the judge loads them; frames are valid ones that were changed. Whatever they
# say, the judge may read them or lose its peer; it may not import, open, compile or start anything.
import asyncio
import collections
import copy
import datetime
import decimal
import fractions
import random
import resource
import signal
import sys

folder, seed, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
wire = type(sys)("rollcage_wire")
for name in ("kinds.py", "codec.py", "peer.py"):
    with open(folder + "/" + name, "rb") as file:
        exec(compile(file.read(), name, "exec", dont_inherit=True), wire.__dict__)


program = type(sys)("rollcage_judge")
program.wire, program.FOLDER = wire, folder
with open(folder + "/judge.py", "rb") as file:
    exec(compile(file.read(), "judge.py", "exec", dont_inherit=True), program.__dict__)
# What the test compares with, and never hands over.
SECRET = "6d1f0e9c5b7a48d2"


class Judge(program.make_judge()):
    """The judge's own end, whose peer says one thing and is silent."""

    def __init__(self):
        super().__init__(-1)
        self.sent = b""
        # What the test handed over: a list, a function, an object of a class of its own.
        self.handed = [[1, [2]], lambda value: value == SECRET, Point()]
        for value in self.handed:
            self.export(value)

    def send(self, out):
        self.sent += out

    def receive(self):
        raise self.lose("nothing more comes")

    def local_module(self, name, proxy):
        # Modules of the pristine image may be imported; that is not looked at here.
        return proxy


class Point:
    def __init__(self):
        self.x, self._secret = 1, SECRET

    def is_right(self, value):
        return value == self._secret


class Solution(wire.Peer):
    def __init__(self):
        super().__init__(-1)


VALUES = [
    None, True, -1, 2 ** 200, 1.5, float("nan"), 1 + 2j, "a\ud800", b"x\0", bytearray(b"q"), [1, [2]],
    (1,), {1: 2, "a": [3]}, {1, 2}, frozenset([1]), range(3, 9, 2), ..., [1] * 20, [1.5] * 20,
    slice(1, 2), int, ValueError, ValueError("x"), len, str.lower, lambda: 1, object(),
    decimal.Decimal("1.10"), fractions.Fraction(1, 3), datetime.datetime(2020, 1, 2),
    datetime.timedelta(1), collections.deque([1]), collections.Counter("aab"),
    collections.OrderedDict(a=1), collections.defaultdict(list, a=[1]),
]
ACTIONS = ["call", "op", "get", "set", "del", "copy", "deepcopy"]


def frame(first, value):
    encoder = wire.Encoder(Solution())
    encoder.out[0] = first
    encoder.put(value)
    return bytes(encoder.out)


SEEDS = [frame(65, (True, value, ())) for value in VALUES]
SEEDS += [frame(65, (False, value, ())) for value in VALUES[:8] + [ValueError("x"), StopIteration(1)]]
SEEDS += [frame(81, (action, value, name, (1,), {}, ())) for action in ACTIONS for value, name in
          (([1], "append"), (object, "__subclasses__"), ({}, "get"))]


def asks(action, number, name, args=()):
    """What a solution asks of the thing with this number that the test handed over."""
    plain = frame(81, (action, None, name, args, {}, ()))
    start = len(frame(81, (action,)))
    # The second item of the tuple is the target: a reference to the judge's own instead of None.
    return plain[:start] + b"O" + number.to_bytes(4, "little") + plain[start + 1:]


SEEDS += [asks(action, number, name, (1,)) for number in (1, 2, 3) for action, name in (
    ("call", ""), ("get", "x"), ("get", "is_right"), ("get", "__globals__"), ("get", "__class__"),
    ("get", "_secret"), ("get", "append"), ("set", "x"), ("op", "__getitem__"), ("op", "__eq__"),
    ("op", "__getattribute__"), ("get", "__closure__"), ("get", "__doc__"), ("get", "__dict__"))]
WORDS = [b"O\1\0\0\0", b"H\1\0\0\0\1\0\0\0N", b"Y", b"M", b"y", b"A", b"R\0\0\0\0", b"x", b"C", b"P", b"E",
         b"X", b"\xff\xff\xff\x7f", b"s\4\0\0\0type", b"s\2\0\0\0os", b"s\12\0\0\0__import__",
         b"s\x0f\0\0\0__subclasses__", b"s\x0b\0\0\0__globals__", b"s\x08\0\0\0__dict__"]
FORBIDDEN = ("import", "open", "exec", "compile", "code.", "os.", "subprocess.", "socket.", "ctypes.",
             "marshal.", "pickle.", "shutil.", "builtins.input", "sys.settrace", "sys.setprofile")
armed, met = [False], []


def hook(event, args):
    if armed[0] and event.startswith(FORBIDDEN):
        met.append((event, repr(args)[:200]))


def mutated(rng):
    data = bytearray(rng.choice(SEEDS))
    for _ in range(rng.randrange(4)):
        at = rng.randrange(1, len(data) + 1)
        kind = rng.randrange(5)
        if kind == 0 and at < len(data):
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            data[at:at] = rng.choice(WORDS)
        elif kind == 2:
            del data[at:at + rng.randrange(1, 9)]
        elif kind == 3:
            other = rng.choice(SEEDS)
            data[at:at] = other[1:]
        else:
            data[at:at] = bytes([rng.randrange(256)])
    return bytes(data)


def too_long(number, where):
    raise TimeoutError


def one(judge, data):
    """Reads one frame as the judge does. Gives what came of it."""
    try:
        if data[0] == 81:
            judge.serve(data)
            return "served"
        judge.answer(data, [], False)
        return "read"
    except wire.Gone:
        judge.gone = None
        return "lost"
    except wire.CannotCross:
        return "refused"
    except BaseException as error:
        # An exception of the solution's is raised in the test: it says that it came from there.
        return "raised" if getattr(error, "_rc_remote", False) else type(error).__name__


class Open(Judge):
    """Without the judge's own checks."""

    perform = wire.Peer.perform


def controls():
    """What is handed over is served, and what is not would be seen if it were."""
    judge = Judge()
    judge.serve(asks("get", 3, "x"))
    if judge.sent != frame(65, (True, 1, ())):
        raise SystemExit("a public attribute is not served: %r" % judge.sent)
    judge.serve(asks("get", 3, "_secret"))
    unchecked = Open()
    unchecked.serve(asks("get", 3, "_secret"))
    if SECRET.encode() in judge.sent or SECRET.encode() not in unchecked.sent:
        raise SystemExit("the secret: %r, unchecked %r" % (judge.sent, unchecked.sent))


def main():
    controls()
    resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
    signal.signal(signal.SIGALRM, too_long)
    sys.addaudithook(hook)
    rng, came = random.Random(seed), collections.Counter()
    judge = Judge()
    for number in range(count):
        if number % 16 == 0:
            judge = Judge()
        data = mutated(rng)
        signal.setitimer(signal.ITIMER_REAL, 2)
        armed[0] = True
        result = one(judge, data)
        armed[0] = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        came[result] += 1
        if SECRET.encode() in judge.sent:
            met.append(("told", "what the test compares with"))
        if met:
            print("FORBIDDEN", met[0], data.hex())
            raise SystemExit(1)
    print(count, "frames:", dict(sorted(came.items())))


main()
