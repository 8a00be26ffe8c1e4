//! Files as a sandbox sends them back: lengths, names and counts are its own claims. Whatever
//! comes, no more is taken than was allowed, and no length is believed before its bytes are there.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use confine::wire::CollectedFile;
use sandboxd::run::collect::{COLLECT_BYTES_MAX, FRAME_EXTRA_BYTES_MAX, read_files};

use crate::memory;

/// What reading takes beside the files themselves.
const ASIDE_BYTES_MAX: usize = 3 << 20;

fn framed(files: &[CollectedFile]) -> Vec<u8> {
    let mut out = Vec::new();
    for file in files {
        let frame = postcard::to_stdvec(file).expect("a frame");
        let length = u32::try_from(frame.len()).expect("a short frame");
        out.extend(length.to_le_bytes());
        out.extend(frame);
    }
    out
}

fn file(path: &[u8], content: &[u8]) -> CollectedFile {
    CollectedFile {
        path: path.to_vec(),
        mode: 0o644,
        content: content.to_vec(),
    }
}

pub(super) fn seeds() -> Vec<Vec<u8>> {
    vec![
        framed(&[file(b"a.txt", b"hello")]),
        framed(&[
            file(b"a", b""),
            file(b"d/b", &[0; 300]),
            file(b"\xff\x1b", b"x"),
        ]),
        Vec::new(),
    ]
}

pub(super) fn run(data: &[u8]) {
    let ((files, problem), peak) = memory::peak_bytes(|| {
        let reading = pin!(read_files(data));
        match reading.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(done) => done,
            Poll::Pending => panic!("bytes in memory are always ready"),
        }
    });
    let allowed = ASIDE_BYTES_MAX + 64 * data.len();
    assert!(peak <= allowed, "{peak} bytes for {}", data.len());
    let bytes: u64 = files.iter().map(|file| file.content.len() as u64).sum();
    assert!(bytes <= COLLECT_BYTES_MAX + FRAME_EXTRA_BYTES_MAX);
    let again = framed(&files);
    if problem.is_none() {
        assert!(again.len() <= data.len(), "more came out than went in");
    }
    let reading = pin!(read_files(again.as_slice()));
    match reading.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready((same, None)) => assert!(framed(&same) == again),
        Poll::Ready((_, Some(problem))) => panic!("our own frames are refused: {problem}"),
        Poll::Pending => panic!("bytes in memory are always ready"),
    }
}
