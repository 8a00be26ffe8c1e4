//! A child is never wider than its parent.
//!
//! The oracle does not use `narrow`'s rows: it asks of single acts whether a policy lets them
//! happen, and wants that all that a child lets happen its parent does too.

use proptest::prelude::*;

use super::*;
use crate::document::Document;
use crate::policy::{AuditFailure, DenyAction, NetworkPolicy, RunAs};
use crate::resolve::resolve_all;
use crate::testing::{builtin, catalog_with, document, policy};

const PATHS: &[&str] = &[
    "/usr",
    "/usr/bin/x",
    "/usr/lib",
    "/workspace/a/b",
    "/tmp",
    "/etc",
];
const CALLS: &[&str] = &["splice", "ptrace", "mbind", "kcmp", "shmget", "mount"];

/// Acts by name, for those that a policy lets happen.
#[derive(Default)]
struct Acts(Vec<String>);

impl Acts {
    fn add(&mut self, allowed: bool, name: String) {
        if allowed {
            self.0.push(name);
        }
    }
}

/// Single acts that `policy` lets happen, by name.
fn acts(policy: &Policy) -> Vec<String> {
    let mut acts = Acts::default();
    spend(policy, &mut acts);
    touch_files(policy, &mut acts);
    make_calls(policy, &mut acts);
    load_code(policy, &mut acts);
    use_grants(policy, &mut acts);
    acts.0.extend(reaches(&policy.network));
    acts.add(policy.process.run_as == RunAs::Root, "be root".to_owned());
    acts.add(policy.gpu.enabled, "gpu".to_owned());
    for control in ["landlock", "seccomp", "cgroup", "other"] {
        let listed = policy
            .enforcement
            .degradable
            .iter()
            .any(|name| name == control);
        let all = policy.enforcement.default == Enforcement::Degradable;
        acts.add(all || listed, format!("miss {control}"));
    }
    let unrecorded = policy.audit.on_failure == AuditFailure::Degrade;
    acts.add(unrecorded, "go unrecorded".to_owned());
    acts.add(
        policy.verify.shared_reward,
        "earn by a shared verdict".to_owned(),
    );
    acts.0
}

fn spend(policy: &Policy, acts: &mut Acts) {
    let limits = serde_json::to_value(policy.limits).expect("limits");
    for (name, value) in limits.as_object().expect("an object") {
        let most = match value.as_u64() {
            Some(0) if name == "io_bytes_per_second_max" => u64::MAX,
            value => value.expect("a number"),
        };
        for number in 1..=5_u64 {
            acts.add(number <= most, format!("{name} {number}"));
        }
    }
}

fn touch_files(policy: &Policy, acts: &mut Acts) {
    let below = |path: &str, list: &[String]| {
        list.iter()
            .any(|above| path == above || path.starts_with(&format!("{above}/")))
    };
    let files = &policy.files;
    for path in PATHS {
        acts.add(below(path, &files.read), format!("read {path}"));
        acts.add(below(path, &files.write), format!("write {path}"));
        acts.add(below(path, &files.execute), format!("execute {path}"));
        let both = below(path, &files.write) && below(path, &files.execute);
        acts.add(
            both && !files.writable_noexec,
            format!("execute own {path}"),
        );
    }
}

fn make_calls(policy: &Policy, acts: &mut Acts) {
    for call in CALLS {
        let from = profile_with(call);
        let in_profile = from.is_some_and(|from| from <= policy.syscalls.profile);
        let listed = policy.syscalls.allow.iter().any(|name| name == call);
        acts.add(in_profile || listed, format!("call {call}"));
    }
    let survives = policy.syscalls.deny_action == DenyAction::Errno;
    acts.add(survives, "survive a denied call".to_owned());
}

