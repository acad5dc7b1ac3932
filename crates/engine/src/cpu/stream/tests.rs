//! The stream pool, with test closures instead of lattice work.

use std::sync::mpsc::channel;
use std::sync::{Condvar, Mutex};

use super::*;
use crate::{EngineError, LatticeId, LatticeOp, OrderOp, Priority, Program, RunId, StreamKind};

/// Creates a pool with streams and events.
fn pool(
    workers: usize,
    streams: usize,
    events: usize,
    work: impl Fn(u32) -> Result<()> + Send + Sync + 'static,
) -> StreamPool {
    let execute = move |op: &Op, _: &AtomicBool| match op {
        Op::Lattices(lattices, LatticeOp::Pack) => work(lattices.start),
        other => panic!("{other:?}"),
    };
    let mut pool = StreamPool::new(NonZeroUsize::new(workers), execute);
    for _ in 0..streams {
        pool.create_stream(DeviceId(0), StreamSpec::PLAIN);
    }
    for _ in 0..events {
        pool.create_event();
    }
    pool
}

fn program(steps: impl IntoIterator<Item = (u32, Op)>) -> Arc<Program> {
    let mut program = Program {
        timed: true,
        ..Program::default()
    };
    steps
        .into_iter()
        .for_each(|(stream, op)| program.push(StreamId(stream), op));
    Arc::new(program)
}

fn submit(pool: &mut StreamPool, steps: impl IntoIterator<Item = (u32, Op)>) -> RunId {
    pool.submit(&program(steps)).unwrap()
}

fn work(number: u32) -> Op {
    LatticeOp::Pack.on(LatticeId(number).as_range())
}

#[test]
fn fewer_workers_than_streams_get_through() {
    let mut pool = pool(2, 9, 1, |_| Ok(()));
    let event = EventId(0);
    let all = (1..9).flat_map(|stream| {
        [
            (stream, OrderOp::Wait(event).into()),
            (stream, work(stream)),
        ]
    });
    submit(
        &mut pool,
        [(0, work(0)), (0, OrderOp::Record(event).into())]
            .into_iter()
            .chain(all),
    );
    pool.synchronize().unwrap();
}

#[test]
fn a_wait_is_for_the_mark_before_it_and_for_no_later_one() {
    let (go, gate) = channel();
    let (gate, log) = (Mutex::new(gate), Arc::new(Mutex::new(Vec::new())));
    let seen = log.clone();
    let mut pool = pool(3, 3, 1, move |number| {
        if number == 0 {
            gate.lock().unwrap().recv().unwrap();
        }
        seen.lock().unwrap().push(number);
        Ok(())
    });
    let event = EventId(0);
    let free = submit(&mut pool, [(2, OrderOp::Wait(event).into()), (2, work(9))]);
    let mut done = Vec::new();
    while done.is_empty() {
        pool.wait(Duration::from_secs(1));
        pool.poll(&mut done).unwrap();
    }
    assert!(
        matches!(done[0], Completion::Finished { run, .. } if run == free),
        "never recorded"
    );
    // The first record waits for the gate; the second, in another stream, is passed immediately.
    submit(
        &mut pool,
        [
            (0, work(0)),
            (0, OrderOp::Record(event).into()),
            (1, OrderOp::Wait(event).into()),
            (1, work(1)),
        ],
    );
    let second = submit(
        &mut pool,
        [
            (2, OrderOp::Record(event).into()),
            (2, OrderOp::Wait(event).into()),
            (2, work(2)),
        ],
    );
    done.clear();
    while done.is_empty() {
        pool.wait(Duration::from_secs(1));
        pool.poll(&mut done).unwrap();
    }
    assert!(matches!(done[0], Completion::Finished { run, .. } if run == second));
    assert_eq!(*log.lock().unwrap(), [9, 2]);
    go.send(()).unwrap();
    pool.synchronize().unwrap();
    assert_eq!(*log.lock().unwrap(), [9, 2, 0, 1]);
}

#[test]
fn contexts_do_not_hold_each_other() {
    let both = Arc::new((Mutex::new(0), Condvar::new()));
    let there = both.clone();
    let mut pool = pool(2, 0, 0, move |_| {
        let (count, news) = &*there;
        let mut entered = count.lock().unwrap();
        *entered += 1;
        news.notify_all();
        let odd = |entered: &mut u32| *entered % 2 == 1;
        let (held, late) = news
            .wait_timeout_while(entered, Duration::from_secs(30), odd)
            .unwrap();
        drop(held);
        assert!(!late.timed_out(), "they did not meet");
        Ok(())
    });
    pool.create_context();
    let mut stream = |context, kind| {
        let priority = Priority::Normal;
        pool.create_stream(DeviceId(context), StreamSpec { kind, priority })
            .0
    };
    use StreamKind::{Blocking, Default};
    let (default, blocking) = (stream(0, Default), stream(0, Blocking));
    let (other_default, other_blocking) = (stream(1, Default), stream(1, Blocking));
    for (first, second) in [
        (default, other_default),
        (default, other_blocking),
        (other_blocking, default),
        (blocking, other_default),
    ] {
        submit(&mut pool, [(first, work(0)), (second, work(0))]);
        pool.synchronize().unwrap();
    }
}

#[test]
fn a_panic_ends_the_engine_in_words() {
    let mut pool = pool(2, 2, 0, |number| match number {
        0 => panic!("as the test wants"),
        _ => Ok(()),
    });
    submit(&mut pool, [(0, work(0)), (1, work(2)), (0, work(2))]);
    let error = pool.synchronize().unwrap_err();
    let expected = EngineError::lost("pack failed: as the test wants".into());
    assert_eq!(error, expected);
    assert_eq!(pool.poll(&mut Vec::new()), Err(error.clone()));
    assert_eq!(pool.check_fault(), Err(error));
    pool.wait(Duration::from_secs(60));
}

#[test]
fn an_error_ends_the_engine_too() {
    let mut pool = pool(1, 1, 0, |_| Err(EngineError::NoThread));
    submit(&mut pool, [(0, work(0))]);
    let error = pool.synchronize().unwrap_err();
    assert_eq!(error, EngineError::failed_op("pack", EngineError::NoThread));
}

#[test]
fn waiting_for_nothing_takes_its_time_and_no_longer() {
    let pool = pool(1, 1, 0, |_| Ok(()));
    let started = Instant::now();
    pool.wait(Duration::from_millis(20));
    assert!(started.elapsed() >= Duration::from_millis(20));
    pool.synchronize().unwrap();
}

#[test]
fn pending_work_is_abandoned() {
    let mut pool = pool(1, 1, 0, |_| {
        thread::sleep(Duration::from_millis(1));
        Ok(())
    });
    submit(&mut pool, (0..100_000).map(|_| (0, work(0))));
    let started = Instant::now();
    drop(pool);
    assert!(started.elapsed() < Duration::from_secs(10));
}
