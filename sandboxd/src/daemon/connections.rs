//! Connections over the unix socket, counted: a daemon that somebody else's command started serves
//! whoever came to it meanwhile, and ends when the last of them has left.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf};
use tokio::net::UnixStream;
use tokio::sync::watch;
use tonic::transport::server::{Connected, UdsConnectInfo};

/// How many are open.
#[derive(Debug, Clone)]
pub(super) struct Connections {
    open: watch::Sender<usize>,
}

impl Connections {
    pub(super) fn new() -> Self {
        Self {
            open: watch::Sender::new(0),
        }
    }

    /// Counts a connection for as long as it is open.
    pub(super) fn count(&self, stream: UnixStream) -> Counted {
        self.open.send_modify(|open| *open += 1);
        Counted {
            stream,
            of: self.clone(),
        }
    }

    /// Waits until nobody needs an embedded daemon any more: whoever started it has closed our
    /// standard input, and no connection is open. For a service: forever.
    pub(super) async fn unused(&self, embedded: bool) {
        if !embedded {
            return std::future::pending().await;
        }
        let mut stdin = tokio::io::stdin();
        let mut ignored = [0_u8; 256];
        while let Ok(read) = stdin.read(&mut ignored).await {
            if read == 0 {
                break;
            }
        }
        let mut open = self.open.subscribe();
        // The sender is ours: it cannot be gone.
        if open.wait_for(|open| *open == 0).await.is_err() {
            tracing::debug!("connections are not counted any more");
        }
    }
}

/// One of them.
#[derive(Debug)]
pub(super) struct Counted {
    stream: UnixStream,
    of: Connections,
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.of
            .open
            .send_modify(|open| *open = open.saturating_sub(1));
    }
}

impl Connected for Counted {
    type ConnectInfo = UdsConnectInfo;

    fn connect_info(&self) -> Self::ConnectInfo {
        self.stream.connect_info()
    }
}

impl AsyncRead for Counted {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Counted {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}
