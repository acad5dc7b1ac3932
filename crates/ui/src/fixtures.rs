//! Made-up sessions for tests of drawing, and how far colours are apart.

use crate::rung_source::side_by_side;
use crate::theme::Rgb;
use crate::{
    Chart, Lecture, LectureOptions, LecturePanel, LectureScreen, LectureStep, LessonChoice,
    LessonColumn, LessonPage, Notes, TimeBar,
};
use engine::{
    BlockTimestamp, DeviceId, DeviceInfo, Measure, Nanos, Op, OrderOp, ReduceRegion, Scope, Slot,
    Span, StreamId, kernels,
};
use lang::{mark, tr};
use lesson::{LessonImage, OpFigures, Speedup, SpeedupPoint, SpeedupSeries, factor_in_words};
use life::{Lattice, Rule, Size};
use session::trace::{StepFacts, StepKind, TimedRound};
use session::{
    AbComparison, DeviceChoice, Effect, EngineStatus, Finding, IsolatedOp, Pace, Picture,
    PictureSource, RateStatus, Recorded, Series, Setup, Source, Status, Streams, Switches, Trace,
    recorded_in_words,
};
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

/// The figures of a session that does well.
pub fn status(instances: usize, size: Size) -> Status {
    let kernel = kernels::find("sync-global").unwrap();
    let setup = Setup::new(instances, size, kernel, DeviceChoice::Cpu);
    let mut status = Status::before_start(&setup);
    (status.lattices.seed, status.lattices.density) = (Some(1), Some(0.3));
    status.setting.pace = Pace::PerSecond(60.0);
    status.setting.bytes_per_round = (4 * size.words() * instances) as u64;
    status.clock.generation = 123_456;
    status.engine = EngineStatus {
        name: "cuda",
        devices: vec![DeviceInfo {
            name: "NVIDIA H200".into(),
            driver: "CUDA driver 13.0, sm_90".into(),
            capability: Some((9, 0)),
            sm_count: 132,
            cache: Some(50 << 20),
            bandwidth: None,
            copy_engines: 3,
            kernel_time_limit: false,
            memory: Some(141 << 30),
            pci_bus_id: Some("0000:17:00.0".into()),
        }],
        queues: Some(32),
        ..EngineStatus::default()
    };
    status.rates = RateStatus {
        rounds: 123_456,
        rounds_per_second: 59.94,
        generations_per_second: 1_123_456.0,
        cells_per_second: 4.714e12,
        launch_us: Some(12.34),
        round_us: Some(170.0),
        timed_one_in: 8,
        stepping: Some(2.47e11),
        reached: vec![(kernel.name, 2.47e11)],
    };
    status
}

/// The effect of one stream for all instances: a round takes twelve times as long.
pub fn effect() -> Effect {
    Effect {
        what: lang::message!("one stream for all instances"),
        round_us: [Some(170.0), Some(2180.0)],
        source: Source::default(),
        finding: Some(Finding::of(0.078, [0.0765, 0.0794])),
    }
}

/// A comparison of the default settings with these, on eight instances each: B takes ten times as long.
pub fn comparison(b: Switches) -> AbComparison {
    AbComparison {
        switches: [Switches::DEFAULT, b],
        round_us: [Some(123.4), Some(1234.5)],
        source: Source::default(),
        finding: Some(Finding::of(0.1, [0.09, 0.11])),
        differing: Some((3, 123_456)),
        each: 8,
    }
}

/// A round of this many streams: a launch, a reduction and a download in each, which overlap, and
/// an upload in the first.
pub fn timed_round(streams: u32) -> TimedRound {
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
            instances: 1,
            cells: 262_144,
            bytes,
            ..StepFacts::default()
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
        ..TimedRound::default()
    }
}

/// The same ops one after the other in one stream.
pub fn serial_round(instances: u32) -> TimedRound {
    let mut round = timed_round(instances);
    let stream = StreamId(0);
    let mut end = Nanos(0);
    for span in &mut round.spans {
        let length = span.length();
        span.stream = stream;
        span.start = end.max(span.start);
        end = Nanos(span.start.0 + length.0);
        span.end = end;
    }
    let steps = round.steps.iter();
    round.steps = steps.map(|facts| StepFacts { stream, ..*facts }).collect();
    round.switches.streams = Streams::One;
    round
}

