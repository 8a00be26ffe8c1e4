//! Logs: to stderr, filtered, as text or JSON. It does not know the audit log, which is no log.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

/// Why there are no logs.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TelemetryError {
    /// The filter cannot be read.
    #[error(
        "log filter {filter:?} is not valid; write a level such as \"info\", or \"sandboxd=debug,warn\""
    )]
    Filter {
        /// As given.
        filter: String,
        /// Why.
        #[source]
        source: tracing_subscriber::filter::ParseError,
    },
    /// Logs were started before.
    #[error("start logs")]
    Start(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Starts logs of this process.
///
/// # Errors
/// A filter that cannot be read, or logs that run already.
pub fn start(filter: &str, json: bool) -> Result<(), TelemetryError> {
    let parsed = EnvFilter::try_new(filter).map_err(|source| TelemetryError::Filter {
        filter: filter.to_owned(),
        source,
    })?;
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(parsed)
        .with_writer(std::io::stderr)
        // Whoever reads them may be gone, which must not end us.
        .log_internal_errors(false)
        .with_ansi(std::io::stderr().is_terminal() && !json);
    if json {
        subscriber.json().try_init().map_err(TelemetryError::Start)
    } else {
        subscriber.try_init().map_err(TelemetryError::Start)
    }
}

/// An error with its causes, in one line.
#[must_use]
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(deeper) = source {
        text = format!("{text}: {deeper}");
        source = deeper.source();
    }
    text
}
