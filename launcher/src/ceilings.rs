//! What no plan may ask for, whoever sends it. The api is not trusted here: a captured one must
//! not get a host path, another image, a missing step or an endless limit.

use confine::plan::{Mode, OwnProgram, Plan};

/// Largest limits of one sandbox on this host.
#[derive(Debug, Clone)]
pub(crate) struct Ceilings {
    /// Grade that this launcher gives; a plan must name the same.
    pub(crate) mode: Mode,
    /// Bytes of memory.
    pub(crate) memory_bytes_max: u64,
    /// Controls that this host really lacks; only these may be named degradable.
    pub(crate) missing: Vec<String>,
    /// Programs of ours that it can show.
    pub(crate) own: Vec<OwnProgram>,
}

/// Why a plan is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field} is {value}; allowed: {allowed}")]
pub(crate) struct OverCeiling {
    /// Field of the plan.
    pub(crate) field: &'static str,
    /// Value asked.
    pub(crate) value: String,
    /// What would be accepted.
    pub(crate) allowed: String,
}

const PIDS_MAX: u64 = 16_384;
const CPU_MILLICORES_MAX: u64 = 1_024_000;
const FILES_MAX: u64 = 10_000_000;
const OPEN_FILES_MAX: u64 = 1_048_576;
const CPU_MS_MAX: u64 = 7 * 24 * 3600 * 1000;
const PATHS_MAX: usize = 256;
const WRITABLE: [&str; 3] = ["/workspace", "/tmp", "/dev/shm"];

/// Checks the name of a sandbox, which becomes a cgroup name.
pub(crate) fn check_id(id: &str) -> Result<(), OverCeiling> {
    let plain = id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    if plain && (1..=64).contains(&id.len()) {
        return Ok(());
    }
    Err(OverCeiling {
        field: "id",
        value: format!("{id:?}"),
        allowed: "1 to 64 letters, digits and '-'".into(),
    })
}

impl Ceilings {
    /// Checks a whole plan.
    pub(crate) fn check(&self, plan: &Plan) -> Result<(), OverCeiling> {
        if confine::mutation::is_off("ceilings") {
            return Ok(());
        }
        if plan.mode != self.mode {
            return Err(OverCeiling {
                field: "mode",
                value: format!("{:?}", plan.mode),
                allowed: format!("{:?}", self.mode),
            });
        }
        if plan.image != "host" {
            return Err(OverCeiling {
                field: "image",
                value: format!("{:?}", plan.image),
                allowed: "\"host\"".into(),
            });
        }
        check_hostname(&plan.hostname)?;
        self.check_numbers(plan)?;
        check_paths(plan)?;
        if let Some(own) = plan.own.filter(|own| !self.own.contains(own)) {
            return Err(OverCeiling {
                field: "own",
                value: own.name().into(),
                allowed: format!("none: this launcher was started without --{}", own.name()),
            });
        }
        if let Some(extra) = plan
            .degradable
            .iter()
            .find(|name| !self.missing.contains(name))
        {
            return Err(OverCeiling {
                field: "degradable",
                value: extra.clone(),
                allowed: format!("only what this host lacks: {:?}", self.missing),
            });
        }
        Ok(())
    }

    fn check_numbers(&self, plan: &Plan) -> Result<(), OverCeiling> {
        let limits = &plan.limits;
        let rows = [
            (
                "limits.memory_bytes_max",
                limits.memory_bytes_max,
                1 << 20,
                self.memory_bytes_max,
            ),
            ("limits.pids_max", limits.pids_max, 1, PIDS_MAX),
            (
                "limits.cpu_millicores_max",
                limits.cpu_millicores_max,
                10,
                CPU_MILLICORES_MAX,
            ),
            (
                "limits.disk_bytes_max",
                limits.disk_bytes_max,
                4096,
                self.memory_bytes_max,
            ),
            ("limits.files_max", limits.files_max, 8, FILES_MAX),
            (
                "limits.open_files_max",
                limits.open_files_max,
                8,
                OPEN_FILES_MAX,
            ),
            ("limits.cpu_ms_max", limits.cpu_ms_max, 1, CPU_MS_MAX),
        ];
        for (field, value, min, max) in rows {
            if !(min..=max).contains(&value) {
                return Err(OverCeiling {
                    field,
                    value: value.to_string(),
                    allowed: format!("{min} to {max}"),
                });
            }
        }
        Ok(())
    }
}

fn check_hostname(name: &str) -> Result<(), OverCeiling> {
    let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    if plain && (1..=63).contains(&name.len()) {
        return Ok(());
    }
    Err(OverCeiling {
        field: "hostname",
        value: format!("{name:?}"),
        allowed: "1 to 63 letters, digits and '-'".into(),
    })
}

fn check_paths(plan: &Plan) -> Result<(), OverCeiling> {
    let files = &plan.files;
    for (field, paths) in [
        ("files.read", &files.read),
        ("files.write", &files.write),
        ("files.execute", &files.execute),
    ] {
        let plain = |path: &String| {
            path.starts_with('/')
                && path.len() <= 4096
                && !path.split('/').any(|part| part == ".." || part == ".")
                && !path.contains('\0')
        };
        if paths.len() > PATHS_MAX || !paths.iter().all(plain) {
            return Err(OverCeiling {
                field,
                value: format!("{} paths", paths.len()),
                allowed: format!("at most {PATHS_MAX} absolute paths without '.' and '..'"),
            });
        }
    }
    let below = |path: &String| {
        WRITABLE
            .iter()
            .any(|top| path == top || path.starts_with(&format!("{top}/")))
    };
    if let Some(path) = files.write.iter().find(|path| !below(path)) {
        return Err(OverCeiling {
            field: "files.write",
            value: path.clone(),
            allowed: format!("paths below {WRITABLE:?}"),
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests;
