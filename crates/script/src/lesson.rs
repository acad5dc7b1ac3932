//! Scripts of lessons: what is put in place, what is measured, and what is checked.
//!
//! Such a script has arrays beside the numbers of the language. What it calls before `measure()` puts things
//! in place, what it calls after that is measured, and what it calls after `check()` looks at the result.
//! Nothing runs here: the calls become programs for an engine ([`Recipe`]), which checks them as it checks all
//! others.

use std::any::TypeId;
use std::ops::Range;

use engine::{
    Argument, BufferId, BufferKernel, BufferLaunch, BufferLocation, BufferOffset, BufferOp,
    DeviceId, EventId, HostMemory, IssuerId, Kernel, LatticeOp, MemoryOp, Op, OrderOp,
    PageLocation, Priority, Program, Scope, Slot, StreamId, StreamKind, StreamSpec, Transfer,
    buffer_kernels::{self, ArgumentType},
    kernels,
};
use lang::{mark, message};
use life::{Rule, Size};
pub use rhai::Dynamic;
use rhai::ImmutableString as Text;

use crate::interpreter::{self, Called, Function, Given, in_range};
use crate::{MAX_EVENTS, MAX_STREAMS, ScriptError};

/// The most bytes of all arrays.
const MAX_BYTES: i64 = 4 << 30;
/// The most arrays.
const MAX_ARRAYS: usize = 4096;
/// The most contexts and devices, the first device included.
const MAX_DEVICES: u32 = 16;

/// An array, or a part of one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Array {
    /// Where it begins.
    pub start: BufferOffset,
    /// How long it is.
    pub bytes: usize,
}

/// What a script wants of an engine with nothing on it, and what it does there. Ids are those that the
/// engine gives if devices, arrays, streams and events are made in this order.
#[derive(Clone, Debug, Default)]
pub struct Recipe {
    /// The devices beside the first one.
    pub devices: Vec<OtherDevice>,
    /// Where each array is, and its bytes.
    pub arrays: Vec<(DeviceId, usize, BufferLocation)>,
    /// Where each stream is, and of which kind.
    pub streams: Vec<(DeviceId, StreamSpec)>,
    /// How many events there are.
    pub events: u32,
    /// Lattices of a random soup: how many, their size, and the kernel that steps them.
    pub lattices: Option<(usize, Size, &'static Kernel)>,
    /// The rows of the halos, where the lattices are cut over all GPUs.
    pub halo: Option<u32>,
    /// Whether what is measured is prepared as a graph.
    pub as_graph: bool,
    /// What is put in place, done each time before the clock runs, measured, and checked.
    pub phases: [Vec<Stage>; 4],
}

/// A device that a script asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OtherDevice {
    /// Another context of the first one.
    Context,
    /// Another GPU.
    Gpu,
}

/// What is done in one go.
#[derive(Clone, Debug)]
pub enum Stage {
    /// The engine runs this.
    Run(Program),
    /// The host does this once everything before it is done.
    Host(HostWork),
}

/// What the host does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HostWork {
    /// Fills an array with numbers.
    Fill(Array, Numbers),
    /// Inverts every bit.
    Invert(Array),
    /// Reads every word.
    Read(Array),
    /// Lets the first two devices reach each other's memory, or not.
    PeerAccess(bool),
    /// Checks that two arrays have the same words.
    Same(Array, Array),
    /// Checks that an array has this word everywhere.
    All(Array, u32),
    /// Checks that `scale` changed what it should.
    Scaled(Array),
    /// Checks that the CPU computes the same words, where it makes the calls one after another.
    Right(Array),
    /// Counts the words of the first array that are not those of the second one.
    Wrong(Array, Array),
    /// Shows an array as a picture of this width: words that are not 0 are light. Those that are not as in
    /// the second array are red.
    Picture(Array, Array, u32),
    /// Shows the bytes of an array as gray values of a picture of this width.
    Gray(Array, u32),
    /// Counts the events that have fired when the measured calls have returned, and when all is done.
    Events,
    /// Shows what it takes to make a context, to do what is measured there first, and to destroy it.
    Contexts,
    /// Shows the occupancy of the first launch that is measured.
    Occupancy,
}

