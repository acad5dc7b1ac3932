//! A part that is rounds of lattices, as the window does them.

use engine::EngineError;
use lang::{mark, tr};
use life::Rule;
use session::instances::{Sim, open_engine, start_lattice};
use session::trace::TimedRound;
use session::{PicturePlan, Setup, Share, Start};

use crate::bench::{Bench, Result, SweepSetup};
use crate::data;
use crate::file::{Rounds, Text};
use crate::lattices::{DENSITY, SEED};
use crate::outcome::{Experiment, Measured};

/// Rounds on an engine of their own.
pub(crate) struct RoundsRun {
    setup: Setup,
    sim: Sim,
    /// What its rounds step.
    share: Share,
    /// Rounds of a sample.
    in_a_row: u32,
    stepped: u64,
    /// What the time is of.
    label: Text,
}

impl RoundsRun {
    /// With the lattices of a sweep, if there is one.
    pub(crate) fn new(rounds: &Rounds, label: Text, bench: &Bench) -> Result<RoundsRun> {
        let of = match bench.sweep {
            Some(sweep) => sweep,
            None => SweepSetup::of(rounds, bench.is_cpu())?,
        };
        if let Some(why) = rounds.set.incompatibility(of.kernel) {
            return Err(EngineError::Unsupported(why.into()).into());
        }
        let setup = Setup {
            start: Start::soup(DENSITY, SEED),
            generations_per_round: of.generations_per_round,
            ..Setup::new(of.instances, of.size, of.kernel, bench.choice)
        }
        .with_switches(rounds.set);
        let mut sim = Sim::new(open_engine(bench.choice)?, &setup, 1)?;
        sim.set_to_start(&setup)?;
        let picture = PicturePlan::whole(&setup.setting);
        let share = sim.all(&setup.setting, Some(picture));
        let mut run = RoundsRun {
            setup,
            sim,
            share,
            in_a_row: if bench.is_cpu() {
                rounds.in_a_row.div_ceil(5)
            } else {
                rounds.in_a_row
            },
            stepped: 0,
            label,
        };
        run.step(4.min(rounds.in_a_row), None)?; // modules are loaded, graphs prepared
        Ok(run)
    }

    /// The time of `rounds` rounds in milliseconds.
    fn step(&mut self, rounds: u32, traced: Option<&mut dyn FnMut(TimedRound)>) -> Result<f64> {
        let each = self.setup.generations_per_round;
        let generations = u64::from(rounds) * u64::from(each);
        self.stepped += generations;
        let took = self.sim.run(&self.share, generations, each, traced)?;
        Ok(took.as_secs_f64() * 1e3)
    }
}

impl Experiment for RoundsRun {
    fn sample(&mut self) -> Result<Measured> {
        let ms = self.step(self.in_a_row, None)? / f64::from(self.in_a_row);
        let instances = self.setup.instances as u64;
        let generations = f64::from(self.setup.generations_per_round);
        let cells = (self.setup.size.cells() * instances) as f64 * generations;
        let mut measured = Measured::of_time(self.label, ms);
        measured.figure(mark!("cells per second"), cells / ms / 1e6, "Gcell/s");
        if instances == 1 && generations > 1.0 {
            measured.figure(mark!("a generation"), ms * 1e6 / generations, "ns");
        }
        Ok(measured)
    }

    fn round(&mut self) -> Result<Option<TimedRound>> {
        // Alone: the calls of one in a row are made while others run.
        let mut drawn = None;
        self.step(1, Some(&mut |round| drawn = Some(round.in_order())))?;
        Ok(drawn)
    }

    fn check(&mut self) -> Result<Measured> {
        let got = self.sim.fetch()?;
        let first = start_lattice(&self.setup, 0)?;
        let want = data::after(&first, Rule::LIFE, self.stepped);
        let all = tr!(
            "after {stepped} generations the first lattice matches the reference",
            stepped = self.stepped
        );
        let mut measured = Measured::default();
        measured.check(all, got[0] == want);
        Ok(measured)
    }
}
