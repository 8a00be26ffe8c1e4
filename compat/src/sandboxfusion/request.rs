//! A request of `/run_code`, read field by field, so that what is wrong is told with its field, its
//! value and what would be right.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

/// Time limit of a stage when none is given, in milliseconds.
const TIMEOUT_MS_DEFAULT: u64 = 10_000;
/// The most that is understood as a time limit, in seconds: a day.
const TIMEOUT_SECONDS_MAX: f64 = 86_400.0;
/// Most files of a request, and most that can be fetched.
const FILES_MAX: usize = 1_000;
/// Longest piece of a wrong value that is shown.
const SHOWN_CHARS_MAX: usize = 60;
const MIB: u64 = 1 << 20;

/// What `/run_code` is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct RunCode {
    /// The source.
    pub code: String,
    /// Name of its language.
    pub language: String,
    /// Standard input; none: empty.
    pub stdin: Option<String>,
    /// Time for building it, in milliseconds.
    pub compile_ms_max: u64,
    /// Time for running it, in milliseconds.
    pub run_ms_max: u64,
    /// Memory in bytes; none: what the policy gives.
    pub memory_bytes_max: Option<u64>,
    /// Files put beside the source, by path.
    pub files: BTreeMap<String, Vec<u8>>,
    /// Files to return when the program is over.
    pub fetch_files: Vec<String>,
}

/// A field that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.text())]
pub struct Invalid {
    /// Its path.
    pub field: String,
    /// What was given, shortened; empty where there is nothing to show.
    pub value: String,
    /// What is wrong with it, and what would be right.
    pub problem: String,
}

impl Invalid {
    pub(crate) fn new(field: impl Into<String>, value: &Value, problem: impl Into<String>) -> Self {
        let text = match value {
            Value::Null => String::new(),
            value => value.to_string(),
        };
        let mut shown: String = text.chars().take(SHOWN_CHARS_MAX).collect();
        if shown.len() < text.len() {
            shown.push('…');
        }
        Self {
            field: field.into(),
            value: shown,
            problem: problem.into(),
        }
    }

    /// A file has a name that the endpoint needs itself.
    pub(crate) fn taken(path: &str) -> Self {
        let problem = "is a name of this endpoint's own; give the file another one";
        Self::new(format!("files[{path:?}]"), &Value::Null, problem)
    }

    fn text(&self) -> String {
        let Self {
            field,
            value,
            problem,
        } = self;
        match value.as_str() {
            "" => format!("{field}: {problem}"),
            value => format!("{field} = {value}: {problem}"),
        }
    }
}

impl RunCode {
    /// Reads the body of a request.
    ///
    /// # Errors
    /// The first field that cannot be used.
    pub fn parse(body: &[u8]) -> Result<Self, Invalid> {
        let value: Value = serde_json::from_slice(body)
            .map_err(|error| Invalid::new("body", &Value::Null, format!("not JSON: {error}")))?;
        let Value::Object(mut fields) = value else {
            return Err(Invalid::new("body", &value, "must be a JSON object"));
        };
        let request = Self {
            code: required_text(&mut fields, "code")?,
            language: required_text(&mut fields, "language")?,
            stdin: optional_text(&mut fields, "stdin")?,
            compile_ms_max: timeout(&mut fields, "compile_timeout")?,
            run_ms_max: timeout(&mut fields, "run_timeout")?,
            memory_bytes_max: memory(&mut fields)?,
            files: files(&mut fields)?,
            fetch_files: fetch_files(&mut fields)?,
        };
        // A field that would be ignored could be one that its sender relies on.
        match fields.iter().find(|(_, value)| !value.is_null()) {
            None => Ok(request),
            Some((name, value)) => Err(Invalid::new(
                name.as_str(),
                value,
                "no such field; there are code, language, stdin, compile_timeout, run_timeout, \
                 memory_limit_MB, files and fetch_files",
            )),
        }
    }
}

fn take(fields: &mut Map<String, Value>, name: &str) -> Option<Value> {
    fields.remove(name).filter(|value| !value.is_null())
}

