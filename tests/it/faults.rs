//! Faults of the host and of the verifier, put in while solutions are judged whose right verdict is
//! known: none may become a number. A right solution earns 1 or nothing, a wrong one 0 or nothing.

mod held;
mod kills;

use std::collections::BTreeMap;

use sandbox_client::pb;
use serde_json::{Value, json};

use crate::kill9::Random;
use crate::world::World;

/// Faults in all, if `ROLLCAGE_FAULTS` does not say.
const FAULTS: u64 = 60;

/// How many faults of each hundred are of a kind.
fn share(of_hundred: u64) -> u64 {
    let given = std::env::var("ROLLCAGE_FAULTS").ok();
    let all = given.map_or(FAULTS, |text| text.parse().expect("ROLLCAGE_FAULTS"));
    (all * of_hundred).div_ceil(100)
}

/// A solution and test code that take a while on both sides, so that a fault can meet either. Odd
/// numbers are wrong.
fn judged(number: u64) -> Value {
    let (kind, answer) = if number.is_multiple_of(2) {
        ("right", 1)
    } else {
        ("wrong", 2)
    };
    json!({
        "id": format!("{kind}-{number}"), "policy": "python", "argv": [],
        "files": { "s.py": format!(
            "import time\ndef f():\n    time.sleep(0.03)\n    return {answer}\n"
        ) },
        "verify": {
            "kind": "asserts", "file": "s.py",
            "code": "import time\ntime.sleep(0.03)\nassert f() == 1",
        },
    })
}

/// What came of judged solutions.
#[derive(Debug, Default)]
struct Tally {
    earned: u64,
    unscored: u64,
    refused: u64,
    reasons: BTreeMap<String, u64>,
}

impl Tally {
    /// Counts a result, and fails the test where its number is not the truth.
    #[track_caller]
    fn count(&mut self, result: &pb::RunResult) {
        let verdict = result.verdict.as_ref().expect("a verdict");
        let truth = if result.id.starts_with("right") {
            1.0
        } else {
            0.0
        };
        match verdict.reward {
            Some(reward) => {
                assert!(
                    (reward - truth).abs() < f64::EPSILON,
                    "a fault became a number: {result:?}"
                );
                self.earned += 1;
            }
            None => {
                let outcome = verdict.outcome();
                let unscored = matches!(
                    outcome,
                    pb::Outcome::InfraError | pb::Outcome::VerifierError
                );
                assert!(unscored && !verdict.scorable, "{result:?}");
                assert!(!verdict.reason.is_empty(), "without a reason: {result:?}");
                self.unscored += 1;
                let reason = format!("{}: {}", outcome.as_str_name(), verdict.reason);
                *self.reasons.entry(reason).or_default() += 1;
            }
        }
    }

    fn print(&self, what: &str, faults: u64) {
        println!(
            "{what}: {faults} faults put in; {} results with their right reward, {} unscored, {} \
             refused; as numbers: 0. {:#?}",
            self.earned, self.unscored, self.refused, self.reasons
        );
    }
}

/// A verifier that cannot judge: broken test code, and what it needs missing.
#[test]
fn a_broken_verifier_gives_no_number() {
    const TEST: &str = "faults::a_broken_verifier_gives_no_number";
    let Some(world) = World::start(TEST) else {
        return;
    };
    let broken = [
        "assert f( == 1",
        "import no_such_module_of_the_tests\nassert f() == 1",
        "def test(:",
    ];
    let (mut tally, faults) = (Tally::default(), share(8));
    for number in 0..faults {
        let mut asked = judged(number);
        let which = usize::try_from(number).expect("a number") % broken.len();
        asked["verify"]["code"] = broken[which].into();
        let result = world.run(&asked).result;
        assert_eq!(
            result.verdict.as_ref().and_then(|it| it.reward),
            None,
            "{result:?}"
        );
        tally.count(&result);
    }
    assert_eq!(tally.unscored, faults);
    tally.print("a broken verifier", faults);
}

/// Random numbers of this module's tests, with their seed printed.
fn random() -> Random {
    Random::seeded()
}
