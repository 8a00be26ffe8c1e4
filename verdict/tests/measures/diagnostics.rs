//! Diagnostics.

use std::fs;

use verdict::diagnostics::{DiagnosticFormat as F, parse};
use verdict::{Diagnostic, Severity};

use super::{bytes, entries, set};

/// Formats of the samples that are not plain lines.
const FORMATS: [(&str, F); 4] = [
    ("tsc", F::Tsc),
    ("cargo-check", F::RustcText),
    ("clippy", F::RustcText),
    ("govet", F::GoText),
];

/// Where we say something else than the sample's own normal form, and why.
const DIFFERENCES: [(&str, &str); 3] = [
    (
        "brakeman",
        "columns parted by blanks that also stand within them: it has SARIF",
    ),
    (
        "scalastyle",
        "a form of one tool, `error file=...`: it has Checkstyle XML and sbt's lines",
    ),
    (
        "golangci-lint",
        "its lines say no severity, the sample's normal form makes errors of them",
    ),
];

/// A line of a sample's normal form: `FILE|LINE col COLUMN SEVERITY CODE| MESSAGE`.
#[derive(Debug, PartialEq)]
struct Normal {
    file: String,
    line: Option<u64>,
    column: Option<u64>,
    severity: Option<Severity>,
    message: String,
}

fn normal(line: &str) -> Option<Normal> {
    let (file, rest) = line.split_once('|')?;
    let (middle, message) = rest.split_once("| ")?;
    let words: Vec<&str> = middle.split_whitespace().collect();
    let column = words.iter().position(|word| *word == "col");
    let severity = words.iter().find_map(|word| match *word {
        "error" | "E" => Some(Severity::Error),
        "warning" => Some(Severity::Warning),
        "note" | "info" => Some(Severity::Note),
        _ => None,
    });
    Some(Normal {
        file: file.to_owned(),
        line: words.first().and_then(|word| word.parse().ok()),
        column: column.and_then(|at| words.get(at + 1)?.parse().ok()),
        severity,
        message: message.to_owned(),
    })
}

fn same(normal: &Normal, ours: &Diagnostic) -> bool {
    let first = ours.message.lines().next().unwrap_or_default();
    normal.file == ours.file
        && normal.line == ours.line
        && normal.column == ours.column
        && normal
            .severity
            .is_none_or(|severity| severity == ours.severity)
        && normal.message.contains(first)
        && !first.is_empty()
}

#[test]
fn lines_of_thirty_four_tools_mean_what_their_samples_say() {
    let Some(folder) = set("diag_errorformat", 34) else {
        return;
    };
    let (mut agree, mut differ) = (0, Vec::new());
    for input in entries(&folder) {
        if input.extension().is_none_or(|extension| extension != "in") {
            continue;
        }
        let name = input
            .file_stem()
            .and_then(|name| name.to_str())
            .expect("a name");
        let format = FORMATS
            .iter()
            .find(|(of, _)| *of == name)
            .map_or(F::Lines, |(_, format)| *format);
        let ours = parse(format, &bytes(&input)).expect("lines are read");
        let truth = fs::read_to_string(input.with_extension("ok")).expect("its normal form");
        let truth: Vec<Normal> = truth.lines().filter_map(normal).collect();
        let equal = truth.len() == ours.len()
            && truth
                .iter()
                .zip(&ours)
                .all(|(normal, ours)| same(normal, ours));
        if equal {
            agree += 1;
        } else {
            let wrong = truth
                .iter()
                .zip(&ours)
                .find(|(normal, ours)| !same(normal, ours));
            println!("{name}: {} of {}, first {wrong:?}", ours.len(), truth.len());
            differ.push(name.to_owned());
        }
    }
    println!(
        "diag_errorformat: {agree} agree, {} differ: {differ:?}",
        differ.len()
    );
    differ.sort();
    let mut listed: Vec<_> = DIFFERENCES
        .iter()
        .map(|(name, _)| (*name).to_owned())
        .collect();
    listed.sort();
    assert_eq!(differ, listed);
}

/// How many results of each sample of SARIF count, by its own words; -1 where it is no report.
const SARIF_RESULTS: [(&str, i64); 21] = [
    ("1-Introduction/simple-example.sarif", 1),
    ("2-Basics/empty-log.sarif.json", 0),
    ("3-Beyond-basics/automation-details.sarif", 0),
    ("3-Beyond-basics/bad-eval-related-locations.sarif", 1),
    ("3-Beyond-basics/bad-eval.sarif", 1),
    ("3-Beyond-basics/link-to-location.sarif", 1),
    ("3-Beyond-basics/message-from-metadata.sarif", 1),
    ("3-Beyond-basics/standard-taxonomy.sarif", 1),
    ("CodeFlows.sarif", 1),
    ("ContextRegion.sarif", 1),
    ("DefaultRuleConfiguration.sarif", 2),
    ("EmbeddedBinaryContent.sarif", 1),
    ("EmbeddedTextContent.sarif", 2),
    // The tool says that it did not do its work: that is an error, not nothing.
    (
        "ExceptionalConditions/Catastrophic configuration error.sarif",
        1,
    ),
    ("ExceptionalConditions/No runs.sarif", -1),
    ("Notifications.sarif", 1),
    ("OriginalUriBaseIds.sarif", 3),
    ("RegionVariants.sarif", 18),
    ("ResultStacks.sarif", 1),
    ("RuleMetadata.sarif", 1),
    // Three by its own words. The fourth has one suppression under review and one rejected: the
    // sample calls it hidden, though it calls one under review alone visible. We show both.
    ("Suppressions.sarif", 4),
];

