//! The paths, and what each answer's HTTP status is: 200 for whatever a program did, 504 for what
//! says nothing about it (the one status that verl tries again), 4xx for what the caller can fix.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Json, Response};
use axum::routing::{get, post};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde_json::{Value, json};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::{Listener, Settings, Tenants, is_this_machine};
use crate::daemon::Trouble;
use crate::sandboxfusion::{Answer, Executor, Failed, Invalid};

/// How long a client may take to send a request.
const BODY_DEADLINE: Duration = Duration::from_secs(30);
/// When to try again, where the daemon does not say, in seconds.
const RETRY_SECONDS: u64 = 1;

struct App {
    tenants: Tenants,
    /// Places for requests.
    slots: Arc<Semaphore>,
    /// Room for their bodies, in KiB.
    room: Arc<Semaphore>,
    body_bytes_max: usize,
    listener: Listener,
}

/// The endpoint's paths.
pub(super) fn router(tenants: Tenants, settings: &Settings) -> Router {
    let room_kib = (settings.bodies_bytes_max >> 10).min(Semaphore::MAX_PERMITS);
    let app = App {
        tenants,
        slots: Arc::new(Semaphore::new(settings.in_flight_max)),
        room: Arc::new(Semaphore::new(room_kib)),
        body_bytes_max: settings.body_bytes_max,
        listener: settings.listener.clone(),
    };
    Router::new()
        .route("/v1/ping", get(|| async { Json("pong") }))
        .route("/run_code", post(run_code))
        .fallback(nothing_here)
        .with_state(Arc::new(app))
}

async fn nothing_here() -> Refusal {
    let text = "nothing is here; this endpoint has POST /run_code and GET /v1/ping";
    Refusal::new(StatusCode::NOT_FOUND, text)
}

async fn run_code(State(app): State<Arc<App>>, request: Request) -> Result<Response, Refusal> {
    let answered = app.run_code(request).await;
    if let Err(refusal) = &answered
        && refusal.status == StatusCode::GATEWAY_TIMEOUT
    {
        app.listener.hear(refusal.message());
    }
    answered
}

impl App {
    async fn run_code(&self, request: Request) -> Result<Response, Refusal> {
        let executor = self.executor(request.headers())?;
        require_json(request.headers())?;
        let (_slot, _room) = self.admit(request.headers())?;
        let body = self.read(request.into_body()).await?;
        match executor.run_code(&body).await {
            Ok(answer) => Ok(Json(answer).into_response()),
            Err(failed) => Err(refusal(failed)),
        }
    }

    /// What carries out the requests of whoever sent these headers.
    fn executor(&self, headers: &HeaderMap) -> Result<Arc<Executor>, Refusal> {
        match &self.tenants {
            Tenants::Anybody(executor) => {
                // A page in a browser can make it ask a name of its own that means this machine.
                let host = text(headers, &header::HOST).unwrap_or_default();
                if !is_this_machine(host) {
                    let text = format!(
                        "Host = {host:?}: without keys only localhost and loopback addresses are served"
                    );
                    return Err(Refusal::new(StatusCode::FORBIDDEN, text));
                }
                Ok(Arc::clone(executor))
            }
            Tenants::Keys(keys) => {
                let secret = secret(headers).ok_or_else(|| {
                    Refusal::new(
                        StatusCode::UNAUTHORIZED,
                        "no key came with this request; send `Authorization: Bearer KEY`, \
                         `X-API-Key: KEY`, or http://NAME:KEY@host in the URL",
                    )
                })?;
                let held = keys.iter().find(|(key, _)| key.is(&secret));
                held.map(|(_, executor)| Arc::clone(executor))
                    .ok_or_else(|| Refusal::new(StatusCode::UNAUTHORIZED, "this key is not known"))
            }
        }
    }

    /// A place for the request and room for its body; nobody waits for them here.
    fn admit(
        &self,
        headers: &HeaderMap,
    ) -> Result<(OwnedSemaphorePermit, OwnedSemaphorePermit), Refusal> {
        let length = text(headers, &header::CONTENT_LENGTH).and_then(|text| text.parse().ok());
        let length = length.unwrap_or(self.body_bytes_max);
        if length > self.body_bytes_max {
            return Err(self.too_large());
        }
        let full = |_| {
            refusal(Failed::Trouble(Trouble::Busy {
                message: "as many requests as may be are in flight already".to_owned(),
                retry_after_ms: None,
            }))
        };
        let slot = Arc::clone(&self.slots).try_acquire_owned().map_err(full)?;
        let kib = u32::try_from(length.div_ceil(1 << 10)).unwrap_or(u32::MAX);
        let room = Arc::clone(&self.room)
            .try_acquire_many_owned(kib)
            .map_err(full)?;
        Ok((slot, room))
    }

