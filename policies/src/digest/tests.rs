//! The canonical form is stable.

use crate::testing::{builtin, policy};

#[test]
fn digests_of_the_catalog_are_stable() {
    let found: Vec<(String, String)> = builtin()
        .iter()
        .map(|(name, entry)| (name.to_owned(), entry.policy.sha256_hex()))
        .collect();
    // A change here is a change of what a policy means or of the canonical form: results and
    // audit records of the past no longer match the policies of their name.
    let golden = include_str!("golden.txt");
    let golden: Vec<(String, String)> = golden
        .lines()
        .filter_map(|line| line.split_once(' '))
        .map(|(name, digest)| (name.to_owned(), digest.to_owned()))
        .collect();
    assert_eq!(found, golden);
}

#[test]
fn canonical_json_is_sorted_and_without_white_space() {
    let text = String::from_utf8(policy("name = \"x\"").canonical_json()).expect("UTF-8");
    let expected = concat!(
        r#"{"audit":{"on_failure":"deny"},"code":{"allow_sha256":[],"allow_signers":[],"#,
        r#""exec_allow_sha256":[],"imports_deny":[],"mode":"open"},"defaults":{"cpu_ms":0,"#,
        r#""memory_bytes":0,"wall_ms":0},"description":"","enforcement":{"default":"strict","#,
        r#""degradable":[]},"files":{"execute":[],"read":[],"writable_noexec":true,"write":[]},"#,
        r#""gpu":{"enabled":false},"grants":[],"limits":{"connections_max":0,"cpu_millicores_max":0,"#,
        r#""cpu_ms_max":0,"disk_bytes_max":0,"files_max":0,"io_bytes_per_second_max":0,"#,
        r#""memory_bytes_max":0,"net_bytes_max":0,"net_bytes_per_second_max":0,"open_files_max":0,"#,
        r#""output_bytes_max":0,"output_bytes_total_max":0,"pids_max":0,"wall_ms_max":0},"#,
        r#""lineage":["x"],"name":"x","network":{"allow":[],"mode":"sealed"},"process":{"run_as":"user"},"#,
        r#""syscalls":{"allow":[],"deny_action":"errno","profile":"strict"},"verify":{"shared_reward":false}}"#,
    );
    assert_eq!(text, expected);
}

#[test]
fn order_and_spelling_of_a_document_do_not_matter() {
    let left = policy(
        "name = \"x\"\n[files]\nread = [\"/usr\", \"/etc\", \"/usr\"]\n[limits]\nmemory_bytes_max = \"1 GiB\"\n",
    );
    let right = policy(
        "name = \"x\"\n[limits]\nmemory_bytes_max = 1073741824\n[files]\nread = [\"/etc\", \"/usr\"]\n",
    );
    assert_eq!(left.sha256_hex(), right.sha256_hex());
    let other = policy("name = \"x\"\n[limits]\nmemory_bytes_max = 1073741825\n");
    assert_ne!(left.sha256_hex(), other.sha256_hex());
}
