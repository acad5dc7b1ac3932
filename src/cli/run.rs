//! `lifestreams run`: steps every instance as fast as it can, reports, saves, and survives the loss of a
//! device.
//!
//! Every some seconds it copies the lattices to the host. After a loss, the devices that are left go
//! on from the newest copy, or from the start before the first one.

use std::collections::VecDeque;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use parking_lot::Mutex;
use serde_json::json;

use super::options::RunArguments;
use super::text::{Interrupted, print, print_json, refuse, say, write_over};
use engine::{Engine, EngineError};
use lang::tr;
use life::{Head, Notes, SaveError, grouped, rle, write_atomically};
use session::fastest::{FastestPlan, RUN_ROUND, RoundLength};
use session::instances::{
    Event, Sim, ensure_room, make_on_devices, open, open_engine, start_lattice,
};
use session::log::Position;
use session::trace::TimedRound;
use session::{
    DeviceChoice, Losses, PicturePlan, Setup, Share, Start, TransferChoice, make_again, time_left,
};
use ui::numbers::{si, time_us};
use ui::{exit_interrupted, write_chrome};

/// How many rounds `--trace` keeps: the last ones.
const ROUNDS_TRACED: usize = 64;

/// Time between two copies of the lattices, at least.
const COPY_INTERVAL: Duration = Duration::from_secs(10);

/// The time until the next copy, in times that one takes: a copy may cost 2 % of the time.
const INTERVAL_IN_COPIES: u32 = 50;

/// How many bytes per second a first copy is expected to take: so many as the host's memory takes
/// at least.
const EXPECTED_COPY_RATE: f64 = 2e9;

/// Copies that the host must have memory for where one is made: that one, and two more as a start
/// with such lattices needs them ([`Sim::new`]).
const COPIES: u64 = 3;

pub(super) fn main(arguments: &RunArguments) -> Result<()> {
    if arguments.common.switches.transfer == TransferChoice::View {
        return refuse("run draws nothing, so there is no view; use --transfer bits or i32");
    }
    if arguments.common.device == DeviceChoice::Recorded {
        return refuse("run measures, and recorded rounds are only shown; use --device cpu");
    }
    // What is traced is a window's rounds; otherwise `run` chooses what is left open.
    let setup = match arguments.trace {
        Some(_) => arguments.common.setup()?,
        None => arguments.common.open().setup()?,
    };
    if let Some(folder) = &arguments.save {
        std::fs::create_dir_all(folder).map_err(|error| SaveError::new(folder, &error))?;
    }
    let waiting = Waiting::start(tr!("its start"));
    let mut run = Run::start(setup, arguments)?;
    if arguments.generations > 0 {
        waiting.0.lock().is_stepping = true; // Ctrl+C ends it after the round in flight from now on
    }
    let setup = &run.present().setup;
    tracing::debug!(
        "stepping by {}, {:?}",
        setup.setting.kernel.name,
        setup.setting.switches
    );
    let mut stepping = Stepping {
        progress: Progress::new(setup, arguments.generations),
        traced: VecDeque::new(),
        waiting,
    };
    loop {
        match finish(&mut run, &mut stepping) {
            Ok((took, population)) => return report(&run, took, &population),
            Err(error) => go_on(&mut run, &mut stepping, error.downcast()?)?,
        }
    }
}

/// What accompanies a run while it steps.
struct Stepping {
    progress: Progress,
    /// The last rounds, if they are traced.
    traced: VecDeque<TimedRound>,
    waiting: Waiting,
}

