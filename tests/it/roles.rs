//! Who may call what, over the real socket: every role against every rpc, an unknown user, and
//! what one tenant can learn of another's runs. The matrix stands here a second time on purpose:
//! a row of the daemon's own table that is changed by mistake shows as a difference.

mod caller;

use std::collections::BTreeSet;

use prost::Message;

use crate::world::World;
use caller::{ALL_CALLS, Answers, GROUP, as_caller, call_as};

/// Which roles may call which rpc; `admin` may call everything.
#[rustfmt::skip]
const MATRIX: [(&str, &[&str]); 20] = [
    ("Runs/Run", &["run"]),
    ("Runs/RunBatch", &["run"]),
    ("Runs/Stream", &["run"]),
    ("Runs/Submit", &["run"]),
    ("Runs/Fetch", &["run"]),
    ("Runs/Cancel", &["run", "operate"]),
    ("Runs/Get", &["run", "operate"]),
    ("Runs/List", &["run", "operate"]),
    ("Policies/List", &["run", "operate", "audit"]),
    ("Policies/Get", &["run", "operate", "audit"]),
    ("Policies/Lint", &["run", "operate", "audit"]),
    ("Policies/Explain", &["run", "operate", "audit"]),
    ("Policies/Diff", &["run", "operate", "audit"]),
    ("Audit/Query", &["audit"]),
    ("Audit/Tail", &["audit"]),
    ("Audit/Verify", &["audit"]),
    ("Audit/Checkpoint", &["audit"]),
    ("Node/Capabilities", &["run", "operate", "audit"]),
    ("Node/Status", &["run", "operate"]),
    ("Node/SelfTest", &["run", "operate", "audit"]),
];

/// Users of no account on the host, with one role each, all of tenant `alpha`.
const ROLES: [(&str, u32); 4] = [
    ("run", 61_001),
    ("operate", 61_002),
    ("audit", 61_003),
    ("admin", 61_004),
];
/// All roles but `admin`, of tenant `beta`.
const STRANGER: u32 = 61_005;
/// In no entry of the configuration.
const UNKNOWN: u32 = 61_006;
/// Role `run` of tenant `beta`, under policy `python` only.
const NARROW: u32 = 61_007;

fn configuration() -> String {
    let mut text = format!("socket_group = \"{GROUP}\"\n");
    let mut principal = |name: &str, tenant: &str, roles: &str, uid: u32, more: &str| {
        text += &format!(
            "[[principal]]\nname = \"{name}\"\ntenant = \"{tenant}\"\nroles = [{roles}]\nuid = {uid}\n{more}\n"
        );
    };
    for (role, uid) in ROLES {
        principal(role, "alpha", &format!("\"{role}\""), uid, "");
    }
    principal(
        "stranger",
        "beta",
        "\"run\", \"operate\", \"audit\"",
        STRANGER,
        "",
    );
    principal(
        "narrow",
        "beta",
        "\"run\"",
        NARROW,
        "policies = [\"python\"]",
    );
    text
}

/// Every rpc of the contract, by its own description.
fn described_rpcs() -> BTreeSet<String> {
    let files = prost_types::FileDescriptorSet::decode(proto::FILE_DESCRIPTOR_SET);
    let files = files.expect("a descriptor set").file;
    let mut rpcs = BTreeSet::new();
    for service in files.iter().flat_map(|file| &file.service) {
        rpcs.extend(
            service
                .method
                .iter()
                .map(|rpc| format!("{}/{}", service.name(), rpc.name())),
        );
    }
    rpcs
}

#[test]
fn the_matrix_names_every_rpc() {
    let named: BTreeSet<String> = MATRIX.iter().map(|(rpc, _)| (*rpc).to_owned()).collect();
    assert_eq!(
        described_rpcs(),
        named,
        "an rpc without a row, or a row without an rpc"
    );
    let called: BTreeSet<String> = ALL_CALLS.iter().map(|rpc| (*rpc).to_owned()).collect();
    assert_eq!(named, called, "an rpc that no caller here calls");
}

