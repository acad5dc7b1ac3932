//! `lifestreams run`: steps every instance as fast as it can, reports, saves.

use session::{DeviceChoice, PicturePlan, Setting, Setup, TransferChoice, time_left};
use std::collections::VecDeque;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

pub mod survival;
mod waiting;

use super::failure::{BadArguments, Interrupted};
use super::options::{Common, RunArguments};
use super::setup::is_standard_input;
use super::text::{print, print_json, say, write_over};
use engine::{EngineError, Transfer};
use lang::tr;
use life::{Head, Notes, SaveError, grouped, rle, write_atomically};
use session::fastest::{FastestPlan, RUN_ROUND};
use session::instances::{Event, Sim};
use session::trace::TimedRound;
use survival::{Entered, Prepare, Recovery, Run};
use ui::numbers::si;
use ui::write_chrome;
use waiting::Waiting;

/// How many rounds `--trace` keeps: the last ones.
const ROUNDS_TRACED: usize = 64;

/// What `--json` prints.
#[derive(serde::Serialize)]
struct Report {
    engine: &'static str,
    device: String,
    kernel: &'static str,
    /// The rung that a kernel of the user's own was written from.
    #[serde(skip_serializing_if = "Option::is_none")]
    own_kernel_from: Option<&'static str>,
    instances: usize,
    width: u32,
    height: u32,
    generations: u64,
    wall_ms: f64,
    cells_per_second: f64,
    population: Vec<u64>,
    streams: String,
    graphs: bool,
    generations_per_round: u32,
    chosen_by: &'static str,
    stopped: bool,
}

/// The options of what is stepped. What is traced is a window's rounds; otherwise `run` chooses what
/// is left open.
fn common(arguments: &RunArguments) -> Common {
    match arguments.trace {
        Some(_) => arguments.common.clone(),
        None => arguments.common.open(),
    }
}

/// Checks that the options go together, before anything is opened.
pub(super) fn check(arguments: &RunArguments) -> Result<()> {
    if arguments.common.switches.transfer == TransferChoice::View {
        let why = "run draws nothing, so there is no view; use --transfer bits or i32";
        return Err(BadArguments(why.into()).into());
    }
    if arguments.common.device == DeviceChoice::Recorded {
        let why = "run measures, and recorded rounds are only shown; use --device cpu";
        return Err(BadArguments(why.into()).into());
    }
    common(arguments).check()
}

pub(super) fn main(arguments: &RunArguments) -> Result<()> {
    check(arguments)?;
    let generations = arguments.generations;
    let traces = arguments.trace.is_some();
    let setup = common(arguments).setup()?;
    if let Some(folder) = &arguments.save {
        std::fs::create_dir_all(folder).map_err(|error| SaveError::new(folder, &error))?;
    }
    let waiting = Waiting::start(tr!("its start"));
    let requested = arguments.common.requested(&setup);
    let prepare: Box<Prepare> = if traces {
        Box::new(prepare_traced)
    } else {
        Box::new(|instances, setup, generations| {
            let plan = instances.start_fastest(setup, &requested, Some(generations), None)?;
            Ok(Entered {
                rounds: plan.rounds(RUN_ROUND),
                plan: Some(plan),
                picture: None,
            })
        })
    };
    let mut run = Run::start(setup, generations, prepare)?;
    if generations > 0 {
        waiting.step();
    }
    let setup = &run.present().setup;
    tracing::debug!("stepping by {}, {:?}", setup.kernel.name, setup.switches);
    let mut stepping = Stepping {
        progress: Progress::new(setup, generations),
        traced: VecDeque::new(),
        waiting,
    };
    let finished = loop {
        match finish(&mut run, &mut stepping, arguments) {
            Ok(finished) => break finished,
            Err(error) => go_on(&mut run, &mut stepping, error.downcast()?, arguments)?,
        }
    };
    report(&run, finished, arguments)
}