/// Steps what is left, and writes the files. Returns how long the run took, and each lattice's population.
fn finish(run: &mut Run, stepping: &mut Stepping) -> Result<(Duration, Vec<u64>)> {
    let Stepping {
        progress,
        traced,
        waiting,
    } = stepping;
    let arguments = run.arguments;
    waiting.next(tr!("the next round"));
    run.step(&mut |event| {
        if let Event::Round { round, timed, .. } = event {
            waiting.next(tr!("the next round"));
            progress.add(round.generations);
            traced.extend(timed);
            if traced.len() > ROUNDS_TRACED {
                traced.pop_front();
            }
        }
        waiting.0.lock().interrupted.is_some()
    })?;
    let took = progress.began.elapsed();
    progress.clear();
    waiting.next(tr!("the results"));
    let generation = run.first.saturating_add(run.done);
    let Present { sim, setup, .. } = run.present.as_mut().expect(DEVICE_LEFT);
    let device = devices(sim);
    let mut results = sim.results()?;
    let population = results.populations()?;
    if let Some(folder) = &arguments.save {
        let rows = |i: usize, take: &mut Take| {
            waiting.next(tr!("the results"));
            results.rows(i, take)
        };
        save_all(folder, rows, setup, generation)?;
    }
    if let Some(path) = &arguments.trace {
        write_atomically(path, |out| write_chrome(&*traced, &device, out))?;
    }
    Ok((took, population))
}

