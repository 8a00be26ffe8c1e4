//! Plain values as text that crosses between a solution and its judge, and the frames it crosses in.
//! Both ends have it as a module; it knows neither what is called nor what is expected.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::FromRawFd;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether what comes knows no types: then whatever can mean a value of the wanted one is taken, and
/// what goes out has no sign that only a judge of the same types could read.
pub static LENIENT: AtomicBool = AtomicBool::new(false);

pub fn lenient() -> bool {
    LENIENT.load(Ordering::Relaxed)
}

pub const FRAME_BYTES_MAX: usize = 64 << 20;

/// A descriptor that this process was started with.
pub fn descriptor(number: i32) -> File {
    // SAFETY: the descriptor is this process's own from its start, and each is taken once.
    unsafe { File::from_raw_fd(number) }
}

pub fn read_frame(from: &mut File) -> io::Result<String> {
    let mut head = [0; 4];
    from.read_exact(&mut head)?;
    let length = u32::from_le_bytes(head) as usize;
    if length > FRAME_BYTES_MAX {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut bytes = vec![0; length];
    from.read_exact(&mut bytes)?;
    String::from_utf8(bytes).map_err(|_not_text| io::ErrorKind::InvalidData.into())
}

pub fn write_frame(to: &mut File, text: &str) -> io::Result<()> {
    if text.len() > FRAME_BYTES_MAX {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut frame = (text.len() as u32).to_le_bytes().to_vec();
    frame.extend_from_slice(text.as_bytes());
    to.write_all(&frame)
}

pub fn quote(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            c if (c as u32) < 0x20 => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
}

/// What came is not a value of the type that is wanted.
#[derive(Debug)]
pub struct Wrong(pub String);

pub fn wrong<T>() -> Result<T, Wrong> {
    Err(Wrong("a value of another type came back".to_owned()))
}

/// Reads values from text.
pub struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    pub fn new(text: &'a str) -> Self {
        Self { rest: text }
    }

    pub fn take(&mut self, wanted: &str) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(wanted) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    pub fn want(&mut self, wanted: &str) -> Result<(), Wrong> {
        if self.take(wanted) { Ok(()) } else { wrong() }
    }

    pub fn text(&mut self) -> Result<String, Wrong> {
        self.want("\"")?;
        let mut out = String::new();
        let mut chars = self.rest.chars();
        loop {
            match chars.next() {
                Some('"') => break,
                Some('\\') => match chars.next() {
                    Some('u') => out.push(escaped(&mut chars)?),
                    Some('n') => out.push('\n'),
                    Some('t') => out.push('\t'),
                    Some('r') => out.push('\r'),
                    Some('b') => out.push('\u{8}'),
                    Some('f') => out.push('\u{c}'),
                    Some(c @ ('"' | '\\' | '/')) => out.push(c),
                    _ => return wrong(),
                },
                Some(c) => out.push(c),
                None => return wrong(),
            }
        }
        self.rest = chars.as_str();
        Ok(out)
    }

    /// The key of an object with one key.
    pub fn open_any(&mut self) -> Result<String, Wrong> {
        self.want("{")?;
        let key = self.text()?;
        self.want(":")?;
        Ok(key)
    }

    pub fn open(&mut self, key: &str) -> Result<(), Wrong> {
        if self.open_any()? == key { Ok(()) } else { wrong() }
    }

    /// The same, or that of another kind, where it may be one.
    pub fn open_one(&mut self, key: &str, other: &str) -> Result<(), Wrong> {
        let found = self.open_any()?;
        if found == key || (lenient() && found == other) { Ok(()) } else { wrong() }
    }

    pub fn close(&mut self) -> Result<(), Wrong> {
        self.want("}")
    }

    /// Whether there is another item in a list that was begun with `[`.
    pub fn more(&mut self, first: &mut bool) -> Result<bool, Wrong> {
        if self.take("]") {
            return Ok(false);
        }
        if !*first {
            self.want(",")?;
        }
        *first = false;
        Ok(true)
    }

    pub fn items<T: Get>(&mut self, kind: &str, mut each: impl FnMut(T)) -> Result<(), Wrong> {
        self.open_one(kind, if kind == "l" { "t" } else { "l" })?;
        self.want("[")?;
        let mut first = true;
        while self.more(&mut first)? {
            each(T::get(self)?);
        }
        self.close()
    }

    pub fn plain(&mut self, kind: &str) -> Result<String, Wrong> {
        self.plain_one(kind, kind)
    }

    /// A text under one of two signs.
    pub fn plain_one(&mut self, kind: &str, other: &str) -> Result<String, Wrong> {
        self.open_one(kind, other)?;
        let text = self.text()?;
        self.close()?;
        Ok(text)
    }
}

fn escaped(chars: &mut std::str::Chars<'_>) -> Result<char, Wrong> {
    let mut unit = || {
        let digits: String = chars.by_ref().take(4).collect();
        u32::from_str_radix(&digits, 16).or_else(|_none| wrong())
    };
    let first = unit()?;
    let code = if (0xd800..0xdc00).contains(&first) {
        if chars.next() != Some('\\') || chars.next() != Some('u') {
            return wrong();
        }
        let digits: String = chars.by_ref().take(4).collect();
        let second = u32::from_str_radix(&digits, 16).or_else(|_none| wrong())?;
        if !(0xdc00..0xe000).contains(&second) {
            return wrong();
        }
        0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00)
    } else {
        first
    };
    char::from_u32(code).map_or_else(wrong, Ok)
}

/// What can be sent.
pub trait Put {
    fn put(&self, out: &mut String) -> Result<(), Wrong>;
}

/// What can come.
pub trait Get: Sized {
    fn get(from: &mut Reader<'_>) -> Result<Self, Wrong>;
}
