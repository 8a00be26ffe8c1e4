//! The `rollcage` command.

fn main() -> std::process::ExitCode {
    sandbox_client::cli::main()
}