fn load_code(policy: &Policy, acts: &mut Acts) {
    let code = &policy.code;
    let free = code.mode != CodeMode::Allowlist;
    for digit in ["a", "b", "c"] {
        let digest = digit.repeat(64);
        acts.add(
            free || code.allow_sha256.contains(&digest),
            format!("load {digit}"),
        );
        acts.add(
            free || code.allow_signers.contains(&digest),
            format!("load signed {digit}"),
        );
        acts.add(
            free || code.exec_allow_sha256.contains(&digest),
            format!("exec {digit}"),
        );
    }
    for module in ["ctypes", "os", "socket"] {
        let denied = code.imports_deny.iter().any(|name| name == module);
        acts.add(!denied, format!("import {module}"));
    }
}

fn use_grants(policy: &Policy, acts: &mut Acts) {
    for grant in &policy.grants {
        let key = &grant.when.signed_by;
        for reach in grant.network.iter().flat_map(reaches) {
            acts.add(true, format!("{key}: {reach}"));
        }
        for secret in &grant.secrets {
            acts.add(true, format!("{key}: secret {secret}"));
        }
        acts.add(grant.gpu, format!("{key}: gpu"));
    }
}

fn reaches(network: &NetworkPolicy) -> Vec<String> {
    let mut reaches = Vec::new();
    if network.mode != NetworkMode::Sealed {
        reaches.push("reach itself".to_owned());
    }
    for rule in network
        .allow
        .iter()
        .filter(|_| network.mode == NetworkMode::Allowlist)
    {
        for path in ["/", "/simple", "/simple/x", "/simple/x/y", "/simplex"] {
            let prefix = rule.path_prefix.trim_end_matches('/');
            if !(path == prefix || path.starts_with(&format!("{prefix}/"))) {
                continue;
            }
            let each = rule.ports.iter().flat_map(|port| {
                rule.methods
                    .iter()
                    .map(move |method| format!("reach {method} {}:{port}{path}", rule.host))
            });
            reaches.extend(each);
        }
    }
    reaches
}

/// `document` without the fields that keep it from resolving.
fn repaired(document: Document, catalog: &crate::Catalog) -> (Document, Policy) {
    let mut value = serde_json::to_value(document).expect("a document is JSON");
    for _ in 0..200 {
        let document: Document = serde_json::from_value(value.clone()).expect("a document");
        let errors = match resolve_all(&document, catalog) {
            Ok(policy) => return (document, policy),
            Err(errors) => errors,
        };
        let field = errors
            .first
            .field()
            .split('[')
            .next()
            .unwrap_or_default()
            .to_owned();
        let mut at = &mut value;
        for part in field.split('.') {
            at = &mut at[part];
        }
        assert!(
            !at.is_null(),
            "{field} is unset and still wrong: {}",
            errors.first
        );
        *at = serde_json::Value::Null;
    }
    panic!("the document cannot be repaired: {value}");
}

fn text(document: &Document) -> String {
    toml::to_string(document).expect("a document is TOML")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn what_a_descendant_may_do_its_ancestors_may(
        root in document("root", None),
        child in document("child", Some("root")),
        grandchild in document("grandchild", Some("child")),
    ) {
        let (root, root_policy) = repaired(root, &builtin());
        let texts = [("root", text(&root))];
        let catalog = crate::Catalog::from_documents(texts.clone()).expect("root resolves");
        let (child, child_policy) = repaired(child, &catalog);
        let [first] = texts;
        let catalog = crate::Catalog::from_documents([first, ("child", text(&child))])
            .expect("child resolves");
        let (_, grandchild_policy) = repaired(grandchild, &catalog);
        for (narrow, wide) in [
            (&child_policy, &root_policy),
            (&grandchild_policy, &child_policy),
            (&grandchild_policy, &root_policy),
        ] {
            prop_assert_eq!(widenings(narrow, wide), vec![]);
            let wide_acts = acts(wide);
            for act in acts(narrow) {
                prop_assert!(wide_acts.contains(&act), "{} may {} but {} may not", narrow.name, act, wide.name);
            }
        }
    }

    #[test]
    fn what_is_within_allows_no_more_acts(
        left in document("left", None),
        right in document("right", None),
    ) {
        let left = repaired(left, &builtin()).1;
        let right = repaired(right, &builtin()).1;
        let (left_acts, right_acts) = (acts(&left), acts(&right));
        let no_more = left_acts.iter().all(|act| right_acts.contains(act));
        // An act beyond is a widening of some row, whatever the rows are.
        prop_assert!(no_more || !widenings(&left, &right).is_empty());
        prop_assert_eq!(widenings(&left, &left), vec![]);
    }
}

