//! Several verdicts that make one. The parts were judged apart; here they are only weighed.

use crate::verdict::{Isolation, Outcome, PART_REWARD, Verdict};
use crate::verify::{Combine, CombinedSpec, Part};

/// The share that a failure may have at most.
const BELOW_ONE: f64 = 1.0 - f64::EPSILON;

/// Combines the verdicts on the parts of `spec`, given in their order. A part that counts and says
/// nothing about the solution makes the whole say nothing: an absent reward never becomes a number.
#[must_use]
pub fn combine(spec: &CombinedSpec, verdicts: Vec<Verdict>) -> Verdict {
    let parts: Vec<(&Part, Verdict)> = spec.parts.iter().zip(verdicts).collect();
    if parts.len() < spec.parts.len() {
        let reason = "not every part was judged";
        return gather(Verdict::new(Outcome::InfraError, reason), parts);
    }
    let whole = decide(spec, &parts);
    gather(whole, parts)
}

fn decide(spec: &CombinedSpec, parts: &[(&Part, Verdict)]) -> Verdict {
    let counting: Vec<(&Part, &Verdict)> = (parts.iter())
        .filter(|(part, _)| part.weight > 0.0)
        .map(|(part, verdict)| (*part, verdict))
        .collect();
    let first = |outcome| {
        (counting.iter())
            .find(|(_, verdict)| verdict.outcome() == outcome)
            .map(|(part, verdict)| Verdict::new(outcome, reason_of(part, verdict)))
    };
    // In this order: the host, the verifier, then what forfeits all credit.
    let overriding = [
        Outcome::InfraError,
        Outcome::VerifierError,
        Outcome::Unjudged,
        Outcome::Tampered,
    ];
    if let Some(verdict) = overriding.into_iter().find_map(first) {
        return verdict;
    }
    let mut rewards = Vec::with_capacity(counting.len());
    for (part, verdict) in &counting {
        match verdict.reward() {
            Some(reward) => rewards.push((part.weight, reward)),
            None => {
                let reason = format!("{}: it has no reward", part.name);
                return Verdict::new(Outcome::VerifierError, reason);
            }
        }
    }
    let failed: Vec<&(&Part, &Verdict)> = (counting.iter())
        .filter(|(_, verdict)| verdict.outcome() != Outcome::Passed)
        .collect();
    let share = share(spec.combine, &rewards);
    let Some((_, worst)) = failed.first() else {
        return Verdict::passed_share(share, "").unwrap_or_else(|error| broken(&error));
    };
    let reasons: Vec<String> = (failed.iter())
        .map(|(part, verdict)| reason_of(part, verdict))
        .collect();
    let reason = reasons.join("; ");
    if share > 0.0 {
        Verdict::failed_share(share.min(BELOW_ONE), reason).unwrap_or_else(|error| broken(&error))
    } else {
        Verdict::new(worst.outcome(), reason)
    }
}

fn broken(error: &crate::verdict::InvalidVerdict) -> Verdict {
    Verdict::new(Outcome::VerifierError, error.to_string())
}

/// The reward of the whole, from weights and rewards.
fn share(combine: Combine, rewards: &[(f64, f64)]) -> f64 {
    match combine {
        Combine::All => {
            if rewards.iter().all(|(_, reward)| *reward >= 1.0) {
                1.0
            } else {
                0.0
            }
        }
        Combine::Weighted => {
            // Scaled first, so that no sum of weights is infinite.
            let largest = rewards
                .iter()
                .fold(0.0, |max: f64, (weight, _)| max.max(*weight));
            let scaled = |weight: f64| weight / largest;
            let all: f64 = rewards.iter().map(|(weight, _)| scaled(*weight)).sum();
            let sum: f64 = (rewards.iter())
                .map(|(weight, reward)| scaled(*weight) * reward)
                .sum();
            (sum / all).clamp(0.0, 1.0)
        }
        Combine::Min => rewards
            .iter()
            .fold(1.0, |min, (_, reward)| min.min(*reward)),
    }
}

fn reason_of(part: &Part, verdict: &Verdict) -> String {
    if verdict.reason.is_empty() {
        return format!("{}: {:?}", part.name, verdict.outcome());
    }
    format!("{}: {}", part.name, verdict.reason)
}

/// What all parts say, under their names.
fn gather(mut whole: Verdict, parts: Vec<(&Part, Verdict)>) -> Verdict {
    for (part, verdict) in parts {
        let name = &part.name;
        if let Some(reward) = verdict.reward() {
            whole.metrics.insert(format!("{name}{PART_REWARD}"), reward);
        }
        for mut test in verdict.tests {
            test.id = format!("{name}/{}", test.id);
            whole.tests.push(test);
        }
        for (metric, value) in verdict.metrics {
            whole.metrics.insert(format!("{name}.{metric}"), value);
        }
        whole.diagnostics.extend(verdict.diagnostics);
        for note in verdict.tamper {
            if !whole.tamper.contains(&note) {
                whole.tamper.push(note);
            }
        }
        if verdict.evidence.isolation == Isolation::Shared {
            whole.evidence.isolation = Isolation::Shared;
        }
        whole.evidence.contention = whole.evidence.contention.or(verdict.evidence.contention);
        whole.evidence.flake = whole.evidence.flake.or(verdict.evidence.flake);
    }
    whole
}

#[cfg(test)]
mod tests;
