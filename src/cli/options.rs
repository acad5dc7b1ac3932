//! All options and commands; `--help`, completions, manual pages and the documents are made from here.

use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::Result;
use clap::builder::{PathBufValueParser, PossibleValuesParser, TypedValueParser};
use clap::{ArgAction, Args, CommandFactory, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use clap_mangen::Man;

use super::text::print_text;
use engine::kernels::{self, KERNELS};
use engine::{HostMemory, Kernel};
use lang::Language;
use lesson::{Exercise, LESSONS, Lesson};
use life::{RuleAndTorus, SaveError, Size};
use session::{
    DeviceChoice, Order, Pace, Setup, Split, StopWhenStill, Streams, Switches, TimeSettings,
    TransferChoice, Wait,
};
use terminal::Glyphs;
use ui::{Camera, ColourBy, MIN_OPENING_PIXELS, ViewOptions, theme};

/// The default side of a lattice, in cells. It is so large that a kernel with one block per lattice
/// takes longer than the host's calls of a round; otherwise F2 would measure those calls.
pub(super) const DEFAULT_SIDE: u64 = 1024;

/// N toroidal Game of Life lattices, each in its own CUDA stream, live in one window.
///
/// Without a command: the window. Press H in it for the keys. Where there is no NVIDIA driver,
/// the same program runs on the CPU.
#[derive(Parser, Debug)]
#[command(name = "lifestreams", version, max_term_width = 100)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}{VARIABLES}"))]
pub(super) struct Cli {
    /// What to do instead of opening the window.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// What is stepped, and how.
    #[command(flatten)]
    pub common: Common,
    /// How it is shown.
    #[command(flatten)]
    pub window: WindowArguments,
    /// Language of the interface [default: by locale]
    #[arg(long, value_name = "LANGUAGE", value_enum, global = true)]
    #[arg(help_heading = "How it is shown, and for how long")]
    pub lang: Option<Language>,
}

impl Cli {
    /// The number of hardware work queues: the one requested, and the default for this command.
    ///
    /// Streams that share a connection wait for each other where events or copies stand between
    /// their launches, so whoever looks at streams gets all 32. They cost the host: a tenth to a
    /// third of small rounds on an H200. So whoever only wants speed gets the driver's 8.
    pub(super) fn connections(&self) -> (Option<u32>, Option<u32>) {
        const ALL: Option<u32> = Some(32);
        match &self.command {
            None => (self.common.connections, ALL),
            Some(Command::Snapshot(arguments)) => (arguments.common.connections, ALL),
            Some(Command::Lecture(arguments)) => (arguments.common.connections, ALL),
            Some(Command::Lesson(_)) => (None, ALL),
            Some(Command::Bench(arguments)) => (None, ALL.filter(|_| arguments.is_recording())),
            Some(Command::Run(arguments)) => {
                let looks = arguments.trace.is_some();
                (arguments.common.connections, ALL.filter(|_| looks))
            }
            Some(_) => (None, None),
        }
    }
}

/// The commands.
#[derive(Subcommand, Debug)]
pub(super) enum Command {
    /// Step every instance without a window as fast as possible, then report and save
    ///
    /// A run starts from a soup or from the files of --pattern. It writes the lattices into the folder
    /// of --save and its timeline into the file of --trace, and nothing without these options. It
    /// neither continues nor saves a session: 'lifestreams --display none --session FILE --rounds N'
    /// does both.
    Run(RunArguments),
    /// Save a picture of the window, rendered off-screen
    Snapshot(SnapshotArguments),
    /// Run a lesson that measures what streams do; without a name, list the lessons
    Lesson(LessonArguments),
    /// Give a lecture: steps of settings, lessons, texts and questions, from a file
    Lecture(Box<LectureArguments>),
    /// Write and check a round of your own: which calls the host makes, in which streams
    #[command(subcommand)]
    Round(RoundCommand),
    /// Solve exercises: rounds in which streams overlap, wait and do not race
    #[command(subcommand)]
    Exercise(ExerciseCommand),
    /// Run benchmarks and print their tables
    Bench(BenchArguments),
    /// Check every kernel on this device against the reference
    Verify {
        /// Few and small cases, for compute-sanitizer
        #[arg(long)]
        small: bool,
        /// Compute device: auto, cpu, cuda or cuda:I
        #[arg(long, value_name = "DEVICE", default_value = "auto", value_parser = measured_device)]
        device: DeviceChoice,
    },
    /// Write a kernel of your own, and check it
    #[command(subcommand)]
    Kernel(KernelCommand),
    /// List devices, and explain what is missing and how to fix it
    Devices {
        /// Print one JSON object on stdout
        #[arg(long)]
        json: bool,
    },
    /// Show or save default options
    Config {
        /// What to do [default: show]
        #[command(subcommand)]
        what: Option<ConfigCommand>,
    },
    /// List the patterns that come with the program: name, size, rule, what each does
    Patterns,
    /// Print the completion script of a shell
    Completions {
        /// The shell
        #[arg(value_name = "SHELL")]
        shell: Shell,
    },
    /// Print the manual page
    Man {
        /// Write the manual page, and one for each command, into this folder
        #[arg(value_name = "DIR")]
        folder: Option<PathBuf>,
    },
}

/// What `kernel` does.
#[derive(Subcommand, Debug)]
pub(super) enum KernelCommand {
    /// Write a commented copy of a rung, to be changed
    New {
        /// The file to write
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// The rung to begin with
        #[arg(long, value_name = "RUNG", default_value = "02_shared", value_parser = own_rung())]
        from: &'static Kernel,
    },
    /// Check a kernel against the reference, and time it on a GPU
    ///
    /// Without a GPU it is compiled as C++, and its threads run in several orders. It is your own code,
    /// which runs with your rights: this is no sandbox.
    Check(KernelCheckArguments),
    /// Run kernels for another process, which asks over standard input
    #[command(hide = true)]
    Serve {
        /// Where this process may write files
        folder: PathBuf,
        /// The GPU's number; without it, kernels run in the emulator
        gpu: Option<u32>,
    },
    /// Time a kernel for another process, which gives its source over standard input
    #[command(hide = true)]
    Time {
        /// The GPU's number
        gpu: u32,
    },
}

/// Options of `kernel check`.
#[derive(Args, Clone, Debug)]
pub(super) struct KernelCheckArguments {
    /// The kernel's source
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// What runs it: a GPU (auto, cuda or cuda:I), or cpu, which emulates one
    #[arg(long, value_name = "DEVICE", default_value = "auto", value_parser = measured_device)]
    pub device: DeviceChoice,
    /// Print one JSON object, and nothing else, on stdout
    #[arg(long)]
    pub json: bool,
}

/// What `config` does.
#[derive(Subcommand, Debug)]
pub(super) enum ConfigCommand {
    /// Print the settings file
    Show,
    /// Print the path of the settings file
    Path,
    /// Save the options that follow as the new defaults, in place of all earlier ones
    Save(Box<SavedArguments>),
}

/// Options that can be saved.
#[derive(Args, Clone, Debug)]
pub(super) struct SavedArguments {
    #[command(flatten)]
    pub common: Common,
    #[command(flatten)]
    pub window: WindowArguments,
}

/// Options common to the window, `run` and `snapshot`.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "What is stepped, and where")]
pub(super) struct Common {
    /// How many lattices, each with its stream and its panel
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = whole(1, Setup::MAX_INSTANCES))]
    pub instances: usize,
    /// The lattices' size in cells, or a square's side [default: 1024x1024, or the pattern's torus]
    #[arg(long, value_name = "WxH", value_parser = Size::from_sides)]
    pub size: Option<Size>,
    /// The rule, as B3/S23, 23/3 or a name such as Seeds or 'Day & Night'; B3/S23:T64,32 gives the size
    /// too [default: B3/S23, or the pattern's]
    #[arg(long, value_name = "RULE")]
    pub rule: Option<RuleAndTorus>,
    /// Fraction of live cells at the start of a soup, 0 to 1
    #[arg(long, value_name = "P", default_value_t = session::DEFAULT_DENSITY, value_parser = number(0.0, 1.0, "take a number from 0 to 1"))]
    pub density: f64,
    /// Seed of the soup: it gives the same start on every machine
    #[arg(long, value_name = "S", default_value_t = 1, value_parser = whole(0u64, u64::MAX))]
    pub seed: u64,
    /// Start from this file (RLE, plaintext, Life 1.05 or 1.06, macrocell) instead of a soup, from
    /// the standard input where it is -, or, where there is no such file, from the shelf's pattern
    /// of that name, such as gosper-gun ('lifestreams patterns' lists them); repeatable: instance i
    /// takes file i mod count
    #[arg(long, value_name = "FILE")]
    pub pattern: Vec<PathBuf>,
    /// The kernel that steps the lattices; auto picks the fastest by an estimate
    /// [default: sync-global, or the next rung that takes the lattices; for run the fastest]
    #[arg(long, value_name = "NAME", value_parser = kernel_or_auto())]
    pub kernel: Option<KernelOption>,
    /// A kernel of your own, by the file of its CUDA C++; it is checked first
    #[arg(long, value_name = "FILE", conflicts_with_all = ["kernel", "block"])]
    pub kernel_file: Option<PathBuf>,
    /// Compute device: auto (the first CUDA device, else the CPU), cpu, cuda (every GPU), cuda:I, or
    /// recorded: the CPU, with rounds recorded on a GPU in place of measurements
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    pub device: DeviceChoice,
    /// auto, on or off: cut each lattice into bands on all GPUs
    #[arg(
        long,
        value_name = "CHOICE",
        default_value = "auto",
        hide_possible_values = true
    )]
    pub split: Split,

    #[command(flatten)]
    pub switches: SwitchArguments,
    /// Number of hardware work queues for the streams, as CUDA_DEVICE_MAX_CONNECTIONS
    /// [default: 32; for run without --trace the driver's 8]
    #[arg(long, value_name = "N", value_parser = whole(1u32, 32))]
    pub connections: Option<u32>,
    /// Generations per round [default: 1; for run the fastest]
    #[arg(long, value_name = "K", value_parser = whole(1u32, u32::MAX))]
    pub generations_per_round: Option<u32>,
}

