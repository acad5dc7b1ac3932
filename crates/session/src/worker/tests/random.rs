//! Random histories, turn by turn: whatever is asked and whatever fails, the cells at rest are
//! those of the log, replayed by the reference.

use std::fmt;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::SystemTime;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, RngSeed, TestRunner};

use super::driver::{Driver, Reopen, Step};
use super::*;
use crate::instances::limit;
use crate::log::reference_log::{Random, size};
use engine::kernels::KERNELS;
use engine::{ReduceRegion, Transfer};

/// An edit within the smallest lattice.
fn change() -> impl Strategy<Value = Change> {
    let edit = |seed| Random::new(seed).edit(size(32, 4));
    any::<u64>().prop_filter_map("it is no edit", edit)
}

fn action() -> impl Strategy<Value = SessionAction> {
    use SessionAction::*;
    const SELDOM: [SessionAction; 9] = [
        NextKernel,
        PreviousKernel,
        ToggleBlockTimestamps,
        NextStopWhenStill,
        ToggleReseed,
        Faster,
        Slower,
        DoubleInstances,
        HalveInstances,
    ];
    const OFTEN: [SessionAction; 6] = [
        StepRound,
        StepRoundBack,
        ResetPanel,
        ResetAll,
        NewSeed,
        ToggleComparison,
    ];
    prop_oneof![
        9 => prop::sample::select(&SELDOM[..]),
        13 => prop::sample::select(&OFTEN[..]),
        6 => Just(TogglePause),
        7 => prop::sample::select(&[StepGeneration, StepBack][..]),
        14 => prop::sample::select(&[Undo, Undo, Redo][..]),
        5 => (0..80u64).prop_map(RunTo),
        1 => (0..=KERNELS.len() as u8).prop_map(UseKernel),
        2 => prop::sample::select(&Switch::ALL[..]).prop_map(CycleSwitch),
        1 => (prop::sample::select(&Switch::ALL[..]), 0..4u8)
            .prop_map(|(switch, at)| SetSwitch(switch, at)),
        1 => (0..crate::Pace::ALL.len() as u8).prop_map(SetPace),
        2 => (0..4usize).prop_map(Select),
        2 => (1..6u16).prop_map(SetInstances),
        3 => (1..70u64, 1..9u64).prop_map(|(width, height)| SetSize(size(width, height))),
        2 => prop::sample::select(vec!["B3/S23", "B36/S23", "B1357/S1357"])
            .prop_map(|rule| SetRule(rule.parse().unwrap())),
        1 => (1..7u32).prop_map(SetGenerationsPerRound),
        1 => (0..1001u16).prop_map(SetDensity),
    ]
}

fn view() -> impl Strategy<Value = PicturePlan> {
    let transfers = prop::sample::select(vec![Transfer::Bits, Transfer::View, Transfer::Cells]);
    let region =
        (-9..9i64, -9..9i64, 1..6i64, 1..3u32, 1..9u32).prop_map(|(x, y, halves, wide, height)| {
            ReduceRegion {
                x0: x * ReduceRegion::ONE,
                y0: y * ReduceRegion::ONE,
                step: halves * ReduceRegion::ONE / 2,
                width: 4 * wide,
                height,
            }
        });
    let only = prop::option::of(0..4usize);
    (transfers, region, only).prop_map(|(transfer, region, only)| PicturePlan {
        transfer,
        region,
        only: only.filter(|_| transfer == Transfer::View),
    })
}

fn fault() -> impl Strategy<Value = Step> {
    let call = prop_oneof![
        6 => (Just(Call::Submit), prop_oneof![
            4 => Just(Fault::Midway),
            2 => Just(Fault::Lost),
            2 => Just(Fault::OutOfMemory),
            1 => Just(Fault::Refused),
        ]),
        2 => (Just(Call::Poll), Just(Fault::Lost)),
        1 => (Just(Call::Prepare), Just(Fault::OutOfMemory)),
        3 => (Just(Call::Allocate), prop_oneof![
            2 => Just(Fault::OutOfMemory),
            1 => Just(Fault::Lost),
        ]),
        1 => (Just(Call::Open), Just(Fault::Refused)),
    ];
    (call, 0..12u32).prop_map(|((call, fault), after)| Step::Fail(call, after, fault))
}

fn own_kernel() -> impl Strategy<Value = Step> {
    let rungs = prop::sample::select(vec!["bits", "shared", "sync-shared", "multistep"]);
    let failures = prop::option::weighted(0.4, prop::sample::select(vec![1, 2]));
    (rungs, failures).prop_map(|(rung, failure)| Step::OwnKernel(rung.into(), failure.unwrap_or(0)))
}

