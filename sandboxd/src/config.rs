//! The configuration file: every key, its default, and the checks on it.
//!
//! Unknown keys are refused with line and column. Flags and environment variables come in as
//! [`Overrides`]; this module reads no environment and opens no file but in [`load`].

mod principal;
mod self_test;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use serde::Deserialize;

pub use principal::{Names, PrincipalConfig, Role};
pub use self_test::SelfTestConfig;

/// Where the configuration is looked for when nothing names another file.
pub const CONFIG_PATH: &str = "/etc/rollcage/sandboxd.toml";

/// What flags and environment set; each wins over the file.
#[derive(Debug, Clone, Default)]
pub struct Overrides {
    /// Configuration file; it must exist when it is named.
    pub config: Option<PathBuf>,
    /// Unix socket.
    pub socket: Option<PathBuf>,
    /// State folder.
    pub state_dir: Option<PathBuf>,
    /// Log filter.
    pub log: Option<String>,
}

/// Whose defaults apply: paths of an ordinary user differ from root's.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// Effective uid of this process.
    pub uid: u32,
    /// `$HOME`, `$XDG_STATE_HOME`, `$XDG_RUNTIME_DIR`, for an ordinary user.
    pub home: Option<PathBuf>,
    /// `$XDG_STATE_HOME`.
    pub xdg_state_home: Option<PathBuf>,
    /// `$XDG_RUNTIME_DIR`.
    pub xdg_runtime_dir: Option<PathBuf>,
}

impl Surroundings {
    /// `/var/lib/rollcage`, or the XDG state folder of an ordinary user.
    #[must_use]
    pub fn state_dir(&self) -> PathBuf {
        if self.uid == 0 {
            return PathBuf::from("/var/lib/rollcage");
        }
        let state = self.xdg_state_home.clone();
        let state = state.or_else(|| Some(self.home.as_ref()?.join(".local/state")));
        state
            .unwrap_or_else(|| PathBuf::from(format!("/tmp/rollcage-{}", self.uid)))
            .join("rollcage")
    }

    /// `/run/rollcage`, or a folder in the XDG runtime folder of an ordinary user.
    #[must_use]
    pub fn runtime_dir(&self) -> PathBuf {
        if self.uid == 0 {
            return PathBuf::from("/run/rollcage");
        }
        let runtime = self.xdg_runtime_dir.clone();
        runtime
            .unwrap_or_else(|| PathBuf::from(format!("/tmp/rollcage-{}", self.uid)))
            .join("rollcage")
    }
}

/// The file as written. Every key may be left out.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Document {
    /// Unix socket of the API. Default: `sandboxd.sock` in `runtime_dir`.
    socket: Option<PathBuf>,
    /// Group that may connect to it (mode 0660), if the group exists.
    socket_group: String,
    /// What outlives the daemon: results, audit log, lock.
    /// Default: `/var/lib/rollcage`; for an ordinary user the XDG state folder.
    state_dir: Option<PathBuf>,
    /// What does not outlive a boot: sockets, the launcher's journal.
    /// Default: `/run/rollcage`; for an ordinary user below the XDG runtime folder.
    runtime_dir: Option<PathBuf>,
    /// Policies of this site, `NAME.toml` each, over the built-in ones.
    policies_dir: PathBuf,
    /// Log filter in the syntax of `tracing`: `info`, `debug`, `sandboxd=debug,warn`.
    log: String,
    /// Log lines as JSON.
    log_json: bool,
    /// Name of this node in results and audit records. Default: the host's name.
    node: Option<String>,
    /// Uid and gid that the API drops to when started as root.
    api_uid: u32,
    /// Its gid.
    api_gid: u32,
    /// Uid that the audit writer drops to when started as root.
    audit_uid: u32,
    /// Its gid.
    audit_gid: u32,
    /// Program that makes sandboxes. Default: `sandbox-launcher` beside this program.
    launcher: Option<PathBuf>,
    /// Pid 1 of a sandbox. Default: `sandbox-init` beside this program.
    init: Option<PathBuf>,
    /// What a self-test runs in sandboxes. Default: `sandbox-probe` beside this program.
    probe: Option<PathBuf>,
    /// What a static check runs in sandboxes. Default: `sandbox-check` beside this program.
    check: Option<PathBuf>,
    /// On SIGTERM running programs get this long to end, in milliseconds.
    drain_ms: u64,
    /// Serve also where neither root nor user namespaces are to be had: the lowest grade of
    /// confinement, which `doctor` and every manifest show.
    accept_landlock_mode: bool,
    runs: RunsConfig,
    results: ResultsConfig,
    host_image: HostImageConfig,
    self_test: SelfTestConfig,
    metrics: Option<MetricsConfig>,
    tcp: Option<TcpConfig>,
    principal: Vec<PrincipalConfig>,
}

