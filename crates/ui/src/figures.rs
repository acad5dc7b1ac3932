//! The texts of the HUD: figures, notices and warnings. Their layout is up to the painters.

use std::borrow::Cow;

use crate::actions::Setting;
use crate::finding::{Headline, headline};
use crate::numbers::{bytes, grouped, si, time_us};
use crate::{Action, ColourBy, Drawing, ViewOptions};
use engine::Transfer;
use lang::{Message, message, tr};
use session::{
    KernelChoice, Pace, SessionAction, Status, StopWhenStill, Switch, recorded_in_words,
};

use Urgency::*;

/// Whether rounds are running.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum RunState {
    /// Rounds go on.
    Running,
    /// Paused by the user or by a condition.
    Paused,
    /// Generations are computed again on the way to one that was left.
    Recomputing,
    /// The session has ended.
    Ended,
}

/// A figure and its name.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Figure {
    /// Its name.
    pub label: String,
    /// Its value, with its unit.
    pub value: String,
    /// What else belongs to it, smaller.
    pub note: String,
    /// What it means, as a tooltip.
    pub tip: Cow<'static, str>,
    /// What a click on it changes.
    pub settings: &'static [Setting],
    /// Whether the value has a line of its own.
    pub wide: bool,
    /// Whether it was recorded on another machine.
    pub is_recorded: bool,
}

/// Everything the HUD says.
#[derive(Clone, PartialEq, Debug)]
pub struct Figures {
    /// Whether rounds are running.
    pub state: RunState,
    /// How fast rounds may follow one another; how much is done, while generations are recomputed.
    pub pace: String,
    /// The generation.
    pub headline: Figure,
    /// The others, in groups.
    pub groups: Vec<Vec<Figure>>,
    /// What a lecture is about, alone in a presentation.
    pub essentials: [Figure; 5],
    /// Sentences, the most urgent first.
    pub messages: Vec<(Urgency, Message)>,
}

/// How a sentence is shown.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Urgency {
    /// The session has ended.
    Failure,
    /// What the last change did, which its finding says, too.
    Effect,
    /// Just happened.
    Notice,
    /// True all the time.
    Warning,
}

/// What a click on the number and the size of the lattices changes.
pub const GRID: &[Setting] = &[Setting::Instances, Setting::Size];
/// What a click on the seed or the density of the soup changes.
const SOUP: &[Setting] = &[Setting::Density];
/// What a click on the time of a round changes.
pub const ROUND: &[Setting] = &[Setting::GenerationsPerRound, Setting::Pace];
/// What a click on the pace, the kernel or the streams changes.
pub const PACE: &[Setting] = &[Setting::Pace];
/// See [`PACE`].
pub const KERNEL: &[Setting] = &[Setting::Kernel];
/// See [`PACE`].
pub const STREAMS: &[Setting] = &[Setting::Switch(Switch::Streams)];

/// Stands where there is no value.
const UNKNOWN: &str = "–";

fn figure(label: &str, value: impl Into<String>) -> Figure {
    Figure {
        label: label.into(),
        value: value.into(),
        ..Figure::default()
    }
}

impl Figure {
    fn wide(self) -> Figure {
        Figure { wide: true, ..self }
    }

    fn tip(self, tip: impl Into<Cow<'static, str>>) -> Figure {
        let tip = tip.into();
        Figure { tip, ..self }
    }

    fn set_by(self, settings: &'static [Setting]) -> Figure {
        Figure { settings, ..self }
    }

    /// Whether there is a value.
    pub fn is_known(&self) -> bool {
        self.value != UNKNOWN
    }

    fn recorded(self, is_recorded: bool) -> Figure {
        Figure {
            is_recorded,
            ..self
        }
    }

    fn with_note(self, note: impl Into<String>) -> Figure {
        Figure {
            note: note.into(),
            ..self
        }
    }
}

/// The figures of a session that is drawn like this.
pub fn figures(status: &Status, options: &ViewOptions, drawing: &Drawing) -> Figures {
    // A step of a lecture without the timeline changes things that nobody was asked about.
    let is_asked = options.timeline || drawing.lecture.is_none();
    Figures {
        state: match (&status.failed, status.clock.recomputing) {
            (Some(_), _) => RunState::Ended,
            (None, Some(_)) => RunState::Recomputing,
            (None, None) if status.clock.running => RunState::Running,
            (None, None) => RunState::Paused,
        },
        pace: match (status.setting.pace, status.clock.recomputing) {
            // What has ended has none.
            _ if status.failed.is_some() => String::new(),
            (_, Some(recomputing)) => format!("{} %", recomputing.percent),
            (Pace::Unthrottled, None) => tr!("unthrottled").into(),
            (Pace::Maximum, None) => tr!("maximum").into(),
            (pace, None) => tr!("at most {pace}"),
        },
        headline: figure(tr!("generation"), grouped(status.clock.generation))
            .tip(tr!("the generation of every lattice since the last start")),
        groups: vec![
            speed(status, drawing),
            costs(status),
            lattices(status, options),
            time(status),
            kernel(status),
            switches(status),
            machine(status, drawing),
        ],
        essentials: essentials(status, headline(status).filter(|_| is_asked)),
        messages: messages(status, drawing),
    }
}

