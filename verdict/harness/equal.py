"""Finds values that equal everything, where test code compares.

Test code is read with its operands handed to `see` first, which gives them back as they are
unless their class says yes to whatever it is asked.
"""
import ast
import sys
from posix import urandom

DEPTH_MAX, ITEMS_MAX = 6, 200
PLAIN = (int, float, complex, str, bytes, bool, type(None), list, tuple, dict, set, frozenset)


def make_see(trusted, note):
    """`trusted(file)`: whether code from there may define what equality it likes."""
    function = type(make_see)

    def own_equality(kind):
        for parent in type.mro(kind):
            equal = parent.__dict__.get("__eq__")
            if equal is None:
                continue
            code = getattr(equal, "__code__", None)
            if code is None:
                return type(equal) not in (type(object.__eq__), type(len)) and not builtin(parent)
            return not trusted(code.co_filename)
        return False

    def builtin(kind):
        return kind.__module__ in sys.stdlib_module_names or kind in PLAIN

    def agrees(value, other):
        try:
            return (value == other) is True and (other == value) is True
        except Exception:
            return False

    def everything(value):
        noise = int.from_bytes(urandom(7), "big") + 7
        pairs = ((noise, noise + 1), (str(noise), str(noise + 1)), ([noise], [noise + 1]),
                 ((noise,), (noise + 1,)), (noise + 0.5, noise + 1.5), (object(), object()),
                 ({noise: 1}, {noise: 2}), ({noise}, {noise + 1}))
        return any(agrees(value, one) and agrees(value, other) for one, other in pairs)

    def suspicious(value, depth):
        kind = type(value)
        if kind in (list, tuple, set, frozenset):
            if depth < DEPTH_MAX:
                for number, item in enumerate(value):
                    if number >= ITEMS_MAX:
                        break
                    bad = suspicious(item, depth + 1)
                    if bad is not None:
                        return bad
            return None
        if kind is dict:
            return suspicious(list(value.values())[:ITEMS_MAX], depth + 1)
        if kind in PLAIN or kind is function:
            return None
        if own_equality(kind) and everything(value):
            return kind
        return None

    def see(value):
        bad = suspicious(value, 0)
        if bad is not None:
            name = str(bad.__name__)
            note(name, "a class whose values equal everything", 2)
            raise AssertionError("a value of class %s equals everything" % name)
        return value

    return see


class Hand(ast.NodeTransformer):
    """Hands operands of comparisons, and arguments of `assert...` methods, to `see`."""

    def __init__(self, name):
        self.name, self.within = name, 0

    def visit_Assert(self, node):
        self.within += 1
        node.test = self.visit(node.test)
        self.within -= 1
        return node

    def visit_Compare(self, node):
        self.generic_visit(node)
        if self.within:
            node.left = self.handed(node.left)
            node.comparators = [self.handed(item) for item in node.comparators]
        return node

    def visit_Call(self, node):
        self.generic_visit(node)
        if getattr(node.func, "attr", "").startswith("assert"):
            node.args = [self.handed(item) for item in node.args]
        return node

    def handed(self, node):
        if isinstance(node, (ast.Constant, ast.Starred, ast.Lambda, ast.GeneratorExp)):
            return node
        call = ast.Call(ast.Name(self.name, ast.Load()), [node], [])
        return ast.fix_missing_locations(ast.copy_location(call, node))


def hand_over(tree, name):
    Hand(name).visit(tree)
    return tree
