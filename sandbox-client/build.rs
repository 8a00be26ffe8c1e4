//! Generates the client stubs, and server stubs for the tests; the messages themselves come from
//! crate `proto`.

use std::error::Error;
use std::path::PathBuf;

const FILES: [&str; 4] = [
    "rollcage/v1/runs.proto",
    "rollcage/v1/policies.proto",
    "rollcage/v1/audit.proto",
    "rollcage/v1/node.proto",
];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=../proto/rollcage/v1");
    let descriptors = protox::compile(FILES, ["../proto"])?;
    tonic_prost_build::configure()
        .build_server(false)
        // The comments stand in the .proto files, and are not written for this generator.
        .disable_comments(["."])
        .extern_path(".rollcage.v1", "::proto::v1")
        .compile_fds(descriptors)?;
    // For the tests, whose daemon does what a real one cannot be made to do.
    let servers = PathBuf::from(std::env::var("OUT_DIR")?).join("servers");
    std::fs::create_dir_all(&servers)?;
    tonic_prost_build::configure()
        .build_client(false)
        .disable_comments(["."])
        .out_dir(servers)
        .extern_path(".rollcage.v1", "::proto::v1")
        .compile_fds(protox::compile(["rollcage/v1/runs.proto"], ["../proto"])?)?;
    Ok(())
}
