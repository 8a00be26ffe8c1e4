//! Signatures bind every field and do not cross kinds.

use super::{HeadError, Kind, Statement, checkpoint, head_file, read_checkpoint, read_head};
use crate::chain::{Chain, Receipt, Stamp, parse_line};
use crate::digest::Digest;
use crate::key::Signer;

fn stamp() -> Stamp {
    Stamp {
        time_unix_ns: 5,
        boot_id: "b".into(),
        node: "n".into(),
    }
}

fn head() -> Receipt {
    Receipt {
        seq: 9,
        sha256: Digest::of(b"line 9"),
    }
}

#[test]
fn a_head_file_reads_back_and_no_flipped_byte_does() {
    let signer = Signer::from_seed(&[1; 32]);
    let keys = [signer.public()];
    let bytes = head_file(head(), &stamp(), &signer);
    assert_eq!(read_head(&bytes, &keys).unwrap().head, head());
    for index in 0..bytes.len() - 1 {
        let mut bad = bytes.clone();
        bad[index] ^= 1 << (index % 8);
        assert!(read_head(&bad, &keys).is_err(), "byte {index}");
    }
    let other = [Signer::from_seed(&[2; 32]).public()];
    assert!(matches!(
        read_head(&bytes, &other),
        Err(HeadError::UnknownKey { .. })
    ));
}

#[test]
fn a_checkpoint_signature_is_no_head_signature() {
    let signer = Signer::from_seed(&[1; 32]);
    let draft = checkpoint(head(), &stamp(), &signer);
    let signature = draft.data["signature"].as_str().unwrap();
    let mut statement = Statement::new(Kind::Checkpoint, head(), &stamp(), &signer);
    assert!(statement.verifies(&signer.public(), signature));
    assert!(!statement.verifies(&signer.public(), &signature.to_uppercase()));
    statement.kind = Kind::Head;
    assert!(!statement.verifies(&signer.public(), signature));
}

#[test]
fn a_checkpoint_with_an_unsigned_extra_is_none() {
    let signer = Signer::from_seed(&[1; 32]);
    let mut chain = Chain::resume(head());
    let mut draft = checkpoint(head(), &stamp(), &signer);
    let sealed = chain.seal(&draft, &stamp()).unwrap();
    let (record, _) = parse_line(sealed.line.trim_ascii_end()).unwrap();
    assert!(read_checkpoint(&record).is_some());
    draft.principal = Some("mallory".into());
    let sealed = chain.seal(&draft, &stamp()).unwrap();
    let (record, _) = parse_line(sealed.line.trim_ascii_end()).unwrap();
    assert!(read_checkpoint(&record).is_none());
}
