//! What rows, fields, figures, findings, charts, calls and the pages of lessons and lectures say, in
//! states that have names. All of it is stored, so that a word, a key or a figure that changes shows:
//! of each state what the first one does not say.

use std::sync::Arc;

use crate::actions::{Chord, Setting, TABLE, search};
use crate::fixtures::*;
use crate::timeline::row_name;
use crate::*;
use engine::kernels::{KERNELS, find};
use engine::{Cut, HostMemory, Span, Transfer};
use lang::Language;
use life::Size;
use session::trace::TimedRound;
use session::*;
use similar::TextDiff;
use test_support::compare_with_stored;

/// What is said depends on this.
struct State {
    status: Status,
    app: App,
    round: TimedRound,
}

/// What is on screen.
#[derive(Debug)]
#[expect(dead_code, reason = "all of it is stored")]
struct Screen {
    figures: Option<figures::Figures>,
    finding: Option<finding::Headline>,
    recorded: Option<RecordedTexts>,
    comparison: Option<finding::ComparisonTexts>,
    overlap: Option<String>,
    round: Option<()>,
    round_before: Option<()>,
    drawn: Option<String>,
    lab: Option<lab::Lab>,
    ladder: Option<LadderChart>,
    source: Option<()>,
    population: Option<PopulationChart>,
}

/// A window's, without a session.
fn app() -> App {
    let mut app = App::new(AppOptions::default(), Arc::new(|| {}), Arc::default());
    app.in_window = true;
    app
}

impl State {
    fn first() -> State {
        let mut status = status(16, size(512, 512));
        status.engine.devices[0].name = DEVICE.into();
        State {
            status,
            app: app(),
            round: timed_round(2),
        }
    }

    fn switch(&mut self) -> &mut Switches {
        &mut self.status.setting.switches
    }

    /// With these switches, and a round that was timed with them.
    fn switched(switches: Switches) -> State {
        let mut it = State::first();
        (it.status.setting.switches, it.round.switches) = (switches, switches);
        if switches.graphs {
            it.round.replayed = true;
            it.round.host.truncate(1);
            it.round.host[0].step = Span::WHOLE;
        }
        it
    }

    fn found(&mut self, finding: Option<Finding>, source: Source) {
        self.status.lab.tells_effect = true;
        self.status.lab.last_effect = Some(Effect {
            finding,
            source,
            ..effect()
        });
    }

    fn compare(&mut self, b: Switches, finding: Option<Finding>) {
        self.status.lab.comparison = Some(AbComparison {
            finding,
            ..comparison(b)
        });
    }

    fn own_round(&mut self, instances: usize) {
        let source = "for i in 0..N { advance(i, 0); record(i, 0); wait(i, 1); download(i, 1); }";
        self.status.lattices.instances = instances;
        self.switch().order = Order::Own;
        let own = OwnRound::new(source.into(), instances);
        self.status.setting.own_round = Some(Arc::new(own));
    }

    /// Gives each step of the round a GPU and a lattice, by its stream.
    fn place(&mut self, streams: Streams, on: fn(u32) -> (Option<u16>, u32)) {
        self.round.switches.streams = streams;
        for facts in Arc::get_mut(&mut self.round.steps).unwrap() {
            let (gpu, instance) = on(facts.stream.0);
            (facts.gpu, facts.instance) = (gpu, Some(instance));
        }
    }

