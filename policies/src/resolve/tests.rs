//! What documents mean, and each way in which they have no meaning.

use super::*;
use crate::policy::{CodeMode, DenyAction, NetworkMode, RunAs, SyscallProfile};
use crate::testing::{builtin, policy, resolve_error};

#[test]
fn silence_without_extends_is_restrictive() {
    let policy = policy("name = \"x\"");
    let limits = serde_json::to_value(policy.limits).expect("limits");
    assert!(
        limits
            .as_object()
            .expect("an object")
            .values()
            .all(|value| value == 0)
    );
    assert_eq!(
        (policy.defaults.wall_ms, policy.defaults.memory_bytes),
        (0, 0)
    );
    assert!(policy.files.read.is_empty() && policy.files.write.is_empty());
    assert!(policy.files.execute.is_empty() && policy.files.writable_noexec);
    assert_eq!(policy.syscalls.profile, SyscallProfile::Strict);
    assert_eq!(policy.syscalls.deny_action, DenyAction::Errno);
    assert_eq!(policy.network.mode, NetworkMode::Sealed);
    assert_eq!(policy.code.mode, CodeMode::Open);
    assert_eq!(policy.process.run_as, RunAs::User);
    assert!(!policy.gpu.enabled && !policy.verify.shared_reward && policy.grants.is_empty());
    assert_eq!(policy.lineage, ["x"]);
    assert_eq!(policy.parent(), None);
}

#[test]
fn silence_with_extends_inherits() {
    let child = policy("name = \"x\"\nextends = \"python\"");
    let python = &builtin().get("python").expect("python").policy.clone();
    let expected = Policy {
        name: "x".to_owned(),
        lineage: ["base", "python", "x"].map(str::to_owned).to_vec(),
        ..python.clone()
    };
    assert_eq!(child, expected);
    assert_eq!(child.parent(), Some("python"));
}

#[test]
fn inherited_defaults_follow_lower_limits() {
    let child = policy("name = \"x\"\nextends = \"python\"\n[limits]\nwall_ms_max = 8000\n");
    assert_eq!(
        (child.defaults.wall_ms, child.defaults.cpu_ms),
        (8_000, 2_000)
    );
    let child =
        policy("name = \"x\"\nextends = \"python\"\n[limits]\nmemory_bytes_max = \"64 MiB\"\n");
    assert_eq!(child.defaults.memory_bytes, 64 << 20);
    let child = policy("name = \"x\"\nextends = \"python\"\n[defaults]\nwall_ms = 4000\n");
    assert_eq!(
        (child.defaults.wall_ms, child.defaults.cpu_ms),
        (4_000, 1_000)
    );
    // A default is no permission: more than the parent's is right within the limit.
    let child =
        policy("name = \"x\"\nextends = \"python\"\n[defaults]\nmemory_bytes = \"2 GiB\"\n");
    assert_eq!(child.defaults.memory_bytes, 2 << 30);
}

#[test]
fn inherited_lists_fall_with_their_mode() {
    let child = policy("name = \"x\"\nextends = \"build\"\n[files]\nwritable_noexec = true\n");
    assert!(!child.files.execute.contains(&"/workspace".to_owned()));
    assert!(child.files.execute.contains(&"/usr".to_owned()));
    let net =
        "name = \"net\"\n[network]\nmode = \"allowlist\"\nallow = [{ host = \"a.example\" }]\n";
    let catalog = crate::testing::catalog_with(&[("net", net)]);
    let child = parse("name = \"x\"\nextends = \"net\"\nnetwork.mode = \"none\"\n").expect("TOML");
    assert!(
        resolve(&child, &catalog)
            .expect("narrower")
            .network
            .allow
            .is_empty()
    );
    let same = parse("name = \"x\"\nextends = \"net\"\n").expect("TOML");
    let same = resolve(&same, &catalog).expect("the same");
    let [rule] = same.network.allow.as_slice() else {
        panic!("one rule")
    };
    assert_eq!(
        (rule.ports.as_slice(), rule.path_prefix.as_str()),
        ([443].as_slice(), "/")
    );
    assert_eq!(rule.methods, ["GET", "HEAD"]);
}

