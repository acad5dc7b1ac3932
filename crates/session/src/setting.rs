//! What a round is stepped with: the lab's switches (F2 to F8), the positions that each has and which of
//! them go together, and the round that a user wrote.
//!
//! # What a position does
//! [`Switch::next`] decides which position a key takes. The session's `worker/settings.rs` sets it, and
//! `instances.rs` gives every instance its stream or the host its slots. There, and nowhere else,
//! is made what a round then consists of: which ops, in which streams and order.

use clap::ValueEnum;
use engine::{HostMemory, Kernel, Layout, Transfer};
use lang::{Message, mark, tr};
use script::{Place, Round, Verdict, Work};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What a round is stepped with: an argument of the round. How many generations it has is not part of
/// it: that changes from round to round.
#[derive(Clone, PartialEq, Debug)]
pub struct Setting {
    /// The kernel.
    pub kernel: &'static Kernel,
    /// How the round is issued, copied and waited for.
    pub switches: Switches,
    /// The round that a user wrote; [`Order::Own`] takes it.
    pub own_round: Option<Arc<OwnRound>>,
}

impl Setting {
    /// With another kernel, and without the switches that it does not take.
    #[must_use]
    pub fn with_kernel(&self, kernel: &'static Kernel) -> Setting {
        Setting {
            kernel,
            switches: self.switches.fitted_to(kernel),
            ..self.clone()
        }
    }

    /// With other switches.
    #[must_use]
    pub fn with_switches(&self, switches: Switches) -> Setting {
        Setting {
            switches,
            ..self.clone()
        }
    }

    pub(crate) fn is_pinned(&self) -> bool {
        self.switches.host_memory == HostMemory::Pinned
    }

    /// Whether one op steps all lattices of a stream, so that all must be in the same one of two buffers.
    pub(crate) fn aligns_buffers(&self) -> bool {
        let has_two = self.kernel.layout != Layout::Bits && !self.kernel.is_in_place();
        self.switches.streams == Streams::Batch && has_two
    }

    /// The calls of the user's round for so many lattices, if that is the order.
    pub(crate) fn own_calls(&self, lattices: usize) -> Option<&Arc<script::Round>> {
        let own = self.own_round.as_ref()?;
        own.round_of(lattices)
            .filter(|_| self.switches.order == Order::Own)
    }
}

// The switches.

/// How rounds are issued, copied and waited for: everything that a switch changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Switches {
    /// In how many streams.
    pub streams: Streams,
    /// What memory of the host downloads land in.
    #[serde(alias = "host-memory")]
    pub host_memory: HostMemory,
    /// How the host learns that a round is over.
    pub wait: Wait,
    /// In which order the host issues a round's ops.
    pub order: Order,
    /// Whether a round is prepared as a graph and replayed.
    pub graphs: bool,
    /// What crosses the bus.
    pub transfer: TransferChoice,
    /// The shape of a kernel's blocks, if not the kernel's own.
    pub block: Option<(u32, u32)>,
}

impl Default for Switches {
    fn default() -> Switches {
        Switches::DEFAULT
    }
}

impl Switches {
    /// What a session starts with unless something else is asked for.
    pub const DEFAULT: Switches = Switches {
        streams: Streams::PerInstance,
        host_memory: HostMemory::Pinned,
        wait: Wait::Poll,
        order: Order::Breadth,
        graphs: false,
        transfer: TransferChoice::Auto,
        block: None,
    };