/// The median time of a round, from its first call to its last event, what it is measured of, and what the
/// last change did.
fn essentials(status: &Status, found: Option<Headline>) -> [Figure; 5] {
    let grid = format!("{} × {}", count(status), sides(status));
    let is_computing = status.failed.is_none() && status.clock.recomputing.is_none();
    let round_us = status.rates.round_us.filter(|_| is_computing);
    let found = found.as_ref().map(|it| (&*it.subject, &*it.factor));
    let (what, effect) = found.unwrap_or(("", UNKNOWN));
    let what = match status.lab.comparison {
        None if what.is_empty() => tr!("last change"),
        None => what,
        Some(_) => tr!("B against A"),
    };
    let is_recorded = status.lab.recording.is_some();
    [
        figure(
            tr!("time per round"),
            round_us.map_or(UNKNOWN.into(), time_us),
        )
        .set_by(ROUND)
        .recorded(is_recorded),
        figure(tr!("lattices"), grid).set_by(GRID),
        figure(tr!("kernel"), status.setting.kernel.name)
            .set_by(KERNEL)
            .with_note(taken_back(status).unwrap_or_default()),
        figure(tr!("streams"), position(Switch::Streams, status)).set_by(STREAMS),
        figure(what, effect).recorded(is_recorded),
    ]
}

impl Figures {
    /// Adds a notice from the painter, after all other notices.
    pub fn notify(&mut self, sentence: Message) {
        let is_warning = |(urgency, _): &(Urgency, Message)| *urgency == Warning;
        let end = self.messages.iter().position(is_warning);
        let at = end.unwrap_or(self.messages.len());
        self.messages.insert(at, (Notice, sentence));
    }
}

fn speed(status: &Status, drawing: &Drawing) -> Vec<Figure> {
    let frames = match drawing.frames_per_second {
        Some(rate) if status.clock.running => si(rate).trim_end().to_owned(),
        _ => UNKNOWN.into(),
    };
    let known = |figure: String| match status.clock.recomputing {
        Some(_) => UNKNOWN.into(),
        None => figure,
    };
    let rates = &status.rates;
    let speed = known(format!("{}cell/s", si(rates.cells_per_second)));
    let [generations, rounds] = [rates.generations_per_second, rates.rounds_per_second]
        .map(|rate| known(si(rate).trim_end().into()));
    vec![
        figure(tr!("speed"), speed).tip(tr!("cells stepped per second, over all lattices")),
        figure(tr!("generations/s"), generations)
            .tip(tr!("generations per second, of each lattice")),
        figure(tr!("rounds/s"), rounds).set_by(PACE).tip(tr!(
            "rounds per second: in a round every lattice advances and is downloaded once"
        )),
        figure(tr!("frames/s"), frames).tip(tr!(
            "frames presented per second; nothing is drawn while nothing changes"
        )),
    ]
}

fn costs(status: &Status) -> Vec<Figure> {
    let launch = status.rates.launch_us.map_or(UNKNOWN.into(), time_us);
    let recorded = status.lab.recording.as_ref();
    let timed = match (recorded, status.rates.timed_one_in) {
        (Some(recording), _) if status.rates.round_us.is_some() => {
            recorded_in_words(&recording.recorded)
        }
        (Some(_), _) => tr!("not recorded").to_owned(),
        (None, 1) => tr!("by events in every round").to_owned(),
        (None, rounds) => tr!("by events in one round of {rounds}"),
    };
    vec![
        figure(tr!("time per launch"), launch)
            .with_note(timed)
            .recorded(recorded.is_some())
            .tip(tr!(
                "median time of a kernel launch on the device, measured by events around it"
            )),
        figure(
            tr!("bus traffic per round"),
            bytes(status.setting.bytes_per_round),
        )
        .tip(tr!(
            "bytes downloaded from the device to the host in a round"
        )),
    ]
}