/// The lab's switches; each has its key in the window.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "How rounds are issued, copied and waited for (F2 to F8)")]
pub(super) struct SwitchArguments {
    /// In how many streams: one for each instance, one for all, the default stream for all, or one
    /// with one launch and one copy for all
    /// [default: per-instance; for run the fastest]
    #[arg(long, value_name = "HOW", value_enum)]
    pub streams: Option<Streams>,
    /// The host memory that downloads land in: page-locked or pageable
    #[arg(long, value_name = "KIND", value_enum, default_value_t = HostMemory::Pinned)]
    pub host_memory: HostMemory,
    /// How the host learns that a round is over: it polls events, or waits for each instance's
    /// stream, or for all of them at once
    #[arg(long, value_name = "HOW", value_enum, default_value_t = Wait::Poll)]
    pub wait: Wait,
    /// In which order the host issues a round [default: breadth; with --round own]
    #[arg(long, value_name = "ORDER", value_enum)]
    pub order: Option<Order>,
    /// The script of a round of your own: its streams, events and order
    #[arg(long, value_name = "FILE")]
    pub round: Option<PathBuf>,
    /// Prepare each round as a CUDA graph and replay it
    /// [default: off; for run the fastest]
    #[arg(long, value_name = "ON", value_parser = on_off())]
    pub graphs: Option<bool>,
    /// What a picture transfers over the bus: auto uses bits while they are small (in a window: at
    /// most 8 MiB for all lattices), otherwise the reduced view
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = TransferChoice::Auto)]
    pub transfer: TransferChoice,
    /// The shape of a kernel's blocks in threads [default: the kernel's own]
    #[arg(long, value_name = "WxH", value_parser = sides(0, u32::MAX, "take WIDTHxHEIGHT in threads, such as 32x8"))]
    pub block: Option<(u32, u32)>,
}