/// What each op of a round takes alone, if it takes as long in it, and a launch fills this part of the
/// device.
pub fn isolated(round: &TimedRound, share: f64) -> Arc<[IsolatedOp]> {
    let op = |span: &Span| {
        let facts = round.steps[span.step as usize];
        IsolatedOp {
            facts,
            device: DeviceId(0),
            took: span.length(),
            share: match facts.kind {
                StepKind::Launch => share,
                _ => 0.0,
            },
        }
    };
    round.spans.iter().map(op).collect()
}

/// The same round with the block timestamps of `sm_count` SMs: instance i runs its blocks on SMs i,
/// i + 37, ….
pub fn round_with_block_timestamps(streams: u32, sm_count: u32) -> TimedRound {
    let mut round = timed_round(streams);
    let launches = round.spans.iter().filter(|span| {
        let facts = &round.steps[span.step as usize];
        facts.kind == StepKind::Launch
    });
    let mut timestamps = Vec::new();
    for span in launches {
        let (first, length) = (span.stream.0, span.length().0);
        for block in 0..(sm_count / streams.max(1)).max(1) {
            let sm = (first + 37 * block) % sm_count;
            let start = span.start.0 + 800 + 130 * i64::from(block);
            let end = start + length - 1_500 - i64::from(997 * block % 4_000);
            for (start, end) in [(start, (start + end) / 2), ((start + end) / 2 + 90, end)] {
                timestamps.push(BlockTimestamp {
                    step: span.step,
                    sm,
                    start: Nanos(start),
                    end: Nanos(end),
                });
            }
        }
    }
    round.block_timestamps = timestamps;
    round
}

/// The same round with the host waiting for the device at its end.
pub fn waited_round(streams: u32) -> TimedRound {
    let mut round = timed_round(streams);
    let (_, end) = round.bounds().unwrap();
    let start = round.host.last().unwrap().end;
    let (step, stream) = (round.steps.len() as u32, StreamId(0));
    let waits = StepFacts {
        label: Op::Order(OrderOp::Synchronize(Scope::Device)).label(),
        kind: StepKind::Event,
        ..StepFacts::default()
    };
    round.steps = round.steps.iter().copied().chain([waits]).collect();
    let span = |start: Nanos, end: Nanos| Span {
        step,
        stream,
        start,
        end,
    };
    round
        .host
        .push(span(Nanos(start.0 + 400), Nanos(end.0 + 3_000)));
    round.spans.push(span(end, end));
    round
}

/// A made-up source of a round that is always newer than any seen, of the one before a change if there was one,
/// and of the population of a soup that settles, from generation 12,000 on.
pub struct Timed(pub TimedRound, pub Option<TimedRound>);

impl PictureSource for Timed {
    fn visit_newer(&self, _: &mut [u64], _: &mut dyn FnMut(usize, &Picture, &[u32])) {}

    fn newer_trace(&self, seen: u64) -> Option<Trace> {
        let mut trace = Trace::default();
        trace.replace(Some(self.0.clone()), self.1.clone());
        trace.sequence = seen + 1;
        Some(trace)
    }

    fn newer_population(&self, _: Option<usize>, seen: u64) -> Option<(u64, Series)> {
        let mut series = Series::default();
        for t in 0..3000u64 {
            let fades = (-(t as f64) / 700.0).exp();
            let wave = (t as f64 / 40.0).sin();
            let change = 350.0 + 9000.0 * fades;
            let measure = Measure {
                population: (9000.0 + 70_000.0 * fades + 900.0 * wave) as u64,
                births: change as u64,
                deaths: (change * (1.1 - 0.05 * wave)) as u64,
                hash: t,
            };
            series.push(12_000 + t, measure);
        }
        Some((seen + 1, series))
    }
}

/// A step of a lecture with everything that one may have.
pub fn lecture_screen() -> LectureScreen {
    let choices = [1.0, 0.25, 0.0625].into_iter().enumerate();
    LectureScreen {
        number: 2,
        of: 7,
        text: lang::shown(
            "4 MiB go to the device and come back by an asynchronous copy: from and to pageable memory, then from and to page-locked memory.",
        ),
        question: lang::shown(
            "The same asynchronous copy from page-locked instead of pageable memory: how much faster is it?",
        ),
        choices: choices
            .map(|(at, factor)| LessonChoice {
                text: factor_in_words(factor),
                is_chosen: at == 2,
                is_right: false,
            })
            .collect(),
        may_have_result: true,
        result: tr!(
            "You: {predicted} · {device}: {measured}",
            predicted = "2×",
            device = DEVICE,
            measured = "3×"
        ),
        is_right: false,
    }
}

