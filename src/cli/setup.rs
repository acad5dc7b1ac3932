//! From options, or a session's file, to a [`Setup`].

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;
use clap::ArgMatches;
use clap::parser::ValueSource;

use super::kernel;
use super::options::{Common, DEFAULT_SIDE, WindowArguments};
use super::round::{located, read};
use super::text::{BadArguments, CheckFailed, is_cancelled, refuse, say};
use engine::cuda::list_devices;
use engine::kernels::{self, Iteration, KERNELS, Kernel};
use engine::{EngineError, Feature};
use lang::{message, tr};
use life::{
    Format, Pattern, PatternError, Shelved, Size, settle, settle_generation, shown, too_large,
};
use session::fastest::Requested;
use session::instances::{MAX_GRAPH_LAUNCHES, ensure_room};
use session::{
    DeviceChoice, KernelChoice, Order, OwnOrder, OwnRound, OwnRoundError, Pace, SavedSession,
    SessionFile, Setting, Setup, Split, Start, StoredKernel, Streams, SwitchContext, Switches,
    TimeSettings, default_kernels,
};
use workshop::OwnKernel;

/// How fast the window's rounds follow one another at the start.
const ROUNDS_PER_SECOND: f64 = 60.0;

/// A kernel that supports this size and these switches, for use until the fastest one is picked:
/// the kernels without size limits come first.
fn any_kernel(size: Size, switches: Switches) -> &'static Kernel {
    let [bits, global] = ["bits", "global"].map(|name| kernels::find(name).expect("a kernel"));
    let takes =
        |kernel: &&Kernel| kernel.supports(size) && switches.incompatibility(kernel).is_none();
    let mut kernels = [bits, global].into_iter().chain(KERNELS.iter());
    kernels.find(takes).unwrap_or(bits)
}

/// Warns about options that have no effect in combination with the others.
pub(super) fn say_what_is_ignored(matches: &ArgMatches) {
    let matches = match matches.subcommand() {
        None => matches,
        Some(("run" | "snapshot" | "lecture", of)) => of,
        Some(_) => return,
    };
    let typed = |name: &str| matches.value_source(name) == Some(ValueSource::CommandLine);
    let session = matches.try_get_one::<PathBuf>("session").ok().flatten();
    let start = match session {
        Some(path) if path.exists() => "session",
        _ => "pattern",
    };
    for option in ["seed", "density", "pattern"] {
        if typed(option) && typed(start) && option != start {
            say(&tr!(
                "--{option} has no effect with --{start}, which sets the start"
            ));
        }
    }
}

impl Common {
    /// The options given for what a run otherwise chooses by itself, in this setup.
    pub(super) fn requested(&self, setup: &Setup) -> Requested {
        let switches = self.switches.switches();
        // The host may wait in a round of one's own.
        let of_round = (self.switches.order() == Order::Own).then_some(false);
        Requested {
            kernel: setup.own_kernel.or(self.kernel.flatten()),
            streams: self.switches.streams(),
            graphs: self.switches.graphs.or(of_round),
            generations: self.generations_per_round,
            switches: Switches {
                block: switches.block.filter(|_| setup.own_kernel.is_none()),
                ..switches
            },
            own_round: setup.setting.own_round.clone(),
        }
    }

    /// These options before a run chooses; undecided ones have simple values.
    pub(super) fn open(&self) -> Common {
        let mut simple = self.clone();
        simple.kernel = Some(self.kernel.flatten());
        simple.switches.streams = self.switches.streams().or(Some(Streams::One));
        simple
    }

    /// The setup of a session at this pace, which at the highest chooses kernel, streams and graphs itself
    /// if nothing is asked for.
    pub(super) fn session_setup(&self, pace: Option<Pace>) -> Result<Setup> {
        let has_kernel = self.kernel_file.is_some() || self.kernel.flatten().is_some();
        let submits = self.switches.streams().is_some() || self.switches.graphs.is_some();
        let mut setup = if pace == Some(Pace::Maximum) && !has_kernel && !submits {
            Setup {
                kernel_choice: KernelChoice::AutoWithSubmission,
                ..self.open().setup()?
            }
        } else {
            self.setup()?
        };
        setup.pace = pace.unwrap_or(setup.pace);
        Ok(setup)
    }

