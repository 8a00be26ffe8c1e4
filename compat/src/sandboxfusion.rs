//! The wire of SandboxFusion's `/run_code`: what comes in, which runs it means, what goes out.
//! It opens no socket; [`crate::server`] brings bytes and takes answers.

mod execute;
mod language;
mod request;
mod response;
mod stages;
mod status;
mod toolchains;

pub use execute::{Executor, Failed, Settings};
pub use language::LANGUAGES;
pub use request::{Invalid, RunCode};
pub use response::{Answer, StageAnswer, StageStatus, Status};
pub use status::BusyTimeouts;