impl SwitchArguments {
    /// The order asked for: with a round of one's own, that.
    pub(super) fn order(&self) -> Order {
        let of_round = self.round.as_ref().map(|_| Order::Own);
        self.order.or(of_round).unwrap_or(Order::Breadth)
    }

    /// The streams asked for; a round of one's own chooses its streams itself.
    pub(super) fn streams(&self) -> Option<Streams> {
        let of_round = (self.order() == Order::Own).then_some(Streams::PerInstance);
        self.streams.or(of_round)
    }

    /// As the session has them.
    pub(super) fn switches(&self) -> Switches {
        Switches {
            streams: self.streams.unwrap_or(Switches::DEFAULT.streams),
            host_memory: self.host_memory,
            wait: self.wait,
            order: self.order(),
            graphs: self.graphs == Some(true),
            transfer: self.transfer,
            block: self.block,
        }
    }
}

/// What cells and interface look like; each has its key in the window.
#[derive(Args, Clone, Debug)]
pub(super) struct LookArguments {
    /// The colours of cells and interface
    #[arg(long, value_name = "NAME", default_value = "hues",
          value_parser = PossibleValuesParser::new((0..theme::COUNT).map(|n| theme::theme(n).name)))]
    pub theme: String,
    /// Colour cells by state (alive or dead), by age, or by history (age, and how long ago a dead cell
    /// was alive) [default: history, or state if pictures do not have every cell]
    #[arg(long, value_name = "WHAT", value_enum)]
    pub colour_by: Option<ColourBy>,
}

