//! Tests of buffers, calls, block timestamps, and downloads of `i32` cells.

use super::lab::{Lab, call, start};
use super::*;
use crate::buffer_kernels::SCALE;
use crate::{Argument, BufferOffset, HostMemory};

fn copy(from: BufferOffset, to: BufferOffset, bytes: usize) -> Op {
    BufferOp::Copy { from, to, bytes }.into()
}

#[test]
fn copies_go_between_any_places_and_calls_work_on_them() {
    let mut lab = Lab::new(1);
    let (stream, engine) = (lab.streams(1)[0], &mut lab.engine);
    let places = [
        BufferLocation::Host(HostMemory::Pageable),
        BufferLocation::Device,
        BufferLocation::Device,
        BufferLocation::Host(HostMemory::Pinned),
    ];
    let buffers = places.map(|place| engine.create_buffer(DeviceId(0), 400, place).unwrap());
    let numbers: Vec<u32> = (0..100).map(|i| (i as f32 * 0.3).to_bits()).collect();
    let mut fill = |words: &mut [u32]| {
        assert_eq!(words, [0; 100], "a new buffer is zero");
        words.copy_from_slice(&numbers);
    };
    engine.access(buffers[0], &mut fill).unwrap();
    let hops = buffers.windows(2);
    let hops = hops.map(|pair| (stream, copy(start(pair[0]), start(pair[1]), 400)));
    let mut steps: Vec<_> = hops.collect();
    let array = Argument::Buffer(start(buffers[1]));
    let scale = call(&SCALE, [array, Argument::I32(100), Argument::I32(3)]);
    steps.insert(1, (stream, scale));
    let some = |offset| BufferOffset {
        buffer: buffers[3],
        offset,
    };
    steps.push((stream, copy(start(buffers[2]), some(8), 12)));
    engine.submit(&program(steps)).unwrap();
    let mut seen = Vec::new();
    let mut see = |words: &mut [u32]| seen = words.to_vec();
    engine.access(buffers[3], &mut see).unwrap();
    let mut expected = numbers.clone();
    expected[2..5].copy_from_slice(&numbers[..3]);
    assert_eq!(seen, expected);
}

#[test]
fn buffers_that_cannot_be_are_refused() {
    let mut lab = Lab::new(1);
    let mut never = |_: &mut [u32]| panic!("the closure was called");
    assert!(lab.engine.access(lab.device, &mut never).is_err());
    for bytes in [0, 6] {
        let error = lab
            .engine
            .create_buffer(DeviceId(0), bytes, BufferLocation::Device);
        let error = error.unwrap_err().to_string();
        assert!(
            error.contains("must be a positive multiple of 4"),
            "{error}"
        );
    }
    let huge = lab
        .engine
        .create_buffer(DeviceId(0), 1 << 60, BufferLocation::Device);
    assert!(matches!(huge, Err(EngineError::OutOfMemory { .. })));
}

#[test]
fn buffers_given_back_are_gone_and_their_ids_are_not_used_again() {
    let mut lab = Lab::new(1);
    lab.engine.drop_buffers().unwrap();
    let mut never = |_: &mut [u32]| panic!("the closure was called");
    assert!(lab.engine.access(lab.host, &mut never).is_err());
    let place = BufferLocation::Host(HostMemory::Pinned);
    let new = lab.engine.create_buffer(DeviceId(0), 4, place).unwrap();
    assert!(new > lab.host);
}

#[test]
fn stamps_say_which_worker_did_a_kernel_and_when() {
    let mut bench = Bench::new(2, "64x64");
    let streams = bench.streams.clone();
    let mut steps = program([
        (streams[0], advance("bits", FIRST, 40)),
        (streams[0], LatticeOp::Pack.on(FIRST.as_range())),
        (streams[0], download(FIRST, 0)),
        (streams[1], advance("bits", LatticeId(1), 40)),
    ]);
    for timed in [true, false] {
        (steps.timed, steps.block_timestamps) = (timed, true);
        bench.engine.submit(&steps).unwrap();
        let Some(Completion::Finished {
            spans,
            block_timestamps,
            ..
        }) = bench.drain().pop()
        else {
            panic!("the run has finished")
        };
        let which: Vec<_> = block_timestamps
            .iter()
            .map(|timestamp| timestamp.step)
            .collect();
        assert_eq!(which, [0, 1, 3]);
        assert!(block_timestamps.iter().all(|timestamp| timestamp.sm < 2));
        assert_eq!(spans.len(), if timed { 4 } else { 0 });
        for span in spans {
            let own = block_timestamps
                .iter()
                .filter(|timestamp| timestamp.step == span.step);
            assert!(
                own.into_iter()
                    .all(|s| s.start == span.start && s.end == span.end)
            );
        }
    }
    steps.block_timestamps = false;
    bench.engine.submit(&steps).unwrap();
    let last = bench.drain().pop();
    assert!(
        matches!(last, Some(Completion::Finished { block_timestamps, .. }) if block_timestamps.is_empty())
    );
}