    /// The requested patterns. Prints a note for each one that was not read exactly as written.
    fn patterns(&self) -> Result<Vec<Pattern>> {
        let streams = self.pattern.iter().filter(|path| is_standard_input(path));
        if streams.count() > 1 {
            return refuse(tr!(
                "--pattern - can be given once: the standard input is read once"
            ));
        }
        let patterns = self.pattern.iter().map(|path| pattern(path));
        let patterns: Vec<Pattern> = patterns.collect::<Result<_, _>>()?;
        for remark in patterns.iter().flat_map(Pattern::remarks) {
            say(&remark);
        }
        Ok(patterns)
    }

    /// The round of the script that was given, if any.
    ///
    /// # Errors
    /// The file cannot be read, or the round is not right for the number of instances.
    fn own_round(&self) -> Result<Option<Arc<OwnRound>>> {
        let Some(path) = &self.switches.round else {
            return Ok(None);
        };
        let source = read(path)?;
        let own = OwnRound::new(source.into(), self.instances);
        let wrong = |why: &OwnRoundError| CheckFailed(located(path, why.place, &why.message));
        own.round.as_ref().map_err(wrong)?;
        Ok(Some(Arc::new(own)))
    }

    /// The size that was typed, by `--size` or with the rule.
    fn asked_size(&self) -> Result<Option<Size>, BadArguments> {
        let torus = self.rule.and_then(|requested| requested.torus);
        match (self.size, torus) {
            (Some(size), Some(torus)) if size != torus => Err(BadArguments(tr!(
                "--size is {size} and --rule names a torus of {torus}; leave one of them out"
            ))),
            (size, torus) => Ok(size.or(torus)),
        }
    }

    /// Refuses a pattern that has no room, and says with which size and kernel all of them have.
    fn check_fit(&self, patterns: &[Pattern], size: Size) -> Result<(), PatternError> {
        let is_too_large = |pattern: &&Pattern| pattern.check_fits(size).is_err();
        let Some(large) = patterns.iter().find(is_too_large) else {
            return Ok(());
        };
        let room = |room: Option<Size>, pattern: &Pattern| pattern.room_beside(room?);
        let offer = patterns.iter().fold(Some(size), room);
        // The kernel asked for where it takes that size, or else one that does.
        let kernel = self.kernel.zip(offer).map(|(kernel, offer)| match kernel {
            None => "auto",
            Some(kernel) if kernel.supports(offer) => kernel.name,
            Some(_) => any_kernel(offer, self.switches.switches()).name,
        });
        let sides = large.live_sides().into();
        Err(too_large(large.name(), sides, size, offer, kernel).into())
    }

