pub fn main() -> std::process::ExitCode { std::process::ExitCode::SUCCESS } mod units; mod table;
