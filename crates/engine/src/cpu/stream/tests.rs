//! The stream pool, with test closures instead of lattice work.

use super::*;
use crate::{DeviceId, LatticeId, LatticeOp, StreamSpec};

/// What an op of a stream does, by the stream's number.
type Work = fn(u32) -> Result<()>;

/// A pool whose ops are this, with streams that have some of them.
fn pool(streams: u32, ops: u32, work: Work) -> StreamPool {
    let execute = move |op: &Op, _: &AtomicBool| match op {
        Op::Lattices(lattices, LatticeOp::Pack) => work(lattices.start),
        other => panic!("{other:?}"),
    };
    let mut pool = StreamPool::new(NonZeroUsize::new(streams as usize), execute);
    pool.scheduler().contexts.push(Default::default());
    let mut program = Program::default();
    for stream in 0..streams {
        let id = pool
            .scheduler()
            .create_stream(DeviceId(0), StreamSpec::PLAIN);
        for _ in 0..ops {
            let work = LatticeOp::Pack.on(LatticeId(stream).as_range());
            program.push(id, work);
        }
    }
    if ops > 0 {
        pool.submit(&Arc::new(program)).unwrap();
    }
    pool
}

#[test]
fn a_panic_or_an_error_ends_the_engine_in_words() {
    let panicked = EngineError::lost("pack failed: as the test wants".into());
    let failed = EngineError::failed_op("pack", EngineError::NoThread);
    let works: [(Work, EngineError); 2] = [
        (
            |stream| {
                if stream == 0 {
                    panic!("as the test wants")
                } else {
                    Ok(())
                }
            },
            panicked,
        ),
        (|_| Err(EngineError::NoThread), failed),
    ];
    for (work, error) in works {
        let mut pool = pool(2, 2, work);
        assert_eq!(pool.synchronize(), Err(error.clone()));
        assert_eq!(pool.poll(&mut Vec::new()), Err(error.clone()));
        assert_eq!(pool.scheduler().check_fault(), Err(error));
        pool.wait(Duration::from_secs(60));
    }
}

#[test]
fn waiting_for_nothing_takes_its_time_and_no_longer() {
    let pool = pool(1, 0, |_| Ok(()));
    let started = Instant::now();
    pool.wait(Duration::from_millis(20));
    assert!(started.elapsed() >= Duration::from_millis(20));
    pool.synchronize().unwrap();
}

#[test]
fn pending_work_is_abandoned() {
    let pool = pool(1, 100_000, |_| {
        thread::sleep(Duration::from_millis(1));
        Ok(())
    });
    let started = Instant::now();
    drop(pool);
    assert!(started.elapsed() < Duration::from_secs(10));
}
