//! What a request gets.

use super::*;
use crate::testing::{builtin, policy};

fn python() -> Policy {
    builtin().get("python").expect("python").policy.clone()
}

#[test]
fn silence_gets_defaults_and_limits() {
    let got = python()
        .effective_limits(&RequestedLimits::default())
        .expect("python");
    let expected = EffectiveLimits {
        wall_ms_max: 40_000,
        cpu_ms_max: 10_000,
        cpu_millicores_max: 1_000,
        memory_bytes_max: 512 << 20,
        pids_max: 64,
        disk_bytes_max: 256 << 20,
        files_max: 20_000,
        output_bytes_max: 1 << 20,
        output_bytes_total_max: 64 << 20,
        open_files_max: 256,
    };
    assert_eq!(got, expected);
}

#[test]
fn more_than_the_default_is_given_up_to_the_limit() {
    let asked = RequestedLimits {
        wall_ms_max: Some(240_000),
        ..RequestedLimits::default()
    };
    assert_eq!(
        python().effective_limits(&asked).map(|got| got.wall_ms_max),
        Ok(240_000)
    );
    let asked = RequestedLimits {
        wall_ms_max: Some(240_001),
        ..RequestedLimits::default()
    };
    let error = python()
        .effective_limits(&asked)
        .expect_err("beyond the limit");
    assert_eq!(
        (error.field, error.value, error.min, error.max),
        ("wall_ms_max", 240_001, 10, 240_000)
    );
    assert_eq!(
        error.to_string(),
        "limits.wall_ms_max = 240001 is outside 10..=240000; ask for a value in that range"
    );
}

/// Each field of a request by name, so that a field that is left out is seen.
fn asked_one(field: &str, value: u64) -> RequestedLimits {
    serde_json::from_value(serde_json::json!({ field: value })).expect(field)
}

#[test]
fn every_field_is_bound_both_ways_and_never_clamped() {
    let policy = python();
    let most = serde_json::to_value(policy.limits).expect("limits");
    let least = serde_json::to_value(MINIMUMS).expect("minimums");
    let least = least.as_object().expect("an object");
    assert_eq!(least.len(), 10);
    for (field, min) in least {
        let (min, max) = (
            min.as_u64().expect(field),
            most[field].as_u64().expect(field),
        );
        assert!(min > 0, "{field}");
        for value in [min, max] {
            let got = policy
                .effective_limits(&asked_one(field, value))
                .expect(field);
            assert_eq!(
                serde_json::to_value(got).expect(field)[field],
                value,
                "{field}"
            );
        }
        for value in [0, min - 1, max + 1, u64::MAX] {
            let error = policy
                .effective_limits(&asked_one(field, value))
                .expect_err(field);
            assert_eq!((error.field, error.value), (field.as_str(), value));
            assert_eq!((error.min, error.max), (min, max), "{field}");
        }
    }
}

#[test]
fn a_policy_that_allows_nothing_says_so() {
    let policy = policy("name = \"empty\"");
    let error = policy
        .effective_limits(&RequestedLimits::default())
        .expect_err("nothing");
    assert_eq!(
        error.to_string(),
        "limits.wall_ms_max: the policy allows at most 0, which is below the least usable value 10; \
         choose a policy that sets limits.wall_ms_max"
    );
}

#[test]
fn a_policy_without_a_default_says_so() {
    let policy = policy("name = \"x\"\n[limits]\nwall_ms_max = 1000\n");
    let error = policy
        .effective_limits(&RequestedLimits::default())
        .expect_err("no default");
    assert_eq!(
        error.to_string(),
        "limits.wall_ms_max: the policy's default 0 is outside 10..=1000; name a value in that range \
         or set the default in the policy"
    );
}

#[test]
fn unknown_fields_of_a_request_are_refused() {
    let json = serde_json::json!({ "wall_ms": 1 });
    assert!(serde_json::from_value::<RequestedLimits>(json).is_err());
}
