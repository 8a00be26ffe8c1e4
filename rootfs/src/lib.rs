//! What a sandbox's root file system is made of.
//!
//! It makes plans ([`plan`]) and, once per daemon start, the two small trees that a plan binds:
//! `/etc` ([`etc`]) and `/dev` ([`dev`]), and the texts that tell of CPUs ([`cpus`]). It mounts nothing and knows no sandbox: the confinement
//! code executes the plan.

mod claim;
pub mod cpus;
pub mod dev;
pub mod etc;
pub mod host_image;
pub mod plan;

pub use claim::ClaimError;
pub use cpus::HostCpus;
pub use dev::{DevError, prepare_dev};
pub use etc::{EtcError, EtcReport, prepare_etc};
pub use host_image::{HostImage, HostImageConfig, ImageDigest, RootfsError};
pub use plan::{RootOp, RootPlan};
