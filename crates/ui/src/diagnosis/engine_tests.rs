//! What is said of rounds of a real engine.

use std::collections::HashSet;
use std::time::Duration;

use super::{Cause, Circumstances, Diagnosis, Verdict};
use engine::HostMemory;
use engine::kernels;
use life::Size;
use session::instances::{Event, Sim, open_engine};
use session::trace::TimedRound;
use session::{DeviceChoice, Order, PicturePlan, Request, Setup, Streams, Switches, Wait};

/// What has happened once all that was issued is over.
fn events(instances: &mut Sim) -> Vec<Event> {
    let mut events = Vec::new();
    loop {
        instances.poll(|event| events.push(event)).unwrap();
        if instances.is_idle() {
            return events;
        }
        instances.wait(Duration::from_millis(1));
    }
}

/// What is said of rounds of an engine contradicts neither their settings nor their spans.
#[test]
fn what_is_said_of_rounds_fits_their_spans() {
    let mut state = 30u64;
    let mut random = |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        ((state >> 33) % below) as usize
    };
    for _ in 0..100 {
        let size = Size::new(64, 48).unwrap();
        let kernel = kernels::find(["bits", "global", "sync-global"][random(3)]).unwrap();
        let instances = [1, 2, 5, 9][random(4)];
        let mut setup = Setup::new(instances, size, kernel, DeviceChoice::Cpu);
        setup.setting.switches = Switches {
            streams: [
                Streams::PerInstance,
                Streams::One,
                Streams::Default,
                Streams::Batch,
            ][random(4)],
            host_memory: [HostMemory::Pinned, HostMemory::Pageable][random(2)],
            wait: [Wait::Poll, Wait::Each, Wait::All][random(3)],
            order: [Order::Breadth, Order::Depth][random(2)],
            graphs: random(2) == 0,
            ..Switches::DEFAULT
        };
        if setup
            .setting
            .switches
            .incompatibility(setup.setting.kernel)
            .is_some()
        {
            continue;
        }
        let engine = open_engine(DeviceChoice::Cpu).unwrap();
        let mut instances = Sim::new(engine, &setup, 2).unwrap();
        let picture = Some(PicturePlan::BITS);
        instances.start(&mut setup.clone(), picture).unwrap();
        events(&mut instances);
        let share = instances.all(&setup.setting, picture);
        let begun = instances.begin_calibration(&share, Request::of(2), |_| false);
        assert!(begun.unwrap());
        let isolated = events(&mut instances)
            .into_iter()
            .find_map(|event| match event {
                Event::Calibrated(alone) => Some(alone.into()),
                _ => None,
            });
        let circumstances = Circumstances {
            kernel: setup.setting.kernel,
            is_cpu: true,
            copy_engines: 0,
            queues: None,
            is_drawn_here: false,
            isolated,
        };
        let mut judge = |round: TimedRound| {
            let diagnosis = Diagnosis::of(&round, &circumstances).unwrap();
            let said = format!("{diagnosis:?} with {:?}", setup.setting.switches);
            let overlap = diagnosis.overlap.as_ref().expect("the ops ran alone");
            let lengths = round.spans.iter().map(|span| span.length().as_us());
            let average = lengths.sum::<f64>() / diagnosis.round_us;
            assert!(overlap.factor() <= average + 0.01, "{average}: {said}");
            let streams: HashSet<_> = round.spans.iter().map(|span| span.stream).collect();
            if streams.len() == 1 {
                assert_eq!(diagnosis.verdict(), Verdict::NoOverlap, "{said}");
            }
            for found in &diagnosis.causes {
                let is_so = match found.cause {
                    Cause::OneStream(streams) => streams == setup.setting.switches.streams,
                    Cause::HostWaits => setup.setting.switches.wait == Wait::Each,
                    // The CPU's memory is all alike, and it has no engine that copies.
                    Cause::PageableCopies | Cause::CopyEngine { .. } | Cause::FewQueues { .. } => {
                        false
                    }
                    _ => true,
                };
                assert!(is_so, "{said}");
                let us = found.us.unwrap_or(0.0);
                assert!(
                    us <= diagnosis.round_us && found.cost_us.unwrap_or(0.0) <= us,
                    "{said}"
                );
            }
        };
        instances.run(&share, 6, 2, Some(&mut judge)).unwrap();
    }
}