impl LookArguments {
    /// What a window shows at first: cells that are large enough to be told apart.
    pub(super) fn options(&self) -> ViewOptions {
        ViewOptions {
            camera: Camera::opening(MIN_OPENING_PIXELS),
            theme: theme::find(&self.theme).unwrap_or_default(),
            colour_by: self.colour_by.unwrap_or(ColourBy::History),
            ..Default::default()
        }
    }
}

/// When rounds stop by themselves, and how far back they are remembered.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "When it stops by itself, and how far back it goes")]
pub(super) struct TimeArguments {
    /// Stop when the selected panel, or all, are dead, still or periodic; a period of more than 60
    /// rounds is not seen
    #[arg(long, value_name = "WHICH", value_enum, default_value_t = StopWhenStill::Never)]
    pub stop_when_still: StopWhenStill,
    /// Fill dead panels with new soups, one after the other, but never one that was edited or opened
    /// from a file
    #[arg(long, value_name = "ON", default_value = "on", value_parser = on_off(), action = ArgAction::Set)]
    pub reseed: bool,
    /// Memory for going back in time, in MiB; 0 for none
    #[arg(long, value_name = "MIB", default_value_t = TimeSettings::DEFAULT.history_bytes >> 20,
          value_parser = whole(0u64, TimeSettings::MAX_HISTORY_BYTES >> 20))]
    pub history_memory: u64,
}

impl TimeArguments {
    /// As the session has them.
    pub(super) fn settings(&self) -> TimeSettings {
        TimeSettings {
            stop_when_still: self.stop_when_still,
            reseed: self.reseed,
            history_bytes: self.history_memory << 20,
        }
    }
}

/// Options of the window and the picture.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "How it is shown, and for how long")]
pub(super) struct WindowArguments {
    #[command(flatten)]
    pub look: LookArguments,
    /// Rounds per second, unthrottled, or max: by the fastest kernel, as many generations per round
    /// as fit in a frame [default: 60]
    #[arg(long, value_name = "PACE")]
    pub pace: Option<Pace>,
    /// Stop after this many rounds
    #[arg(long, value_name = "N", value_parser = whole(0u64, u64::MAX))]
    pub rounds: Option<u64>,
    #[command(flatten)]
    pub time: TimeArguments,
    /// Stop after this many drawn frames; with --record, after this many pictures in its file
    #[arg(long, value_name = "N", value_parser = whole(1u64, u64::MAX))]
    pub frames: Option<u64>,
    /// Where to show it: auto takes the window where there is a display, else the terminal
    #[arg(long, value_name = "WHERE", value_enum, default_value_t = Display::Auto)]
    pub display: Display,
    /// Continue the session in this file, if it exists, and save the session there at the end. The
    /// file then sets lattices, kernel, switches, pace and history; of the options for these, only
    /// --device counts
    #[arg(long, value_name = "FILE", help_heading = "What is kept")]
    pub session: Option<PathBuf>,
    /// Run the kernel in the file of --session unasked: it is code, and has your rights. Without this
    /// option window and terminal ask first, and --display none leaves it to its rung, unless the same
    /// kernel was checked here before
    #[arg(long, requires = "session", help_heading = "What is kept")]
    pub trust_kernel: bool,
    /// Record from the first frame on: --frames pictures, or until the end; by the name's ending a
    /// GIF, or PNG files with numbers behind the name, of which ffmpeg makes a video. It takes at most
    /// 25 pictures per second
    #[arg(long, value_name = "FILE", help_heading = "What is kept")]
    pub record: Option<PathBuf>,
    /// Characters to draw panels with in a terminal
    #[arg(long, value_name = "KIND", value_enum, default_value_t = Glyphs::Auto)]
    pub glyphs: Glyphs,
    /// The GPU that draws, by a part of its name [default: the window's own]
    #[arg(long, value_name = "NAME")]
    pub adapter: Option<String>,
    /// Fullscreen on this monitor, by its number from 0 or its name; F11 leaves and comes back
    #[arg(long, value_name = "WHICH")]
    pub monitor: Option<String>,
    /// Start as a presentation: no chrome, large type
    #[arg(long, value_name = "ON", default_value = "off", value_parser = on_off(), action = ArgAction::Set)]
    pub presentation: bool,
}

/// Options of `run`.
#[derive(Args, Clone, Debug)]
pub(super) struct RunArguments {
    /// Generations to step
    #[arg(short, long, value_name = "N", value_parser = whole(0u64, u64::MAX))]
    pub generations: u64,
    /// Write one RLE file per instance into this folder: 000.rle, 001.rle, …
    #[arg(long, value_name = "DIR")]
    pub save: Option<PathBuf>,
    /// Time every round, with downloads, and write the last ones for Perfetto or chrome://tracing;
    /// rounds are then as in a window unless an option says otherwise
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Print one JSON object, and nothing else, on stdout
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub common: Common,
}

