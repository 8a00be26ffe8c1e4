//! What a run left behind, turned into a result: endings, verdicts, rewards and their evidence.
//! Pure: it knows no clock, no file, no process. It is told what the kernel and the judge said.

pub mod answer;
pub mod cases;
pub mod contention;
pub mod coverage;
pub mod denial;
pub mod diagnostics;
pub mod digest;
pub mod ending;
pub mod formats;
pub mod git_scrub;
pub mod grade;
pub mod harness;
pub mod leaks;
pub mod manifest;
mod measure;
pub mod metrics;
pub mod plan;
pub mod protect;
pub mod reading;
pub mod static_check;
pub mod untrusted;
pub mod usage;
pub mod verdict;
pub mod verify;
mod xml;

pub use cases::plan::runs_what_it_builds;
pub use contention::{Contention, contention, cpu_waited_ms};
pub use denial::{Denial, DenialLayer};
pub use ending::{Ending, KernelEvidence, decide_ending};
pub use formats::{FormatError, Report, ReportFormat};
pub use git_scrub::{GitScrubError, GitScrubPlan, holds_git, plan_git_scrub, read_git_scrub};
pub use grade::{
    BuildEvidence, ENDED_BY_GRADER, Ended, Output, grade_exit_code, grade_stdout, judge_asserts,
    judge_build, killed_judge,
};
pub use harness::{HarnessEvidence, HarnessPlan, Observed};
pub use manifest::{ControlLayer, ControlStatus, ManifestRow};
pub use plan::build::{BUILD_WALL_MS_MIN, Build, Builder};
pub use plan::{CachePlan, HarnessCache, JudgePlan, is_built, plan_asserts, plan_cache};
pub use static_check::StaticCheck;
pub use untrusted::Untrusted;
pub use usage::{Pressure, PressureSource, Usage};
pub use verdict::{
    Diagnostic, Evidence, Flake, Isolation, Outcome, Severity, TamperNote, TestResult, TestStatus,
    Verdict,
};
pub use verify::{
    AnswerSpec, AssertsSpec, Case, CasesSpec, Combine, CombinedSpec, ExitCodeSpec, Framework,
    GitScrub, HarnessSpec, Language, Measure, MeasureSpec, OnTamper, Part, Phase, ReportFrom,
    Required, StdoutSpec, TestCode, TestFile, VerifyError, VerifySpec,
};
