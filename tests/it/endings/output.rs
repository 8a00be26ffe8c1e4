//! What programs write: every byte counted, the right ones kept.

use sandbox_client::pb;
use serde_json::json;
use sha2::{Digest, Sha256};
use verdict::Ending;

use crate::world::{World, limited, python, shell};

fn sha256(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

/// `kept` is the head and the tail of `whole`, cut where the summary says.
#[track_caller]
fn is_cut_of(kept: &[u8], dropped: u64, summary: &pb::StreamSummary, whole: &[u8]) {
    let length = u64::try_from(whole.len()).expect("a length");
    assert_eq!(summary.total_bytes, length);
    assert_eq!(summary.sha256, sha256(whole));
    assert_eq!(
        dropped,
        length - u64::try_from(kept.len()).expect("a length")
    );
    let head = usize::try_from(summary.head_bytes)
        .expect("a length")
        .min(kept.len());
    let tail = kept.len() - head;
    assert_eq!(
        sha256(&kept[..head]),
        sha256(&whole[..head]),
        "head of {head}"
    );
    assert_eq!(
        sha256(&kept[head..]),
        sha256(&whole[whole.len() - tail..]),
        "tail of {tail}"
    );
}

/// Six bytes in three characters, so that most writes cut one.
const UNIT: &str = "é☃x";

#[test]
fn five_megabytes_of_cut_characters_beside_a_busy_stderr_are_exact() {
    let Some(world) =
        World::start("five_megabytes_of_cut_characters_beside_a_busy_stderr_are_exact")
    else {
        return;
    };
    let outcome = world.python(
        r#"
import os, threading
out = ("é☃x" * 900_000).encode()
err = ("ß" * 100_000).encode()
def write_all(fd, data, step):
    at = 0
    while at < len(data):
        at += os.write(fd, data[at:at + step])
other = threading.Thread(target=write_all, args=(2, err, 333))
other.start()
write_all(1, out, 4099)
other.join()
"#,
    );
    outcome.exited(0);
    let result = &outcome.result;
    let dropped = result.dropped_bytes.expect("dropped bytes");
    let stdout = UNIT.repeat(900_000).into_bytes();
    let stderr = "ß".repeat(100_000).into_bytes();
    let summary = result.stdout_summary.as_ref().expect("a summary");
    is_cut_of(&result.stdout, dropped.stdout, summary, &stdout);
    let summary = result.stderr_summary.as_ref().expect("a summary");
    is_cut_of(&result.stderr, dropped.stderr, summary, &stderr);
    assert_eq!(dropped.stderr, 0);
    // The policy keeps 1 MiB of each stream.
    assert_eq!(result.stdout.len(), 1 << 20);
}

#[test]
fn what_is_kept_can_be_narrowed_and_nothing_is_lost_below_it() {
    let Some(world) = World::start("what_is_kept_can_be_narrowed_and_nothing_is_lost_below_it")
    else {
        return;
    };
    let digits = python("print('0123456789' * 1000, end='')");
    let whole = "0123456789".repeat(1000).into_bytes();
    for kept in [1, 1000, 9999, 10_000, 10_001] {
        let request = limited(digits.clone(), json!({ "output_bytes_max": kept }));
        let outcome = world.run(&request);
        outcome.exited(0);
        let result = &outcome.result;
        assert_eq!(result.stdout.len(), kept.min(whole.len()));
        let dropped = result.dropped_bytes.expect("dropped bytes").stdout;
        let summary = result.stdout_summary.as_ref().expect("a summary");
        is_cut_of(&result.stdout, dropped, summary, &whole);
    }
    // Bytes that are no text.
    let outcome = world.python("import os; os.write(1, bytes(range(256)) * 3)");
    let all: Vec<u8> = (0..=255).collect();
    assert_eq!(outcome.exited(0).result.stdout, all.repeat(3));
    // Written and closed before anything could be read.
    let outcome = world.run(&shell("echo out; echo err >&2; exec >&- 2>&-; sleep 0.2"));
    assert_eq!(
        (outcome.stdout(), outcome.stderr()),
        ("out\n".to_owned(), "err\n".to_owned())
    );
    outcome.exited(0);
}

#[test]
fn endless_output_ends_the_run() {
    let Some(world) = World::start("endless_output_ends_the_run") else {
        return;
    };
    for stream in [1, 2] {
        let endless = python(&format!(
            "import os\nwhile True: os.write({stream}, b'y' * 65536)\n"
        ));
        let outcome = world.run(&limited(
            endless,
            json!({ "output_bytes_total_max": 3 << 20 }),
        ));
        let result = &outcome.result;
        let (summary, dropped) = match stream {
            1 => (
                result.stdout_summary.as_ref(),
                result.dropped_bytes.expect("dropped").stdout,
            ),
            _ => (
                result.stderr_summary.as_ref(),
                result.dropped_bytes.expect("dropped").stderr,
            ),
        };
        let summary = summary.expect("a summary");
        assert!(summary.total_bytes > 3 << 20, "{summary:?}");
        match outcome.ending {
            Ending::OutputUp {
                cap_bytes,
                dropped_bytes,
            } => {
                assert_eq!(cap_bytes, 3 << 20);
                assert!(
                    (1..=dropped).contains(&dropped_bytes),
                    "{dropped_bytes} {dropped}"
                );
            }
            ref other => panic!("{other:?}"),
        }
        assert!(world.instance().leased_processes().is_empty());
    }
}

#[test]
fn standard_input_is_empty_unless_given_and_exact_if_given() {
    let Some(world) = World::start("standard_input_is_empty_unless_given_and_exact_if_given")
    else {
        return;
    };
    let outcome = world.run(&json!({ "policy": "shell", "argv": ["cat"] }));
    assert_eq!(outcome.exited(0).stdout(), "");
    assert!(outcome.usage().wall_ms < 10_000, "{:?}", outcome.usage());
    let outcome = world.run(&json!({ "policy": "shell", "argv": ["cat"], "stdin": "two\nlines" }));
    assert_eq!(outcome.exited(0).stdout(), "two\nlines");
    // More than a pipe holds, and no text.
    let bytes: Vec<u8> = (0..700_000_u32)
        .map(|n| n.to_le_bytes()[0] ^ 0x5a)
        .collect();
    let encoded = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, &bytes);
    let cat = json!({ "policy": "shell", "argv": ["cat"], "stdin_base64": encoded });
    let outcome = world.run(&cat);
    assert_eq!(outcome.exited(0).result.stdout, bytes);
    // A program that reads nothing of it.
    let unread = json!({ "policy": "shell", "argv": ["true"], "stdin_base64": encoded });
    world.run(&unread).exited(0);
}