    /// The kernel for lattices of this size, by default one that has room in memory; checks that the
    /// switches go together with it, with a round of the user's own and with each other.
    fn kernel_for(
        &self,
        size: Size,
        own_round: Option<&OwnRound>,
        has_room: impl Fn(&Kernel) -> bool,
    ) -> Result<&'static Kernel, BadArguments> {
        let switches = self.switches.switches();
        let takes = |it: &&Kernel| it.supports(size) && has_room(it);
        let by_default = || default_kernels(switches).find(takes);
        let kernel = self.kernel.unwrap_or_else(by_default);
        let kernel = kernel.unwrap_or_else(|| any_kernel(size, switches));
        let each = kernel.launches(self.generations_per_round.unwrap_or(1));
        let launches = self.instances as u64 * u64::from(each);
        let many = launches > MAX_GRAPH_LAUNCHES && kernel.iteration != Iteration::InKernel;
        if self.kernel != Some(None) && switches.graphs && many {
            return Err(BadArguments(format!(
                "--graphs on takes at most {MAX_GRAPH_LAUNCHES} launches per round, and this would be {launches}; use fewer --generations-per-round"
            )));
        }
        let own_order = OwnOrder::of(own_round, self.instances, 1);
        let context = SwitchContext { kernel, own_order };
        match context.incompatibility(&switches) {
            // Of a round of the user's own the reason names the remedy.
            Some(why) if switches.incompatibility(kernel).is_none() => Err(BadArguments(why)),
            Some(why) => {
                let remedy = remedy(switches, kernel);
                Err(BadArguments(format!("{why}; {remedy}")))
            }
            None => Ok(kernel),
        }
    }

    /// What these options describe; reads the patterns, and checks a kernel of the user's own.
    pub(super) fn setup(&self) -> Result<Setup> {
        if let Some(path) = &self.kernel_file {
            let own = kernel::read(path)?;
            let mut with_rung = self.clone();
            (with_rung.kernel, with_rung.kernel_file) = (Some(Some(own.rung)), None);
            with_rung.switches.block = None; // the file says it
            let mut setup = with_rung.setup()?;
            let kernel = kernel::compile(&own, shown(path), self.device)?;
            (setup.setting.kernel, setup.own_kernel) = (kernel, Some(kernel));
            return Ok(setup);
        }
        let default_size = Size::new(DEFAULT_SIDE, DEFAULT_SIDE)?;
        let patterns = self.patterns()?;
        let size = self.asked_size()?;
        let rule = self.rule.map(|requested| requested.rule);
        let (size, rule) = settle(&patterns, size, rule, default_size)?;
        self.check_fit(&patterns, size)?;
        // A lattice, and its copy on the way to the device.
        let copies = if patterns.is_empty() { 0 } else { 2 };
        let room = |kernel: &Kernel| {
            let layout = (self.device == DeviceChoice::Cpu).then_some(kernel.layout);
            ensure_room(size, self.instances.max(patterns.len()), layout, copies)
        };
        let own_round = self.own_round()?;
        let has_room = |kernel: &Kernel| room(kernel).is_ok();
        let kernel = self.kernel_for(size, own_round.as_deref(), has_room)?;
        kernel.validate_size(size)?;
        check_gpus(self.split, self.device)?;
        // Before any lattice is made: a line of text can ask for gigabytes.
        room(kernel)?;
        let start = if patterns.is_empty() {
            Start::soup(self.density, self.seed)
        } else {
            let centred = |pattern: &Pattern| pattern.centred_in(size).map(Arc::new);
            Start::Lattices {
                lattices: patterns.iter().map(centred).collect::<Result<_, _>>()?,
                generation: settle_generation(&patterns).unwrap_or_else(|| {
                    say(tr!(
                        "the patterns are of different generations; all start at generation 0"
                    ));
                    0
                }),
            }
        };
        Ok(Setup {
            instances: self.instances,
            size,
            rule,
            start,
            setting: Setting {
                kernel,
                switches: self.switches.switches(),
                own_round,
            },
            own_kernel: None,
            stored_kernel: None,
            kernel_choice: match self.kernel {
                Some(Some(_)) => KernelChoice::Explicit,
                Some(None) => KernelChoice::Auto,
                None => KernelChoice::FirstFitting,
            },
            device: self.device,
            split: self.split,
            generations_per_round: self.generations_per_round.unwrap_or(1),
            pace: Pace::PerSecond(ROUNDS_PER_SECOND),
            rounds: None,
            time: TimeSettings::DEFAULT,
        })
    }
}

/// Checks that lattices in bands may have several devices, and that there are several. Initialises the
/// driver.
fn check_gpus(split: Split, device: DeviceChoice) -> Result<()> {
    if split != Split::On {
        return Ok(());
    }
    if device != DeviceChoice::Cuda {
        return refuse(tr!("--split on takes several GPUs: use --device cuda"));
    }
    if list_devices()?.len() == 1 {
        return Err(EngineError::no_second_device(Feature::Bands).into());
    }
    Ok(())
}

