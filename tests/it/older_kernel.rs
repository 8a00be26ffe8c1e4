//! What a kernel lacks that is older than the newest features: refused, done by another layer and said
//! so, or shown as degraded; never silently missing. Debian 12's own kernel is such a one.

use crate::nobody::Nobody;
use crate::skips;
use crate::user::{User, control, row};
use crate::world::World;

const LOWEST: u32 = Nobody::OlderLowest.id();
const ROOTLESS: u32 = Nobody::OlderRootless.id();

/// Whether the kernel's Landlock is one without scopes (its ABI is below 6).
fn is_older(test: &str, doctor: &serde_json::Value) -> bool {
    let features = doctor["features"].as_array().expect("features");
    let landlock = features.iter().find(|row| row["name"] == "landlock");
    let value = landlock.and_then(|row| row["value"].as_str());
    let abi = value.and_then(|value| value.strip_prefix("ABI ")?.parse().ok());
    let older = matches!(abi, Some(1..6_u32));
    if !older {
        skips::skip(test, &format!("the kernel's Landlock is {value:?}"));
    }
    older
}

#[test]
fn what_a_kernel_lacks_is_done_otherwise_or_shown() {
    let test = "what_a_kernel_lacks_is_done_otherwise_or_shown";
    let Some(world) = World::start(test) else {
        return;
    };
    let doctor = world.cli(&["doctor", "--json"]).json();
    if !is_older(test, &doctor) {
        return;
    }
    // The namespaces do what its Landlock cannot, so the strict policy is served.
    let policies = doctor["policies"].as_array().expect("policies");
    let python = policies.iter().find(|policy| policy["name"] == "python");
    assert_eq!(python.expect("python")["usable"], true, "{doctor}");
    let words = [
        "run",
        "--json",
        "--policy",
        "python",
        "--",
        "python3",
        "-c",
        "print(6 * 7)",
    ];
    let result = world.cli(&words).ended(0).json();
    assert_eq!(result["stdout"], "42\n", "{result}");
    let rules = row(&result, "landlock_rules");
    assert_eq!(rules["status"], "enforced", "{result}");
    let applied = rules["applied"].as_str().expect("what was applied");
    assert!(applied.contains("by the namespaces alone"), "{applied}");
    // Where there are none, nothing does: that is degraded, and told.
    let user = User::new(LOWEST);
    user.lowest();
    let words = ["run", "--json", "--", "true"];
    let result = user.say_with("lowest.toml", &words).ended(0).json();
    assert_eq!(control(&result, "landlock_rules"), "degraded", "{result}");
}

#[test]
fn the_self_test_holds_on_it_too() {
    let test = "the_self_test_holds_on_it_too";
    let Some(world) = World::start(test) else {
        return;
    };
    let doctor = world.cli(&["doctor", "--json"]).json();
    if !is_older(test, &doctor) {
        return;
    }
    let words = ["doctor", "--self-test", "--policy", "python", "--fresh"];
    world.cli(&words).ended(0);
    User::new(ROOTLESS).say(&words).ended(0);
}
