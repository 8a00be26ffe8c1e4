//! The paths with their HTTP status, without a network.

use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tower::ServiceExt;

use super::*;
use crate::daemon::Trouble;
use crate::testing::{Scripted, exited, ran};

fn settings() -> Settings {
    Settings {
        listen: SocketAddr::from(([127, 0, 0, 1], 0)),
        in_flight_max: 4,
        body_bytes_max: 4096,
        bodies_bytes_max: 8192,
        drain: Duration::ZERO,
        run: RunSettings {
            output_bytes_max: 1 << 20,
            ..RunSettings::default()
        },
        listener: Listener::new(|_| {}),
    }
}

fn anybody(daemon: Arc<Scripted>) -> Tenants {
    Tenants::Anybody(Arc::new(Executor::new(daemon, settings().run, None)))
}

fn request(body: &Value) -> axum::http::request::Builder {
    Request::post("/run_code")
        .header(header::HOST, "127.0.0.1:8080")
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::CONTENT_LENGTH, body.to_string().len())
}

async fn send(tenants: Tenants, request: Request<Body>) -> (StatusCode, Option<String>, Value) {
    let router = routes::router(tenants, &settings());
    let response = router.oneshot(request).await.unwrap();
    let status = response.status();
    let retry = response.headers().get(header::RETRY_AFTER);
    let retry = retry.map(|value| value.to_str().unwrap().to_owned());
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, retry, serde_json::from_slice(&body).unwrap())
}

fn python() -> Value {
    json!({ "code": "print(1)", "language": "python" })
}

#[tokio::test]
async fn a_ping_is_answered() {
    let ping = Request::get("/v1/ping").body(Body::empty()).unwrap();
    let (status, _, body) = send(anybody(Scripted::new([])), ping).await;
    assert_eq!((status, body), (StatusCode::OK, json!("pong")));
}

#[tokio::test]
async fn an_answer_is_200_and_has_all_fields_of_the_wire() {
    let daemon = Scripted::new([Ok(ran(exited(1), "1\n"))]);
    let body = python();
    let asked = request(&body).body(Body::from(body.to_string())).unwrap();
    let (status, _, answer) = send(anybody(daemon), asked).await;
    assert_eq!(status, StatusCode::OK);
    let expected = json!({
        "status": "Failed", "message": "", "compile_result": null,
        "run_result": {
            "status": "Finished", "execution_time": 0.0, "cpu_time": 0.0, "return_code": 1,
            "stdout": "1\n", "stderr": "",
        },
        "executor_pod_name": "node-1", "files": {},
    });
    assert_eq!(answer, expected);
}

#[tokio::test]
async fn trouble_is_504_and_never_reads_as_an_answer() {
    let table = [
        (Trouble::fault("no daemon"), Some("1"), "fault: no daemon"),
        (
            Trouble::Busy {
                message: "queue full".to_owned(),
                retry_after_ms: Some(2_300),
            },
            Some("3"),
            "busy: queue full",
        ),
    ];
    for (trouble, retry_after, message) in table {
        let body = python();
        let asked = request(&body).body(Body::from(body.to_string())).unwrap();
        let (status, retry, answer) = send(anybody(Scripted::new([Err(trouble)])), asked).await;
        assert_eq!(status, StatusCode::GATEWAY_TIMEOUT);
        assert_eq!(retry.as_deref(), retry_after);
        assert_eq!(answer["status"], "SandboxError");
        assert_eq!(answer["message"], message);
        assert!(answer["run_result"].is_null() && answer["compile_result"].is_null());
    }
}

#[tokio::test]
async fn whoever_operates_it_hears_of_trouble_and_of_nothing_else() {
    let heard = Arc::new(std::sync::Mutex::new(Vec::new()));
    let writes = Arc::clone(&heard);
    let listened = Settings {
        listener: Listener::new(move |words| writes.lock().unwrap().push(words.to_owned())),
        ..settings()
    };
    let answers = [Err(Trouble::fault("no daemon")), Ok(ran(exited(1), ""))];
    let router = routes::router(anybody(Scripted::new(answers)), &listened);
    for code in ["print(1)", "print(2)", ""] {
        let language = if code.is_empty() { "cobol" } else { "python" };
        let body = json!({ "code": code, "language": language });
        let asked = request(&body).body(Body::from(body.to_string())).unwrap();
        router.clone().oneshot(asked).await.unwrap();
    }
    assert_eq!(*heard.lock().unwrap(), ["fault: no daemon"]);
}

