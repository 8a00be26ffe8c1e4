//! What the file may say, and what wins over it.

use std::path::{Path, PathBuf};

use super::{Config, ConfigError, Overrides, Surroundings, parse};

fn root() -> Surroundings {
    Surroundings {
        uid: 0,
        home: None,
        xdg_state_home: None,
        xdg_runtime_dir: None,
    }
}

fn read(text: &str) -> Result<Config, ConfigError> {
    parse(text, Some("c.toml".into()), Overrides::default(), &root())
}

fn problem(text: &str) -> String {
    match read(text) {
        Ok(_) => panic!("accepted: {text}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn an_empty_file_gives_the_defaults() {
    let config = read("").expect("config");
    assert_eq!(config.socket, Path::new("/run/rollcage/sandboxd.sock"));
    assert_eq!(config.state_dir, Path::new("/var/lib/rollcage"));
    assert_eq!(
        (config.api_ids, config.audit_ids),
        ((64_810, 64_810), (64_811, 64_811))
    );
    assert!(config.tcp.is_none() && config.metrics.is_none());
}

#[test]
fn an_ordinary_user_has_folders_of_its_own() {
    let surroundings = Surroundings {
        uid: 1000,
        home: Some("/home/u".into()),
        xdg_state_home: None,
        xdg_runtime_dir: Some("/run/user/1000".into()),
    };
    let config = parse("", None, Overrides::default(), &surroundings).expect("config");
    assert_eq!(config.state_dir, Path::new("/home/u/.local/state/rollcage"));
    assert_eq!(
        config.socket,
        Path::new("/run/user/1000/rollcage/sandboxd.sock")
    );
}

#[test]
fn overrides_win_over_the_file() {
    let overrides = Overrides {
        config: None,
        socket: Some("/tmp/s".into()),
        state_dir: None,
        log: Some("debug".into()),
    };
    let text = "socket = \"/a\"\nstate_dir = \"/b\"\nlog = \"warn\"\n";
    let config = parse(text, None, overrides, &root()).expect("config");
    assert_eq!(config.socket, PathBuf::from("/tmp/s"));
    assert_eq!(config.state_dir, PathBuf::from("/b"));
    assert_eq!(config.log, "debug");
}

#[test]
fn unknown_keys_are_refused_with_line_and_column() {
    let shown = problem("log = \"info\"\nsokcet = \"/x\"\n");
    assert!(
        shown.starts_with("c.toml:2:1: ") && shown.contains("sokcet"),
        "{shown}"
    );
    let shown = problem("[runs]\n  sandboxes = 3\n");
    assert!(
        shown.starts_with("c.toml:2:3: ") && shown.contains("sandboxes_max"),
        "{shown}"
    );
    let shown = problem("[[principal]]\nname = \"a\"\ntenant = \"t\"\nroles = [\"root\"]\n");
    assert!(
        shown.contains(":4:") && shown.contains("operate"),
        "{shown}"
    );
}

#[test]
fn values_are_checked() {
    for (text, part) in [
        ("api_uid = 0", "must not be root's"),
        ("audit_uid = 64810", "must differ from api_uid"),
        ("[results]\nkeep_ms = 1000", "results.keep_ms = 1000"),
        ("[runs]\nqueue_len_max = 0", "at least 1"),
        (
            "[host_image]\nextra_read_paths = [\"opt\"]",
            "absolute paths",
        ),
        (
            "[metrics]\nlisten = \"0.0.0.0:9464\"",
            "metrics.listen = 0.0.0.0:9464",
        ),
        (
            "[tcp]\nlisten = \"0.0.0.0:1\"\ncert = \"c\"\nkey = \"k\"",
            "nobody could call",
        ),
        (
            "[[principal]]\nname = \"a b\"\ntenant = \"t\"\nroles = [\"run\"]\nuid = 1",
            "principal[0].name",
        ),
        (
            "[[principal]]\nname = \"a\"\ntenant = \"t\"\nroles = []\nuid = 1",
            "principal[0].roles",
        ),
        (
            "[[principal]]\nname = \"a\"\ntenant = \"t\"\nroles = [\"run\"]",
            "exactly one of",
        ),
        (
            "[[principal]]\nname = \"a\"\ntenant = \"t\"\nroles = [\"run\"]\ntoken_sha256 = \"x\"",
            "64 lower-case",
        ),
        (
            "[[principal]]\nname = \"a\"\ntenant = \"t\"\nroles = [\"run\"]\nuid = 1\n\
             [[principal]]\nname = \"b\"\ntenant = \"t\"\nroles = [\"run\"]\nuid = 1",
            "share one credential",
        ),
    ] {
        let shown = problem(text);
        assert!(shown.contains(part), "{text}: {shown:?} lacks {part:?}");
    }
}

#[test]
fn the_example_names_every_key_and_is_valid() {
    let example = include_str!("../../../deploy/sandboxd.toml");
    let active: Vec<&str> = example
        .lines()
        .filter_map(|line| line.strip_prefix("#> "))
        .collect();
    read(&active.join("\n")).expect("the example without its comment marks is valid");
    // The message about an unknown key lists all known ones.
    for table in [
        "",
        "[runs]\n",
        "[results]\n",
        "[host_image]\n",
        "[metrics]\n",
        "[tcp]\n",
    ] {
        let shown = problem(&format!("{table}no_such_key = 1\n"));
        let known = shown.split("expected ").nth(1).expect("known keys");
        for key in known.split('`').skip(1).step_by(2) {
            let written = |line: &&str| {
                line.starts_with(&format!("{key} =")) || line.contains(&format!("[{key}]"))
            };
            assert!(active.iter().any(written), "{table}{key} is missing");
        }
    }
}
