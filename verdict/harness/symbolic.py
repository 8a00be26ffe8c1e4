"""Compares expressions, given as trees of known operations, in a sandbox that has nothing of a
solution but such a tree: no text of it is ever evaluated here.
"""
import json
import sys

# An exponent or factorial beyond this is not computed.
LARGE = 10000


class Refused(Exception):
    """The tree cannot be computed with."""


def build(sympy, tree):
    name, parts = tree[0], tree[1:]
    if name == "num":
        return sympy.Rational(parts[0])
    if name == "name":
        constants = {"pi": sympy.pi, "e": sympy.E, "i": sympy.I}
        return constants.get(parts[0]) or sympy.Symbol(parts[0])
    values = [build(sympy, part) for part in parts]
    if name == "add":
        return values[0] + values[1]
    if name == "sub":
        return values[0] - values[1]
    if name == "mul":
        return values[0] * values[1]
    if name == "neg":
        return -values[0]
    if name == "div":
        if values[1] == 0:
            raise Refused("it divides by zero")
        return values[0] / values[1]
    if name == "pow":
        if values[1].is_number and abs(values[1]) > LARGE:
            raise Refused("an exponent is too large")
        return values[0] ** values[1]
    if name == "factorial":
        if values[0].is_number and abs(values[0]) > LARGE:
            raise Refused("a factorial is too large")
        return sympy.factorial(values[0])
    names = {"arcsin": "asin", "arccos": "acos", "arctan": "atan", "ln": "log", "abs": "Abs"}
    return getattr(sympy, names.get(name, name))(values[0])


def equal(sympy, wanted, got, tolerance):
    difference = wanted - got
    if difference == 0 or sympy.simplify(difference) == 0:
        return True
    if difference.free_symbols:
        return difference.equals(0) is True
    if tolerance:
        apart = abs(complex(sympy.N(difference)))
        return apart <= tolerance or apart <= tolerance * abs(complex(sympy.N(wanted)))
    return difference.equals(0) is True


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        task = json.load(file)
    try:
        import sympy
    except ImportError as error:
        return {"missing": str(error)}
    try:
        wanted = [build(sympy, tree) for tree in task["expected"]]
    except Exception as error:
        return {"missing": "an expected answer cannot be computed: %s" % error}
    try:
        got = build(sympy, task["got"])
        return {"equal": any(equal(sympy, one, got, task["tolerance"]) for one in wanted)}
    except Exception as error:
        return {"equal": False, "why": "%s: %s" % (type(error).__name__, error)}


print(json.dumps(main()))
