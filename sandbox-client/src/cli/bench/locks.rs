//! `rollcage bench locks`: the probe battery, tried within other programs' confinement too. The daemon
//! tries and judges ours; of the others' answers is told whether they are those that we hold for
//! right, or those of a process that nothing confines.

use std::collections::BTreeMap;

use clap::Args;
use serde_json::{Value, json};

use super::peers::Peer;
use super::{Context, Failure, with_daemon};
use crate::cli::table::{Align, Table, one_line};
use crate::embedded::find_sandboxd;
use crate::pb;

/// Options of `bench locks`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  rollcage bench locks
  rollcage bench locks --json

Each row of the battery is tried under a policy of ours, unconfined, and under every peer that is
installed, with the options that are printed. `closed`: the answer that we hold for right. `other`:
another answer than an unconfined process gets, such as a different error. `open`: the answer of an
unconfined process. Rows that an unconfined process answers as we do on this host are left out:
they would tell nothing. Needs root, which the peers are started as.")]
pub(crate) struct LocksArgs {
    /// The policy that ours are tried under.
    #[arg(long, value_name = "NAME", default_value = "python")]
    policy: String,
}

/// What an answer says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Closed,
    Other,
    Open,
    Untold,
}

impl Mark {
    fn word(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Other => "other",
            Self::Open => "open",
            Self::Untold => "untold",
        }
    }
}

/// A row that tells something here.
struct Line<'a> {
    row: &'a pb::SelfTestRow,
    bare: &'a str,
}

type Answers = BTreeMap<String, String>;

/// Does it.
pub(super) async fn locks(context: &Context, args: LocksArgs) -> Result<u8, Failure> {
    let ours = ours(context, &args.policy).await?;
    // The programs of a release lie in one folder.
    let daemon = find_sandboxd().map_err(|error| Failure::Measure {
        what: format!("find the programs: {error}"),
    })?;
    let probe = daemon.with_file_name("sandbox-probe");
    let mut told: Vec<(Peer, Answers)> = Vec::new();
    let bare = answers(&Peer::Bare.probe(&probe)?)?;
    for peer in Peer::find() {
        match peer.probe(&probe).and_then(|output| answers(&output)) {
            Ok(found) => told.push((peer, found)),
            Err(failure) => context
                .terminal
                .talk(&format!("{} is left out: {failure}", peer.name())),
        }
    }
    let lines = lines(&ours.rows, &bare);
    if context.terminal.json {
        context.terminal.json_line(&to_json(&lines, &told))?;
    } else {
        show(context, &lines, &told)?;
    }
    Ok(0)
}

async fn ours(context: &Context, policy: &str) -> Result<pb::PolicySelfTest, Failure> {
    let request = pb::SelfTestRequest {
        fresh: true,
        policies: vec![policy.to_owned()],
    };
    let reply = with_daemon(context, async |client| {
        Ok(client.self_test(request).await?)
    })
    .await?;
    let named = reply
        .policies
        .into_iter()
        .find(|test| test.policy == policy);
    named
        .filter(|test| !test.rows.is_empty())
        .ok_or_else(|| Failure::Measure {
            what: format!("try the battery under policy {policy}"),
        })
}

fn answers(output: &[u8]) -> Result<Answers, Failure> {
    let findings = probe::parse(output).map_err(|error| Failure::Measure {
        what: format!("read what the probe found: {error}"),
    })?;
    let pairs = findings
        .into_iter()
        .map(|finding| (finding.name, finding.result));
    Ok(pairs.collect())
}

/// Rows that are asked, tried outside and answered otherwise there.
fn lines<'a>(rows: &'a [pb::SelfTestRow], bare: &'a Answers) -> Vec<Line<'a>> {
    let line = |row: &'a pb::SelfTestRow| {
        let bare = bare.get(&row.name)?;
        (row.right.is_some() && !is_right(row, bare)).then_some(Line { row, bare })
    };
    rows.iter().filter_map(line).collect()
}

/// As the daemon writes its expectations: words, or a number that is not to be passed.
fn is_right(row: &pb::SelfTestRow, found: &str) -> bool {
    match row.expected.strip_prefix("at most ") {
        Some(most) => match (found.parse::<u64>(), most.parse::<u64>()) {
            (Ok(found), Ok(most)) => found <= most,
            _ => false,
        },
        None => row.expected.split(" | ").any(|word| word == found),
    }
}

fn mark(line: &Line<'_>, found: Option<&String>) -> Mark {
    match found {
        None => Mark::Untold,
        Some(found) if is_right(line.row, found) => Mark::Closed,
        Some(found) if found == line.bare || found == "ok" => Mark::Open,
        Some(_) => Mark::Other,
    }
}

fn our_mark(line: &Line<'_>) -> Mark {
    mark(line, Some(&line.row.found))
}

