//! Where each field of a TOML text stands.
//!
//! It knows TOML but not policies: paths are whatever the text says, list entries with an index
//! (`network.allow[0].host`). Used for positions in errors and lint findings.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A place in a text, both numbers from 1, the column in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Position {
    /// Line, from 1.
    pub(crate) line: u64,
    /// Column in characters, from 1.
    pub(crate) column: u64,
}

/// The place of byte `offset` in `text`; an offset beyond the end is the end.
pub(crate) fn position(text: &str, offset: usize) -> Position {
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let lines = before.bytes().filter(|byte| *byte == b'\n').count();
    let columns = before
        .get(line_start..)
        .map_or(0, |line| line.chars().count());
    Position {
        line: to_number(lines),
        column: to_number(columns),
    }
}

fn to_number(zero_based: usize) -> u64 {
    u64::try_from(zero_based)
        .unwrap_or(u64::MAX)
        .saturating_add(1)
}

/// One field of a text: its path, where its name stands, and where its value stands.
#[derive(Debug)]
struct Place {
    path: String,
    start: usize,
    spans: Vec<Range<usize>>,
}

/// All fields of a text.
#[derive(Debug)]
pub(crate) struct Places {
    places: Vec<Place>,
}

impl Places {
    /// The fields of `text`, as far as it can be read; broken parts are left out.
    pub(crate) fn of(text: &str) -> Self {
        let (table, _errors) = DeTable::parse_recoverable(text);
        let mut places = Vec::new();
        collect_table(table.get_ref(), "", &mut places);
        Self { places }
    }

    /// The innermost field at byte `offset`, empty when there is none.
    pub(crate) fn path_at(&self, offset: usize) -> &str {
        self.places
            .iter()
            .filter_map(|place| {
                let width = place
                    .spans
                    .iter()
                    .filter(|span| span.start <= offset && offset < span.end.max(span.start + 1))
                    .map(ExactSizeIterator::len)
                    .min()?;
                Some((width, place))
            })
            .min_by_key(|(width, place)| (*width, std::cmp::Reverse(place.path.len())))
            .map_or("", |(_, place)| place.path.as_str())
    }

    /// Byte offset of the field, or of the nearest table around it that is written.
    pub(crate) fn offset_of(&self, path: &str) -> Option<usize> {
        let mut wanted = path;
        loop {
            if let Some(place) = self.places.iter().find(|place| place.path == wanted) {
                return Some(place.start);
            }
            let cut = wanted.rfind(['.', '['])?;
            wanted = wanted.get(..cut)?;
        }
    }

    /// Whether the text writes this very field.
    pub(crate) fn is_written(&self, path: &str) -> bool {
        self.places.iter().any(|place| place.path == path)
    }
}

fn collect_table(table: &DeTable<'_>, prefix: &str, places: &mut Vec<Place>) {
    for (key, value) in table.iter() {
        let name = key.get_ref();
        let path = if prefix.is_empty() {
            name.to_string()
        } else {
            format!("{prefix}.{name}")
        };
        let mut spans = vec![key.span()];
        if !value.get_ref().is_table() {
            // The span of a `[table]` covers its header only and would shadow its fields.
            spans.push(value.span());
        }
        places.push(Place {
            path: path.clone(),
            start: key.span().start,
            spans,
        });
        collect_value(value, &path, places);
    }
}

fn collect_value(value: &Spanned<DeValue<'_>>, path: &str, places: &mut Vec<Place>) {
    if let Some(table) = value.get_ref().as_table() {
        collect_table(table, path, places);
    }
    let Some(items) = value.get_ref().as_array() else {
        return;
    };
    for (index, item) in items.iter().enumerate() {
        let item_path = format!("{path}[{index}]");
        places.push(Place {
            path: item_path.clone(),
            start: item.span().start,
            spans: vec![item.span()],
        });
        collect_value(item, &item_path, places);
    }
}
