//! XML of Cobertura and JaCoCo.

use crate::reading::ReadError;
use crate::xml::{Element, Piece, Puller};

use super::CoverageReport;
use super::lines::Lines;

/// Reads Cobertura's XML. Lines stand under their method and under their class: they count once.
pub(super) fn cobertura(text: &str) -> Result<CoverageReport, ReadError> {
    let format = "cobertura";
    let wrong = |reason: &str| ReadError::malformed(format, reason);
    let mut lines = Lines::default();
    let mut file = None;
    each_element(format, "coverage", text, |element| {
        match element.name() {
            "class" => {
                let name = element.attribute("filename");
                let name = name.ok_or_else(|| wrong("a class without a filename"))?;
                lines.file(&name)?;
                file = Some(name);
            }
            "line" => {
                let number =
                    number(element, "number").ok_or_else(|| wrong("a line without a number"))?;
                let hits = number_or_negative(element, "hits")
                    .ok_or_else(|| wrong("a line without hits"))?;
                let file = file.as_deref().ok_or_else(|| wrong("a line of no class"))?;
                lines.line(file, number, hits > 0)?;
                let conditions = element.attribute("condition-coverage");
                if let Some((taken, of)) = conditions.as_deref().and_then(fraction) {
                    for branch in 0..of {
                        lines.branch(file, (number, branch), branch < taken)?;
                    }
                }
            }
            _ => {}
        }
        Ok(())
    })?;
    lines.report(format)
}

/// `50% (1/2)`, of at most a thousand.
fn fraction(text: &str) -> Option<(u64, u64)> {
    let (_, inner) = text.split_once('(')?;
    let (taken, of) = inner.strip_suffix(')')?.split_once('/')?;
    let of: u64 = of.parse().ok().filter(|of| *of <= 1000)?;
    Some((taken.parse().ok()?, of))
}

/// Reads JaCoCo's XML: the lines of its source files.
pub(super) fn jacoco(text: &str) -> Result<CoverageReport, ReadError> {
    let format = "jacoco";
    let wrong = |reason: &str| ReadError::malformed(format, reason);
    let mut lines = Lines::default();
    let (mut package, mut file) = (String::new(), None);
    each_element(format, "report", text, |element| {
        match element.name() {
            "package" => package = element.attribute("name").unwrap_or_default(),
            "sourcefile" => {
                let name = element.attribute("name").unwrap_or_default();
                let name = format!("{package}/{name}");
                lines.file(&name)?;
                file = Some(name);
            }
            "line" => {
                let line = number(element, "nr").ok_or_else(|| wrong("a line without a number"))?;
                let count = |name| number(element, name).unwrap_or(0);
                let file = file.as_deref().ok_or_else(|| wrong("a line of no file"))?;
                lines.line(file, line, count("ci") > 0)?;
                let (missed, taken) = (count("mb").min(1000), count("cb").min(1000));
                for branch in 0..missed + taken {
                    lines.branch(file, (line, branch), branch < taken)?;
                }
            }
            _ => {}
        }
        Ok(())
    })?;
    lines.report(format)
}

fn number(element: &Element<'_>, name: &str) -> Option<u64> {
    element.attribute(name)?.parse().ok()
}

fn number_or_negative(element: &Element<'_>, name: &str) -> Option<i64> {
    let written = element.attribute(name)?;
    // A count beyond the number's range is still a count.
    let digits = written.bytes().all(|byte| byte.is_ascii_digit()) && !written.is_empty();
    written.parse().ok().or(digits.then_some(i64::MAX))
}

/// Shows each element of a document whose outermost one has the right name.
fn each_element(
    format: &'static str,
    outermost: &str,
    text: &str,
    mut show: impl FnMut(&Element<'_>) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    let mut puller = Puller::new(text);
    loop {
        let piece = puller.next();
        match piece.map_err(|error| ReadError::malformed(format, error))? {
            Piece::Open(element) => {
                if puller.depth() == 1 && element.name() != outermost {
                    let reason = format!("its outermost element is {:?}", element.name());
                    return Err(ReadError::malformed(format, reason));
                }
                show(&element)?;
            }
            Piece::Close | Piece::Text(_) => {}
            Piece::End => return Ok(()),
        }
    }
}
