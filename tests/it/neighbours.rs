//! Those who share a host with sandboxes: what they own is not reached from inside in any mode, and
//! they go on while a sandbox beside them does its worst.

mod load;
mod planted;