#[test]
fn every_role_may_call_what_its_row_says_and_nothing_else() {
    const TEST: &str = "roles::every_role_may_call_what_its_row_says_and_nothing_else";
    if as_caller() {
        return;
    }
    let Some(world) = World::with_config(TEST, &configuration()) else {
        return;
    };
    let mut wrong = Vec::new();
    for (role, uid) in ROLES {
        let answers = call_as(TEST, &world, uid, "run-that-is-not");
        for (rpc, roles) in MATRIX {
            let may = role == "admin" || roles.contains(&role);
            let code = &answers.codes[rpc];
            let fits = if may {
                // Get, Cancel and Fetch are let in and then find no such run.
                *code == expected_code(rpc)
            } else {
                code == "permission_denied"
            };
            if !fits {
                wrong.push(format!(
                    "{role} calls {rpc}: {code}, {}",
                    answers.messages[rpc]
                ));
            }
        }
    }
    let answers = call_as(TEST, &world, UNKNOWN, "run-that-is-not");
    for (rpc, code) in &answers.codes {
        if code != "unauthenticated" {
            wrong.push(format!("an unknown user calls {rpc}: {code}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    println!(
        "{} roles x {} rpcs, and an unknown user, as the matrix says",
        ROLES.len(),
        MATRIX.len()
    );
}

fn expected_code(rpc: &str) -> &'static str {
    match rpc {
        "Runs/Get" | "Runs/Cancel" | "Runs/Fetch" => "not_found",
        _ => "ok",
    }
}

#[test]
fn a_run_of_another_tenant_is_not_there() {
    const TEST: &str = "roles::a_run_of_another_tenant_is_not_there";
    if as_caller() {
        return;
    }
    let Some(world) = World::with_config(TEST, &configuration()) else {
        return;
    };
    let own = call_as(TEST, &world, 61_001, "run-that-is-not");
    let run_id = own.ran.first().expect("a run of its own").clone();
    let listed = |answers: &Answers| answers.listed.contains(&run_id);

    // The control: its own tenant sees it, also under another role and user.
    let colleague = call_as(TEST, &world, 61_002, &run_id);
    assert_eq!(colleague.codes["Runs/Get"], "ok", "{colleague:?}");
    assert_eq!(colleague.codes["Runs/Cancel"], "ok", "{colleague:?}");
    assert!(listed(&colleague), "{colleague:?}");

    let absent = call_as(TEST, &world, STRANGER, "run-that-is-not");
    let stranger = call_as(TEST, &world, STRANGER, &run_id);
    for rpc in ["Runs/Get", "Runs/Cancel", "Runs/Fetch"] {
        assert_eq!(stranger.codes[rpc], "not_found", "{rpc}: {stranger:?}");
        // Nothing tells a run of others from one that never was.
        let (told, none) = (&stranger.messages[rpc], &absent.messages[rpc]);
        assert_eq!(
            told.replace(&run_id, "ID"),
            none.replace("run-that-is-not", "ID")
        );
    }
    assert!(!listed(&stranger), "{stranger:?}");
    // The same idempotency key in another tenant is another run.
    assert!(!stranger.ran.contains(&run_id), "{stranger:?}");

    // The log: an auditor sees its tenant's records, an admin all.
    let auditor = call_as(TEST, &world, 61_003, &run_id);
    let only = |tenant: &str| BTreeSet::from([tenant.to_owned()]);
    assert_eq!(
        (stranger.tenants, auditor.tenants),
        (only("beta"), only("alpha"))
    );
    let admin = call_as(TEST, &world, 61_004, &run_id);
    for tenant in ["alpha", "beta"] {
        assert!(admin.tenants.contains(tenant), "{:?}", admin.tenants);
    }
}

#[test]
fn a_principal_uses_its_policies_only() {
    const TEST: &str = "roles::a_principal_uses_its_policies_only";
    if as_caller() {
        return;
    }
    let Some(world) = World::with_config(TEST, &configuration()) else {
        return;
    };
    // What callers run is under policy `shell`.
    let narrow = call_as(TEST, &world, NARROW, "run-that-is-not");
    assert_eq!(narrow.codes["Runs/Run"], "invalid_argument", "{narrow:?}");
    assert!(narrow.messages["Runs/Run"].contains("python"), "{narrow:?}");
    assert_eq!(narrow.codes["Policies/Get"], "not_found", "{narrow:?}");
    assert_eq!(narrow.policies, BTreeSet::from(["python".to_owned()]));
    let wide = call_as(TEST, &world, 61_001, "run-that-is-not");
    assert!(wide.policies.len() >= 5, "{wide:?}");
}