/// Numbers to fill an array with. They are others each time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Numbers {
    /// Floats from 1 to 2, and one that overflows when it is doubled.
    Floats,
    /// 1 for three words of ten, else 0.
    Cells,
    /// Complex numbers on a square of the plane, row by row: of -2 to 2 along both axes.
    Points,
    /// Words with all kinds of bytes.
    Pixels,
    /// 0 everywhere.
    Zeros,
}

/// The functions of lessons' scripts.
const FUNCTIONS: &[Function<Maker>] = &[
    ("device(bytes)", |it, g| {
        it.array(g.next(), BufferLocation::Device)
    }),
    ("pinned(bytes)", |it, g| it.array(g.next(), PINNED)),
    ("pageable(bytes)", |it, g| it.array(g.next(), PAGEABLE)),
    ("managed(bytes)", |it, g| {
        it.array(g.next(), BufferLocation::Managed)
    }),
    ("pool(bytes)", |it, g| {
        it.array(g.next(), BufferLocation::Pool)
    }),
    ("part(array, offset, bytes)", |_, g| {
        part(g.next(), g.next(), g.next())
    }),
    ("lattices(count, side, kernel)", |it, g| {
        it.lattices(g.next(), g.next(), g.next())
    }),
    ("bands(rows)", |it, g| it.bands(g.next())),
    ("context()", |it, _| it.another(OtherDevice::Context)),
    ("gpu()", |it, _| it.another(OtherDevice::Gpu)),
    ("on(device)", |it, g| it.on(g.next())),
    ("host_thread(number)", |it, g| it.host_thread(g.next())),
    ("kind(stream, kind)", |it, g| it.kind(g.next(), g.next())),
    ("fill(array, numbers)", |it, g| it.fill(g.next(), g.next())),
    ("before()", |it, _| it.begin(Recipe::BEFORE)),
    ("measure()", |it, _| it.begin(Recipe::MEASURED)),
    ("graph()", |it, _| {
        it.recipe.as_graph = true;
        it.begin(Recipe::MEASURED)
    }),
    ("check()", |it, _| it.begin(Recipe::CHECK)),
    ("copy(from, to, stream)", |it, g| {
        it.copy(g.next(), g.next(), g.next())
    }),
    ("launch(kernel, blocks, threads, stream, …)", |it, g| {
        it.launch(g)
    }),
    ("advance(i, generations, stream)", |it, g| {
        it.advance(g.next(), g.next(), g.next())
    }),
    ("pack(i, stream)", |it, g| it.on_lattice(LatticeOp::Pack, g)),
    ("download(i, stream)", |it, g| {
        it.on_lattice(DOWNLOAD_BITS, g)
    }),
    ("download_cells(i, stream)", |it, g| {
        it.on_lattice(DOWNLOAD_CELLS, g)
    }),
    ("record(event, stream)", |it, g| {
        it.on_event(OrderOp::Record, g)
    }),
    ("wait(event, stream)", |it, g| it.on_event(OrderOp::Wait, g)),
    ("synchronize(stream)", |it, g| {
        it.push(OrderOp::Synchronize(Scope::Stream), g.next())
    }),
    ("host(array, stream)", |it, g| {
        it.on_whole(BufferOp::HostFunction, g)
    }),
    ("invert(array)", |it, g| it.host(HostWork::Invert(g.next()))),
    ("read(array)", |it, g| it.host(HostWork::Read(g.next()))),
    ("allocate(array, stream)", |it, g| {
        it.on_whole(MemoryOp::Allocate, g)
    }),
    ("free(array, stream)", |it, g| {
        it.on_whole(MemoryOp::Free, g)
    }),
    ("keep(everything, stream)", |it, g| {
        it.keep(g.next(), g.next())
    }),
    ("advise(array, stream)", |it, g| {
        it.on_whole(MemoryOp::AdviseReadMostly, g)
    }),
    ("to_device(array, stream)", |it, g| {
        it.on_whole(|of| MemoryOp::Prefetch(of, PageLocation::Device), g)
    }),
    ("to_host(array, stream)", |it, g| {
        it.on_whole(|of| MemoryOp::Prefetch(of, PageLocation::Host), g)
    }),
    ("peer_access(allowed)", |it, g| {
        it.host(HostWork::PeerAccess(g.next()))
    }),
    ("same(a, b)", |it, g| {
        it.host(HostWork::Same(g.next(), g.next()))
    }),
    ("all(array, word)", |it, g| {
        it.host(HostWork::All(
            g.next(),
            in_range(mark!("word"), u32::MAX, g.next())?,
        ))
    }),
    ("scaled(array)", |it, g| it.host(HostWork::Scaled(g.next()))),
    ("right(array)", |it, g| it.host(HostWork::Right(g.next()))),
    ("wrong(a, b)", |it, g| {
        it.host(HostWork::Wrong(g.next(), g.next()))
    }),
    ("picture(array, right, width)", |it, g| {
        it.host(HostWork::Picture(
            g.next(),
            g.next(),
            in_range(mark!("width"), 4097, g.next())?,
        ))
    }),
    ("gray(array, width)", |it, g| {
        it.host(HostWork::Gray(
            g.next(),
            in_range(mark!("width"), 4097, g.next())?,
        ))
    }),
    ("events()", |it, _| it.host(HostWork::Events)),
    ("contexts()", |it, _| it.host(HostWork::Contexts)),
    ("occupancy()", |it, _| it.host(HostWork::Occupancy)),
];

