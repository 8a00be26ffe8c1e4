//! The engine.
pub mod admission;
pub mod cancel;
mod channel;
mod cpu_clock;
pub mod launcher_link;
mod packet;
mod program;
pub mod request;
mod sandbox;
mod streams;
mod supervise;
mod watch;
