"""Values and calls between two processes that do not trust each other.

The same file runs in the judge and beside the solution. It knows nothing of tests. Plain values
cross by value, with a small tagged binary coding; everything else crosses as a handle, whose
methods run in the process that owns it. Nothing here evaluates code that came from the other side.
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
ALWAYS = ("__str__", "__repr__", "__format__", "__hash__")
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
        for item in dict.items(value):
            flat += item
        return tuple(flat)
    return tuple(value)


def unchanged(old, new):
    if type(old) is bytes:
        return old == new
    return len(old) == len(new) and all(a is b for a, b in zip(old, new))


def restore(value, new):
    """Puts new content into the same container."""
    kind = type(value)
    if kind is list or kind is bytearray:
        value[:] = new
    elif kind is set:
        value.clear()
        value.update(new)
    elif kind is dict or dict in kind.__mro__:
        value.clear()
        for position in range(0, len(new), 2):
            dict.__setitem__(value, new[position], new[position + 1])
    else:
        value.clear()
        value.extend(new)


class Encoder:
    """One message. Containers get numbers in order, so that aliases and cycles stay so."""

    def __init__(self, peer, seed=()):
        self.peer = peer
        self.out = bytearray(1)
        self.objects = list(seed)
        self.numbers = {id(value): number for number, value in enumerate(self.objects)}

    def put(self, value):
        method = PUT.get(type(value))
        if method is None:
            self.put_other(value)
        else:
            method(self, value)
        if len(self.out) > FRAME_MAX:
            raise CannotCross("a value of more than 64 MiB cannot cross")

    def put_none(self, value):
        self.out += b"N"

    def put_bool(self, value):
        self.out += b"T" if value else b"F"

    def put_int(self, value):
        if -(1 << 63) <= value < 1 << 63:
            self.out += b"i" + I64.pack(value)
        else:
            data = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
            self.out += b"I" + U32.pack(len(data)) + data

    def put_float(self, value):
        self.out += b"d" + F64.pack(value)

    def put_complex(self, value):
        self.out += b"c" + F64.pack(value.real) + F64.pack(value.imag)

    def put_str(self, value):
        data = value.encode("utf-8", "surrogatepass")
        self.out += b"s" + U32.pack(len(data)) + data

    def put_bytes(self, value):
        self.out += b"b" + U32.pack(len(value)) + value

    def put_tuple(self, value):
        self.put_items(b"t", value)

    def put_frozenset(self, value):
        self.put_items(b"Z", value)

    def put_range(self, value):
        self.put_items(b"r", (value.start, value.stop, value.step))

    def put_slice(self, value):
        self.put_items(b":", (value.start, value.stop, value.step))

    def put_ellipsis(self, value):
        self.out += b"e"

    def put_notimplemented(self, value):
        self.out += b"n"

    def put_items(self, tag, items):
        self.out += tag + U32.pack(len(items))
        for item in items:
            self.put(item)

    def is_reference(self, value):
        """Whether the container was in this message before; else it gets its number."""
        number = self.numbers.get(id(value))
        if number is not None:
            self.out += b"R" + U32.pack(number)
            return True
        self.numbers[id(value)] = len(self.objects)
        self.objects.append(value)
        return False

    def put_list(self, value):
        if self.is_reference(value):
            return
        if len(value) > 8:
            kinds = set(map(type, value))
            if kinds == {float}:
                self.out += b"D" + U32.pack(len(value)) + pack("<%dd" % len(value), *value)
                return
            if kinds == {int}:
                try:
                    data = pack("<%dq" % len(value), *value)
                except StructError:
                    data = None
                if data is not None:
                    self.out += b"L" + U32.pack(len(value)) + data
                    return
        self.put_items(b"l", value)

    def put_dict(self, value):
        if not self.is_reference(value):
            self.put_items(b"m", content(value))

    def put_set(self, value):
        if not self.is_reference(value):
            self.put_items(b"S", content(value))

    def put_bytearray(self, value):
        if not self.is_reference(value):
            self.out += b"B" + U32.pack(len(value)) + value

    def put_other(self, value):
        kind = type(value)
        mro = type.__dict__["__mro__"].__get__(kind)
        if Proxy in mro or "_rc_proxy" in mro[0].__dict__:
            proxy = value if Proxy in mro else value.__dict__["_rc_proxy"]
            if proxy._rc_peer is not self.peer:
                raise CannotCross("a handle of another process cannot cross")
            self.out += b"O" + U32.pack(proxy._rc_id)
        elif type in mro:
            self.put_class(value)
        elif kind is ModuleType:
            self.put_module(value)
        elif BaseException in mro:
            self.out += b"X"
            self.put(self.peer.describe(value))
        elif not self.put_extension(value, kind):
            self.put_by_name(value, kind) or self.put_handle(value, kind)

    def put_class(self, value):
        name = type.__dict__["__name__"].__get__(value)
        if TYPES_BY_NAME.get(name) is value or EXCEPTIONS.get(name) is value:
            self.out += b"Y"
            self.put(name)
        elif value in self.peer.remote_exceptions:
            self.out += b"O" + U32.pack(self.peer.remote_exceptions[value])
        elif BaseException in type.__dict__["__mro__"].__get__(value):
            self.out += b"E"
            self.put(self.peer.class_chain(value))
        else:
            self.put_handle(value, type(value))

    def put_module(self, value):
        name = value.__name__
        if self.peer.judges:
            raise CannotCross("module %s of the test cannot cross" % name)
        self.out += b"M"
        self.put(name if type(name) is str else "")
        self.put_handle(value, ModuleType)

    def put_extension(self, value, kind):
        key = key_of(kind)
        if key in EXTENSIONS and stdlib_type(key) is kind:
            data = EXTENSIONS[key][0](value)
            self.out += b"x"
            self.put(key + data)
            return True
        if key in CONTAINERS and stdlib_type(key) is kind:
            if not self.is_reference(value):
                self.out += b"C"
                self.put(key + CONTAINERS[key][0](value))
                self.put(content(value))
            return True
        base = plain_base(kind)
        if base is None:
            return False
        self.out += b"P"
        copy = PLAIN_COPIES[base](value)
        self.put(copy)
        self.put_handle(value, kind)
        return True

    def put_by_name(self, value, kind):
        """The judge's built-in functions need no way back: the other side has them too."""
        if self.peer.judges and kind is BuiltinType and BUILTINS.get(value.__name__) is value:
            self.out += b"y"
            self.put(value.__name__)
            return True
        if self.peer.judges and kind is DescriptorType:
            owner = value.__objclass__
            if TYPES_BY_NAME.get(owner.__name__) is owner:
                self.out += b"A"
                self.put((owner.__name__, value.__name__))
                return True
        return False

    def put_handle(self, value, kind):
        self.out += b"H" + U32.pack(self.peer.export(value))
        number, is_new = self.peer.class_number(kind)
        self.out += U32.pack(number)
        if is_new:
            name = type.__dict__["__name__"].__get__(kind)
            self.put((name, tuple(specials_of(kind)), kind is GeneratorType))
        else:
            self.out += b"N"


