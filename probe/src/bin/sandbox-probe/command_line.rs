//! What is to be tried: the whole battery, one row, or the controls outside.

use std::ffi::{OsStr, OsString};
use std::io::Write;

use probe::{BATTERY, Outside, Row, row_named};

use crate::acts::{self, Origin};
use crate::calls;
use crate::run::{self, Place};

const HELP: &str = "\
usage: sandbox-probe            try every row, where we are
       sandbox-probe row NAME   try one row
       sandbox-probe outside    as root, unconfined: the controls, in namespaces of their own
       sandbox-probe list       name the rows
       sandbox-probe syscalls [--filter FILE]
                                make every system call by number, with arguments of zero, under
                                a filter (raw instructions) if one is given

Each row is a line of JSON: {\"name\": ..., \"result\": ...}, the result being `ok`, the name of
an errno, `signal N`, or a word of the row's own. It says nothing about what is right.
";

/// Runs, and gives the exit code: 0 when all was told, whatever it was; 2 for a wrong command line.
pub(crate) fn run(arguments: &[OsString]) -> i32 {
    let origin = Origin::look();
    let words: Vec<&str> = arguments
        .iter()
        .skip(1)
        .map(|word| word.to_str().unwrap_or("?"))
        .collect();
    match words.as_slice() {
        [] => all(&origin, Place::Here, |row| !row.alone),
        ["outside"] => all(&origin, Place::Aside, |row| {
            row.outside != Outside::NotTried && !row.alone
        }),
        ["row", name] => match row_named(name) {
            Some(row) => all(&origin, Place::Here, |other| other.name == row.name),
            None => wrong(&format!("no row is called {name:?}; `list` names them")),
        },
        ["list"] => list(),
        ["syscalls"] => table(None),
        ["syscalls", "--filter", _] => table(arguments.last().map(OsString::as_os_str)),
        ["--help" | "-h" | "help"] => say(&mut std::io::stdout(), HELP, 0),
        _ => wrong("unknown words"),
    }
}

fn all(origin: &Origin, place: Place, wanted: impl Fn(&Row) -> bool) -> i32 {
    for row in BATTERY.iter().filter(|row| wanted(row)) {
        let Some(act) = acts::named(row.name) else {
            return wrong(&format!("row {} has no act in this build", row.name));
        };
        let told = run::finding(row.name, act, origin, place)
            .map_err(std::io::Error::from)
            .and_then(|finding| run::tell(&finding));
        if let Err(error) = told {
            return say(
                &mut std::io::stderr(),
                &format!("row {}: {error}\n", row.name),
                3,
            );
        }
    }
    0
}

fn table(filter: Option<&OsStr>) -> i32 {
    match calls::all(filter) {
        Ok(()) => 0,
        Err(error) => say(&mut std::io::stderr(), &format!("syscalls: {error}\n"), 3),
    }
}

fn list() -> i32 {
    let lines: String = BATTERY
        .iter()
        .map(|row| format!("{}\t{}\t{}\n", row.name, row.class, row.what))
        .collect();
    say(&mut std::io::stdout(), &lines, 0)
}

fn wrong(what: &str) -> i32 {
    say(&mut std::io::stderr(), &format!("{what}\n\n{HELP}"), 2)
}

fn say(to: &mut impl Write, text: &str, code: i32) -> i32 {
    match to.write_all(text.as_bytes()).and_then(|()| to.flush()) {
        Ok(()) => code,
        Err(_nobody_reads) => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::run;

    #[test]
    fn unknown_words_and_rows_are_refused() {
        let words = |text: &str| -> Vec<_> { text.split(' ').map(Into::into).collect() };
        for text in [
            "probe inside",
            "probe row",
            "probe row nothing_such",
            "probe outside x",
        ] {
            assert_eq!(run(&words(text)), 2, "{text}");
        }
    }
}