    /// All of it, line by line.
    fn said(&mut self) -> String {
        let mut timeline = Timeline::default();
        timeline.update(&Timed(self.round.clone(), None));
        timeline.judge(&self.status, &self.app.drawing);
        self.app.options.timeline = true;
        let (status, judged) = (&self.status, timeline.diagnosis.as_ref());
        self.app.status = Some(Arc::new(status.clone()));
        let mut starting = app();
        starting.options.clone_from(&self.app.options);
        starting.drawing.clone_from(&self.app.drawing);
        starting.in_window = false;
        let rows = TABLE.iter().map(|row| {
            let says = [&self.app, &starting].map(|it| {
                let action = row.action;
                let why = action.refused(it).or(action.unavailable(it));
                (row.is_on(it), row.position_in_words(it), why)
            });
            format!("{} | {} | {says:?}", row.keys(), row.help())
        });
        let others = [Setting::Kernel, Setting::Pace].into_iter();
        let others = others.chain(Switch::ALL.map(Setting::Switch));
        let fields = Setting::TYPED.into_iter().chain(others).map(|it| {
            let texts = [it.title().into(), it.example(), it.present(status)];
            let choices = it.choices(status).into_iter();
            let choices = choices.map(|it| format!("    {:?} {it:?}\n", it.text(status)));
            let choices: String = choices.collect();
            format!("{texts:?}\n{choices}")
        });
        let rows: Vec<String> = rows.collect();
        let fields: String = fields.collect();
        let ladder = LadderChart::of(status);
        let tips: Vec<_> = ladder.rungs.iter().map(ladder::Rung::tip).collect();
        let mut population = PopulationChart::of(&self.app.population, status);
        population.samples.clear();
        let source = RungSource::shown(&self.app.options, status);
        let source = source.map(|source| source.lines);
        let source = format!("{source:#?}");
        let mut lab = lab::Lab::of(status);
        let positions = lab.switches.iter_mut().flat_map(|row| &mut row.positions);
        positions.for_each(|it| it.switches = Switches::DEFAULT); // its label says the one that matters
        let screen = Screen {
            figures: Some(figures::figures(
                status,
                &self.app.options,
                &self.app.drawing,
            )),
            finding: finding::headline(status),
            recorded: RecordedTexts::of(status),
            comparison: finding::ComparisonTexts::of(status),
            overlap: diagnosis::overlap_in_words(judged, status),
            round: None,
            round_before: None,
            drawn: timeline.drawn_in_words(status),
            lab: Some(lab),
            ladder: Some(ladder),
            population: Some(population),
            source: None,
        };
        let kernel = status.setting.kernel;
        let causes = judged
            .map_or(Vec::new(), diagnosis::Diagnosis::causes)
            .into_iter();
        let causes = causes.map(|it| judged.unwrap().evidence(it, kernel));
        let causes: Vec<_> = causes.collect();
        let tip = diagnosis::describe(judged, status);
        let first = judged.and_then(|it| it.first_cause(kernel));
        let overlap = (tip, diagnosis::round_time(status), first, causes);
        let chart = timeline.chart.unwrap();
        let lanes = &chart.lanes;
        let bars = lanes
            .iter()
            .flat_map(|lane| &lane.bars)
            .chain(&chart.host.bars);
        let bars = bars.map(|bar| (chart.name(bar), chart.describe(bar)));
        let bars: String = bars.map(|bar| format!("{bar:?}\n")).collect();
        let lanes = (row_name(lanes), chart.wall, chart.whole);
        format!(
            "{rows:#?}\n{fields}{screen:#?}\n{overlap:#?}\n{source}\n{tips:#?}\n{lanes:?}\n{bars}"
        )
    }
}

fn size(width: u64, height: u64) -> Size {
    Size::new(width, height).unwrap()
}

fn loaded() -> Source {
    let mut load = Load::default();
    load.add(1.0, 1.5, true);
    load.add(1.0, 1.5, false);
    Source::MeasuredHere(load)
}

const ONE: Switches = Switches {
    streams: Streams::One,
    ..Switches::DEFAULT
};

/// In every position that the defaults have not.
const OTHERS: Switches = Switches {
    streams: Streams::PerInstance,
    host_memory: HostMemory::Pageable,
    wait: Wait::Each,
    order: Order::Depth,
    graphs: true,
    transfer: TransferChoice::View,
    block: Some((32, 32)),
};

