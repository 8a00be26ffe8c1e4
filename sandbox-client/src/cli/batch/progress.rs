//! How far a batch has come: a moving bar on a terminal, a line now and then elsewhere, and counts
//! at the end. Talks on stderr only.

use std::collections::BTreeMap;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};
use tokio::time::{Interval, MissedTickBehavior, interval_at};

use super::super::terminal::Terminal;
use super::super::units::show_ms;

const BAR_PERIOD: Duration = Duration::from_millis(100);
const LINE_PERIOD: Duration = Duration::from_secs(5);

/// Progress of one batch.
pub(super) struct Progress {
    terminal: Terminal,
    started: Instant,
    counts: BTreeMap<String, u64>,
    bytes_read: Arc<AtomicU64>,
    bar: Option<ProgressBar>,
    ticks: Interval,
}

/// Bytes of standard input if it is a regular file.
pub(super) fn size_of(input: &impl AsFd) -> Option<u64> {
    let status = nix::sys::stat::fstat(input.as_fd()).ok()?;
    let is_file = status.st_mode & nix::libc::S_IFMT == nix::libc::S_IFREG;
    is_file
        .then(|| u64::try_from(status.st_size).ok())
        .flatten()
        .filter(|size| *size > 0)
}

impl Progress {
    /// Nothing done yet; `input_bytes` is the size of the input if it is known.
    pub(super) fn new(terminal: &Terminal, input_bytes: Option<u64>) -> Self {
        let period = if terminal.moving {
            BAR_PERIOD
        } else {
            LINE_PERIOD
        };
        let mut ticks = interval_at(tokio::time::Instant::now() + period, period);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self {
            terminal: *terminal,
            started: Instant::now(),
            counts: BTreeMap::new(),
            bytes_read: Arc::default(),
            bar: terminal.moving.then(|| bar(input_bytes)),
            ticks,
        }
    }

    /// Counter of the input's bytes, for the reader.
    pub(super) fn bytes_read(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.bytes_read)
    }

    /// Counts one result.
    pub(super) fn count(&mut self, label: &str) {
        *self.counts.entry(label.to_owned()).or_default() += 1;
    }

    /// Waits until progress should be shown again.
    pub(super) async fn due(&mut self) {
        self.ticks.tick().await;
    }

    /// Shows it; of what was read, `bytes_in_flight` are not done.
    pub(super) fn show(&self, bytes_in_flight: u64) {
        let text = self.text();
        match &self.bar {
            Some(bar) => {
                let read = self.bytes_read.load(Ordering::Relaxed);
                bar.set_position(read.saturating_sub(bytes_in_flight));
                bar.set_message(text);
                bar.tick();
            }
            None => self.terminal.talk(&text),
        }
    }

    /// Takes the bar away and says how it went.
    pub(super) fn finish(self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        let elapsed = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.terminal
            .talk(&format!("{} in {}", self.text(), show_ms(elapsed)));
    }

    fn text(&self) -> String {
        summary(&self.counts, self.started.elapsed())
    }
}

/// `115 results (9.3/s): 110 passed, 5 failed`.
pub(super) fn summary(counts: &BTreeMap<String, u64>, elapsed: Duration) -> String {
    let total: u64 = counts.values().sum();
    let millis = u64::try_from(elapsed.as_millis())
        .unwrap_or(u64::MAX)
        .max(1);
    let tenths = total.saturating_mul(10_000) / millis;
    let mut parts: Vec<_> = counts.iter().collect();
    parts.sort_by_key(|(label, count)| (std::cmp::Reverse(**count), label.as_str()));
    let parts: Vec<String> = parts
        .iter()
        .map(|(label, count)| format!("{count} {label}"))
        .collect();
    let colon = if parts.is_empty() { "" } else { ": " };
    format!(
        "{total} results ({}.{}/s){colon}{}",
        tenths / 10,
        tenths % 10,
        parts.join(", ")
    )
}

fn bar(input_bytes: Option<u64>) -> ProgressBar {
    let (bar, template) = match input_bytes {
        Some(bytes) => (
            ProgressBar::new(bytes),
            "{spinner} {wide_bar} {percent:>3} %  {msg}",
        ),
        None => (ProgressBar::new_spinner(), "{spinner} {wide_msg}"),
    };
    bar.set_draw_target(ProgressDrawTarget::stderr());
    // A template that could not be read would only cost the looks.
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style).with_finish(ProgressFinish::AndClear),
        Err(_unreadable) => bar,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_stand_largest_first() {
        let counts = [("failed", 5), ("passed", 110), ("bad_line", 5)]
            .map(|(label, count)| (label.to_owned(), count));
        assert_eq!(
            summary(&counts.into(), Duration::from_secs(10)),
            "120 results (12.0/s): 110 passed, 5 bad_line, 5 failed"
        );
        assert_eq!(
            summary(&BTreeMap::new(), Duration::ZERO),
            "0 results (0.0/s)"
        );
    }

    #[test]
    fn only_a_file_has_a_size() {
        let mut file = tempfile::tempfile().unwrap();
        std::io::Write::write_all(&mut file, b"12345").unwrap();
        assert_eq!(size_of(&file), Some(5));
        let (read, _write) = nix::unistd::pipe().unwrap();
        assert_eq!(size_of(&read), None);
    }
}
