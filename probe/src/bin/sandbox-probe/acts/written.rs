//! Code that the program wrote itself.

use std::ffi::CString;
use std::fs;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;

use nix::errno::Errno;

use super::{Act, readable};
use crate::run::{Place, in_child};
use crate::sys::{self, Arg, call};
use crate::told::{Told, Word, errno_of, worked, worked_io};

#[rustfmt::skip]
pub(super) const ACTS: &[(&str, Act)] = &[
    ("execute_workspace", |_| execute_in(&folder("/workspace"))),
    ("execute_tmp", |_| execute_in(&folder("/tmp"))),
    ("execute_shm", |_| execute_in("/dev/shm")),
    ("map_written", |_| map_written()),
    ("own_jit", |_| own_jit()),
    ("execute_memory_file", |_| execute_memory_file()),
    ("execute_by_loader", |_| execute_by_loader()),
];

/// A whole program for x86_64: an ELF header, one program header, and `exit(0)`.
#[rustfmt::skip]
const TINY: [u8; 132] = [
    0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    2, 0, 62, 0, 1, 0, 0, 0, 0x78, 0, 0x40, 0, 0, 0, 0, 0,
    64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 64, 0, 56, 0, 1, 0, 0, 0, 0, 0, 0, 0,
    1, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0x40, 0, 0, 0, 0, 0, 0, 0, 0x40, 0, 0, 0, 0, 0,
    132, 0, 0, 0, 0, 0, 0, 0, 132, 0, 0, 0, 0, 0, 0, 0,
    0, 16, 0, 0, 0, 0, 0, 0,
    // mov eax, 231 (exit_group); xor edi, edi; syscall; three bytes to fill.
    0xb8, 231, 0, 0, 0, 0x31, 0xff, 0x0f, 0x05, 0x90, 0x90, 0x90,
];

/// A folder of the sandbox. Where it shares the host's files these lie elsewhere, as the variables
/// tell; outside there is no workspace.
pub(super) fn folder(path: &str) -> String {
    let variable = |name| std::env::var(name).ok();
    let own = match path {
        "/workspace" => variable("HOME").filter(|home| home.ends_with("/workspace")),
        _ => None,
    };
    own.or_else(|| variable("TMPDIR"))
        .unwrap_or_else(|| "/tmp".to_owned())
}

pub(super) fn write_tiny(path: &str) -> Result<(), Errno> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o755);
    let written = options
        .open(path)
        .and_then(|mut file| file.write_all(&TINY));
    written.map_err(errno_of)
}

fn execute_in(folder: &str) -> Told {
    let path = format!("{folder}/probe-tiny");
    write_tiny(&path)?;
    let name = CString::new(path.as_str()).map_err(|_nul| Errno::EINVAL)?;
    // Without a word it was executed, and has ended well.
    let told = in_child(Place::Here, || format!("{:?}", sys::execute(&name, &[])))?;
    fs::remove_file(&path).map_err(errno_of)?;
    Ok(if told == "no word" {
        Word::ok()
    } else {
        Word::of(&told)
    })
}

fn map(descriptor: u64, protection: i32, flags: i32) -> Told {
    let word = |flags: i32| Arg::N(u64::from(flags.unsigned_abs()));
    let mut arguments = [
        Arg::N(0),
        Arg::N(4096),
        word(protection),
        word(flags),
        Arg::N(descriptor),
        Arg::N(0),
    ];
    worked(call(libc::SYS_mmap, &mut arguments))
}

fn map_written() -> Told {
    let path = format!("{}/probe-map", folder("/tmp"));
    write_tiny(&path)?;
    let name = CString::new(path.as_str()).map_err(|_nul| Errno::EINVAL)?;
    let file = readable(&name)?;
    worked_io(fs::remove_file(&path))?;
    map(file, libc::PROT_READ | libc::PROT_EXEC, libc::MAP_PRIVATE)
}

fn own_jit() -> Told {
    let all = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
    map(sys::MINUS_ONE, all, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS)
}

fn execute_memory_file() -> Told {
    let file = call(libc::SYS_memfd_create, &mut [Arg::S(c"probe"), Arg::N(0)])?;
    let length = TINY.len() as u64;
    call(
        libc::SYS_write,
        &mut [Arg::N(file), Arg::B(&TINY), Arg::N(length)],
    )?;
    let name = CString::new(format!("/proc/self/fd/{file}")).map_err(|_nul| Errno::EINVAL)?;
    let told = in_child(Place::Here, || format!("{:?}", sys::execute(&name, &[])))?;
    Ok(if told == "no word" {
        Word::ok()
    } else {
        Word::of(&told)
    })
}

/// A copy of a program of the image, started by the loader instead of the kernel.
fn execute_by_loader() -> Told {
    let loaders = ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-musl-x86_64.so.1"];
    let Some(loader) = loaders.iter().find(|path| fs::metadata(path).is_ok()) else {
        return Ok(Word::of("no loader"));
    };
    if fs::metadata("/usr/bin/true").is_err() {
        return Ok(Word::of("no loader"));
    }
    let path = format!("{}/probe-true", folder("/tmp"));
    fs::copy("/usr/bin/true", &path).map_err(errno_of)?;
    let (loader, name) = (CString::new(*loader), CString::new(path.as_str()));
    let (Ok(loader), Ok(name)) = (loader, name) else {
        return Err(Errno::EINVAL);
    };
    let told = in_child(Place::Here, || {
        // It complains on standard error.
        let quiet = super::open(c"/dev/null", libc::O_WRONLY)
            .and_then(|null| call(libc::SYS_dup2, &mut [Arg::N(null), Arg::N(2)]));
        if let Err(errno) = quiet {
            return format!("loud: {errno:?}");
        }
        format!("{:?}", sys::execute(&loader, &[&name]))
    });
    fs::remove_file(&path).map_err(errno_of)?;
    match told?.as_str() {
        "no word" => Ok(Word::ok()),
        "exit 127" => Ok(Word::of("refused")),
        other => Ok(Word::of(other)),
    }
}
