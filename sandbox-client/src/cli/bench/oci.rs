//! A bundle for OCI runtimes: an almost empty root with the host's folders bound read-only, as the
//! `host` image has them.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::super::failure::Failure;

/// Bundles of one runtime, one a program; removed on drop.
pub(super) struct Bundle {
    folder: tempfile::TempDir,
    made: RefCell<BTreeMap<Vec<String>, PathBuf>>,
    runs: Cell<u64>,
}

/// Folders of the host that programs need.
pub(super) const HOST_FOLDERS: [&str; 6] = ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc"];

impl Bundle {
    /// No bundle yet.
    pub(super) fn new() -> Result<Self, Failure> {
        let folder = tempfile::Builder::new()
            .prefix("rollcage-bench-")
            .tempdir()
            .map_err(|source| Failure::Local {
                what: "make a folder for OCI bundles".to_owned(),
                source,
            })?;
        Ok(Self {
            folder,
            made: RefCell::default(),
            runs: Cell::new(0),
        })
    }

    /// An id that no container had.
    pub(super) fn next_id(&self) -> String {
        self.runs.set(self.runs.get() + 1);
        let name = self
            .folder
            .path()
            .file_name()
            .unwrap_or_default()
            .to_string_lossy();
        // Runtimes take letters, digits and a few signs only.
        let name: String = name.chars().filter(|c| c.is_ascii_alphanumeric()).collect();
        format!("{name}{}", self.runs.get())
    }

    /// The bundle of a program, made on first use.
    pub(super) fn for_program(&self, argv: &[String]) -> Result<PathBuf, Failure> {
        if let Some(found) = self.made.borrow().get(argv) {
            return Ok(found.clone());
        }
        let path = self
            .folder
            .path()
            .join(self.made.borrow().len().to_string());
        let write = |source| Failure::Write {
            path: path.clone(),
            source,
        };
        std::fs::create_dir_all(path.join("rootfs")).map_err(write)?;
        std::fs::write(path.join("config.json"), config(argv).to_string()).map_err(write)?;
        self.made.borrow_mut().insert(argv.to_vec(), path.clone());
        Ok(path)
    }
}

fn config(argv: &[String]) -> Value {
    let mut mounts = vec![
        json!({"destination": "/proc", "type": "proc", "source": "proc"}),
        json!({"destination": "/dev", "type": "tmpfs", "source": "tmpfs",
               "options": ["nosuid", "strictatime", "mode=755", "size=65536k"]}),
        json!({"destination": "/tmp", "type": "tmpfs", "source": "tmpfs",
               "options": ["nosuid", "nodev", "noexec", "mode=1777", "size=65536k"]}),
    ];
    mounts.extend(
        HOST_FOLDERS
            .iter()
            .filter(|folder| Path::new(folder).is_dir())
            .map(|folder| {
                json!({"destination": folder, "type": "bind", "source": folder,
               "options": ["rbind", "ro", "nosuid", "nodev"]})
            }),
    );
    let namespaces = ["pid", "network", "ipc", "uts", "mount", "cgroup"];
    json!({
        "ociVersion": "1.0.2",
        "process": {
            "terminal": false,
            "user": {"uid": 65_534, "gid": 65_534},
            "args": argv,
            "env": ["PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/tmp"],
            "cwd": "/",
            "capabilities": {"bounding": [], "effective": [], "permitted": []},
            "noNewPrivileges": true,
        },
        "root": {"path": "rootfs", "readonly": false},
        "hostname": "bench",
        "mounts": mounts,
        "linux": {
            "namespaces":
                namespaces.iter().map(|kind| json!({"type": kind})).collect::<Vec<_>>(),
            "resources": {"memory": {"limit": 536_870_912_u64}, "pids": {"limit": 64}},
            "maskedPaths": ["/proc/kcore", "/proc/keys"],
            "readonlyPaths": ["/proc/sys"],
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bundle_is_made_once_a_program_and_removed() {
        let bundle = Bundle::new().unwrap();
        let argv = |word: &str| vec![word.to_owned()];
        let first = bundle.for_program(&argv("/bin/true")).unwrap();
        assert_eq!(bundle.for_program(&argv("/bin/true")).unwrap(), first);
        assert_ne!(bundle.for_program(&argv("/bin/false")).unwrap(), first);
        let text = std::fs::read_to_string(first.join("config.json")).unwrap();
        let config: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(config["process"]["args"], json!(["/bin/true"]));
        assert_ne!(bundle.next_id(), bundle.next_id());
        drop(bundle);
        assert!(!first.exists());
    }
}
