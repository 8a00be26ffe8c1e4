//! The gRPC surface as messages: what `rollcage/v1/*.proto` says, and its JSON form.
//!
//! Pure data. Service stubs are generated where a transport is (the daemon, the client);
//! what a message *means* is decided by the daemon's `grpc::convert`.

pub mod json;
pub mod size;

/// Messages and enums of package `rollcage.v1`; documented in the `.proto` files.
#[expect(
    missing_docs,
    reason = "generated; the comments stand in the .proto files"
)]
pub mod v1 {
    include!(concat!(env!("OUT_DIR"), "/rollcage.v1.rs"));
}

/// All files of package `rollcage.v1` as an encoded `google.protobuf.FileDescriptorSet`.
pub const FILE_DESCRIPTOR_SET: &[u8] =
    include_bytes!(concat!(env!("OUT_DIR"), "/rollcage.v1.descriptors"));
