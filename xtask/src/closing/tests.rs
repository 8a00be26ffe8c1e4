//! Closing lines as the runners really print them.

use super::{Counts, of_libtest, of_nextest};

#[test]
fn nextest_counts_every_way_to_fail() {
    let output = "\
------------
     Summary [   0.104s] 9 tests run: 5 passed (1 slow), 2 failed, 1 exec failed, 1 timed out, 3 skipped
        FAIL [   0.004s] a::b
";
    let wanted = Counts {
        passed: 5,
        failed: 4,
        skipped: 3,
    };
    assert_eq!(of_nextest(output), Some(wanted));
}

#[test]
fn a_cancelled_nextest_run_is_still_read() {
    let output = "     Summary [   0.104s] 2/9 tests run: 1 passed, 1 failed, 0 skipped\n";
    let wanted = Counts {
        passed: 1,
        failed: 1,
        skipped: 0,
    };
    assert_eq!(of_nextest(output), Some(wanted));
}

#[test]
fn a_run_that_never_got_to_tests_has_no_counts() {
    assert_eq!(of_nextest("error: could not compile `x`"), None);
    assert_eq!(of_libtest("error: could not compile `x`"), None);
}

#[test]
fn libtest_sums_its_binaries() {
    let output = "\
test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s
running 1 test
test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 4 filtered out; finished in 0.00s
";
    let wanted = Counts {
        passed: 12,
        failed: 1,
        skipped: 1,
    };
    assert_eq!(of_libtest(output), Some(wanted));
}

#[test]
fn our_closing_line_reads_as_promised() {
    let counts = Counts {
        passed: 3,
        failed: 0,
        skipped: 2,
    };
    assert_eq!(counts.to_string(), "3 passed, 0 failed, 2 skipped");
}
