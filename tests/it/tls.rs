//! The TCP listener and the real `rollcage` command: certificates and tokens, who is let in as whom,
//! and what each kind of stranger is told.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};

use rcgen::{BasicConstraints, CertificateParams, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair};

use crate::world::{Spoken, World, speak};

const TOKEN: &str = "a token of this test";

/// An authority and what it signed, as PEM files in one folder.
pub(crate) struct Keys {
    folder: tempfile::TempDir,
}

impl Keys {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let keys = Self { folder };
        let key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::new([]).expect("parameters");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        // With one name for all, a checker may take what it signed for signed by itself.
        let name = rcgen::DnType::CommonName;
        params.distinguished_name.push(name, "authority of a test");
        let certificate = params.self_signed(&key).expect("an authority");
        keys.write("ca.pem", &certificate.pem());
        let issuer = Issuer::new(params, key);
        for (name, names, usage) in [
            (
                "server",
                ["localhost", "127.0.0.1"],
                ExtendedKeyUsagePurpose::ServerAuth,
            ),
            (
                "trainer",
                ["trainer.test", "also.test"],
                ExtendedKeyUsagePurpose::ClientAuth,
            ),
            (
                "stranger",
                ["stranger.test", "nobody.test"],
                ExtendedKeyUsagePurpose::ClientAuth,
            ),
        ] {
            let key = KeyPair::generate().expect("a key");
            let mut params = CertificateParams::new(names.map(str::to_owned)).expect("parameters");
            params.extended_key_usages = vec![usage];
            let certificate = params.signed_by(&key, &issuer).expect("a certificate");
            keys.write(&format!("{name}.pem"), &certificate.pem());
            keys.write(&format!("{name}.key"), &key.serialize_pem());
        }
        keys.write("token", TOKEN);
        keys
    }

    /// The folder of the files.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("write a file");
    }
}

/// A port that nobody listens on; another process may take it before the daemon does.
pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("its address").port()
}

/// The configuration of a daemon that knows a certificate and a token.
pub(crate) fn configuration(keys: &Keys, port: u16, client_ca: bool) -> String {
    use sha2::Digest as _;
    let file = |name: &str| format!("{:?}", keys.path(name));
    let mut text = format!(
        "[tcp]\nlisten = \"127.0.0.1:{port}\"\ncert = {}\nkey = {}\n",
        file("server.pem"),
        file("server.key")
    );
    if client_ca {
        text += &format!("client_ca = {}\n", file("ca.pem"));
        text += "[[principal]]\nname = \"trainer\"\ntenant = \"alpha\"\nroles = [\"run\"]\n\
                 certificate_name = \"trainer.test\"\n";
    }
    let digest = hex::encode(sha2::Sha256::digest(TOKEN));
    text += &format!(
        "[[principal]]\nname = \"bearer\"\ntenant = \"beta\"\nroles = [\"run\", \"audit\"]\n\
         token_sha256 = \"{digest}\"\n"
    );
    text
}

/// Calls the command over TCP, with more options and with the files of `keys` at hand.
fn call(world: &World, keys: &Keys, port: u16, options: &[&str]) -> Spoken {
    let mut command = world.rollcage();
    command
        .current_dir::<&Path>(keys.folder.path())
        .arg("--connect")
        .arg(format!("https://127.0.0.1:{port}"))
        .args(options);
    speak(&mut command, b"")
}

#[test]
fn certificates_and_tokens_say_who_calls_over_tcp() {
    let keys = Keys::new();
    let port = free_port();
    let test = "certificates_and_tokens_say_who_calls_over_tcp";
    let Some(world) = World::with_config(test, &configuration(&keys, port, true)) else {
        return;
    };
    const AUTHORITY: [&str; 2] = ["--tls-ca", "ca.pem"];
    const TRAINER: [&str; 4] = ["--tls-cert", "trainer.pem", "--tls-key", "trainer.key"];
    const STRANGER: [&str; 4] = ["--tls-cert", "stranger.pem", "--tls-key", "stranger.key"];
    const BEARER: [&str; 2] = ["--token-file", "token"];
    let say = |who: &[&str], words: &[&str]| {
        let options = [&AUTHORITY[..], who, words].concat();
        call(&world, &keys, port, &options)
    };
    let hello = ["run", "--", "echo", "hello"];
    for who in [&TRAINER[..], &BEARER] {
        let spoken = say(who, &hello);
        assert_eq!(spoken.ended(0).stdout(), "hello\n");
    }
    // Each sees its own tenant's runs, and may call what its roles allow.
    for (who, name) in [(&TRAINER[..], "trainer"), (&BEARER, "bearer")] {
        let runs = say(who, &["--json", "ps", "--all"]).ended(0).json();
        let principals: Vec<_> = runs.as_array().expect("a list").iter().collect();
        assert_eq!(principals.len(), 1, "{runs}");
        assert_eq!(principals[0]["principal"], name, "{runs}");
    }
    say(&BEARER, &["audit", "tail", "-n", "1"]).ended(0);
    let refused = say(&TRAINER, &["audit", "tail", "-n", "1"]);
    assert!(refused.ended(125).stderr().contains("ROLE_MISSING"));
    // A good certificate of nobody we know, and a token of nobody.
    let stranger = say(&STRANGER, &hello);
    assert!(stranger.ended(125).stderr().contains("UNKNOWN_PRINCIPAL"));
    keys.write("wrong", "another token");
    let wrong = say(&["--token-file", "wrong"], &hello);
    assert!(wrong.ended(125).stderr().contains("UNKNOWN_PRINCIPAL"));
}

#[test]
fn nobody_is_let_in_over_tcp_by_less_than_a_credential() {
    let keys = Keys::new();
    let port = free_port();
    let test = "nobody_is_let_in_over_tcp_by_less_than_a_credential";
    let Some(world) = World::with_config(test, &configuration(&keys, port, false)) else {
        return;
    };
    let hello = ["run", "--", "echo", "hello"];
    let say = |options: &[&str]| call(&world, &keys, port, &[options, &hello[..]].concat());
    // The command itself asks for what is missing, before it sends a word.
    assert!(say(&[]).ended(2).stderr().contains("--tls-ca"));
    let nobody = say(&["--tls-ca", "ca.pem"]);
    assert!(nobody.ended(2).stderr().contains("--token-file"));
    // A server that an unknown authority vouches for is not spoken to.
    let other = Keys::new();
    let authority = other.path("ca.pem");
    let authority = authority.to_str().expect("a path of ASCII");
    let spoken = say(&["--tls-ca", authority, "--token-file", "token"]);
    assert_eq!(spoken.ended(125).stdout(), "");
    // A certificate counts for nothing where no authority is configured for it.
    let certificate = ["--tls-cert", "trainer.pem", "--tls-key", "trainer.key"];
    let unasked = say(&[&["--tls-ca", "ca.pem"], &certificate[..]].concat());
    assert_eq!(unasked.ended(125).stdout(), "");
    let bearer = say(&["--tls-ca", "ca.pem", "--token-file", "token"]);
    assert_eq!(bearer.ended(0).stdout(), "hello\n");
}
