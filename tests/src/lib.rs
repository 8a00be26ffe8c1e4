//! Integration tests live in `it/`, the program they run inside sandboxes in `probe/`. Nothing else
//! is in this crate.
