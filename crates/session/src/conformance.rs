//! What `lifestreams verify` checks on a device: every kernel and op, as [`engine::conformance`] has it; then,
//! in every available setting of the lab's switches, that the cells are always the same, and that ops are
//! ordered as the setting promises and no further.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use crate::instances::{Event, Sim, open_engine, start_lattice};
use crate::trace::{StepKind, TimedRound};
use crate::{
    DeviceChoice, Order, PicturePlan, Request, Setup, Share, Start, Streams, Switch, Switches,
    TransferChoice, Wait,
};
use engine::conformance::{Cases, Fixture, Outcome, Report, timed};
use engine::kernels::{self, Kernel};
use engine::{Engine, EngineError, HostMemory, LatticeId, Nanos, Result, Slot};
use life::{Lattice, Size, reference};

/// Instances of a check.
const INSTANCES: usize = 4;

/// Rounds of a setting.
const ROUNDS: usize = 3;

/// How far a span's end may seem to lie behind the next one's start: events have a resolution.
const RESOLUTION: Nanos = Nanos(1_000);

/// Checks every kernel on an engine and everything else that it does, then what rounds do that are
/// issued on these devices; `small` takes some seconds, or suits tools that slow every access down.
/// Each check is reported once it has ended.
///
/// # Errors
/// A device cannot be opened, or fails; or `report` fails.
pub fn verify<E: From<EngineError>>(
    engine: Box<dyn Engine>,
    device: DeviceChoice,
    small: bool,
    report: &mut dyn FnMut(Report) -> Result<(), E>,
) -> Result<(), E> {
    let cases = if small {
        Cases::quick()
    } else {
        Cases::thorough()
    };
    engine::conformance::verify(engine, cases, report)?;
    timed("the lab's settings", report, || {
        Ok(Ok(check_settings(device)?))
    })?;
    timed("order of ops", report, || {
        Ok(Ok(check_order(device, small)?))
    })
}

/// The first thing that a kernel gets wrong on small lattices, if there is one.
///
/// # Errors
/// A device cannot be opened, or fails.
pub fn first_wrong(kernel: &'static Kernel, device: DeviceChoice) -> Result<Option<String>> {
    let mut fixture = Fixture::new(open_engine(device)?, Cases::quick())?;
    Ok(fixture.check_kernel(kernel)?.wrong.into_iter().next())
}

/// Every setting that this kernel can have; of transfers and blocks, two.
fn settings(kernel: &Kernel) -> Vec<Switches> {
    let last_block = kernel.blocks.last().copied();
    let is_of_them = |it: &Switches| {
        it.order != Order::Own
            && matches!(it.transfer, TransferChoice::Auto | TransferChoice::Cells)
            && (it.block.is_none() || it.block == last_block)
    };
    let mut all = vec![Switches::DEFAULT];
    for switch in Switch::ALL {
        let each = |it| switch.positions(it, kernel);
        all = all.into_iter().flat_map(each).filter(is_of_them).collect();
    }
    all.retain(|switches| switches.incompatibility(kernel).is_none());
    all
}

fn setup(kernel: &'static Kernel, side: u64, device: DeviceChoice) -> Setup {
    let size = Size::new(side, side / 2 + 1).expect("a lattice");
    Setup {
        start: Start::soup(0.4, 7),
        ..Setup::new(INSTANCES, size, kernel, device)
    }
}

/// The instances of a setup at their start, and their lattices.
fn open_instances(setup: &Setup) -> Result<(Sim, Vec<Lattice>)> {
    let mut instances = Sim::new(open_engine(setup.device)?, setup, 1)?;
    instances.set_to_start(setup)?;
    let lattice = |i| Ok(Arc::unwrap_or_clone(start_lattice(setup, i)?));
    let lattices = (0..setup.instances).map(lattice).collect::<Result<_>>()?;
    Ok((instances, lattices))
}

/// Makes rounds of all lattices with these switches. Returns the timed ones, and the last pictures'
/// slots by instance.
fn rounds(
    instances: &mut Sim,
    share: &Share,
    generations: u32,
    timed: bool,
) -> Result<(Vec<TimedRound>, Vec<Option<Slot>>)> {
    let request = Request {
        timed,
        ..Request::of(generations)
    };
    instances.finish()?;
    instances.ensure(std::slice::from_ref(share))?;
    let (mut seen, mut slots) = (Vec::new(), vec![None; INSTANCES]);
    let (mut issued, mut ended) = (0, 0);
    while ended < ROUNDS {
        if issued < ROUNDS && instances.issue(share, request, |_| false)? {
            issued += 1;
        }
        instances.poll(|event| match event {
            Event::Round { timed, .. } => {
                ended += 1;
                seen.extend(timed);
            }
            Event::Pictures {
                instances, slot, ..
            } => slots[instances].fill(Some(slot)),
            Event::Snapshot { .. } | Event::Calibrated(_) | Event::Measured(_) => {}
        })?;
        if issued == ROUNDS {
            instances.wait(Duration::from_millis(1));
        }
    }
    Ok((seen, slots))
}

