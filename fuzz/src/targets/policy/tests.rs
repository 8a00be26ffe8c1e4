//! The oracle itself: it sees what is wider, and nothing where there is nothing.

use super::{CATALOG, acts};

#[test]
fn what_is_wider_is_seen() {
    let policy = |name: &str| &CATALOG.get(name).expect("a built-in policy").policy;
    for name in CATALOG.names() {
        assert_eq!(acts::wider(policy(name), policy(name)), None, "{name}");
    }
    for (text, what) in [
        ("extends = \"base\"\n", "none"),
        ("extends = \"base\"\n[limits]\npids_max = 1\n", "pids_max"),
        ("extends = \"base\"\n[files]\nread = []\n", "path"),
        (
            "extends = \"base\"\n[syscalls]\nprofile = \"strict\"\n",
            "profile",
        ),
        (
            "extends = \"base\"\n[code]\nimports_deny = [\"x\"]\n",
            "import x",
        ),
        (
            "extends = \"base\"\n[network]\nmode = \"sealed\"\n",
            "network",
        ),
    ] {
        let narrow = policies::resolve_inline(text, &CATALOG).expect(text);
        let seen = acts::wider(policy("base"), &narrow).unwrap_or_else(|| "none".to_owned());
        assert!(seen.starts_with(what), "{text}: {seen}");
    }
}