/// A text and the start of its error.
const ERRORS: &[(&str, &str)] = &[
    ("", "name is missing; write the name of the policy"),
    (
        "name = \"Caps\"",
        "name = \"Caps\" is not valid; write 1 to 64 of a-z, 0-9, `-`, `_` and `.`, with a letter or digit first",
    ),
    (
        "name = \"x\"\nextends = \"pyton\"",
        "extends = \"pyton\" names no policy of the catalog; known: base, build, node, python, shell, task; did you mean \"python\"?",
    ),
    (
        "name = \"x\"\nextends = \"\"",
        "extends = \"\" names no policy of the catalog; known: base, build, node, python, shell",
    ),
    (
        "name = \"python\"\nextends = \"python\"",
        "extends forms a cycle: python -> python; remove one extends",
    ),
    (
        "name = \"x\"\nextends = \"python\"\n[limits]\npids_max = 65",
        "limits.pids_max = 65 is wider than policy \"python\", which it extends and which allows 64; narrow it or leave it out",
    ),
    (
        "name = \"x\"\nextends = \"python\"\n[files]\nread = [\"/usr/lib\", \"/root\"]",
        "files.read = [\"/root\"] is wider than policy \"python\", which it extends and which allows [\"/bin\", \"/dev\", \"/etc\"",
    ),
    (
        "name = \"x\"\nextends = \"python\"\n[network]\nmode = \"allowlist\"",
        "network.mode = \"allowlist\" is wider than policy \"python\", which it extends and which allows \"none\"; narrow",
    ),
    (
        "name = \"x\"\nextends = \"python\"\n[defaults]\nmemory_bytes = \"3 GiB\"",
        "defaults.memory_bytes = 3221225472 is more than limits.memory_bytes_max = 2147483648; lower the default or raise the limit",
    ),
    (
        "name = \"x\"\nextends = \"python\"\n[defaults]\nwall_ms = 39_999\ncpu_ms = 10_000",
        "defaults.wall_ms = 39999 is less than 4 times defaults.cpu_ms = 10000; set wall_ms to 40000 or more, or lower cpu_ms",
    ),
    (
        "name = \"x\"\n[files]\nread = [\"/usr\", \"usr/lib\"]",
        "files.read[1] = \"usr/lib\" is not valid; write absolute paths without `.`, `..`, double or end slashes",
    ),
    (
        "name = \"x\"\n[files]\nwrite = [\"/tmp/../etc\"]",
        "files.write[0] = \"/tmp/../etc\" is not valid",
    ),
    (
        "name = \"x\"\n[files]\nwrite = [\"/tmp/\"]",
        "files.write[0] = \"/tmp/\" is not valid",
    ),
    (
        "name = \"x\"\n[files]\nwrite = [\"/tmp\"]\nexecute = [\"/usr\", \"/tmp/bin\"]",
        "files.execute[1] = \"/tmp/bin\" is not valid; write a path outside files.write, or writable_noexec = false",
    ),
    (
        "name = \"x\"\n[syscalls]\nallow = [\"open at\"]",
        "syscalls.allow[0] = \"open at\" is not valid; write names of system calls",
    ),
    (
        "name = \"x\"\n[network]\nallow = [{ host = \"a.example\" }]",
        "network.allow = 1 entries is not valid; write none, or mode = \"allowlist\"",
    ),
    (
        "name = \"x\"\n[network]\nmode = \"allowlist\"\nallow = [{ ports = [1] }]",
        "network.allow[0].host is missing; write the host name that may be reached",
    ),
    (
        "name = \"x\"\n[network]\nmode = \"allowlist\"\nallow = [{ host = \"https://a\" }]",
        "network.allow[0].host = \"https://a\" is not valid; write a host name in lower case",
    ),
    (
        "name = \"x\"\n[network]\nmode = \"allowlist\"\nallow = [{ host = \"a\", ports = [] }]",
        "network.allow[0].ports = [] is not valid; write at least one port",
    ),
    (
        "name = \"x\"\n[network]\nmode = \"allowlist\"\nallow = [{ host = \"a\", methods = [\"get\"] }]",
        "network.allow[0].methods = [\"get\"] is not valid; write at least one HTTP method",
    ),
    (
        "name = \"x\"\n[network]\nmode = \"allowlist\"\nallow = [{ host = \"a\", path_prefix = \"x\" }]",
        "network.allow[0].path_prefix = \"x\" is not valid; write an absolute path",
    ),
    (
        "name = \"x\"\n[code]\nallow_sha256 = [\"abc\"]",
        "code.allow_sha256[0] = \"abc\" is not valid; write 64 hexadecimal digits each",
    ),
    (
        "name = \"x\"\n[code]\nimports_deny = [\"a..b\"]",
        "code.imports_deny[0] = \"a..b\" is not valid; write module names",
    ),
    (
        "name = \"x\"\n[[grant]]\ngpu = true",
        "grant[0].when.signed_by is missing; write the name of the key",
    ),
    (
        "name = \"x\"\n[[grant]]\nwhen = { signed_by = \"k\" }\nsecrets = [\"A-B\"]",
        "grant[0].secrets[0] = \"A-B\" is not valid; write names of secrets",
    ),
    (
        "name = \"x\"\nextends = \"python\"\n[[grant]]\nwhen = { signed_by = \"k\" }\ngpu = true",
        "grant = [signed by \"k\": gpu] is wider than policy \"python\", which it extends and which allows []",
    ),
    (
        "name = \"x\"\n[enforcement]\ndegradable = [\"\"]",
        "enforcement.degradable[0] = \"\" is not valid; write names of controls",
    ),
];