/// Options of `snapshot`.
#[derive(Args, Clone, Debug)]
pub(super) struct SnapshotArguments {
    #[command(flatten)]
    pub look: LookArguments,
    /// The PNG file to write
    #[arg(short, long, value_name = "F.png", value_parser = png())]
    pub output: PathBuf,
    /// The window's size in pixels
    #[arg(long, value_name = "WxH", default_value = "1280x800", value_parser = sides(64, 8192, "take WIDTHxHEIGHT, each from 64 to 8192"))]
    pub window_size: (u32, u32),
    /// Pixels per point: 2 for a HiDPI monitor
    #[arg(long, value_name = "X", default_value_t = 1.0,
          value_parser = number(0.5, 4.0, "take a number from 0.5 to 4"))]
    pub scale: f64,
    /// Minimum rounds before the picture is taken
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = whole(0u64, u64::MAX))]
    pub rounds: u64,
    /// The GPU that draws, by a part of its name
    #[arg(long, value_name = "NAME")]
    pub adapter: Option<String>,
    /// Pause after exactly --rounds rounds
    #[arg(long)]
    pub paused: bool,
    /// What to show beside the cells, several with commas between
    #[arg(long, value_name = "WHAT", value_enum, value_delimiter = ',')]
    pub show: Vec<Shown>,
    /// Show the result of this lesson beside the panels
    #[arg(long, value_name = "NAME", value_parser = shipped_lesson())]
    pub lesson: Option<&'static Lesson>,
    /// Zoom factor; 1 shows whole lattices [default: that of a new window]
    #[arg(long, value_name = "X", value_parser = number(f64::MIN_POSITIVE, f64::MAX, "take a number above 0, such as 4"))]
    pub zoom: Option<f64>,
    #[command(flatten)]
    pub common: Common,
}

/// What `snapshot --show` shows. Each was an option of its own, whose name is still taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(super) enum Shown {
    /// Only the first panel
    Single,
    /// The keyboard shortcuts
    #[value(alias = "help-shown")]
    Keys,
    /// The timeline of the streams
    Timeline,
    /// The timeline, and which SM ran which block when
    Blocks,
    /// The lab: the switches, and the CUDA calls they make
    Lab,
    /// The ladder of kernels and the current kernel on it
    Ladder,
    /// Population, births and deaths over time
    Population,
    /// The timeline, and why streams do not overlap
    Causes,
    /// Two settings, A and B, each on half of the panels
    #[value(alias = "halves")]
    Comparison,
}

/// Options of `lesson`.
#[derive(Args, Clone, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct LessonArguments {
    /// What to do instead of running one
    #[command(subcommand)]
    pub what: Option<LessonCommand>,
    /// Which lesson: a name, a file, or `all`
    #[arg(value_name = "LESSON")]
    pub name: Option<String>,
    /// Compute device: auto, cpu, cuda, cuda:I, or recorded: show what was recorded on a GPU
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    pub device: DeviceChoice,
    /// Print one JSON object, or for `all` an array of them, and nothing else, on stdout
    #[arg(long)]
    pub json: bool,
    /// The PNG file to write, where the lesson makes a picture
    #[arg(long, value_name = "F.png", value_parser = png())]
    pub picture: Option<PathBuf>,
    /// Measure for the parent process
    #[arg(long, hide = true)]
    pub child: bool,
}

/// What `lesson` does beside running one.
#[derive(Subcommand, Clone, Debug)]
pub(super) enum LessonCommand {
    /// Check a lesson's file
    Check {
        /// The lesson's file
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Write a lesson to begin with
    New {
        /// A new file
        #[arg(value_name = "FILE", default_value = "lesson.toml")]
        file: PathBuf,
        /// The lesson that it is a copy of
        #[arg(long, value_name = "NAME", default_value = "pinned", value_parser = PossibleValuesParser::new(
            LESSONS.iter().map(|lesson| lesson.name)))]
        from: String,
    },
}

