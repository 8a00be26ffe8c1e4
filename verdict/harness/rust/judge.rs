//! The judge's end: calls of the solution's functions, the tests one by one, and the report.
//! Nothing of the solution runs here; what it answers is checked against declared types.

use std::any::Any;
use std::fmt::Debug;
use std::fs::File;
use std::io::Write;
use std::panic::{self, AssertUnwindSafe, Location, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::wire::{Get, Put, Reader, Wrong, descriptor, quote, read_frame, write_frame, wrong};

const SOCKET_FD: i32 = 3;
const REPORT_FD: i32 = 4;
const NONCE_FILE: &str = ".rollcage/nonce";
const MESSAGE_BYTES_MAX: usize = 2000;

struct State {
    socket: Option<File>,
    gone: bool,
    refused: Option<String>,
    /// What panicked last, and at which line.
    failure: Option<(String, u32)>,
}

static STATE: Mutex<State> = Mutex::new(State {
    socket: None,
    gone: false,
    refused: None,
    failure: None,
});

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One call of one function.
pub struct Request {
    text: String,
    first: bool,
    trouble: Option<Wrong>,
}

impl Request {
    pub fn new(name: &str) -> Self {
        let mut text = String::from("{\"call\":");
        quote(&mut text, name);
        text.push_str(",\"args\":[");
        Self {
            text,
            first: true,
            trouble: None,
        }
    }

    pub fn put(&mut self, value: &(impl Put + ?Sized)) {
        if !self.first {
            self.text.push(',');
        }
        self.first = false;
        if let Err(wrong) = value.put(&mut self.text) {
            self.trouble = Some(wrong);
        }
    }

    /// Sends it and takes the answer; `backs` takes what became of the arguments.
    #[track_caller]
    pub fn send<R: Get>(self, backs: impl FnOnce(&mut Backs<'_, '_>) -> Result<(), Wrong>) -> R {
        match self.answered(backs) {
            Ok(value) => value,
            Err(Wrong(why)) => panic!("{why}"),
        }
    }

    fn answered<R: Get>(
        mut self,
        backs: impl FnOnce(&mut Backs<'_, '_>) -> Result<(), Wrong>,
    ) -> Result<R, Wrong> {
        let refused = |why: String| {
            state().refused = Some(why.clone());
            Err(Wrong(why))
        };
        if let Some(Wrong(why)) = self.trouble {
            return refused(why);
        }
        self.text.push_str("]}");
        let Some(answer) = exchange(&self.text) else {
            return Err(Wrong("the solution is gone".to_owned()));
        };
        if let Some((kind, message)) = error_in(&answer) {
            if kind == "cannot cross" {
                return refused(message);
            }
            return Err(Wrong(format!("the solution panicked: {message}")));
        }
        let mut from = Reader::new(&answer);
        read_answer(&mut from, backs).or_else(|Wrong(why)| refused(why))
    }
}

fn read_answer<R: Get>(
    from: &mut Reader<'_>,
    backs: impl FnOnce(&mut Backs<'_, '_>) -> Result<(), Wrong>,
) -> Result<R, Wrong> {
    from.open("ok")?;
    let value = R::get(from)?;
    from.want(",")?;
    if from.text()? != "args" {
        return wrong();
    }
    from.want(":")?;
    from.want("[")?;
    let mut all = Backs { from, first: true };
    backs(&mut all)?;
    from.want("]")?;
    from.close()?;
    Ok(value)
}

/// The answer to a frame; `None` = the solution is gone.
fn exchange(text: &str) -> Option<String> {
    let mut state = state();
    let gone = state.gone;
    let socket = state.socket.as_mut().filter(|_| !gone)?;
    let sent = write_frame(socket, text);
    let answer = sent.and_then(|()| read_frame(socket));
    state.gone = answer.is_err();
    answer.ok()
}

fn error_in(answer: &str) -> Option<(String, String)> {
    let read = || -> Result<(String, String), Wrong> {
        let mut from = Reader::new(answer);
        from.open("error")?;
        from.open("type")?;
        let kind = from.text()?;
        from.want(",")?;
        from.want("\"message\"")?;
        from.want(":")?;
        Ok((kind, from.text()?))
    };
    read().ok()
}

/// What becomes of the arguments after a call.
pub struct Backs<'a, 'b> {
    from: &'a mut Reader<'b>,
    first: bool,
}

impl Backs<'_, '_> {
    fn next(&mut self) -> Result<(), Wrong> {
        if !self.first {
            self.from.want(",")?;
        }
        self.first = false;
        Ok(())
    }

    pub fn skip(&mut self) -> Result<(), Wrong> {
        self.next()?;
        self.from.want("null")
    }

    pub fn take<T: Get>(&mut self, argument: &mut T) -> Result<(), Wrong> {
        self.next()?;
        *argument = T::get(self.from)?;
        Ok(())
    }

    pub fn take_items<T: Get>(&mut self, items: &mut [T]) -> Result<(), Wrong> {
        self.next()?;
        let came = Vec::<T>::get(self.from)?;
        if came.len() != items.len() {
            return wrong();
        }
        for (to, item) in items.iter_mut().zip(came) {
            *to = item;
        }
        Ok(())
    }
}

/// What a test may return.
pub trait Ended {
    fn failure(self) -> Option<String>;
}
impl Ended for () {
    fn failure(self) -> Option<String> {
        None
    }
}
impl<T, E: Debug> Ended for Result<T, E> {
    fn failure(self) -> Option<String> {
        self.err().map(|error| format!("the test returned {error:?}"))
    }
}

/// One function of a test: its name, what it is, and the words of a panic that it must end with.
pub struct Step {
    pub name: &'static str,
    pub run: fn() -> Option<String>,
    pub panics: Option<&'static str>,
}

/// One test: its id, the lines of its code in this program, and its functions.
pub struct Test {
    pub id: &'static str,
    pub lines: (u32, u32),
    pub steps: &'static [Step],
}

struct Outcome {
    status: &'static str,
    message: String,
    line: Option<u32>,
}

fn attempt(test: &Test) -> Outcome {
    let mut outcome = Outcome {
        status: "passed",
        message: String::new(),
        line: None,
    };
    if test.steps.is_empty() {
        outcome.status = "skipped";
        outcome.message = "the test code has no test".to_owned();
    }
    for step in test.steps {
        state().refused = None;
        state().failure = None;
        let ended = catch_unwind(AssertUnwindSafe(step.run));
        let failure = state().failure.take();
        let (first, last) = test.lines;
        let line = failure.as_ref().map(|(_, line)| *line);
        let line = line.filter(|line| (first..=last).contains(line));
        let said = failure.map_or_else(String::new, |(said, _)| said);
        let why = match (ended, step.panics) {
            (Ok(None), None) => None,
            (Ok(Some(why)), None) => Some(why),
            (Ok(_), Some(_)) => Some("the test did not panic as it must".to_owned()),
            (Err(_), Some(words)) if said.contains(words) => None,
            (Err(_), Some(_)) => Some(format!("the test panicked otherwise: {said}")),
            (Err(_), None) => Some(said),
        };
        let refused = state().refused.take();
        if let Some(why) = refused.or(why) {
            outcome.status = if why.starts_with("the solution") { "error" } else { "failed" };
            let named = test.steps.len() > 1;
            outcome.message = if named { format!("{}: {why}", step.name) } else { why };
            outcome.line = line.map(|line| line - first + 1);
            break;
        }
    }
    if state().gone {
        outcome.status = "error";
        outcome.message = "the solution is gone".to_owned();
    }
    outcome
}

fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without words".to_owned())
}