#[test]
fn sarif_samples_are_read_as_they_say_themselves() {
    let Some(folder) = set("diag_sarif", 21) else {
        return;
    };
    for (name, results) in SARIF_RESULTS {
        let read = parse(F::Sarif, &bytes(&folder.join(name)));
        let count = (read.as_ref()).map_or(-1, |read| i64::try_from(read.len()).expect("few"));
        assert_eq!(count, results, "{name}: {read:?}");
    }
    let first = |name: &str| {
        let read = parse(F::Sarif, &bytes(&folder.join(name)));
        read.expect("a report").remove(0)
    };
    let rule = first("RuleMetadata.sarif");
    assert_eq!(rule.message, "The URI '//C:/code/dev' is invalid.");
    let place = (rule.line, rule.column, rule.severity);
    assert_eq!(place, (Some(15), Some(8), Severity::Error));
    let by_rule = first("DefaultRuleConfiguration.sarif");
    assert_eq!(by_rule.severity, Severity::Error);
    let message = first("3-Beyond-basics/message-from-metadata.sarif").message;
    assert_eq!(message, "This is the message text. It might be very long.");
}

/// Samples of one tool, by the start of their names: the format, how many messages all of them
/// have, and one of these.
const OUTPUTS: [(&str, F, usize, &str); 13] = [
    (
        "cargo_json_",
        F::RustcJson,
        2,
        "src/lib.rs:14:1 unexpected closing delimiter: `}`",
    ),
    (
        "cargo_text_",
        F::RustcText,
        3,
        "src/lib.rs:80:1 unexpected closing delimiter: `}`",
    ),
    (
        "gcc_analyzer_C",
        F::GccText,
        8,
        "CWE401_Memory_Leak__int64_t_calloc_01.c:36:1 leak of ‘data’ [CWE-401]",
    ),
    (
        "gcc_analyzer_json_",
        F::GccJson,
        4,
        "CWE401_Memory_Leak__int64_t_calloc_01.c:36:1 leak of ‘data’ [CWE-401]",
    ),
    (
        "gcc_json_",
        F::GccJson,
        98,
        "all_your_base_test.cpp:15:54 ‘convert’ is not a member of ‘all_your_base’",
    ),
    (
        "gcc_text_",
        F::GccText,
        27,
        "all_your_base_test.cpp:15:54 ‘convert’ is not a member of ‘all_your_base’",
    ),
    (
        "go_",
        F::GoText,
        1,
        "m.go:45:10 string literal not terminated",
    ),
    (
        "gotest_syntaxerr_",
        F::GoText,
        7,
        "./clock.go:12:9 syntax error: unexpected c at end of statement",
    ),
    ("javac_", F::Javac, 4, "Problem.java:30:19 not a statement"),
    ("lua_", F::Lua, 1, "m.lua:22:0 syntax error near <eof>"),
    ("pl_", F::Perl, 2, "m.pl:15:0 syntax error, at EOF"),
    (
        "rb_",
        F::Ruby,
        1,
        "m.rb:14:0 syntax error, unexpected end-of-input, expecting `end'",
    ),
    ("tsc_", F::Tsc, 10, "m.ts:18:17 ')' expected."),
];

#[test]
fn compilers_of_each_language_point_to_their_lines() {
    let Some(folder) = set("tool_outputs_local", 33) else {
        return;
    };
    for (start, format, count, one) in OUTPUTS {
        let mut all = Vec::new();
        for sample in entries(&folder) {
            let name = sample.file_name().and_then(|name| name.to_str());
            if !name.is_some_and(|name| name.starts_with(start)) {
                continue;
            }
            for file in ["stdout.txt", "stderr.txt"].map(|file| sample.join(file)) {
                if file.is_file() {
                    all.extend(parse(format, &bytes(&file)).expect("a report"));
                }
            }
        }
        let told: Vec<_> = (all.iter())
            .map(|said| {
                let (line, column) = (said.line.unwrap_or(0), said.column.unwrap_or(0));
                format!("{}:{line}:{column} {}", said.file, said.message)
            })
            .collect();
        assert_eq!(told.len(), count, "{start}: {told:#?}");
        assert!(told.iter().any(|told| told == one), "{start}: {told:#?}");
    }
}