/// Goes on after an error of the engine, on the devices that are left. Where there is none, saves the
/// newest copy of the lattices.
fn go_on(run: &mut Run, stepping: &mut Stepping, error: EngineError) -> Result<()> {
    stepping.progress.clear();
    let Present { sim, setup, .. } = run.present();
    // Not if a kernel of the user's own may be the reason.
    if sim.engine().name() == "cpu" || !error.is_of_device() || setup.setting.kernel.own.is_some() {
        return Err(error.into());
    }
    stepping.traced.clear(); // another device has another clock
    stepping.waiting.next(tr!("its start"));
    let (why, setup) = (error.reason(), setup.clone());
    let again = run.completed - run.copied;
    let lost = run.recover(error);
    let generation = run.first.saturating_add(run.copied);
    let shown = grouped(generation);
    let Err(error) = lost else {
        stepping.progress.done = run.done;
        say(&tr!(
            "the engine was lost ({why}); the run goes on from generation {generation} on {device}, and steps {again} generations again",
            generation = shown,
            device = devices(&run.present().sim),
            again = grouped(again)
        ));
        return Ok(());
    };
    let saved = match &run.arguments.save {
        None => tr!("nothing is saved without --save").into(),
        Some(folder) => {
            let rows = |i: usize, take: &mut Take| Ok(take(start_lattice(&run.asked, i)?.words()));
            save_all(folder, rows, &setup, generation)?;
            tr!(
                "generation {generation} is saved in {folder}",
                generation = shown,
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

/// Prints what a run came to.
fn report(run: &Run, took: Duration, population: &[u64]) -> Result<()> {
    let (arguments, done) = (run.arguments, run.done);
    let Present {
        sim,
        setup,
        rounds,
        plan,
        ..
    } = run.present();
    let plan = plan.as_ref().filter(|plan| plan.choices > 1);
    // The last rounds may have been planned longer than the run.
    let generations_per_round = match arguments.common.generations_per_round {
        Some(requested) => requested,
        None => u64::from(rounds.generations()).min(arguments.generations.max(1)) as u32,
    };
    let (device, engine, kernel) = (devices(sim), sim.engine().name(), setup.setting.kernel.name);
    let (streams, graphs) = (
        setup.setting.switches.streams.to_string(),
        setup.setting.switches.graphs,
    );
    let stepped = setup.size.cells() as f64 * setup.instances as f64 * done as f64;
    let seconds = took.as_secs_f64();
    let rate = if done == 0 { 0.0 } else { stepped / seconds };
    let stopped = done < arguments.generations;
    if arguments.json {
        let mut report = json!({
            "engine": engine,
            "device": device,
            "kernel": kernel,
            "instances": setup.instances,
            "width": setup.size.width,
            "height": setup.size.height,
            "generations": done,
            "wall_ms": seconds * 1e3,
            "cells_per_second": rate,
            "population": population,
            "streams": streams,
            "graphs": graphs,
            "generations_per_round": generations_per_round,
            "chosen_by": plan.map_or("options", |_| "estimate"),
            "stopped": stopped,
        });
        // The rung that a kernel of the user's own was written from.
        if let Some(own) = &setup.setting.kernel.own {
            report["own_kernel_from"] = own.rung.file.into();
        }
        print_json(&report)?;
    } else {
        if let Some(plan) = plan.filter(|_| done > 0) {
            print(&tr!(
                "kernel {kernel}, streams {streams}, graphs {graphs}, {generations} generations per round: the fastest of {choices} ways by an estimate",
                graphs = if graphs { "on" } else { "off" },
                generations = grouped(generations_per_round.into()),
                choices = plan.choices,
            ))?;
        }
        print(&tr!(
            "{device} ({engine}), kernel {kernel}: {instances} × {size}, {generations} generations in {time}, {rate}cell/s, {alive} alive",
            instances = setup.instances,
            size = setup.size,
            generations = done,
            time = time_us(seconds * 1e6),
            rate = si(rate),
            alive = population.iter().sum::<u64>(),
        ))?;
        for path in arguments.save.iter().chain(&arguments.trace) {
            print(&tr!("saved {}", path.display()))?;
        }
    }
    if !stopped {
        return Ok(());
    }
    Err(Interrupted(tr!(
        "stopped after {done} of {all} generations",
        done = grouped(done),
        all = grouped(arguments.generations)
    ))
    .into())
}

/// The names of the devices in use.
fn devices(sim: &Sim) -> String {
    let devices = sim.engine().devices().iter();
    let names: Vec<&str> = devices.map(|device| device.name.as_str()).collect();
    names.join(" + ")
}

const DEVICE_LEFT: &str = "a device is left";

/// Instances on the devices that step them at present.
struct Present {
    sim: Sim,
    /// With what was chosen.
    setup: Setup,
    /// The lengths of rounds.
    rounds: RoundLength,
    /// The plan, if one was chosen.
    plan: Option<FastestPlan>,
    /// What rounds step.
    share: Share,
    /// When the lattices are copied next; never on the CPU, which is not lost.
    copy_at: Option<Instant>,
}

/// A run of instances over some generations.
struct Run<'a> {
    arguments: &'a RunArguments,
    /// What was asked for; its start is the newest copy.
    asked: Setup,
    /// The generation of the first start.
    first: u64,
    /// Generations stepped until the newest copy, until the end of the last
    /// [`step`](Self::step), and until the last round that was completed.
    copied: u64,
    done: u64,
    completed: u64,
    losses: Losses,
    /// `None` once no device is left.
    present: Option<Present>,
}

impl<'a> Run<'a> {
    /// Opens the setup's devices and prepares its instances there. With [`DeviceChoice::Auto`], the
    /// CPU takes the place of a GPU on which that fails.
    ///
    /// # Errors
    /// A device cannot be used, or it or the host has too little memory.
    fn start(asked: Setup, arguments: &'a RunArguments) -> engine::Result<Run<'a>> {
        let mut run = Run {
            arguments,
            first: asked.start.generation(),
            asked,
            copied: 0,
            done: 0,
            completed: 0,
            losses: Losses::default(),
            present: None,
        };
        match run.make(run.asked.device, open_engine) {
            // As at a loss later on; but a kernel of the user's own may be the reason.
            Err(lost) if lost.loses_lattices() && run.asked.setting.kernel.own.is_none() => {
                let why = lang::english(&lost);
                run.recover(lost)?;
                tracing::warn!("{why}; {} starts instead", devices(&run.present().sim));
            }
            made => run.present = Some(made?),
        }
        Ok(run)
    }

    /// Prepares instances with the newest copy on devices that `open` opens.
    fn make(
        &self,
        choice: DeviceChoice,
        open: impl Fn(DeviceChoice) -> engine::Result<Box<dyn Engine>>,
    ) -> engine::Result<Present> {
        make_on_devices(choice, open, |engine| {
            let mut setup = self.asked.clone();
            let mut sim = Sim::new(engine, &setup, 0)?;
            let (rounds, plan, picture) = if self.arguments.trace.is_some() {
                let picture = PicturePlan::whole(&setup.setting);
                sim.start(&mut setup, Some(picture))?;
                let setting = setup.setting.clone();
                let rounds = sim.round_lengths(&setting);
                let rounds = rounds.at_most(setup.generations_per_round);
                (rounds, None, Some(picture))
            } else {
                let requested = self.arguments.common.requested(&setup);
                let left = self.arguments.generations - self.copied;
                let plan = sim.start_fastest(&mut setup, &requested, Some(left), None)?;
                (plan.rounds(RUN_ROUND), Some(plan), None)
            };
            let share = sim.all(&setup.setting, picture);
            sim.load(&share)?; // compiling a rule's kernel is not stepping
            sim.finish()?;
            let is_gpu = sim.engine().name() != "cpu";
            let bytes = sim.all_bits() as f64;
            let first_copy = interval(Duration::from_secs_f64(bytes / EXPECTED_COPY_RATE));
            Ok(Present {
                sim,
                setup,
                rounds,
                plan,
                share,
                copy_at: is_gpu.then(|| Instant::now() + first_copy),
            })
        })
    }

    /// Steps all generations that are left, and passes events on; once `stops` says so, no other round is
    /// issued.
    ///
    /// # Errors
    /// What the engine says: see [`recover`](Self::recover).
    fn step(&mut self, stops: &mut dyn FnMut(Event) -> bool) -> engine::Result<()> {
        let generations = self.arguments.generations;
        while self.done < generations {
            let present = self.present.as_mut().expect(DEVICE_LEFT);
            let (copy_at, completed) = (present.copy_at, &mut self.completed);
            let mut is_stopped = false;
            let mut heard = |event: Event| {
                if let Event::Round { round, .. } = &event {
                    *completed += u64::from(round.generations);
                }
                is_stopped |= stops(event);
                if is_stopped || copy_at.is_some_and(|at| Instant::now() >= at) {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            };
            let (left, timed) = (generations - self.done, self.arguments.trace.is_some());
            let (sim, rounds) = (&mut present.sim, &mut present.rounds);
            self.done += sim.run_rounds(&present.share, left, rounds, timed, &mut heard)?;
            if is_stopped {
                break;
            }
            if self.done < generations {
                self.copy()?;
            }
        }
        Ok(())
    }

    /// Copies the lattices to the host, if there is the memory for it.
    fn copy(&mut self) -> engine::Result<()> {
        let generation = self.first.saturating_add(self.done);
        let present = self.present.as_mut().expect(DEVICE_LEFT);
        let began = Instant::now();
        let room = ensure_room(self.asked.size, self.asked.instances, None, COPIES);
        let copied = match room {
            Ok(()) => present.sim.copy(&present.share),
            Err(why) => Err(why.into()),
        };
        let took = began.elapsed();
        match copied {
            Ok(lattices) => {
                tracing::debug!("a copy of generation {generation} took {took:?}");
                self.asked.start = Start::Lattices {
                    lattices,
                    generation,
                };
                self.copied = self.done;
                self.losses.copied(Position::new(0, self.done));
            }
            Err(lacking) if lacking.lacks_memory() => {
                tracing::debug!("no copy: {}", lang::english(lacking));
            }
            Err(lost) => return Err(lost),
        }
        present.copy_at = Some(Instant::now() + interval(took));
        Ok(())
    }

    /// After an error of the engine, opens the devices that are left and restores the newest copy there:
    /// those of the choice, and with [`DeviceChoice::Auto`] the CPU in the end.
    ///
    /// # Errors
    /// No device is left. Nothing can be stepped then.
    fn recover(&mut self, error: EngineError) -> engine::Result<()> {
        self.present = None; // a lost device is opened anew only once it is released
        let position = Position::new(0, self.completed);
        (self.done, self.completed) = (self.copied, self.copied);
        if !self.losses.survive(position) {
            return Err(error);
        }
        let choice = self.asked.device;
        let devices = self.losses.devices(choice, choice == DeviceChoice::Auto);
        let made = make_again(error, devices, |choice| {
            self.make(choice, |it| open(it, true))
        })?;
        self.present = Some(made);
        Ok(())
    }

    fn present(&self) -> &Present {
        self.present.as_ref().expect(DEVICE_LEFT)
    }
}

/// The time until the next copy, if one takes so long.
fn interval(copy: Duration) -> Duration {
    platform::timeout(COPY_INTERVAL).max(copy * INTERVAL_IN_COPIES)
}

/// A line on the terminal about how far a run is, renewed twice a second.
struct Progress {
    began: Instant,
    /// When the line was written last; `None` where nobody would see it.
    written: Option<Instant>,
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
            kernel: setup.setting.kernel.name,
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
        if self.written.is_some() {
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
    // As many as the last one needs.
    let digits = (setup.instances - 1).to_string().len().max(3);
    for i in 0..setup.instances {
        let path = folder.join(format!("{i:0digits$}.rle"));
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

/// How long a device may take for something before a line says so.
const NOTICE_DELAY: Duration = Duration::from_secs(20);

/// Signals so soon after the first mean the same: `timeout` sends one to the process and one to its
/// group.
const NOT_AGAIN: Duration = Duration::from_millis(500);

/// What the device is to finish, and since when.
#[derive(Clone)]
struct Waiting(Arc<Mutex<State>>);

struct State {
    what: &'static str,
    since: Instant,
    is_said: bool,
    /// Whether there is something to lose.
    is_stepping: bool,
    /// When Ctrl+C came first.
    interrupted: Option<Instant>,
}

impl Waiting {
    /// Begins to watch how long the device takes. Ctrl+C ends the run at once until it steps, after the round
    /// in flight from then on; a second one does not wait for it.
    fn start(what: &'static str) -> Waiting {
        let waiting = Waiting(Arc::new(Mutex::new(State {
            what,
            since: Instant::now(),
            is_said: false,
            is_stepping: false,
            interrupted: None,
        })));
        let watched = waiting.clone();
        let delay = platform::timeout(NOTICE_DELAY);
        let watch = move || loop {
            thread::sleep(delay / 20);
            watched.say_if_long(delay);
        };
        // Without a thread for it, nothing is said.
        let _ = thread::Builder::new().name("waiting".into()).spawn(watch);
        let signalled = waiting.clone();
        platform::on_signals(move || signalled.interrupt()).ok();
        waiting
    }

    /// Notes that the device has finished something, and what comes next.
    fn next(&self, what: &'static str) {
        let mut state = self.0.lock();
        (state.what, state.since, state.is_said) = (what, Instant::now(), false);
    }

    fn interrupt(&self) {
        let mut state = self.0.lock();
        if !state.is_stepping {
            exit_interrupted(state.what);
        }
        match state.interrupted {
            Some(first) if first.elapsed() >= NOT_AGAIN => exit_interrupted(state.what),
            Some(_) => {}
            None => {
                state.interrupted = Some(Instant::now());
                state.is_said = false; // what to do now is something else
            }
        }
    }

    fn say_if_long(&self, delay: Duration) {
        let mut state = self.0.lock();
        let took = state.since.elapsed();
        if state.is_said || took < delay {
            return;
        }
        state.is_said = true;
        if terminal::takes_escape_codes(&std::io::stderr()) {
            write_over(""); // how far the run is
        }
        let (what, took) = (state.what, time_left(took.as_secs_f64()));
        say(&tr!(
            "the device has not finished {what} for {took}; press Ctrl+C to end the run, and again to end it at once"
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_says_how_far_how_fast_and_how_long() {
        let progress = Progress {
            began: Instant::now(),
            written: None,
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
