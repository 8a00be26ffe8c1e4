//! Durations of one contender, and their median and 95th percentile.

/// Durations in microseconds.
#[derive(Debug, Default)]
pub(super) struct Samples {
    micros: Vec<u64>,
    failure: Option<String>,
}

impl Samples {
    /// Adds one.
    pub(super) fn add(&mut self, micros: u64) {
        self.micros.push(micros);
    }

    /// From now on it does not count.
    pub(super) fn fail(&mut self, reason: String) {
        self.failure.get_or_insert(reason);
    }

    /// Why it does not count.
    pub(super) fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// How many.
    pub(super) fn count(&self) -> usize {
        self.micros.len()
    }

    /// The middle one; of an even number the lower of the two.
    pub(super) fn median(&self) -> Option<u64> {
        self.rank(50)
    }

    /// The one that 95 of 100 do not exceed.
    pub(super) fn p95(&self) -> Option<u64> {
        self.rank(95)
    }

    /// The least.
    pub(super) fn min(&self) -> Option<u64> {
        self.micros.iter().min().copied()
    }

    /// Nearest rank.
    fn rank(&self, percent: usize) -> Option<u64> {
        let mut sorted = self.micros.clone();
        sorted.sort_unstable();
        let rank = (sorted.len() * percent).div_ceil(100);
        sorted.get(rank.saturating_sub(1)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_ranks() {
        let mut samples = Samples::default();
        assert_eq!(
            (samples.median(), samples.p95(), samples.min()),
            (None, None, None)
        );
        for micros in (1..=100).rev() {
            samples.add(micros);
        }
        assert_eq!(
            (samples.median(), samples.p95(), samples.min()),
            (Some(50), Some(95), Some(1))
        );
        let mut one = Samples::default();
        one.add(7);
        assert_eq!((one.median(), one.p95()), (Some(7), Some(7)));
    }
}
