//! What a self-test has found wrong is not run under, however a run comes to it.

use std::collections::BTreeMap;

use policies::resolve_inline;

use super::fake::FakeSandbox;
use super::*;
use crate::self_test::{JUDGE, plan_sha256};

const TROUBLE: &str = "probe `core_pattern` found `ok`";

fn forever(sandbox: &mut FakeSandbox) {
    sandbox.started();
    let (_, program) = sandbox.spawned();
    sandbox.wait_killed();
    drop(program);
    sandbox.reaped();
}

async fn refused(house: &House, request: Request) {
    let run = house.engine.run(request, None, Cancel::new());
    is_refused(run.await.unwrap_err());
}

fn is_refused(error: RunError) {
    match error {
        RunError::Refused {
            reason: "PROBE_FAILED",
            message,
            ..
        } => assert!(message.contains(TROUBLE), "{message}"),
        other => panic!("{other}"),
    }
}

fn inline(text: &str) -> Arc<Policy> {
    let catalog = Catalog::builtin().unwrap();
    Arc::new(resolve_inline(text, &catalog).unwrap())
}

#[tokio::test]
async fn a_document_with_a_plan_that_is_wrong_is_refused_whatever_it_extends() {
    let house = house(forever).await;
    let (wrong, other) = (
        inline("extends = \"python\"\n[files]\nwrite = [\"/workspace\"]\n"),
        inline("extends = \"base\"\n"),
    );
    let host = house.engine.launcher().host();
    let plan = plan_sha256(&wrong, host).unwrap();
    assert_ne!(plan_sha256(&other, host), Some(plan.clone()));
    house.engine.note_plan(&plan, Some(TROUBLE.to_owned()));
    let under = |policy: &Arc<Policy>| Request {
        policy: Arc::clone(policy),
        ..request(&["python3"])
    };
    assert!(house.engine.is_plan_wrong(&plan));
    refused(&house, under(&wrong)).await;
    let cancel = Cancel::new();
    cancel.cancel("test");
    let run = house.engine.run(under(&other), None, cancel.clone());
    assert_eq!(run.await.unwrap().ending.kind(), "cancelled");
    // What it extends, too.
    let troubles = BTreeMap::from([("base".to_owned(), TROUBLE.to_owned())]);
    house.engine.note_policies(troubles);
    refused(&house, under(&other)).await;
    // Until a test finds it right.
    house.engine.note_policies(BTreeMap::new());
    house.engine.note_plan(&plan, None);
    let run = house.engine.run(under(&wrong), None, cancel);
    assert_eq!(run.await.unwrap().ending.kind(), "cancelled");
}

#[tokio::test]
async fn a_wrong_judge_takes_no_work() {
    let house = house(forever).await;
    let troubles = BTreeMap::from([(JUDGE.to_owned(), TROUBLE.to_owned())]);
    house.engine.note_policies(troubles);
    let asserts = verdict::AssertsSpec {
        code: "assert True".to_owned(),
        ..Default::default()
    };
    let verified = Request {
        verify: Some(verdict::VerifySpec::Asserts(asserts)),
        ..request(&["python3"])
    };
    refused(&house, verified).await;
}

#[tokio::test]
async fn a_run_that_waits_is_refused_if_it_is_found_wrong_meanwhile() {
    let house = house_with(forever, MemoryLog::default(), 1).await;
    let first = Cancel::new();
    let mut runs = Vec::new();
    for cancel in [first.clone(), Cancel::new()] {
        let engine = house.engine.clone();
        let (sender, mut events) = mpsc::channel(8);
        runs.push(tokio::spawn(async move {
            let request = request(&["python3"]);
            engine.run(request, Some(sender), cancel).await
        }));
        assert!(matches!(events.recv().await, Some(Event::Queued)));
        tokio::spawn(async move { while events.recv().await.is_some() {} });
    }
    assert_eq!(house.engine.load().queued, 1);
    let host = house.engine.launcher().host();
    let plan = plan_sha256(&request(&[]).policy, host).unwrap();
    house.engine.note_plan(&plan, Some(TROUBLE.to_owned()));
    first.cancel("test");
    let mut ends = Vec::new();
    for run in runs {
        ends.push(run.await.unwrap());
    }
    assert!(ends.remove(0).is_ok(), "it runs already");
    is_refused(ends.remove(0).unwrap_err());
    assert_eq!(house.engine.load().live, 0);
}
