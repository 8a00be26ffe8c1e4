//! Tables of verdicts: next step.