/// Prepares instances whose rounds are traced.
fn prepare_traced(instances: &mut Sim, setup: &mut Setup, _: u64) -> engine::Result<Entered> {
    let transfer = match setup.switches.transfer {
        TransferChoice::Cells => Transfer::Cells,
        _ => Transfer::Bits,
    };
    let picture = PicturePlan {
        transfer,
        ..PicturePlan::BITS
    };
    instances.start(setup, Some(picture))?;
    let setting = Setting::of(setup);
    Ok(Entered {
        rounds: instances.stoppable_rounds(&setting, setup.generations_per_round),
        plan: None,
        picture: Some(picture),
    })
}

/// What accompanies a run while it steps.
struct Stepping {
    progress: Progress,
    /// The last rounds, if they are traced.
    traced: VecDeque<TimedRound>,
    waiting: Waiting,
}

/// What a run came to.
struct Finished {
    took: Duration,
    population: Vec<u64>,
}

/// Steps what is left, and writes the files.
fn finish(run: &mut Run, stepping: &mut Stepping, arguments: &RunArguments) -> Result<Finished> {
    let Stepping {
        progress,
        traced,
        waiting,
    } = stepping;
    waiting.next(tr!("the next round"));
    run.step(arguments.trace.is_some(), &mut |event| {
        if let Event::Round { round, timed, .. } = event {
            waiting.next(tr!("the next round"));
            progress.add(round.generations);
            traced.extend(timed);
            if traced.len() > ROUNDS_TRACED {
                traced.pop_front();
            }
        }
        if waiting.is_interrupted() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    })?;
    let took = progress.began.elapsed();
    progress.clear();
    waiting.next(tr!("the results"));
    let (setup, generation) = (run.present().setup.clone(), run.generation());
    let mut results = run.results()?;
    let population = results.populations()?;
    if let Some(folder) = &arguments.save {
        let rows = |i: usize, take: &mut Take| {
            waiting.next(tr!("the results"));
            results.rows(i, take)
        };
        save_all(folder, rows, &setup, generation)?;
    }
    if let Some(path) = &arguments.trace {
        let device = devices(&run.present().instances);
        write_atomically(path, |out| write_chrome(&*traced, &device, out))?;
    }
    Ok(Finished { took, population })
}

/// Goes on after an error of the engine, on the devices that are left. Where there is none, saves the
/// newest copy of the lattices.
fn go_on(
    run: &mut Run,
    stepping: &mut Stepping,
    error: EngineError,
    arguments: &RunArguments,
) -> Result<()> {
    stepping.progress.clear();
    if !run.can_recover(&error) {
        return Err(error.into());
    }
    stepping.traced.clear(); // another device has another clock
    stepping.waiting.next(tr!("its start"));
    let why = error.reason();
    let setup = run.present().setup.clone();
    match run.recover(error) {
        Ok(Recovery { generation, again }) => {
            stepping.progress.done = run.done;
            say(&tr!(
                "the engine was lost ({why}); the run goes on from generation {generation} on {device}, and steps {again} generations again",
                generation = grouped(generation),
                device = devices(&run.present().instances),
                again = grouped(again)
            ));
            Ok(())
        }
        Err(error) => {
            let generation = run.copied_generation();
            let saved = match &arguments.save {
                None => tr!("nothing is saved without --save").into(),
                Some(folder) => {
                    let rows = |i: usize, take: &mut Take| {
                        let lattice = run.copied_lattice(i)?;
                        Ok(take(lattice.words()))
                    };
                    save_all(folder, rows, &setup, generation)?;
                    tr!(
                        "generation {generation} is saved in {folder}",
                        generation = grouped(generation),
                        folder = folder.display()
                    )
                }
            };
            tracing::debug!("no device goes on: {}", lang::english(&error));
            let said = tr!(
                "the run has no device left ({why}), and {saved}; check nvidia-smi, or use --device auto"
            );
            anyhow::bail!(said)
        }
    }
}