fn optional_text(fields: &mut Map<String, Value>, name: &str) -> Result<Option<String>, Invalid> {
    match take(fields, name) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(Invalid::new(name, &other, "must be a string")),
    }
}

fn required_text(fields: &mut Map<String, Value>, name: &str) -> Result<String, Invalid> {
    optional_text(fields, name)?
        .ok_or_else(|| Invalid::new(name, &Value::Null, "is required, a string"))
}

fn timeout(fields: &mut Map<String, Value>, name: &str) -> Result<u64, Invalid> {
    let Some(value) = take(fields, name) else {
        return Ok(TIMEOUT_MS_DEFAULT);
    };
    match value.as_f64() {
        Some(seconds) if seconds > 0.0 && seconds <= TIMEOUT_SECONDS_MAX => {
            Ok(milliseconds(seconds))
        }
        _ => Err(Invalid::new(
            name,
            &value,
            "must be a number of seconds above 0 and at most 86400",
        )),
    }
}

/// Whole milliseconds, rounded up, of a time that was found to be within a day.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the caller has seen that it lies between 0 and 86400 seconds"
)]
fn milliseconds(seconds: f64) -> u64 {
    (seconds * 1000.0).ceil() as u64
}

/// -1 says that the caller sets no limit of its own.
fn memory(fields: &mut Map<String, Value>) -> Result<Option<u64>, Invalid> {
    let name = "memory_limit_MB";
    let Some(value) = take(fields, name) else {
        return Ok(None);
    };
    if value.as_i64() == Some(-1) {
        return Ok(None);
    }
    match value.as_u64() {
        Some(mib) if mib > 0 => Ok(Some(mib.saturating_mul(MIB))),
        _ => Err(Invalid::new(
            name,
            &value,
            "must be a whole number of MiB above 0, or -1 for what the policy gives",
        )),
    }
}

fn files(fields: &mut Map<String, Value>) -> Result<BTreeMap<String, Vec<u8>>, Invalid> {
    let given = match take(fields, "files") {
        None => return Ok(BTreeMap::new()),
        Some(Value::Object(given)) => given,
        Some(other) => {
            let problem = "must be an object: path -> content in base64";
            return Err(Invalid::new("files", &other, problem));
        }
    };
    if given.len() > FILES_MAX {
        let problem = format!("at most {FILES_MAX} files");
        return Err(Invalid::new("files", &Value::from(given.len()), problem));
    }
    let mut files = BTreeMap::new();
    for (path, content) in given {
        let field = format!("files[{path:?}]");
        match &content {
            // A file that its client left out.
            Value::Null => {}
            Value::String(text) => {
                let content = STANDARD.decode(text).map_err(|error| {
                    Invalid::new(&field, &content, format!("must be base64: {error}"))
                })?;
                files.insert(path, content);
            }
            other => return Err(Invalid::new(&field, other, "must be a string of base64")),
        }
    }
    Ok(files)
}

fn fetch_files(fields: &mut Map<String, Value>) -> Result<Vec<String>, Invalid> {
    let given = match take(fields, "fetch_files") {
        None => return Ok(Vec::new()),
        Some(Value::Array(given)) => given,
        Some(other) => {
            let problem = "must be a list of paths";
            return Err(Invalid::new("fetch_files", &other, problem));
        }
    };
    if given.len() > FILES_MAX {
        let problem = format!("at most {FILES_MAX} paths");
        return Err(Invalid::new(
            "fetch_files",
            &Value::from(given.len()),
            problem,
        ));
    }
    let path = |(index, value): (usize, Value)| {
        let field = format!("fetch_files[{index}]");
        match value {
            Value::String(path) if !path.contains(['*', '?']) => Ok(path),
            Value::String(_) => Err(Invalid::new(
                field,
                &value,
                "names one file; patterns (`*`, `?`) are not taken",
            )),
            other => Err(Invalid::new(field, &other, "must be a string")),
        }
    };
    given.into_iter().enumerate().map(path).collect()
}
