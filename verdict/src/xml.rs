//! XML reports, pulled piece by piece. Entities that a document declares itself are never expanded,
//! nothing is fetched, depth and attributes are bounded, and a document that breaks off is told
//! apart from one that is wrong. It knows no report; the readers of reports call it.

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use quick_xml::Reader;
use quick_xml::errors::{Error, IllFormedError};
use quick_xml::escape::{resolve_xml_entity, unescape};
use quick_xml::events::{BytesRef, BytesStart, Event};

/// How deep elements may lie in each other.
pub(crate) const DEPTH_MAX: usize = 64;
/// How many attributes of one element are looked at.
const ATTRIBUTES_MAX: usize = 64;

/// What is wrong with a document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum XmlError {
    /// It breaks off.
    #[error("the document breaks off at byte {at}")]
    Truncated {
        /// Where.
        at: u64,
    },
    /// Elements lie too deep in each other.
    #[error("elements lie more than {DEPTH_MAX} deep at byte {at}")]
    TooDeep {
        /// Where.
        at: u64,
    },
    /// It is no XML document.
    #[error("{why} at byte {at}")]
    Malformed {
        /// Where.
        at: u64,
        /// What the parser says.
        why: String,
    },
}

/// One piece of a document.
#[derive(Debug)]
pub(crate) enum Piece<'a> {
    /// An element begins.
    Open(Element<'a>),
    /// The element that was opened last and not closed yet ends.
    Close,
    /// Text within the element that is open.
    Text(Cow<'a, str>),
    /// The document is over, and whole.
    End,
}

/// The beginning of an element.
#[derive(Debug)]
pub(crate) struct Element<'a>(BytesStart<'a>);

impl Element<'_> {
    /// Its name without a prefix.
    pub(crate) fn name(&self) -> &str {
        self.0.local_name().into_inner()
    }

    /// The value of the attribute `name`; of two of that name the first.
    pub(crate) fn attribute(&self, name: &str) -> Option<String> {
        let mut attributes = self.0.attributes();
        // The check for repeated names takes the square of their number.
        let attributes = attributes.with_checks(false);
        let found = (attributes.take(ATTRIBUTES_MAX).flatten())
            .find(|attribute| attribute.key.local_name().into_inner() == name)?;
        // A value with an unknown entity is told as it stands.
        let plain = unescape(&found.value).unwrap_or_else(|_| Cow::Borrowed(&found.value));
        Some(plain.into_owned())
    }
}

/// A document that is being read.
pub(crate) struct Puller<'a> {
    reader: Reader<&'a [u8]>,
    depth: usize,
    /// Whether the outermost element was seen.
    begun: bool,
}

impl<'a> Puller<'a> {
    /// Starts at the first byte of `text`; a byte order mark is passed over.
    pub(crate) fn new(text: &'a str) -> Self {
        let mut reader = Reader::from_str(text.trim_start_matches('\u{feff}'));
        reader.config_mut().expand_empty_elements = true;
        reader.config_mut().allow_dangling_amp = true;
        Self {
            reader,
            depth: 0,
            begun: false,
        }
    }

    /// How many elements are open.
    pub(crate) fn depth(&self) -> usize {
        self.depth
    }

    /// The next piece.
    ///
    /// # Errors
    /// [`XmlError`] where the document breaks off, is too deep, or is none.
    pub(crate) fn next(&mut self) -> Result<Piece<'a>, XmlError> {
        loop {
            let event = match self.reader.read_event() {
                Ok(event) => event,
                Err(error) => return Err(self.fault(&error)),
            };
            let piece = match event {
                Event::Start(start) => self.open(start)?,
                // Where empty elements are expanded there are none.
                Event::Empty(_) => continue,
                Event::End(_) => {
                    self.depth = self.depth.saturating_sub(1);
                    Piece::Close
                }
                Event::Text(text) => self.text(text.into_inner())?,
                Event::CData(text) => self.text(text.into_inner())?,
                Event::GeneralRef(reference) => self.text(Cow::Owned(resolve(&reference)))?,
                Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => continue,
                Event::Eof if self.depth > 0 => {
                    return Err(XmlError::Truncated { at: self.at() });
                }
                Event::Eof if self.begun => Piece::End,
                Event::Eof => return Err(self.malformed("there is no element")),
            };
            return Ok(piece);
        }
    }

    fn open(&mut self, start: BytesStart<'a>) -> Result<Piece<'a>, XmlError> {
        if self.depth == 0 && self.begun {
            return Err(self.malformed("a second outermost element"));
        }
        if self.depth == DEPTH_MAX {
            return Err(XmlError::TooDeep { at: self.at() });
        }
        self.begun = true;
        self.depth += 1;
        Ok(Piece::Open(Element(start)))
    }

    fn text(&self, text: Cow<'a, str>) -> Result<Piece<'a>, XmlError> {
        if self.depth == 0 && !text.trim().is_empty() {
            return Err(self.malformed("text outside of every element"));
        }
        Ok(Piece::Text(text))
    }

    fn at(&self) -> u64 {
        self.reader.buffer_position()
    }

    fn malformed(&self, why: &str) -> XmlError {
        XmlError::Malformed {
            at: self.at(),
            why: why.to_owned(),
        }
    }

    fn fault(&self, error: &Error) -> XmlError {
        match error {
            // A construct that the end of the document cuts.
            Error::Syntax(_) | Error::IllFormed(IllFormedError::MissingEndTag(_)) => {
                XmlError::Truncated { at: self.at() }
            }
            other => self.malformed(&other.to_string()),
        }
    }
}

/// The text of `&name;` and of `&#number;`; an entity that we do not know stays as it stands.
fn resolve(reference: &BytesRef<'_>) -> String {
    if let Ok(Some(character)) = reference.resolve_char_ref() {
        return character.to_string();
    }
    let name = reference.xml10_content();
    resolve_xml_entity(&name).map_or_else(|| format!("&{name};"), str::to_owned)
}
