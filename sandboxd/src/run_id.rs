//! Ids of runs: they sort by time and cannot be guessed.

use std::io;

/// The first part of the ids of all runs submitted at a time, in milliseconds since 1970.
#[must_use]
pub fn prefix_at(unix_ms: u64) -> String {
    format!("{unix_ms:012x}")
}

/// A new id: twelve hexadecimal digits of time, then sixteen from the kernel's random numbers.
///
/// # Errors
/// The kernel gives no random numbers.
pub fn new(unix_ms: u64) -> io::Result<String> {
    let mut random = [0_u8; 8];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    Ok(format!("{}-{}", prefix_at(unix_ms), hex::encode(random)))
}

#[cfg(test)]
mod tests;
