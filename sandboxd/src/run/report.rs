//! The private pipe that a judge, or the command of a verification, reports through. What comes is
//! kept up to a bound and not looked at.

use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::task::JoinHandle;
use verdict::plan::REPORT_BYTES_MAX;

/// How long a pipe without a writer may take to show its end.
const REPORT_END_MAX: Duration = Duration::from_secs(2);

/// What came through a private pipe.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// At most [`REPORT_BYTES_MAX`] bytes of it.
    pub bytes: Vec<u8>,
    /// Whether there was more, so that it counts for nothing.
    pub too_long: bool,
}

/// The task at our end of the pipe.
pub(crate) type Reading = JoinHandle<Report>;

/// Reads from the first byte on.
pub(crate) fn begin(pipe: pipe::Receiver) -> Reading {
    tokio::spawn(read(pipe))
}

/// Waits for its end: to be called when the sandboxes are gone, and with them every writer.
pub(crate) async fn finish(mut reading: Reading) -> Report {
    match tokio::time::timeout(REPORT_END_MAX, &mut reading).await {
        Ok(Ok(report)) => report,
        Ok(Err(error)) => {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                "the report's reader failed"
            );
            Report::default()
        }
        Err(_elapsed) => {
            tracing::error!("the report's pipe does not end");
            reading.abort();
            Report::default()
        }
    }
}

async fn read(pipe: pipe::Receiver) -> Report {
    let mut bytes = Vec::new();
    let read = pipe
        .take(REPORT_BYTES_MAX as u64 + 1)
        .read_to_end(&mut bytes)
        .await;
    if let Err(error) = read {
        tracing::error!(
            error = &error as &dyn std::error::Error,
            "a report could not be read"
        );
    }
    let too_long = bytes.len() > REPORT_BYTES_MAX;
    Report { bytes, too_long }
}