PUT = {
    type(None): Encoder.put_none, bool: Encoder.put_bool, int: Encoder.put_int,
    float: Encoder.put_float, complex: Encoder.put_complex, str: Encoder.put_str,
    bytes: Encoder.put_bytes, tuple: Encoder.put_tuple, frozenset: Encoder.put_frozenset,
    range: Encoder.put_range, slice: Encoder.put_slice, type(...): Encoder.put_ellipsis,
    type(NotImplemented): Encoder.put_notimplemented, list: Encoder.put_list,
    dict: Encoder.put_dict, set: Encoder.put_set, bytearray: Encoder.put_bytearray,
}


class Decoder:
    """One message, read with every length checked against what is there."""

    def __init__(self, peer, frame, seed=()):
        self.peer = peer
        self.frame = frame
        self.at = 1
        self.objects = list(seed)

    def take(self, size):
        start = self.at
        if size > len(self.frame) - start:
            raise ValueError("a length beyond the frame")
        self.at = start + size
        return self.frame[start:self.at]

    def u32(self):
        return U32.unpack(self.take(4))[0]

    def get(self):
        return GET[self.take(1)[0]](self)

    def items(self):
        count = self.u32()
        if count > len(self.frame) - self.at:
            raise ValueError("a count beyond the frame")
        get = self.get
        return [get() for _ in range(count)]

    def register(self, value):
        self.objects.append(value)
        return value

    def get_list(self):
        value = self.register([])
        value += self.items()
        return value

    def get_packed(self, code):
        count = self.u32()
        data = self.take(8 * count)
        return self.register(list(unpack_from("<%d%s" % (count, code), data)))

    def get_dict(self):
        value = self.register({})
        restore(value, self.items())
        return value

    def get_set(self):
        value = self.register(set())
        value.update(self.items())
        return value

    def get_reference(self):
        return self.objects[self.u32()]

    def get_str(self):
        return self.take(self.u32()).decode("utf-8", "surrogatepass")

    def get_int(self):
        return int.from_bytes(self.take(self.u32()), "little", signed=True)

    def get_float(self):
        return F64.unpack(self.take(8))[0]

    def get_extension(self):
        data = self.get()
        key = data[:2]
        entry = EXTENSIONS[key]
        __import__(key[0])
        return entry[1](stdlib_type(key), *data[2:])

    def get_container(self):
        number = len(self.objects)
        self.objects.append(None)
        data = self.get()
        key = data[:2]
        entry = CONTAINERS[key]
        __import__(key[0])
        kind = stdlib_type(key)
        rest = data[2:]
        value = kind((), *rest) if entry[1] == "items" else kind(*rest)
        self.objects[number] = value
        restore(value, self.get())
        return value

    def get_plain_subclass(self):
        value, proxy = self.get(), self.get()
        return subclass_of(type(value), type(proxy).__name__)(value, proxy)

    def get_type(self):
        name = self.get_name()
        return TYPES_BY_NAME[name] if name in TYPES_BY_NAME else EXCEPTIONS[name]

    def get_name(self):
        name = self.get()
        if type(name) is not str:
            raise ValueError("a name that is no text")
        return name

    def get_builtin(self):
        if self.peer.judges:
            raise ValueError("a function by name")
        return BUILTINS[self.get_name()]

    def get_descriptor(self):
        if self.peer.judges:
            raise ValueError("a function by name")
        owner, name = self.get()
        return getattr(TYPES_BY_NAME[owner], name)

    def get_module(self):
        name, proxy = self.get_name(), self.get()
        return self.peer.local_module(name, proxy)

    def get_exception(self):
        return self.peer.rebuild(self.get())

    def get_exception_class(self):
        return self.peer.local_class(self.get())

    def get_own(self):
        return self.peer.exports[self.u32()][0]

    def get_handle(self):
        number, class_number = self.u32(), self.u32()
        return self.peer.proxy(number, class_number, self.get())