/// What makes these switches and a kernel go together.
fn remedy(switches: Switches, kernel: &Kernel) -> String {
    if switches.streams != Streams::Batch || kernel.batched {
        return "change one of the options".into();
    }
    let batched = KERNELS.iter().filter(|kernel| kernel.batched);
    let names: Vec<&str> = batched.map(|kernel| kernel.name).collect();
    format!(
        "--streams batch takes one of these kernels: {}",
        names.join(", ")
    )
}

fn is_standard_input(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The pattern of this file, of the standard input where it is `-`, or the shelf's of this name where
/// there is no such file.
fn pattern(path: &Path) -> Result<Pattern, PatternError> {
    if is_standard_input(path) {
        return Pattern::read(tr!("the standard input"), std::io::stdin().lock());
    }
    let metadata = path.symlink_metadata();
    let is_missing = metadata.is_err_and(|error| error.kind() == ErrorKind::NotFound);
    let name = path.to_str().filter(|_| is_missing);
    if let Some(shelved) = name.and_then(Shelved::find) {
        return Ok(shelved.pattern());
    }
    if let Some(Shelved { name, .. }) = name.and_then(near) {
        let why = message!(
            "there is no such file; did you mean {name}, of the shelf? 'lifestreams patterns' lists it"
        );
        let path = path.display().to_string();
        return Err(PatternError::unreadable(&path, why));
    }
    Pattern::load(path)
}

/// The shelf's pattern that a file's name means, if it is a name alone.
fn near(name: &str) -> Option<&'static Shelved> {
    let is_alone = !name.contains(['/', '\\']);
    let stem = match Format::of_name(name) {
        Some(_) => Path::new(name).file_stem()?.to_str()?,
        None => name,
    };
    Shelved::near(stem).filter(|_| is_alone)
}

/// The session of the file that is there, or a new one.
pub(super) fn saved_or_new(
    common: &Common,
    window: &WindowArguments,
) -> Result<(Setup, SessionFile)> {
    let mut file = SessionFile::default();
    if let Some(path) = &window.session {
        // Said now, not when there is something to lose.
        file = SessionFile::reserve(path)?;
        if path.exists() {
            file.from = Some(SavedSession::load(path)?);
        }
    }
    let mut setup;
    if let Some(saved) = &file.from {
        setup = saved.setup.clone();
        // The file may have come from another machine.
        if common.device != DeviceChoice::Auto {
            setup.device = common.device;
        }
        setup.split = common.split;
        check_gpus(setup.split, setup.device)?;
    } else {
        setup = common.session_setup(window.pace)?;
        setup.time = window.time.settings();
    }
    setup.rounds = window.rounds;
    let is_trusted = |it: &StoredKernel| window.trust_kernel || workshop::is_trusted(&it.source);
    if let Some(stored) = setup.stored_kernel.clone().filter(|it| is_trusted(it)) {
        run_kernel(&mut setup, &stored)?;
    }
    Ok((setup, file))
}

/// Checks a kernel from a session's file, which its user lets run; it stays text where it does not run.
pub(super) fn run_kernel(setup: &mut Setup, stored: &StoredKernel) -> Result<()> {
    let StoredKernel { file, rung, .. } = stored;
    let compile = || {
        let own = OwnKernel::read(stored.source.as_bytes().to_vec());
        let own = own.map_err(|error| BadArguments(error.to_string()))?;
        kernel::compile(&own, file.clone(), setup.device)
    };
    match compile() {
        Ok(kernel) => setup.take_own_kernel(kernel),
        Err(why) if is_cancelled(why.as_ref()) => return Err(why),
        // The lattices are there all the same.
        Err(why) => say(&tr!(
            "{file}: its own kernel does not run here ({why}); {rung} takes its place, and the file keeps the kernel",
            rung = rung.file,
            why = format!("{why:#}")
        )),
    }
    Ok(())
}