const PINNED: BufferLocation = BufferLocation::Host(HostMemory::Pinned);
const PAGEABLE: BufferLocation = BufferLocation::Host(HostMemory::Pageable);
const DOWNLOAD_BITS: LatticeOp = LatticeOp::Download {
    slot: Slot(0),
    what: Transfer::Bits,
};
const DOWNLOAD_CELLS: LatticeOp = LatticeOp::Download {
    slot: Slot(1),
    what: Transfer::Cells,
};

impl interpreter::Maker for Maker {
    fn type_of(parameter: &str) -> TypeId {
        match parameter {
            "array" | "from" | "to" | "a" | "b" | "right" => TypeId::of::<Array>(),
            "kernel" | "kind" | "numbers" => TypeId::of::<Text>(),
            "everything" | "allowed" => TypeId::of::<bool>(),
            "…" => TypeId::of::<Dynamic>(),
            _ => TypeId::of::<i64>(),
        }
    }
}

impl Recipe {
    /// Runs a lesson's script, with these constants: names, and whole numbers or truth values.
    ///
    /// # Errors
    /// The first place that cannot be read, or where it fails or goes beyond what a lesson may have.
    pub fn of(
        source: &str,
        constants: Vec<(&'static str, Dynamic)>,
    ) -> Result<Recipe, ScriptError> {
        let recipe =
            interpreter::run(source, constants, FUNCTIONS.to_vec(), Maker::default())?.recipe;
        let measured = &recipe.phases[Recipe::MEASURED];
        let message = if measured.is_empty() {
            message!("Nothing is measured: call measure(), and then what is to be measured.")
        } else if recipe.as_graph && !matches!(measured[..], [Stage::Run(_)]) {
            message!("A graph has no work of the host.")
        } else {
            return Ok(recipe);
        };
        Err(ScriptError::new(message, None))
    }

    /// The phase that puts things in place.
    pub const SETUP: usize = 0;
    /// The phase that comes each time before the clock runs.
    pub const BEFORE: usize = 1;
    /// The phase that is measured.
    pub const MEASURED: usize = 2;
    /// The phase that checks.
    pub const CHECK: usize = 3;
}

/// What has been called so far.
#[derive(Default)]
struct Maker {
    recipe: Recipe,
    phase: usize,
    device: DeviceId,
    issuer: IssuerId,
    bytes: i64,
}

impl Maker {
    fn array(&mut self, bytes: i64, location: BufferLocation) -> Called {
        let all = self.bytes.saturating_add(bytes.max(0));
        let arrays = &mut self.recipe.arrays;
        if bytes < 4 || bytes % 4 != 0 || all > MAX_BYTES || arrays.len() == MAX_ARRAYS {
            return Err(message!(
                "An array has a multiple of 4 bytes, and all arrays {max} bytes at most.",
                max = MAX_BYTES
            ));
        }
        self.bytes = all;
        let buffer = BufferId(arrays.len() as u32);
        arrays.push((self.device, bytes as usize, location));
        Ok(Dynamic::from(Array {
            start: BufferOffset { buffer, offset: 0 },
            bytes: bytes as usize,
        }))
    }

