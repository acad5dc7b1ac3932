//! `lifestreams bench recording`: records rounds of many settings, and lessons, on this GPU, for machines
//! without one.

use std::ops::RangeInclusive;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::measure::{execute, round, setup, with_pictures};
use crate::cli::options::DEFAULT_SIDE;
use crate::cli::text::{print, say};
use engine::kernels::{self, KERNELS};
use engine::{DeviceInfo, Kernel, ReduceRegion};
use experiment::{Executor, Limits, Plan, Recorded, Round, median};
use lang::numbers::time_us;
use lesson::Lesson;
use session::instances::{Event, Sim, open_engine};
use session::trace::{
    RecordedGroup, RecordedSetting, Recording, RoundWork, TimedRound, Trace, read_stored,
    write_stored,
};
use session::{DeviceChoice, PicturePlan, Request, Setting, Setup, Share, Switch, Switches};
use ui::LectureStep;

/// Lessons that are not measured by then are left out: short jobs of a cluster often end after ten
/// minutes.
const MAX_TIME: Duration = Duration::from_secs(9 * 60);

/// The numbers of instances that are recorded with the lattices of the default.
const COUNTS: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];

/// The kernels of which every position of every switch is recorded: the one of the default, and the one
/// with which calls take longer than kernels.
const KERNELS_WITH_SWITCHES: [&str; 2] = ["sync-global", "bits"];

/// Timed rounds, of which a typical one is kept.
const TIMED: usize = Trace::MAX_ROUNDS;

/// Rounds before the one that counts: a graph is made for each slot and each parity of the lattices.
const WARM_UP: usize = 2;
const WARM_UP_OF_GRAPHS: usize = 7;

/// The windows in which the settings of a group are timed in turn, with so many blocks that the interval
/// leaves out the extremes.
const LIMITS: Limits = Limits {
    blocks: 15,
    ..Limits::three_windows(Duration::from_secs(1))
};

/// A setting's rounds in a block: to enter it takes longer than they do, and the median of some leaves out
/// those that something held up.
const ROUNDS: RangeInclusive<usize> = 5..=41;
const ROUNDS_TAKE: Duration = Duration::from_millis(8);

/// Records rounds, then lessons, and writes both into a folder: by default where they are in a checkout.
/// If they shall be small: rounds of little lattices, and two lessons that take no time.
///
/// # Errors
/// The device is no GPU or not one alone, it fails, or the folder cannot be written.
pub(super) fn main(
    choice: DeviceChoice,
    steps: &[LectureStep],
    folder: Option<&Path>,
    small: bool,
) -> Result<()> {
    let deadline = Instant::now() + MAX_TIME;
    let folder = folder.unwrap_or(Path::new("assets/bench"));
    let files = ["rounds", "lessons"].map(|of| folder.join(format!("recorded-{of}.json.gz")));
    files.iter().try_for_each(life::check_writable)?;
    let engine = open_engine(choice)?;
    let device = match engine.devices() {
        [one] if engine.name() == "cuda" => one.clone(),
        _ => bail!("rounds and lessons are recorded on one GPU; take --device cuda:I"),
    };
    drop(engine);
    let recorded = Recorded {
        device: device.name.clone(),
        date: life::date(),
        commit: env!("LIFESTREAMS_COMMIT").into(),
    };
    let write = |path: &Path, bytes: &[u8]| {
        life::write_atomically(path, |out| out.write_all(bytes))?;
        print(&format!("{} bytes in {}", bytes.len(), path.display()))
    };
    write(
        &files[0],
        &record_rounds(choice, steps, device, recorded.clone(), small)?,
    )?;
    let lessons: Vec<&Lesson> = if small {
        ["context", "barrier"]
            .into_iter()
            .filter_map(lesson::find)
            .collect()
    } else {
        // Those of the shipped lectures first.
        let first = steps.iter().filter_map(|step| step.lesson);
        lesson::recording_order(&first.collect::<Vec<_>>())
    };
    let mut on_lesson = |lesson: &Lesson, is_recorded: bool| {
        let is_left_out = if is_recorded { "" } else { " is left out" };
        say(&format!("{}{is_left_out}", lesson.name));
    };
    let bytes = lesson::record(choice, &lessons, recorded, deadline, &mut on_lesson)?;
    write(&files[1], &bytes)
}

