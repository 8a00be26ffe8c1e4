//! Solution and judge: two fresh sandboxes joined by one socket pair.
//!
//! The solution gets one end as descriptor 3; the judge gets the other as 3 and a private pipe
//! for its report as 4. Nothing else connects them, and neither can reach the other's processes.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use tokio::net::unix::pipe;
use verdict::ending::SandboxFault;

use super::launcher_link::LauncherLink;
use super::program::{Outside, Program, Ran, run_program};
use super::report::{self, Report};
use super::streams::output_pipe;

/// How long a solution may take to end by itself once its judge is gone.
const RELEASE_AFTER: Duration = Duration::from_millis(500);

/// What became of the two.
#[derive(Debug)]
pub(crate) struct Pair {
    /// The solution's sandbox.
    pub solution: Ran,
    /// The judge's sandbox.
    pub judge: Ran,
    /// The judge's report.
    pub report: Report,
}

/// Runs both at the same time. When the judge is over, the solution is ended; when the solution
/// ends first, the judge sees the end of the socket.
pub(crate) async fn run_pair(
    link: &LauncherLink,
    mut solution: Program<'_>,
    mut judge: Program<'_>,
    (outside, judge_outside): (Outside, Outside),
) -> Pair {
    let (solution_end, judge_end, report_read, report_write) = match connections() {
        Ok(made) => made,
        Err(error) => return Pair::not_at_all(&solution, &judge, &error),
    };
    solution.extra = vec![solution_end];
    judge.extra = vec![judge_end, report_write];
    // One waits while the other computes: apart they would keep two CPUs half idle.
    let group = Some(link.next_group());
    (solution.group, judge.group) = (group, group);
    let reading = report::begin(report_read);
    let release = outside.release.clone();
    let judging = async {
        let ran = run_program(link, judge, judge_outside).await;
        let releasing = tokio::spawn(async move {
            tokio::time::sleep(RELEASE_AFTER).await;
            release.cancel();
        });
        (ran, releasing)
    };
    let (solution, (judge, releasing)) =
        tokio::join!(run_program(link, solution, outside), judging);
    releasing.abort();
    Pair {
        solution,
        judge,
        report: report::finish(reading).await,
    }
}

type Connections = (OwnedFd, OwnedFd, pipe::Receiver, OwnedFd);

fn connections() -> io::Result<Connections> {
    let (solution, judge) = UnixStream::pair()?;
    let (report_read, report_write) = output_pipe()?;
    Ok((solution.into(), judge.into(), report_read, report_write))
}

impl Pair {
    fn not_at_all(solution: &Program<'_>, judge: &Program<'_>, error: &io::Error) -> Self {
        let failed = |program: &Program<'_>| {
            let mut ran = Ran::never();
            ran.sandbox_id.clone_from(&program.sandbox_id);
            ran.facts.fault = Some(SandboxFault {
                step: "launch".to_owned(),
                reason: format!("solution and judge could not be connected: {error}"),
            });
            ran
        };
        Self {
            solution: failed(solution),
            judge: failed(judge),
            report: Report::default(),
        }
    }
}
