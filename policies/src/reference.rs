//! The reference page of policy documents, made from the field tables.
//!
//! `docs/policy-reference.md` is its output; a test keeps the page fresh.

#[cfg(test)]
mod tests;

use crate::enforce::{CONTROLS, Control};
use crate::fields::{FIELDS, Field, Kind, Narrowing};
use crate::limits::MINIMUMS;

const HEAD: &str = "# Policy documents

<!-- Made from the field tables of the crate `policies`; write nothing here by hand. -->

A policy is a TOML document.
Every field may be left out.
In a document that extends another, a field that is left out has the value of the extended policy.
In a document that extends nothing, it has the value of the column \"left out\".
A field that is written may only narrow the extended policy.
Sizes are whole numbers of bytes, or text such as `\"512 MiB\"` (`KiB`, `MiB`, `GiB`, `TiB` or `K`, `M`, `G`, `T`: powers of 1024; `KB`, `MB`, `GB`, `TB`: powers of 1000).
Unknown fields are errors.
A field that this build does not enforce refuses every run of a policy that asks for it.
";

/// The page in Markdown.
pub fn reference_page() -> String {
    let mut page = HEAD.to_owned();
    let mut table = None;
    for field in FIELDS {
        let this = field.path.split_once('.').map_or("", |(table, _)| table);
        if table != Some(this) {
            table = Some(this);
            page.push_str(&heading(this));
        }
        page.push_str(&row(field));
    }
    page.push_str(&minimums());
    page
}

fn heading(table: &str) -> String {
    let title = match table {
        "" => "Top of the document".to_owned(),
        "grant" => "`[[grant]]`".to_owned(),
        table => format!("`[{table}]`"),
    };
    format!(
        "\n## {title}\n\n| field | value | left out | a child may | this build | meaning |\n|---|---|---|---|---|---|\n"
    )
}

fn row(field: &Field) -> String {
    let name = field
        .path
        .split_once('.')
        .map_or(field.path, |(_, name)| name);
    format!(
        "| `{name}` | {} | {} | {} | {} | {} |\n",
        kind(field.kind),
        unset(field.unset),
        narrowing(field.narrowing),
        control(field.path),
        field.doc
    )
}

fn kind(kind: Kind) -> String {
    match kind {
        Kind::Text => "text".to_owned(),
        Kind::Integer => "whole number".to_owned(),
        Kind::Size => "size".to_owned(),
        Kind::Flag => "`true`, `false`".to_owned(),
        Kind::Choice(words) => {
            let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
            words.join(", ")
        }
        Kind::Texts => "list of text".to_owned(),
        Kind::Integers => "list of whole numbers".to_owned(),
    }
}

fn unset(unset: &str) -> String {
    match unset {
        "error" | "empty" | "nothing is extended" => unset.to_owned(),
        value => format!("`{value}`"),
    }
}

fn narrowing(narrowing: Narrowing) -> &'static str {
    match narrowing {
        Narrowing::Own => "have its own",
        Narrowing::WithinLimit => "set it within its limit",
        Narrowing::AtMost => "lower it",
        Narrowing::RateAtMost => "set a rate, or lower it",
        Narrowing::Below => "keep entries, or name paths below them",
        Narrowing::Subset => "take entries out",
        Narrowing::Superset => "add entries",
        Narrowing::Stricter => "choose a word further left",
        Narrowing::OnlyOn => "turn it on",
        Narrowing::OnlyOff => "turn it off",
        Narrowing::WithEntry => "narrow the entry",
    }
}

fn control(path: &str) -> String {
    let of = |path: &str| {
        CONTROLS
            .iter()
            .find(|row| row.field == path)
            .map(|row| row.control)
    };
    match of(path) {
        Some(Control::Enforced(by)) => format!("enforced: {by}"),
        Some(Control::Partly { by, why, .. }) => format!("enforced: {by}; refused: {why}"),
        Some(Control::Missing { why, .. }) => format!("refused: {why}"),
        Some(Control::PartOf(whole)) => format!("as `{whole}`"),
        None => "unknown".to_owned(),
    }
}

fn minimums() -> String {
    let mut text = "\n## Least values of a request\n\n\
        A request may ask for these values or more, up to the limit of its policy; nothing is clamped.\n\
        \n| field of `limits` | least |\n|---|---|\n"
        .to_owned();
    macro_rules! rows {
        ($($name:ident),*) => {
            [$((stringify!($name), MINIMUMS.$name)),*]
        };
    }
    let rows = rows!(
        wall_ms_max,
        cpu_ms_max,
        cpu_millicores_max,
        memory_bytes_max,
        pids_max,
        disk_bytes_max,
        files_max,
        output_bytes_max,
        output_bytes_total_max,
        open_files_max
    );
    for (name, least) in rows {
        text.push_str(&format!("| `{name}` | {least} |\n"));
    }
    text
}
