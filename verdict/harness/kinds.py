"""What the wire knows of values: which are plain, which special methods a class has, how the
content of a container is taken out and put back.

`kinds.py`, `codec.py` and `peer.py` are one module, in this order, in both processes: the judge's
and the one beside the solution. Nothing here evaluates code that came from the other side.
"""
import sys
from _thread import RLock, get_ident
from posix import getpid, read, write
from struct import Struct, error as StructError, pack, unpack_from

FRAME_MAX = 64 << 20
# Frames of the interpreter that coding may use: a few for each level of nesting.
DEPTH = 5000
get_depth, set_depth = sys.getrecursionlimit, sys.setrecursionlimit
U32 = Struct("<I")
I64 = Struct("<q")
F64 = Struct("<d")
BUILTINS = dict(vars(sys.modules["builtins"]))
TYPES_BY_NAME = {t.__name__: t for t in (
    int, float, complex, bool, str, bytes, bytearray, list, tuple, dict, set, frozenset, range,
    object, type, slice, type(None))}
EXCEPTIONS = {name: value for name, value in BUILTINS.items()
              if type(value) is type and BaseException in value.__mro__}
FunctionType = type(lambda: 0)
ModuleType = type(sys)
BuiltinType = type(len)
GeneratorType = type((lambda: (yield))())


async def no_coroutine():
    """Only its type is used."""


unused = no_coroutine()
CoroutineType = type(unused)
unused.close()
del unused
DescriptorType = type(str.lower)

COMPARE = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__")
BINARY = tuple("__%s%s__" % (prefix, name) for prefix in ("", "r", "i") for name in (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "divmod", "pow", "lshift", "rshift", "and",
    "or", "xor", "matmul"))
OTHER = ("__neg__", "__pos__", "__abs__", "__invert__", "__bool__", "__int__", "__float__",
         "__complex__", "__index__", "__round__", "__trunc__", "__floor__", "__ceil__", "__len__",
         "__iter__", "__next__", "__reversed__", "__getitem__", "__setitem__", "__delitem__",
         "__contains__", "__call__", "__enter__", "__exit__", "__bytes__", "__instancecheck__",
         "__subclasscheck__", "__missing__", "__length_hint__")
SPECIALS = COMPARE + BINARY + OTHER
ALWAYS = ("__str__", "__repr__", "__format__", "__hash__", "__dir__")
RETURNS = {"__bool__": bool, "__len__": int, "__hash__": int, "__str__": str, "__repr__": str,
           "__format__": str, "__int__": int, "__float__": float, "__complex__": complex,
           "__index__": int, "__bytes__": bytes, "__length_hint__": int,
           "__instancecheck__": bool, "__subclasscheck__": bool}
# What decides the value of a plain type: a subclass that changes one of these is no plain value.
VALUE_METHODS = COMPARE + BINARY + (
    "__len__", "__iter__", "__getitem__", "__contains__", "__bool__", "__int__", "__float__",
    "__index__", "__neg__", "__pos__", "__abs__", "__round__", "__getattribute__")


class CannotCross(BaseException):
    """A value that cannot cross decides a test: no `except Exception` may swallow it."""


class Gone(BaseException):
    """The other process ended or broke the protocol."""


def specials_of(cls):
    """Names of special methods that a class really has, without running code of its own."""
    found = []
    mro = type.__dict__["__mro__"].__get__(cls)
    for name in SPECIALS:
        for base in mro:
            if base is object:
                break
            names = type.__dict__["__dict__"].__get__(base)
            if name in names:
                if names[name] is not None:
                    found.append(name)
                break
    return found


def plain_base(cls):
    """The immutable plain type that `cls` extends without changing what its value is."""
    mro = type.__dict__["__mro__"].__get__(cls)
    for position, base in enumerate(mro):
        if base in PLAIN_COPIES:
            for above in mro[:position]:
                names = type.__dict__["__dict__"].__get__(above)
                if any(name in names for name in VALUE_METHODS):
                    return None
            return base
    return None


