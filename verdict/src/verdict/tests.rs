//! Rewards follow from outcomes, and an absent one never becomes a number.

use super::{Evidence, Outcome, TestResult, TestStatus, Verdict};

#[test]
fn reward_follows_from_outcome() {
    for outcome in Outcome::ALL {
        let verdict = Verdict::new(outcome, "why");
        let expected = match outcome {
            Outcome::Passed => Some(1.0),
            Outcome::VerifierError | Outcome::InfraError | Outcome::Unjudged => None,
            _ => Some(0.0),
        };
        assert_eq!(verdict.reward(), expected, "{outcome:?}");
        assert_eq!(verdict.scorable(), expected.is_some(), "{outcome:?}");
        assert_eq!(outcome.scorable(), expected.is_some(), "{outcome:?}");
    }
}

#[test]
fn absent_reward_stays_absent_through_json() {
    for outcome in [
        Outcome::VerifierError,
        Outcome::InfraError,
        Outcome::Unjudged,
    ] {
        let json = serde_json::to_value(Verdict::new(outcome, "")).expect("serializes");
        assert!(json.get("reward").is_none(), "{json}");
        assert_eq!(json["scorable"], false);
        let back: Verdict = serde_json::from_value(json.clone()).expect("reads back");
        assert_eq!(back.reward(), None);
        for forged in [0.0, 1.0] {
            let mut json = json.clone();
            json["reward"] = forged.into();
            serde_json::from_value::<Verdict>(json).expect_err("a reward out of nowhere");
        }
    }
}

#[test]
fn json_that_contradicts_itself_is_refused() {
    for text in [
        r#"{"outcome":"passed"}"#,
        r#"{"outcome":"passed","reward":1.5}"#,
        r#"{"outcome":"failed","reward":1.0}"#,
        r#"{"outcome":"failed"}"#,
        r#"{"outcome":"failed","reward":0.0,"scorable":false}"#,
    ] {
        serde_json::from_str::<Verdict>(text).expect_err(text);
    }
}

#[test]
fn json_has_the_contracts_shape() {
    let mut verdict = Verdict::new(Outcome::Passed, "");
    verdict.tests.push(TestResult {
        id: "asserts".to_owned(),
        status: TestStatus::Passed,
        duration_ms: 3,
        message: String::new(),
        file: String::new(),
        line: None,
    });
    verdict.evidence = Evidence {
        image_sha256: "aa".to_owned(),
        ..Evidence::default()
    };
    let json = serde_json::to_value(&verdict).expect("serializes");
    assert_eq!(json["outcome"], "passed");
    assert_eq!(json["reward"], 1.0);
    assert_eq!(json["reason"], "");
    assert_eq!(
        json["tests"],
        serde_json::json!([{"id": "asserts", "status": "passed", "duration_ms": 3}])
    );
    assert_eq!(json["evidence"]["image_sha256"], "aa");
    assert_eq!(json["evidence"]["isolation"], "separate");
    assert_eq!(
        serde_json::from_value::<Verdict>(json).expect("reads back"),
        verdict
    );
}

#[test]
fn share_is_bounded() {
    assert_eq!(
        Verdict::passed_share(0.25, "").expect("in range").reward(),
        Some(0.25)
    );
    for share in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
        Verdict::passed_share(share, "").expect_err("out of range");
    }
}
