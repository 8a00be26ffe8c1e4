//! Which programs a self-test is about: one digest of the bytes of those that confine.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

/// Why it is not known which programs confine.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramsError {
    /// There is no probe to run.
    #[error(
        "sandbox-probe is not there; build or install it beside sandboxd, or set `probe` in the \
         configuration"
    )]
    NoProbe,
    /// A program cannot be read.
    #[error("read {}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}

/// The digest of some files' bytes, in their order, hexadecimal. Read piece by piece: debug builds
/// are large.
///
/// # Errors
/// One cannot be read.
pub fn digest(files: &[&Path]) -> Result<String, ProgramsError> {
    let mut whole = Sha256::new();
    let mut buffer = vec![0; 256 << 10];
    for path in files {
        let failed = |source| ProgramsError::Read {
            path: (*path).to_owned(),
            source,
        };
        let mut file = File::open(path).map_err(failed)?;
        let mut one = Sha256::new();
        loop {
            let count = file.read(&mut buffer).map_err(failed)?;
            match buffer.get(..count) {
                None | Some([]) => break,
                Some(bytes) => one.update(bytes),
            }
        }
        // Digests of one length, so that no byte can move from one file to the next.
        whole.update(one.finalize());
    }
    Ok(hex::encode(whole.finalize()))
}

#[cfg(test)]
mod tests {
    use super::digest;

    #[test]
    fn any_byte_and_any_place_counts() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            path
        };
        let (a, b) = (file("a", b"one"), file("b", b"two"));
        let both = digest(&[&a, &b]).unwrap();
        assert_eq!(both, digest(&[&a, &b]).unwrap());
        assert_ne!(both, digest(&[&b, &a]).unwrap());
        let (longer, shorter) = (file("c", b"onet"), file("d", b"wo"));
        assert_ne!(both, digest(&[&longer, &shorter]).unwrap());
        assert!(digest(&[&folder.path().join("absent")]).is_err());
    }
}
