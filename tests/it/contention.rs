//! Busy hosts and honest numbers: a program counts the CPUs that its rate is worth, what it was held
//! back is told, and load on the host changes no verdict that is judged by CPU time.

mod flips;
mod load;
mod told;
mod views;

/// CPUs of this host that this process may use.
fn host_cpus() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
