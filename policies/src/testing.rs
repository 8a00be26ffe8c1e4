//! What several test modules need: texts, policies, and documents at random.

use proptest::collection::vec;
use proptest::option::{self, weighted};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use crate::catalog::Catalog;
use crate::document::*;
use crate::policy::*;
use crate::{parse, resolve};

/// The built-in catalog.
pub(crate) fn builtin() -> Catalog {
    Catalog::builtin().expect("the built-in policies resolve")
}

/// The built-in catalog with more documents.
pub(crate) fn catalog_with(documents: &[(&str, &str)]) -> Catalog {
    Catalog::from_documents(documents.iter().copied()).expect("the documents resolve")
}

/// The policy that `text` means over the built-in catalog.
pub(crate) fn policy(text: &str) -> Policy {
    resolve(&parse(text).expect(text), &builtin()).expect(text)
}

/// The error message of a text that has no meaning.
pub(crate) fn resolve_error(text: &str) -> String {
    resolve(&parse(text).expect(text), &builtin())
        .expect_err(text)
        .to_string()
}

/// A document with every field set, also those of list entries.
pub(crate) const FULL: &str = include_str!("testing/full.toml");

const PATHS: &[&str] = &[
    "/usr",
    "/usr/bin",
    "/usr/lib",
    "/workspace",
    "/workspace/a",
    "/tmp",
];
const CALLS: &[&str] = &["splice", "ptrace", "mbind", "kcmp", "shmget"];
const MODULES: &[&str] = &["ctypes", "os", "socket"];
const CONTROLS: &[&str] = &["landlock", "seccomp", "cgroup"];

fn names(all: &'static [&'static str]) -> impl Strategy<Value = Vec<String>> {
    subsequence(all, 0..=all.len()).prop_map(|some| some.into_iter().map(str::to_owned).collect())
}

fn digests() -> impl Strategy<Value = Vec<String>> {
    subsequence(vec!["a", "b", "c"], 0..=3)
        .prop_map(|some| some.into_iter().map(|digit| digit.repeat(64)).collect())
}

fn numbers() -> impl Strategy<Value = Option<u64>> {
    weighted(0.5, 0..4_u64)
}

fn sizes() -> impl Strategy<Value = Option<Size>> {
    weighted(0.5, (0..4_u64).prop_map(Size))
}

fn limits() -> impl Strategy<Value = LimitsDocument> {
    let first = (
        numbers(),
        numbers(),
        numbers(),
        sizes(),
        numbers(),
        sizes(),
        numbers(),
    );
    let second = (
        sizes(),
        sizes(),
        numbers(),
        sizes(),
        sizes(),
        numbers(),
        sizes(),
    );
    (first, second).prop_map(|(first, second)| LimitsDocument {
        wall_ms_max: first.0,
        cpu_ms_max: first.1,
        cpu_millicores_max: first.2,
        memory_bytes_max: first.3,
        pids_max: first.4,
        disk_bytes_max: first.5,
        files_max: first.6,
        output_bytes_max: second.0,
        output_bytes_total_max: second.1,
        open_files_max: second.2,
        net_bytes_max: second.3,
        net_bytes_per_second_max: second.4,
        connections_max: second.5,
        io_bytes_per_second_max: second.6,
    })
}

fn network() -> impl Strategy<Value = NetworkDocument> {
    let rule = (
        select(vec!["a.example", "b.example"]),
        option::of(select(vec![vec![443], vec![80, 443]])),
        option::of(select(vec![
            vec!["GET".to_owned()],
            vec!["GET".to_owned(), "PUT".to_owned()],
        ])),
        option::of(select(vec!["/", "/simple", "/simple/x"])),
    );
    let rule = rule.prop_map(|(host, ports, methods, path_prefix)| NetworkRuleDocument {
        host: Some(host.to_owned()),
        ports,
        methods,
        path_prefix: path_prefix.map(str::to_owned),
    });
    let modes = vec![
        NetworkMode::Sealed,
        NetworkMode::None,
        NetworkMode::Allowlist,
    ];
    (option::of(select(modes)), weighted(0.3, vec(rule, 0..3)))
        .prop_map(|(mode, allow)| NetworkDocument { mode, allow })
}

