//! What builds of judges' programs left, for the next run of the same task: they depend on the
//! author's text and ours, on the image, and on nothing of the run. Found again only by a digest of
//! everything that goes into a build.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use sha2::{Digest as _, Sha256};
use verdict::Build;

use crate::run::request::InputFile;

/// Builds that are kept at most, and their bytes in all.
const BUILDS_MAX: usize = 64;
const BYTES_MAX: usize = 128 << 20;

/// Names a build by everything that goes into it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BuildKey([u8; 32]);

impl BuildKey {
    /// The key of `build` with the environment `env` in the image of that digest.
    pub(super) fn new(build: &Build, env: &BTreeMap<String, String>, image_sha256: &str) -> Self {
        let mut hash = Sha256::new();
        let mut add = |bytes: &[u8]| {
            hash.update((bytes.len() as u64).to_be_bytes());
            hash.update(bytes);
        };
        add(image_sha256.as_bytes());
        for (path, bytes) in &build.files {
            add(b"file");
            add(path.as_bytes());
            add(bytes);
        }
        for (name, value) in build.env.iter().chain(env) {
            add(b"variable");
            add(name.as_bytes());
            add(value.as_bytes());
        }
        let lists = [&build.argv, &build.collect, &build.required];
        for (kind, list) in [&b"argv"[..], b"collect", b"required"]
            .into_iter()
            .zip(lists)
        {
            add(kind);
            list.iter().for_each(|word| add(word.as_bytes()));
        }
        Self(hash.finalize().into())
    }
}

/// Files by the build that left them, the oldest first.
#[derive(Debug, Default)]
pub(in crate::run) struct BuildCache(Mutex<VecDeque<(BuildKey, Vec<InputFile>)>>);

impl BuildCache {
    /// What that build left, if it is still known.
    pub(super) fn get(&self, key: BuildKey) -> Option<Vec<InputFile>> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = kept.iter().position(|(known, _)| *known == key)?;
        let found = kept.remove(at)?;
        let files = found.1.clone();
        kept.push_back(found);
        Some(files)
    }

    /// Keeps what a build left; the oldest go when there is no room.
    pub(super) fn put(&self, key: BuildKey, files: &[InputFile]) {
        let size = |files: &[InputFile]| files.iter().map(|file| file.content.len()).sum::<usize>();
        if size(files) > BYTES_MAX {
            return;
        }
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|(known, _)| *known != key);
        kept.push_back((key, files.to_vec()));
        while kept.len() > BUILDS_MAX
            || kept.iter().map(|(_, files)| size(files)).sum::<usize>() > BYTES_MAX
        {
            kept.pop_front();
        }
    }
}

#[cfg(test)]
mod tests;
