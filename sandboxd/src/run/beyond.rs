//! Asks the launcher for more than its own ceilings allow, as a captured daemon would: it must
//! refuse by itself. Part of the self-test; a sandbox that it makes nevertheless is ended at once.

use std::time::Duration;

use confine::plan::Plan;

use super::launcher_link::{LauncherEvent, LauncherLink};
use super::sandbox::Sandbox;
use super::watch::{Input, KillBy};

/// More processes than any ceiling allows, and no harm if they were allowed.
const PIDS_BEYOND: u64 = 1 << 20;
/// How long the launcher may take.
const ANSWER_MAX: Duration = Duration::from_secs(30);

/// What came of it, in a word: `refused` is right. `id` names a sandbox that there is not.
pub(crate) async fn ask(link: &LauncherLink, id: &str, plan: &Plan) -> &'static str {
    let mut plan = plan.clone();
    plan.limits.pids_max = PIDS_BEYOND;
    let Ok(mut sandbox) = Sandbox::open(link, id, &plan, None).await else {
        return "not_asked";
    };
    match tokio::time::timeout(ANSWER_MAX, answer(&mut sandbox)).await {
        Ok(word) => word,
        Err(_elapsed) => "no_answer",
    }
}

/// The launcher's first word about it; a sandbox is followed to its end.
async fn answer(sandbox: &mut Sandbox) -> &'static str {
    let mut granted = false;
    loop {
        match sandbox.next().await {
            Input::Launcher(Some(LauncherEvent::StartFailed { refused, .. })) => {
                return if refused { "refused" } else { "failed" };
            }
            Input::Launcher(Some(LauncherEvent::Started(_))) => {
                granted = true;
                sandbox.kill(KillBy::Launcher).await;
            }
            Input::Launcher(Some(LauncherEvent::Reaped(_)) | None) => {
                return if granted { "granted" } else { "failed" };
            }
            _ => {}
        }
    }
}
