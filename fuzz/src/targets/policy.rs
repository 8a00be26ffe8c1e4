//! Policy documents: what is printed is read the same, an error has a place, and what extends a
//! policy of the catalog allows nothing that the extended one does not.

mod acts;
#[cfg(test)]
mod tests;

use std::sync::LazyLock;

use policies::{Catalog, Policy};

static CATALOG: LazyLock<Catalog> =
    LazyLock::new(|| Catalog::builtin().expect("the built-in policies resolve"));

pub(super) fn seeds() -> Vec<Vec<u8>> {
    let mut seeds: Vec<Vec<u8>> = CATALOG
        .iter()
        .map(|(_, entry)| entry.source.clone().into_bytes())
        .collect();
    let narrower = [
        "extends = \"python\"\n",
        "name = \"mine\"\nextends = \"shell\"\n[limits]\nwall_ms_max = 10\nmemory_bytes_max = \"64 MiB\"\npids_max = 4\n",
        "extends = \"build\"\n[files]\nread = [\"/usr/lib\"]\nwrite = [\"/workspace/a\"]\nexecute = []\nwritable_noexec = true\n",
        "extends = \"node\"\n[syscalls]\nprofile = \"strict\"\nallow = [\"splice\"]\ndeny_action = \"kill\"\n[network]\nmode = \"sealed\"\n",
        "extends = \"base\"\n[code]\nmode = \"allowlist\"\nimports_deny = [\"ctypes\"]\n[[grant]]\nsecrets = [\"a\"]\ngpu = true\nwhen = { signed_by = \"k\" }\n",
        "extends = \"python\"\n[enforcement]\ndefault = \"strict\"\ndegradable = [\"landlock\"]\n[audit]\non_failure = \"deny\"\n[verify]\nshared_reward = false\n[process]\nrun_as = \"user\"\n[gpu]\nenabled = false\n[defaults]\nwall_ms = 8\ncpu_ms = 2\nmemory_bytes = 1048576\n",
        "name = \"net\"\n[network]\nmode = \"allowlist\"\nallow = [{ host = \"a.example\", ports = [443], methods = [\"GET\"], path_prefix = \"/x\" }]\n",
    ];
    seeds.extend(narrower.map(|text| text.as_bytes().to_vec()));
    seeds
}

pub(super) fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let catalog = &*CATALOG;
    let document = match policies::parse(text) {
        Ok(document) => document,
        Err(error) => {
            let lines = u64::try_from(text.matches('\n').count()).unwrap_or(u64::MAX) + 1;
            assert!((1..=lines).contains(&error.line), "{error:?}");
            assert!(error.column >= 1 && !error.message.is_empty(), "{error:?}");
            // Whoever asks is told of at least this.
            assert!(!policies::lint(text, catalog).is_empty(), "{error:?}");
            return;
        }
    };
    let printed = toml::to_string(&document).expect("a document can be printed");
    assert_eq!(policies::parse(&printed), Ok(document.clone()), "{printed}");
    drop(policies::lint(text, catalog));
    if let Ok(policy) = policies::resolve(&document, catalog) {
        holds_together(&policy);
        // The same document printed means the same.
        let again = policies::parse(&printed).map(|document| policies::resolve(&document, catalog));
        assert_eq!(again, Ok(Ok(policy)));
    }
    if let Ok(policy) = policies::resolve_inline(text, catalog) {
        let parent = policy.parent().expect("an inline policy extends one");
        let parent = &catalog.get(parent).expect("of the catalog").policy;
        if let Some(wider) = acts::wider(&policy, parent) {
            panic!("allows what {} does not: {wider}\n{text}", parent.name);
        }
    }
}

fn holds_together(policy: &Policy) {
    assert!(policies::diff(policy, policy).is_empty(), "{policy:?}");
    assert_eq!(policy.sha256_hex(), policy.clone().sha256_hex());
    assert!(serde_json::from_slice::<serde_json::Value>(&policy.canonical_json()).is_ok());
    assert!(!policies::explain(policy).is_empty());
    drop(policies::unenforceable(policy));
}
