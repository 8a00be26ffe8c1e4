//! The daemon: it authenticates callers, checks what they ask, and has it run in sandboxes.
//!
//! It never runs untrusted code in its own address space and holds no privilege once it serves:
//! the launcher (its own process) makes sandboxes, the audit writer (its own process) keeps the log.

pub mod audit_client;
pub mod audit_writer;
pub mod config;
pub mod daemon;
pub mod grpc;
pub mod metrics;
pub mod policy_set;
pub mod run;
pub mod run_id;
pub mod self_test;
pub mod store;
pub mod telemetry;
