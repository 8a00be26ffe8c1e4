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

/// What the programs inherit from whoever starts the daemon, as words: a proof that was found in
/// a container, or under a filter of somebody else's, holds for no other start. To be asked before
/// privileges are dropped.
///
/// # Errors
/// Our own state cannot be read.
pub fn inherited() -> Result<String, ProgramsError> {
    let path = Path::new("/proc/self/status");
    let status = std::fs::read_to_string(path).map_err(|source| ProgramsError::Read {
        path: path.to_owned(),
        source,
    })?;
    // Closed to a process that must not be traced, and not there everywhere.
    let personality = std::fs::read_to_string("/proc/self/personality")
        .unwrap_or_else(|error| format!("not told: {}", error.kind()));
    Ok(inherited_of(&status, &personality))
}

fn inherited_of(status: &str, personality: &str) -> String {
    const KEPT: [&str; 4] = ["CapBnd", "NoNewPrivs", "Seccomp", "Seccomp_filters"];
    let kept = status.lines().filter_map(|line| {
        let (name, value) = line.split_once(':')?;
        KEPT.contains(&name)
            .then(|| format!("{name} {}", value.trim()))
    });
    let personality = format!("personality {}", personality.trim());
    kept.chain([personality]).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::{digest, inherited, inherited_of};

    #[test]
    fn another_start_is_another_proof() {
        let status = |seccomp: u32, filters: u32, bound: &str| {
            format!(
                "Name:\tsandboxd\nPid:\t7\nCapBnd:\t{bound}\nNoNewPrivs:\t0\n\
                 Seccomp:\t{seccomp}\nSeccomp_filters:\t{filters}\n"
            )
        };
        let plain = inherited_of(&status(0, 0, "1ffffffffff"), "00000000\n");
        assert_eq!(
            plain,
            "CapBnd 1ffffffffff, NoNewPrivs 0, Seccomp 0, Seccomp_filters 0, personality 00000000"
        );
        let others = [
            inherited_of(&status(2, 1, "1ffffffffff"), "00000000\n"),
            inherited_of(&status(2, 2, "1ffffffffff"), "00000000\n"),
            inherited_of(&status(0, 0, "a80425fb"), "00000000\n"),
            inherited_of(&status(0, 0, "1ffffffffff"), "00040000\n"),
        ];
        assert!(others.iter().all(|other| *other != plain));
        let own = inherited().unwrap();
        assert!(own.contains("Seccomp ") && own.contains("CapBnd "), "{own}");
        assert_eq!(own, inherited().unwrap());
    }

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
