//! Every field of a policy document either refuses the run when it asks for what this build does
//! not enforce, or has a probe here that shows its effect through the real daemon. A field with
//! neither fails: `CHECKS` is compared with the product's own tables.

mod own_daemon;
mod probes;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use policies::enforce::{CONTROLS, Control};
use policies::fields::FIELDS;
use sandbox_client::ClientError;
use serde_json::json;

use crate::world::World;

/// How a field is shown to do what it says.
enum Check {
    /// With this in the document, a run is refused, and the refusal names the field that decides.
    Refuses(&'static str),
    /// A probe under a daemon that all probes share.
    Shows(fn(&World)),
    /// A probe under a daemon of its own.
    ShowsAlone(fn()),
    /// A value that is refused, and a probe of one that is not.
    Both(&'static str, fn(&World)),
}

use Check::{Both, Refuses, Shows, ShowsAlone};

/// One hexadecimal digest or key.
const HEX: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

#[rustfmt::skip]
const CHECKS: &[(&str, Check)] = &[
    ("name", Shows(probes::name)),
    ("description", Shows(probes::description)),
    ("extends", Shows(probes::extends)),
    ("defaults.wall_ms", Shows(probes::default_wall_ms)),
    ("defaults.cpu_ms", Shows(probes::default_cpu_ms)),
    ("defaults.memory_bytes", Shows(probes::default_memory_bytes)),
    ("limits.wall_ms_max", Shows(probes::wall_ms_max)),
    ("limits.cpu_ms_max", Shows(probes::cpu_ms_max)),
    ("limits.cpu_millicores_max", Shows(probes::cpu_millicores_max)),
    ("limits.memory_bytes_max", Shows(probes::memory_bytes_max)),
    ("limits.pids_max", Shows(probes::pids_max)),
    ("limits.disk_bytes_max", Shows(probes::disk_bytes_max)),
    ("limits.files_max", Shows(probes::files_max)),
    ("limits.output_bytes_max", Shows(probes::output_bytes_max)),
    ("limits.output_bytes_total_max", Shows(probes::output_bytes_total_max)),
    ("limits.open_files_max", Shows(probes::open_files_max)),
    ("limits.net_bytes_max", Refuses("[limits]\nnet_bytes_max = 1")),
    ("limits.net_bytes_per_second_max", Refuses("[limits]\nnet_bytes_per_second_max = 1")),
    ("limits.connections_max", Refuses("[limits]\nconnections_max = 1")),
    ("limits.io_bytes_per_second_max", Refuses("[limits]\nio_bytes_per_second_max = \"1 MiB\"")),
    ("files.read", Shows(probes::read)),
    ("files.write", Shows(probes::write)),
    ("files.execute", Shows(probes::execute)),
    ("files.writable_noexec", Shows(probes::writable_noexec)),
    ("syscalls.profile", Shows(probes::profile)),
    ("syscalls.allow", Both("[syscalls]\nallow = [\"kexec_load\"]", probes::allow)),
    ("syscalls.deny_action", Shows(probes::deny_action)),
    ("network.mode", Both("[network]\nmode = \"allowlist\"\nallow = [{ host = \"a.example\" }]", probes::network_mode)),
    ("network.allow.host", Refuses("[network]\nmode = \"allowlist\"\nallow = [{ host = \"a.example\" }]")),
    ("network.allow.ports", Refuses("[network]\nmode = \"allowlist\"\nallow = [{ host = \"a.example\", ports = [80] }]")),
    ("network.allow.methods", Refuses("[network]\nmode = \"allowlist\"\nallow = [{ host = \"a.example\", methods = [\"PUT\"] }]")),
    ("network.allow.path_prefix", Refuses("[network]\nmode = \"allowlist\"\nallow = [{ host = \"a.example\", path_prefix = \"/x/\" }]")),
    ("code.mode", Refuses("[code]\nmode = \"audit\"")),
    ("code.allow_sha256", Refuses("[code]\nallow_sha256 = [\"HEX\"]")),
    ("code.allow_signers", Refuses("[code]\nallow_signers = [\"HEX\"]")),
    ("code.imports_deny", Refuses("[code]\nimports_deny = [\"ctypes\"]")),
    ("code.exec_allow_sha256", Refuses("[code]\nexec_allow_sha256 = [\"HEX\"]")),
    ("process.run_as", Both("[process]\nrun_as = \"root\"", probes::run_as)),
    ("grant.when.signed_by", Refuses("[[grant]]\nwhen = { signed_by = \"team-key\" }")),
    ("grant.network.mode", Refuses("[[grant]]\nwhen = { signed_by = \"team-key\" }\nnetwork = { mode = \"none\" }")),
    ("grant.network.allow.host", Refuses("[[grant]]\nwhen = { signed_by = \"team-key\" }\nnetwork = { mode = \"allowlist\", allow = [{ host = \"a.example\" }] }")),
    ("grant.network.allow.ports", Refuses("[[grant]]\nwhen = { signed_by = \"team-key\" }\nnetwork = { mode = \"allowlist\", allow = [{ host = \"a.example\", ports = [80] }] }")),
    ("grant.network.allow.methods", Refuses("[[grant]]\nwhen = { signed_by = \"team-key\" }\nnetwork = { mode = \"allowlist\", allow = [{ host = \"a.example\", methods = [\"PUT\"] }] }")),
    ("grant.network.allow.path_prefix", Refuses("[[grant]]\nwhen = { signed_by = \"team-key\" }\nnetwork = { mode = \"allowlist\", allow = [{ host = \"a.example\", path_prefix = \"/x/\" }] }")),
    ("grant.secrets", Refuses("[[grant]]\nwhen = { signed_by = \"team-key\" }\nsecrets = [\"HF_TOKEN\"]")),
    ("grant.gpu", Refuses("[[grant]]\nwhen = { signed_by = \"team-key\" }\ngpu = true")),
    ("gpu.enabled", Refuses("[gpu]\nenabled = true")),
    ("enforcement.default", ShowsAlone(own_daemon::enforcement)),
    ("enforcement.degradable", ShowsAlone(own_daemon::enforcement)),
    ("audit.on_failure", ShowsAlone(own_daemon::audit_on_failure)),
    ("verify.shared_reward", Shows(probes::shared_reward)),
];

/// Which field a refusal names: the field itself, or the one it is part of.
fn owner(field: &'static str) -> &'static str {
    let row = CONTROLS
        .iter()
        .find(|row| row.field == field)
        .expect("a row for each field");
    match row.control {
        Control::PartOf(whole) => whole,
        _ => field,
    }
}

#[test]
fn every_field_has_a_check_of_the_kind_its_control_needs() {
    let fields: BTreeSet<&str> = FIELDS.iter().map(|field| field.path).collect();
    let controls: BTreeSet<&str> = CONTROLS.iter().map(|row| row.field).collect();
    let checks: BTreeMap<&str, &Check> = CHECKS
        .iter()
        .map(|(field, check)| (*field, check))
        .collect();
    assert_eq!(
        fields, controls,
        "a field without a control, or a control without a field"
    );
    assert_eq!(
        fields,
        checks.keys().copied().collect(),
        "a field without a check here"
    );
    for row in CONTROLS {
        let fits = matches!(
            (row.control, checks[row.field]),
            (Control::Enforced(_), Shows(_) | ShowsAlone(_))
                | (Control::Partly { .. }, Both(..))
                | (Control::Missing { .. } | Control::PartOf(_), Refuses(_))
        );
        assert!(
            fits,
            "{} is {:?}: its check here is of another kind",
            row.field, row.control
        );
    }
}

/// Site policies, each the built-in `base` with one thing that is not enforced.
fn write_refused(world: &World) -> Vec<(String, &'static str)> {
    fs::create_dir_all(world.policies_dir()).expect("the policies folder");
    let builtin = policies::Catalog::builtin().expect("the built-in policies");
    let base = &builtin.get("base").expect("base").source;
    let mut written = Vec::new();
    for (number, (field, check)) in CHECKS.iter().enumerate() {
        let (Refuses(change) | Both(change, _)) = check else {
            continue;
        };
        let name = format!("refused-{number}");
        let mut document: toml::Table = toml::from_str(base).expect("base is TOML");
        let change: toml::Table = toml::from_str(&change.replace("HEX", HEX)).expect("TOML");
        merge(&mut document, change);
        document.insert("name".to_owned(), name.clone().into());
        let path = world.policies_dir().join(format!("{name}.toml"));
        fs::write(path, document.to_string()).expect("write a policy");
        written.push((name, *field));
    }
    written
}

fn merge(document: &mut toml::Table, change: toml::Table) {
    for (key, value) in change {
        match (document.get_mut(&key), value) {
            (Some(toml::Value::Table(table)), toml::Value::Table(change)) => merge(table, change),
            (_, value) => {
                document.insert(key, value);
            }
        }
    }
}

#[test]
fn a_field_that_is_not_enforced_refuses_the_run_and_says_so() {
    const TEST: &str = "fields::a_field_that_is_not_enforced_refuses_the_run_and_says_so";
    let Some(mut world) = World::start(TEST) else {
        return;
    };
    let written = write_refused(&world);
    world.stop();
    world.boot();
    let client = world.client();
    let listed = world.wait(client.list_policies()).expect("the policies");
    for (name, field) in &written {
        let owner = owner(field);
        let summary = listed
            .iter()
            .find(|policy| policy.name == *name)
            .expect("it is listed");
        let named = |text: &String| text.starts_with(&format!("{owner} = "));
        assert!(
            summary.unenforceable.iter().any(named),
            "{field}: listed as {summary:?}"
        );

        let request = json!({ "policy": name, "argv": ["true"] });
        match world.try_run(&request) {
            Err(ClientError::Refused(answer)) => {
                assert_eq!(
                    answer.reason, "POLICY_NOT_ENFORCEABLE",
                    "{field}: {answer:?}"
                );
                assert_eq!(answer.code, "failed_precondition", "{field}: {answer:?}");
                let table = owner.split('.').next().expect("a table");
                assert!(answer.message.contains(table), "{field}: {answer:?}");
            }
            other => panic!("{field} is accepted and ignored: {other:?}"),
        }
    }
    println!(
        "{} values that are not enforced refuse their run",
        written.len()
    );
}

#[test]
fn a_field_that_is_enforced_shows_its_effect() {
    const TEST: &str = "fields::a_field_that_is_enforced_shows_its_effect";
    let Some(world) = World::start(TEST) else {
        return;
    };
    let mut wrong = Vec::new();
    let mut count = 0;
    for (field, check) in CHECKS {
        let (Shows(probe) | Both(_, probe)) = check else {
            continue;
        };
        count += 1;
        // All fields are looked at, whatever one of them says.
        let probed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| probe(&world)));
        if probed.is_err() {
            wrong.push(*field);
        }
    }
    assert!(
        wrong.is_empty(),
        "of {count} probed fields these show no effect: {wrong:?}"
    );
    println!("{count} fields show their effect");
}

#[test]
fn what_a_host_lacks_and_an_audit_that_fails_do_what_the_policy_says() {
    const TEST: &str = "fields::what_a_host_lacks_and_an_audit_that_fails_do_what_the_policy_says";
    if !crate::skips::is_root(TEST) || !crate::skips::has_file(TEST, "/usr/bin/python3") {
        return;
    }
    let mut probes: Vec<fn()> = Vec::new();
    for (_, check) in CHECKS {
        if let ShowsAlone(probe) = check
            && !probes
                .iter()
                .any(|known| std::ptr::fn_addr_eq(*known, *probe))
        {
            probes.push(*probe);
        }
    }
    assert_eq!(probes.len(), 2);
    for probe in probes {
        probe();
    }
}
