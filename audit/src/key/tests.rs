//! Keys read back, and foreign keys are refused.

use super::{KeyError, PublicKey, Signer};

#[test]
fn pem_round_trip_signs_alike() {
    let signer = Signer::from_seed(&[7; 32]);
    let again = Signer::from_pem(&signer.to_pem()).unwrap();
    let public = PublicKey::from_pem(&signer.public().to_pem()).unwrap();
    assert_eq!(public, signer.public());
    assert!(public.verifies(b"m", &again.sign(b"m")));
    assert!(!public.verifies(b"n", &again.sign(b"m")));
    assert!(
        !Signer::from_seed(&[8; 32])
            .public()
            .verifies(b"m", &again.sign(b"m"))
    );
}

#[test]
fn the_private_form_is_what_openssl_writes() {
    // RFC 8410, section 10.3.
    let pem = "-----BEGIN PRIVATE KEY-----\n\
               MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n\
               -----END PRIVATE KEY-----\n";
    let signer = Signer::from_pem(pem).unwrap();
    assert_eq!(signer.to_pem(), pem);
    assert_eq!(
        signer.public().to_pem(),
        "-----BEGIN PUBLIC KEY-----\n\
         MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n\
         -----END PUBLIC KEY-----\n"
    );
}

#[test]
fn other_blocks_are_refused() {
    assert!(matches!(
        Signer::from_pem("nothing"),
        Err(KeyError::Pem { .. })
    ));
    let public = Signer::from_seed(&[1; 32]).public().to_pem();
    assert!(matches!(
        Signer::from_pem(&public),
        Err(KeyError::Pem { .. })
    ));
    let wrong = public.replace("PUBLIC", "PRIVATE");
    assert!(matches!(
        Signer::from_pem(&wrong),
        Err(KeyError::NotEd25519 { .. })
    ));
}

#[test]
fn debug_shows_no_secret() {
    let shown = format!("{:?}", Signer::from_seed(&[0xab; 32]));
    assert!(!shown.contains("abab"), "{shown}");
}
