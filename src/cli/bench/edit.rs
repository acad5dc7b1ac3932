//! Editing by hand in a running session: how long until the frame that shows an edit is drawn, how
//! long until the frame that shows it undone, whether frames wait while a stroke is drawn, and how
//! long the lattices stand still while their number or size is changed.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use super::{RUNS, Table, fits, setup};
use life::Size;
use session::{Change, DeviceChoice, Edit, Pace, Session, SessionAction, Setup};
use ui::ViewOptions;
use window::offscreen::Renderer;

/// Edits whose way is timed; each is a stroke of its own, which is copied as it begins.
const EDITS: u32 = 40;

/// Pause between two edits, so that the copies for one are finished before the next.
const REST: Duration = Duration::from_millis(80);

/// Edits that are undone, and how long the session runs on before each undo.
const UNDOS: u32 = 10;
const RUN_ON: Duration = Duration::from_millis(250);

/// Time for the session to allocate slots and load kernels for the pictures that the renderer
/// requested.
const SETTLING: Duration = Duration::from_secs(1);

/// Segments of a stroke, as many as a pencil makes in a second and a half at 60 frames per second.
const SEGMENTS: u32 = 90;
const SEGMENT: Duration = Duration::from_micros(16_667);

/// Cells of a segment.
const LENGTH: u32 = 32;

/// How long an edit may take before something is wrong.
const TIMEOUT: Duration = Duration::from_secs(60);

pub(super) fn table(device: DeviceChoice, adapter: Option<&str>) -> Result<Table> {
    let mut table = Table::new(
        "edit",
        "Editing at 60 rounds per second, drawn at 1920×1080",
    );
    for (instances, side) in [(16, 1024), (1, 16_384)] {
        let setup = Setup {
            pace: Pace::PerSecond(60.0),
            ..setup("bits", instances, side, device)?
        };
        if !fits(&setup)? {
            continue;
        }
        let mut hand = Hand::open(&setup, adapter)?;
        hand.pictures()?;
        hand.look_for(SETTLING)?;
        let mut ways = Vec::new();
        for number in 0..EDITS {
            ways.push(hand.way(number)?);
            // Out of step with the rounds, whose sixtieth of a second is part of the way.
            hand.look_for(REST + Duration::from_micros(411 * u64::from(number)))?;
        }
        let work = format!("{instances} × {side}²");
        let what = format!("{work}: from an edit until the frame that shows it is drawn");
        table.add(what, "ms", &ways);
        let mut undos = Vec::new();
        for number in 0..UNDOS {
            undos.push(hand.undo(EDITS + number)?);
        }
        let what = format!("{work}: from an undo until the frame that shows it is drawn");
        table.add(what, "ms", &undos);
        let mut changes = Vec::new();
        let (mut still, mut moved) = (Vec::new(), Vec::new());
        for run in 0..=RUNS {
            let times = [hand.look_for(SEGMENT * SEGMENTS)?, hand.stroke()?];
            if run > 0 {
                still.push(times[0]);
                moved.push(times[1]);
            }
        }
        table.add(
            format!("{work}: the longest frame without edits"),
            "ms",
            &still,
        );
        table.add(
            format!("{work}: the longest frame while a stroke is drawn"),
            "ms",
            &moved,
        );
        let doubled = Setup {
            instances: 2 * instances,
            ..setup
        };
        if !fits(&doubled)? {
            continue;
        }
        let larger = Size::new(side + side / 2, side)?;
        let shape = (instances, doubled.size);
        for (what, action, after) in [
            (
                "twice as many instances",
                SessionAction::DoubleInstances,
                (2 * instances, shape.1),
            ),
            (
                "half as many instances",
                SessionAction::HalveInstances,
                shape,
            ),
            (
                "lattices half as wide again",
                SessionAction::SetSize(larger),
                (instances, larger),
            ),
            ("the size before", SessionAction::SetSize(shape.1), shape),
        ] {
            changes.push((what, action, after, Vec::new(), Vec::new()));
        }
        for run in 0..=RUNS {
            for (_, action, after, stepped, shown) in &mut changes {
                let times = hand.change(*action, *after)?;
                if run > 0 {
                    stepped.push(times[0]);
                    shown.push(times[1]);
                }
            }
        }
        for (what, .., stepped, shown) in changes {
            table.add(
                format!("{work}, {what}: until the next round"),
                "ms",
                &stepped,
            );
            table.add(format!("{work}, {what}: until all are drawn"), "ms", &shown);
        }
    }
    Ok(table)
}

/// Someone who edits and looks.
struct Hand {
    session: Session,
    renderer: Renderer,
    options: ViewOptions,
    side: u32,
}

impl Hand {
    fn open(setup: &Setup, adapter: Option<&str>) -> Result<Hand> {
        let renderer = Renderer::new(adapter, [1920, 1080], 1.0)?;
        let session = Session::start(setup.clone(), || {})?;
        let options = ViewOptions::default();
        session.request_view(renderer.request(&session.status(), &options));
        let side = setup.size.width();
        Ok(Hand {
            session,
            renderer,
            options,
            side,
        })
    }