fn grant() -> impl Strategy<Value = GrantDocument> {
    let keys = select(vec!["team-key", "other-key"]);
    (
        keys,
        option::of(network()),
        option::of(names(MODULES)),
        option::of(any::<bool>()),
    )
        .prop_map(|(signed_by, network, secrets, gpu)| GrantDocument {
            when: Some(GrantConditionDocument {
                signed_by: Some(signed_by.to_owned()),
            }),
            network,
            secrets,
            gpu,
        })
}

fn files() -> impl Strategy<Value = FilesDocument> {
    let list = || option::of(names(PATHS));
    (list(), list(), list(), option::of(any::<bool>())).prop_map(
        |(read, write, execute, writable_noexec)| FilesDocument {
            read,
            write,
            execute,
            writable_noexec,
        },
    )
}

fn syscalls() -> impl Strategy<Value = SyscallsDocument> {
    let profiles = vec![
        SyscallProfile::Strict,
        SyscallProfile::Compat,
        SyscallProfile::Debug,
    ];
    let actions = vec![DenyAction::Errno, DenyAction::Kill];
    (
        option::of(select(profiles)),
        option::of(names(CALLS)),
        option::of(select(actions)),
    )
        .prop_map(|(profile, allow, deny_action)| SyscallsDocument {
            profile,
            allow,
            deny_action,
        })
}

fn code() -> impl Strategy<Value = CodeDocument> {
    let modes = vec![CodeMode::Open, CodeMode::Audit, CodeMode::Allowlist];
    let list = || option::of(digests());
    (
        option::of(select(modes)),
        list(),
        list(),
        option::of(names(MODULES)),
        list(),
    )
        .prop_map(
            |(mode, allow_sha256, allow_signers, imports_deny, exec_allow_sha256)| CodeDocument {
                mode,
                allow_sha256,
                allow_signers,
                imports_deny,
                exec_allow_sha256,
            },
        )
}

fn switches() -> impl Strategy<Value = Document> {
    let enforcements = select(vec![Enforcement::Strict, Enforcement::Degradable]);
    let failures = select(vec![AuditFailure::Deny, AuditFailure::Degrade]);
    let switches = (
        option::of(select(vec![RunAs::User, RunAs::Root])),
        option::of(any::<bool>()),
        (option::of(enforcements), option::of(names(CONTROLS))),
        option::of(failures),
        option::of(any::<bool>()),
    );
    switches.prop_map(
        |(run_as, gpu, (default, degradable), on_failure, shared_reward)| Document {
            process: Some(ProcessDocument { run_as }),
            gpu: Some(GpuDocument { enabled: gpu }),
            enforcement: Some(EnforcementDocument {
                default,
                degradable,
            }),
            audit: Some(AuditDocument { on_failure }),
            verify: Some(VerifyDocument { shared_reward }),
            ..Document::default()
        },
    )
}

/// A document named `name` that extends `extends`; each table is there or not.
pub(crate) fn document(
    name: &'static str,
    extends: Option<&'static str>,
) -> impl Strategy<Value = Document> {
    let tables = (
        option::of(limits()).boxed(),
        option::of(files()).boxed(),
        option::of(syscalls()).boxed(),
        option::of(network()).boxed(),
        option::of(code()).boxed(),
        weighted(0.3, vec(grant().boxed(), 0..3)).boxed(),
        option::of(switches()).boxed(),
    );
    tables.prop_map(
        move |(limits, files, syscalls, network, code, grant, switches)| Document {
            name: Some(name.to_owned()),
            extends: extends.map(str::to_owned),
            limits,
            files,
            syscalls,
            network,
            code,
            grant,
            ..switches.unwrap_or_default()
        },
    )
}