    /// Why these cannot be together, or not with this kernel.
    pub fn incompatibility(&self, kernel: &Kernel) -> Option<String> {
        let (is_own, graphs) = (self.order == Order::Own, self.graphs);
        let contradictions = [
            (
                is_own && self.streams != Streams::PerInstance,
                mark!("a round of your own chooses its streams itself"),
            ),
            (
                is_own && self.wait != Wait::Poll,
                mark!("a round of your own says itself where the host waits"),
            ),
            (
                graphs && self.streams == Streams::Default,
                mark!("the default stream cannot be captured in a graph"),
            ),
            (
                graphs && self.wait == Wait::Each,
                mark!("the host cannot wait inside a graph"),
            ),
            (
                graphs && self.host_memory == HostMemory::Pageable,
                mark!("copies in a graph need page-locked memory"),
            ),
        ];
        if let Some((_, why)) = contradictions.into_iter().find(|it| it.0) {
            return Some(lang::text(why).into());
        }
        if self.transfer == TransferChoice::Cells && kernel.layout != Layout::I32 {
            return Some(tr!("kernel '{}' has no i32 cells to copy", kernel.name));
        }
        if self.streams == Streams::Batch && !kernel.batched {
            return Some(tr!("kernel '{}' steps one lattice per launch", kernel.name));
        }
        let block = self.block?;
        kernel
            .validate_block(block)
            .err()
            .map(|error| error.to_string())
    }

    /// Without what this kernel does not take.
    pub fn fitted_to(mut self, kernel: &Kernel) -> Switches {
        let is_supported = |block: &(u32, u32)| kernel.validate_block(*block).is_ok();
        self.block = self
            .block
            .filter(is_supported)
            .filter(|&block| block != kernel.block());
        if self.transfer == TransferChoice::Cells && kernel.layout != Layout::I32 {
            self.transfer = TransferChoice::Auto;
        }
        if self.streams == Streams::Batch && !kernel.batched {
            self.streams = Streams::One;
        }
        self
    }

    /// These, with what differs between two others.
    pub fn changed_as(self, before: Switches, after: Switches) -> Switches {
        fn change<T: PartialEq>(own: T, before: T, after: T) -> T {
            if before == after { own } else { after }
        }
        Switches {
            streams: change(self.streams, before.streams, after.streams),
            host_memory: change(self.host_memory, before.host_memory, after.host_memory),
            wait: change(self.wait, before.wait, after.wait),
            order: change(self.order, before.order, after.order),
            graphs: change(self.graphs, before.graphs, after.graphs),
            transfer: change(self.transfer, before.transfer, after.transfer),
            block: change(self.block, before.block, after.block),
        }
    }

    /// The switches that stand otherwise among these others.
    pub fn differing(self, others: Switches, kernel: &Kernel) -> Vec<Switch> {
        let is_other = |it: &Switch| it.position(self, kernel) != it.position(others, kernel);
        Switch::ALL.into_iter().filter(is_other).collect()
    }

    /// The shape of a kernel's blocks.
    pub fn block_of(&self, kernel: &Kernel) -> (u32, u32) {
        self.block.unwrap_or(kernel.block())
    }
}

/// What decides, beside the switches themselves, which of their positions can be taken.
#[derive(Clone, Copy, Debug)]
pub struct SwitchContext<'a> {
    /// The kernel.
    pub kernel: &'a Kernel,
    /// Whether there is a round of one's own.
    pub own_order: OwnOrder,
}

impl<'a> From<&'a Kernel> for SwitchContext<'a> {
    fn from(kernel: &'a Kernel) -> SwitchContext<'a> {
        SwitchContext {
            kernel,
            own_order: OwnOrder::Unwritten,
        }
    }
}

impl SwitchContext<'_> {
    /// Why switches cannot be together, or not here.
    pub fn incompatibility(&self, switches: &Switches) -> Option<String> {
        let of_own_order = match self.own_order {
            _ if switches.order != Order::Own => None,
            OwnOrder::Unwritten => Some(tr!(
                "no round of your own is written; the editor writes one, or start with --round FILE"
            )),
            OwnOrder::Wrong => Some(tr!(
                "the round of your own is not right for this number of instances"
            )),
            OwnOrder::SeveralDevices => Some(tr!("a round of your own runs on one device")),
            OwnOrder::Available { synchronizes: true } if switches.graphs => Some(tr!(
                "the host waits in the round, and cannot inside a graph"
            )),
            OwnOrder::Available { .. } => None,
        };
        let of_own_order = of_own_order.map(str::to_owned);
        of_own_order.or_else(|| switches.incompatibility(self.kernel))
    }
}

