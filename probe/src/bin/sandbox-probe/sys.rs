//! Raw system calls: the acts need them as a hostile program makes them, past every library.
//!
//! It knows no row. What a call does to this process is its caller's matter: each row acts in a
//! process of its own, which ends after it.
#![expect(unsafe_code, reason = "raw system calls are the purpose of this file")]

use std::ffi::CStr;

use nix::errno::Errno;

/// An argument of a system call.
#[derive(Debug)]
pub(crate) enum Arg<'a> {
    /// A number, or an address that the kernel is to refuse.
    N(u64),
    /// A text.
    S(&'a CStr),
    /// Bytes that the kernel reads.
    B(&'a [u8]),
    /// Bytes that the kernel writes, as many as the call was told or its structure has.
    O(&'a mut [u8]),
}

impl Arg<'_> {
    fn word(&mut self) -> u64 {
        match self {
            Self::N(number) => *number,
            Self::S(text) => address(text.as_ptr().cast()),
            Self::B(bytes) => address(bytes.as_ptr()),
            Self::O(bytes) => address(bytes.as_mut_ptr()),
        }
    }
}

fn address(pointer: *const u8) -> u64 {
    pointer.addr() as u64
}

/// `-1` as the kernel reads it.
pub(crate) const MINUS_ONE: u64 = u64::MAX;

/// `AT_FDCWD`.
pub(crate) const HERE: u64 = (-100i64).cast_unsigned();

/// Makes a system call with up to six arguments.
pub(crate) fn call(number: libc::c_long, arguments: &mut [Arg<'_>]) -> Result<u64, Errno> {
    let mut words = [0u64; 6];
    for (word, argument) in words.iter_mut().zip(arguments) {
        *word = argument.word();
    }
    raw(number, words)
}

/// Makes a system call with words as they are.
pub(crate) fn raw(number: libc::c_long, words: [u64; 6]) -> Result<u64, Errno> {
    let [a, b, c, d, e, f] = words;
    // SAFETY: what the words point to is borrowed by the caller and large enough for the call;
    // whatever else a call does to this process ends with it.
    let value = unsafe { libc::syscall(number, a, b, c, d, e, f) };
    if value == -1 {
        Err(Errno::last())
    } else {
        Ok(value.cast_unsigned())
    }
}

/// Forks; the child's side is `None`.
pub(crate) fn fork() -> Result<Option<i32>, Errno> {
    // SAFETY: this program has one thread, so that the child may run ordinary code.
    match unsafe { libc::fork() } {
        -1 => Err(Errno::last()),
        0 => Ok(None),
        pid => Ok(Some(pid)),
    }
}

/// Ends this process at once.
pub(crate) fn exit_now(code: i32) -> ! {
    // SAFETY: does not return.
    unsafe { libc::_exit(code) }
}

/// Executes a program with further words; returns only on failure.
pub(crate) fn execute(path: &CStr, words: &[&CStr]) -> Errno {
    let mut arguments = vec![path.as_ptr()];
    arguments.extend(words.iter().map(|word| word.as_ptr()));
    arguments.push(std::ptr::null());
    let environment = [std::ptr::null()];
    // SAFETY: both lists end with a null pointer, and the texts outlive the call.
    unsafe { libc::execve(path.as_ptr(), arguments.as_ptr(), environment.as_ptr()) };
    Errno::last()
}

/// Calls by the 32-bit ABI, with arguments of zero. The kernel's result, negative for an errno.
pub(crate) fn by_int80(number: u32) -> i32 {
    let mut value = u64::from(number);
    // SAFETY: the registers that the ABI takes arguments in are zero, those that it changes are
    // told; the compiler keeps rbx for itself, so that it is put back by hand.
    unsafe {
        std::arch::asm!(
            "push rbx",
            "xor ebx, ebx",
            "int 0x80",
            "pop rbx",
            inout("rax") value,
            in("rcx") 0u64, in("rdx") 0u64, in("rsi") 0u64, in("rdi") 0u64,
            out("r8") _, out("r9") _, out("r10") _, out("r11") _,
        );
    }
    i32::from_ne_bytes([0, 1, 2, 3].map(|at| value.to_ne_bytes()[at]))
}