impl Default for Document {
    fn default() -> Self {
        Self {
            socket: None,
            socket_group: "rollcage".to_owned(),
            state_dir: None,
            runtime_dir: None,
            policies_dir: PathBuf::from("/etc/rollcage/policies"),
            log: "info".to_owned(),
            log_json: false,
            node: None,
            api_uid: 64_810,
            api_gid: 64_810,
            audit_uid: 64_811,
            audit_gid: 64_811,
            launcher: None,
            init: None,
            probe: None,
            check: None,
            drain_ms: 30_000,
            accept_landlock_mode: false,
            runs: RunsConfig::default(),
            results: ResultsConfig::default(),
            host_image: HostImageConfig::default(),
            self_test: SelfTestConfig::default(),
            metrics: None,
            tcp: None,
            principal: Vec::new(),
        }
    }
}

/// `[runs]`: how much at once.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RunsConfig {
    /// Sandboxes at once, at most 256; 0: two for each CPU, at least four.
    pub sandboxes_max: u16,
    /// Runs that may wait for a place; beyond it requests get RESOURCE_EXHAUSTED.
    pub queue_len_max: u32,
    /// Items of one `RunBatch` that are taken in before the first is answered.
    pub batch_in_flight_max: u32,
    /// Runs that are done again after a fault of ours or the host's; twenty good ones earn one more.
    pub infra_retries_max: u32,
    /// Runs that are done again alone after a time limit on a busy host; likewise.
    pub alone_reruns_max: u32,
}

impl Default for RunsConfig {
    fn default() -> Self {
        Self {
            sandboxes_max: 0,
            queue_len_max: 10_000,
            batch_in_flight_max: 256,
            infra_retries_max: 64,
            alone_reruns_max: 16,
        }
    }
}

/// `[results]`: what is kept for `Get`, `Fetch`, `List` and idempotency keys.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ResultsConfig {
    /// How long, in milliseconds; at least as long as idempotency keys are promised (24 h).
    pub keep_ms: u64,
    /// How many; the oldest without an idempotency key go first.
    pub entries_max: u64,
    /// How much in all, in bytes; likewise.
    pub bytes_max: u64,
}

/// The launcher leases at most this many id ranges.
pub const SANDBOXES_MAX: u16 = 256;

/// Idempotency keys are kept this long, in milliseconds.
pub const KEYS_KEPT_MS: u64 = 24 * 60 * 60 * 1000;

impl Default for ResultsConfig {
    fn default() -> Self {
        Self {
            keep_ms: KEYS_KEPT_MS,
            entries_max: 100_000,
            bytes_max: 1 << 30,
        }
    }
}

/// `[host_image]`: the image made of this host's own programs.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HostImageConfig {
    /// Toolchains elsewhere, readable in sandboxes: absolute paths.
    pub extra_read_paths: Vec<PathBuf>,
    /// Whether runs may use it although its digest names only packages and paths, not every byte.
    pub accept_unpinned: bool,
}

impl Default for HostImageConfig {
    fn default() -> Self {
        Self {
            extra_read_paths: Vec::new(),
            accept_unpinned: true,
        }
    }
}

