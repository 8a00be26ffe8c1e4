//! Two sandboxes at once: what one of them opens for everybody, the other does not find.

use futures::StreamExt;
use sandbox_client::pb;

use crate::world::{World, message, python};

/// Offers everything by which processes meet, and proves that it can be reached from where it is.
const HOST: &str = r#"
import os, select, socket, time
tcp = socket.create_server(("127.0.0.1", 5999))
abstract = socket.socket(socket.AF_UNIX)
abstract.bind("\0rollcage-neighbour")
abstract.listen()
named = socket.socket(socket.AF_UNIX)
named.bind("/tmp/neighbour")
named.listen()
for place in ("/tmp", "/dev/shm", "/workspace"):
    open(place + "/left-open", "w").write("x")
    os.chmod(place + "/left-open", 0o666)
os.mkfifo("/tmp/fifo")
socket.create_connection(("127.0.0.1", 5999)).close()
for name in ("\0rollcage-neighbour", "/tmp/neighbour"):
    socket.socket(socket.AF_UNIX).connect(name)
print("open", flush=True)
time.sleep(300)
"#;

/// Tries all of it.
const GUEST: &str = r#"
import os, socket
found = []
def reached(what, act):
    try:
        act()
        found.append(what)
    except OSError:
        pass
reached("tcp", lambda: socket.create_connection(("127.0.0.1", 5999), 2))
for name in ("\0rollcage-neighbour", "/tmp/neighbour"):
    reached(repr(name), lambda: socket.socket(socket.AF_UNIX).connect(name))
for place in ("/tmp", "/dev/shm", "/workspace"):
    reached(place, lambda: open(place + "/left-open"))
reached("fifo", lambda: os.stat("/tmp/fifo"))
found += [name for name in os.listdir("/proc") if name.isdigit() and int(name) not in (1, os.getpid())]
print(found)
"#;

#[test]
fn sandboxes_do_not_meet() {
    let Some(world) = World::start("sandboxes_do_not_meet") else {
        return;
    };
    let client = world.client();
    let host = python(HOST);
    let mut events = world.wait(async {
        let stream = client.stream(message(&host)).await.expect("a stream");
        let mut events = Box::pin(stream);
        loop {
            let event = events.next().await.expect("an event").expect("no fault");
            match event.event.expect("a known event") {
                pb::run_event::Event::Output(output) => {
                    let text = String::from_utf8_lossy(&output.data).into_owned();
                    assert_eq!(text, "open\n");
                    return events;
                }
                pb::run_event::Event::Result(result) => panic!("ended early: {result:?}"),
                _ => {}
            }
        }
    });
    assert_eq!(world.python(GUEST).exited(0).stdout(), "[]\n");
    // It was there all the time.
    let runs = world.wait(client.list_runs(pb::ListRunsRequest::default()));
    let active = runs.expect("runs").runs.into_iter();
    let active: Vec<String> = active
        .filter(|run| run.state() == pb::RunState::Active)
        .map(|run| run.run_id)
        .collect();
    assert_eq!(active.len(), 1, "{active:?}");
    world.wait(async {
        client.cancel(&active[0]).await.expect("cancelled");
        while events.next().await.is_some() {}
    });
    assert!(world.instance().leased_processes().is_empty());
}
