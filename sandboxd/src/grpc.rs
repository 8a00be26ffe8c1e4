//! The API: gRPC services, who may call them, and the conversion of their messages.

pub mod auth;
pub mod convert;
pub mod status;
