//! What a run left behind, turned into a result: endings, verdicts, rewards and their evidence.
//! Pure: it knows no clock, no file, no process. It is told what the kernel and the judge said.

pub mod denial;
pub mod ending;
pub mod manifest;
pub mod untrusted;
pub mod usage;
pub mod verdict;
pub mod verify;

pub use denial::{Denial, DenialLayer};
pub use ending::{Ending, KernelEvidence, decide_ending};
pub use manifest::{ControlLayer, ControlStatus, ManifestRow};
pub use untrusted::Untrusted;
pub use usage::{Pressure, Usage};
pub use verdict::{
    Diagnostic, Evidence, Isolation, Outcome, Severity, TamperNote, TestResult, TestStatus, Verdict,
};
pub use verify::{
    AssertsSpec, ExitCodeSpec, Language, OnTamper, StdoutSpec, TestCode, VerifyError, VerifySpec,
};