/// Options of `lecture`.
#[derive(Args, Clone, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct LectureArguments {
    /// What to do instead of giving it
    #[command(subcommand)]
    pub what: Option<LectureCommand>,
    /// ten-minutes, chapter-5 or a file
    #[arg(value_name = "LECTURE", default_value = "ten-minutes")]
    pub lecture: PathBuf,
    /// Append the speaker's notes to this file; without it, the terminal that started the window
    /// prints them
    #[arg(long, value_name = "FILE", help_heading = "What is kept")]
    pub notes: Option<PathBuf>,
    /// The HTML page with the class's predictions and the results
    /// [default: lecture-DATE.html]
    #[arg(long, value_name = "FILE", help_heading = "What is kept")]
    pub report: Option<PathBuf>,
    #[command(flatten)]
    pub common: Common,
    #[command(flatten)]
    pub window: WindowArguments,
}

/// What `lecture` does beside giving one.
#[derive(Subcommand, Clone, Debug)]
pub(super) enum LectureCommand {
    /// Check a lecture's file
    Check {
        /// ten-minutes, chapter-5 or a file
        #[arg(value_name = "LECTURE")]
        lecture: PathBuf,
    },
    /// Measure what a lecture asks about, and say which findings this machine resolves
    Rehearse {
        /// ten-minutes, chapter-5 or a file
        #[arg(value_name = "LECTURE", default_value = "ten-minutes")]
        lecture: PathBuf,
        /// Compute device: auto, cpu, cuda or cuda:I; recorded says what was recorded
        #[arg(long, value_name = "DEVICE", default_value = "auto")]
        device: DeviceChoice,
    },
}

/// What `round` does.
#[derive(Subcommand, Clone, Debug)]
pub(super) enum RoundCommand {
    /// Write a round to begin with, with comments
    New {
        /// A new file
        #[arg(value_name = "FILE", default_value = "round.rhai")]
        file: PathBuf,
    },
    /// Check a round: races, waits for nothing, and instances that are not advanced or downloaded once
    Check {
        /// The round's file
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// How many instances, N in the file
        #[arg(long, value_name = "N", default_value_t = 16, value_parser = whole(1, Setup::MAX_INSTANCES))]
        instances: usize,
        /// Print what is wrong as JSON
        #[arg(long)]
        json: bool,
    },
}

/// What `exercise` does.
#[derive(Subcommand, Clone, Debug)]
pub(super) enum ExerciseCommand {
    /// List the exercises, and which are solved
    List,
    /// Write the file of an exercise, NAME.rhai or NAME.cu, into this folder
    Start {
        /// Its name or number
        #[arg(value_name = "NAME", value_parser = exercise)]
        exercise: &'static Exercise,
    },
    /// Check the exercise in progress, or another one
    Check {
        /// Its name or number [default: the one in progress]
        #[arg(value_name = "NAME", value_parser = exercise)]
        exercise: Option<&'static Exercise>,
        /// Say what is wrong, which can give the solution away
        #[arg(long)]
        hint: bool,
        /// Print what is wrong as JSON
        #[arg(long)]
        json: bool,
    },
    /// Start the next exercise that is not solved
    Next,
}

/// What can be measured, in the order in which records keep and documents show it.
pub(super) const TABLES: [&str; 3] = ["default", "frame", "ladder"];

/// What is named to record rounds and lessons for machines without a GPU.
pub(super) const RECORDING: &str = "recording";

/// Options of `bench`.
#[derive(Args, Clone, Debug)]
pub(super) struct BenchArguments {
    /// Which tables, such as default (a run with no switches) or ladder; recording records rounds and
    /// lessons on this GPU, for machines without one [default: all tables]
    #[arg(value_name = "NAME", value_parser = PossibleValuesParser::new(TABLES.into_iter().chain([RECORDING])))]
    pub names: Vec<String>,
    /// Compute device: auto, cpu, cuda or cuda:I
    #[arg(long, value_name = "DEVICE", default_value = "auto", value_parser = measured_device)]
    pub device: DeviceChoice,
    /// The GPU that draws, by a part of its name
    #[arg(long, value_name = "NAME")]
    pub adapter: Option<String>,
    /// Print one JSON object on stdout
    #[arg(long)]
    pub json: bool,
    /// Write the results to the record of this device in this folder; in a checkout,
    /// `cargo xtask docs` then renews the documents
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = "assets/bench")]
    pub write: Option<PathBuf>,
    /// Small lattices and short runs for default, ladder and recording, to see that they work
    #[arg(long)]
    pub small: bool,
}

impl BenchArguments {
    /// Whether rounds and lessons are recorded, as a session looks at them.
    pub(super) fn is_recording(&self) -> bool {
        self.names.iter().any(|name| name == RECORDING)
    }
}

/// `--display`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(super) enum Display {
    /// A window if there is a display, else the terminal if stdout is one, else none
    Auto,
    /// The window
    Window,
    /// This terminal, in characters, with the same keys
    Terminal,
    /// No window: one line of figures per second
    None,
}

