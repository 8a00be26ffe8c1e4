//! Cancelling a run, with the name of who asked.

use std::sync::{Arc, OnceLock};

use tokio_util::sync::CancellationToken;

/// A handle shared by whoever may cancel a run and by the run itself. The first who asks is named.
#[derive(Debug, Clone, Default)]
pub struct Cancel {
    token: CancellationToken,
    by: Arc<OnceLock<String>>,
}

impl Cancel {
    /// A handle nobody has used yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Cancels on behalf of `by`, for example a principal. Only the first call counts.
    pub fn cancel(&self, by: impl Into<String>) {
        self.by.get_or_init(|| by.into());
        self.token.cancel();
    }

    /// Whether somebody asked.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.token.is_cancelled()
    }

    /// Waits until somebody asks; gives who.
    pub async fn cancelled(&self) -> String {
        self.token.cancelled().await;
        self.by.get().cloned().unwrap_or_default()
    }
}
