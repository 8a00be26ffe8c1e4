//! Whole batches: lines in, results by id out, each line answered exactly once.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::world::World;

/// Runs requests through `rollcage batch` and gives their results by id.
#[track_caller]
pub(crate) fn run(world: &World, requests: &[Value]) -> BTreeMap<String, Value> {
    let lines: String = requests
        .iter()
        .map(|request| format!("{request}\n"))
        .collect();
    let (spoken, results) = world.batch(&lines);
    assert_eq!(spoken.code, Some(0), "{}\n{}", spoken.stderr(), world.log());
    let mut by_id = BTreeMap::new();
    for result in results {
        let id = result["id"]
            .as_str()
            .expect("a result has its id")
            .to_owned();
        let twice = by_id.insert(id.clone(), result);
        assert!(twice.is_none(), "{id} was answered twice");
    }
    for request in requests {
        let id = request["id"].as_str().expect("a request has its id");
        assert!(by_id.contains_key(id), "{id} was not answered");
    }
    by_id
}