/// Prints what a run came to.
fn report(run: &Run, finished: Finished, arguments: &RunArguments) -> Result<()> {
    let (setup, done) = (&run.present().setup, run.done);
    let Entered { rounds, plan, .. } = &run.present().entered;
    // The last rounds may have been planned longer than the run.
    let generations_per_round = match arguments.common.generations_per_round {
        Some(requested) => requested,
        None => u64::from(rounds.generations()).min(arguments.generations.max(1)) as u32,
    };
    let stepped = setup.size.cells() as f64 * setup.instances as f64 * done as f64;
    let seconds = finished.took.as_secs_f64();
    let stopped = done < arguments.generations;
    let report = Report {
        engine: run.present().instances.engine().name(),
        device: devices(&run.present().instances),
        kernel: setup.kernel.name,
        own_kernel_from: setup.kernel.own.as_ref().map(|own| own.rung.file),
        instances: setup.instances,
        width: setup.size.width(),
        height: setup.size.height(),
        generations: done,
        wall_ms: seconds * 1e3,
        cells_per_second: if done == 0 { 0.0 } else { stepped / seconds },
        population: finished.population,
        streams: setup.switches.streams.to_string(),
        graphs: setup.switches.graphs,
        generations_per_round,
        chosen_by: plan.as_ref().map_or("options", chosen_by),
        stopped,
    };
    if arguments.json {
        print_json(&report)?;
    } else {
        print_for_people(&report, plan.as_ref(), setup, arguments)?;
    }
    if stopped {
        Err(Interrupted(tr!(
            "stopped after {done} of {all} generations",
            done = grouped(done),
            all = grouped(arguments.generations)
        ))
        .into())
    } else {
        Ok(())
    }
}

fn print_for_people(
    report: &Report,
    plan: Option<&FastestPlan>,
    setup: &Setup,
    arguments: &RunArguments,
) -> Result<()> {
    if let Some(plan) = plan.filter(|plan| plan.choices > 1 && report.generations > 0) {
        print(&choice(report, plan))?;
    }
    let files = [
        started_from(&arguments.common.pattern),
        written(arguments, setup),
    ];
    print(&tr!(
        "{device} ({engine}), kernel {kernel}: {instances} × {size}, {generations} generations in {ms} ms, {rate}cell/s, {alive} alive",
        device = report.device,
        engine = report.engine,
        kernel = report.kernel,
        instances = report.instances,
        size = setup.size,
        generations = report.generations,
        ms = format!("{:.1}", report.wall_ms),
        rate = si(report.cells_per_second),
        alive = report.population.iter().sum::<u64>(),
    ))?;
    files.iter().flatten().try_for_each(|line| print(line))
}

/// Which patterns a run started from, if any.
fn started_from(patterns: &[PathBuf]) -> Option<String> {
    let name = |path: &PathBuf| {
        if is_standard_input(path) {
            tr!("the standard input").to_owned()
        } else {
            path.display().to_string()
        }
    };
    let names: Vec<String> = patterns.iter().map(name).collect();
    let patterns = names.join(", ");
    (!names.is_empty()).then(|| tr!("started from {patterns}"))
}

/// Which files a run wrote, if any.
fn written(arguments: &RunArguments, setup: &Setup) -> Option<String> {
    let lattices = arguments.save.as_ref().map(|folder| {
        let last = setup.instances - 1;
        let path = |i| rle_file(folder, i, setup.instances).display().to_string();
        match last {
            0 => path(0),
            _ => tr!("{first} to {last}", first = path(0), last = path(last)),
        }
    });
    let trace = arguments
        .trace
        .iter()
        .map(|path| path.display().to_string());
    let files: Vec<String> = lattices.into_iter().chain(trace).collect();
    let names = files.join(", ");
    (!files.is_empty()).then(|| tr!("saved {files}", files = names))
}

/// The file of an instance in this folder, with as many digits as the last one needs.
fn rle_file(folder: &Path, instance: usize, instances: usize) -> PathBuf {
    let digits = (instances - 1).to_string().len().max(3);
    folder.join(format!("{instance:0digits$}.rle"))
}

/// The names of the devices in use.
fn devices(instances: &Sim) -> String {
    let devices = instances.engine().devices().iter();
    let names: Vec<&str> = devices.map(|device| device.name.as_str()).collect();
    names.join(" + ")
}

