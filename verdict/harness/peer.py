"""Handles of the other process's objects, and the calls between the two.

Part of the module that `kinds.py` begins. In the judge, operators between a handle and a plain
value are refused: the expected value never leaves, and only the judge's own `==` decides.
"""


class Proxy:
    """An object of the other process."""

    __slots__ = ("_rc_peer", "_rc_id", "_rc_class", "_rc_count", "__weakref__")

    def __getattr__(self, name):
        peer = self._rc_peer
        if peer.judges and name.startswith("__array"):
            # numpy takes an address of the judge's memory from such an attribute.
            raise AttributeError(name)
        value = peer.request("get", self, name)
        return stopping(value) if peer.judges and name in STOPPING else value

    def __setattr__(self, name, value):
        self._rc_peer.request("set", self, name, value)

    def __delattr__(self, name):
        self._rc_peer.request("del", self, name)

    def __copy__(self):
        return self._rc_peer.request("copy", self)

    def __deepcopy__(self, memo):
        return self._rc_peer.request("deepcopy", self)

    def __reduce_ex__(self, protocol):
        raise TypeError("an object of the other process cannot be pickled")

    def __del__(self):
        try:
            self._rc_peer.dropped.append((self._rc_id, self._rc_count))
        except AttributeError:
            pass


# Methods by which an iterator says that it is over.
STOPPING = ("__next__", "send", "throw")


def stopping(method):
    """A method of an iterator of the solution, taken out of it."""
    if not isinstance(method, Proxy):
        return method
    return lambda *args, **kwargs: method._rc_peer.request(
        "call", method, "", args, kwargs, may_stop=True)


def remote_special(name):
    expected = RETURNS.get(name)
    is_operator = name in COMPARE or name in BINARY

    def method(self, *args, **kwargs):
        peer = self._rc_peer
        if peer.judges and is_operator:
            decided = judges_operator(self, name, args)
            if decided is not None:
                return decided
        value = peer.request("op", self, name, args, kwargs, may_stop=name == "__next__")
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


def proxy_class(name, specials, kind):
    space = {"__slots__": (), "_rc_specials": frozenset(specials), "_rc_kind": kind,
             "__doc__": property(lambda self: self._rc_peer.request("get", self, "__doc__"))}
    space["__eq__"], space["__ne__"] = equal_by_default, unequal_by_default
    for special in tuple(specials) + ALWAYS:
        space[special] = METHODS[special]
    if "__eq__" in specials and "__ne__" not in specials:
        space["__ne__"] = lambda self, other: not self == other
    if kind == "generator":
        space["__iter__"] = lambda self: self
        space["__class__"] = property(lambda self: GeneratorType)
    return type(name, (Proxy,), space)


async def awaited(proxy):
    """A coroutine of the solution: awaiting it runs it to its end in its own process."""
    return proxy._rc_peer.request("await", proxy)


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

    def request(self, action, target, name="", args=(), kwargs=None, may_stop=False):
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
                    return self.answer(frame, encoder.objects, may_stop)
                self.serve(frame)

    def answer(self, frame, objects, may_stop):
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
        if self.judges and isinstance(value, StopIteration) and not may_stop:
            # It would end a loop of the test, whose checks then do not happen.
            value = RuntimeError("it raised StopIteration where it is no iterator")
            value._rc_remote = True
        raise value

    def serve(self, frame):
        decoder, before = Decoder(self, frame, asked=True), ()
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
        if action == "await":
            from asyncio import run
            return run(target)
        if action in ("copy", "deepcopy"):
            import copy
            return getattr(copy, action)(target)
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
            name, specials, kind = description
            if type(name) is not str or not all(special in METHODS for special in specials):
                raise ValueError("a class that cannot be")
            self.proxy_classes[class_number] = proxy_class(name, specials, kind)
        known = self.proxies.get(number)
        proxy = known() if known is not None else None
        if proxy is None:
            proxy = object.__new__(self.proxy_classes[class_number])
            for slot, value in (("_rc_peer", self), ("_rc_id", number),
                                ("_rc_class", class_number), ("_rc_count", 0)):
                object.__setattr__(proxy, slot, value)
            self.proxies[number] = self.ref(proxy)
        object.__setattr__(proxy, "_rc_count", proxy._rc_count + 1)
        return awaited(proxy) if self.judges and proxy._rc_kind == "coroutine" else proxy

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


class SiteFinder:
    """Adds the packages of the image on the first import that the standard library lacks: a
    program that needs none does not wait for them."""

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if path is not None or cls not in sys.meta_path:
            return None
        sys.meta_path.remove(cls)
        import site
        space = sys.modules["builtins"].__dict__
        kept = {key: space[key] for key in ("exit", "quit") if key in space}
        site.main()
        space.update(kept)
        from importlib.util import find_spec
        return find_spec(name)
