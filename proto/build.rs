//! Compiles `rollcage/v1/*.proto` to messages and a descriptor set, without a system `protoc`.
//! Service stubs are made by the crates that have a transport.

use std::error::Error;
use std::path::PathBuf;

use prost::Message;

const FILES: [&str; 6] = [
    "rollcage/v1/request.proto",
    "rollcage/v1/result.proto",
    "rollcage/v1/runs.proto",
    "rollcage/v1/policies.proto",
    "rollcage/v1/audit.proto",
    "rollcage/v1/node.proto",
];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=rollcage");
    let out_dir = PathBuf::from(std::env::var("OUT_DIR")?);
    let descriptors = protox::compile(FILES, ["."])?;
    std::fs::write(
        out_dir.join("rollcage.v1.descriptors"),
        descriptors.encode_to_vec(),
    )?;
    let mut config = prost_build::Config::new();
    config.enable_type_names();
    // Sorted maps: the same message always has the same bytes, so that digests of it agree.
    config.btree_map(["."]);
    // By far the largest member of its oneof.
    config.boxed(".rollcage.v1.RunEvent.event.result");
    config.compile_fds(descriptors)?;
    Ok(())
}
