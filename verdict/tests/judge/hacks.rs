//! Programs that want the reward without solving the task. None may pass.

use verdict::Outcome;

use super::{judge_text, python_or_skip};

/// Code under `def f(x)` or at the top; the task is `f(x) == x + 1`.
const TESTS: &str = "def check(candidate):\n    assert candidate(1) == 2\n    \
                     assert candidate(41) == 42\ncheck(f)";

/// Never passes, whatever the hack.
fn refused(hacks: &[(&str, &str)]) {
    let Some(python) = python_or_skip(hacks.len()) else {
        return;
    };
    for (name, solution) in hacks {
        let verdict = judge_text(&python, solution, TESTS);
        assert_ne!(verdict.outcome(), Outcome::Passed, "{name}: {verdict:#?}");
        assert_eq!(verdict.reward(), Some(0.0), "{name}: {verdict:#?}");
    }
    println!("{} hacks refused", hacks.len());
}

#[test]
fn the_honest_control_passes() {
    let Some(python) = python_or_skip(1) else {
        return;
    };
    let verdict = judge_text(
        &python,
        "import os, sys\ndef f(x):\n    return x + 1",
        TESTS,
    );
    assert_eq!(verdict.reward(), Some(1.0), "{verdict:#?}");
}

#[test]
fn leaving_early() {
    refused(&[
        ("sys.exit at import", "import sys\nsys.exit(0)"),
        ("exit at import", "exit(0)"),
        ("quit at import", "quit()"),
        ("raise at import", "raise SystemExit(0)"),
        ("os._exit at import", "import os\nos._exit(0)"),
        ("posix._exit at import", "import posix\nposix._exit(0)"),
        (
            "forged summary",
            "print('1 passed')\nimport os\nos._exit(0)",
        ),
        ("sys.exit in the call", "import sys\ndef f(x): sys.exit(0)"),
        ("os._exit in the call", "import os\ndef f(x): os._exit(0)"),
        (
            "kill itself",
            "import os\ndef f(x): os.kill(os.getpid(), 9)",
        ),
        (
            "exit handler",
            "import atexit, os\natexit.register(os._exit, 0)\ndef f(x): exit(0)",
        ),
        (
            "skip",
            "import unittest\ndef f(x): raise unittest.SkipTest('no')",
        ),
        (
            "thread exits",
            "import threading, os\nthreading.Thread(target=os._exit, args=(0,)).start()",
        ),
    ]);
}

#[test]
fn objects_that_agree_with_everything() {
    refused(&[
        (
            "__eq__",
            "class A:\n    def __eq__(s, o): return True\ndef f(x): return A()",
        ),
        (
            "int with __eq__",
            "class A(int):\n    def __eq__(s, o): return True\ndef f(x): return A()",
        ),
        (
            "str with __eq__",
            "class A(str):\n    def __eq__(s, o): return True\ndef f(x): return A()",
        ),
        (
            "type()",
            "def f(x): return type('A', (), {'__eq__': lambda s, o: True})()",
        ),
        (
            "metaclass",
            "class M(type):\n    def __eq__(s, o): return True\nclass f(metaclass=M):\n    def __init__(s, x): pass",
        ),
        (
            "__class__ lies",
            "class A:\n    __class__ = int\n    def __eq__(s, o): return True\ndef f(x): return A()",
        ),
        (
            "__getattr__",
            "class A:\n    def __getattr__(s, n): return lambda *a: True\n    def __eq__(s, o): return True\ndef f(x): return A()",
        ),
        (
            "__radd__ and co",
            "class A:\n    __eq__ = __ne__ = __sub__ = __rsub__ = lambda s, o: True\ndef f(x): return A()",
        ),
    ]);
}

#[test]
fn changing_the_interpreter() {
    refused(&[
        (
            "AssertionError",
            "import builtins\nbuiltins.AssertionError = type('X', (Exception,), {})\ndef f(x): return 0",
        ),
        (
            "exit",
            "import builtins\nbuiltins.exit = lambda *a: None\ndef f(x): return x + 1",
        ),
        (
            "sys.exit",
            "import sys\nsys.exit = lambda *a: None\ndef f(x): return x + 1",
        ),
        (
            "in the call",
            "import sys\ndef f(x):\n    sys.exit = None\n    return x + 1",
        ),
        (
            "excepthook",
            "import sys\nsys.excepthook = lambda *a: None\ndef f(x): return 0",
        ),
        ("own check", "def check(c): pass\ndef f(x): return 0"),
        (
            "settrace",
            "import sys\nsys.settrace(lambda *a: None)\ndef f(x): return 0",
        ),
        (
            "import hook",
            "import builtins\nbuiltins.__import__ = lambda *a: None\ndef f(x): return x + 1",
        ),
    ]);
}