fn lattices(status: &Status, options: &ViewOptions) -> Vec<Figure> {
    let lattices = tr!(
        "{count} of {size}",
        count = count(status),
        size = sides(status)
    );
    let mut figures = vec![
        figure(tr!("lattices"), lattices)
            .set_by(GRID)
            .tip(tr!(
                "how many, and their width and height in cells; opposite edges meet: a torus"
            )),
        figure(tr!("rule"), status.lattices.rule.to_string())
            .set_by(&[Setting::Rule])
            .tip(tr!(
                "with how many live neighbours a cell is born (B), and with how many it survives (S)"
            )),
    ];
    if let Some(seed) = status.lattices.seed {
        figures.push(figure(tr!("seed"), seed.to_string()).set_by(SOUP).tip(tr!(
            "the same seed gives the same start everywhere; N takes the next one"
        )));
    }
    if let Some(percent) = Setting::Density.value(status) {
        figures.push(figure(tr!("density"), percent).set_by(SOUP).tip(tr!(
            "the fraction of live cells that every lattice started with; another one starts them again"
        )));
    }
    figures.push(
        figure(tr!("selected"), tr!("instance {}", status.panels.selected)).tip(tr!(
            "the panel that keys act on; click one, or use PgUp and PgDn"
        )),
    );
    if options.colour_by != ColourBy::State && status.setting.transfer == Transfer::View {
        figures.push(figure(tr!("colours"), tr!("by state")).tip(tr!(
            "ages need every cell, but only a reduced view crosses the bus; {key} changes that",
            key = Switch::Transfer.key()
        )));
    }
    figures
}

/// Figures about time: target generation, settled panels, when rounds stop.
fn time(status: &Status) -> Vec<Figure> {
    let panels = &status.panels;
    let mut figures = Vec::new();
    if let Some(generation) = status.clock.run_to {
        figures.push(figure(tr!("target generation"), grouped(generation)));
    }
    if !panels.settled.is_empty() {
        let settled = panels.settled.iter().flatten().count() as u64;
        let of = grouped(panels.settled.len() as u64);
        figures.push(figure(
            tr!("still or periodic"),
            tr!("{} of {of}", grouped(settled)),
        ));
    }
    match status.setting.time.stop_when_still {
        StopWhenStill::Never => {}
        StopWhenStill::Selected => figures.push(figure(tr!("stops when still"), tr!("selected"))),
        StopWhenStill::All => figures.push(figure(tr!("stops when still"), tr!("all"))),
    }
    figures
}

/// What takes the chosen kernel back where another one steps.
fn taken_back(status: &Status) -> Option<String> {
    let chosen = status.setting.chosen_kernel?.name;
    Some(match status.setting.pace {
        Pace::Maximum => tr!(
            "{key} takes {chosen} back",
            key = Action::from(SessionAction::Slower).key()
        ),
        _ => tr!("then {chosen} again"),
    })
}

fn kernel(status: &Status) -> Vec<Figure> {
    let name = match status.setting.kernel_choice {
        KernelChoice::Estimated => tr!("kernel (auto)"),
        _ => tr!("kernel"),
    };
    let kernel = status.setting.kernel;
    let note = match taken_back(status) {
        Some(note) => note,
        None if kernel.stepping(status.lattices.rule) == kernel => kernel.idea().into_owned(),
        None => tr!(
            "it does not step {rule}: {rung} does instead",
            rule = status.lattices.rule,
            rung = kernel.rung().file
        ),
    };
    vec![
        figure(name, kernel.name)
            .set_by(KERNEL)
            .with_note(note)
            .tip(tr!(
                "the device function that steps the lattices; K takes the next one"
            ))
            .wide(),
        figure(
            tr!("generations per round"),
            status.setting.generations_per_round.to_string(),
        )
        .set_by(&[Setting::GenerationsPerRound])
        .tip(tr!(
            "how many generations every lattice advances between two pictures"
        )),
    ]
}

/// The number of lattices that are stepped; while A and B are compared, that of each.
fn count(status: &Status) -> String {
    match &status.lab.comparison {
        Some(both) => format!("2 × {}", both.each),
        None => grouped(status.lattices.instances as u64),
    }
}

/// The width and the height of the lattices.
fn sides(status: &Status) -> String {
    match (status.lattices.size.width, status.lattices.size.height) {
        (width, height) if width == height => format!("{width}²"),
        (width, height) => format!("{width} × {height}"),
    }
}

/// The position of a switch; A's and B's, where these differ.
fn position(switch: Switch, status: &Status) -> String {
    let setting = &status.setting;
    let both = status.lab.comparison.as_ref().map(|it| it.switches);
    let label = |of| switch.choice(of, setting.context()).label;
    let mut labels = Vec::from(both.unwrap_or([setting.switches; 2]).map(label));
    labels.dedup();
    labels.join(" / ")
}

