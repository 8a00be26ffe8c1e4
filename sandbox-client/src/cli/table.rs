//! Aligned columns for people. Knows no meaning of a cell and writes nowhere.

use super::visible::is_acted_on;

/// Which side of its column a cell stands on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    /// Text.
    Left,
    /// Numbers.
    Right,
}

/// A table that is laid out when it is complete.
#[derive(Debug)]
pub(crate) struct Table {
    columns: Vec<(&'static str, Align)>,
    rows: Vec<Vec<String>>,
}

/// Spaces between two columns.
const GAP: usize = 2;

impl Table {
    /// A table with these headings.
    pub(crate) fn new(columns: &[(&'static str, Align)]) -> Self {
        Self {
            columns: columns.to_vec(),
            rows: Vec::new(),
        }
    }

    /// Adds a row; cells beyond the columns are dropped, missing ones are empty.
    pub(crate) fn row<I: IntoIterator<Item = String>>(&mut self, cells: I) {
        let mut cells: Vec<String> = cells
            .into_iter()
            .take(self.columns.len())
            .map(|cell| one_line(&cell))
            .collect();
        cells.resize(self.columns.len(), String::new());
        self.rows.push(cells);
    }

    /// The text, one line a row. With `width_max` the last column is cut to fit, with `…`.
    pub(crate) fn render(&self, width_max: Option<usize>) -> String {
        let mut widths: Vec<usize> = self.columns.iter().map(|(name, _)| width(name)).collect();
        for row in &self.rows {
            for (column, cell) in widths.iter_mut().zip(row) {
                *column = (*column).max(width(cell));
            }
        }
        let mut text = String::new();
        let headings: Vec<String> = self
            .columns
            .iter()
            .map(|(name, _)| (*name).to_owned())
            .collect();
        for row in std::iter::once(&headings).chain(&self.rows) {
            text.push_str(&self.line(row, &widths, width_max));
            text.push('\n');
        }
        text
    }

    fn line(&self, row: &[String], widths: &[usize], width_max: Option<usize>) -> String {
        let mut line = String::new();
        let mut used = 0;
        let last = row.len().saturating_sub(1);
        for (index, ((cell, column), (_, align))) in
            row.iter().zip(widths).zip(&self.columns).enumerate()
        {
            if index > 0 {
                line.push_str(&" ".repeat(GAP));
                used += GAP;
            }
            let pad = " ".repeat(column.saturating_sub(width(cell)));
            match (align, width_max) {
                (Align::Right, _) => line.extend([pad.as_str(), cell]),
                (Align::Left, Some(max)) if index == last => {
                    line.push_str(&cut(cell, max.saturating_sub(used).max(8)));
                }
                (Align::Left, _) => line.extend([cell.as_str(), &pad]),
            }
            used += column;
        }
        line.truncate(line.trim_end().len());
        line
    }
}

fn width(text: &str) -> usize {
    text.chars().count()
}

/// The text without line breaks and whatever else a terminal acts on: a program may have chosen it.
pub(crate) fn one_line(text: &str) -> String {
    text.chars()
        .map(|c| if is_acted_on(c) { ' ' } else { c })
        .collect()
}

/// The text in at most `width_max` characters, with `…` where it was cut.
pub(crate) fn cut(text: &str, width_max: usize) -> String {
    if width(text) <= width_max {
        return text.to_owned();
    }
    text.chars()
        .take(width_max.saturating_sub(1))
        .chain(['…'])
        .collect()
}

#[cfg(test)]
mod tests;