/// Rounds of a user's own: the last one is right for no number of instances, that before for two.
pub(super) const ROUNDS: [&str; 8] = [
    "for i in 0..N { advance(i, 0); download(i, 0); }",
    "for i in 0..N { advance(i, i); } for i in 0..N { download(i, i); }",
    "for i in 0..N { advance(i, i % 2); download(i, i % 2); }",
    "for i in 0..N { advance(i, 0); record(i, 0); wait(i, 1); download(i, 1); }",
    "for i in 0..N { advance(i, i); record(i, i); }
     for i in 0..N { let to = (i + 1) % N; wait(i, to); download(i, to); }",
    "for i in 0..N { advance(i, 2); } synchronize(2); for i in 0..N { download(i, 0); }",
    "for i in 0..2 { advance(i, i % 2); download(i, i % 2); }",
    "for i in 0..N { advance(i, 0); download(i, 1); }",
];

fn pattern() -> impl Strategy<Value = Step> {
    (0..4usize, 1..70u64, 1..9u64, any::<u64>(), 0..60u64).prop_map(
        |(instance, width, height, seed, generation)| {
            let pattern = life::soup(size(width, height), 0.4, seed, 0);
            Step::Open(instance, Arc::new(pattern), generation)
        },
    )
}

fn edit() -> impl Strategy<Value = Edit> {
    (0..4usize, change(), any::<bool>()).prop_map(|(instance, change, continues_stroke)| Edit {
        instance,
        change,
        continues_stroke,
    })
}

/// What a user does.
pub(super) fn command() -> impl Strategy<Value = Step> {
    prop_oneof![
        24 => action().prop_map(Step::Act),
        10 => edit().prop_map(Step::Edit),
        2 => own_kernel(),
        3 => prop::sample::select(&ROUNDS[..]).prop_map(|it| Step::OwnRound(it.into())),
        2 => pattern(),
        2 => prop::sample::select(vec![Reopen::AtStart, Reopen::InPlace]).prop_map(Step::Reload),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let asked = prop_oneof![
        12 => action().prop_map(Step::Act),
        4 => edit().prop_map(Step::Edit),
    ];
    let alone = prop_oneof![
        8 => asked.prop_map(|step| Alone::Command(Box::new(step))),
        2 => (edit(), prop::option::weighted(0.4, 0..20u32))
            .prop_map(|(edit, lost)| Alone::CopyAfter(edit, lost)),
        1 => (prop::collection::vec(edit(), 2..4), 0..12u32, 0..4u32)
            .prop_map(|(edits, turns, read)| Alone::LoseWhileReading(edits, turns, read)),
        1 => (prop::collection::vec((edit(), 0..6u32), 1..4), any::<bool>())
            .prop_map(|(edits, runs_to)| Alone::Edits(edits, runs_to)),
        1 => Just(Alone::UndoAndRedoAll),
        1 => Just(Alone::KeyHeldDown),
        1 => (0..9u32).prop_map(Alone::Lesson),
        1 => edit().prop_map(Alone::StopOnTheWay),
    ];
    prop_oneof![
        43 => command(),
        1 => any::<bool>().prop_map(Step::PauseForLesson),
        1 => any::<bool>().prop_map(Step::WatchOverlap),
        1 => any::<bool>().prop_map(Step::WatchPopulation),
        4 => (0..4usize).prop_map(Step::Copy),
        2 => Just(Step::Save),
        1 => Just(Step::Reload(Reopen::LastKnown)),
        2 => view().prop_map(Step::View),
        20 => (1..30u32).prop_map(Step::Turns),
        3 => (1..4000u64).prop_map(|ms| Step::Pass(Duration::from_millis(ms))),
        3 => (0..4usize, 0..9u8, 1..12u32)
            .prop_map(|(instance, slot, turns)| Step::Reading(instance, slot, turns)),
        4 => prop::sample::select(vec![false, true]).prop_map(Step::Background),
        4 => Just(Step::Settle),
        3 => fault(),
        16 => alone.prop_map(Step::Alone),
    ]
}

/// A history that is shown in few lines.
struct History(Setup, Vec<Step>);

impl fmt::Debug for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let History(setup, steps) = self;
        let Setup {
            instances,
            size,
            generations_per_round,
            rounds,
            pace,
            start,
            split,
            ..
        } = setup;
        let (kernel, time) = (setup.setting.kernel.name, setup.time);
        writeln!(
            f,
            "{instances} x {size}, split {split:?}, {kernel}, {generations_per_round} a round, {rounds:?} rounds, {pace:?}, {start:?}, {time:?}"
        )?;
        steps.iter().try_for_each(|step| writeln!(f, "{step:?},"))
    }
}