#[test]
fn every_error_names_field_value_and_fix() {
    for (text, expected) in ERRORS {
        let found = resolve_error(text);
        assert!(
            found.starts_with(expected),
            "\nfound    {found}\nexpected {expected}"
        );
    }
}

#[test]
fn all_errors_are_found_at_once() {
    let text = "extends = \"python\"\n[limits]\npids_max = 65\n[files]\nread = [\"x\"]\n[gpu]\nenabled = true\n";
    let errors = resolve_all(&parse(text).expect("TOML"), &builtin()).expect_err("four errors");
    let fields: Vec<&str> = errors.iter().map(ResolveError::field).collect();
    assert_eq!(
        fields,
        [
            "name",
            "files.read[0]",
            "limits.pids_max",
            "files.read",
            "gpu.enabled"
        ]
    );
}

#[test]
fn long_chains_are_refused() {
    let texts: Vec<(String, String)> = (0..9)
        .map(|index: usize| {
            let extends = match index {
                0 => String::new(),
                _ => format!("extends = \"p{}\"", index - 1),
            };
            (format!("p{index}"), extends)
        })
        .collect();
    assert!(Catalog::from_documents(texts.iter().take(8).cloned()).is_ok());
    let error = Catalog::from_documents(texts).expect_err("too long");
    let source = std::error::Error::source(&error)
        .expect("a cause")
        .to_string();
    assert!(
        source.starts_with("extends forms a chain of more than 8 policies: p0 -> p1"),
        "{source}"
    );
}

#[test]
fn a_chain_that_starts_at_its_narrow_end_is_cut() {
    let texts = (0..10_000_usize).map(|index| {
        (
            format!("p{index:05}"),
            format!("extends = \"p{:05}\"", index + 1),
        )
    });
    let error = Catalog::from_documents(texts).expect_err("too long");
    let source = std::error::Error::source(&error)
        .expect("a cause")
        .to_string();
    assert!(
        source.starts_with("extends forms a chain of more than 8"),
        "{source}"
    );
}

#[test]
fn inline_documents_extend_the_catalog() {
    let catalog = builtin();
    let policy = resolve_inline("extends = \"python\"\n[limits]\npids_max = 8\n", &catalog)
        .expect("narrower");
    assert_eq!(
        (policy.name.as_str(), policy.parent()),
        (INLINE_NAME, Some("python"))
    );
    assert_eq!(policy.limits.pids_max, 8);
    for (text, expected) in [
        (
            "name = \"x\"",
            "the inline policy is refused: extends is missing; write the name of a catalog policy",
        ),
        (
            "extends = \"none\"",
            "the inline policy is refused: extends = \"none\" names no policy",
        ),
        (
            "extends = ",
            "the inline policy cannot be read: line 1, column 11",
        ),
        (
            "extends = \"python\"\n[limits]\npids_max = 1000",
            "the inline policy is refused: limits.pids_max = 1000 is wider than policy \"python\"",
        ),
    ] {
        let found = resolve_inline(text, &catalog).expect_err(text).to_string();
        assert!(found.starts_with(expected), "{found}");
    }
}