/// `[metrics]`: where Prometheus scrapes; off without this table.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MetricsConfig {
    /// `unix:/path/of.sock`, or a loopback address such as `127.0.0.1:9464`.
    pub listen: String,
}

/// `[tcp]`: the API over TCP with TLS; off without this table.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TcpConfig {
    /// Address and port.
    pub listen: std::net::SocketAddr,
    /// Certificate chain of this server (PEM).
    pub cert: PathBuf,
    /// Its key (PEM).
    pub key: PathBuf,
    /// Authority of client certificates (PEM). Without it callers need a bearer token.
    pub client_ca: Option<PathBuf>,
}

/// The configuration in force.
#[derive(Debug, Clone)]
pub struct Config {
    /// File it came from, if there was one.
    pub file: Option<PathBuf>,
    /// Unix socket of the API.
    pub socket: PathBuf,
    /// Group that may connect to it.
    pub socket_group: String,
    /// What outlives the daemon.
    pub state_dir: PathBuf,
    /// What does not outlive a boot.
    pub runtime_dir: PathBuf,
    /// Policies of this site.
    pub policies_dir: PathBuf,
    /// Log filter.
    pub log: String,
    /// Log lines as JSON.
    pub log_json: bool,
    /// Name of this node; `None`: the host's name.
    pub node: Option<String>,
    /// Uid and gid of the API.
    pub api_ids: (u32, u32),
    /// Uid and gid of the audit writer.
    pub audit_ids: (u32, u32),
    /// Program that makes sandboxes; `None`: beside this program.
    pub launcher: Option<PathBuf>,
    /// Pid 1 of a sandbox; `None`: beside this program.
    pub init: Option<PathBuf>,
    /// What a self-test runs in sandboxes; `None`: beside this program.
    pub probe: Option<PathBuf>,
    /// What a static check runs in sandboxes; `None`: beside this program.
    pub check: Option<PathBuf>,
    /// Grace of running programs on SIGTERM, in milliseconds.
    pub drain_ms: u64,
    /// Serve also in the lowest grade of confinement.
    pub accept_landlock_mode: bool,
    /// How much at once.
    pub runs: RunsConfig,
    /// What is kept.
    pub results: ResultsConfig,
    /// The host image.
    pub host_image: HostImageConfig,
    /// The proof that confinement holds.
    pub self_test: SelfTestConfig,
    /// Where Prometheus scrapes.
    pub metrics: Option<MetricsConfig>,
    /// The API over TCP.
    pub tcp: Option<TcpConfig>,
    /// Who may call.
    pub principals: Vec<PrincipalConfig>,
}

/// Why there is no configuration.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("read configuration {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The file is no TOML, or has an unknown key or a value of the wrong type.
    #[error("{}:{line}:{column}: {problem}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// What is wrong.
        problem: String,
    },
    /// A value that is not allowed.
    #[error("configuration {key} = {value}: {allowed}")]
    Value {
        /// Path of the key.
        key: String,
        /// The value.
        value: String,
        /// What is allowed.
        allowed: String,
    },
}

/// Reads the file that `overrides` name, else [`CONFIG_PATH`] if it exists, else takes the defaults.
///
/// # Errors
/// See [`ConfigError`].
pub fn load(overrides: Overrides, surroundings: &Surroundings) -> Result<Config, ConfigError> {
    let path = match &overrides.config {
        Some(path) => Some(path.clone()),
        None => Some(PathBuf::from(CONFIG_PATH)).filter(|path| path.exists()),
    };
    let text = match &path {
        Some(path) => std::fs::read_to_string(path).map_err(|source| ConfigError::Read {
            path: path.clone(),
            source,
        })?,
        None => String::new(),
    };
    parse(&text, path, overrides, surroundings)
}

