//! Made-up sessions for tests of drawing.

use std::sync::Arc;

use crate::engine::{
    DeviceInfo, Nanos, Slot, Span, Startup, StreamId, Transfer, Viewport, kernels,
};
use crate::life::{Lattice, Rule, Size};
use crate::session::trace::{StepFacts, StepKind, TimedRound};
use crate::session::{Pace, Picture, Status, Trace};
use crate::view::PictureSource;

/// The figures of a session that does well.
pub(crate) fn status(instances: usize, size: Size) -> Status {
    Status {
        finished: false,
        engine: "cuda",
        devices: vec![DeviceInfo {
            name: "NVIDIA H200".into(),
            driver: "CUDA driver 13.0, sm_90".into(),
            units: 132,
            copy_engines: 3,
            kernel_time_limit: false,
            memory: Some(141 << 30),
            pci_bus_id: Some("0000:17:00.0".into()),
        }],
        instances,
        size,
        rule: Rule::LIFE,
        seed: Some(1),
        kernel: kernels::find("sync-global").unwrap(),
        switches: crate::session::Switches::DEFAULT,
        transfer: Transfer::Bits,
        running: true,
        pace: Pace::PerSecond(60.0),
        generations_per_round: 1,
        rounds: 123_456,
        generation: 123_456,
        newest_generation: 123_461,
        generations_per_second: 1_123_456.0,
        rounds_per_second: 59.94,
        cells_per_second: 4.714e12,
        launch_us: Some(12.34),
        timed_one_in: 8,
        bytes_per_round: (4 * size.words() * instances) as u64,
        startup: Startup {
            driver_ms: 1.0,
            modules_ms: 1.0,
        },
        overlap: None,
        halves: None,
        stamped: false,
        stamp_cost: None,
        selected: 0,
        notice: None,
        failed: None,
    }
}

/// A round of so many streams: a launch, a reduction and a download in each, which overlap, and
/// an upload in the first.
pub(crate) fn timed_round(streams: u32) -> TimedRound {
    let (mut steps, mut spans, mut host) = (Vec::new(), Vec::new(), Vec::new());
    let (mut issued, mut bus) = (1_000_000, 0);
    let mut push = |stream: u32, label, kind, ready: i64, takes: i64| {
        let (step, stream) = (steps.len() as u32, StreamId(stream));
        let call = |start, end| Span {
            step,
            stream,
            start: Nanos(start),
            end: Nanos(end),
        };
        host.push(call(issued, issued + 3_100));
        issued += 3_500;
        let start = ready.max(issued);
        spans.push(call(start, start + takes));
        let bytes = if takes < 9_000 { 32_768 } else { 0 };
        steps.push(StepFacts {
            label,
            kind,
            stream,
            instance: Some(stream.0),
            cells: 262_144,
            bytes,
        });
        start + takes
    };
    for stream in 0..streams {
        let mut ready = 0;
        if stream == 0 {
            ready = push(stream, "upload", StepKind::Upload, ready, 6_000);
        }
        let takes = 60_000 + 7_919 * i64::from(stream * stream % 7);
        ready = push(stream, "sync-global", StepKind::Launch, ready, takes);
        ready = push(stream, "reduce", StepKind::Support, ready, 12_000);
        bus = push(
            stream,
            "download",
            StepKind::Download,
            ready.max(bus),
            5_500,
        );
    }
    TimedRound {
        steps: steps.into(),
        spans,
        host,
        stamps: Vec::new(),
    }
}

/// A made-up source of one timed round, and of no picture.
pub(crate) struct Timed(pub(crate) u32);

impl PictureSource for Timed {
    fn visit_newer(&self, _: &mut [u64], _: &mut dyn FnMut(usize, &Picture, &[u32])) {}

    fn newer_trace(&self, seen: u64) -> Option<Trace> {
        let mut trace = Trace::default();
        trace.add(timed_round(self.0));
        (seen == 0).then_some(trace)
    }
}

/// Pictures that are always newer than what was seen.
pub(crate) struct MadeUp(pub(crate) Vec<(Option<Viewport>, Arc<[u32]>)>);

impl PictureSource for MadeUp {
    fn visit_newer(&self, seen: &mut [u64], draw: &mut dyn FnMut(usize, &Picture, &[u32])) {
        for (instance, (viewport, words)) in self.0.iter().enumerate() {
            seen[instance] += 1;
            let (sequence, viewport) = (seen[instance], *viewport);
            let picture = Picture {
                sequence,
                generation: 0,
                viewport,
                slot: Slot(0),
                words: words.len(),
                cells: false,
            };
            draw(instance, &picture, words);
        }
    }
}

impl MadeUp {
    /// The bits of these lattices.
    pub(crate) fn bits(lattices: &[Lattice]) -> MadeUp {
        MadeUp(
            lattices
                .iter()
                .map(|lattice| (None, lattice.words().into()))
                .collect(),
        )
    }

    /// These lattices reduced to a viewport, as an engine does it.
    pub(crate) fn views(lattices: &[Lattice], viewport: Viewport) -> MadeUp {
        MadeUp(
            lattices
                .iter()
                .map(|lattice| (Some(viewport), reduce(lattice, viewport)))
                .collect(),
        )
    }
}

/// [`Viewport`]'s definition, word by word.
pub(crate) fn reduce(lattice: &Lattice, viewport: Viewport) -> Arc<[u32]> {
    let (w, h) = (
        i64::from(lattice.size().width()),
        i64::from(lattice.size().height()),
    );
    let mut bytes = Vec::new();
    for j in 0..viewport.height {
        let rows = viewport.rows(j);
        for i in 0..viewport.width {
            let columns = viewport.columns(i);
            let mut alive = 0;
            for y in rows.0.max(0)..rows.1.min(h) {
                for x in columns.0.max(0)..columns.1.min(w) {
                    alive += i64::from(lattice.get(x as u32, y as u32));
                }
            }
            let covered = (rows.1 - rows.0) * (columns.1 - columns.0);
            bytes.push(((510 * alive + covered) / (2 * covered)) as u8);
        }
    }
    bytes
        .chunks_exact(4)
        .map(|four| u32::from_le_bytes(four.try_into().unwrap()))
        .collect()
}

/// Random cells.
pub(crate) fn soup(size: Size, density: f64, seed: u64) -> Lattice {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut lattice = Lattice::new(size);
    for y in 0..size.height() {
        for x in 0..size.width() {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            lattice.set(x, y, (state >> 40) as f64 / (1u64 << 24) as f64 <= density);
        }
    }
    lattice
}

/// Generations of Life, the slow way.
pub(crate) fn aged(mut lattice: Lattice, generations: usize) -> Lattice {
    let size = lattice.size();
    let (w, h) = (size.width(), size.height());
    for _ in 0..generations {
        let mut next = Lattice::new(size);
        for y in 0..h {
            for x in 0..w {
                let mut around = 0;
                for (dx, dy) in [
                    (w - 1, h - 1),
                    (0, h - 1),
                    (1, h - 1),
                    (w - 1, 0),
                    (1, 0),
                    (w - 1, 1),
                    (0, 1),
                    (1, 1),
                ] {
                    around += u32::from(lattice.get((x + dx) % w, (y + dy) % h));
                }
                next.set(x, y, Rule::LIFE.next(lattice.get(x, y), around));
            }
        }
        lattice = next;
    }
    lattice
}