/// Every setting steps the same cells, and downloads them.
fn check_settings(device: DeviceChoice) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    for name in ["global", "bits"] {
        let named = |switches: Switches| format!("{name}, {switches:?}");
        let kernel = kernels::find(name).expect("a kernel of the table");
        let setup = setup(kernel, 65, device);
        let (mut instances, mut lattices) = open_instances(&setup)?;
        for switches in settings(kernel) {
            let setting = setup.setting.with_switches(switches);
            let share = instances.all(&setting, Some(PicturePlan::whole(&setting)));
            let (_, slots) = rounds(&mut instances, &share, 1, false)?;
            for (instance, lattice) in lattices.iter_mut().enumerate() {
                *lattice = reference::run(lattice, setup.rule, ROUNDS as u64);
                let same = slots[instance].is_some_and(|slot| {
                    let mut same = false;
                    let id = LatticeId(instance as u32);
                    instances.slots.read(id, slot, &mut |words| {
                        same = agrees(lattice, words, switches.transfer);
                    });
                    same
                });
                outcome.expect(same, || format!("instance {instance}: {}", named(switches)));
            }
        }
        let same = instances.fetch()? == lattices;
        outcome.expect(same, || format!("{name}: the lattices after all settings"));
    }
    Ok(outcome)
}

/// Whether what was downloaded is the lattice.
fn agrees(lattice: &Lattice, words: &[u32], transfer: TransferChoice) -> bool {
    if transfer != TransferChoice::Cells {
        return words[..lattice.words().len()] == *lattice.words();
    }
    let (width, height) = (lattice.size().width, lattice.size().height);
    let cells = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    cells
        .zip(words)
        .all(|((x, y), &cell)| cell == u32::from(lattice.get(x, y)))
}

/// In every setting of streams, wait, order and graphs, ops stand in the order that it promises;
/// and where it promises none, launches overlap.
fn check_order(device: DeviceChoice, small: bool) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    let kernel = kernels::find("sync-global").expect("a kernel of the table");
    let named = |switches: Switches| format!("{switches:?}");
    let setup = setup(kernel, 128, device);
    let (mut instances, _) = open_instances(&setup)?;
    let sm_count = instances
        .engine()
        .devices()
        .iter()
        .map(|device| device.sm_count);
    let (devices, side_by_side) = (instances.engine().devices().len(), sm_count.max() > Some(1));
    let simple = |s: &Switches| {
        s.host_memory == HostMemory::Pinned
            && s.transfer == TransferChoice::Auto
            && s.block.is_none()
    };
    for switches in settings(kernel).into_iter().filter(simple) {
        let setting = setup.setting.with_switches(switches);
        let share = instances.all(&setting, Some(PicturePlan::BITS));
        let one_by_one = switches.wait == Wait::Each && switches.order.is_depth_first();
        let free = switches.streams == Streams::PerInstance && !one_by_one;
        let mut overlapped = false;
        // Whether things happen at the same time is up to the machine: it has some tries, and
        // ever longer launches, that slow calls of the host's do not keep apart.
        for generations in [20, 20, 80, 320, 1280] {
            let before = instances.engine().clock_error();
            let (timed, _) = rounds(&mut instances, &share, generations, true)?;
            // Between rounds, a device's clock may have been compared with the host's anew.
            let shift = Nanos(before.0 + instances.engine().clock_error().0);
            outcome.expect(timed.len() == ROUNDS, || {
                format!("{} rounds were timed: {}", timed.len(), named(switches))
            });
            for wrong in promised(switches, &timed, devices, shift) {
                outcome.expect(false, || format!("{wrong}: {}", named(switches)));
            }
            let used = streams_used(&timed);
            let wanted = match switches.streams {
                Streams::PerInstance => INSTANCES,
                Streams::One | Streams::Default | Streams::Batch => devices.min(INSTANCES),
            };
            outcome.expect(used == wanted, || {
                format!("{used} streams: {}", named(switches))
            });
            overlapped |= launches_overlap(&timed);
            if overlapped || !free {
                break;
            }
        }
        // compute-sanitizer, for which the small cases are, waits for every copy's end itself: then
        // a launch behind a copy overlaps none before it.
        let told = !small || switches.order == Order::Breadth;
        if free && side_by_side && told {
            outcome.expect(overlapped, || {
                format!("no launches overlap: {}", named(switches))
            });
        }
        if !free && devices == 1 {
            outcome.expect(!overlapped, || {
                format!("launches overlap: {}", named(switches))
            });
        }
    }
    Ok(outcome)
}

/// An op of some rounds: in which round, its place there, and when it ran.
#[derive(Clone, Copy)]
struct Ran {
    round: usize,
    step: u32,
    stream: u32,
    instance: u32,
    kind: StepKind,
    start: Nanos,
    end: Nanos,
}

fn ran(timed: &[TimedRound]) -> Vec<Ran> {
    let of = |(round, timed): (usize, &TimedRound)| {
        let facts = timed.steps.clone();
        let spans = timed.spans.clone().into_iter();
        spans.map(move |span| {
            let facts = &facts[span.step as usize];
            Ran {
                round,
                step: span.step,
                stream: facts.stream.0,
                instance: facts.instance.unwrap_or(0),
                kind: facts.kind,
                start: span.start,
                end: span.end,
            }
        })
    };
    timed.iter().enumerate().flat_map(of).collect()
}

