//! `rollcage mcp`: sandboxes as tools of a coding agent, over the Model Context Protocol on standard
//! input and output.
//!
//! A session has a workspace of files, kept here between calls: each call gets them in a fresh
//! sandbox, and `shell` leaves behind what it made of them. Nothing else outlives a call.

mod tools;
mod workspace;

use std::sync::Arc;

use clap::Args;
use compat::sandboxfusion::{BusyTimeouts, Executor, Failed, Settings as RunSettings, StageAnswer};
use compat::{Daemon, Trouble};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
};
use rmcp::service::{QuitReason, RequestContext};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde_json::{Map, Value, json};
use tokio::sync::Mutex;

use super::Context;
use super::compat::daemon::GrpcDaemon;
use super::connection::Session;
use super::failure::Failure;
use super::signals::Signals;
use crate::pb;
use workspace::Workspace;

/// Bytes of output beyond which a program is ended.
const OUTPUT_BYTES_TOTAL_MAX: u32 = 16 << 20;

/// Options of `mcp`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  in the configuration of an agent, which starts it,
  {\"mcpServers\": {\"rollcage\": {\"command\": \"rollcage\", \"args\": [\"mcp\"]}}}

Tools: shell, run_code, write_file, read_file, list_files.")]
pub(crate) struct McpArgs {
    /// Policy of `shell`.
    #[arg(long, value_name = "NAME", default_value = "build")]
    policy: String,
    /// PATH of compilers and interpreters in the sandboxes. Without it: the daemon's.
    #[arg(long, value_name = "DIRS")]
    path: Option<String>,
}

/// Does it.
pub(crate) async fn mcp(context: &Context, args: McpArgs) -> Result<u8, Failure> {
    let mut signals = Signals::take()?;
    let session = tokio::select! {
        session = Session::open(context) => session?,
        () = signals.next() => return Err(Failure::Interrupted),
    };
    let server = Server::new(Arc::new(GrpcDaemon::new(session.client.clone())), args);
    let served = tokio::select! {
        served = serve(server) => served,
        () = signals.next() => Ok(()),
    };
    let ended = session.end(&context.terminal).await;
    served?;
    ended?;
    Ok(0)
}

/// Until standard input ends.
async fn serve(server: Server) -> Result<(), Failure> {
    let broken = |what: String| Failure::Answer { what };
    let running = server
        .serve(rmcp::transport::stdio())
        .await
        .map_err(|error| broken(format!("the agent's first words: {error}")))?;
    match running.waiting().await {
        Ok(QuitReason::JoinError(error)) | Err(error) => Err(broken(error.to_string())),
        Ok(_closed) => Ok(()),
    }
}

/// The tools of one session.
#[derive(Debug)]
struct Server {
    daemon: Arc<dyn Daemon>,
    executor: Executor,
    args: McpArgs,
    // Held while a shell works on it, so that calls see each other's files whole.
    workspace: Mutex<Workspace>,
}

/// Why a call has no result. The agent reads these words.
#[derive(Debug, thiserror::Error)]
enum CallError {
    /// The agent can call better.
    #[error("{0}")]
    Call(String),
    /// Nothing the agent did.
    #[error(
        "the sandbox is in trouble, which is not the program's fault and says nothing about it; \
         try again later: {0}"
    )]
    Trouble(String),
}

impl From<Trouble> for CallError {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Refused { message, .. } => Self::Call(message),
            other => Self::Trouble(other.to_string()),
        }
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("rollcage", env!("CARGO_PKG_VERSION")))
            .with_instructions(tools::INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::all()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let told = self.call(&request.name, arguments).await;
        let result = match told {
            Ok(value) => CallToolResult::success(vec![ContentBlock::text(shown(&value))]),
            Err(error) => CallToolResult::error(vec![ContentBlock::text(error.to_string())]),
        };
        Ok(result.into())
    }
}

/// Text as it is; anything else as JSON.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => format!("{other:#}"),
    }
}