/// One document that differs from `FULL`'s bounds in one field, for each field that can widen.
#[test]
fn each_field_alone_is_seen() {
    let bound = "name = \"bound\"\n[limits]\nio_bytes_per_second_max = 5\n[code]\nmode = \"allowlist\"\nimports_deny = [\"os\"]\n[syscalls]\ndeny_action = \"kill\"\n";
    let catalog = catalog_with(&[("bound", bound)]);
    let digest = "a".repeat(64);
    let list = format!("[\"{digest}\"]");
    let wider: Vec<(&str, &str, &str)> = vec![
        ("limits.wall_ms_max", "1", "1"),
        ("limits.cpu_ms_max", "1", "1"),
        ("limits.cpu_millicores_max", "1", "1"),
        ("limits.memory_bytes_max", "1", "1"),
        ("limits.pids_max", "1", "1"),
        ("limits.disk_bytes_max", "1", "1"),
        ("limits.files_max", "1", "1"),
        ("limits.output_bytes_max", "1", "1"),
        ("limits.output_bytes_total_max", "1", "1"),
        ("limits.open_files_max", "1", "1"),
        ("limits.net_bytes_max", "1", "1"),
        ("limits.net_bytes_per_second_max", "1", "1"),
        ("limits.connections_max", "1", "1"),
        ("limits.io_bytes_per_second_max", "0", "0"),
        ("files.read", "[\"/usr\"]", "[\"/usr\"]"),
        ("files.write", "[\"/tmp\"]", "[\"/tmp\"]"),
        ("files.execute", "[\"/usr\"]", "[\"/usr\"]"),
        ("files.writable_noexec", "false", "false"),
        ("syscalls.profile", "\"compat\"", "\"compat\""),
        ("syscalls.allow", "[\"splice\"]", "[\"splice\"]"),
        ("syscalls.deny_action", "\"errno\"", "\"errno\""),
        ("network.mode", "\"none\"", "\"none\""),
        ("code.mode", "\"audit\"", "\"audit\""),
        ("code.allow_sha256", &list, &list),
        ("code.allow_signers", &list, &list),
        ("code.imports_deny", "[\"ctypes\"]", "[\"ctypes\"]"),
        ("code.exec_allow_sha256", &list, &list),
        ("process.run_as", "\"root\"", "\"root\""),
        (
            "grant",
            "[{ when = { signed_by = \"k\" }, gpu = true }]",
            "[signed by \"k\": gpu]",
        ),
        ("gpu.enabled", "true", "true"),
        ("enforcement.default", "\"degradable\"", "\"degradable\""),
        ("enforcement.degradable", "[\"landlock\"]", "[\"landlock\"]"),
        ("audit.on_failure", "\"degrade\"", "\"degrade\""),
        ("verify.shared_reward", "true", "true"),
    ];
    for (field, written, value) in &wider {
        let text = format!("name = \"child\"\nextends = \"bound\"\n{field} = {written}\n");
        let error = resolve_all(&crate::parse(&text).expect(&text), &catalog).expect_err(&text);
        let crate::ResolveError::Widens {
            field: found,
            value: what,
            parent,
            ..
        } = &error.first
        else {
            panic!("{text}: {}", error.first);
        };
        assert_eq!(
            (*found, what.as_str(), parent.as_str()),
            (*field, *value, "bound")
        );
        assert!(error.rest.is_empty(), "{text}");
    }
    let seen: Vec<&str> = wider.iter().map(|(field, ..)| *field).collect();
    let rows = DIMENSIONS
        .iter()
        .map(|row| row.field)
        .filter(|field| *field != "network.allow");
    assert_eq!(seen, rows.collect::<Vec<_>>());
}