/// What is recorded: settings of the same lattices.
struct Group {
    setup: Setup,
    settings: Vec<(&'static Kernel, Switches)>,
}

/// Records every group, and returns the content of the file; if it shall be small, of little lattices.
///
/// # Errors
/// The device fails, or lacks the memory.
fn record_rounds(
    choice: DeviceChoice,
    steps: &[LectureStep],
    device: DeviceInfo,
    recorded: Recorded,
    small: bool,
) -> Result<Vec<u8>> {
    let mut groups = Vec::new();
    for group in plan(choice, steps, small)? {
        let began = Instant::now();
        let group = record_group(group)?;
        print(&format!(
            "{} × {}² of {} settings: {}",
            group.work.instances,
            group.work.width,
            group.settings.len(),
            time_us(began.elapsed().as_secs_f64() * 1e6)
        ))?;
        groups.push(group);
    }
    let bytes = write_stored(&Recording {
        recorded,
        device,
        queues: platform::connections(),
        groups,
    })?;
    read_stored::<Recording>(&bytes)?;
    Ok(bytes)
}

/// Everything that is recorded: of the default lattices in several numbers, and of every step of the
/// lectures that come with the program; if it shall be small, only of little lattices in small numbers.
fn plan(device: DeviceChoice, steps: &[LectureStep], small: bool) -> Result<Vec<Group>> {
    let mut groups: Vec<Group> = Vec::new();
    let mut add = |setup: Setup, settings: Vec<(&'static Kernel, Switches)>| {
        let work =
            |setup: &Setup| RoundWork::of(setup, setup.instances, setup.generations_per_round);
        let known = groups.iter().position(|it| work(&it.setup) == work(&setup));
        let at = known.unwrap_or_else(|| {
            groups.push(Group {
                setup,
                settings: Vec::new(),
            });
            groups.len() - 1
        });
        let group = &mut groups[at];
        for setting in settings {
            if !group.settings.contains(&setting) {
                group.settings.push(setting);
            }
        }
    };
    let one_change = |kernel: &'static Kernel, switches: Switches| {
        let choices = Switch::ALL
            .into_iter()
            .flat_map(move |switch| switch.choices(switches, kernel));
        let possible = choices.filter(|choice| choice.unavailable.is_none());
        possible.map(move |choice| (kernel, choice.switches))
    };
    let (side, most) = if small {
        (64, 2)
    } else {
        (DEFAULT_SIDE, usize::MAX)
    };
    for instances in COUNTS.into_iter().filter(|&it| it <= most) {
        let setup = setup(KERNELS_WITH_SWITCHES[0], instances, side, device)?;
        let all = KERNELS
            .iter()
            .map(|kernel| (kernel, setup.setting.switches));
        let switched = KERNELS_WITH_SWITCHES
            .into_iter()
            .filter_map(kernels::find)
            .flat_map(|kernel| one_change(kernel, Switches::DEFAULT));
        let settings = all.chain(switched).collect();
        add(setup, settings);
    }
    for step in steps.iter().filter(|_| !small) {
        let (kernel, switches) = step.measured();
        let others = one_change(kernel, switches).filter(|(_, it)| it.block == switches.block);
        let settings = std::iter::once((kernel, switches)).chain(others);
        add(step.setup.clone(), settings.collect());
    }
    Ok(groups)
}

