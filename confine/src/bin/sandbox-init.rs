//! Pid 1 of a sandbox. Started by the launcher only; see the library's `init`.

fn main() -> std::process::ExitCode {
    confine::init::run()
}
