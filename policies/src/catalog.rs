//! The policies that can be named: the built-in ones and an operator's over them.
//!
//! It reads no folder: the daemon hands in names and texts. Everything is resolved when the
//! catalog is made, so that a policy that can be named can be used. An operator's document of a
//! built-in name replaces it, also for those that extend it.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use crate::document::Document;
use crate::parse::{ParseError, parse};
use crate::policy::Policy;
use crate::resolve::{LINEAGE_MAX, ResolveError, resolve};

/// The built-in documents.
const BUILTIN: &[(&str, &str)] = &[
    ("base", include_str!("../catalog/base.toml")),
    ("build", include_str!("../catalog/build.toml")),
    ("node", include_str!("../catalog/node.toml")),
    ("python", include_str!("../catalog/python.toml")),
    ("shell", include_str!("../catalog/shell.toml")),
    ("task", include_str!("../catalog/task.toml")),
];

/// One policy of a catalog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogEntry {
    /// The document as it was written.
    pub source: String,
    /// Whether it comes with the product; `false` for an operator's.
    pub builtin: bool,
    /// What it means.
    pub policy: Policy,
}

/// Policies by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Catalog {
    entries: BTreeMap<String, CatalogEntry>,
}

/// A catalog that cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CatalogError {
    /// A document cannot be read.
    #[error("parse policy \"{name}\"")]
    Parse {
        /// Name under which the document was given.
        name: String,
        /// What is wrong.
        #[source]
        source: ParseError,
    },
    /// A document has no meaning.
    #[error("resolve policy \"{name}\"")]
    Resolve {
        /// Name under which the document was given.
        name: String,
        /// What is wrong.
        #[source]
        source: ResolveError,
    },
    /// A document has another name than the one it was given under.
    #[error("policy \"{name}\" has name = \"{written}\" in its document; make them equal")]
    OtherName {
        /// Name under which the document was given.
        name: String,
        /// Name in the document.
        written: String,
    },
    /// Two documents have one name.
    #[error("two policies are named \"{name}\"; rename one")]
    Twice {
        /// The name.
        name: String,
    },
}

/// A document that is not resolved yet.
struct Pending {
    source: String,
    builtin: bool,
    document: Document,
}

impl Catalog {
    /// The built-in policies.
    ///
    /// # Errors
    /// A built-in document is wrong, which a test excludes.
    pub fn builtin() -> Result<Self, CatalogError> {
        Self::from_documents(std::iter::empty::<(String, String)>())
    }

    /// The built-in policies with `documents` (name and text) over them. The name of a document
    /// is that of its file without the ending; `name` in the document must be equal or unset.
    ///
    /// # Errors
    /// The first document, by name, that cannot be read or resolved.
    pub fn from_documents<N: Into<String>, T: Into<String>>(
        documents: impl IntoIterator<Item = (N, T)>,
    ) -> Result<Self, CatalogError> {
        let mut pending = BTreeMap::new();
        for (name, source) in BUILTIN {
            pending.insert((*name).to_owned(), read(name, (*source).to_owned(), true)?);
        }
        for (name, source) in documents {
            let name = name.into();
            let document = read(&name, source.into(), false)?;
            let replaced = pending.insert(name.clone(), document);
            if replaced.is_some_and(|replaced| !replaced.builtin) {
                return Err(CatalogError::Twice { name });
            }
        }
        let names: Vec<String> = pending.keys().cloned().collect();
        let mut catalog = Self::default();
        for name in names {
            catalog.take(&name, &mut pending, &mut Vec::new())?;
        }
        Ok(catalog)
    }

    /// Resolves `name` and all it extends out of `pending`; `path` holds the names on the way
    /// from the policy that was wanted first; nothing branches, since each extends at most one.
    fn take(
        &mut self,
        name: &str,
        pending: &mut BTreeMap<String, Pending>,
        path: &mut Vec<String>,
    ) -> Result<(), CatalogError> {
        let failed = |source| CatalogError::Resolve {
            name: name.to_owned(),
            source,
        };
        if path.iter().any(|above| above == name) {
            let mut chain: Vec<String> = path
                .iter()
                .skip_while(|above| *above != name)
                .cloned()
                .collect();
            chain.push(name.to_owned());
            return Err(failed(ResolveError::Cycle { chain }));
        }
        // Already resolved, or unknown: then the child's own resolution names it.
        let Some(found) = pending.get(name) else {
            return Ok(());
        };
        path.push(name.to_owned());
        if path.len() > LINEAGE_MAX {
            let chain = path.iter().rev().cloned().collect();
            return Err(failed(ResolveError::ChainTooLong { chain }));
        }
        if let Some(parent) = found.document.extends.clone() {
            self.take(&parent, pending, path)?;
        }
        let Some(Pending {
            source,
            builtin,
            document,
        }) = pending.remove(name)
        else {
            return Ok(());
        };
        let policy = resolve(&document, self).map_err(failed)?;
        self.entries.insert(
            name.to_owned(),
            CatalogEntry {
                source,
                builtin,
                policy,
            },
        );
        Ok(())
    }

    /// The policy called `name`.
    pub fn get(&self, name: &str) -> Option<&CatalogEntry> {
        self.entries.get(name)
    }

    /// All names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    /// All policies, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &CatalogEntry)> {
        self.entries
            .iter()
            .map(|(name, entry)| (name.as_str(), entry))
    }
}

fn read(name: &str, source: String, builtin: bool) -> Result<Pending, CatalogError> {
    let mut document = parse(&source).map_err(|source| CatalogError::Parse {
        name: name.to_owned(),
        source,
    })?;
    match &document.name {
        Some(written) if written != name => Err(CatalogError::OtherName {
            name: name.to_owned(),
            written: written.clone(),
        }),
        Some(_) => Ok(Pending {
            source,
            builtin,
            document,
        }),
        None => {
            document.name = Some(name.to_owned());
            Ok(Pending {
                source,
                builtin,
                document,
            })
        }
    }
}
