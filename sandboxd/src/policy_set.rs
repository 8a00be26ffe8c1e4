//! The policies in force: the built-in ones and those of the site's folder, ready to use.
//!
//! A set is made whole or not at all, so that a broken file never takes a policy away.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use policies::{Catalog, CatalogError, Policy};

use crate::self_test::Proof;

/// A policy with the digest of its canonical form.
#[derive(Debug, Clone)]
pub struct Ready {
    /// The policy.
    pub policy: Arc<Policy>,
    /// SHA-256, lower-case hexadecimal.
    pub sha256: String,
}

impl Ready {
    /// Computes the digest.
    #[must_use]
    pub fn new(policy: Policy) -> Self {
        Self {
            sha256: policy.sha256_hex(),
            policy: Arc::new(policy),
        }
    }
}

/// Policies by name.
#[derive(Debug, Clone)]
pub struct PolicySet {
    catalog: Catalog,
    ready: BTreeMap<String, Ready>,
    /// What a self-test found, by name.
    proofs: BTreeMap<String, Proof>,
}

/// Why there is no set.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PolicySetError {
    /// The folder or a file in it cannot be read.
    #[error("read policies from {}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A policy is wrong.
    #[error("load policies")]
    Catalog(#[source] CatalogError),
}

impl PolicySet {
    /// The built-in policies with the files `NAME.toml` of `folder` over them. No folder, no files.
    ///
    /// # Errors
    /// A file that cannot be read or is no policy.
    pub fn load(folder: &Path) -> Result<Self, PolicySetError> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| PolicySetError::Read { path, source }
        };
        let mut documents = Vec::new();
        if folder.exists() {
            for entry in std::fs::read_dir(folder).map_err(failed(folder))? {
                let path = entry.map_err(failed(folder))?.path();
                if path.extension().is_some_and(|ending| ending == "toml")
                    && let Some(name) = path.file_stem().and_then(|name| name.to_str())
                {
                    let text = std::fs::read_to_string(&path).map_err(failed(&path))?;
                    documents.push((name.to_owned(), text));
                }
            }
        }
        let catalog = Catalog::from_documents(documents).map_err(PolicySetError::Catalog)?;
        Ok(Self::new(catalog))
    }

    /// A set of a catalog.
    #[must_use]
    pub fn new(catalog: Catalog) -> Self {
        let ready = catalog
            .iter()
            .map(|(name, entry)| (name.to_owned(), Ready::new(entry.policy.clone())))
            .collect();
        Self {
            catalog,
            ready,
            proofs: BTreeMap::new(),
        }
    }

    /// The catalog.
    #[must_use]
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// What a self-test found about a policy.
    #[must_use]
    pub fn proof(&self, name: &str) -> Proof {
        self.proofs.get(name).cloned().unwrap_or_default()
    }

    /// Everything that self-tests found, by name.
    pub fn proofs(&self) -> impl Iterator<Item = (&str, &Proof)> {
        self.proofs
            .iter()
            .map(|(name, proof)| (name.as_str(), proof))
    }

    /// Puts down what a self-test found.
    pub fn set_proof(&mut self, name: &str, proof: Proof) {
        self.proofs.insert(name.to_owned(), proof);
    }

    /// Takes wrong rows that a test of other policies found under the same plans. Gives whether
    /// there were any.
    pub fn take_wrong(&mut self, other: &Self) -> bool {
        let wrong = other.proofs.values().filter_map(|proof| {
            let outcome = &proof.tested()?.outcome;
            let is_wrong = outcome.wrong().next().is_some();
            is_wrong.then_some((outcome.plan_sha256.as_str(), proof))
        });
        let wrong: BTreeMap<&str, &Proof> = wrong.collect();
        let mut taken = false;
        for proof in self.proofs.values_mut() {
            let plan = proof.tested().map(|one| one.outcome.plan_sha256.as_str());
            if let Some(found) = plan.and_then(|plan| wrong.get(plan)) {
                *proof = Proof::clone(found);
                taken = true;
            }
        }
        taken
    }

    /// A policy by name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Ready> {
        self.ready.get(name)
    }
}