fn shown(text: &str) -> &str {
    text.get(..text.floor_char_boundary(MESSAGE_BYTES_MAX))
        .unwrap_or(text)
}

pub fn judge(tests: &[Test]) {
    panic::set_hook(Box::new(|info| {
        let line = info.location().map_or(0, Location::line);
        state().failure = Some((words(info.payload()), line));
    }));
    state().socket = Some(descriptor(SOCKET_FD));
    let mut report = descriptor(REPORT_FD);
    let nonce = std::fs::read_to_string(NONCE_FILE).unwrap_or_default();
    let mut text = String::from("{\"version\":1,\"nonce\":");
    quote(&mut text, &nonce);
    let loaded = exchange("{\"load\":true}").is_some();
    let load = if loaded { "ok" } else { "gone" };
    text.push_str(&format!(",\"load\":{{\"state\":\"{load}\"}},\"verifier_error\":null,\"changed\":[],\"tests\":["));
    let mut gone: Option<&str> = None;
    for (number, test) in tests.iter().filter(|_| loaded).enumerate() {
        let was_gone = state().gone;
        let began = Instant::now();
        let outcome = attempt(test);
        if state().gone && !was_gone {
            gone = Some(test.id);
        }
        text.push_str(if number > 0 { ",{\"id\":" } else { "{\"id\":" });
        quote(&mut text, test.id);
        text.push_str(&format!(",\"status\":\"{}\",\"message\":", outcome.status));
        quote(&mut text, shown(&outcome.message));
        let line = outcome.line.map_or("null".to_owned(), |line| line.to_string());
        let duration_ms = began.elapsed().as_millis();
        text.push_str(&format!(",\"line\":{line},\"duration_ms\":{duration_ms}}}"));
    }
    text.push_str("],\"gone\":");
    match gone {
        Some(id) => quote(&mut text, id),
        None => text.push_str("null"),
    }
    text.push_str(",\"complete\":true}\n");
    // Without a whole report nothing passes.
    let written = report.write_all(text.as_bytes());
    std::process::exit(i32::from(written.is_err()));
}