    fn lattices(&mut self, count: i64, side: i64, kernel: Text) -> Called {
        let known = kernels::KERNELS.iter().map(|it| (it.name, it));
        let kernel = word(&kernel, &known.collect::<Vec<_>>())?;
        let count = in_range(mark!("instance"), 4097, count)?;
        let side = u64::try_from(side).ok().filter(|side| side % 32 == 0);
        let size = side.and_then(|side| Size::new(side, side).ok());
        let Some(size) = size.filter(|_| count > 0) else {
            return Err(message!(
                "There is at least one lattice, whose side is a multiple of 32."
            ));
        };
        self.recipe.lattices = Some((count as usize, size, kernel));
        Ok(Dynamic::UNIT)
    }

    fn bands(&mut self, rows: i64) -> Called {
        self.recipe.halo = Some(in_range(mark!("halo"), 1 << 10, rows)?);
        Ok(Dynamic::UNIT)
    }

    fn another(&mut self, device: OtherDevice) -> Called {
        self.recipe.devices.push(device);
        let number = self.recipe.devices.len() as i64;
        in_range(mark!("device"), MAX_DEVICES, number)?;
        Ok(number.into())
    }

    fn on(&mut self, device: i64) -> Called {
        let devices = self.recipe.devices.len() as u32 + 1;
        self.device = DeviceId(in_range(mark!("device"), devices, device)? as u16);
        Ok(Dynamic::UNIT)
    }

    fn host_thread(&mut self, number: i64) -> Called {
        self.issuer = IssuerId(in_range(mark!("thread"), 32, number)? as u8);
        Ok(Dynamic::UNIT)
    }

    fn kind(&mut self, stream: i64, kind: Text) -> Called {
        let stream = self.stream(stream)?;
        let spec = &mut self.recipe.streams[stream.0 as usize].1;
        match word(&kind, &[("blocking", 0), ("default", 1), ("high", 2)])? {
            0 => spec.kind = StreamKind::Blocking,
            1 => spec.kind = StreamKind::Default,
            _ => spec.priority = Priority::High,
        }
        Ok(Dynamic::UNIT)
    }

    /// Begins another phase.
    fn begin(&mut self, phase: usize) -> Called {
        if phase <= self.phase || (phase == Recipe::CHECK && self.phase != Recipe::MEASURED) {
            return Err(message!(
                "First comes measure(), with before() in front of it or not, then check(); each once."
            ));
        }
        (self.phase, self.issuer) = (phase, IssuerId(0));
        Ok(Dynamic::UNIT)
    }

    fn stream(&mut self, stream: i64) -> Called<StreamId> {
        let stream = in_range(mark!("stream"), MAX_STREAMS, stream)?;
        let streams = &mut self.recipe.streams;
        let all = streams.len().max(stream as usize + 1);
        streams.resize(all, (self.device, StreamSpec::PLAIN));
        Ok(StreamId(stream))
    }

