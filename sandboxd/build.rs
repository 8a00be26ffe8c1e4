//! Generates the server side of the services in `proto/rollcage/v1`; the messages are `proto`'s.

use std::error::Error;

const FILES: [&str; 4] = [
    "rollcage/v1/runs.proto",
    "rollcage/v1/policies.proto",
    "rollcage/v1/audit.proto",
    "rollcage/v1/node.proto",
];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=../proto/rollcage");
    let descriptors = protox::compile(FILES, ["../proto"])?;
    tonic_prost_build::configure()
        .build_client(false)
        .build_server(true)
        .build_transport(false)
        .extern_path(".rollcage.v1", "::proto::v1")
        .compile_fds(descriptors)?;
    Ok(())
}
