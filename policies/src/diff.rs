//! How two policies differ, field by field, and which way.
//!
//! It compares meanings, not texts. The direction comes from the rows of `narrow`.

#[cfg(test)]
mod tests;

use serde::Serialize;

use crate::narrow::DIMENSIONS;
use crate::policy::Policy;

/// Which way a field changes from the left policy to the right one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// The right one allows less.
    Narrower,
    /// The right one allows more.
    Wider,
    /// Neither, for instance one path more and one less, or a text.
    Other,
}

/// One field that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    /// Path of the field.
    pub field: &'static str,
    /// Value in the left policy.
    pub left: String,
    /// Value in the right policy.
    pub right: String,
    /// Which way.
    pub direction: Direction,
}

/// The fields in which two policies differ: `description`, `extends` and `defaults` first, then
/// every bound in document order. Names are not compared.
pub fn diff(left: &Policy, right: &Policy) -> Vec<Change> {
    let mut changes = plain_changes(left, right);
    for dimension in DIMENSIONS {
        let left_outside = (dimension.outside)(left, right).is_some();
        let right_outside = (dimension.outside)(right, left).is_some();
        let (left, right) = ((dimension.value)(left), (dimension.value)(right));
        let direction = match (left_outside, right_outside) {
            (true, false) => Direction::Narrower,
            (false, true) => Direction::Wider,
            (true, true) | (false, false) => Direction::Other,
        };
        if left != right {
            changes.push(Change {
                field: dimension.field,
                left,
                right,
                direction,
            });
        }
    }
    changes
}

fn plain_changes(left: &Policy, right: &Policy) -> Vec<Change> {
    let texts = [
        (
            "description",
            left.description.clone(),
            right.description.clone(),
        ),
        ("extends", parent_text(left), parent_text(right)),
    ];
    let texts = texts.into_iter().map(|(field, left, right)| Change {
        field,
        left,
        right,
        direction: Direction::Other,
    });
    let (from, to) = (&left.defaults, &right.defaults);
    let numbers = [
        ("defaults.wall_ms", from.wall_ms, to.wall_ms),
        ("defaults.cpu_ms", from.cpu_ms, to.cpu_ms),
        ("defaults.memory_bytes", from.memory_bytes, to.memory_bytes),
    ];
    let numbers = numbers.into_iter().map(|(field, left, right)| Change {
        field,
        left: left.to_string(),
        right: right.to_string(),
        direction: if right < left {
            Direction::Narrower
        } else {
            Direction::Wider
        },
    });
    texts
        .chain(numbers)
        .filter(|change| change.left != change.right)
        .collect()
}

fn parent_text(policy: &Policy) -> String {
    policy.parent().unwrap_or("nothing").to_owned()
}