    /// Draws a frame to its end; its milliseconds.
    fn frame(&mut self) -> Result<f64> {
        let status = self.session.status();
        if let Some(why) = status.gives_up() {
            bail!("{why}");
        }
        let began = Instant::now();
        self.renderer.frame(&status, &self.session, &self.options)?;
        self.renderer.finish()?;
        Ok(began.elapsed().as_secs_f64() * 1e3)
    }

    /// Draws frames until every panel has a picture.
    fn pictures(&mut self) -> Result<()> {
        while self.renderer.missing(&self.session.status(), &self.options) > 0 {
            self.frame()?;
        }
        Ok(())
    }

    /// Draws a line of cells, which goes on with the one before or not; the edit's number.
    fn draw(&self, at: u32, continues_stroke: bool) -> u64 {
        let cell = |i| [(at * LENGTH + i) % self.side, at * 7 % self.side];
        let cells: Arc<[[u32; 2]]> = (0..LENGTH).map(cell).collect();
        self.session.edit(Edit {
            instance: 0,
            change: Change::Draw { cells, alive: true },
            continues_stroke,
        })
    }

    /// The milliseconds from an edit until the first frame that shows it is drawn.
    fn way(&mut self, at: u32) -> Result<f64> {
        let began = Instant::now();
        let number = self.draw(at, false);
        loop {
            self.frame()?;
            if self.renderer.shown_edit(0) >= number {
                return Ok(began.elapsed().as_secs_f64() * 1e3);
            }
            if began.elapsed() > TIMEOUT {
                bail!("no picture shows edit {number}");
            }
        }
    }

    /// Draws a line of cells, lets the session run on, and undoes: the milliseconds until a frame
    /// shows the generation just after the edit. Then the session runs again.
    fn undo(&mut self, at: u32) -> Result<f64> {
        self.way(at)?;
        self.look_for(RUN_ON)?;
        let (began, before) = (Instant::now(), self.session.status().clock.generation);
        self.session.act(SessionAction::Undo);
        let mut seen = vec![0; 1];
        let mut shown = u64::MAX;
        loop {
            self.session
                .pictures()
                .visit_newer(&mut seen, &mut |_, picture, _| shown = picture.generation);
            self.frame()?;
            if shown < before && !self.session.status().clock.running {
                break;
            }
            if began.elapsed() > TIMEOUT {
                bail!("no picture shows the undo of edit {at}");
            }
        }
        let took = began.elapsed().as_secs_f64() * 1e3;
        self.session.act(SessionAction::TogglePause);
        self.look_for(REST)?;
        Ok(took)
    }

    /// Changes the number of instances or their size, to those in `after`: the milliseconds until they
    /// have made another generation, and until a frame shows all of them.
    fn change(&mut self, action: SessionAction, after: (usize, Size)) -> Result<[f64; 2]> {
        let before = self.session.status().clock.generation;
        let began = Instant::now();
        let now = || began.elapsed().as_secs_f64() * 1e3;
        self.session.act(action);
        let mut stepped = None;
        loop {
            let status = self.session.status();
            if (status.lattices.instances, status.lattices.size) == after {
                self.session
                    .request_view(self.renderer.request(&status, &self.options));
                if status.clock.generation > before {
                    stepped.get_or_insert_with(now);
                }
            }
            self.frame()?;
            let is_drawn = self.renderer.missing(&status, &self.options) == 0;
            if let (Some(stepped), true) = (stepped, is_drawn) {
                let times = [stepped, now()];
                self.look_for(REST)?;
                return Ok(times);
            }
            if began.elapsed() > TIMEOUT {
                bail!("the change is not shown: {action:?}");
            }
        }
    }

    /// Draws frames for so long; the longest one's milliseconds.
    fn look_for(&mut self, least: Duration) -> Result<f64> {
        let (began, mut longest) = (Instant::now(), 0f64);
        while began.elapsed() < least {
            longest = longest.max(self.frame()?);
        }
        Ok(longest)
    }

    /// The longest frame, in milliseconds, of those from a stroke's first segment until one shows
    /// its last.
    fn stroke(&mut self) -> Result<f64> {
        let mut longest = 0f64;
        for at in 0..SEGMENTS - 1 {
            self.draw(at, at > 0);
            longest = longest.max(self.look_for(SEGMENT)?);
        }
        let (began, last) = (Instant::now(), self.draw(SEGMENTS - 1, true));
        while self.renderer.shown_edit(0) < last {
            longest = longest.max(self.frame()?);
            if began.elapsed() > TIMEOUT {
                bail!("no picture shows edit {last}");
            }
        }
        Ok(longest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edits_frame_comes_and_shows_no_later_one() {
        let setup = setup("bits", 2, 64, DeviceChoice::Cpu).unwrap();
        let mut hand = Hand::open(&setup, None).unwrap();
        hand.pictures().unwrap();
        for at in 0..3 {
            assert_eq!(hand.renderer.shown_edit(0), u64::from(at));
            assert!(hand.way(at).unwrap() > 0.0);
        }
        assert!(hand.undo(3).unwrap() > 0.0);
        assert!(
            hand.session.status().clock.running,
            "it goes on after the undo"
        );
        let size = hand.session.status().lattices.size;
        let doubled = hand.change(SessionAction::DoubleInstances, (4, size));
        assert!(doubled.unwrap().iter().all(|ms| *ms > 0.0));
    }
}