    /// Adds an op of a stream to what is done in this phase.
    fn push(&mut self, op: impl Into<Op>, stream: i64) -> Called {
        let stream = self.stream(stream)?;
        let phase = &mut self.recipe.phases[self.phase];
        if !matches!(phase.last(), Some(Stage::Run(_))) {
            phase.push(Stage::Run(Program::default()));
        }
        if let Some(Stage::Run(program)) = phase.last_mut() {
            program.push_from(self.issuer, stream, op);
        }
        Ok(Dynamic::UNIT)
    }

    fn copy(&mut self, from: Array, to: Array, stream: i64) -> Called {
        if from.bytes != to.bytes {
            return Err(message!(
                "A copy is between two arrays of one length: these have {from} and {to} bytes. Take a part of one.",
                from = from.bytes,
                to = to.bytes
            ));
        }
        let (bytes, from, to) = (from.bytes, from.start, to.start);
        self.push(BufferOp::Copy { from, to, bytes }, stream)
    }

    /// A launch of a kernel, in blocks of threads, in a stream; then its arguments.
    fn launch(&mut self, given: &mut Given) -> Called {
        let name: Text = given.next();
        let known = buffer_kernels::LESSON_KERNELS.map(|it| (it.name, it));
        let kernel = word(&name, &known)?;
        let shape = [given.next::<i64>(), given.next()].map(u32::try_from);
        let stream = given.next();
        let arguments = arguments(kernel, given);
        let ([Ok(blocks @ 1..), Ok(threads @ 1..=1024)], Some(arguments)) = (shape, arguments)
        else {
            return Err(message!(
                "{kernel} takes at least one block of 1 to 1024 threads, and after the stream: {parameters}.",
                kernel = kernel.name,
                parameters = kernel.parameters_in_words()
            ));
        };
        let launch = BufferLaunch {
            kernel,
            shape: kernels::Launch::in_row(blocks, threads),
            arguments,
        };
        self.push(BufferOp::Launch(launch), stream)
    }

    /// The nth lattice as a range, and the kernel of all.
    fn lattice(&self, lattice: i64) -> Called<(Range<u32>, &'static Kernel)> {
        let Some((count, _, kernel)) = self.recipe.lattices else {
            return Err(message!(
                "There are no lattices: call lattices(count, side, kernel) first."
            ));
        };
        let lattice = in_range(mark!("instance"), count as u32, lattice)?;
        Ok((lattice..lattice + 1, kernel))
    }

    fn advance(&mut self, i: i64, generations: i64, stream: i64) -> Called {
        let (lattice, kernel) = self.lattice(i)?;
        let generations = in_range(mark!("generation"), 1 << 30, generations)?;
        let op = Op::advance(kernel, lattice, Rule::LIFE, generations);
        self.push(op, stream)
    }

    fn on_lattice(&mut self, op: LatticeOp, given: &mut Given) -> Called {
        let (lattice, _) = self.lattice(given.next())?;
        self.push(op.on(lattice), given.next())
    }

    fn on_event(&mut self, op: fn(EventId) -> OrderOp, given: &mut Given) -> Called {
        let event = in_range(mark!("event"), MAX_EVENTS, given.next())?;
        self.recipe.events = self.recipe.events.max(event + 1);
        self.push(op(EventId(event)), given.next())
    }

    /// An op on the buffer of an array that is not a part of one.
    fn on_whole<T: Into<Op>>(&mut self, op: fn(BufferId) -> T, given: &mut Given) -> Called {
        let array: Array = given.next();
        let buffer = array.start.buffer;
        if array.bytes != self.recipe.arrays[buffer.0 as usize].1 {
            return Err(message!("This takes a whole array, and not a part of one."));
        }
        self.push(op(buffer), given.next())
    }

    fn keep(&mut self, everything: bool, stream: i64) -> Called {
        let threshold = if everything { u64::MAX } else { 0 };
        self.push(MemoryOp::SetReleaseThreshold(threshold), stream)
    }

