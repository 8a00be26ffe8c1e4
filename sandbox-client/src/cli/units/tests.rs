//! Values as written and as shown.

use super::*;

#[test]
fn durations() {
    for (text, ms) in [
        ("500ms", 500),
        ("10s", 10_000),
        ("1.5s", 1_500),
        (".5s", 500),
        ("2m", 120_000),
        ("1 h", 3_600_000),
    ] {
        assert_eq!(parse_duration_ms(text), Ok(ms), "{text}");
    }
}

#[test]
fn durations_refused() {
    let error = |text| parse_duration_ms(text).unwrap_err();
    assert!(matches!(error("10"), UnitError::NoUnit { .. }));
    for text in ["", "s", "-1s", "1.2.3s", "1.s", "."] {
        assert!(
            matches!(
                error(text),
                UnitError::NotANumber { .. } | UnitError::NoUnit { .. }
            ),
            "{text}: {}",
            error(text)
        );
    }
    assert!(matches!(error("10 days"), UnitError::UnknownUnit { .. }));
    for text in ["0s", "0.0001s", "0ms"] {
        assert!(matches!(error(text), UnitError::TooSmall { .. }), "{text}");
    }
    for text in ["99999999999999999999s", "9000h", "18446744073709551615h"] {
        assert!(matches!(error(text), UnitError::TooLarge { .. }), "{text}");
    }
}

#[test]
fn sizes() {
    assert_eq!(parse_size_bytes("256M"), Ok(256 << 20));
    assert_eq!(parse_size_bytes("512 MiB"), Ok(512 << 20));
    assert_eq!(parse_size_bytes("10"), Ok(10));
    assert!(parse_size_bytes("-1").is_err());
    assert!(parse_size_bytes("1 parsec").is_err());
}

#[test]
fn variables() {
    let var = |name: &str, value: &str| {
        Ok(EnvVar {
            name: name.into(),
            value: value.into(),
        })
    };
    assert_eq!(parse_env_var("A=b=c"), var("A", "b=c"));
    assert_eq!(parse_env_var("A="), var("A", ""));
    assert!(matches!(parse_env_var("=x"), Err(UnitError::NoName { .. })));
    assert!(matches!(
        parse_env_var("ROLLCAGE_SURELY_UNSET"),
        Err(UnitError::NotSet { .. })
    ));
    // Cargo sets this one for every test.
    assert_eq!(
        parse_env_var("CARGO_PKG_NAME"),
        var("CARGO_PKG_NAME", "sandbox-client")
    );
}

#[test]
fn puts() {
    let put = |source: &str, destination: Option<&str>| {
        Ok(Put {
            source: source.into(),
            destination: destination.map(str::to_owned),
        })
    };
    assert_eq!(parse_put("a/b.txt"), put("a/b.txt", None));
    assert_eq!(parse_put("a:b"), put("a", Some("b")));
    assert_eq!(parse_put("a:b:c"), put("a:b", Some("c")));
    for text in ["", ":b", "a:"] {
        assert!(
            matches!(parse_put(text), Err(UnitError::EmptyPart { .. })),
            "{text}"
        );
    }
}

#[test]
fn shown_for_people() {
    assert_eq!(show_ms(18), "18 ms");
    assert_eq!(show_ms(1_540), "1.5 s");
    assert_eq!(show_ms(125_000), "2 min 5 s");
    assert_eq!(show_bytes(512), "512 B");
    assert_eq!(show_bytes(1_536), "1.5 KiB");
    assert_eq!(show_bytes(256 << 20), "256 MiB");
    assert_eq!(show_bytes(u64::MAX), "16777215.9 TiB");
}
