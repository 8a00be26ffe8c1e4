//! Connections: taken in up to a number, read within a time, ended in order.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

/// Connections at once; more wait in the kernel's queue.
const CONNECTIONS_MAX: usize = 4096;
/// How long a client may take for the head of a request, and a connection may be idle.
const HEAD_DEADLINE: Duration = Duration::from_secs(75);
/// How long accepting rests after a failure: then the process has no descriptors left, and only
/// connections that end can help.
const ACCEPT_REST: Duration = Duration::from_millis(100);

/// Serves until `end` comes, and then lets connections end for `drain`.
pub(super) async fn serve(
    listener: TcpListener,
    router: Router,
    end: impl Future<Output = ()>,
    drain: Duration,
) {
    let graceful = GracefulShutdown::new();
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let mut end = std::pin::pin!(end);
    loop {
        let accepted = tokio::select! {
            biased;
            () = &mut end => break,
            accepted = accept(&listener, &places) => accepted,
        };
        let Some((stream, place)) = accepted else {
            tokio::time::sleep(ACCEPT_REST).await;
            continue;
        };
        let service = TowerToHyperService::new(router.clone());
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_DEADLINE)
            .serve_connection(TokioIo::new(stream), service);
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            // How a client left is its own business.
            match connection.await {
                Ok(()) | Err(_) => drop(place),
            }
        });
    }
    drop(listener);
    tokio::select! {
        () = graceful.shutdown() => {}
        () = tokio::time::sleep(drain) => {}
    }
}

async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> Option<(TcpStream, tokio::sync::OwnedSemaphorePermit)> {
    let place = Arc::clone(places).acquire_owned().await.ok()?;
    let (stream, _peer) = listener.accept().await.ok()?;
    // Small answers must not wait for an acknowledgement; without it they are only slower.
    match stream.set_nodelay(true) {
        Ok(()) | Err(_) => Some((stream, place)),
    }
}
