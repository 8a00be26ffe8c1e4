//! `rollcage compat serve` in front of a world's daemon, and an HTTP client of a few lines: one
//! request a connection.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ExitStatus, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::world::World;

/// What it says on standard error, in the world's work folder.
pub(super) const LOG: &str = "endpoint.log";
/// No answer takes longer.
const ANSWER_MAX: Duration = Duration::from_secs(150);

/// An answer.
#[derive(Debug)]
pub(super) struct Reply {
    /// HTTP status.
    pub(super) code: u16,
    /// Its head, as it came.
    pub(super) head: String,
    /// Its body.
    pub(super) body: Value,
}

/// A running endpoint; dropping it ends it.
#[derive(Debug)]
pub(super) struct Endpoint {
    child: Child,
    authority: String,
}

impl Endpoint {
    /// Starts one on a free port and waits until it serves.
    pub(super) fn start(world: &World, options: &[&str]) -> Self {
        let log = File::create(world.work().join(LOG)).expect("a file for what it says");
        let mut command = world.rollcage();
        command
            .args(["--json", "compat", "serve", "--listen", "127.0.0.1:0"])
            .args(options)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log);
        let mut child = command.spawn().expect("start the endpoint");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("its output");
        BufReader::new(stdout)
            .read_line(&mut line)
            .expect("read where it serves");
        let told: Value = serde_json::from_str(&line).expect("where it serves");
        let url = told["url"].as_str().expect("an address");
        let authority = url.strip_prefix("http://").expect("an http address");
        Self {
            authority: authority.to_owned(),
            child,
        }
    }

    /// Where `/run_code` is.
    pub(super) fn run_code_url(&self) -> String {
        format!("http://{}/run_code", self.authority)
    }

    /// Sends one request and waits for its answer.
    pub(super) fn ask(&self, body: &Value) -> Reply {
        self.ask_with(body, "")
    }

    /// The same with more lines in the head.
    pub(super) fn ask_with(&self, body: &Value, head: &str) -> Reply {
        let body = body.to_string();
        let stream = self.send(&format!(
            "POST /run_code HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\nConnection: close\r\n{head}\r\n{body}",
            self.authority,
            body.len()
        ));
        read_reply(stream)
    }

    /// Sends one request and waits for nothing.
    pub(super) fn send_run(&self, body: &Value) -> TcpStream {
        let body = body.to_string();
        self.send(&format!(
            "POST /run_code HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        ))
    }

    /// Sends bytes as they are.
    pub(super) fn send(&self, request: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.authority).expect("connect");
        stream
            .set_read_timeout(Some(ANSWER_MAX))
            .expect("a time limit");
        stream.write_all(request.as_bytes()).expect("send");
        stream
    }

    /// Sends requests at once and gives their answers in their order.
    pub(super) fn ask_at_once(&self, bodies: &[Value]) -> Vec<Reply> {
        std::thread::scope(|scope| {
            let asking: Vec<_> = bodies
                .iter()
                .map(|body| scope.spawn(move || self.ask(body)))
                .collect();
            let replies = asking.into_iter();
            replies
                .map(|asking| asking.join().expect("an answer"))
                .collect()
        })
    }

    /// Tells it to end.
    pub(super) fn tell_to_end(&self) {
        let pid = i32::try_from(self.child.id()).expect("a pid");
        kill(Pid::from_raw(pid), Signal::SIGTERM).expect("signal the endpoint");
    }

    /// Waits for its end.
    pub(super) fn wait(&mut self) -> ExitStatus {
        self.child.wait().expect("wait for the endpoint")
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        if self.child.try_wait().expect("ask for its end").is_none() {
            self.child.kill().expect("end the endpoint");
            self.wait();
        }
    }
}

/// Reads an answer to the end of its connection.
pub(super) fn read_reply(mut stream: TcpStream) -> Reply {
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("read the answer");
    let (head, body) = text.split_once("\r\n\r\n").expect("a head");
    let code = head.split(' ').nth(1).expect("a status");
    Reply {
        code: code.parse().expect("a number"),
        head: head.to_ascii_lowercase(),
        body: serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {text}")),
    }
}