fn lecture_step(change: impl FnOnce(&mut Setup)) -> LectureStep {
    let kernel = kernels::find("bits").unwrap();
    let mut setup = Setup::new(4, Size::new(64, 64).unwrap(), kernel, DeviceChoice::Cpu);
    setup.pace = Pace::PerSecond(60.0);
    change(&mut setup);
    LectureStep {
        setup,
        shows: None,
        lesson: None,
        text: Some("Look".into()),
        question: None,
        choices: Vec::new(),
        note: None,
    }
}

/// A lecture: a question about one stream, then the answer, a lesson, and other lattices.
pub fn lecture_options(folder: &Path) -> LectureOptions {
    let steps = vec![
        LectureStep {
            question: Some("How much slower?".into()),
            choices: vec![1.0, 0.5, 0.25],
            note: Some("Ask the class.".into()),
            shows: Some(vec![LecturePanel::Timeline]),
            ..lecture_step(|_| {})
        },
        lecture_step(|setup| setup.setting.switches.streams = Streams::One),
        LectureStep {
            lesson: lesson::find("barrier"),
            ..lecture_step(|setup| setup.setting.switches.streams = Streams::One)
        },
        lecture_step(|setup| {
            setup.instances = 2;
            setup.size = Size::new(256, 192).unwrap();
            setup.setting.kernel = kernels::find("sync-global").unwrap();
            setup.setting.switches.graphs = true;
            setup.generations_per_round = 3;
            setup.pace = Pace::PerSecond(30.0);
        }),
    ];
    LectureOptions {
        lecture: Lecture {
            title: "A lecture".into(),
            steps,
        },
        notes: Notes::File(folder.join("notes")),
        report: Some(folder.join("report.html")),
    }
}

/// A page with everything that a measured page may have.
pub fn lesson_page(picture: bool) -> Box<LessonPage> {
    let pixels: Arc<[u8]> = (0..64 * 64)
        .flat_map(|at: u32| {
            let (x, y) = (at % 64 * 4, at / 64 * 4);
            [x as u8, y as u8, (x ^ y) as u8, 255]
        })
        .collect();
    let bar = |label: &str, milliseconds: f64, is_prediction: bool| TimeBar {
        label: lang::shown(label),
        milliseconds,
        interval: (!is_prediction).then_some([0.9 * milliseconds, 1.05 * milliseconds]),
        text: format!("{milliseconds:.1} ms"),
        is_prediction,
    };
    let mut page = question_page();
    for (column, ms) in page.columns.iter_mut().zip(["12.4 ms", "11.9 ms"]) {
        column.figures = vec![(lang::shown("a frame"), ms.into())];
        column.ops = vec![OpFigures {
            label: mark!("download"),
            count: 4,
            length_ms: 0.0135,
            call_ms: Some(0.002),
            done_ms: Some(0.1),
            bytes: 131_072,
        }];
    }
    page.columns[0].note = lang::shown(
        "this engine swaps its two buffers anyway; the copy back is made between two others of the same size",
    );
    let picture = picture.then_some(LessonImage {
        part: mark!("a stream each"),
        width: 64,
        height: 64,
        rgba: pixels,
    });
    let rounds = [timed_round(4), timed_round(4)].map(Arc::new).into();
    Box::new(LessonPage {
        number: 2,
        intro: String::new(),
        rounds: Chart::on_one_axis(rounds),
        bars: vec![
            bar("one stream, as in the book", 12.4, false),
            bar("four streams, as in the book", 11.9, false),
            bar("predicted: four streams, as in the book", 3.1, true),
        ],
        conclusion: lang::shown(
            "The host waits in every copy to pageable memory, and has not yet issued the next stream's work by then.",
        ),
        note: lang::shown("page-locked memory, all launches first, nothing copied back"),
        checks: vec![
            (lang::shown("two generations of the lattice"), true),
            (
                lang::shown(
                    "the array returned unchanged, except for the value that overflows by design",
                ),
                false,
            ),
        ],
        pictures: picture.into_iter().collect(),
        ..*page
    })
}

/// Where and when rounds were recorded on a GPU.
pub fn recorded() -> Recorded {
    Recorded {
        device: "NVIDIA H100 80GB HBM3".into(),
        date: "2026-11-26".into(),
        commit: "0123abcd".into(),
    }
}