GET = {
    78: lambda d: None, 84: lambda d: True, 70: lambda d: False,
    105: lambda d: I64.unpack(d.take(8))[0], 73: Decoder.get_int, 100: Decoder.get_float,
    99: lambda d: complex(d.get_float(), d.get_float()), 115: Decoder.get_str,
    98: lambda d: bytes(d.take(d.u32())), 66: lambda d: d.register(bytearray(d.take(d.u32()))),
    116: lambda d: tuple(d.items()), 90: lambda d: frozenset(d.items()),
    114: lambda d: range(*d.items()), 58: lambda d: slice(*d.items()), 101: lambda d: ...,
    110: lambda d: NotImplemented, 108: Decoder.get_list, 109: Decoder.get_dict,
    83: Decoder.get_set, 82: Decoder.get_reference, 76: lambda d: d.get_packed("q"),
    68: lambda d: d.get_packed("d"), 120: Decoder.get_extension, 67: Decoder.get_container,
    80: Decoder.get_plain_subclass, 89: Decoder.get_type, 121: Decoder.get_builtin,
    65: Decoder.get_descriptor, 77: Decoder.get_module, 88: Decoder.get_exception,
    69: Decoder.get_exception_class, 79: Decoder.get_own, 72: Decoder.get_handle,
}