#[test]
fn network_rules_narrow_in_every_part() {
    let bound = "[network]\nmode = \"allowlist\"\nallow = [{ host = \"a.example\", ports = [80, 443], methods = [\"GET\", \"PUT\"], path_prefix = \"/x\" }]\n";
    let bound = policy(&format!("name = \"bound\"\n{bound}"));
    for (rule, within) in [
        (
            "{ host = \"a.example\", path_prefix = \"/x\", methods = [\"GET\"] }",
            true,
        ),
        (
            "{ host = \"a.example\", path_prefix = \"/x/y/\", ports = [80], methods = [\"PUT\"] }",
            true,
        ),
        ("{ host = \"a.example\", path_prefix = \"/x\" }", false), // HEAD by default
        (
            "{ host = \"a.example\", path_prefix = \"/xy\", methods = [\"GET\"] }",
            false,
        ),
        ("{ host = \"a.example\", methods = [\"GET\"] }", false),
        (
            "{ host = \"b.example\", path_prefix = \"/x\", methods = [\"GET\"] }",
            false,
        ),
        (
            "{ host = \"a.example\", path_prefix = \"/x\", methods = [\"GET\"], ports = [8080] }",
            false,
        ),
    ] {
        let text = format!("name = \"c\"\n[network]\nmode = \"allowlist\"\nallow = [{rule}]\n");
        let found = widenings(&policy(&text), &bound);
        assert_eq!(found.is_empty(), within, "{rule}: {found:?}");
        assert!(
            found
                .iter()
                .all(|widening| widening.field == "network.allow")
        );
    }
}

#[test]
fn paths_narrow_by_parts_not_by_letters() {
    let bound = policy("name = \"bound\"\n[files]\nread = [\"/usr/lib\"]\n");
    for (path, within) in [
        ("/usr/lib", true),
        ("/usr/lib/x", true),
        ("/usr/library", false),
        ("/usr", false),
        ("/", false),
    ] {
        let child = policy(&format!("name = \"c\"\n[files]\nread = [\"{path}\"]\n"));
        assert_eq!(widenings(&child, &bound).is_empty(), within, "{path}");
    }
}

#[test]
fn a_stricter_profile_may_name_calls_of_the_wider_one() {
    let bound = policy("name = \"bound\"\n[syscalls]\nprofile = \"compat\"\n");
    for (profile, call, within) in [
        ("strict", "splice", true),
        ("compat", "splice", true),
        ("strict", "ptrace", false),
        ("strict", "mount", false),
    ] {
        let text =
            format!("name = \"c\"\n[syscalls]\nprofile = \"{profile}\"\nallow = [\"{call}\"]\n");
        assert_eq!(
            widenings(&policy(&text), &bound).is_empty(),
            within,
            "{text}"
        );
    }
}

#[test]
fn a_stricter_mode_brings_its_own_code_list() {
    let list = format!("allow_sha256 = [\"{}\"]", "a".repeat(64));
    let of = |mode: &str, list: &str| {
        policy(&format!(
            "name = \"c\"\n[code]\nmode = \"{mode}\"\n{list}\n"
        ))
    };
    for (mode, bound, within) in [
        ("audit", "open", true),
        ("allowlist", "audit", true),
        ("audit", "audit", false),
        ("allowlist", "allowlist", false),
    ] {
        assert_eq!(
            widenings(&of(mode, &list), &of(bound, "")).is_empty(),
            within,
            "{mode} {bound}"
        );
    }
}