/// The same, with what was recorded on a GPU.
pub fn recorded_page() -> Box<LessonPage> {
    let recorded = recorded_in_words(&recorded());
    Box::new(LessonPage {
        recorded: lang::sentence_case(&recorded),
        note: tr!(
            "The CPU engine has no {what}: results are verified, but CPU timings are not representative",
            what = lang::text("page-locked memory")
        ),
        ..*lesson_page(false)
    })
}

/// The first step of a lesson: the question, which the class has answered.
pub fn question_page() -> Box<LessonPage> {
    let choice = |(at, text): (usize, &str)| LessonChoice {
        text: lang::shown(text),
        is_chosen: at == 2,
        is_right: false,
    };
    let code = |stream: &str| {
        format!(
            "for (int i = 0; i < 4; i++) {{\n\
             \x20   step<<<grid, block, 0, {stream}>>>(next[i], cells[i]);\n\
             \x20   cudaMemcpyAsync(host[i], next[i], 4 * CELLS,\n\
             \x20              cudaMemcpyDeviceToHost, {stream});\n\
             }}"
        )
    };
    let [one, four] = ["stream", "stream[i]"].map(code);
    let codes = side_by_side(&[&one, &four]).into_iter();
    let titles = ["one stream, as in the book", "four streams, as in the book"];
    let column = |(code, title)| LessonColumn {
        title: lang::shown(title),
        code,
        ..LessonColumn::default()
    };
    Box::new(LessonPage {
        title: lang::shown("four lattices, four streams"),
        about: "Tuomanen, Hands-On GPU Programming with Python and CUDA".into(),
        intro: lang::shown(
            "Four lattices of 128 × 128 cells, a stream each. The book issues one lattice's \
             launch, copy to the host and copy back, then the next one's. Its host memory is \
             pageable, so that each copy to the host blocks the host in the middle of it.",
        ),
        question: lang::shown(
            "How much faster is a frame of the book's program in four streams than in one?",
        ),
        choices: ["no difference", "2× faster", "4× faster"]
            .into_iter()
            .enumerate()
            .map(choice)
            .collect(),
        number: 1,
        of: 3,
        columns: codes.zip(titles).map(column).collect(),
        ..LessonPage::default()
    })
}

/// The result of the speed-up lesson, measured for all of five numbers of instances or for fewer;
/// with a kernel that takes no batch, without that curve.
pub fn speedup_page(measured: usize, batched: bool) -> Box<LessonPage> {
    let series = |title: &'static str, rates: [f64; 5]| {
        let points = rates.into_iter().enumerate().take(measured);
        let points = points.map(|(nth, rounds_per_second)| SpeedupPoint {
            instances: 1 << nth,
            rounds_per_second,
            interval: Some([0.9 * rounds_per_second, 1.06 * rounds_per_second]),
        });
        SpeedupSeries {
            title: Cow::Borrowed(title),
            points: points.collect(),
            unavailable: None,
        }
    };
    let mut batch = series("a batch", [3270.0, 3250.0, 3240.0, 3180.0, 3050.0]);
    if !batched {
        batch.points.clear();
        let why = lang::tr!("kernel '{}' steps one lattice per launch", "bits");
        batch.unavailable = Some(why);
    }
    let is_over = measured == 5;
    Box::new(LessonPage {
        title: lang::shown("1, 2, 4 … instances: the speed-up curve"),
        about: lang::shown("runs on every machine"),
        number: 2,
        of: 3,
        question: lang::shown(
            "Instances in a stream each instead of all in one stream: how much faster is a round?",
        ),
        conclusion: if is_over {
            lang::shown("Operations of different streams overlapped.")
        } else {
            String::new()
        },
        progress: (!is_over).then(|| lang::shown("measuring …")),
        speedup: Some(Arc::new(Speedup {
            kernel: Cow::Borrowed(if batched { "sync-global" } else { "bits" }),
            width: 1024,
            height: 1024,
            generations_per_round: 8,
            instances: Speedup::counts(16),
            series: vec![
                series("one stream for all", [3260.0, 1650.0, 828.0, 414.0, 207.0]),
                series("a stream each", [3260.0, 3190.0, 3080.0, 2820.0, 2460.0]),
                batch,
            ],
        })),
        ..LessonPage::default()
    })
}

/// Pictures of instances, all of a generation, that are always newer than what was seen.
pub struct FixturePictures(u64, Vec<(usize, Option<ReduceRegion>, Arc<[u32]>)>);

