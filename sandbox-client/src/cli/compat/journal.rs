//! What whoever operates an endpoint is told of its trouble: a line a second at most, however many
//! requests meet it.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::super::terminal::Terminal;

/// Least time between two lines.
const PERIOD: Duration = Duration::from_secs(1);

/// Lines on standard error.
#[derive(Debug)]
pub(super) struct Journal {
    terminal: Terminal,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    last: Option<Instant>,
    untold: u64,
}

impl Journal {
    pub(super) fn new(terminal: Terminal) -> Self {
        Self {
            terminal,
            state: Mutex::default(),
        }
    }

    /// Tells it, or counts it for the next line.
    pub(super) fn tell(&self, words: &str) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.last.is_some_and(|last| last.elapsed() < PERIOD) {
            state.untold += 1;
            return;
        }
        let more = match state.untold {
            0 => String::new(),
            untold => format!(" ({untold} more since the last line)"),
        };
        self.terminal.talk(&format!("504 {words}{more}"));
        *state = State {
            last: Some(Instant::now()),
            untold: 0,
        };
    }
}
