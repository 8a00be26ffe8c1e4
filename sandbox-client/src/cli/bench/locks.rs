//! `rollcage bench locks`: the probe battery, tried within other programs' confinement too. The daemon
//! tries and judges ours; of the others' answers is told whether they are those that we hold for
//! right, or those of a process that nothing confines.

use std::collections::BTreeMap;

use clap::Args;
use serde_json::{Value, json};

use super::peers::Peer;
use super::{Context, Failure, with_daemon};
use crate::cli::table::{Align, Table, cut};
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
unconfined process. `untold`: the attempt could not be made there. Rows that an unconfined process
answers as we do on this host, or cannot make, are left out: they would tell nothing. Needs root,
which the peers are started as.")]
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

/// What a peer answered, and how it was asked.
struct Told {
    name: &'static str,
    version: String,
    how: String,
    answers: Answers,
}

/// Characters of an answer in the table; `--json` has all of them.
const ANSWER_CHARS_MAX: usize = 24;
/// How the answer of a row begins whose attempt could not be made.
const NOT_MADE: &str = "not prepared";

/// Does it.
pub(super) async fn locks(context: &Context, args: LocksArgs) -> Result<u8, Failure> {
    refuse_unless(nix::unistd::geteuid().is_root())?;
    let ours = ours(context, &args.policy).await?;
    // The programs of a release lie in one folder.
    let daemon = find_sandboxd().map_err(|error| Failure::Measure {
        what: format!("find the programs: {error}"),
    })?;
    let probe = daemon.with_file_name("sandbox-probe");
    let mut told: Vec<Told> = Vec::new();
    let bare = answers(&Peer::Bare.probe(&probe)?)?;
    for peer in Peer::find() {
        match peer.probe(&probe).and_then(|output| answers(&output)) {
            Ok(answers) => told.push(Told {
                name: peer.name(),
                version: peer.version(),
                how: peer.how(&probe),
                answers,
            }),
            Err(failure) => context
                .terminal
                .talk(&format!("{} is left out: {failure}", peer.name())),
        }
    }
    let lines = lines(&ours.rows, &bare);
    if lines.is_empty() {
        return Err(Failure::Measure {
            what:
                "no row of the battery tells anything here: an unconfined process answers all of \
                   them as ours do, or can try none"
                    .to_owned(),
        });
    }
    if context.terminal.json {
        context.terminal.json_line(&to_json(&lines, &told))?;
    } else {
        show(context, &lines, &told)?;
    }
    Ok(0)
}

/// What an ordinary user cannot try tells nothing about confinement.
fn refuse_unless(is_root: bool) -> Result<(), Failure> {
    if is_root {
        return Ok(());
    }
    Err(Failure::Usage {
        message: "bench locks needs root: an ordinary user can neither make most of the attempts \
                  nor start the peers, so that everything would seem closed; run it as root"
            .to_owned(),
    })
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
        let tells = row.right.is_some() && !bare.starts_with(NOT_MADE) && !is_right(row, bare);
        tells.then_some(Line { row, bare })
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
        Some(found) if found.starts_with(NOT_MADE) => Mark::Untold,
        Some(found) if is_right(line.row, found) => Mark::Closed,
        Some(found) if found == line.bare || found == "ok" => Mark::Open,
        Some(_) => Mark::Other,
    }
}

fn our_mark(line: &Line<'_>) -> Mark {
    mark(line, Some(&line.row.found))
}

fn show(context: &Context, lines: &[Line<'_>], told: &[Told]) -> Result<(), Failure> {
    let terminal = &context.terminal;
    terminal.text(&row_table(lines, told).render(None))?;
    terminal.line("")?;
    terminal.line("open, by what is lost if the attempt works")?;
    terminal.text(&class_table(lines, told).render(None))?;
    terminal.line("")?;
    terminal.line(&format!("rollcage: {}", counted(lines, our_mark)))?;
    for peer in told {
        let of = |line: &Line<'_>| peer.mark(line);
        terminal.line(&format!("{}: {}", peer.name, counted(lines, of)))?;
        terminal.line(&format!("    {}, {}", peer.version, peer.how))?;
    }
    Ok(())
}

impl Told {
    fn found(&self, line: &Line<'_>) -> Option<&String> {
        self.answers.get(&line.row.name)
    }

    fn mark(&self, line: &Line<'_>) -> Mark {
        mark(line, self.found(line))
    }

    /// The mark, or the answer where no mark says it.
    fn cell(&self, line: &Line<'_>) -> String {
        match (self.mark(line), self.found(line)) {
            (Mark::Other, Some(found)) => cut(found, ANSWER_CHARS_MAX),
            (mark, _) => mark.word().to_owned(),
        }
    }
}

fn columns(first: &[(&'static str, Align)], told: &[Told], align: Align) -> Table {
    let mut columns = first.to_vec();
    columns.push(("rollcage", align));
    columns.extend(told.iter().map(|peer| (peer.name, align)));
    Table::new(&columns)
}

fn row_table(lines: &[Line<'_>], told: &[Told]) -> Table {
    let first = [("row", Align::Left), ("class", Align::Left)];
    let mut table = columns(&first, told, Align::Left);
    for line in lines {
        let row = line.row;
        let ours = our_mark(line).word().to_owned();
        let own = [row.name.clone(), row.class.clone(), ours];
        let theirs = told.iter().map(|peer| peer.cell(line));
        table.row(own.into_iter().chain(theirs));
    }
    table
}

/// How many rows of each class are open, in the battery's order of classes.
fn class_table(lines: &[Line<'_>], told: &[Told]) -> Table {
    let mut classes: Vec<&str> = Vec::new();
    for line in lines {
        if !classes.contains(&line.row.class.as_str()) {
            classes.push(&line.row.class);
        }
    }
    let first = [("class", Align::Left), ("rows", Align::Right)];
    let mut table = columns(&first, told, Align::Right);
    for class in classes {
        let of_class = || lines.iter().filter(|line| line.row.class == class);
        let open = |of: &dyn Fn(&Line<'_>) -> Mark| {
            let open = of_class().filter(|line| of(line) == Mark::Open);
            open.count().to_string()
        };
        let own = [
            class.to_owned(),
            of_class().count().to_string(),
            open(&our_mark),
        ];
        let theirs = told.iter().map(|peer| open(&|line| peer.mark(line)));
        table.row(own.into_iter().chain(theirs));
    }
    table
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

fn to_json(lines: &[Line<'_>], told: &[Told]) -> Value {
    let rows: Vec<Value> = lines
        .iter()
        .map(|line| {
            let mut by = serde_json::Map::new();
            let cell = |mark: Mark, found: &str| json!({"mark": mark.word(), "found": found});
            by.insert("rollcage".to_owned(), cell(our_mark(line), &line.row.found));
            for peer in told {
                let text = peer.found(line).map_or("", String::as_str);
                by.insert(peer.name.to_owned(), cell(peer.mark(line), text));
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
    contenders.extend(told.iter().map(|peer| {
        json!({
            "name": peer.name,
            "version": peer.version,
            "how": peer.how,
            "counts": counts(&|line| peer.mark(line)),
        })
    }));
    json!({"rows": rows, "contenders": contenders})
}

#[cfg(test)]
mod tests;