/// `on` or `off`.
fn on_off() -> impl TypedValueParser<Value = bool> {
    PossibleValuesParser::new(["on", "off"]).map(|word| word == "on")
}

/// A whole number within these bounds; what is none is answered with the bounds.
fn whole<N>(least: N, most: N) -> impl Fn(&str) -> Result<N, String> + Clone + Send + Sync
where
    N: FromStr + PartialOrd + std::fmt::Display + Copy + Send + Sync + 'static,
{
    move |text| match text.parse() {
        Ok(number) if (least..=most).contains(&number) => Ok(number),
        _ => Err(format!("take a whole number from {least} to {most}")),
    }
}

/// The path of a picture, which is a PNG whatever its name says.
fn png() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| {
        let ending = path
            .extension()
            .is_some_and(|it| it.eq_ignore_ascii_case("png"));
        if ending {
            Ok(path)
        } else {
            Err("pictures are PNG files: take a name that ends in .png")
        }
    })
}

/// A lesson that comes with the program, by its name.
fn shipped_lesson() -> impl TypedValueParser<Value = &'static Lesson> {
    let names = PossibleValuesParser::new(LESSONS.iter().map(|lesson| lesson.name));
    names.map(|name| lesson::find(&name).expect("it is one of the names"))
}

/// A number within these bounds, which the sentence names.
fn number(
    least: f64,
    most: f64,
    sentence: &'static str,
) -> impl Fn(&str) -> Result<f64, &'static str> + Clone + Send + Sync {
    move |text| match text.parse() {
        Ok(number) if (least..=most).contains(&number) => Ok(number),
        _ => Err(sentence),
    }
}

/// Two sides within these bounds, which the sentence names.
fn sides(
    least: u32,
    most: u32,
    sentence: &'static str,
) -> impl Fn(&str) -> Result<(u32, u32), &'static str> + Clone + Send + Sync {
    move |text| {
        let side = |part: &str| part.parse().ok().filter(|n| (least..=most).contains(n));
        let sides = text
            .split_once('x')
            .and_then(|(w, h)| Some((side(w)?, side(h)?)));
        sides.ok_or(sentence)
    }
}

/// A rung that a kernel of one's own may begin with, by its file.
fn own_rung() -> impl TypedValueParser<Value = &'static Kernel> {
    let files = workshop::rungs().map(|rung| rung.file);
    let rung = |file| workshop::rungs().find(|rung| rung.file == file);
    PossibleValuesParser::new(files).try_map(move |file| rung(file).ok_or("no rung"))
}

/// A kernel, or `None` to have one picked.
pub(super) type KernelOption = Option<&'static Kernel>;

fn kernel_or_auto() -> impl TypedValueParser<Value = KernelOption> {
    let names = KERNELS.iter().map(|kernel| kernel.name);
    PossibleValuesParser::new(["auto"].into_iter().chain(names)).map(|name| kernels::find(&name))
}

/// A device on which something is measured.
fn measured_device(text: &str) -> Result<DeviceChoice, String> {
    match text.parse()? {
        DeviceChoice::Recorded => Err("take auto, cpu, cuda or cuda:I; this measures".into()),
        device => Ok(device),
    }
}

fn exercise(text: &str) -> Result<&'static Exercise, String> {
    Exercise::find(text).ok_or_else(|| {
        let names: Vec<_> = lesson::EXERCISES.iter().map(|it| it.name).collect();
        format!("take one of: {}", names.join(", "))
    })
}

/// The end of `--help`.
const EXAMPLES: &str = "Examples:
  lifestreams --instances 16                        sixteen lattices, one stream each
  lifestreams --display terminal                    the same in this terminal, for example over SSH
  lifestreams --pattern gosper-gun --size 256x256   a pattern from the shelf, or from a file
  lifestreams lesson pinned                         a lesson, measured on this machine
  lifestreams run -g 1000 --json                    step without a display, and report figures
  lifestreams devices                               list devices, and explain what is missing

Exit codes: 0 done; 1 a check failed; 2 wrong input; 3 the machine lacks something; 130 Ctrl+C.";

/// What else `--help` and the manual's page say.
const VARIABLES: &str = "

Environment:
  LIFESTREAMS_LOG              what is logged on stderr, such as debug; warnings if unset
  LIFESTREAMS_LIBCUDA          the CUDA driver's library, where it is not where drivers are
  CUDA_DEVICE_MAX_CONNECTIONS  as --connections, which takes precedence
  NO_COLOR                     no colours in the terminal";

