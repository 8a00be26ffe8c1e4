//! `rollcage doctor`: what this host can enforce, why it matters, and how to get what is missing.
//! The daemon looks; this only shows.

mod self_test;

use clap::Args;
use serde_json::json;

use super::connection::with_daemon;
use super::failure::{Failure, NEGATIVE};
use super::table::{Align, Table, cut, one_line};
use super::terminal::Color;
use super::{Context, outcome};
use crate::pb;

/// Options of `doctor`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  rollcage doctor
  rollcage doctor --json | jq '.features[] | select(.available | not)'
  rollcage doctor --require root        exit code 1 if this host only gives a lower grade
  rollcage doctor --self-test           exit code 1 if a probe got through anywhere
  rollcage doctor --self-test --require root    or if the grade is lower
  rollcage doctor --self-test --policy python --fresh")]
pub(crate) struct DoctorArgs {
    /// Exit with code 1 if the grade of confinement is lower than this.
    #[arg(long, value_name = "GRADE", value_enum)]
    require: Option<Grade>,
    /// Show what a battery of attempts to get out of a sandbox came to here, under every policy.
    #[arg(long)]
    self_test: bool,
    /// Only this policy; repeatable.
    #[arg(long, value_name = "NAME", requires = "self_test")]
    policy: Vec<String>,
    /// Try again now, whatever was found before; takes the role admin.
    #[arg(long, requires = "self_test")]
    fresh: bool,
}

/// Grades of confinement, highest last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
enum Grade {
    /// No namespaces: Landlock, a system call filter and soft limits.
    Landlock,
    /// Namespaces of an unprivileged user.
    Rootless,
    /// Everything.
    Root,
}

impl Grade {
    fn of(mode: &str) -> Option<Self> {
        match mode {
            "root" => Some(Self::Root),
            "rootless" => Some(Self::Rootless),
            "landlock" => Some(Self::Landlock),
            _ => None,
        }
    }

    fn meaning(self) -> &'static str {
        match self {
            Self::Root => {
                "root: all namespaces, an own user range for each sandbox, hard limits by control \
                 groups"
            }
            Self::Rootless => {
                "rootless: namespaces of your own user; limits are hard only where your session \
                 may manage control groups"
            }
            Self::Landlock => {
                "landlock: the lowest grade, without namespaces; files, system calls and resources \
                 are limited, but the program sees the host's processes"
            }
        }
    }
}

/// Does it.
pub(crate) async fn doctor(context: &Context, args: &DoctorArgs) -> Result<u8, Failure> {
    if args.self_test {
        return self_test::self_test(context, args).await;
    }
    let (capabilities, policies) = with_daemon(context, async |client| {
        Ok((client.capabilities().await?, client.list_policies().await?))
    })
    .await?;
    if context.terminal.json {
        let mut document = outcome::to_json(&capabilities)?;
        let policies: Vec<_> = policies
            .iter()
            .map(|policy| {
                json!({
                    "name": policy.name,
                    "usable": is_usable(policy),
                    "unenforceable": policy.unenforceable,
                    "self_test_trouble": policy.self_test_trouble,
                })
            })
            .collect();
        document["policies"] = json!(policies);
        context.terminal.json_line(&document)?;
    } else {
        show(context, &capabilities, &policies)?;
    }
    let enough = is_enough(context, args.require, &capabilities.mode);
    Ok(if enough { 0 } else { NEGATIVE })
}

/// Whether the grade here is the one that is asked for, or a higher one; tells if it is not.
fn is_enough(context: &Context, required: Option<Grade>, mode: &str) -> bool {
    let enough = reaches(required, mode);
    if !enough {
        context.terminal.talk(&format!(
            "the grade of confinement here is {mode}, which is lower than required"
        ));
    }
    enough
}

fn reaches(required: Option<Grade>, mode: &str) -> bool {
    required.is_none_or(|wanted| Grade::of(mode).is_some_and(|grade| grade >= wanted))
}