prop_compose! {
    pub(super) fn setup()(
        (width, height) in prop::sample::select(vec![(33, 7), (64, 6), (32, 5), (40, 9), (128, 4)]),
        instances in 1..5usize,
        kernel in prop::sample::select(vec![
            "bits", "planar", "multistep", "resident", "global", "sync-shared",
        ]),
        generations_per_round in 1..6u32,
        rounds in prop::sample::select(vec![None, None, Some(0), Some(3)]),
        pace in prop::sample::select(vec![Pace::Unthrottled, Pace::PerSecond(500.0)]),
        history_bytes in prop::sample::select(vec![0, 700, 1500, 5000, 256 << 20, 256 << 20]),
        reseed in prop::bool::weighted(0.1),
        density in prop::sample::select(vec![0.4, 0.4, 0.02]),
        is_split in prop::bool::weighted(0.3),
        is_chosen in prop::bool::weighted(0.1),
    ) -> Setup {
        let size = size(width, height);
        let kernel = kernels::find(kernel).unwrap();
        // Bands are no near-squares.
        let is_taken = kernel.supports(size) && !(is_split && kernel.name == "resident");
        let (device, split) = if is_split {
            (DeviceChoice::Cuda, Split::On)
        } else {
            (DeviceChoice::Cpu, Split::Auto)
        };
        let kernel = if is_taken { kernel } else { kernels::find("bits").unwrap() };
        Setup {
            size,
            instances,
            setting: super::setup(rounds).setting.with_kernel(kernel),
            device,
            split,
            kernel_choice: if is_chosen { KernelChoice::Auto } else { KernelChoice::Explicit },
            generations_per_round,
            rounds,
            pace,
            start: Start::soup(density, 3),
            time: TimeSettings {
                history_bytes,
                reseed,
                stop_when_still: StopWhenStill::Never,
            },
            ..super::setup(rounds)
        }
    }
}

/// Tests 3,000 random histories, or `LIFESTREAMS_HISTORIES` of them: those of the seeds from
/// `LIFESTREAMS_SEED` on, on every core. Without it, every day has seeds of its own. Shows one that
/// fails, with its seed, after making it as short as it can be.
#[test]
fn the_cells_at_rest_are_those_of_the_log() {
    const IN_GATE: u64 = 3_000;
    let given = |name, default| {
        let text = std::env::var(name).ok();
        text.map_or(default, |text| text.parse().expect("a number"))
    };
    let today = SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs() / (24 * 60 * 60);
    let first = given("LIFESTREAMS_SEED", today * IN_GATE);
    let end = first + given("LIFESTREAMS_HISTORIES", IN_GATE);
    let next = AtomicU64::new(first);
    let run = || {
        let history = (setup(), prop::collection::vec(step(), 1..32));
        let history = history.prop_map(|(setup, steps)| History(setup, steps));
        let histories = (prop::sample::select(vec![None, None, Some(2)]), history);
        loop {
            let seed = next.fetch_add(1, Relaxed);
            if seed >= end {
                return None;
            }
            let mut runner = TestRunner::new(Config {
                rng_algorithm: RngAlgorithm::XorShift,
                rng_seed: RngSeed::Fixed(seed),
                cases: 1,
                failure_persistence: None,
                max_shrink_iters: 4000,
                ..Config::default()
            });
            let ran = runner.run(&histories, |(at_once, history)| {
                limit::set(at_once);
                Driver::run(history.0, history.1);
                Ok(())
            });
            if let Err(error) = ran {
                next.store(end, Relaxed); // one is enough
                let how = format!("LIFESTREAMS_SEED={seed} LIFESTREAMS_HISTORIES=1");
                return Some(format!("{how}: {error}"));
            }
        }
    };
    let failed = std::thread::scope(|scope| {
        let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get());
        let all: Vec<_> = (0..threads).map(|_| scope.spawn(run)).collect();
        let mut all = all.into_iter();
        all.find_map(|thread| thread.join().expect("a test is caught"))
    });
    assert!(failed.is_none(), "{}", failed.unwrap_or_default());
}
