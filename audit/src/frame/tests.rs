//! Frames survive any cutting of the stream.

use proptest::prelude::*;

use super::{Attestation, Connection, Decoder, FRAME_BYTES_MAX, FrameError, Request, encode};
use crate::chain::tests::any_draft;
use crate::record::{Draft, Event, Source};

#[test]
fn only_the_launcher_connection_carries_attestations() {
    assert!(Connection::Launcher.may_carry(Source::Launcher));
    assert!(!Connection::Api.may_carry(Source::Launcher));
    for source in [Source::Api, Source::Init] {
        assert!(Connection::Api.may_carry(source));
        assert!(!Connection::Launcher.may_carry(source));
    }
    assert!(!Connection::Api.may_carry(Source::Audit));
    assert!(!Connection::Launcher.may_carry(Source::Audit));
}

#[test]
fn too_long_is_refused_on_both_sides() {
    let draft = Draft::new(Event::Verdict, Source::Api).with("x", "y".repeat(FRAME_BYTES_MAX));
    let result = encode(&Request::Append {
        id: 1,
        draft: Box::new(draft),
    });
    assert!(matches!(result, Err(FrameError::TooLong { .. })));
    let mut decoder = Decoder::default();
    decoder.push(&[0xff; 4]);
    assert!(matches!(
        decoder.next_frame::<Request>(),
        Err(FrameError::TooLong { .. })
    ));
}

#[test]
fn a_frame_of_another_form_does_not_lose_the_next() {
    let mut decoder = Decoder::default();
    decoder.push(b"\0\0\0\x02{}");
    decoder.push(&encode(&Request::Checkpoint { id: 3 }).unwrap());
    assert!(matches!(
        decoder.next_frame::<Request>(),
        Err(FrameError::Json(_))
    ));
    assert_eq!(
        decoder.next_frame::<Request>().unwrap(),
        Some(Request::Checkpoint { id: 3 })
    );
    assert_eq!(decoder.pending_bytes(), 0);
}

proptest! {
    #[test]
    fn any_cut_gives_the_same_frames(
        drafts in prop::collection::vec(any_draft(), 1..5),
        cut in 1_usize..40,
    ) {
        let sent: Vec<_> = (1..).zip(drafts)
            .map(|(number, draft)| Attestation { number, draft })
            .collect();
        let bytes: Vec<u8> = sent.iter().flat_map(|frame| encode(frame).unwrap()).collect();
        let mut decoder = Decoder::default();
        let mut got = Vec::new();
        for piece in bytes.chunks(cut) {
            decoder.push(piece);
            while let Some(frame) = decoder.next_frame::<Attestation>().unwrap() {
                got.push(frame);
            }
        }
        prop_assert_eq!(got, sent);
    }
}