fn show(
    context: &Context,
    capabilities: &pb::CapabilitiesReply,
    policies: &[pb::PolicySummary],
) -> Result<(), Failure> {
    let terminal = &context.terminal;
    let meaning = Grade::of(&capabilities.mode).map_or_else(
        || capabilities.mode.clone(),
        |grade| grade.meaning().to_owned(),
    );
    terminal.line(&format!(
        "{} {meaning}",
        terminal.paint(Color::Bold, "confinement")
    ))?;
    terminal.line(&format!(
        "kernel {}, rollcage {}, images: {}",
        capabilities.kernel,
        capabilities.version,
        capabilities.images.join(", ")
    ))?;
    terminal.line("")?;
    terminal.text(&feature_table(&capabilities.features).render(terminal.width))?;
    let missing: Vec<_> = capabilities
        .features
        .iter()
        .filter(|feature| !feature.available)
        .collect();
    if !missing.is_empty() {
        terminal.line("")?;
        terminal.line(&terminal.paint(Color::Yellow, "missing, and how to get it"))?;
        for feature in missing {
            let fix = if feature.fix.is_empty() {
                "no way on this host"
            } else {
                &feature.fix
            };
            terminal.line(&format!("  {}: {}", feature.name, one_line(fix)))?;
        }
    }
    terminal.line("")?;
    if let Some(test) = &capabilities.self_test {
        terminal.line(&format!("self-test: {}", self_test::summary(test)))?;
    }
    for policy in policies {
        let state = if is_usable(policy) {
            terminal.paint(Color::Green, "usable")
        } else if policy.unenforceable.is_empty() {
            let trouble = one_line(&policy.self_test_trouble);
            terminal.paint(Color::Red, &format!("refused: {trouble}"))
        } else {
            let fields = policy.unenforceable.join(", ");
            terminal.paint(Color::Red, &format!("refused, because of {fields}"))
        };
        terminal.line(&format!("policy {}: {state}", policy.name))?;
    }
    Ok(())
}

/// Whether runs under it are not refused for what this host or build lacks.
fn is_usable(policy: &pb::PolicySummary) -> bool {
    policy.unenforceable.is_empty() && policy.self_test() != pb::SelfTestState::Wrong
}

/// Characters of a found value in the table; `--json` has all of them.
const VALUE_CHARS_MAX: usize = 32;

fn feature_table(features: &[pb::HostFeature]) -> Table {
    let mut table = Table::new(&[
        ("feature", Align::Left),
        ("here", Align::Left),
        ("value", Align::Left),
        ("why it matters", Align::Left),
    ]);
    for feature in features {
        let here = if feature.available { "yes" } else { "NO" };
        table.row([
            feature.name.clone(),
            here.to_owned(),
            cut(&feature.value, VALUE_CHARS_MAX),
            feature.why.clone(),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grades_are_ordered() {
        assert!(Grade::Root > Grade::Rootless && Grade::Rootless > Grade::Landlock);
        for grade in [Grade::Root, Grade::Rootless, Grade::Landlock] {
            let name = grade.meaning().split(':').next().unwrap();
            assert_eq!(Grade::of(name), Some(grade));
        }
        assert_eq!(Grade::of("other"), None);
    }

    #[test]
    fn a_grade_is_reached_by_itself_and_by_higher_ones() {
        assert!(reaches(None, "landlock"));
        assert!(reaches(Some(Grade::Rootless), "root"));
        assert!(reaches(Some(Grade::Root), "root"));
        assert!(!reaches(Some(Grade::Root), "rootless"));
        assert!(!reaches(Some(Grade::Landlock), "another"));
    }

    #[test]
    fn a_missing_feature_is_told_without_colour() {
        let feature = pb::HostFeature {
            name: "landlock".into(),
            ..pb::HostFeature::default()
        };
        assert!(
            feature_table(&[feature])
                .render(None)
                .contains("landlock  NO")
        );
    }
}
