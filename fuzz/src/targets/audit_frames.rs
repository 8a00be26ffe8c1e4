//! The audit writer's frames: cut in any way they are the same frames, what decodes encodes the
//! same, and a length that is not there allocates nothing.
//!
//! The first byte says into how large pieces the stream is cut.

use audit::frame::{Attestation, Decoder, FRAME_BYTES_MAX, FrameError, Reply, Request, encode};
use audit::{Draft, Event, Source};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::memory;

/// A frame of JSON in memory: a bracket is one byte there and a value here.
const BYTES_PER_BYTE_MAX: usize = 256;
/// What decoding takes beside that.
const ASIDE_BYTES_MAX: usize = 64 << 10;

pub(super) fn seeds() -> Vec<Vec<u8>> {
    let mut draft = Draft::new(Event::RunEnded, Source::Api).with("code", 3);
    draft.run_id = Some("run-1".to_owned());
    let request = Request::Append {
        id: 1,
        draft: Box::new(draft),
    };
    let attestation = Attestation {
        number: 2,
        draft: Draft::new(Event::SandboxSpawned, Source::Launcher),
    };
    let reply = Reply::Nack {
        id: 1,
        refused: true,
        reason: "no".to_owned(),
    };
    let frames = [
        encode(&request),
        encode(&Request::Checkpoint { id: 4 }),
        encode(&attestation),
        encode(&reply),
        encode(&Reply::Head { seq: 9 }),
    ];
    let frames: Vec<Vec<u8>> = frames
        .into_iter()
        .map(|frame| frame.expect("a frame"))
        .collect();
    let mut seeds: Vec<Vec<u8>> = frames
        .iter()
        .map(|frame| [&[3_u8], frame.as_slice()].concat())
        .collect();
    seeds.push([vec![200], frames.concat()].concat());
    seeds
}

pub(super) fn run(data: &[u8]) {
    let Some((piece, stream)) = data.split_first() else {
        return;
    };
    let piece = usize::from(*piece).max(1);
    read::<Request>(piece, stream);
    read::<Attestation>(piece, stream);
    read::<Reply>(piece, stream);
}

fn read<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(
    piece: usize,
    stream: &[u8],
) {
    let (whole, peak) = memory::peak_bytes(|| frames::<T>(stream.len().max(1), stream));
    let allowed = ASIDE_BYTES_MAX + BYTES_PER_BYTE_MAX * stream.len();
    assert!(peak <= allowed, "{peak} bytes for {}", stream.len());
    assert_eq!(frames::<T>(piece, stream), whole, "cut into {piece} bytes");
    for message in whole.iter().flatten() {
        let printed = encode(message).expect("what decodes can be encoded");
        assert!(printed.len() <= FRAME_BYTES_MAX + 4);
        assert_eq!(frames::<T>(7, &printed), vec![Ok(read_one(&printed))]);
        assert_eq!(&read_one::<T>(&printed), message);
    }
}

fn read_one<T: DeserializeOwned>(printed: &[u8]) -> T {
    let mut decoder = Decoder::default();
    decoder.push(printed);
    let frame = decoder.next_frame().expect("a frame");
    frame.expect("a whole one")
}

/// Frames and, as words, what was no frame.
fn frames<T: DeserializeOwned>(piece: usize, stream: &[u8]) -> Vec<Result<T, String>> {
    let mut decoder = Decoder::default();
    let mut found = Vec::new();
    for bytes in stream.chunks(piece) {
        decoder.push(bytes);
        loop {
            match decoder.next_frame() {
                Ok(Some(frame)) => found.push(Ok(frame)),
                Ok(None) => break,
                Err(error @ FrameError::TooLong { .. }) => {
                    found.push(Err(error.to_string()));
                    return found;
                }
                Err(error) => found.push(Err(error.to_string())),
            }
        }
        assert!(decoder.pending_bytes() <= FRAME_BYTES_MAX + 4);
    }
    found
}
