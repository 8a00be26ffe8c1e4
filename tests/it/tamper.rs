//! Known ways to a reward without a solution, through the real daemon. The right answer is that of a
//! verifier nobody touched: never a pass with `isolation: separate`; with a shared process only what
//! the catalogue says cannot be stopped, and never with a reward under a policy that does not say so.

mod catalogue;
mod git;
mod left;

use sandbox_client::pb;
use serde_json::{Value, json};

use crate::world::Outcome;

const HONEST: &str = "def add(a, b):\n    return a + b\n";
const WRONG: &str = "def add(a, b):\n    return 7\n";
const PYTEST: &str = "from calc import add\n\ndef test_small():\n    assert add(2, 3) == 5\n\n\
                      def test_large():\n    assert add(40, 2) == 42\n";

/// A verification of `calc.py` by pytest.
fn by_pytest() -> Value {
    json!({ "kind": "pytest", "args": ["test_calc.py"], "test_files": { "test_calc.py": PYTEST },
            "test_ids": ["test_calc.py::test_small", "test_calc.py::test_large"] })
}

fn verdict(outcome: &Outcome) -> &pb::Verdict {
    outcome.result.verdict.as_ref().expect("a verdict")
}

fn named(outcome: &Outcome, path: &str) -> bool {
    verdict(outcome).tamper.iter().any(|note| note.path == path)
}