fn show(context: &Context, lines: &[Line<'_>], told: &[(Peer, Answers)]) -> Result<(), Failure> {
    let terminal = &context.terminal;
    let mut columns = vec![
        ("row", Align::Left),
        ("class", Align::Left),
        ("rollcage", Align::Left),
    ];
    columns.extend(told.iter().map(|(peer, _)| (peer.name(), Align::Left)));
    let mut table = Table::new(&columns);
    for line in lines {
        let mut cells = vec![
            line.row.name.clone(),
            line.row.class.clone(),
            our_mark(line).word().to_owned(),
        ];
        cells.extend(told.iter().map(|(_, found)| {
            let found = found.get(&line.row.name);
            match mark(line, found) {
                Mark::Other => one_line(found.map_or("", String::as_str)),
                other => other.word().to_owned(),
            }
        }));
        table.row(cells);
    }
    terminal.text(&table.render(None))?;
    terminal.line("")?;
    terminal.line(&format!("rollcage: {}", counted(lines, our_mark)))?;
    for (peer, found) in told {
        let of = |line: &Line<'_>| mark(line, found.get(&line.row.name));
        terminal.line(&format!("{}: {}", peer.name(), counted(lines, of)))?;
        terminal.line(&format!("    {}, {}", peer.version(), peer.how()))?;
    }
    Ok(())
}

const MARKS: [Mark; 4] = [Mark::Closed, Mark::Other, Mark::Open, Mark::Untold];

fn count(lines: &[Line<'_>], wanted: Mark, of: impl Fn(&Line<'_>) -> Mark) -> usize {
    lines.iter().filter(|line| of(line) == wanted).count()
}

fn counted(lines: &[Line<'_>], of: impl Fn(&Line<'_>) -> Mark) -> String {
    let counts = MARKS.map(|wanted| (count(lines, wanted, &of), wanted.word()));
    let words: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    format!("{} of {} rows", words.join(", "), lines.len())
}

fn to_json(lines: &[Line<'_>], told: &[(Peer, Answers)]) -> Value {
    let rows: Vec<Value> = lines
        .iter()
        .map(|line| {
            let mut by = serde_json::Map::new();
            let cell = |mark: Mark, found: &str| json!({"mark": mark.word(), "found": found});
            by.insert("rollcage".to_owned(), cell(our_mark(line), &line.row.found));
            for (peer, found) in told {
                let found = found.get(&line.row.name);
                let text = found.map_or("", String::as_str);
                by.insert(peer.name().to_owned(), cell(mark(line, found), text));
            }
            json!({
                "row": line.row.name,
                "class": line.row.class,
                "what": line.row.what,
                "expected": line.row.expected,
                "unconfined": line.bare,
                "by": by,
            })
        })
        .collect();
    let counts = |of: &dyn Fn(&Line<'_>) -> Mark| -> Value {
        let pairs = MARKS.map(|wanted| (wanted.word().to_owned(), json!(count(lines, wanted, of))));
        Value::Object(pairs.into_iter().collect())
    };
    let mut contenders = vec![json!({"name": "rollcage", "counts": counts(&our_mark)})];
    contenders.extend(told.iter().map(|(peer, found)| {
        json!({
            "name": peer.name(),
            "version": peer.version(),
            "how": peer.how(),
            "counts": counts(&|line| mark(line, found.get(&line.row.name))),
        })
    }));
    json!({"rows": rows, "contenders": contenders})
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(expected: &str, found: &str) -> pb::SelfTestRow {
        pb::SelfTestRow {
            name: "a".to_owned(),
            expected: expected.to_owned(),
            found: found.to_owned(),
            right: Some(true),
            ..pb::SelfTestRow::default()
        }
    }

    #[test]
    fn answers_are_closed_other_or_open() {
        let cases = [
            ("EPERM | EACCES", "ok", "EACCES", Mark::Closed),
            ("EPERM", "EINVAL", "EINVAL", Mark::Open),
            ("EPERM", "EINVAL", "ok", Mark::Open),
            ("EPERM", "EINVAL", "ENOSYS", Mark::Other),
            ("at most 64", "1024", "64", Mark::Closed),
            ("at most 64", "1024", "65", Mark::Other),
            ("at most 64", "1024", "1024", Mark::Open),
        ];
        for (expected, bare, found, wanted) in cases {
            let row = row(expected, "");
            let line = Line { row: &row, bare };
            let found = found.to_owned();
            assert_eq!(
                mark(&line, Some(&found)),
                wanted,
                "{expected} {bare} {found}"
            );
            assert_eq!(mark(&line, None), Mark::Untold);
        }
    }

    #[test]
    fn rows_that_tell_nothing_here_are_left_out() {
        let mut rows = vec![
            row("EPERM", "EPERM"),
            row("EPERM", "EPERM"),
            row("ok", "ok"),
        ];
        rows[1].name = "b".to_owned();
        rows[2].name = "c".to_owned();
        let bare: Answers = [("a", "ok"), ("b", "EPERM"), ("c", "ok")]
            .map(|(name, found)| (name.to_owned(), found.to_owned()))
            .into();
        let lines = lines(&rows, &bare);
        let names: Vec<&str> = lines.iter().map(|line| line.row.name.as_str()).collect();
        assert_eq!(names, ["a"]);
    }
}
