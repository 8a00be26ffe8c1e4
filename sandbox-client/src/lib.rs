//! The client of a Rollcage daemon: connect, run programs, read policies and the audit log; and the
//! `rollcage` command built on it.
//!
//! It knows the contract (crate `proto`) and nothing of how a daemon confines or judges.
//!
//! ```no_run
//! use sandbox_client::{Client, Endpoint, pb};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let client = Client::connect(&Endpoint::Unix("/run/rollcage/sandboxd.sock".into())).await?;
//! let request = pb::RunRequest {
//!     policy: "python".to_owned(),
//!     argv: vec!["python3".to_owned(), "-c".to_owned(), "print(42)".to_owned()],
//!     ..pb::RunRequest::default()
//! };
//! let result = client.run(request).await?;
//! assert_eq!(result.stdout, b"42\n");
//! # Ok(())
//! # }
//! ```

pub mod cli;
pub mod client;
pub mod embedded;
pub mod endpoint;
pub mod env_vars;
pub mod error;

pub use client::Client;
pub use embedded::Embedded;
pub use endpoint::{Credentials, Endpoint};
pub use error::{Answer, ClientError};
/// The messages of the contract.
pub use proto::v1 as pb;

/// Generated client stubs.
#[expect(
    unreachable_pub,
    unused_qualifications,
    clippy::allow_attributes_without_reason,
    reason = "generated code"
)]
mod stubs {
    tonic::include_proto!("rollcage.v1");
}