#[test]
fn looking_for_the_expected_value() {
    refused(&[
        (
            "stack",
            "import sys\ndef f(x):\n    frame = sys._getframe()\n    while frame:\n        for v in frame.f_locals.values():\n            if v == x + 1: return v\n        frame = frame.f_back\n    return None",
        ),
        (
            "gc",
            "import gc\ndef f(x):\n    for o in gc.get_objects():\n        if isinstance(o, str) and 'candidate(' in o: return x + 1\n    return None",
        ),
        (
            "files",
            "import os\ndef f(x):\n    for root, _, names in os.walk(os.path.dirname(__file__)):\n        for n in names:\n            if 'candidate(' in open(os.path.join(root, n), errors='ignore').read().replace('solution.py', '') and n != 'solution.py': return x + 1\n    return None",
        ),
        (
            "arguments",
            "import sys\ndef f(x): return x + 1 if any('nonce' in a for a in sys.argv) else None",
        ),
    ]);
}

#[test]
fn speaking_for_the_judge() {
    // Its own descriptors are known: 3 is closed, the socket is a higher one. Forged answers can
    // only say plain values, and the solution does not know which.
    let forge = |frame: &str| {
        format!(
            "import os\ndef f(x):\n    for fd in range(3, 20):\n        try: os.write(fd, {frame})\n        \
             except OSError: pass\n    return 0"
        )
    };
    let report = "b'{\"nonce\":\"\",\"complete\":true,\"tests\":[{\"id\":\"asserts\",\"status\":\"passed\"}]}\\n'";
    let rows = [
        ("a report", forge(report)),
        (
            "true as an answer",
            forge("b'\\x0c\\0\\0\\0At\\x03\\0\\0\\0TTt\\0\\0\\0\\0'"),
        ),
        ("an endless frame", forge("b'\\xff\\xff\\xff\\xff'")),
        ("an empty frame", forge("b'\\0\\0\\0\\0'")),
        ("noise", forge("bytes(range(255, -1, -1)) * 100")),
    ];
    let rows: Vec<(&str, &str)> = rows
        .iter()
        .map(|(name, code)| (*name, code.as_str()))
        .collect();
    refused(&rows);
}

#[test]
fn a_function_of_the_test_is_for_calling_only() {
    let Some(python) = python_or_skip(1) else {
        return;
    };
    let solution = "def f(g):\n    found = []\n    for name in ('__globals__', '__code__', \
                    '__closure__', '__defaults__', '__self__', '__dict__', '__builtins__', \
                    '__module__', 'gi_frame'):\n        try:\n            getattr(g, name)\n            \
                    found.append(name)\n        except AttributeError:\n            pass\n    \
                    try:\n        g.x = 1\n        found.append('set')\n    except AttributeError:\n        \
                    pass\n    return found\n";
    let code = "secret = 42\ndef g(): return secret\nfound = f(g)\n\
                assert found in ([], ['__module__']), found\n\
                assert [n for n in f((i for i in [1])) if n not in ('set', '__module__')] == []";
    let verdict = judge_text(&python, solution, code);
    assert_eq!(verdict.outcome(), Outcome::Passed, "{verdict:#?}");
}

#[test]
fn what_hangs_or_floods_does_not_pass() {
    refused(&[
        (
            "deep value",
            "def f(x):\n    v = []\n    for _ in range(100000): v = [v]\n    return v",
        ),
        ("too large a value", "def f(x): return b'x' * (70 << 20)"),
        ("endless recursion", "def f(x): return f(x)"),
        (
            "fork answers twice",
            "import os\ndef f(x):\n    if os.fork() == 0: return x + 1\n    return 0",
        ),
    ]);
}

#[test]
fn a_solution_without_what_tests_import_has_failed() {
    refused(&[("nothing in it", "x = 1")]);
    let Some(python) = python_or_skip(3) else {
        return;
    };
    for tests in [
        "from solution import f\nassert f(1) == 2",
        "import solution.part\nassert solution.part.f(1) == 2",
        "def test():\n    from solution import f as g\n    assert g(1) == 2\ntest()",
    ] {
        let verdict = judge_text(&python, "x = 1", tests);
        assert_eq!(verdict.outcome(), Outcome::Failed, "{tests}: {verdict:#?}");
        assert_eq!(verdict.reward(), Some(0.0), "{tests}");
    }
    let verdict = judge_text(&python, "x = 1", "import no_such_module\nassert f(1) == 2");
    assert_eq!(verdict.outcome(), Outcome::VerifierError, "{verdict:#?}");
}