/// One of the switches.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Switch {
    /// [`Switches::streams`].
    Streams,
    /// [`Switches::host_memory`].
    HostMemory,
    /// [`Switches::wait`].
    Wait,
    /// [`Switches::order`].
    Order,
    /// [`Switches::graphs`].
    Graphs,
    /// [`Switches::transfer`].
    Transfer,
    /// [`Switches::block`].
    Block,
}

/// A position of a switch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Choice {
    /// What it is called: in English as its option is.
    pub label: String,
    /// What it does, in one line.
    pub effect: String,
    /// All switches, with this one so.
    pub switches: Switches,
    /// The reason if it is unavailable.
    pub unavailable: Option<String>,
}

impl Switch {
    /// All of them, in the order of their keys.
    pub const ALL: [Switch; 7] = [
        Switch::Streams,
        Switch::HostMemory,
        Switch::Wait,
        Switch::Order,
        Switch::Graphs,
        Switch::Transfer,
        Switch::Block,
    ];

    /// The key that takes its next position; the front ends' table of actions has it from here.
    pub fn key(self) -> &'static str {
        ["F2", "F3", "F4", "F5", "F6", "F7", "F8"][self as usize]
    }

    /// Its name, as its option has it without the dashes.
    pub fn name(self) -> &'static str {
        match self {
            Switch::Streams => tr!("streams"),
            Switch::HostMemory => tr!("host memory"),
            Switch::Wait => tr!("wait"),
            Switch::Order => tr!("order"),
            Switch::Graphs => tr!("graphs"),
            Switch::Transfer => tr!("transfer"),
            Switch::Block => tr!("block"),
        }
    }

    /// Its positions, given the others.
    pub fn choices<'a>(self, now: Switches, context: impl Into<SwitchContext<'a>>) -> Vec<Choice> {
        let context = context.into();
        let positions = self.positions(now, context.kernel).into_iter();
        positions.map(|it| self.choice(it, context)).collect()
    }

    /// All switches, with this one in each of its positions.
    pub fn positions(self, now: Switches, kernel: &Kernel) -> Vec<Switches> {
        fn each<T: ValueEnum + Copy>(with: impl Fn(T) -> Switches) -> Vec<Switches> {
            T::value_variants().iter().map(|&it| with(it)).collect()
        }
        match self {
            Switch::Streams => each(|streams| Switches { streams, ..now }),
            Switch::HostMemory => each(|host_memory| Switches { host_memory, ..now }),
            Switch::Wait => each(|wait| Switches { wait, ..now }),
            Switch::Order => each(|order| Switches { order, ..now }),
            Switch::Graphs => [false, true]
                .map(|graphs| Switches { graphs, ..now })
                .into(),
            Switch::Transfer => each(|transfer| Switches { transfer, ..now }),
            Switch::Block => {
                let shapes = kernel.blocks.iter();
                let shapes = shapes.map(|&it| Some(it).filter(|&it| it != kernel.block()));
                shapes.map(|block| Switches { block, ..now }).collect()
            }
        }
    }

    /// Its position among these switches.
    pub fn choice(self, switches: Switches, context: SwitchContext<'_>) -> Choice {
        let [label, effect, _] = self.texts(switches, context.kernel);
        Choice {
            label: lang::shown(&label),
            effect,
            switches,
            unavailable: context.incompatibility(&switches),
        }
    }

    /// The present position: what it is called, in English as its option is; what it does, in one line;
    /// and words that say which switch it is.
    pub(crate) fn texts(self, now: Switches, kernel: &Kernel) -> [String; 3] {
        let texts = match self {
            Switch::Streams => match now.streams {
                Streams::PerInstance => [
                    mark!("per-instance"),
                    tr!("one stream per instance"),
                    tr!("a stream each"),
                ],
                Streams::One => [
                    mark!("one"),
                    tr!("one stream for all instances"),
                    tr!("one stream"),
                ],
                Streams::Default => [
                    mark!("default"),
                    tr!("the default stream for all instances"),
                    tr!("default stream"),
                ],
                Streams::Batch => [
                    mark!("batch"),
                    tr!("one launch and one copy for all instances"),
                    tr!("a batch"),
                ],
            },
            Switch::HostMemory => match now.host_memory {
                HostMemory::Pinned => [
                    mark!("pinned"),
                    tr!("page-locked: copies are asynchronous"),
                    tr!("page-locked"),
                ],
                HostMemory::Pageable => [
                    mark!("pageable"),
                    tr!("pageable: the call blocks until the copy is done"),
                    tr!("pageable"),
                ],
            },
            Switch::Wait => match now.wait {
                Wait::Poll => [
                    mark!("poll"),
                    tr!("the host polls events and never waits"),
                    tr!("the host polls events"),
                ],
                Wait::Each => [
                    mark!("each"),
                    tr!("the host waits for each instance's download"),
                    tr!("the host waits for each stream"),
                ],
                Wait::All => [
                    mark!("all"),
                    tr!("the host waits for everything at the end of a round"),
                    tr!("the host waits for all"),
                ],
            },
            Switch::Order => now.order.texts(),
            Switch::Graphs if now.graphs => [
                "on",
                tr!("the host makes one call per round"),
                tr!("with graphs"),
            ],
            Switch::Graphs => [
                "off",
                tr!("the host makes a call for every op"),
                tr!("without graphs"),
            ],
            Switch::Transfer => {
                let (label, effect) = match now.transfer {
                    TransferChoice::Auto => (
                        mark!("auto"),
                        tr!("bits while they are small, otherwise the reduced view"),
                    ),
                    TransferChoice::Bits => {
                        (mark!("bits"), tr!("one bit per cell crosses the bus"))
                    }
                    TransferChoice::View => {
                        (mark!("view"), tr!("one byte per pixel crosses the bus"))
                    }
                    TransferChoice::Cells => ("i32", tr!("four bytes per cell cross the bus")),
                };
                let words = format!("{} {label}", self.name());
                return [label.into(), effect.into(), words];
            }
            Switch::Block => {
                let (across, down) = now.block_of(kernel);
                let label = format!("{across}x{down}");
                let words = tr!("blocks of {}", label);
                return [label, tr!("{} threads per block", across * down), words];
            }
        };
        texts.map(str::to_owned)
    }

    /// Which of the positions is the present one.
    pub fn position(self, now: Switches, kernel: &Kernel) -> usize {
        let positions = self.positions(now, kernel);
        positions.iter().position(|it| *it == now).unwrap_or(0)
    }

    /// The present position in words that say which switch it is: `one stream`.
    pub fn in_words(self, now: Switches, kernel: &Kernel) -> String {
        let [.., words] = self.texts(now, kernel);
        words
    }

    /// This position, if it has so many; or why it cannot be.
    pub fn at(
        self,
        at: u8,
        now: Switches,
        context: SwitchContext<'_>,
    ) -> Option<Result<Choice, String>> {
        let position = *self.positions(now, context.kernel).get(usize::from(at))?;
        let choice = self.choice(position, context);
        Some(choice.unavailable.clone().map_or(Ok(choice), Err))
    }

    /// The next position that can be; otherwise why the next one cannot.
    pub fn next(self, now: Switches, context: SwitchContext<'_>) -> Result<Choice, String> {
        let mut positions = self.positions(now, context.kernel);
        positions.rotate_left(self.position(now, context.kernel) + 1);
        positions.pop(); // the present one
        let mut why = None;
        for position in positions {
            let choice = self.choice(position, context);
            match &choice.unavailable {
                None => return Ok(choice),
                Some(reason) => {
                    why = why.or(Some(format!("{} {}: {reason}", self.name(), choice.label)))
                }
            }
        }
        Err(why.unwrap_or_else(|| tr!("{} has only one setting here", self.name())))
    }
}

