//! The disk of the state folder: full, and read-only.

use super::place::{SmallDisk, refused_start};
use super::{at_once, recovers};
use crate::audit;
use crate::world::{Place, World, shell};

#[test]
fn a_full_disk_refuses_runs_until_there_is_space() {
    let test = "a_full_disk_refuses_runs_until_there_is_space";
    if !crate::skips::is_root(test) {
        return;
    }
    let disk = SmallDisk::mount(24);
    let place = Place {
        state: Some(disk.path().join("state")),
        ..Place::default()
    };
    let Some(world) = World::in_place(test, place) else {
        return;
    };
    world.allow_log("");
    world.run(&shell("exit 3")).exited(3);
    disk.fill();
    // The last of a page may still take a record or two.
    let first = at_once(&world, 12, |_| {});
    let told = at_once(&world, 12, |_| {});
    told.print("a full disk");
    assert!(told.results.is_empty(), "recorded where? {told:?}");
    disk.empty();
    recovers(&world, &first.results);
    // With keys too, for which the results have to be kept.
    let after = at_once(&world, 12, |asked| {
        let id = asked["id"].as_str().expect("an id");
        asked["id"] = format!("{id}-after").into();
        if asked.get("idempotency_key").is_some() {
            asked["idempotency_key"] = asked["id"].clone();
        }
    });
    after.print("with space again");
    assert_eq!((after.results.len(), after.faults()), (12, 0), "{after:?}");
    let ended = audit::records(&world);
    let ended = ended.iter().filter(|record| record["event"] == "run_ended");
    println!("{} runs are recorded", ended.count());
}

#[test]
fn a_read_only_state_folder_is_refused_at_the_start() {
    let test = "a_read_only_state_folder_is_refused_at_the_start";
    if !crate::skips::is_root(test) {
        return;
    }
    let disk = SmallDisk::mount(4);
    disk.make_read_only();
    let state = disk.path().join("state");
    let said = refused_start(&Place {
        state: Some(state.clone()),
        ..Place::default()
    });
    assert!(said.contains(&*state.to_string_lossy()), "{said}");
    assert!(said.contains("ead-only"), "{said}");
}