impl Server {
    fn new(daemon: Arc<dyn Daemon>, args: McpArgs) -> Self {
        let settings = RunSettings {
            policy: None,
            search_path: args.path.clone(),
            output_bytes_max: u64::from(OUTPUT_BYTES_TOTAL_MAX),
            // Nobody is scored by it: late is told as late.
            busy_timeouts: BusyTimeouts::Count,
        };
        Self {
            executor: Executor::new(Arc::clone(&daemon), settings, None),
            daemon,
            args,
            workspace: Mutex::default(),
        }
    }

    async fn call(&self, tool: &str, arguments: Map<String, Value>) -> Result<Value, CallError> {
        let mut arguments = tools::Arguments::new(arguments);
        match tool {
            "shell" => self.shell(arguments).await,
            "run_code" => self.run_code(arguments).await,
            "write_file" => {
                let path = arguments.text("path")?;
                let content = arguments.text("content")?;
                arguments.end()?;
                let mut workspace = self.workspace.lock().await;
                let bytes = content.len();
                workspace.write(&path, content.into_bytes())?;
                Ok(json!(format!("{path}: {bytes} bytes")))
            }
            "read_file" => {
                let path = arguments.text("path")?;
                arguments.end()?;
                let content = self.workspace.lock().await.read(&path)?;
                Ok(json!(content))
            }
            "list_files" => {
                arguments.end()?;
                Ok(self.workspace.lock().await.list())
            }
            other => Err(CallError::Call(format!(
                "no tool {other:?}; there are shell, run_code, write_file, read_file, list_files"
            ))),
        }
    }

    async fn run_code(&self, mut arguments: tools::Arguments) -> Result<Value, CallError> {
        let language = arguments.text("language")?;
        let code = arguments.text("code")?;
        let stdin = arguments.optional_text("stdin")?;
        let seconds = arguments.seconds()?;
        arguments.end()?;
        let files = self.workspace.lock().await.in_base64();
        let body = json!({
            "language": language, "code": code, "stdin": stdin, "files": files,
            "compile_timeout": seconds, "run_timeout": seconds,
        });
        let answer = self.executor.run_code(body.to_string().as_bytes()).await;
        match answer {
            Ok(answer) => {
                let stage = |stage: StageAnswer| tools::stage(&stage);
                Ok(json!({
                    "message": answer.message,
                    "compile": answer.compile_result.map(stage),
                    "run": answer.run_result.map(stage),
                }))
            }
            Err(Failed::Invalid(invalid)) => Err(CallError::Call(invalid.to_string())),
            Err(Failed::Trouble(trouble)) => Err(trouble.into()),
        }
    }

    async fn shell(&self, mut arguments: tools::Arguments) -> Result<Value, CallError> {
        let command = arguments.text("command")?;
        let stdin = arguments.optional_text("stdin")?;
        let seconds = arguments.seconds()?;
        arguments.end()?;
        let mut workspace = self.workspace.lock().await;
        let ceilings = self.daemon.ceilings(&self.args.policy).await?;
        let wall_ms = i64::from(seconds) * 1000;
        let most = |value: i64, max: u64| value.min(i64::try_from(max).unwrap_or(i64::MAX));
        let limits = pb::Limits {
            wall_ms_max: Some(most(wall_ms, ceilings.wall_ms_max)),
            cpu_ms_max: Some(most(wall_ms, ceilings.cpu_ms_max)),
            output_bytes_total_max: Some(most(
                i64::from(OUTPUT_BYTES_TOTAL_MAX),
                ceilings.output_bytes_total_max,
            )),
            ..pb::Limits::default()
        };
        let mut request = pb::RunRequest {
            policy: self.args.policy.clone(),
            argv: vec!["bash".to_owned(), "-c".to_owned(), command],
            files: workspace.files(),
            stdin: stdin.map(String::into_bytes),
            limits: Some(limits),
            collect: vec!["**".to_owned()],
            retry_infra: Some(true),
            ..pb::RunRequest::default()
        };
        request
            .labels
            .insert("endpoint".to_owned(), "mcp".to_owned());
        if let Some(path) = &self.args.path {
            request.env.insert("PATH".to_owned(), path.clone());
        }
        let ran = self.daemon.run(request).await?;
        tools::shell_result(ran, &mut workspace)
    }
}
