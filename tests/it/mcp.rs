//! `rollcage mcp` as an agent uses it: JSON lines in and out, with files that outlive the calls.

use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::world::World;

/// A session.
struct Agent {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Lines<BufReader<ChildStdout>>,
    number: u64,
}

impl Agent {
    fn start(world: &World) -> Self {
        let mut command = world.rollcage();
        command
            .arg("mcp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn().expect("start the server");
        let stdin = child.stdin.take();
        let lines = BufReader::new(child.stdout.take().expect("its output")).lines();
        let mut agent = Self {
            child,
            stdin,
            lines,
            number: 0,
        };
        let hello = agent.ask(
            "initialize",
            &json!({
                "protocolVersion": "2025-06-18", "capabilities": {},
                "clientInfo": { "name": "test", "version": "1" },
            }),
        );
        assert_eq!(hello["serverInfo"]["name"], "rollcage", "{hello}");
        agent.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        agent
    }

    fn say(&mut self, message: &Value) {
        let stdin = self.stdin.as_mut().expect("its input");
        writeln!(stdin, "{message}").expect("say");
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.number += 1;
        let message = json!({
            "jsonrpc": "2.0", "id": self.number, "method": method, "params": params,
        });
        self.say(&message);
        loop {
            let line = self.lines.next().expect("an answer").expect("a line");
            let answer: Value = serde_json::from_str(&line).expect("JSON");
            if answer["id"] == self.number {
                assert!(answer["error"].is_null(), "{answer}");
                return answer["result"].clone();
            }
        }
    }

    /// Calls a tool; whether it is an error, and its text.
    fn call(&mut self, tool: &str, arguments: &Value) -> (bool, String) {
        let result = self.ask(
            "tools/call",
            &json!({ "name": tool, "arguments": arguments }),
        );
        let text = result["content"][0]["text"].as_str().expect("text");
        (result["isError"] == true, text.to_owned())
    }

    /// What a tool tells, as JSON.
    fn told(&mut self, tool: &str, arguments: &Value) -> Value {
        let (is_error, text) = self.call(tool, arguments);
        assert!(!is_error, "{text}");
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    fn leave(mut self) {
        drop(self.stdin.take());
        assert!(self.child.wait().expect("its end").success());
    }
}

#[test]
fn an_agent_works_on_files_that_outlive_its_calls() {
    let test = "mcp::an_agent_works_on_files_that_outlive_its_calls";
    let Some(world) = World::start(test) else {
        return;
    };
    let mut agent = Agent::start(&world);
    let tools = agent.ask("tools/list", &json!({}));
    assert_eq!(tools["tools"].as_array().map(Vec::len), Some(5), "{tools}");
    let main = "int main() { puts(\"built\"); return 3; }";
    let (is_error, _) = agent.call(
        "write_file",
        &json!({ "path": "src/main.c", "content": format!("#include <stdio.h>\n{main}\n") }),
    );
    assert!(!is_error);
    let built = agent.told("shell", &json!({ "command": "gcc -o tool src/main.c" }));
    assert_eq!(
        built["ending"],
        json!({ "kind": "exited", "code": 0 }),
        "{built}"
    );
    assert_eq!(built["changed_files"], json!(["tool"]));
    let ran = agent.told("shell", &json!({ "command": "./tool; echo \"code $?\"" }));
    assert_eq!(ran["stdout"], "built\ncode 3\n", "{ran}");
    let listed = agent.told("list_files", &json!({}));
    assert_eq!(listed.as_array().map(Vec::len), Some(2), "{listed}");
    let code = "print(open('src/main.c').read().count('puts'))";
    let counted = agent.told("run_code", &json!({ "language": "python", "code": code }));
    assert_eq!(counted["run"]["stdout"], "1\n", "{counted}");
    let late = agent.told(
        "shell",
        &json!({ "command": "sleep 60", "timeout_seconds": 1 }),
    );
    assert_eq!(late["ending"]["kind"], "wall_time_up", "{late}");
    let (is_error, text) = agent.call("read_file", &json!({ "path": "../etc/passwd" }));
    assert!(
        is_error && text.contains("relative to the workspace"),
        "{text}"
    );
    let (is_error, text) = agent.call("run_code", &json!({ "language": "cobol", "code": "" }));
    assert!(
        is_error && text.contains("not available on this node"),
        "{text}"
    );
    agent.leave();
}