/// What decided, as `--json` names it.
fn chosen_by(plan: &FastestPlan) -> &'static str {
    if plan.choices > 1 {
        "estimate"
    } else {
        "options"
    }
}

/// What was chosen, in a line.
fn choice(report: &Report, plan: &FastestPlan) -> String {
    tr!(
        "kernel {kernel}, streams {streams}, graphs {graphs}, {generations} generations per round: the fastest of {choices} ways by an estimate",
        kernel = report.kernel,
        streams = report.streams,
        graphs = if report.graphs { "on" } else { "off" },
        generations = grouped(report.generations_per_round.into()),
        choices = plan.choices,
    )
}

/// A line on the terminal about how far a run is, renewed twice a second.
struct Progress {
    began: Instant,
    /// When the line was written last; `None` where nobody would see it.
    written: Option<Instant>,
    is_shown: bool,
    kernel: &'static str,
    /// Cells of all lattices.
    cells: f64,
    done: u64,
    all: u64,
}

impl Progress {
    /// Runs that take less show no progress.
    const DELAY: Duration = Duration::from_secs(2);

    const INTERVAL: Duration = Duration::from_millis(500);

    fn new(setup: &Setup, all: u64) -> Progress {
        let now = Instant::now();
        Progress {
            began: now,
            written: terminal::takes_escape_codes(&std::io::stderr()).then_some(now),
            is_shown: false,
            kernel: setup.kernel.name,
            cells: setup.size.cells() as f64 * setup.instances as f64,
            done: 0,
            all,
        }
    }

    /// Counts a round.
    fn add(&mut self, generations: u32) {
        self.done += u64::from(generations);
        let took = self.began.elapsed();
        let is_due = |written: Instant| took >= Self::DELAY && written.elapsed() >= Self::INTERVAL;
        if self.written.is_some_and(is_due) {
            self.written = Some(Instant::now());
            self.is_shown = true;
            write_over(&self.line(took));
        }
    }

    /// How far it is after so long.
    fn line(&self, took: Duration) -> String {
        let per_second = self.done as f64 / took.as_secs_f64();
        let left = (self.all - self.done) as f64 / per_second;
        tr!(
            "{kernel}: {done} of {all} generations, {rate}cell/s, {left} left",
            kernel = self.kernel,
            done = grouped(self.done),
            all = grouped(self.all),
            rate = si(self.cells * per_second),
            left = time_left(left)
        )
    }

    /// Takes the line away.
    fn clear(&self) {
        if self.is_shown {
            write_over("");
        }
    }
}

/// Takes a lattice's rows, some at a time.
type Take<'a> = dyn FnMut(&[u32]) -> io::Result<()> + 'a;

/// Writes every lattice to a file; `rows` passes on an instance's rows from the top.
fn save_all(
    folder: &Path,
    mut rows: impl FnMut(usize, &mut Take) -> engine::Result<io::Result<()>>,
    setup: &Setup,
    generation: u64,
) -> Result<()> {
    let head = Head {
        size: setup.size,
        rule: setup.rule,
        torus: true,
        generation,
        notes: &Notes::default(),
    };
    for i in 0..setup.instances {
        let path = rle_file(folder, i, setup.instances);
        let mut lost = None;
        let saved = write_atomically(&path, |out| {
            let mut file = rle::RowWriter::begin(head, out)?;
            match rows(i, &mut |words| file.rows(words)) {
                Ok(written) => written?,
                Err(error) => {
                    let why = io::Error::other(error.to_string());
                    lost = Some(error);
                    return Err(why);
                }
            }
            file.finish()
        });
        if let Some(lost) = lost {
            return Err(lost.into());
        }
        saved.with_context(|| format!("instance {i} is not saved"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_says_how_far_how_fast_and_how_long() {
        let progress = Progress {
            began: Instant::now(),
            written: None,
            is_shown: false,
            kernel: "bits",
            cells: 4e9,
            done: 1_500,
            all: 60_000,
        };
        assert_eq!(
            progress.line(Duration::from_secs(3)),
            "bits: 1,500 of 60,000 generations, 2.00 Tcell/s, 1 min 57 s left"
        );
    }
}