/// Which promises of a setting were not kept; the instances are spread over this many devices, and times of
/// one round can be shifted by so much against those of another.
fn promised(switches: Switches, timed: &[TimedRound], devices: usize, shift: Nanos) -> Vec<String> {
    let ran = ran(timed);
    let issued = |op: &Ran| (op.round, op.step);
    let comes_first = |a: &Ran, b: &Ran| -> Option<&'static str> {
        // A graph is of one device, and each device has a clock of its own.
        let device = |op: &Ran| (op.instance as usize * devices + devices - 1) / INSTANCES;
        if device(a) != device(b) {
            return None;
        }
        if a.stream == b.stream {
            return Some("a stream is in order");
        }
        if a.round < b.round && (switches.wait != Wait::Poll || switches.graphs) {
            return Some("a round ends before the next begins");
        }
        if switches.wait == Wait::Each && a.instance < b.instance {
            let of_downloads = (a.kind, b.kind) == (StepKind::Download, StepKind::Download);
            if switches.order.is_depth_first() || of_downloads {
                return Some("the host waits for each instance");
            }
        }
        None
    };
    let mut broken = Vec::new();
    for a in &ran {
        for b in ran.iter().filter(|b| issued(a) < issued(b)) {
            let shift = if a.round == b.round { 0 } else { shift.0 };
            if let Some(why) = comes_first(a, b)
                && a.end.0 > b.start.0 + RESOLUTION.0 + shift
            {
                let late = Nanos(a.end.0 - b.start.0).as_us();
                broken.push(format!(
                    "{why}, but step {} of round {} ended {late:.1} µs after step {} of round {} began",
                    a.step, a.round, b.step, b.round
                ));
            }
        }
    }
    broken
}

fn streams_used(timed: &[TimedRound]) -> usize {
    let streams: BTreeSet<u32> = ran(timed).iter().map(|op| op.stream).collect();
    streams.len()
}

fn launches_overlap(timed: &[TimedRound]) -> bool {
    let ran = ran(timed);
    let launches = || ran.iter().filter(|op| op.kind == StepKind::Launch);
    launches().any(|a| {
        launches().any(|b| {
            a.stream < b.stream
                && a.start.0 + RESOLUTION.0 < b.end.0
                && b.start.0 + RESOLUTION.0 < a.end.0
        })
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::trace::StepFacts;
    use engine::{Span, StreamId};

    /// A round of launches and downloads, in the order of issue: instance, label, start and end.
    fn round(ops: &[(u32, &'static str, i64, i64)]) -> TimedRound {
        let facts = |&(instance, label, ..): &(u32, &'static str, i64, i64)| StepFacts {
            label,
            kind: match label {
                "download" => StepKind::Download,
                _ => StepKind::Launch,
            },
            stream: StreamId(instance),
            instance: Some(instance),
            instances: 1,
            ..StepFacts::default()
        };
        let span = |(step, &(instance, _, start, end)): (usize, &(u32, &str, i64, i64))| Span {
            step: step as u32,
            stream: StreamId(instance),
            start: Nanos(start * 1000),
            end: Nanos(end * 1000),
        };
        TimedRound {
            steps: ops.iter().map(facts).collect::<Arc<[_]>>(),
            spans: ops.iter().enumerate().map(span).collect(),
            ..TimedRound::default()
        }
    }

    #[test]
    fn broken_promises_are_found_and_freedom_is_none() {
        let side_by_side = [round(&[
            (0, "launch", 0, 50),
            (1, "launch", 5, 55),
            (0, "download", 50, 60),
            (1, "download", 55, 65),
        ])];
        assert!(promised(Switches::DEFAULT, &side_by_side, 1, Nanos(0)).is_empty());
        assert!(launches_overlap(&side_by_side));
        let each = Switches {
            wait: Wait::Each,
            ..Switches::DEFAULT
        };
        assert_eq!(
            promised(each, &side_by_side, 1, Nanos(0)).len(),
            1,
            "the downloads overlap"
        );
        let depth = Switches {
            order: Order::Depth,
            ..each
        };
        let issued_in_depth = [round(&[
            (0, "launch", 0, 50),
            (0, "download", 50, 60),
            (1, "launch", 5, 55),
            (1, "download", 55, 65),
        ])];
        assert_eq!(promised(depth, &issued_in_depth, 1, Nanos(0)).len(), 3);
        let crossed = [round(&[(0, "launch", 0, 50), (0, "download", 40, 60)])];
        assert_eq!(promised(Switches::DEFAULT, &crossed, 1, Nanos(0)).len(), 1);
    }

    #[test]
    fn rounds_step_and_are_ordered_on_the_cpu_as_their_settings_say() {
        let cpu = DeviceChoice::Cpu;
        for outcome in [check_settings(cpu), check_order(cpu, true)] {
            let Outcome { cases, wrong } = outcome.unwrap();
            assert!(cases > 50 && wrong.is_empty(), "{cases} cases: {wrong:?}");
        }
    }
}
