//! The skip log and the list of allowed skips, on small texts.

use super::{Allowed, Place, Skip, parse_log};

fn skip(name: &str) -> Skip {
    Skip {
        name: name.to_owned(),
        reason: "why".to_owned(),
    }
}

fn place(is_root: bool, is_ci: bool) -> Place {
    Place { is_root, is_ci }
}

#[test]
fn the_log_is_read_each_skip_once() {
    let skips = parse_log("SKIP gpu: no device: none\nSKIP gpu: no device: none\n\nSKIP a/b: x\n")
        .expect("a good log");
    assert_eq!(skips.len(), 2);
    assert_eq!(skips[1].reason, "no device: none");
    assert!(!skips[0].is_whole_test() && skips[1].is_whole_test());
}

#[test]
fn a_line_without_reason_is_refused() {
    assert!(parse_log("SKIP gpu\n").is_err());
    assert!(parse_log("gpu: no device\n").is_err());
}

#[test]
fn only_listed_names_are_permitted() {
    let list = "[[skip]]\nname = \"peer_*\"\nreason = \"peers are optional\"\n\n\
                [[skip]]\nname = \"mounts\"\nreason = \"needs root\"\nwhen = \"not_root\"\n\
                [[skip]]\nname = \"emulator\"\nreason = \"no network\"\nwhen = \"outside_ci\"\n";
    let allowed = Allowed::parse(list).expect("a good list");
    assert!(allowed.permits(&skip("peer_runc"), place(true, false)));
    assert!(!allowed.permits(&skip("speed"), place(true, false)));
    assert!(allowed.permits(&skip("mounts"), place(false, false)));
    assert!(!allowed.permits(&skip("mounts"), place(true, false)));
    assert!(!allowed.permits(&skip("mounts/part"), place(false, false)));
    assert!(allowed.permits(&skip("emulator"), place(true, false)));
    assert!(!allowed.permits(&skip("emulator"), place(true, true)));
}

#[test]
fn entries_need_a_reason_and_known_fields() {
    assert!(Allowed::parse("[[skip]]\nname = \"x\"\nreason = \" \"\n").is_err());
    assert!(Allowed::parse("[[skip]]\nname = \"x\"\n").is_err());
    assert!(Allowed::parse("[[skip]]\nname = \"x\"\nreason = \"y\"\nsince = 1\n").is_err());
}

#[test]
fn an_empty_list_permits_nothing() {
    let allowed = Allowed::parse("").expect("an empty list");
    assert!(!allowed.permits(&skip("anything"), place(true, false)));
}
