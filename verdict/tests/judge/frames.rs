//! Arbitrary frames on the socket between judge and solution, read by the judge's real code: it
//! reads them or loses its peer, tells nothing that the test did not hand over, and does nothing
//! else. `ROLLCAGE_TEST_SEED` gives other frames.

use std::path::Path;
use std::process::Command;

use crate::python_or_skip;

/// Frames in the short form: a second or two.
const FRAMES: u32 = 5_000;

#[test]
fn no_frame_makes_the_judge_do_more_than_read_it() {
    let Some(python) = python_or_skip(1) else {
        return;
    };
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let seed = std::env::var("ROLLCAGE_TEST_SEED").unwrap_or_else(|_unset| "1".to_owned());
    println!("ROLLCAGE_TEST_SEED={seed}");
    let output = Command::new("timeout")
        .args(["-s", "KILL", "120", &python, "-I", "-S", "-B"])
        .arg(crate_folder.join("tests/judge/programs/frames.py"))
        .arg(crate_folder.join("harness"))
        .args([&seed, &FRAMES.to_string()])
        .output()
        .expect("starts the interpreter");
    let said = String::from_utf8_lossy(&output.stdout);
    println!("{said}");
    assert!(output.status.success(), "{output:?}");
    assert!(said.starts_with(&format!("{FRAMES} frames")), "{said}");
    for came in ["'read'", "'served'", "'lost'"] {
        assert!(said.contains(came), "no frame was {came}: {said}");
    }
}
