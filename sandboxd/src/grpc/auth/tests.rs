//! The whole role x rpc matrix, and who is who.

use std::collections::BTreeSet;
use std::sync::Arc;

use tonic::{Code, Extensions};

use super::{Gate, Peer, RULES, Rpc, Session, authorize};
use crate::config::{Names, Overrides, PrincipalConfig, Role, Surroundings, parse};
use crate::run::request::Caller;

/// Written out once more, so that a slip in the table is seen: rpc, then run, operate, audit.
const MATRIX: [(Rpc, [bool; 3]); 19] = [
    (Rpc::RunsRun, [true, false, false]),
    (Rpc::RunsRunBatch, [true, false, false]),
    (Rpc::RunsStream, [true, false, false]),
    (Rpc::RunsSubmit, [true, false, false]),
    (Rpc::RunsFetch, [true, false, false]),
    (Rpc::RunsCancel, [true, true, false]),
    (Rpc::RunsGet, [true, true, false]),
    (Rpc::RunsList, [true, true, false]),
    (Rpc::PoliciesList, [true, true, true]),
    (Rpc::PoliciesGet, [true, true, true]),
    (Rpc::PoliciesLint, [true, true, true]),
    (Rpc::PoliciesExplain, [true, true, true]),
    (Rpc::PoliciesDiff, [true, true, true]),
    (Rpc::AuditQuery, [false, false, true]),
    (Rpc::AuditTail, [false, false, true]),
    (Rpc::AuditVerify, [false, false, true]),
    (Rpc::AuditCheckpoint, [false, false, true]),
    (Rpc::NodeCapabilities, [true, true, true]),
    (Rpc::NodeStatus, [true, true, false]),
];

fn extensions(roles: &[Role]) -> Extensions {
    let mut extensions = Extensions::new();
    extensions.insert(Arc::new(Session {
        caller: Caller {
            principal: "p".into(),
            tenant: "t".into(),
        },
        roles: roles.to_vec(),
        policies: Names::All,
        images: Names::All,
        runs_max: None,
    }));
    extensions
}

#[test]
fn each_role_may_call_what_the_matrix_says() {
    for (rpc, allowed) in MATRIX {
        for (role, allowed) in [Role::Run, Role::Operate, Role::Audit]
            .into_iter()
            .zip(allowed)
        {
            let answer = authorize(&extensions(&[role]), rpc);
            assert_eq!(answer.is_ok(), allowed, "{rpc:?} as {role:?}");
            if let Err(error) = answer {
                assert_eq!(error.code, Code::PermissionDenied);
            }
        }
        assert!(
            authorize(&extensions(&[Role::Admin]), rpc).is_ok(),
            "{rpc:?} as admin"
        );
        assert!(
            authorize(&extensions(&[]), rpc).is_err(),
            "{rpc:?} without a role"
        );
        let nobody = authorize(&Extensions::new(), rpc).expect_err("no session");
        assert_eq!(nobody.code, Code::Unauthenticated);
    }
}

#[test]
fn the_table_has_every_rpc_of_the_package_once_and_in_order() {
    use prost::Message;
    let files = prost_types::FileDescriptorSet::decode(proto::FILE_DESCRIPTOR_SET).expect("set");
    let described: BTreeSet<(String, String)> = files
        .file
        .iter()
        .flat_map(|file| &file.service)
        .flat_map(|service| {
            service
                .method
                .iter()
                .map(|rpc| (service.name().to_owned(), rpc.name().to_owned()))
        })
        .collect();
    let ruled: BTreeSet<(String, String)> = RULES
        .iter()
        .map(|rule| (rule.service.to_owned(), rule.name.to_owned()))
        .collect();
    assert_eq!(described, ruled);
    for ((rule, (rpc, _)), index) in RULES.iter().zip(MATRIX).zip(0_usize..) {
        assert_eq!((rule.rpc, rule.rpc as usize), (rpc, index));
        assert_eq!(
            format!("{}{}", rule.service, rule.name),
            format!("{:?}", rule.rpc)
        );
    }
}

fn principals() -> Vec<PrincipalConfig> {
    let digest = |text: &str| {
        use sha2::Digest;
        hex::encode(sha2::Sha256::digest(text))
    };
    let text = format!(
        r#"
        [tcp]
        listen = "127.0.0.1:1"
        cert = "c"
        key = "k"
        client_ca = "a"
        [[principal]]
        name = "trainer"
        tenant = "red"
        roles = ["run"]
        uid = 1000
        policies = ["python"]
        runs_max = 8
        [[principal]]
        name = "remote"
        tenant = "blue"
        roles = ["run", "audit"]
        token_sha256 = "{}"
        [[principal]]
        name = "cert"
        tenant = "blue"
        roles = ["operate"]
        certificate_sha256 = "{}"
        "#,
        digest("secret"),
        digest("der"),
    );
    let surroundings = Surroundings {
        uid: 0,
        home: None,
        xdg_state_home: None,
        xdg_runtime_dir: None,
    };
    parse(&text, None, Overrides::default(), &surroundings)
        .expect("config")
        .principals
}

#[test]
fn credentials_lead_to_their_principal_and_no_other() {
    let gate = Gate::new(&principals(), 500);
    let who = |peer: Peer| {
        gate.identify(&peer)
            .map(|session| session.caller.principal.clone())
    };
    let uid = |uid| Peer {
        uid: Some(uid),
        ..Peer::default()
    };
    let token = |token: &str| Peer {
        token: Some(token.into()),
        ..Peer::default()
    };
    let certificate = |der: &str| Peer {
        certificate: Some(der.into()),
        ..Peer::default()
    };
    assert_eq!(who(uid(0)).as_deref(), Ok("uid:0"));
    assert_eq!(who(uid(500)).as_deref(), Ok("uid:500"));
    assert_eq!(who(uid(1000)).as_deref(), Ok("trainer"));
    assert_eq!(who(token("secret")).as_deref(), Ok("remote"));
    assert_eq!(who(certificate("der")).as_deref(), Ok("cert"));
    for stranger in [
        uid(1001),
        token("guess"),
        token(""),
        certificate("other"),
        Peer::default(),
    ] {
        let error = who(stranger.clone()).expect_err("a stranger");
        assert_eq!(error.code, Code::Unauthenticated, "{stranger:?}");
    }
    // A token does not help on a unix socket: there the kernel says who it is.
    let both = Peer {
        uid: Some(1001),
        token: Some("secret".into()),
        certificate: None,
    };
    assert!(who(both).is_err());
}

#[test]
fn a_session_has_what_its_entry_says() {
    let gate = Gate::new(&principals(), 0);
    let session = gate
        .identify(&Peer {
            uid: Some(1000),
            ..Peer::default()
        })
        .expect("known");
    assert_eq!(session.caller.tenant, "red");
    assert_eq!(
        (session.roles.as_slice(), session.runs_max),
        (&[Role::Run][..], Some(8))
    );
    assert!(session.policies.contains("python") && !session.policies.contains("build"));
    assert!(session.images.contains("host"));
}