    async fn read(&self, body: Body) -> Result<Bytes, Refusal> {
        let reading = Limited::new(body, self.body_bytes_max).collect();
        match tokio::time::timeout(BODY_DEADLINE, reading).await {
            Ok(Ok(body)) => Ok(body.to_bytes()),
            Ok(Err(error)) if error.is::<LengthLimitError>() => Err(self.too_large()),
            Ok(Err(error)) => Err(Refusal::new(
                StatusCode::BAD_REQUEST,
                format!("the request ended early: {error}"),
            )),
            Err(_late) => Err(Refusal::new(
                StatusCode::REQUEST_TIMEOUT,
                "the request took longer than 30 s to come",
            )),
        }
    }

    fn too_large(&self) -> Refusal {
        let text = format!(
            "the request is larger than {} bytes (--body-max)",
            self.body_bytes_max
        );
        Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, text)
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &header::HeaderName) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// The key, in whichever of the three ways a client can send one.
fn secret(headers: &HeaderMap) -> Option<String> {
    if let Some(key) = headers.get("x-api-key") {
        return key.to_str().ok().map(str::to_owned);
    }
    let (scheme, rest) = text(headers, &header::AUTHORIZATION)?.split_once(' ')?;
    if scheme.eq_ignore_ascii_case("bearer") {
        return Some(rest.trim().to_owned());
    }
    // What a user name and password in a URL become.
    if scheme.eq_ignore_ascii_case("basic") {
        let pair = String::from_utf8(STANDARD.decode(rest.trim()).ok()?).ok()?;
        let (_name, key) = pair.split_once(':')?;
        return Some(key.to_owned());
    }
    None
}

/// A page in a browser may send other types to loopback without asking first.
fn require_json(headers: &HeaderMap) -> Result<(), Refusal> {
    let kind = text(headers, &header::CONTENT_TYPE).unwrap_or_default();
    let essence = kind.split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    let text = format!("Content-Type = {kind:?}: send application/json");
    Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, text))
}

/// An answer that is about no program. Clients that look at the HTTP status find it there; those
/// that only read the body find `SandboxError` in it.
struct Refusal {
    status: StatusCode,
    body: Value,
    retry_after: Option<u64>,
}

impl Refusal {
    fn new(status: StatusCode, text: impl Into<String>) -> Self {
        let text = text.into();
        let detail = json!(text);
        Self::with_detail(status, text, detail)
    }

    fn with_detail(status: StatusCode, text: String, detail: Value) -> Self {
        let mut body = json!(Answer::sandbox_error(text));
        if let Some(fields) = body.as_object_mut() {
            fields.insert("detail".to_owned(), detail);
        }
        Self {
            status,
            body,
            retry_after: None,
        }
    }
}

impl Refusal {
    fn message(&self) -> &str {
        self.body["message"].as_str().unwrap_or_default()
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(self.body)).into_response();
        if let Some(seconds) = self.retry_after {
            let seconds = HeaderValue::from(seconds);
            response.headers_mut().insert(header::RETRY_AFTER, seconds);
        }
        response
    }
}

fn refusal(failed: Failed) -> Refusal {
    match failed {
        Failed::Invalid(invalid) => unusable(&invalid),
        Failed::Trouble(Trouble::Refused { message, .. }) => {
            Refusal::new(StatusCode::BAD_REQUEST, format!("refused: {message}"))
        }
        Failed::Trouble(Trouble::Busy {
            message,
            retry_after_ms,
        }) => Refusal {
            retry_after: Some(retry_after_ms.map_or(RETRY_SECONDS, |ms| ms.div_ceil(1000).max(1))),
            ..Refusal::new(StatusCode::GATEWAY_TIMEOUT, format!("busy: {message}"))
        },
        Failed::Trouble(Trouble::Fault { message }) => Refusal {
            retry_after: Some(RETRY_SECONDS),
            ..Refusal::new(StatusCode::GATEWAY_TIMEOUT, format!("fault: {message}"))
        },
    }
}

fn unusable(invalid: &Invalid) -> Refusal {
    let status = match invalid.field.as_str() {
        "body" => StatusCode::BAD_REQUEST,
        _ => StatusCode::UNPROCESSABLE_ENTITY,
    };
    let detail = json!([{
        "type": "value_error",
        "loc": ["body", invalid.field],
        "msg": invalid.problem,
        "input": invalid.value,
    }]);
    Refusal::with_detail(status, invalid.to_string(), detail)
}