/// How instances share streams.
#[derive(
    Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, strum::Display, ValueEnum,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Streams {
    /// One stream per instance.
    PerInstance,
    /// One stream per device for all.
    One,
    /// The default stream of each device for all.
    Default,
    /// One stream per device for all, and in it one launch and one copy for all.
    Batch,
}

impl Streams {
    /// How a batch shares streams: as one stream for all does, with other ops in it.
    pub fn sharing(self) -> Streams {
        match self {
            Streams::Batch => Streams::One,
            own => own,
        }
    }

    /// The name of a stream in which instances are stepped that share streams like this: its number
    /// if it has an instance of its own. `gpu` is its GPU, where there are several.
    pub fn stream_name(self, number: u32, gpu: Option<u16>) -> String {
        match (self.sharing(), gpu) {
            (Streams::Default, None) => tr!("default stream").into(),
            (Streams::Default, Some(gpu)) => tr!("GPU {gpu}: default"),
            (Streams::PerInstance, None) => tr!("stream {}", number),
            (Streams::PerInstance, Some(gpu)) => {
                tr!("GPU {gpu}: {stream}", stream = number)
            }
            (Streams::One | Streams::Batch, None) => tr!("one stream").into(),
            (Streams::One | Streams::Batch, Some(gpu)) => tr!("GPU {gpu}: shared"),
        }
    }
}