fn switches(status: &Status) -> Vec<Figure> {
    let transfer = match status.setting.transfer {
        Transfer::Bits | Transfer::Rows { .. } => tr!("bits"),
        Transfer::View => tr!("view"),
        Transfer::Cells => "i32",
        Transfer::Measure => "measure",
    };
    vec![
        figure(tr!("streams"), position(Switch::Streams, status))
            .set_by(STREAMS)
            .tip(tr!(
                "the CUDA streams in which the lattices are stepped and downloaded; {key} changes this",
                key = Switch::Streams.key()
            )),
        figure(tr!("host memory"), position(Switch::HostMemory, status))
        .set_by(&[Setting::Switch(Switch::HostMemory)])
        .tip(tr!(
            "where downloads land: page-locked memory, or pageable, for which a copy keeps the host waiting; {key} changes this",
            key = Switch::HostMemory.key()
        )),
        figure(tr!("graphs"), position(Switch::Graphs, status))
        .set_by(&[Setting::Switch(Switch::Graphs)])
        .tip(tr!(
            "whether a round is one launch of a prepared CUDA graph; {key} changes this",
            key = Switch::Graphs.key()
        )),
        figure(tr!("transfer"), transfer)
            .set_by(&[Setting::Switch(Switch::Transfer)])
            .tip(tr!(
                "what crosses the bus for a picture: a bit or 4 bytes per cell, or a byte per pixel; {key} changes this",
                key = Switch::Transfer.key()
            )),
    ]
}

fn machine(status: &Status, drawing: &Drawing) -> Vec<Figure> {
    let device = match status.engine.devices.as_slice() {
        [] => UNKNOWN.into(),
        [one] => one.name.clone(),
        [first, rest @ ..] if rest.iter().all(|device| device.name == first.name) => {
            format!("{} × {}", status.engine.devices.len(), first.name)
        }
        all => all
            .iter()
            .map(|device| device.name.as_str())
            .collect::<Vec<_>>()
            .join(", "),
    };
    let driver = status
        .engine
        .devices
        .first()
        .map_or(String::new(), |device| device.driver.clone());
    let driver = if status.engine.is_cpu() {
        tr!(
            "{driver}; {key}: rounds recorded on a GPU",
            key = Action::from(SessionAction::ToggleRecorded).key()
        )
    } else {
        driver
    };
    let title = tr!("compute device ({})", lang::text(status.engine.name));
    let mut figures = vec![
        figure(&title, device)
            .with_note(driver)
            .recorded(status.lab.recording.is_some())
            .tip(if status.engine.cut.is_some() {
                tr!("the devices that step the lattices; each has bands of every lattice")
            } else {
                tr!("the device that steps the lattices")
            })
            .wide(),
    ];
    if let Some(adapter) = &drawing.adapter {
        let draws = figure(&tr!("drawing device ({})", adapter.backend), &*adapter.name);
        figures.push(draws.tip(tr!("the device that draws this window")).wide());
    }
    figures
}

/// Sentences, the most urgent first.
fn messages(status: &Status, drawing: &Drawing) -> Vec<(Urgency, Message)> {
    let mut messages = Vec::new();
    if let Some(failed) = &status.failed {
        messages.push((Failure, failed.clone()));
    }
    for notice in [&drawing.notice, &status.notice].into_iter().flatten() {
        messages.push((Notice, notice.clone()));
    }
    // What a step of a lecture has found, the step says if it was asked.
    let step = drawing.lecture.as_ref();
    let is_said = step.is_some_and(|it| !it.result.is_empty());
    let effect = status.lab.last_effect.as_ref();
    if let Some(effect) = effect.filter(|_| status.lab.tells_effect && !is_said) {
        let effect = effect.clone();
        let sentence = match effect.finding {
            None => effect.what,
            Some(_) => Message::new(move || effect.in_words()),
        };
        messages.push((Effect, sentence));
    }
    let adapter = drawing.adapter.as_ref();
    let mut warn = |sentence| messages.push((Warning, sentence));
    if drawing.forwarded {
        warn(message!("Shown over forwarded X: at most 30 frames/s"));
    } else if adapter.is_some_and(|it| it.software) {
        warn(message!("Drawn in software: at most 30 frames/s"));
    }
    if adapter.is_some_and(|it| it.is_one_of(&status.engine.devices)) {
        warn(message!(
            "The compute GPU also draws the window, which distorts the timings"
        ));
    }
    messages
}
