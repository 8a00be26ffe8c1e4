//! The listeners, each with a server of its own that ends when it is told to. What is behind them
//! is not known here.

use tokio::task::JoinSet;
use tokio_stream::StreamExt as _;
use tokio_stream::wrappers::{TcpListenerStream, UnixListenerStream};
use tokio_util::sync::CancellationToken;
use tonic::service::Routes;
use tonic::transport::Server;

use super::connections::Connections;
use super::listeners::Listeners;
use super::metrics_listener::{self, Scrape};
use super::serving::ServeError;

pub(super) fn listener(what: &'static str) -> impl FnOnce(std::io::Error) -> ServeError {
    move |source| ServeError::Listener { what, source }
}

/// Starts a server for each listener.
pub(super) fn start(
    listeners: Listeners,
    routes: Routes,
    scrape: Scrape,
    stopping: &CancellationToken,
    connections: &Connections,
) -> Result<JoinSet<Result<(), ServeError>>, ServeError> {
    let mut servers = JoinSet::new();
    let unix =
        tokio::net::UnixListener::from_std(listeners.unix).map_err(listener("the unix socket"))?;
    let connections = connections.clone();
    let incoming = UnixListenerStream::new(unix)
        .map(move |stream| stream.map(|stream| connections.count(stream)));
    let router = Server::builder().add_routes(routes.clone());
    let stopped = stopping.clone().cancelled_owned();
    servers.spawn(async move {
        router
            .serve_with_incoming_shutdown(incoming, stopped)
            .await
            .map_err(ServeError::Transport)
    });
    if let Some((tcp, tls)) = listeners.tcp {
        let tcp = tokio::net::TcpListener::from_std(tcp).map_err(listener("the TCP listener"))?;
        let mut server = Server::builder()
            .tls_config(tls)
            .map_err(ServeError::Transport)?;
        let router = server.add_routes(routes);
        let stopped = stopping.clone().cancelled_owned();
        servers.spawn(async move {
            router
                .serve_with_incoming_shutdown(TcpListenerStream::new(tcp), stopped)
                .await
                .map_err(ServeError::Transport)
        });
    }
    if let Some(metrics) = listeners.metrics {
        let stopped = stopping.clone();
        servers.spawn(async move {
            tokio::select! {
                served = metrics_listener::serve(metrics, scrape) => {
                    served.map_err(listener("the metrics listener"))
                }
                () = stopped.cancelled() => Ok(()),
            }
        });
    }
    Ok(servers)
}