#[tokio::test]
async fn what_the_caller_can_fix_has_its_own_status() {
    let python = python();
    let ask = |body: &str, kind: &str| {
        let request = Request::post("/run_code").header(header::HOST, "localhost:8080");
        let request = request.header(header::CONTENT_TYPE, kind);
        request.body(Body::from(body.to_owned())).unwrap()
    };
    let json_type = "application/json; charset=utf-8";
    let no_path = Request::get("/run_jupyter").body(Body::empty()).unwrap();
    let large = format!("{{\"code\":\"{}\"}}", "x".repeat(5_000));
    let other_host = Request::post("/run_code").header(header::HOST, "evil.example");
    let other_host = other_host.body(Body::empty()).unwrap();
    let table = [
        (ask("{", json_type), 400, "not JSON"),
        (ask("{\"code\":\"\"}", json_type), 422, "language"),
        (ask(&large, json_type), 413, "larger than 4096 bytes"),
        (
            ask(&python.to_string(), "text/plain"),
            415,
            "application/json",
        ),
        (no_path, 404, "POST /run_code"),
        (other_host, 403, "evil.example"),
    ];
    for (asked, code, part) in table {
        let (status, _, answer) = send(anybody(Scripted::new([])), asked).await;
        assert_eq!(status.as_u16(), code, "{answer}");
        assert!(answer.to_string().contains(part), "{answer}");
        assert_eq!(answer["status"], "SandboxError");
    }
}

#[tokio::test]
async fn a_field_is_blamed_as_the_clients_of_this_wire_expect() {
    let mut body = python();
    body["run_timeout"] = json!(-1);
    let asked = request(&body).body(Body::from(body.to_string())).unwrap();
    let (_, _, answer) = send(anybody(Scripted::new([])), asked).await;
    assert_eq!(answer["detail"][0]["loc"], json!(["body", "run_timeout"]));
    assert_eq!(answer["detail"][0]["input"], "-1");
}

#[tokio::test]
async fn more_bodies_than_there_is_room_for_are_told_to_come_again() {
    let tight = Settings {
        bodies_bytes_max: 1024,
        ..settings()
    };
    let router = routes::router(anybody(Scripted::new([])), &tight);
    let body = json!({ "code": "x".repeat(2_000), "language": "python" });
    let asked = request(&body).body(Body::from(body.to_string())).unwrap();
    let response = router.oneshot(asked).await.unwrap();
    assert_eq!(response.status(), StatusCode::GATEWAY_TIMEOUT);
}

#[tokio::test]
async fn with_keys_only_their_holders_are_served() {
    // Digest of `secret`.
    let digest = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b";
    let keys = read_keys(&format!(
        "[[key]]\nname = \"team\"\nsha256 = \"{digest}\"\n"
    ))
    .unwrap();
    // `x:secret` and `x:other`.
    let table = [
        (None, 401),
        (Some(("authorization", "Bearer secret")), 200),
        (Some(("authorization", "Basic eDpzZWNyZXQ=")), 200),
        (Some(("x-api-key", "secret")), 200),
        (Some(("authorization", "Bearer other")), 401),
        (Some(("authorization", "Basic eDpvdGhlcg==")), 401),
        (Some(("x-api-key", "")), 401),
    ];
    for (sent, code) in table {
        let daemon = Scripted::new([Ok(ran(exited(0), ""))]);
        let executor = Executor::new(daemon.clone(), settings().run, Some("team".to_owned()));
        let tenants = Tenants::Keys(vec![(keys[0].clone(), Arc::new(executor))]);
        let body = python();
        let mut asked = request(&body);
        if let Some((name, value)) = sent {
            asked = asked.header(name, value);
        }
        let asked = asked.body(Body::from(body.to_string())).unwrap();
        let (status, _, answer) = send(tenants, asked).await;
        assert_eq!(status.as_u16(), code, "{sent:?}: {answer}");
        let labels = daemon
            .asked()
            .first()
            .map(|run| run.labels["endpoint.key"].clone());
        assert_eq!(labels.as_deref(), (code == 200).then_some("team"));
    }
}

#[tokio::test]
async fn without_keys_only_loopback_is_served() {
    let open = Settings {
        listen: SocketAddr::from(([0, 0, 0, 0], 0)),
        ..settings()
    };
    let error = Server::for_loopback(open, Scripted::new([]))
        .await
        .unwrap_err();
    assert!(matches!(error, ServeError::OpenToAll { .. }), "{error}");
    assert!(error.to_string().contains("--keys"), "{error}");
}

#[test]
fn hosts_that_mean_this_machine() {
    for host in [
        "localhost",
        "LOCALHOST:1",
        "127.0.0.1:8080",
        "127.8.8.8",
        "[::1]:8080",
    ] {
        assert!(is_this_machine(host), "{host}");
    }
    for host in [
        "",
        "example.org",
        "127.0.0.1.evil.example",
        "10.0.0.1:8080",
        "[::2]",
    ] {
        assert!(!is_this_machine(host), "{host}");
    }
}