impl PictureSource for FixturePictures {
    fn visit_newer(&self, seen: &mut [u64], draw: &mut dyn FnMut(usize, &Picture, &[u32])) {
        for &(instance, region, ref words) in &self.1 {
            seen[instance] += 1;
            let picture = Picture {
                sequence: seen[instance],
                generation: self.0,
                edits: 0,
                region,
                slot: Slot(0),
                words: words.len(),
                cells: false,
            };
            draw(instance, &picture, words);
        }
    }
}

impl FixturePictures {
    /// The bits of these lattices.
    pub fn bits(lattices: &[Lattice]) -> FixturePictures {
        FixturePictures::of(lattices.iter().enumerate(), 0)
    }

    /// The bits of these instances' lattices of a generation.
    pub fn of<'a>(
        lattices: impl Iterator<Item = (usize, &'a Lattice)>,
        generation: u64,
    ) -> FixturePictures {
        let bits = lattices.map(|(instance, it)| (instance, None, it.words().into()));
        FixturePictures(generation, bits.collect())
    }

    /// These lattices reduced to a region, as an engine does it.
    pub fn views(lattices: &[Lattice], region: ReduceRegion) -> FixturePictures {
        let lattices = lattices.iter().enumerate();
        let views = lattices.map(|(instance, it)| (instance, Some(region), reduce(it, region)));
        FixturePictures(0, views.collect())
    }
}

/// A lattice reduced to a region, four bytes a word.
pub fn reduce(lattice: &Lattice, region: ReduceRegion) -> Arc<[u32]> {
    let bytes = engine::conformance::reduced(region, lattice);
    let words = bytes.chunks_exact(4);
    let words = words.map(|four| u32::from_le_bytes(four.try_into().unwrap()));
    words.collect()
}

/// Generations of Life later.
pub fn aged(lattice: Lattice, generations: usize) -> Lattice {
    (0..generations).fold(lattice, |it, _| life::reference::step(&it, Rule::LIFE))
}

/// The device of the ladder that was made up for tests, `fixtures/ladder.json`: every rung of the table with
/// two works, as far as it takes them; 'planar' without the larger.
pub const DEVICE: &str = "NVIDIA Test";

// How far colours are apart.

/// From sRGB to light, 0 to 1.
fn linear(v: f32) -> f32 {
    if v <= 0.04045 {
        v / 12.92
    } else {
        ((v + 0.055) / 1.055).powf(2.4)
    }
}

/// Relative luminance, 0 to 1.
pub(crate) fn luminance(colour: [f32; 4]) -> f32 {
    let [r, g, b, _] = colour.map(linear);
    0.2126 * r + 0.7152 * g + 0.0722 * b
}

/// Contrast ratio, 1 to 21.
pub fn contrast(a: [f32; 4], b: [f32; 4]) -> f32 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// How far two instances' colours are from each other: the least ΔE_OK with all cones and with
/// those for red, for green or for blue missing.
pub fn distance(a: Rgb, b: Rgb) -> f32 {
    let all = SEEN.iter().map(|by| {
        let [a, b] = [a, b].map(|colour| lab(colour, by));
        let square = (0..3).map(|c| (a[c] - b[c]).powi(2)).sum::<f32>();
        square.sqrt()
    });
    all.fold(f32::INFINITY, f32::min)
}

/// What is seen of linear sRGB with all cones, and without those for red, green and blue: Machado,
/// Oliveira and Fernandes (2009), at full severity.
const SEEN: [[[f32; 3]; 3]; 4] = [
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
];

/// A colour in OKLab (Ottosson, 2020) as it is seen by such eyes.
fn lab(colour: Rgb, by: &[[f32; 3]; 3]) -> [f32; 3] {
    const CONES: [[f32; 3]; 3] = [
        [0.412_221_46, 0.536_332_55, 0.051_445_995],
        [0.211_903_5, 0.680_699_5, 0.107_396_96],
        [0.088_302_46, 0.281_718_85, 0.629_978_7],
    ];
    const OPPONENTS: [[f32; 3]; 3] = [
        [0.210_454_26, 0.793_617_8, -0.004_072_047],
        [1.977_998_5, -2.428_592_2, 0.450_593_7],
        [0.025_904_037, 0.782_771_77, -0.808_675_77],
    ];
    let times = |matrix: &[[f32; 3]; 3], v: [f32; 3]| {
        matrix.map(|row| row.iter().zip(v).map(|(a, b)| a * b).sum::<f32>())
    };
    let light = colour.map(|c| linear(f32::from(c) / 255.0));
    let seen = times(by, light).map(|c| c.clamp(0.0, 1.0));
    times(&OPPONENTS, times(&CONES, seen).map(f32::cbrt))
}
