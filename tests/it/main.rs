//! The one binary of integration tests: real programs through the real daemon, as root. Each module
//! is a subject; `world` boots a private daemon and proves that nothing is left of it.

#[cfg(test)]
mod answers;
#[cfg(test)]
mod attacks;
#[cfg(test)]
mod audit;
#[cfg(test)]
mod bad_input;
#[cfg(test)]
mod batch;
#[cfg(test)]
mod boundary;
#[cfg(test)]
mod cases;
#[cfg(test)]
mod chaos;
#[cfg(test)]
mod cli;
#[cfg(test)]
mod compat;
#[cfg(test)]
mod contention;
#[cfg(test)]
mod data;
#[cfg(test)]
mod delegated;
mod differential;
#[cfg(test)]
mod documents;
#[cfg(test)]
mod endings;
#[cfg(test)]
mod environments;
#[cfg(test)]
mod escape;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod fields;
#[cfg(test)]
mod frameworks;
#[cfg(test)]
mod grade;
#[cfg(test)]
mod hardship;
#[cfg(test)]
mod host;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod kill9;
#[cfg(test)]
mod languages;
#[cfg(test)]
mod leaks;
#[cfg(test)]
mod mcp;
#[cfg(test)]
mod measures;
#[cfg(test)]
mod modes;
#[cfg(test)]
mod mutation;
#[cfg(test)]
mod neighbours;
#[cfg(test)]
mod nobody;
#[cfg(test)]
mod older_kernel;
#[cfg(test)]
mod python_sdk;
#[cfg(test)]
mod retries;
#[cfg(test)]
mod roles;
#[cfg(test)]
mod rootless;
#[cfg(test)]
mod self_test;
#[cfg(test)]
mod separation;
#[cfg(test)]
mod service;
#[cfg(test)]
mod sets;
#[cfg(test)]
mod skips;
#[cfg(test)]
mod starter;
#[cfg(test)]
mod static_check;
#[cfg(test)]
mod streams;
#[cfg(test)]
mod tamper;
#[cfg(test)]
mod tls;
#[cfg(test)]
mod tools;
#[cfg(test)]
mod user;
#[cfg(test)]
mod verify_phase;
#[cfg(test)]
mod wait;
#[cfg(test)]
mod world;
