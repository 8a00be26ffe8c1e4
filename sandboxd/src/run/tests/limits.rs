//! Limits that the daemon enforces itself, cancellation, the queue and draining.

use std::io::Write;

use confine::wire::{FromInit, KernelCounters};

use super::fake::FakeSandbox;
use super::*;

/// Runs until it is killed.
fn forever(sandbox: &mut FakeSandbox) {
    sandbox.started();
    let (_, program) = sandbox.spawned();
    sandbox.wait_killed();
    drop(program);
    sandbox.reaped();
}

#[tokio::test]
async fn wall_time_is_counted_from_the_exec() {
    let mut request = request(&["python3"]);
    request.limits.wall_ms_max = 50;
    let result = run(forever, request).await;
    let Ending::WallTimeUp {
        limit_ms: 50,
        used_ms,
        ..
    } = result.ending
    else {
        panic!("{:?}", result.ending);
    };
    assert!(used_ms >= 50);
    assert_eq!(result.usage.wall_ms, used_ms);
}

#[tokio::test]
async fn a_kill_that_has_no_effect_is_repeated_by_the_launcher() {
    fn script(sandbox: &mut FakeSandbox) {
        sandbox.started();
        let (_, program) = sandbox.spawned();
        assert_eq!(sandbox.wait_killed(), "cgroup");
        assert_eq!(sandbox.wait_killed(), "launcher");
        drop(program);
        sandbox.reaped();
    }
    let mut request = request(&["python3"]);
    request.limits.wall_ms_max = 500;
    let result = run(script, request).await;
    assert!(matches!(result.ending, Ending::WallTimeUp { .. }));
}

#[tokio::test]
async fn an_unwritable_kill_descriptor_means_the_launcher_is_asked() {
    fn script(sandbox: &mut FakeSandbox) {
        let (read, write) = std::io::pipe().unwrap();
        drop(read);
        let cpu = tempfile::tempfile().unwrap();
        sandbox.started_with(&write.into(), &cpu);
        let (_, program) = sandbox.spawned();
        assert_eq!(sandbox.wait_killed(), "launcher");
        drop(program);
        sandbox.reaped();
    }
    let mut request = request(&["python3"]);
    request.limits.wall_ms_max = 50;
    let result = run(script, request).await;
    assert!(matches!(result.ending, Ending::WallTimeUp { .. }));
}

#[tokio::test]
async fn cpu_time_of_the_whole_sandbox_is_watched() {
    fn script(sandbox: &mut FakeSandbox) {
        let mut cpu = tempfile::tempfile().unwrap();
        let (mut read, write) = std::io::pipe().unwrap();
        sandbox.started_with(&write.into(), &cpu);
        let (_, program) = sandbox.spawned();
        cpu.write_all(b"usage_usec 60000\n").unwrap();
        let mut one = [0];
        std::io::Read::read_exact(&mut read, &mut one).unwrap();
        drop(program);
        sandbox.reaped_with(KernelCounters {
            cpu_user_us: 61_000,
            ..KernelCounters::default()
        });
    }
    let mut request = request(&["python3"]);
    request.limits.cpu_ms_max = 50;
    let result = run(script, request).await;
    let Ending::CpuTimeUp {
        limit_ms, used_ms, ..
    } = result.ending
    else {
        panic!("{:?}", result.ending);
    };
    assert_eq!((limit_ms, used_ms), (50, 61));
}

#[tokio::test]
async fn too_much_output_ends_the_run_with_exact_counts() {
    fn script(sandbox: &mut FakeSandbox) {
        sandbox.started();
        let (_, mut program) = sandbox.spawned();
        program.stdout.write_all(&vec![b'a'; 300_000]).unwrap();
        sandbox.wait_killed();
        drop(program);
        sandbox.reaped();
    }
    let mut request = request(&["python3"]);
    request.limits.output_bytes_max = 1000;
    request.limits.output_bytes_total_max = 200_000;
    let result = run(script, request).await;
    let dropped_bytes = 299_000;
    let cap_bytes = 200_000;
    assert_eq!(
        result.ending,
        Ending::OutputUp {
            cap_bytes,
            dropped_bytes
        }
    );
    assert_eq!(result.stdout.kept.len(), 1000);
    assert_eq!(result.stdout.dropped_bytes, dropped_bytes);
}

#[tokio::test]
async fn silence_of_launcher_and_init_has_an_end() {
    fn script(sandbox: &mut FakeSandbox) {
        // Paused time runs while nothing happens: the start's time is up at once.
        assert_eq!(sandbox.wait_killed(), "launcher");
        sandbox.reaped();
    }
    let house = house(script).await;
    tokio::time::pause();
    let run = house.engine.run(request(&["python3"]), None, Cancel::new());
    let result = run.await.unwrap();
    assert_eq!(step_of(&result.ending), "start");
}

#[tokio::test]
async fn a_cancelled_run_says_by_whom() {
    let house = house(forever).await;
    let (sender, mut events) = mpsc::channel(8);
    let cancel = Cancel::new();
    let run = house
        .engine
        .run(request(&["python3"]), Some(sender), cancel.clone());
    let cancelling = async {
        while let Some(event) = events.recv().await {
            if matches!(event, Event::Started { .. }) {
                cancel.cancel("uid:7");
                cancel.cancel("uid:8");
            }
        }
    };
    let (result, ()) = tokio::join!(run, cancelling);
    let by = "uid:7".to_owned();
    assert_eq!(result.unwrap().ending, Ending::Cancelled { by });
}

