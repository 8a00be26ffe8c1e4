//! Endpoints that other projects' clients know, over HTTP on loopback: today that of SandboxFusion,
//! which RL trainers use to run code.
//!
//! They translate and bound; they confine, judge and record nothing. All of that is done by the
//! daemon that stands behind [`Daemon`], under the same policies and in the same audit log as for
//! any other caller. This crate does not know how that daemon is reached.

pub mod daemon;
pub mod sandboxfusion;
pub mod server;
#[cfg(test)]
mod testing;

pub use daemon::{Ceilings, Daemon, Ran, Trouble};
pub use server::{ServeError, Server, Settings};
