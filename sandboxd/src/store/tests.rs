//! What is kept, whose it is, and what a key promises.

use proto::v1;

use super::{Begin, Begun, Key, Listing, Retention, Store, StoreError};

const KEEP: Retention = Retention {
    keep_ms: 1 << 40,
    entries_max: 1000,
    bytes_max: 1 << 30,
};

fn open(folder: &tempfile::TempDir, retention: Retention) -> Store {
    Store::open(&folder.path().join("results.redb"), retention, 7).expect("store")
}

fn id(number: u64) -> String {
    format!(
        "{}-{number:016x}",
        crate::run_id::prefix_at(super::unix_ms() - 10_000 + number)
    )
}

fn record(run_id: &str, group: &str) -> v1::RunRecord {
    v1::RunRecord {
        run_id: run_id.to_owned(),
        id: "task".into(),
        group: group.to_owned(),
        state: v1::RunState::Active.into(),
        ..v1::RunRecord::default()
    }
}

fn finished(run_id: &str, group: &str) -> v1::RunRecord {
    v1::RunRecord {
        state: v1::RunState::Finished.into(),
        result: Some(v1::RunResult {
            stdout: vec![7; 1000],
            ..v1::RunResult::default()
        }),
        ..record(run_id, group)
    }
}

fn begin(run_id: &str, key: &str, payload: &str) -> Begin {
    Begin {
        tenant: "red".into(),
        record: record(run_id, ""),
        key: Some(Key {
            rpc: "Run",
            key: key.into(),
            payload_sha256: payload.into(),
        }),
    }
}

#[tokio::test]
async fn a_key_gives_the_same_run_and_no_other_payload() {
    let folder = tempfile::tempdir().expect("folder");
    let store = open(&folder, KEEP);
    let (first, second) = (id(1), id(2));
    assert_eq!(
        store.begin(begin(&first, "k", "a")).await.expect("begin"),
        Begun::New
    );
    let before = Begun::Before {
        run_id: first.clone(),
    };
    assert_eq!(
        store.begin(begin(&second, "k", "a")).await.expect("again"),
        before
    );
    let other = Begun::OtherPayload {
        run_id: first.clone(),
    };
    assert_eq!(
        store.begin(begin(&second, "k", "b")).await.expect("other"),
        other
    );
    // Another tenant or another rpc has keys of its own.
    let blue = Begin {
        tenant: "blue".into(),
        ..begin(&second, "k", "b")
    };
    assert_eq!(store.begin(blue).await.expect("blue"), Begun::New);
    let mut submit = begin(&id(3), "k", "b");
    submit.key = submit.key.map(|key| Key {
        rpc: "Submit",
        ..key
    });
    assert_eq!(store.begin(submit).await.expect("submit"), Begun::New);
}

#[tokio::test]
async fn a_forgotten_run_frees_its_key() {
    let folder = tempfile::tempdir().expect("folder");
    let store = open(&folder, KEEP);
    let (first, second) = (id(1), id(2));
    store.begin(begin(&first, "k", "a")).await.expect("begin");
    store.forget("red", &first).await.expect("forget");
    assert_eq!(store.get("red", &first).await.expect("get"), None);
    assert_eq!(
        store.begin(begin(&second, "k", "b")).await.expect("again"),
        Begun::New
    );
}

#[tokio::test]
async fn results_and_keys_survive_a_restart_and_lost_runs_are_told_as_such() {
    let folder = tempfile::tempdir().expect("folder");
    let (done, lost) = (id(1), id(2));
    {
        let store = open(&folder, KEEP);
        store.begin(begin(&done, "k", "a")).await.expect("begin");
        store
            .finish("red", finished(&done, ""), true)
            .await
            .expect("finish");
        store.begin(begin(&lost, "l", "a")).await.expect("begin");
    }
    let store = open(&folder, KEEP);
    let found = store.get("red", &done).await.expect("get").expect("kept");
    assert_eq!(found, finished(&done, ""));
    let before = Begun::Before {
        run_id: lost.clone(),
    };
    assert_eq!(
        store.begin(begin(&id(3), "l", "a")).await.expect("again"),
        before
    );
    let found = store.get("red", &lost).await.expect("get").expect("kept");
    assert_eq!(
        (found.state(), found.finished_unix_ms),
        (v1::RunState::Finished, Some(7))
    );
    let result = found.result.expect("a result");
    assert_eq!(
        result.ending.expect("ending").kind(),
        v1::EndingKind::SandboxFailed
    );
    let verdict = result.verdict.expect("verdict");
    assert_eq!(
        (verdict.outcome(), verdict.reward),
        (v1::Outcome::InfraError, None)
    );
}