/// From text to a checked configuration.
///
/// # Errors
/// [`ConfigError::Syntax`] or [`ConfigError::Value`].
pub fn parse(
    text: &str,
    file: Option<PathBuf>,
    overrides: Overrides,
    surroundings: &Surroundings,
) -> Result<Config, ConfigError> {
    let document: Document = toml::from_str(text).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start);
        let (line, column) = position(text, offset);
        ConfigError::Syntax {
            path: file.clone().unwrap_or_default(),
            line,
            column,
            problem: error.message().to_owned(),
        }
    })?;
    let runtime_dir = document
        .runtime_dir
        .unwrap_or_else(|| surroundings.runtime_dir());
    let state_dir = overrides.state_dir.or(document.state_dir);
    let socket = overrides.socket.or(document.socket);
    let config = Config {
        file,
        socket: socket.unwrap_or_else(|| runtime_dir.join("sandboxd.sock")),
        socket_group: document.socket_group,
        state_dir: state_dir.unwrap_or_else(|| surroundings.state_dir()),
        runtime_dir,
        policies_dir: document.policies_dir,
        log: overrides.log.unwrap_or(document.log),
        log_json: document.log_json,
        node: document.node,
        api_ids: (document.api_uid, document.api_gid),
        audit_ids: (document.audit_uid, document.audit_gid),
        launcher: document.launcher,
        init: document.init,
        probe: document.probe,
        check: document.check,
        drain_ms: document.drain_ms,
        accept_landlock_mode: document.accept_landlock_mode,
        runs: document.runs,
        results: document.results,
        host_image: document.host_image,
        self_test: document.self_test,
        metrics: document.metrics,
        tcp: document.tcp,
        principals: document.principal,
    };
    check(&config)?;
    Ok(config)
}

fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before
        .chars()
        .rev()
        .take_while(|letter| *letter != '\n')
        .count()
        + 1;
    (line, column)
}

fn check(config: &Config) -> Result<(), ConfigError> {
    let refuse = |key: &str, value: &dyn std::fmt::Display, allowed: &str| {
        Err(ConfigError::Value {
            key: key.to_owned(),
            value: value.to_string(),
            allowed: allowed.to_owned(),
        })
    };
    let ids = [
        config.api_ids.0,
        config.api_ids.1,
        config.audit_ids.0,
        config.audit_ids.1,
    ];
    if ids.contains(&0) {
        return refuse(
            "api_uid, api_gid, audit_uid, audit_gid",
            &0,
            "must not be root's",
        );
    }
    if config.api_ids.0 == config.audit_ids.0 {
        let allowed = "must differ from api_uid, so that the API cannot touch the audit log";
        return refuse("audit_uid", &config.audit_ids.0, allowed);
    }
    if config.runs.queue_len_max == 0 || config.runs.batch_in_flight_max == 0 {
        return refuse(
            "runs.queue_len_max, runs.batch_in_flight_max",
            &0,
            "at least 1",
        );
    }
    if config.runs.sandboxes_max > SANDBOXES_MAX {
        let allowed = format!("0 to {SANDBOXES_MAX}: each leases 65,536 host ids");
        return refuse("runs.sandboxes_max", &config.runs.sandboxes_max, &allowed);
    }
    if config.results.keep_ms < KEYS_KEPT_MS {
        let allowed = "at least 86400000 (24 h), for which idempotency keys are promised";
        return refuse("results.keep_ms", &config.results.keep_ms, allowed);
    }
    for path in &config.host_image.extra_read_paths {
        if !path.is_absolute() || path == Path::new("/") {
            let allowed = "absolute paths other than /";
            return refuse("host_image.extra_read_paths", &path.display(), allowed);
        }
    }
    if let Some(metrics) = &config.metrics
        && !metrics_address_allowed(&metrics.listen)
    {
        let allowed = "unix:/absolute/path, or a loopback address with port such as 127.0.0.1:9464";
        return refuse("metrics.listen", &metrics.listen, allowed);
    }
    principal::check(config)
}

fn metrics_address_allowed(listen: &str) -> bool {
    match listen.strip_prefix("unix:") {
        Some(path) => Path::new(path).is_absolute(),
        None => listen
            .parse::<std::net::SocketAddr>()
            .is_ok_and(|address| address.ip().is_loopback()),
    }
}
