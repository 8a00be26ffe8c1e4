//! Solutions that find the object which speaks to the judge and ask it for more than a test gave
//! them: the judge's modules, its types, its built-in names. None may pass.

use verdict::Outcome;

use super::{judge_text, python_or_skip};

/// Finds the object that speaks to the judge, as any solution can: it is up the stack.
const FIND: &str = "import sys\ndef peer():\n    frame = sys._getframe()\n    while frame:\n        \
                    for value in frame.f_locals.values():\n            if type(value).__name__ == \
                    'Host': return value\n        frame = frame.f_back\n";

/// Name, solution, test code.
type Hack = (&'static str, &'static str, &'static str);

const EQUAL: &str = "assert f(1) == 2\nassert f(41) == 42";

const HACKS: &[Hack] = &[
    (
        "a function of a module of the judge",
        "def f(x):\n    import timeit\n    run = peer().request('get', timeit, 'timeit')\n    \
         run('import sys\\nframe = sys._getframe()\\nwhile frame:\\n run = frame.f_locals.get(\"run\")\\n \
         if hasattr(run, \"judge_error\"): type(run).judge_error = lambda s, e: (\"passed\", \"\", None)\\n \
         frame = frame.f_back', number=1)\n    return 0",
        EQUAL,
    ),
    (
        "a name in a module of the judge",
        "def f(x):\n    import builtins\n    \
         peer().request('set', builtins, 'abs', lambda v: 0.0)\n    return 0.0",
        "assert abs(f(1) - 2) < 1e-6\nassert abs(f(41) - 42) < 1e-6",
    ),
    (
        "a special method of a module of the judge",
        "def f(x):\n    import math\n    peer().request('op', math, '__setitem__', ('a', 1))\n    \
         return 0",
        EQUAL,
    ),
    (
        "a class made in the judge",
        "def f(x):\n    yes = lambda other: True\n    \
         made = peer().request('call', type, '', ('A', (int,), {'__eq__': yes, '__ne__': yes}))\n    \
         return made(0)",
        EQUAL,
    ),
    (
        "a class made by what the test handed over",
        "kept = []\ndef f(x):\n    if not isinstance(x, int):\n        kept.append(x)\n        \
         return 0\n    yes = lambda other: True\n    \
         parts = type, ['A'], [(int,)], [{'__eq__': yes, '__ne__': yes}]\n    \
         return next(kept[0](*parts))(0)",
        "if f(map) is None: pass\nassert f(1) == 2\nassert f(41) == 42",
    ),
    (
        "built-in names where the test imports the solution",
        "def f(x): return 0.0\ndef max(*a): return 0.0\ndef sum(*a): return 0.0",
        "from solution import f\nassert max(abs(f(v) - (v + 1)) for v in (1, 41)) < 1e-6",
    ),
    (
        "the end of an iteration instead of a value",
        "def f(x): raise StopIteration",
        "for got, want in zip(map(f, [1, 41]), [2, 42]):\n    assert got == want",
    ),
];

#[test]
fn nothing_of_the_judge_is_in_reach() {
    let Some(python) = python_or_skip(HACKS.len()) else {
        return;
    };
    let mut passed = Vec::new();
    for (name, solution, tests) in HACKS {
        let verdict = judge_text(&python, &format!("{FIND}{solution}"), tests);
        if verdict.outcome() == Outcome::Passed || verdict.reward() != Some(0.0) {
            passed.push((name, verdict));
        }
        // The same test code is passable.
        let honest = judge_text(
            &python,
            "def f(x):\n    return x + 1 if isinstance(x, int) else 0",
            tests,
        );
        assert_eq!(honest.reward(), Some(1.0), "{name}: {honest:#?}");
    }
    assert!(passed.is_empty(), "{passed:#?}");
}

/// What a test hands over on purpose still works both ways.
#[test]
fn what_the_test_hands_over_is_in_reach() {
    let Some(python) = python_or_skip(1) else {
        return;
    };
    let solution = "import math\ndef f(g, thing):\n    thing.size = g(thing.size) + 1\n    \
                    thing['a'] = 2\n    return [thing.double(4), len(thing)]\n";
    let tests = "class Thing(dict):\n    size = 1\n    def double(self, n): return 2 * n\n\
                 thing = Thing()\nassert f(lambda n: n + 10, thing) == [8, 1]\n\
                 assert thing.size == 12 and thing == {'a': 2}\n\
                 assert math.floor(2.5) == 2\n";
    let verdict = judge_text(&python, solution, tests);
    assert_eq!(verdict.outcome(), Outcome::Passed, "{verdict:#?}");
}

/// An iterator of the solution may end, in every way that an iterator is asked.
#[test]
fn iterators_of_the_solution_end() {
    let Some(python) = python_or_skip(1) else {
        return;
    };
    let solution = "class Count:\n    def __init__(self): self.left = 2\n    \
                    def __iter__(self): return self\n    def __next__(self):\n        \
                    if not self.left: raise StopIteration\n        self.left -= 1\n        \
                    return self.left\n\
                    def gen():\n    yield 1\n    return 5\n";
    let tests = "assert list(Count()) == [1, 0]\nassert list(gen()) == [1]\n\
                 it = gen()\nassert next(it) == 1\nassert next(it, None) is None\n\
                 it = Count()\nit.left = 0\n\
                 for ask in (lambda: next(it), lambda: it.__next__()):\n    try:\n        ask()\n    \
                 except StopIteration:\n        pass\n    else:\n        assert False\n";
    let verdict = judge_text(&python, solution, tests);
    assert_eq!(verdict.outcome(), Outcome::Passed, "{verdict:#?}");
}
