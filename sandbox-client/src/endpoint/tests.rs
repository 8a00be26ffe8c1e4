//! Endpoints as people write them.

use super::*;

fn token() -> Credentials {
    Credentials {
        ca_pem: Some(b"pem".to_vec()),
        token: Some("secret".to_owned()),
        ..Credentials::default()
    }
}

#[test]
fn reads_both_forms() {
    for uri in ["unix:///run/x.sock", "/run/x.sock"] {
        assert_eq!(
            Endpoint::parse(uri, Credentials::default()),
            Ok(Endpoint::Unix(PathBuf::from("/run/x.sock")))
        );
    }
    let https = Endpoint::parse("https://box.internal:7443/", token()).unwrap();
    assert_eq!(https.to_string(), "https://box.internal:7443");
}

#[test]
fn refuses_what_would_be_unsafe_or_unclear() {
    let parse = |uri: &str| Endpoint::parse(uri, token()).unwrap_err();
    assert!(matches!(
        parse("http://box:1"),
        EndpointError::PlainTcp { .. }
    ));
    for uri in [
        "",
        "box",
        "unix://relative",
        "https://box",
        "https://:1",
        "https://box:0",
        "https://b:1/x",
    ] {
        assert!(matches!(parse(uri), EndpointError::Form { .. }), "{uri}");
    }
    let anonymous = Credentials {
        token: None,
        ..token()
    };
    assert!(matches!(
        Endpoint::parse("https://box:1", anonymous),
        Err(EndpointError::NoIdentity { .. })
    ));
    let of_anybody = Credentials {
        ca_pem: None,
        ..token()
    };
    assert!(matches!(
        Endpoint::parse("https://box:1", of_anybody),
        Err(EndpointError::NoAuthority { .. })
    ));
}

#[test]
fn a_token_is_never_printed() {
    assert!(!format!("{:?}", token()).contains("secret"));
}

#[test]
fn state_folder_by_user() {
    let home = Path::new("/home/u");
    assert_eq!(
        default_state_dir(true, None, Some(home)),
        Path::new("/var/lib/rollcage")
    );
    assert_eq!(
        default_state_dir(false, None, Some(home)),
        Path::new("/home/u/.local/state/rollcage")
    );
    assert_eq!(
        default_state_dir(false, Some(Path::new("/s")), Some(home)),
        Path::new("/s/rollcage")
    );
}

#[test]
fn lock_file_names_the_socket() {
    assert_eq!(
        socket_of_lock("12\n/run/a.sock\n"),
        Some(PathBuf::from("/run/a.sock"))
    );
    for text in ["", "12", "12\n", "x\n/run/a.sock", "12\nrelative"] {
        assert_eq!(socket_of_lock(text), None, "{text:?}");
    }
}