/// The command line as clap knows it.
pub fn command_line() -> clap::Command {
    with_negative_numbers(Cli::command())
}

/// Takes negative numbers as values, so that the errors are about them and not about an unknown
/// option.
fn with_negative_numbers(command: clap::Command) -> clap::Command {
    let command = command.mut_args(|argument| {
        if argument.get_action().takes_values() {
            argument.allow_negative_numbers(true)
        } else {
            argument
        }
    });
    command.mut_subcommands(with_negative_numbers)
}

/// Prints the completions of a shell.
pub(super) fn completions(shell: Shell) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command_line(), "lifestreams", &mut script);
    print_text(String::from_utf8_lossy(&script).trim_end())
}

/// Prints the manual's page, or writes it and one for each command into a folder.
pub(super) fn man(folder: Option<&Path>) -> Result<()> {
    let Some(folder) = folder else {
        let mut page = Vec::new();
        Man::new(command_line()).render(&mut page)?;
        return print_text(String::from_utf8_lossy(&page).trim_end());
    };
    let failed = |error: std::io::Error| SaveError::new(folder, &error);
    fs::create_dir_all(folder).map_err(failed)?;
    Ok(clap_mangen::generate_to(command_line(), folder).map_err(failed)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_holds_together() {
        command_line().debug_assert();
    }

    #[test]
    fn a_mistyped_value_is_answered_with_what_would_be_right() {
        #[rustfmt::skip]
        let rows = [
            ("--kernel sync-globl", "'sync-global'"),
            ("--kernel atuo", "'auto'"),
            ("--theme huse", "'hues'"),
            ("--colour-by histroy", "'history'"),
            ("--streams pre-instance", "'per-instance'"),
            ("--host-memory pined", "'pinned'"),
            ("--wait eech", "'each'"),
            ("--order bredth", "'breadth'"),
            ("--graphs onn", "'on'"),
            ("--transfer bit", "'bits'"),
            ("--stop-when-still selekted", "'selected'"),
            ("--reseed of", "'off'"),
            ("--display windoe", "'window'"),
            ("--glyphs brail", "'braille'"),
            ("--presentation oof", "'off'"),
            ("--lang eng", "'en'"),
            ("snapshot -o a.png --lesson prioritys", "'priorities'"),
            ("bench ladde", "'ladder'"),
            ("completions bsh", "'bash'"),
            ("run -g 1 --rule hello", "hello | write it as B3/S23"),
            ("run -g 1 --rule HiLife", "HiLife | did you mean HighLife?"),
            ("run -g 1 --rule 345/3/6", "345/3/6 | Generations"),
            ("run -g 1 --rule B3/S23:P64,32", "'P64,32' is no torus | such as :T100,100"),
            ("run -g 1 --kernel nope", "nope | auto, global, shared, sync-global"),
            ("run -g 1 --size 0x5", "0x5 | from 1 to 16777216"),
            ("run -g 1 --size 5x", "'5x' | WIDTHxHEIGHT"),
            ("run -g 1 --size -5x5", "-5 | help"),
            ("run -g 1 --size 16777216x16777216", "too large | at most 2^36 cells"),
            ("run -g 1 --instances 18446744073709551616", "18446744073709551616 | from 1 to"),
            ("run -g 1 --density NaN", "NaN | from 0 to 1"),
            ("run -g 1 --density -0.5", "'-0.5' | from 0 to 1"),
            ("run -g 1 --device cuda:-1", "cuda:-1 | take auto, cpu, cuda, cuda:I or recorded"),
            ("run -g 1 --streams many", "many | per-instance"),
            ("run -g 1 --block 32", "'32' | WIDTHxHEIGHT in threads"),
            ("run -g 1 --frames 3", "--frames | --help"),
            ("run", "--generations | --help"),
            ("snapshot", "--output | --help"),
            ("snapshot -o a.png --window-size 1x1", "1x1 | from 64 to 8192"),
            ("snapshot -o a.png --scale 0", "'0' | from 0.5 to 4"),
            ("--pace fast", "fast | take a number of rounds per second, unthrottled or max"),
            ("completions tcsh", "tcsh | bash"),
            ("exercise start 11", "overlap, order, race"),
        ];
        for (line, said) in rows {
            let words = ["lifestreams"].into_iter().chain(line.split(' '));
            let error = command_line().try_get_matches_from(words).expect_err(line);
            let error = error.to_string();
            let has = |part: &str| error.contains(part);
            assert!(said.split(" | ").all(has), "{line}: {error}");
        }
    }
}
