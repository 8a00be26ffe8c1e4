//! The daemon's configuration: whatever is accepted keeps the promises of the file's comments.

use sandboxd::config::{ConfigError, KEYS_KEPT_MS, Overrides, SANDBOXES_MAX, Surroundings, parse};

fn surroundings() -> Surroundings {
    Surroundings {
        uid: 0,
        home: None,
        xdg_state_home: None,
        xdg_runtime_dir: None,
    }
}

pub(super) fn seeds() -> Vec<Vec<u8>> {
    let texts = [
        include_str!("../../../deploy/sandboxd.toml"),
        "",
        "socket = \"/run/a.sock\"\napi_uid = 5\naudit_uid = 6\ndrain_ms = 1\n[runs]\nsandboxes_max = 256\nqueue_len_max = 1\n[results]\nkeep_ms = 86400000\nentries_max = 1\nbytes_max = 1\n",
        "[metrics]\nlisten = \"127.0.0.1:9464\"\n[host_image]\nextra_read_paths = [\"/opt/x\"]\naccept_unpinned = false\n",
        "[tcp]\nlisten = \"0.0.0.0:1\"\ncert = \"/c\"\nkey = \"/k\"\nclient_ca = \"/a\"\n[[principal]]\nname = \"a\"\ntenant = \"t\"\nroles = [\"run\", \"admin\"]\nuid = 5\npolicies = [\"python\"]\nruns_max = 2\n[[principal]]\nname = \"b\"\ntenant = \"t\"\nroles = [\"audit\"]\ncertificate_name = \"x\"\n",
    ];
    texts.map(|text| text.as_bytes().to_vec()).to_vec()
}

pub(super) fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let read = || parse(text, None, Overrides::default(), &surroundings());
    let config = match read() {
        Ok(config) => config,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            if let ConfigError::Syntax { line, column, .. } = error {
                let lines = text.matches('\n').count() + 1;
                assert!(
                    (1..=lines).contains(&line) && column >= 1,
                    "{line}:{column}"
                );
            }
            return;
        }
    };
    let ids = [config.api_ids, config.audit_ids];
    assert!(ids.iter().all(|(uid, gid)| *uid != 0 && *gid != 0));
    assert_ne!(config.api_ids.0, config.audit_ids.0);
    assert!(config.runs.sandboxes_max <= SANDBOXES_MAX);
    assert!(config.runs.queue_len_max >= 1 && config.runs.batch_in_flight_max >= 1);
    assert!(config.results.keep_ms >= KEYS_KEPT_MS);
    assert!(
        config
            .host_image
            .extra_read_paths
            .iter()
            .all(|path| path.is_absolute())
    );
    if let Some(metrics) = &config.metrics {
        let unix = metrics.listen.starts_with("unix:/");
        let address = metrics.listen.parse::<std::net::SocketAddr>();
        assert!(unix || address.is_ok_and(|address| address.ip().is_loopback()));
    }
    for principal in &config.principals {
        let ways = [
            principal.uid.is_some(),
            principal.certificate_name.is_some(),
            principal.certificate_sha256.is_some(),
            principal.token_sha256.is_some(),
        ];
        assert_eq!(ways.iter().filter(|way| **way).count(), 1, "{principal:?}");
    }
    let again = read().expect("the same text is read the same");
    assert_eq!(format!("{again:?}"), format!("{config:?}"));
}