class Proxy:
    """An object of the other process."""

    __slots__ = ("_rc_peer", "_rc_id", "_rc_class", "_rc_count", "__weakref__")

    def __getattr__(self, name):
        return self._rc_peer.request("get", self, name)

    def __setattr__(self, name, value):
        self._rc_peer.request("set", self, name, value)

    def __delattr__(self, name):
        self._rc_peer.request("del", self, name)

    def __del__(self):
        try:
            self._rc_peer.dropped.append((self._rc_id, self._rc_count))
        except AttributeError:
            pass


def remote_special(name):
    expected = RETURNS.get(name)
    is_operator = name in COMPARE or name in BINARY

    def method(self, *args, **kwargs):
        peer = self._rc_peer
        if peer.judges and is_operator:
            decided = judges_operator(self, name, args)
            if decided is not None:
                return decided
        value = peer.request("op", self, name, args, kwargs)
        if expected is not None and type(value) is not expected:
            raise peer.refuse("%s of the solution's %s gave no %s"
                              % (name, type(self).__name__, expected.__name__))
        return value

    method.__name__ = name
    return method


def judges_operator(proxy, name, args):
    """Decides an operator in the judge, or says that the owner of both operands may: the expected
    value never leaves the judge, and only its own `==` decides over plain values."""
    other = args[0] if args else None
    if name in ("__eq__", "__ne__") and (other is None or other is proxy):
        return (other is proxy) is (name == "__eq__")
    if isinstance(other, Proxy) and other._rc_peer is proxy._rc_peer:
        if name not in ("__eq__", "__ne__") or other._rc_class == proxy._rc_class:
            return None
        if name == "__ne__":
            return True
    raise proxy._rc_peer.refuse(
        "value cannot cross: the solution's %s object meets %s in %s; only plain values are compared"
        % (type(proxy).__name__, type(other).__name__, name))


def contains(self, item):
    peer = self._rc_peer
    if not peer.judges or isinstance(item, Proxy):
        return peer.request("op", self, "__contains__", (item,), {})
    if "__iter__" not in type(self)._rc_specials:
        raise peer.refuse("value cannot cross: `in` on the solution's %s object"
                          % type(self).__name__)
    return any(item is mine or item == mine for mine in self)


def call(self, /, *args, **kwargs):
    return self._rc_peer.request("call", self, "", args, kwargs)


METHODS = {name: remote_special(name) for name in SPECIALS + ALWAYS}
METHODS["__contains__"] = contains
METHODS["__call__"] = call


def equal_by_default(self, other):
    decided = judges_operator(self, "__eq__", (other,)) if self._rc_peer.judges else None
    return self is other if decided is None else decided


def unequal_by_default(self, other):
    return not equal_by_default(self, other)


def iterate(self):
    return self._rc_peer.request("op", self, "__iter__", (), {})


def proxy_class(name, specials, is_generator):
    space = {"__slots__": (), "_rc_specials": frozenset(specials)}
    space["__eq__"], space["__ne__"] = equal_by_default, unequal_by_default
    for special in tuple(specials) + ALWAYS:
        space[special] = METHODS[special]
    if "__eq__" in specials and "__ne__" not in specials:
        space["__ne__"] = lambda self, other: not self == other
    if is_generator:
        space["__iter__"] = lambda self: self
        space["__class__"] = property(lambda self: GeneratorType)
    return type(name, (Proxy,), space)


SUBCLASSES = {}


def subclass_of(base, name):
    """A local subclass of a plain type whose other attributes are remote."""
    if base not in PLAIN_COPIES:
        raise ValueError("no plain type")
    if (base, name) not in SUBCLASSES:
        def new(cls, value, proxy):
            made = base.__new__(cls, value)
            made.__dict__["_rc_proxy"] = proxy
            return made
        SUBCLASSES[base, name] = type(name, (base,), {
            "__new__": new, "_rc_proxy": None,
            "__getattr__": lambda self, attr: getattr(self.__dict__["_rc_proxy"], attr),
            "__repr__": lambda self: repr(self.__dict__["_rc_proxy"]),
            "__str__": lambda self: str(self.__dict__["_rc_proxy"]),
            "__format__": lambda self, how: format(self.__dict__["_rc_proxy"], how)})
    return SUBCLASSES[base, name]


