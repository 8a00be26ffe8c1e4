//! The solution's end: answers calls of the functions that were declared, until the judge is gone.
//! It knows no expected value; nothing that it says is believed but as an answer.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;

use super::wire::{Get, LENIENT, Put, Reader, Wrong, quote, read_frame, write_frame, wrong};

const SOCKET_FD: i32 = 3;

/// Answers one call: reads its arguments, writes its result.
pub type Answer = fn(&mut Reader<'_>, &mut String) -> Result<(), Wrong>;

pub fn serve(entries: &[(&str, Answer)]) {
    let mut socket = super::wire::descriptor(SOCKET_FD);
    while let Ok(text) = read_frame(&mut socket) {
        let mut out = String::new();
        let answered = catch_unwind(AssertUnwindSafe(|| serve_one(&text, entries, &mut out)));
        let trouble = match answered {
            Ok(Ok(())) => None,
            Ok(Err(Wrong(why))) => Some(("cannot cross", why)),
            Err(panic) => Some(("panic", message(&*panic))),
        };
        if let Some((kind, why)) = trouble {
            out.clear();
            out.push_str("{\"error\":{\"type\":");
            quote(&mut out, kind);
            out.push_str(",\"message\":");
            quote(&mut out, &why);
            out.push_str("}}");
        }
        if write_frame(&mut socket, &out).is_err() {
            break;
        }
    }
}

fn serve_one(text: &str, entries: &[(&str, Answer)], out: &mut String) -> Result<(), Wrong> {
    let mut from = Reader::new(text);
    let what = from.open_any()?;
    if what == "load" {
        out.push_str("{\"ok\":null,\"args\":[]}");
        return Ok(());
    }
    let is_plain = what == "plain";
    LENIENT.store(is_plain, Ordering::Relaxed);
    let name = from.text()?;
    from.want(",")?;
    if from.text()? != "args" {
        return wrong();
    }
    from.want(":")?;
    from.want("[")?;
    // A label is NAME/NUMBER.
    let is_meant = |label: &str| match label.strip_prefix(name.as_str()) {
        Some(rest) => rest.is_empty() || (is_plain && rest.starts_with('/')),
        None => false,
    };
    match entries.iter().find(|(label, _)| is_meant(label)) {
        Some((_, answer)) => answer(&mut from, out),
        None => wrong(),
    }
}

pub fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "something that is no text".to_owned())
}

/// The next argument of a call.
pub fn argument<T: Get>(from: &mut Reader<'_>, first: &mut bool) -> Result<T, Wrong> {
    if from.more(first)? { T::get(from) } else { wrong() }
}

pub fn end(from: &mut Reader<'_>, first: &mut bool) -> Result<(), Wrong> {
    if from.more(first)? { wrong() } else { Ok(()) }
}

/// The result, and the arguments that were lent to be changed.
pub fn answer(out: &mut String, result: &dyn Put, backs: &[Option<&dyn Put>]) -> Result<(), Wrong> {
    out.push_str("{\"ok\":");
    result.put(out)?;
    out.push_str(",\"args\":[");
    for (number, back) in backs.iter().enumerate() {
        if number > 0 {
            out.push(',');
        }
        match back {
            Some(value) => value.put(out)?,
            None => out.push_str("null"),
        }
    }
    out.push_str("]}");
    Ok(())
}