/// How the host learns that a round is over.
#[derive(
    Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, strum::Display, ValueEnum,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Wait {
    /// The host polls events, and meanwhile issues the next round.
    Poll,
    /// The host waits for each instance's stream after its download.
    Each,
    /// The host waits for the device at the end of the round.
    All,
}

/// In which order the host issues a round's ops.
#[derive(
    Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, strum::Display, ValueEnum,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Order {
    /// Every instance's launch, then every instance's download. The last launch goes out sooner:
    /// while kernels run long, the host's calls for the downloads cost nothing.
    Breadth,
    /// All of one instance's ops, then all of the next one's.
    Depth,
    /// As the user's own round says (--round).
    Own,
}

impl Order {
    /// Whether one instance's ops come before the next one's.
    pub fn is_depth_first(self) -> bool {
        self == Order::Depth
    }

    /// What it is as a script, with a stream for each instance; one of the user's own has another.
    pub fn script(self) -> &'static str {
        match self {
            Order::Depth => "for i in 0..N { advance(i, i); download(i, i); }",
            Order::Breadth | Order::Own => {
                "for i in 0..N { advance(i, i); } for i in 0..N { download(i, i); }"
            }
        }
    }

    /// What it is called, in English as its option is; what it does; and its name among others.
    fn texts(self) -> [&'static str; 3] {
        match self {
            Order::Depth => [
                mark!("depth"),
                tr!("instances are issued one after the other"),
                tr!("depth-first"),
            ],
            Order::Breadth => [
                mark!("breadth"),
                tr!("all launches are issued first, then all downloads"),
                tr!("breadth-first"),
            ],
            Order::Own => [
                mark!("own"),
                tr!("as the round of your own says, in its streams"),
                tr!("own round"),
            ],
        }
    }

    /// Its name among others in the displayed language.
    pub fn in_short(self) -> &'static str {
        self.texts()[2]
    }

    /// The change of a round of the user's own taking its place.
    pub fn own_instead(self) -> Message {
        let before = match self {
            Order::Own => Order::Breadth,
            built_in => built_in,
        };
        Message::new(move || tr!("own round instead of {order}", order = before.in_short()))
    }
}

/// What crosses the bus.
#[derive(
    Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, strum::Display, ValueEnum,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum TransferChoice {
    /// Bits while they are small, otherwise the reduced view: at most 8 MiB for all lattices in a
    /// window and in a comparison, and no more bytes than there are dots in a terminal
    Auto,
    /// A bit per cell.
    Bits,
    /// A byte per pixel of the panel, reduced on the device.
    View,
    /// An `i32` per cell, as the device has it.
    #[value(name = "i32")]
    #[serde(rename = "i32")]
    #[strum(serialize = "i32")]
    Cells,
}

impl TransferChoice {
    /// What crosses the bus where the bits of a round are this many bytes: [`TransferChoice::Auto`]
    /// takes them up to `most_auto_bits`.
    pub fn transfer(self, bits: u64, most_auto_bits: u64) -> Transfer {
        match self {
            TransferChoice::Auto if bits <= most_auto_bits => Transfer::Bits,
            TransferChoice::Auto | TransferChoice::View => Transfer::View,
            TransferChoice::Bits => Transfer::Bits,
            TransferChoice::Cells => Transfer::Cells,
        }
    }
}