class Peer:
    """One end of the socket: sends requests, serves those of the other side meanwhile."""

    judges = False

    def __init__(self, fd):
        from _weakref import ref
        self.ref = ref
        self.fd = fd
        self.lock = RLock()
        self.pid = getpid()
        self.thread = get_ident()
        self.exports, self.export_numbers, self.next_export = {}, {}, 1
        self.proxies, self.proxy_classes, self.dropped = {}, {}, []
        self.class_numbers, self.classes_alive = {}, []
        self.remote_exceptions, self.local_exceptions = {}, {}
        self.gone = None
        self.refused = None

    # Frames.

    def send(self, out):
        if len(out) > FRAME_MAX:
            raise CannotCross("a value of more than 64 MiB cannot cross")
        data = memoryview(U32.pack(len(out)) + out)
        try:
            while data:
                data = data[write(self.fd, data):]
        except OSError as error:
            raise self.lose("its socket is closed (%s)" % error.strerror)

    def receive(self):
        size = U32.unpack(self.exactly(4))[0]
        if not 0 < size <= FRAME_MAX:
            raise self.lose("it sent a frame of %d bytes" % size)
        return self.exactly(size)

    def exactly(self, size):
        chunks, missing = [], size
        while missing:
            try:
                chunk = read(self.fd, min(missing, 1 << 20))
            except OSError as error:
                raise self.lose("its socket failed (%s)" % error.strerror)
            if not chunk:
                raise self.lose("its process ended")
            chunks.append(chunk)
            missing -= len(chunk)
        return chunks[0] if len(chunks) == 1 else b"".join(chunks)

    def lose(self, why):
        if self.gone is None:
            self.gone = why
        return Gone(self.gone)

    def refuse(self, why):
        """Keeps the reason, so that a test that swallows it still cannot pass."""
        if self.refused is None:
            self.refused = why
        return CannotCross(why)

    # Requests.

    def request(self, action, target, name="", args=(), kwargs=None):
        if not self.judges and (get_ident() != self.thread or getpid() != self.pid):
            raise RuntimeError("an object of the test can only be used in the thread that was called")
        with self.lock:
            if self.gone is not None:
                raise Gone(self.gone)
            encoder = Encoder(self)
            encoder.out[0] = 81
            drops, self.dropped = tuple(self.dropped), []
            try:
                encoder.put((action, target, name, args, kwargs or {}, drops))
                self.send(encoder.out)
            except CannotCross as error:
                raise self.refuse(str(error))
            except RecursionError:
                raise self.refuse("an argument nested too deeply cannot cross")
            while True:
                frame = self.receive()
                if frame[0] != 81:
                    return self.answer(frame, encoder.objects)
                self.serve(frame)

    def answer(self, frame, objects):
        try:
            decoder = Decoder(self, frame, objects)
            ok, value, changes = decoder.get()
            for number, new in changes:
                restore(objects[number], new)
        except (CannotCross, Gone):
            raise
        except RecursionError:
            raise self.refuse("value cannot cross: it is nested too deeply")
        except BaseException as error:
            raise self.lose("its answer cannot be read (%s)" % type(error).__name__)
        if ok is True:
            return value
        if type(value) is str:
            raise self.refuse(value)
        if not isinstance(value, BaseException):
            raise self.lose("it raised what is no exception")
        raise value

    def serve(self, frame):
        decoder, before = Decoder(self, frame), ()
        try:
            action, target, name, args, kwargs, drops = decoder.get()
            before = [content(value) for value in decoder.objects]
            self.drop(drops)
            result = True, self.perform(action, target, name, args, kwargs)
        except Gone:
            raise
        except CannotCross as error:
            result = False, str(error)
        except BaseException as error:
            result = False, error
        if getpid() != self.pid:
            # A fork of the solution came back here: it must not speak for its parent.
            from posix import _exit
            _exit(0)
        encoder = Encoder(self, decoder.objects)
        encoder.out[0] = 65
        depth = get_depth()
        try:
            set_depth(max(depth, DEPTH))
            changes = []
            for number, old in enumerate(before):
                new = content(decoder.objects[number])
                if not unchanged(old, new):
                    changes.append((number, new))
            encoder.put(result + (tuple(changes),))
            self.send(encoder.out)
        except Gone:
            raise
        except BaseException as error:
            why = str(error) if type(error) is CannotCross else type(error).__name__
            encoder = Encoder(self)
            encoder.out[0] = 65
            encoder.put((False, "value cannot cross: " + why, ()))
            self.send(encoder.out)
        finally:
            set_depth(depth)

    def perform(self, action, target, name, args, kwargs):
        if action == "call":
            return target(*args, **kwargs)
        if action == "op":
            return getattr(type(target), name)(target, *args, **kwargs)
        if action == "get":
            return getattr(target, name)
        if action == "set":
            return setattr(target, name, args)
        if action == "del":
            return delattr(target, name)
        raise ValueError("unknown action")

    # Handles.

    def export(self, value):
        number = self.export_numbers.get(id(value))
        if number is None:
            number, self.next_export = self.next_export, self.next_export + 1
            self.export_numbers[id(value)] = number
            self.exports[number] = [value, 0]
        self.exports[number][1] += 1
        return number

    def drop(self, drops):
        for number, count in drops:
            entry = self.exports.get(number)
            if entry is not None:
                entry[1] -= count
                if entry[1] <= 0:
                    del self.exports[number], self.export_numbers[id(entry[0])]

    def class_number(self, cls):
        number = self.class_numbers.get(id(cls))
        if number is not None:
            return number, False
        self.classes_alive.append(cls)
        number = self.class_numbers[id(cls)] = len(self.classes_alive)
        return number, True

    def proxy(self, number, class_number, description):
        if description is not None:
            name, specials, is_generator = description
            if type(name) is not str or not all(special in METHODS for special in specials):
                raise ValueError("a class that cannot be")
            self.proxy_classes[class_number] = proxy_class(name, specials, is_generator)
        known = self.proxies.get(number)
        proxy = known() if known is not None else None
        if proxy is None:
            proxy = object.__new__(self.proxy_classes[class_number])
            for slot, value in (("_rc_peer", self), ("_rc_id", number),
                                ("_rc_class", class_number), ("_rc_count", 0)):
                object.__setattr__(proxy, slot, value)
            self.proxies[number] = self.ref(proxy)
        object.__setattr__(proxy, "_rc_count", proxy._rc_count + 1)
        return proxy

    def local_module(self, name, proxy):
        return proxy

    # Exceptions.

    def class_chain(self, cls):
        """The exception class and its bases up to the built-in one: ((number, name), ...)."""
        chain = []
        for base in type.__dict__["__mro__"].__get__(cls):
            name = type.__dict__["__name__"].__get__(base)
            if EXCEPTIONS.get(name) is base:
                chain.append((0, name))
                break
            if BaseException in type.__dict__["__mro__"].__get__(base):
                chain.append((self.export(base), name))
        return tuple(chain)

    def local_class(self, chain):
        """A local exception class for one of the other side."""
        number, name = chain[0]
        if number == 0:
            return EXCEPTIONS[name]
        if number not in self.local_exceptions:
            base = self.local_class(chain[1:])
            made = type(str(name), (base,), {})
            self.local_exceptions[number] = made
            self.remote_exceptions[made] = number
        return self.local_exceptions[number]

    def describe(self, error):
        """(class chain, plain arguments or None, text, plain attributes)."""
        chain = self.class_chain(type(error))
        args = BaseException.__dict__["args"].__get__(error)
        if not all(type(arg) in SCALARS for arg in args):
            args = None
        try:
            text = str(error)
            text = text if type(text) is str else ""
        except Exception:
            text = ""
        values = vars(error)
        return chain, args, text, tuple(
            (name, value) for name, value in values.items() if type(value) in SCALARS)

    def rebuild(self, description):
        chain, args, text, values = description
        cls = self.local_class(chain)
        error = None
        if args is not None:
            try:
                error = cls(*args)
            except Exception:
                error = None
        if error is None:
            error = cls.__new__(cls)
            error.args = (text,)
        error.__dict__.update(values)
        error._rc_remote = True
        return error


SCALARS = (type(None), bool, int, float, complex, str, bytes)