/// Times a group's settings in turn, then looks at a round of each.
fn record_group(group: Group) -> Result<RecordedGroup> {
    let Group { setup, settings } = group;
    let (sim, _) = &mut with_pictures(&setup)?;
    let takes = |&(kernel, _): &(&'static Kernel, Switches)| sim.validate(kernel).is_ok();
    let settings: Vec<_> = settings.into_iter().filter(takes).collect();
    let generations = setup.generations_per_round;
    let mut executor = Executor::new(settings.len(), 7, Plan::Windows(LIMITS));
    execute(&mut executor, &mut |subject| {
        let share = enter(sim, settings[subject], generations)?;
        let time_us = typical_round_us(sim, &share, generations)?;
        Ok(Round {
            time: time_us,
            lasted: Duration::from_secs_f64(time_us / 1e6),
            cpu: Duration::ZERO,
            is_preempted: false,
        })
    })?;
    let recorded = settings.iter().enumerate().map(|(subject, &setting)| {
        let share = enter(sim, setting, generations)?;
        look_at(sim, &share, generations, executor.blocks.times(subject))
    });
    Ok(RecordedGroup {
        work: RoundWork::of(&setup, setup.instances, generations),
        window_ends: executor.window_ends().collect(),
        settings: recorded.collect::<Result<_>>()?,
    })
}

/// The median time of some rounds, in microseconds.
fn typical_round_us(sim: &mut Sim, share: &Share, generations: u32) -> Result<f64> {
    let (mut times, mut all) = (Vec::new(), Duration::ZERO);
    while times.len() < *ROUNDS.start() || (all < ROUNDS_TAKE && times.len() < *ROUNDS.end()) {
        let (took, _) = round(sim, share, Request::of(generations))?;
        times.push(took.as_secs_f64() * 1e6);
        all += took;
    }
    Ok(median(times).expect("there are some"))
}

/// What a window of usual size asks for.
fn picture(sim: &Sim, switches: Switches) -> PicturePlan {
    const STEP: u32 = 4;
    let (bits, size) = (sim.all_bits(), sim.size);
    PicturePlan {
        transfer: switches
            .transfer
            .transfer(bits, PicturePlan::MAX_AUTO_BITS_BYTES),
        region: ReduceRegion {
            step: i64::from(STEP) * ReduceRegion::ONE,
            ..ReduceRegion::of_cells(size.width / STEP, size.height / STEP)
        },
        only: None,
    }
}

/// Makes what a setting's rounds need, and warms it up.
fn enter(
    sim: &mut Sim,
    (kernel, switches): (&'static Kernel, Switches),
    generations: u32,
) -> Result<Share> {
    let setting = Setting {
        kernel,
        switches,
        own_round: None,
    };
    let share = sim.all(&setting, Some(picture(sim, switches)));
    sim.finish()?;
    sim.ensure(std::slice::from_ref(&share))?;
    let count = if switches.graphs {
        WARM_UP_OF_GRAPHS
    } else {
        WARM_UP
    };
    for _ in 0..count {
        round(sim, &share, Request::of(generations))?;
    }
    Ok(share)
}

/// A typical round, and each of its ops alone.
fn look_at(
    sim: &mut Sim,
    share: &Share,
    generations: u32,
    times_us: &[f64],
) -> Result<RecordedSetting> {
    let (mut trace, mut launches, mut rates) = (Trace::default(), Vec::new(), Vec::new());
    for _ in 0..TIMED {
        let request = Request {
            timed: true,
            ..Request::of(generations)
        };
        let (_, timed) = round(sim, share, request)?;
        let (timed, count) = timed.context("the round has no spans")?;
        launches.extend(
            timed
                .median_launch()
                .map(|it| it.as_us() / f64::from(count.max(1))),
        );
        rates.extend(timed.stepping().map(|(_, rate)| rate));
        trace.add(timed);
    }
    let typical = trace.drawn().context("no round was timed")?;
    // How long each op takes alone, and which part of the device it keeps busy.
    let (mut has_begun, mut alone) = (false, None);
    while alone.is_none() {
        has_begun =
            has_begun || sim.begin_calibration(share, Request::of(generations), |_| false)?;
        sim.poll(|event| {
            if let Event::Calibrated(ops) = event {
                alone = Some(ops.iter().map(|op| (op.took, rounded(op.share))).collect());
            }
        })?;
        sim.wait(Duration::from_millis(1));
    }
    Ok(RecordedSetting {
        kernel: share.setting.kernel.name.into(),
        switches: share.setting.switches,
        times_us: times_us.iter().map(|&us| rounded(us)).collect(),
        launch_us: rounded(median(launches).context("nothing was launched")?),
        cells_per_second: rounded(median(rates).context("nothing was stepped")?),
        round: TimedRound::clone(typical),
        alone: alone.unwrap_or_default(),
    })
}

/// With about four digits: more would say nothing, and do not compress.
fn rounded(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}
