//! Several verifications that make one verdict.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{VerifyError, VerifySpec};

/// Most parts of one combination.
pub const PARTS_MAX: usize = 16;

/// How parts make a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Combine {
    /// All parts with a weight must pass; the reward is 1 or 0.
    #[default]
    All,
    /// The reward is the mean of the parts' rewards by their weights.
    Weighted,
    /// The reward is the smallest of the parts' rewards.
    Min,
}

/// One part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Its name, unique within the combination.
    pub name: String,
    /// Its weight, 0 or more; one of weight 0 is told and does not count.
    pub weight: f64,
    /// How it is judged.
    pub verify: VerifySpec,
}

/// Judged by several verifications.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CombinedSpec {
    /// The parts, in the order in which they are done.
    pub parts: Vec<Part>,
    /// How they make a whole.
    pub combine: Combine,
}

impl CombinedSpec {
    pub(super) fn validate(&self) -> Result<(), VerifyError> {
        if self.parts.is_empty() {
            let fix = "give at least one part";
            return Err(VerifyError::Missing {
                field: "parts",
                fix,
            });
        }
        if self.parts.len() > PARTS_MAX {
            let value = self.parts.len().to_string();
            return Err(VerifyError::invalid(
                "parts",
                &value,
                "give at most 16 parts",
            ));
        }
        let mut names = BTreeSet::new();
        for (index, part) in self.parts.iter().enumerate() {
            let here = |source| VerifyError::InPart {
                index,
                source: Box::new(source),
            };
            if part.name.is_empty() || !names.insert(part.name.as_str()) {
                let expected = "every name must be given and unique";
                return Err(VerifyError::invalid("parts", &part.name, expected));
            }
            if !(part.weight.is_finite() && part.weight >= 0.0) {
                let value = part.weight.to_string();
                let expected = "give a finite weight of at least 0";
                return Err(VerifyError::invalid("parts", &value, expected));
            }
            if matches!(part.verify, VerifySpec::Combined(_)) {
                let expected = "a part cannot be a combination itself";
                return Err(VerifyError::invalid("parts", &part.name, expected));
            }
            part.verify.validate().map_err(here)?;
        }
        if self.parts.iter().all(|part| part.weight == 0.0) {
            let expected = "at least one part must have a weight above 0";
            return Err(VerifyError::invalid("parts", "0", expected));
        }
        Ok(())
    }
}