#[tokio::test]
async fn a_request_s_own_deadline_ends_it() {
    let mut request = request(&["python3"]);
    request.deadline_ms = 60;
    let result = run(forever, request).await;
    let by = "deadline".to_owned();
    assert_eq!(result.ending, Ending::Cancelled { by });
}

#[tokio::test]
async fn a_caller_who_goes_away_leaves_no_sandbox_behind() {
    let house = house(forever).await;
    let (sender, mut events) = mpsc::channel(8);
    {
        let run = house
            .engine
            .run(request(&["python3"]), Some(sender), Cancel::new());
        tokio::pin!(run);
        loop {
            tokio::select! {
                _ = &mut run => panic!("it runs for ever"),
                event = events.recv() => {
                    if matches!(event, Some(Event::Started { .. })) { break; }
                }
            }
        }
    }
    assert!(house.engine.drain(Duration::from_secs(10)).await);
    assert_eq!(house.engine.load().live, 0);
    assert_eq!(house.log.events().last(), Some(&audit::Event::RunEnded));
}

#[tokio::test]
async fn draining_cancels_what_does_not_end_and_refuses_what_is_new() {
    let house = house(forever).await;
    let engine = house.engine.clone();
    let (sender, mut events) = mpsc::channel(8);
    let running = tokio::spawn(async move {
        let run = engine.run(request(&["python3"]), Some(sender), Cancel::new());
        run.await
    });
    while let Some(event) = events.recv().await {
        if matches!(event, Event::Started { .. }) {
            break;
        }
    }
    assert!(house.engine.drain(Duration::from_millis(20)).await);
    let by = "shutdown".to_owned();
    assert_eq!(
        running.await.unwrap().unwrap().ending,
        Ending::Cancelled { by }
    );
    let run = house.engine.run(request(&["python3"]), None, Cancel::new());
    assert!(matches!(run.await, Err(RunError::Unavailable { .. })));
}

#[tokio::test]
async fn only_a_full_queue_says_busy_and_a_cancelled_wait_leaves_it() {
    let house = house_with(forever, MemoryLog::default(), 1).await;
    let cancels: Vec<Cancel> = (0..3).map(|_| Cancel::new()).collect();
    let mut runs = Vec::new();
    for cancel in &cancels {
        let (engine, cancel) = (house.engine.clone(), cancel.clone());
        let (sender, mut events) = mpsc::channel(8);
        runs.push(tokio::spawn(async move {
            engine
                .run(request(&["python3"]), Some(sender), cancel)
                .await
        }));
        assert!(matches!(events.recv().await, Some(Event::Queued)));
        tokio::spawn(async move { while events.recv().await.is_some() {} });
    }
    assert_eq!(house.engine.load().queued, 2);
    let run = house.engine.run(request(&["python3"]), None, Cancel::new());
    let error = run.await.unwrap_err();
    assert!(
        matches!(
            error,
            RunError::Busy {
                retry_after_ms: 10..,
                ..
            }
        ),
        "{error}"
    );
    for cancel in cancels.iter().rev() {
        cancel.cancel("test");
    }
    for run in runs {
        let result = run.await.unwrap().unwrap();
        let by = "test".to_owned();
        assert_eq!(result.ending, Ending::Cancelled { by });
    }
    assert_eq!(house.engine.load().live, 0);
}

#[tokio::test]
async fn a_slow_listener_holds_the_program_but_not_the_result() {
    fn script(sandbox: &mut FakeSandbox) {
        sandbox.started();
        let (_, mut program) = sandbox.spawned();
        for _ in 0..40 {
            program.stdout.write_all(&[b'x'; 10_000]).unwrap();
        }
        drop(program);
        sandbox.exited(0);
        sandbox.finished();
        sandbox.reaped();
    }
    let house = house(script).await;
    let (sender, mut events) = mpsc::channel(2);
    let run = house
        .engine
        .run(request(&["python3"]), Some(sender), Cancel::new());
    let listening = async {
        let mut all = Vec::new();
        let mut next_seq = 0;
        while let Some(event) = events.recv().await {
            tokio::task::yield_now().await;
            if let Event::Output { seq, bytes, .. } = event {
                assert_eq!(seq, next_seq);
                next_seq += 1;
                all.extend(bytes);
            }
        }
        all
    };
    let (result, told) = tokio::join!(run, listening);
    assert_eq!(told.len(), 400_000);
    assert_eq!(result.unwrap().stdout.total_bytes, 400_000);
}

#[tokio::test]
async fn a_flood_of_frames_is_a_breach_of_protocol() {
    fn script(sandbox: &mut FakeSandbox) {
        sandbox.started();
        let (_, program) = sandbox.spawned();
        sandbox.flood(&FromInit::Staged { files: 0, bytes: 0 }, 20_000);
        sandbox.wait_killed();
        drop(program);
        sandbox.reaped();
    }
    let result = run(script, request(&["python3"])).await;
    assert_eq!(step_of(&result.ending), "protocol");
}
