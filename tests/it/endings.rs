//! How programs end, and that the result says so truthfully with the evidence of the kernel: real
//! programs, most of them hostile or unlucky. Each test boots its own daemon.

mod cancel;
mod denied;
mod limits;
mod memory;
mod neighbours;
mod output;
mod processes;
mod start;
