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
use crate::pb;
use crate::pb::SelfTestState as State;

/// Asks for the outcome, shows it, and gives the exit code.
pub(super) async fn self_test(
    context: &Context,
    policies: &[String],
    fresh: bool,
) -> Result<u8, Failure> {
    let reply = with_daemon(context, async |client| {
        let ask = |fresh| pb::SelfTestRequest {
            fresh,
            policies: policies.to_vec(),
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
    Ok(if holds { 0 } else { NEGATIVE })
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
    for row in test.rows.iter().filter(|row| row.right == Some(false)) {
        let name = terminal.paint(Color::Red, &format!("WRONG {}", row.name));
        terminal.line(&format!(
            "{name} ({}): found {}, expected {}",
            row.class,
            one_line(&row.found),
            one_line(&row.expected)
        ))?;
        let proves = match row.proves.join(", ") {
            none if none.is_empty() => String::new(),
            steps => format!("; it shows that these hold: {steps}"),
        };
        terminal.line(&format!("  it tried: {}{proves}", one_line(&row.what)))?;
        terminal.line(&format!("  if it works, {}", lost(&row.class)))?;
    }
    Ok(())
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
