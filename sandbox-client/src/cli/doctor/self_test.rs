//! `rollcage doctor --self-test`: the outcome of the daemon's probe battery, by class and row.
//! The daemon tests and judges; this only shows.

use std::collections::BTreeMap;

use serde_json::json;

use super::super::connection::with_daemon;
use super::super::failure::{Failure, NEGATIVE};
use super::super::table::{Align, Table, one_line};
use super::super::terminal::{Color, Terminal};
use super::super::when::show_unix_ms;
use super::super::{Context, outcome};
use super::{DoctorArgs, is_enough};
use crate::pb;
use crate::pb::SelfTestState as State;

/// Name under which the sandbox of the judge is tested; no policy can have it.
const JUDGE: &str = "(judge)";
/// Wrong rows that are shown of one plan; `--json` has all of them.
const WRONG_SHOWN_MAX: usize = 20;

/// Asks for the outcome, shows it, and gives the exit code.
pub(super) async fn self_test(context: &Context, args: &DoctorArgs) -> Result<u8, Failure> {
    let (policies, fresh) = (&args.policy, args.fresh);
    let reply = with_daemon(context, async |client| {
        let ask = |fresh| pb::SelfTestRequest {
            fresh,
            policies: policies.clone(),
        };
        let reply = client.self_test(ask(fresh)).await?;
        let untested = |test: &pb::PolicySelfTest| test.state() == State::NotTested;
        if !fresh && reply.policies.iter().any(untested) {
            // A daemon that does not test itself at its start.
            return Ok(client.self_test(ask(true)).await?);
        }
        Ok(reply)
    })
    .await?;
    let holds = holds(&reply);
    if context.terminal.json {
        let mut document = outcome::to_json(&reply)?;
        document["holds"] = json!(holds);
        context.terminal.json_line(&document)?;
    } else {
        show(&context.terminal, &reply, holds)?;
    }
    // Told in any case.
    let enough = is_enough(context, args.require, &reply.mode);
    Ok(exit_code(holds, enough))
}

fn exit_code(holds: bool, enough: bool) -> u8 {
    if holds && enough { 0 } else { NEGATIVE }
}

/// Whether some policy was shown to hold and none not to.
fn holds(reply: &pb::SelfTestReply) -> bool {
    let mut states = reply.policies.iter().map(pb::PolicySelfTest::state);
    states.clone().any(|state| state == State::Right)
        && states.all(|state| matches!(state, State::Right | State::NotEnforceable))
}

fn show(terminal: &Terminal, reply: &pb::SelfTestReply, holds: bool) -> Result<(), Failure> {
    terminal.line(&format!(
        "{} {} mode, kernel {}, boot {}",
        terminal.paint(Color::Bold, "self-test"),
        reply.mode,
        reply.kernel,
        reply.boot_id
    ))?;
    for (names, test) in by_plan(&reply.policies) {
        terminal.line("")?;
        show_plan(terminal, &names, test)?;
    }
    terminal.line("")?;
    let verdict = if holds {
        terminal.paint(
            Color::Green,
            "every probe that was asked gave the right answer",
        )
    } else {
        terminal.paint(Color::Red, "confinement is not shown to hold here")
    };
    terminal.line(&verdict)
}

/// Policies with one outcome together, in the order of the first.
fn by_plan(policies: &[pb::PolicySelfTest]) -> Vec<(Vec<&str>, &pb::PolicySelfTest)> {
    let mut groups: Vec<(Vec<&str>, &pb::PolicySelfTest)> = Vec::new();
    for test in policies {
        let same = groups.iter_mut().find(|(_, known)| {
            !test.plan_sha256.is_empty()
                && (&known.plan_sha256, known.at_unix_ms) == (&test.plan_sha256, test.at_unix_ms)
        });
        match same {
            Some((names, _)) => names.push(&test.policy),
            None => groups.push((vec![&test.policy], test)),
        }
    }
    groups
}