# The plain value of a subclass, made by the base type alone.
PLAIN_COPIES = {
    int: int.__int__, float: float.__float__, str: str.__str__,
    bytes: lambda value: bytes.__getitem__(value, slice(None)),
    tuple: lambda value: tuple.__getitem__(value, slice(None)),
    frozenset: lambda value: frozenset(tuple(frozenset.__iter__(value))),
}


def deque_rest(value):
    return (value.maxlen,)


def factory_rest(value):
    return (value.default_factory,)


def nothing_rest(value):
    return ()


def zone_of(value):
    zone = value.tzinfo
    if zone is None:
        return None
    offset = zone.utcoffset(None) if type(zone) is sys.modules["datetime"].timezone else None
    if offset is None:
        raise CannotCross("a time zone other than a fixed offset cannot cross")
    return offset


# Value types of the standard library: (module, name) -> (to constructor data, from it).
EXTENSIONS = {
    ("decimal", "Decimal"): (lambda v: (str(v),), lambda t, s: t(s)),
    ("fractions", "Fraction"): (lambda v: (v.numerator, v.denominator), lambda t, n, d: t(n, d)),
    ("datetime", "date"): (lambda v: (v.year, v.month, v.day), lambda t, *a: t(*a)),
    ("datetime", "timedelta"): (
        lambda v: (v.days, v.seconds, v.microseconds), lambda t, *a: t(*a)),
    ("datetime", "time"): (
        lambda v: (v.hour, v.minute, v.second, v.microsecond, zone_of(v), v.fold),
        lambda t, h, m, s, u, z, f: t(h, m, s, u, zone(z), fold=f)),
    ("datetime", "datetime"): (
        lambda v: (v.year, v.month, v.day, v.hour, v.minute, v.second, v.microsecond, zone_of(v),
                   v.fold),
        lambda t, y, o, d, h, m, s, u, z, f: t(y, o, d, h, m, s, u, zone(z), fold=f)),
}
# Mutable ones: (module, name) -> (what to construct the empty one from, kind of content).
CONTAINERS = {
    ("collections", "deque"): (deque_rest, "items"),
    ("collections", "OrderedDict"): (nothing_rest, "pairs"),
    ("collections", "Counter"): (nothing_rest, "pairs"),
    ("collections", "defaultdict"): (factory_rest, "pairs"),
}


def zone(offset):
    return None if offset is None else sys.modules["datetime"].timezone(offset)


def stdlib_type(key):
    """The type itself; a mock of it in a changed module is caught by the exact type check."""
    module = sys.modules.get(key[0])
    return getattr(module, key[1], None)


def key_of(cls):
    names = type.__dict__["__dict__"].__get__(cls)
    module = names.get("__module__")
    if module is None:
        full = type.__dict__["__module__"].__get__(cls)
        module = full if type(full) is str else None
    return (module, type.__dict__["__name__"].__get__(cls))


def content(value):
    """The content of a mutable container, one level deep."""
    kind = type(value)
    if kind is list or kind is set:
        return tuple(value)
    if kind is bytearray:
        return bytes(value)
    if kind is dict or dict in kind.__mro__:
        flat = []
        for item in kind.items(value):
            flat += item
        return tuple(flat)
    return tuple(value)


def unchanged(old, new):
    if type(old) is bytes:
        return old == new
    return len(old) == len(new) and all(a is b for a, b in zip(old, new))


def fill(value, items):
    """Fills a set so that, where that is possible, it is walked in the order of the original: the
    order depends on the size of its table, which depends on how it was filled."""
    value.clear()
    value.update(items)
    if len(items) <= 64 and not all(a is b for a, b in zip(value, items)):
        value.clear()
        value.update(frozenset(items))


def restore(value, new):
    """Puts new content into the same container."""
    kind = type(value)
    if kind is list or kind is bytearray:
        value[:] = new
    elif kind is set:
        fill(value, new)
    elif kind is dict or dict in kind.__mro__:
        value.clear()
        for position in range(0, len(new), 2):
            kind.__setitem__(value, new[position], new[position + 1])
    else:
        value.clear()
        value.extend(new)
