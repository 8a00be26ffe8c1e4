//! Connections over the unix socket, counted: a daemon that somebody else's command started serves
//! whoever came to it meanwhile, and ends when the last of them has left.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf};
use tokio::net::UnixStream;
use tokio::sync::watch;
use tonic::transport::server::{Connected, UdsConnectInfo};

/// How many are open, but those of the process that started us.
#[derive(Debug, Clone)]
pub(super) struct Connections {
    open: watch::Sender<usize>,
    parent: i32,
}

impl Connections {
    pub(super) fn new() -> Self {
        Self {
            open: watch::Sender::new(0),
            parent: nix::unistd::getppid().as_raw(),
        }
    }

    /// Counts a connection of somebody else for as long as it is open.
    pub(super) fn count(&self, stream: UnixStream) -> Counted {
        let peer = stream.peer_cred().ok().and_then(|peer| peer.pid());
        // Our parent says by our standard input when it needs us no more, whatever it holds open.
        let of = (peer != Some(self.parent)).then(|| self.clone());
        if let Some(connections) = &of {
            connections.open.send_modify(|open| *open += 1);
        }
        Counted { stream, of }
    }

    /// Waits until nobody needs an embedded daemon any more: whoever started it has closed our
    /// standard input, and nobody else has a connection open. For a service: forever.
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
    of: Option<Connections>,
}

impl Drop for Counted {
    fn drop(&mut self) {
        if let Some(connections) = &self.of {
            let open = &connections.open;
            open.send_modify(|open| *open = open.saturating_sub(1));
        }
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
