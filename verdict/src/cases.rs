//! Kind `cases`: a solution is run once for each of up to 10,000 cases, each in a fresh process or
//! fork, and what it wrote or returned is compared here, outside of every sandbox: no expected
//! value is ever where a solution is. Pure; the exchange itself is the caller's.

pub mod coding;
pub mod equal;
pub mod integer;
pub mod judge;
pub mod literal;
pub mod plan;
pub mod report;
#[cfg(test)]
mod tests;
pub mod value;
pub mod wire;
