//! The proof that each lock holds: a table of attempts, each with the answers that are right in a
//! setting, and the judgement of what a program found that tried them.
//!
//! Pure: no I/O, no clock, no system call. The program that tries is `sandbox-probe` (in `src/bin`);
//! it knows nothing of what is expected, and this library nothing of how an attempt is made. Both
//! share the names of the rows and the lists of what a sandbox may see.

pub mod battery;
mod finding;
mod judge;
pub mod lists;
mod row;
mod setting;
mod witnessed;

pub use battery::{BATTERY, row_named};
pub use finding::{
    Finding, LINES_MAX, NAME_BYTES_MAX, OUTPUT_BYTES_MAX, ParseError, RESULT_BYTES_MAX, parse,
};
pub use judge::{Judged, MISSING, judge, judge_row};
pub use row::{Class, Expectation, Outside, Row, expected};
pub use setting::Setting;
pub use witnessed::{WITNESSED, judge_witnessed};
