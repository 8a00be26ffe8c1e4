//! Tests of the conclusions.
