//! `rollcage policy`: what may be run under, what a policy means, whether a document is right.
//! `lint` needs no daemon; the rest asks one, which knows its host and its catalog.

mod lint;

use std::path::{Path, PathBuf};

use clap::Subcommand;
use serde_json::json;

use super::connection::with_daemon;
use super::failure::Failure;
use super::table::{Align, Table};
use super::terminal::Color;
use super::{Context, outcome};
use crate::pb;

/// Commands about policies.
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  rollcage policy list
  rollcage policy show python > mine.toml
  rollcage policy lint mine.toml
  rollcage policy explain python        what it means on this host, step by step
  rollcage policy diff python mine.toml")]
pub(crate) enum PolicyCommand {
    /// List the policies you may use.
    List,
    /// Print a policy's document.
    Show {
        /// Its name.
        name: String,
        /// Print the resolved policy in its canonical form (JSON), which its digest is of.
        #[arg(long)]
        resolved: bool,
    },
    /// Check documents without a daemon: every error with line, column, field and fix. Exit code 1
    /// if one has errors.
    Lint {
        /// Files; those in one folder may extend each other.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// Say what a policy means on the daemon's host.
    Explain {
        /// Name of a policy, or a file with a document.
        policy: String,
    },
    /// Say what differs between two policies.
    Diff {
        /// Name of a policy, or a file with a document.
        before: String,
        /// Name of a policy, or a file with a document.
        after: String,
    },
}

/// Does it.
pub(crate) async fn policy(context: &Context, command: PolicyCommand) -> Result<u8, Failure> {
    match command {
        PolicyCommand::List => list(context).await,
        PolicyCommand::Show { name, resolved } => show(context, &name, resolved).await,
        PolicyCommand::Lint { files } => lint::lint(context, &files),
        PolicyCommand::Explain { policy } => explain(context, &policy).await,
        PolicyCommand::Diff { before, after } => diff(context, &before, &after).await,
    }
}

async fn list(context: &Context) -> Result<u8, Failure> {
    let policies = with_daemon(context, async |client| Ok(client.list_policies().await?)).await?;
    let terminal = &context.terminal;
    if terminal.json {
        let all: Vec<_> = policies
            .iter()
            .map(outcome::to_json)
            .collect::<Result<_, _>>()?;
        terminal.json_line(&json!(all))?;
        return Ok(0);
    }
    let mut table = Table::new(&[
        ("name", Align::Left),
        ("extends", Align::Left),
        ("sha256", Align::Left),
        ("description", Align::Left),
    ]);
    for policy in &policies {
        let parents = policy
            .lineage
            .iter()
            .rev()
            .skip(1)
            .cloned()
            .collect::<Vec<_>>()
            .join(" < ");
        let digest = policy.policy_sha256.chars().take(12).collect();
        table.row([
            policy.name.clone(),
            parents,
            digest,
            policy.description.clone(),
        ]);
    }
    terminal.text(&table.render(terminal.width))?;
    for policy in policies
        .iter()
        .filter(|policy| !policy.unenforceable.is_empty())
    {
        terminal.talk(&format!(
            "{} cannot be used here: this build does not enforce {}",
            policy.name,
            policy.unenforceable.join(", ")
        ));
    }
    Ok(0)
}

async fn show(context: &Context, name: &str, resolved: bool) -> Result<u8, Failure> {
    let document = with_daemon(context, async |client| Ok(client.get_policy(name).await?)).await?;
    if context.terminal.json {
        context.terminal.json_line(&outcome::to_json(&document)?)?;
    } else if resolved {
        context.terminal.json_text(&document.canonical)?;
    } else {
        context.terminal.text(&document.document)?;
    }
    Ok(0)
}

async fn explain(context: &Context, policy: &str) -> Result<u8, Failure> {
    let policy = policy_ref(policy)?;
    let reply = with_daemon(context, async |client| {
        Ok(client.explain_policy(policy).await?)
    })
    .await?;
    if context.terminal.json {
        context.terminal.json_line(&outcome::to_json(&reply)?)?;
    } else {
        context.terminal.line(reply.text.trim_end())?;
    }
    Ok(0)
}

async fn diff(context: &Context, before: &str, after: &str) -> Result<u8, Failure> {
    let (before, after) = (policy_ref(before)?, policy_ref(after)?);
    let reply = with_daemon(context, async |client| {
        Ok(client.diff_policies(before, after).await?)
    })
    .await?;
    let terminal = &context.terminal;
    if terminal.json {
        terminal.json_line(&outcome::to_json(&reply)?)?;
    } else if reply.changes.is_empty() {
        terminal.talk("both mean the same");
    } else {
        for change in &reply.changes {
            terminal.line(&format!(
                "{}{}\n  {}\n  {}",
                terminal.paint(Color::Bold, &change.field),
                direction(change),
                terminal.paint(Color::Red, &format!("- {}", change.before)),
                terminal.paint(Color::Green, &format!("+ {}", change.after))
            ))?;
        }
    }
    Ok(0)
}

/// Which way a change goes, where it has a direction.
fn direction(change: &pb::PolicyChange) -> &'static str {
    match change.direction() {
        pb::ChangeDirection::Narrower => " (narrower)",
        pb::ChangeDirection::Wider => " (WIDER)",
        pb::ChangeDirection::Other | pb::ChangeDirection::Unspecified => "",
    }
}

/// What looks like a file is one; everything else is a name.
fn policy_ref(written: &str) -> Result<pb::PolicyRef, Failure> {
    let looks_like_file = written.contains('/') || written.ends_with(".toml");
    let policy = if looks_like_file {
        let path = Path::new(written);
        let document = std::fs::read_to_string(path).map_err(|source| Failure::Read {
            path: path.to_owned(),
            source,
        })?;
        pb::policy_ref::Policy::Document(document)
    } else {
        pb::policy_ref::Policy::Name(written.to_owned())
    };
    Ok(pb::PolicyRef {
        policy: Some(policy),
    })
}
