//! Tests of taking files out of a sandbox.
