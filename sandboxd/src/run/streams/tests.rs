//! Tests of what is kept of a stream.

use std::io::Write;

use super::*;

fn captured(kept_bytes_max: u64, pieces: &[&[u8]]) -> Captured {
    let mut capture = Capture::new(kept_bytes_max);
    for piece in pieces {
        capture.push(piece);
    }
    capture.finish()
}

#[test]
fn a_short_stream_is_kept_whole() {
    let kept = captured(10, &[b"abc", b"", b"defghij"]);
    assert_eq!(kept.kept, b"abcdefghij");
    assert_eq!(
        (kept.head_bytes, kept.total_bytes, kept.dropped_bytes),
        (10, 10, 0)
    );
    assert_eq!(kept.sha256, hex::encode(Sha256::digest(b"abcdefghij")));
}

#[test]
fn of_a_long_stream_head_and_tail_are_kept() {
    let kept = captured(5, &[b"0123456789"]);
    assert_eq!(kept.kept, b"01289");
    assert_eq!(
        (kept.head_bytes, kept.total_bytes, kept.dropped_bytes),
        (3, 10, 5)
    );
    assert_eq!(kept.sha256, hex::encode(Sha256::digest(b"0123456789")));
}

#[test]
fn how_a_stream_is_cut_into_pieces_does_not_matter() {
    let all: Vec<u8> = (0..=255).cycle().take(3000).collect();
    for kept_bytes_max in [0, 1, 2, 7, 100, 2999, 3000, 3001] {
        let whole = captured(kept_bytes_max, &[&all]);
        assert_eq!(whole.kept.len() as u64 + whole.dropped_bytes, 3000);
        for size in [1, 3, 64, 999] {
            let pieces: Vec<&[u8]> = all.chunks(size).collect();
            assert_eq!(
                captured(kept_bytes_max, &pieces),
                whole,
                "{kept_bytes_max} {size}"
            );
        }
    }
}

#[test]
fn nothing_may_be_kept_at_all() {
    let kept = captured(0, &[b"abc"]);
    assert_eq!(
        (kept.kept.len(), kept.head_bytes, kept.dropped_bytes),
        (0, 0, 3)
    );
}

fn quiet(events: Option<mpsc::Sender<Event>>) -> Tell {
    Tell {
        stream: OutputStream::Stdout,
        events,
        hurry: CancellationToken::new(),
    }
}

#[tokio::test]
async fn a_late_listener_is_given_up_but_the_stream_is_kept() {
    let (receiver, writer) = output_pipe().unwrap();
    let (sender, mut events) = mpsc::channel(1);
    let tell = quiet(Some(sender));
    let hurry = tell.hurry.clone();
    let total = OutputTotal::new(1 << 20);
    let cut = CancellationToken::new();
    let draining = tokio::spawn(drain(receiver, Capture::new(1 << 20), total, tell, cut));
    let writing = std::thread::spawn(move || {
        let mut writer = std::fs::File::from(writer);
        for _ in 0..20 {
            writer.write_all(&[b'x'; 20_000]).unwrap();
        }
    });
    // The listener takes nothing; only its time being up lets the rest flow.
    hurry.cancel();
    let (captured, ended) = draining.await.unwrap();
    writing.join().unwrap();
    ended.unwrap();
    assert_eq!(captured.total_bytes, 400_000);
    events.close();
}

#[tokio::test]
async fn a_pipe_that_does_not_end_is_cut() {
    let (receiver, writer) = output_pipe().unwrap();
    (&std::fs::File::from(writer.try_clone().unwrap()))
        .write_all(b"abc")
        .unwrap();
    let cut = CancellationToken::new();
    let total = OutputTotal::new(2);
    let watch = total.clone();
    let draining = tokio::spawn(drain(
        receiver,
        Capture::new(9),
        total,
        quiet(None),
        cut.clone(),
    ));
    watch.exceeded().await;
    cut.cancel();
    let (captured, ended) = draining.await.unwrap();
    assert_eq!(captured.kept, b"abc");
    assert_eq!(ended.unwrap_err().kind(), io::ErrorKind::TimedOut);
    drop(writer);
}

#[tokio::test]
async fn input_nobody_reads_is_no_error() {
    let (sender, reader) = input_pipe().unwrap();
    drop(reader);
    feed(sender, vec![0; 1 << 20]).await;
}