#[tokio::test]
async fn another_tenant_sees_nothing() {
    let folder = tempfile::tempdir().expect("folder");
    let store = open(&folder, KEEP);
    let run_id = id(1);
    store
        .finish("red", finished(&run_id, ""), true)
        .await
        .expect("finish");
    assert!(store.get("red", &run_id).await.expect("get").is_some());
    assert!(store.get("blue", &run_id).await.expect("get").is_none());
    let listing = Listing {
        tenant: "blue".into(),
        page_size: 10,
        ..Listing::default()
    };
    assert_eq!(store.list(listing).await.expect("list").runs, []);
}

#[tokio::test]
async fn listing_pages_from_the_latest_and_filters() {
    let folder = tempfile::tempdir().expect("folder");
    let store = open(&folder, KEEP);
    let ids: Vec<String> = (1..=5).map(id).collect();
    for (number, run_id) in ids.iter().enumerate() {
        let group = if number % 2 == 0 { "even" } else { "odd" };
        store
            .finish("red", finished(run_id, group), true)
            .await
            .expect("finish");
    }
    let listing = Listing {
        tenant: "red".into(),
        page_size: 2,
        ..Listing::default()
    };
    let mut seen = Vec::new();
    let mut token = String::new();
    for pages in 1.. {
        let next = Listing {
            page_token: token,
            ..listing.clone()
        };
        let page = store.list(next).await.expect("page");
        assert!(page.runs.iter().all(|run| run.result.is_none()));
        seen.extend(page.runs.into_iter().map(|run| run.run_id));
        token = page.next_page_token;
        if token.is_empty() {
            assert_eq!(pages, 3);
            break;
        }
    }
    let latest_first: Vec<String> = ids.iter().rev().cloned().collect();
    assert_eq!(seen, latest_first);
    let odd = Listing {
        group: "odd".into(),
        page_size: 9,
        ..listing.clone()
    };
    assert_eq!(store.list(odd).await.expect("odd").runs.len(), 2);
    let active = Listing {
        state: v1::RunState::Active,
        page_size: 9,
        ..listing.clone()
    };
    assert_eq!(store.list(active).await.expect("active").runs.len(), 0);
    let forged = Listing {
        page_token: "../x".into(),
        ..listing
    };
    assert!(matches!(
        store.list(forged).await,
        Err(StoreError::PageToken { .. })
    ));
}

#[tokio::test]
async fn the_oldest_without_a_key_go_first_when_there_are_too_many() {
    let folder = tempfile::tempdir().expect("folder");
    let store = open(
        &folder,
        Retention {
            entries_max: 3,
            ..KEEP
        },
    );
    let ids: Vec<String> = (1..=6).map(id).collect();
    store.begin(begin(&ids[0], "k", "a")).await.expect("begin");
    for run_id in &ids {
        store
            .finish("red", finished(run_id, ""), true)
            .await
            .expect("finish");
    }
    let mut kept = Vec::new();
    for run_id in &ids {
        kept.push(store.get("red", run_id).await.expect("get").is_some());
    }
    assert_eq!(kept, [true, false, false, false, true, true]);
}

#[tokio::test]
async fn bytes_are_bounded_too_and_age_takes_keys_with_it() {
    let folder = tempfile::tempdir().expect("folder");
    {
        let store = open(
            &folder,
            Retention {
                bytes_max: 2500,
                ..KEEP
            },
        );
        let ids: Vec<String> = (1..=4).map(id).collect();
        for run_id in &ids {
            store
                .finish("red", finished(run_id, ""), true)
                .await
                .expect("finish");
        }
        assert!(store.get("red", &ids[1]).await.expect("get").is_none());
        assert!(store.get("red", &ids[3]).await.expect("get").is_some());
        store.begin(begin(&ids[0], "k", "a")).await.expect("begin");
        store
            .finish("red", finished(&ids[0], ""), true)
            .await
            .expect("finish");
    }
    let store = open(&folder, Retention { keep_ms: 0, ..KEEP });
    let fresh = id(10_000);
    assert_eq!(
        store.begin(begin(&fresh, "k2", "a")).await.expect("begin"),
        Begun::New
    );
    assert_eq!(
        store.begin(begin(&fresh, "k", "b")).await.expect("begin"),
        Begun::New
    );
}
