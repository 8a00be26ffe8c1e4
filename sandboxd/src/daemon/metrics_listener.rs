//! `GET /metrics` over HTTP for Prometheus, on a unix socket or loopback only.

use std::convert::Infallible;
use std::sync::Arc;

use http::{Method, Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};

use super::listeners::MetricsListener;
use crate::grpc::desk::Desk;
use crate::metrics::{Load, Metrics};
use crate::run::Engine;

/// What a scrape asks.
#[derive(Debug, Clone)]
pub(super) struct Scrape {
    pub(super) metrics: Arc<Metrics>,
    pub(super) engine: Engine,
    pub(super) desk: Desk,
}

impl Scrape {
    fn text(&self) -> Result<String, std::fmt::Error> {
        let load = self.engine.load();
        let count = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        self.metrics.load_set(Load {
            runs_active: count(self.desk.active_len()),
            runs_queued: count(load.queued),
            sandboxes_live: u64::from(load.live),
        });
        // Each live sandbox holds one of each.
        for kind in ["uid_range", "cgroup", "mount_namespace"] {
            self.metrics.kernel_objects_set(kind, i64::from(load.live));
        }
        self.metrics.to_text()
    }

    fn answer(&self, request: &Request<Incoming>) -> Response<Full<Bytes>> {
        let plain = |status, text: &'static str| {
            let mut response = Response::new(Full::from(text));
            *response.status_mut() = status;
            response
        };
        if request.uri().path() != "/metrics" {
            return plain(StatusCode::NOT_FOUND, "only /metrics is here\n");
        }
        if request.method() != Method::GET {
            return plain(StatusCode::METHOD_NOT_ALLOWED, "only GET\n");
        }
        match self.text() {
            Ok(text) => {
                let mut response = Response::new(Full::from(text));
                let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
                response
                    .headers_mut()
                    .insert(header::CONTENT_TYPE, header::HeaderValue::from_static(kind));
                response
            }
            Err(_format) => plain(StatusCode::INTERNAL_SERVER_ERROR, "cannot be written\n"),
        }
    }
}

/// Answers scrapes until the daemon ends.
pub(super) async fn serve(listener: MetricsListener, scrape: Scrape) -> std::io::Result<()> {
    match listener {
        MetricsListener::Unix(listener) => {
            let listener = tokio::net::UnixListener::from_std(listener)?;
            loop {
                let (stream, _peer) = listener.accept().await?;
                tokio::spawn(connection(stream, scrape.clone()));
            }
        }
        MetricsListener::Tcp(listener) => {
            let listener = tokio::net::TcpListener::from_std(listener)?;
            loop {
                let (stream, _peer) = listener.accept().await?;
                tokio::spawn(connection(stream, scrape.clone()));
            }
        }
    }
}

async fn connection<S>(stream: S, scrape: Scrape)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let service = service_fn(move |request: Request<Incoming>| {
        let answer = scrape.answer(&request);
        async move { Ok::<_, Infallible>(answer) }
    });
    let served = hyper::server::conn::http1::Builder::new()
        .serve_connection(TokioIo::new(stream), service)
        .await;
    if let Err(error) = served {
        tracing::debug!(%error, "a scrape ended early");
    }
}