type Named = (&'static str, fn(&mut State));

const STATES: &[Named] = &[
    ("paused, on its way to a generation", |it| {
        let clock = &mut it.status.clock;
        (clock.running, clock.run_to) = (false, Some(200_000));
    }),
    ("recomputing", |it| {
        it.status.clock.recomputing = Some(Recomputing {
            target: 100,
            percent: 25,
            seconds_left: None,
        });
    }),
    ("ended", |it| it.status.failed = Some("it failed".into())),
    ("one lattice", |it| it.status.lattices.instances = 1),
    ("all is shown", |it| {
        it.app.drawing.fullscreen = true;
        it.app.drawing.lecture = Some(lecture_screen());
        it.app.options = ViewOptions {
            hides_minimap: true,
            theme: 1,
            colour_by: ColourBy::Age,
            grid_lines: true,
            single: true,
            presentation: true,
            side: Some(SidePanel::Ladder),
            source: Some(1),
            population_of_all: true,
            ..ViewOptions::default()
        };
        it.app.edit_overlay.tool = Tool::Pencil;
    }),
    ("the lab, an area", |it| {
        it.app.options.side = Some(SidePanel::Lab);
        it.app.options.colour_by = ColourBy::History;
        it.app.edit_overlay.tool = Tool::Selection;
        it.app.edit_overlay.ghost = Some(Ghost {
            pattern: life::Lattice::new(size(2, 2)).into(),
            at: None,
        });
    }),
    ("settled", |it| {
        it.status.panels.settled = [Some(Settled::Period(2)), None].into();
        it.status.setting.time.stop_when_still = StopWhenStill::Selected;
        it.status.setting.time.reseed = true;
    }),
    ("counted", |it| {
        it.status.panels.settled = [Some(Settled::Repeats(60)), Some(Settled::Dead)].into();
        it.status.setting.time.stop_when_still = StopWhenStill::All;
        it.app
            .population
            .update(&Timed(timed_round(1), None), &it.status, &it.app.options);
    }),
    ("counted together", |it| {
        it.app.options.population_of_all = true;
        it.app.options.side = Some(SidePanel::Population);
        it.app
            .population
            .update(&Timed(timed_round(1), None), &it.status, &it.app.options);
    }),
    ("as fast as can be, with another kernel", |it| {
        it.status.setting.pace = Pace::Maximum;
        it.status.setting.chosen_kernel = find("bits");
        it.status.setting.kernel_choice = KernelChoice::Estimated;
        (it.status.rates.launch_us, it.status.rates.stepping) = (None, None);
    }),
    ("unthrottled, another rule and device", |it| {
        it.status.setting.pace = Pace::Unthrottled;
        it.status.setting.chosen_kernel = find("bits");
        it.status.lattices.rule = "B36/S23".parse().unwrap();
        it.status.engine.devices[0].name = "another".into();
        it.status.rates.timed_one_in = 1;
        (it.status.lattices.seed, it.status.lattices.density) = (None, None);
    }),
    // 4096 / 4 rows and both halos; its own rows of 16 words each are downloaded.
    ("in bands of two GPUs", |it| {
        let engine = &mut it.status.engine;
        (engine.cut, engine.clock_error_us) = (Some(Cut::DEFAULT), 14.0);
        engine.devices.push(engine.devices[0].clone());
        it.status.lattices.size = size(512, 4096);
        it.switch().graphs = true;
        it.status.setting.kernel = find("multistep").unwrap();
        it.place(Streams::PerInstance, |stream| (Some(1), stream / 2));
    }),
    ("lanes of two GPUs", |it| {
        it.place(Streams::PerInstance, |stream| (Some(1 - stream as u16), 3));
    }),
    ("a shared lane of a GPU", |it| {
        it.round = serial_round(2);
        it.place(Streams::One, |_| (Some(1), 0));
    }),
    ("one stream", |it| {
        (*it.switch(), it.round) = (ONE, serial_round(2));
        it.status.lab.isolated = Some(isolated(&it.round, 0.3));
    }),
    ("a graph in one stream, submitted at once", |it| {
        (it.switch().graphs, it.switch().streams) = (true, Streams::One);
        it.round.host.truncate(1);
        it.round.host[0].step = Span::WHOLE;
    }),
    ("views", |it| {
        it.status.setting.transfer = Transfer::View;
        it.app.options.colour_by = ColourBy::Age;
    }),
    ("cells", |it| it.status.setting.transfer = Transfer::Cells),
    ("an own round", |it| it.own_round(2)),
    ("a long own round", |it| it.own_round(40)),
    ("slower", |it| it.found(effect().finding, Source::default())),
    ("faster under load", |it| {
        it.status.engine.name = "cpu";
        it.found(Some(Finding::of(2.0, [1.9, 2.1])), loaded());
    }),
    ("recorded", |it| {
        it.found(effect().finding, Source::RecordedOn(recorded()));
        it.status.lab.recording = Some(RecordedStatus {
            recorded: recorded(),
            nearest: None,
            pace: Some(1.0),
        });
    }),
    ("not recorded", |it| {
        it.found(None, Source::RecordedOn(recorded()));
        (it.status.rates.round_us, it.status.lab.isolated) = (None, None);
        it.status.lab.recording = Some(RecordedStatus {
            recorded: recorded(),
            nearest: Some(("bits", ONE)),
            pace: Some(0.004),
        });
    }),
    ("not found yet", |it| it.found(None, Source::default())),
    ("A and B", |it| {
        it.compare(ONE, Some(Finding::of(0.25, [0.24, 0.26])))
    }),
    ("A and B alike", |it| {
        it.compare(ONE, Some(Finding::of(1.0, [0.99, 1.015])));
        it.status.lab.comparison.as_mut().unwrap().differing = Some((1, 9));
    }),
    ("A and B unclear, recorded", |it| {
        it.compare(ONE, Some(Finding::of(1.0, [0.99, 1.09])));
        let compared = it.status.lab.comparison.as_mut().unwrap();
        (compared.source, compared.differing) = (Source::RecordedOn(recorded()), Some((0, 60)));
    }),
    ("A and B, not found yet", |it| {
        it.compare(OTHERS, None);
        let compared = it.status.lab.comparison.as_mut().unwrap();
        (compared.switches[0], compared.differing) = (ONE, None);
        compared.round_us[1] = None;
    }),
    ("A and B equal", |it| {
        it.compare(Switches::DEFAULT, Some(Finding::of(1.1, [0.8, 1.5])))
    }),
];

/// The first pages of all lessons: what they ask, and their programs.
fn lessons() -> String {
    let setup = Setup::new(2, size(32, 32), find("bits").unwrap(), DeviceChoice::Cpu);
    let session = Session::start(setup, || {}).unwrap();
    let mut lessons = Lessons::new(Arc::new(|| {}));
    let pages = ::lesson::LESSONS.iter().map(|lesson| {
        lessons.open(&session, lesson);
        lessons.update();
        format!("{:#?}\n", lessons.screen())
    });
    pages.collect()
}

/// What fields make of a text, what a search finds, and the steps of the interface's size.
fn typed() -> String {
    let texts = "|0|7|30|30 %|100 %|0.375|1.5|NaN|-3|+3| 5,206 |1_000_000|1,024|4097|99999999999999999999|512|\
        64 x 32|512x|b36s23|high life|B9/S2|HiLife";
    let read = texts.split('|').flat_map(|typed| {
        let read = |it: Setting| format!("{it:?} {typed:?}: {:?}\n", it.read(typed));
        Setting::TYPED.map(read)
    });
    let searched = "gif xyzzy instances size rule density generations 实例 大小 规则 密度 代数";
    let searched = searched.split(' ').map(|typed| {
        let words = search::words(typed);
        let found = TABLE.iter().filter(|row| row.is_found_by(&words));
        format!(
            "{typed}: {:?}\n",
            found.map(|row| row.help).collect::<Vec<_>>()
        )
    });
    let steps = [-1, 1].into_iter().map(|by| {
        let next = |it: &InterfaceScale| it.larger(by);
        let steps = std::iter::successors(Some(InterfaceScale::default()), next);
        format!(
            "{:?}\n",
            steps.map(InterfaceScale::percent).collect::<Vec<_>>()
        )
    });
    read.chain(searched).chain(steps).collect()
}

#[test]
fn all_words_are_those_that_are_stored() {
    let first = State::first().said();
    let chinese = test_support::with(Language::Chinese, || {
        [State::first().said(), typed()].concat()
    });
    let mut found = [&*first, &typed(), &chinese, &lessons()].concat();
    let mut states: Vec<(String, State)> = Vec::new();
    for (name, change) in STATES {
        let mut state = State::first();
        change(&mut state);
        states.push((name.to_string(), state));
    }
    for choice in Switch::ALL
        .iter()
        .flat_map(|it| it.choices(Switches::DEFAULT, &KERNELS[0]))
    {
        states.push((choice.effect, State::switched(choice.switches)));
    }
    for kernel in KERNELS.iter().filter(|it| it.supports(size(128, 128))) {
        for generations in [6, 100] {
            let mut state = State::first();
            state.status.lattices.size = size(128, 128);
            state.status.setting.kernel = kernel;
            state.status.setting.generations_per_round = generations;
            states.push((format!("{}, {generations}", kernel.name), state));
        }
    }
    for (name, mut state) in states {
        let said = state.said();
        let differs = TextDiff::from_lines(&first, &said);
        let lines = differs
            .unified_diff()
            .context_radius(0)
            .header("", &name)
            .to_string();
        let lines = lines
            .lines()
            .filter(|line| !line.starts_with("@@") && *line != "--- ");
        found.extend(lines.flat_map(|line| [line, "\n"]));
    }
    compare_with_stored("words.txt", &found);
}

/// What a key asks for while nothing, a page or a step of a lecture is open, and what the
/// steps say: `=` is what the key asks for otherwise, `-` nothing.
#[test]
fn keys_and_steps_of_a_lecture_are_those_that_are_stored() {
    let folder = tempfile::tempdir().unwrap();
    let lecture = lecture_options(folder.path());
    let setup = lecture.lecture.steps[0].setup.clone();
    let mut step = app();
    step.lecture = Some(LectureRun::new(lecture));
    step.start(Session::start(setup, || {}).unwrap());
    let names = TABLE.iter().flat_map(|row| row.chords());
    let digits = ('1'..='9').filter_map(|digit| Chord::named(&digit.to_string()));
    let chords: Vec<Chord> = names.chain(digits).collect();
    let asks = |app: &App| {
        let asked = Some(Action::from(SessionAction::TogglePause));
        let ask = |chord: &Chord| {
            let with_ctrl = Chord {
                ctrl: true,
                ..*chord
            };
            assert_eq!(app.remap_key(with_ctrl, asked), asked, "{with_ctrl}");
            match app.remap_key(*chord, asked) {
                None => "-".into(),
                Some(Action::View(action)) => format!("{action:?}"),
                Some(_) => "=".to_owned(),
            }
        };
        chords.iter().map(ask).collect::<Vec<_>>()
    };
    let [closed, at_step] = [&app(), &step].map(asks);
    step.with_lessons(|lessons, session| lessons.open(session, &::lesson::LESSONS[0]));
    let on_page = asks(&step);
    step.with_lessons(Lessons::close);
    let mut said = String::new();
    for forward in [true, true, true, false] {
        step.predict(1);
        step.look();
        step.update();
        said += &format!("{:#?}\n{:?}\n", step.drawing.lecture, step.lessons.answer());
        step.turn_page(forward);
    }
    step.toggle_lecture();
    assert_eq!(asks(&step), closed, "it is left");
    for (at, chord) in chords.iter().enumerate() {
        let all = [&closed, &on_page, &at_step].map(|it| &*it[at]);
        said += &format!("{chord}: {}\n", all.join(" | "));
    }
    compare_with_stored("lecture-keys.txt", &said);
}