    fn fill(&mut self, array: Array, numbers: Text) -> Called {
        let known = [
            ("floats", Numbers::Floats),
            ("cells", Numbers::Cells),
            ("points", Numbers::Points),
            ("pixels", Numbers::Pixels),
            ("zeros", Numbers::Zeros),
        ];
        self.host(HostWork::Fill(array, word(&numbers, &known)?))
    }

    fn host(&mut self, work: HostWork) -> Called {
        let arrays = match work {
            HostWork::Same(a, b) | HostWork::Wrong(a, b) | HostWork::Picture(a, b, _) => {
                vec![a, b]
            }
            HostWork::Fill(a, _)
            | HostWork::All(a, _)
            | HostWork::Gray(a, _)
            | HostWork::Invert(a)
            | HostWork::Read(a)
            | HostWork::Scaled(a)
            | HostWork::Right(a) => vec![a],
            _ => Vec::new(),
        };
        let is_of_any_phase = matches!(
            work,
            HostWork::Fill(..) | HostWork::Invert(_) | HostWork::Read(_) | HostWork::PeerAccess(_)
        );
        if !is_of_any_phase && self.phase != Recipe::CHECK {
            return Err(message!("This looks at the result: call it after check()."));
        }
        let is_reached = |array: &Array| {
            let (.., location) = self.recipe.arrays[array.start.buffer.0 as usize];
            matches!(location, BufferLocation::Host(_) | BufferLocation::Managed)
                && array.bytes == arrays[0].bytes
        };
        if !arrays.iter().all(is_reached) {
            return Err(message!(
                "The host reaches arrays in its own or in unified memory, and compares those of one length."
            ));
        }
        self.recipe.phases[self.phase].push(Stage::Host(work));
        Ok(Dynamic::UNIT)
    }
}

/// A part of an array.
fn part(of: Array, offset: i64, bytes: i64) -> Called {
    let end = offset.checked_add(bytes);
    let is_within = end.is_some_and(|end| end <= of.bytes as i64);
    if offset < 0 || bytes < 4 || offset % 4 != 0 || bytes % 4 != 0 || !is_within {
        return Err(message!(
            "A part lies within its array of {bytes} bytes; both numbers are multiples of 4.",
            bytes = of.bytes
        ));
    }
    let mut part = of;
    part.start.offset += offset as usize;
    part.bytes = bytes as usize;
    Ok(Dynamic::from(part))
}

/// Arguments of a kernel's types; `None` if these are not.
fn arguments(kernel: &BufferKernel, given: &mut Given) -> Option<Vec<Argument>> {
    let given = given.values.by_ref();
    if given.len() != kernel.parameters.len() {
        return None;
    }
    let arguments = given.zip(kernel.parameters).map(|(given, parameter)| {
        if *parameter == ArgumentType::Buffer {
            return Some(Argument::Buffer(given.clone().try_cast::<Array>()?.start));
        }
        let flag = given.as_bool().ok().map(i64::from);
        let number = flag.or(given.as_int().ok())?;
        Some(match parameter {
            ArgumentType::Buffer => return None,
            ArgumentType::I32 => Argument::I32(number.try_into().ok()?),
            ArgumentType::U32 => Argument::U32(number.try_into().ok()?),
            ArgumentType::U64 => Argument::U64(number.try_into().ok()?),
            ArgumentType::F32 => Argument::F32(number as f32),
        })
    });
    arguments.collect()
}

/// One of a few words.
fn word<T: Copy>(given: &str, known: &[(&str, T)]) -> Called<T> {
    let found = known.iter().find(|(name, _)| *name == given);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
        message!(
            "There is no '{given}' here; there are {names}.",
            given = given,
            names = names.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guide_to_lessons_has_every_function() {
        let guide = include_str!("../../../docs/own-lesson.md");
        for (usage, _) in FUNCTIONS {
            let row = format!("| `{usage}` | ");
            assert!(guide.contains(&row), "{row}");
        }
    }
}