// A round that a user wrote: its script, and the calls that it makes for the present instances.

/// A round that a user wrote, for a number of instances.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OwnRound {
    /// The script.
    pub source: Arc<str>,
    /// How many instances it is made for.
    pub instances: usize,
    /// What it orders, or why it cannot run.
    pub round: Result<Arc<Round>, OwnRoundError>,
    /// The same for half as many instances, as a comparison of A and B steps on each side.
    pub half: Result<Arc<Round>, OwnRoundError>,
}

/// Why a round cannot run: what is wrong first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OwnRoundError {
    /// Where in the script, if it has a place.
    pub place: Option<Place>,
    /// What.
    pub message: Message,
}

impl OwnRound {
    /// Runs a script for this many instances, and checks what it orders.
    pub fn new(source: Arc<str>, instances: usize) -> OwnRound {
        let made = |instances| made(&source, instances);
        OwnRound {
            round: made(instances),
            half: made(instances / 2),
            instances,
            source,
        }
    }

    /// What it orders for so many instances: those that it is made for, or half as many. `None` if that
    /// is not right, or unknown.
    pub fn round_of(&self, instances: usize) -> Option<&Arc<Round>> {
        match instances {
            all if all == self.instances => self.round.as_ref().ok(),
            half if half == self.instances / 2 => self.half.as_ref().ok(),
            _ => None,
        }
    }
}

fn made(source: &str, instances: usize) -> Result<Arc<Round>, OwnRoundError> {
    let verdict = Verdict::of(source, Work::Lattices, instances as u32, &[]);
    let (place, message) = match &verdict.faults {
        Err(error) => (error.place, &error.message),
        Ok(faults) => match faults.first() {
            None => return Ok(Arc::new(verdict.round)),
            Some(fault) => (fault.places.first().copied(), &fault.message),
        },
    };
    let message = message.clone();
    Err(OwnRoundError { place, message })
}

/// Whether [`Order::Own`] can be taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum OwnOrder {
    /// No round was written.
    #[default]
    Unwritten,
    /// The round that was written is not right for the present number of instances.
    Wrong,
    /// Several devices compute.
    SeveralDevices,
    /// It can.
    Available {
        /// Whether the host waits in the round.
        synchronizes: bool,
    },
}

impl OwnOrder {
    /// Of a round that steps this many instances, where so many devices compute.
    pub fn of(round: Option<&OwnRound>, instances: usize, devices: usize) -> OwnOrder {
        match round.map(|round| round.round_of(instances)) {
            None => OwnOrder::Unwritten,
            Some(None) => OwnOrder::Wrong,
            Some(Some(_)) if devices > 1 => OwnOrder::SeveralDevices,
            Some(Some(round)) => OwnOrder::Available {
                synchronizes: round.synchronizes(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::kernels::find;

    #[test]
    fn pairs_that_cannot_be_say_why() {
        let kernel = find("bits").unwrap();
        let graphs = Switches {
            graphs: true,
            ..Switches::DEFAULT
        };
        assert_eq!(graphs.incompatibility(kernel), None);
        for (switch, at) in [
            (Switch::Streams, 2),
            (Switch::Wait, 1),
            (Switch::HostMemory, 1),
        ] {
            let choice = &switch.choices(graphs, kernel)[at];
            assert!(choice.unavailable.is_some(), "{choice:?}");
            // From the other side, too.
            let eager = Switches {
                graphs: false,
                ..choice.switches
            };
            assert_eq!(eager.incompatibility(kernel), None);
            assert!(
                Switch::Graphs
                    .next(eager, kernel.into())
                    .unwrap_err()
                    .contains("graphs on")
            );
        }
        let cells = Switches {
            transfer: TransferChoice::Cells,
            ..Switches::DEFAULT
        };
        assert!(cells.incompatibility(kernel).unwrap().contains("bits"));
        assert_eq!(cells.incompatibility(find("global").unwrap()), None);
    }
}