fn show_plan(
    terminal: &Terminal,
    names: &[&str],
    test: &pb::PolicySelfTest,
) -> Result<(), Failure> {
    if names.contains(&JUDGE) {
        terminal.line(&format!("{JUDGE}: the sandbox of test code"))?;
    }
    let names = names.join(", ");
    match test.state() {
        State::NotEnforceable => {
            let why = one_line(&test.trouble);
            return terminal.line(&format!("{names}: not tested, its runs are refused: {why}"));
        }
        State::NotTested | State::Unspecified => {
            return terminal.line(&format!("{names}: not tested"));
        }
        State::Right | State::Wrong => {}
    }
    let source = if test.from_cache {
        ", found earlier in this boot"
    } else {
        ""
    };
    let when = show_unix_ms(test.at_unix_ms);
    terminal.line(&format!("{names}: tested {when} UTC{source}"))?;
    if test.rows.is_empty() {
        let trouble = one_line(&test.trouble);
        return terminal.line(&terminal.paint(Color::Red, &trouble));
    }
    terminal.data(class_table(&test.rows).render(terminal.width).as_bytes())?;
    for line in wrong_lines(terminal, &test.rows)
        .iter()
        .chain(&not_asked_lines(&test.rows))
    {
        terminal.line(line)?;
    }
    Ok(())
}

/// The rows that are wrong, with what is lost.
fn wrong_lines(terminal: &Terminal, rows: &[pb::SelfTestRow]) -> Vec<String> {
    let wrong: Vec<_> = rows.iter().filter(|row| row.right == Some(false)).collect();
    let mut lines = Vec::new();
    for row in wrong.iter().take(WRONG_SHOWN_MAX) {
        let name = terminal.paint(Color::Red, &format!("WRONG {}", row.name));
        lines.push(format!(
            "{name} ({}): found {}, expected {}",
            row.class,
            one_line(&row.found),
            one_line(&row.expected)
        ));
        let holders = match row.proves.join(", ") {
            none if none.is_empty() => String::new(),
            steps => format!("; what was to hold it: {steps}"),
        };
        lines.push(format!("  it tried: {}{holders}", one_line(&row.what)));
        lines.push(format!("  if it works, {}", lost(&row.class)));
    }
    match wrong.len().saturating_sub(WRONG_SHOWN_MAX) {
        0 => {}
        more => lines.push(format!("and {more} more; `--json` has all")),
    }
    lines
}

/// How many rows were not asked, and why; the most frequent reason first.
fn not_asked_lines(rows: &[pb::SelfTestRow]) -> Vec<String> {
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.right.is_none()) {
        let reason = row.expected.trim_start_matches("not asked: ");
        *reasons.entry(one_line(reason)).or_default() += 1;
    }
    let count: usize = reasons.values().sum();
    if count == 0 {
        return Vec::new();
    }
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let rows = if count == 1 { "row was" } else { "rows were" };
    std::iter::once(format!("{count} {rows} not asked:"))
        .chain(
            reasons
                .iter()
                .map(|(reason, count)| format!("  {count}: {reason}")),
        )
        .collect()
}

/// What a class of attempts would come to.
fn lost(class: &str) -> &'static str {
    match class {
        "escape" => "a program acts outside of its sandbox",
        "host_leak" => "a program learns what is the host's or another's",
        "exfiltration" => "a program sends out what it knows",
        "lateral" => "a program reaches another sandbox or a service",
        "host_dos" => "a program can take the host down or slow it",
        "peer_dos" => "a program can take another sandbox down or slow it",
        "internal_escalation" => "a program gains privileges inside its sandbox",
        _ => "a promise of this program is broken",
    }
}

fn class_table(rows: &[pb::SelfTestRow]) -> Table {
    let mut classes: BTreeMap<&str, [u64; 3]> = BTreeMap::new();
    for row in rows {
        let [right, wrong, not_asked] = classes.entry(&row.class).or_default();
        match row.right {
            Some(true) => *right += 1,
            Some(false) => *wrong += 1,
            None => *not_asked += 1,
        }
    }
    let mut table = Table::new(&[
        ("class", Align::Left),
        ("right", Align::Right),
        ("wrong", Align::Right),
        ("not asked", Align::Right),
    ]);
    for (class, counts) in classes {
        let cells = counts.map(|count| count.to_string());
        table.row(std::iter::once(class.to_owned()).chain(cells));
    }
    table
}

/// The last outcome in one line.
pub(super) fn summary(test: &pb::SelfTestSummary) -> String {
    let counts = format!(
        "{} right, {} wrong, {} not asked, {} UTC",
        test.right,
        test.wrong,
        test.not_asked,
        show_unix_ms(test.at_unix_ms)
    );
    match test.state() {
        State::Right => format!("holds ({counts})"),
        State::Wrong => format!("FAILED ({counts}): {}", one_line(&test.trouble)),
        State::NotEnforceable => "no policy can be enforced here".to_owned(),
        State::NotTested | State::Unspecified => {
            "not made; `rollcage doctor --self-test` makes it".to_owned()
        }
    }
}

#[cfg(test)]
mod tests;
