//! Outcome and reward of a whole, by the verdicts on its parts.

use super::combine;
use crate::verdict::{Isolation, Outcome, Verdict};
use crate::verify::{Combine, CombinedSpec, ExitCodeSpec, Part, VerifySpec};

use Combine::{All, Min, Weighted};
use Outcome::{
    CompileError, Failed, InfraError, NoTests, Passed, Tampered, Timeout, VerifierError,
};

fn spec(combine: Combine, weights: &[f64]) -> CombinedSpec {
    let part = |(number, weight): (usize, &f64)| Part {
        name: format!("p{number}"),
        weight: *weight,
        verify: VerifySpec::ExitCode(ExitCodeSpec::default()),
    };
    CombinedSpec {
        parts: weights.iter().enumerate().map(part).collect(),
        combine,
    }
}

fn plain(outcome: Outcome) -> Verdict {
    Verdict::new(outcome, "why")
}

fn half() -> Verdict {
    Verdict::failed_share(0.5, "half of it").expect("a share")
}

#[test]
fn the_reward_follows_the_mode() {
    let rows = [
        (All, vec![plain(Passed), plain(Passed)], Passed, 1.0),
        (All, vec![plain(Passed), half()], Failed, 0.0),
        (All, vec![plain(Timeout), plain(Failed)], Timeout, 0.0),
        (Weighted, vec![plain(Passed), plain(Passed)], Passed, 1.0),
        (Weighted, vec![plain(Passed), plain(Failed)], Failed, 0.75),
        (Weighted, vec![plain(CompileError), half()], Failed, 0.125),
        (
            Weighted,
            vec![plain(CompileError), plain(NoTests)],
            CompileError,
            0.0,
        ),
        (
            Weighted,
            vec![plain(Passed), plain(Tampered)],
            Tampered,
            0.0,
        ),
        (Min, vec![plain(Passed), half()], Failed, 0.5),
        (Min, vec![plain(Passed), plain(Failed)], Failed, 0.0),
        (Min, vec![plain(Passed), plain(Passed)], Passed, 1.0),
    ];
    for (mode, verdicts, outcome, reward) in rows {
        let whole = combine(&spec(mode, &[3.0, 1.0]), verdicts.clone());
        assert_eq!(
            (whole.outcome(), whole.reward()),
            (outcome, Some(reward)),
            "{mode:?} {verdicts:?}"
        );
    }
}

#[test]
fn a_part_without_a_reward_leaves_the_whole_without_one() {
    for mode in [All, Weighted, Min] {
        for (part, outcome) in [(InfraError, InfraError), (VerifierError, VerifierError)] {
            let whole = combine(&spec(mode, &[1.0, 1.0]), vec![plain(Failed), plain(part)]);
            assert_eq!((whole.outcome(), whole.reward()), (outcome, None));
        }
        // One that is missing altogether.
        let whole = combine(&spec(mode, &[1.0, 1.0]), vec![plain(Passed)]);
        assert_eq!((whole.outcome(), whole.reward()), (InfraError, None));
    }
}

#[test]
fn a_part_without_weight_is_told_and_does_not_count() {
    let mut style = plain(VerifierError);
    style.metrics.insert("lint_errors".to_owned(), 3.0);
    let whole = combine(&spec(Weighted, &[1.0, 0.0]), vec![plain(Passed), style]);
    assert_eq!((whole.outcome(), whole.reward()), (Passed, Some(1.0)));
    assert_eq!(whole.metrics.get("p1.lint_errors"), Some(&3.0));
    assert_eq!(whole.metrics.get("p0.reward"), Some(&1.0));
    assert_eq!(whole.metrics.get("p1.reward"), None);
}

#[test]
fn weights_of_any_size_make_a_share() {
    let weights = [f64::MAX, f64::MAX, f64::MIN_POSITIVE];
    let parts = vec![plain(Passed), plain(Passed), plain(Failed)];
    let whole = combine(&spec(Weighted, &weights), parts);
    assert_eq!(whole.outcome(), Failed);
    assert!(whole.reward().is_some_and(|reward| reward < 1.0));
}

#[test]
fn one_shared_process_makes_the_whole_shared() {
    let mut shared = plain(Passed);
    shared.evidence.isolation = Isolation::Shared;
    let whole = combine(&spec(All, &[1.0, 1.0]), vec![plain(Passed), shared]);
    assert_eq!(whole.evidence.isolation, Isolation::Shared);
    let withheld = whole.withheld("the policy says so");
    assert_eq!((withheld.outcome(), withheld.reward()), (Passed, None));
    let written = serde_json::to_string(&withheld).expect("written");
    let read: Verdict = serde_json::from_str(&written).expect("read");
    assert_eq!(read, withheld);
    let separate = written.replace("\"shared\"", "\"separate\"");
    assert!(serde_json::from_str::<Verdict>(&separate).is_err());
}

#[test]
fn what_is_withheld_shows_in_no_number_of_a_part() {
    let mut whole = combine(&spec(Weighted, &[1.0, 1.0]), vec![plain(Passed), half()]);
    assert_eq!(whole.metrics.get("p0.reward"), Some(&1.0));
    whole.metrics.insert("p0.errors".to_owned(), 2.0);
    let withheld = whole.withheld("the policy says so");
    assert_eq!(withheld.reward(), None);
    let left: Vec<&str> = withheld.metrics.keys().map(String::as_str).collect();
    assert_eq!(left, ["p0.errors"]);
}
