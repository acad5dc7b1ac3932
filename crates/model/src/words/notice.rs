//! What a session tells the user.

use lang::tr;
use life::{counted_lattices, grouped};

use super::{InWords, idea, shown, time_left, timestamps_of_own};
use crate::notice::{Done, Failure, Refusal, SettingChange};
use crate::{
    Action, Order, Pace, SessionAction, Settled, Setup, StopWhenStill, Switch, recorded_in_words,
};

impl InWords for Done {
    fn in_words(&self) -> String {
        match self {
            Done::Going(it) => match it.seconds_left {
                Some(seconds) => tr!(
                    "Computing up to generation {target} from the nearest snapshot: {percent} %, {left} left; Space stops this",
                    target = it.target,
                    percent = it.percent,
                    left = time_left(seconds)
                ),
                None => tr!(
                    "Computing up to generation {target} from the nearest snapshot: {percent} %; Space stops this",
                    target = it.target,
                    percent = it.percent
                ),
            },
            Done::Reached(it) => tr!("Reached generation {generation}", generation = it),
            Done::RunEnded(it) => tr!(
                "Stopped before generation {generation}: the cells were changed",
                generation = it
            ),
            Done::MoveEnded(now, target) => {
                tr!("Stopped at generation {now}, on the way to {target}")
            }
            Done::AtStart(it) => tr!(
                "Already at the start (generation {generation}); Ctrl+Z undoes the start",
                generation = it
            ),
            Done::AtOldest(it) => tr!(
                "Generation {generation} is the oldest one kept",
                generation = it
            ),
            Done::BackTo(it) => tr!("Back to generation {generation}", generation = it),
            Done::BackToEdit(it) => tr!(
                "Back to generation {generation}, just after the last edit",
                generation = grouped(*it)
            ),
            Done::Undone(it) => tr!(
                "Undone: the last edit; at generation {generation}",
                generation = grouped(*it)
            ),
            Done::Redone(it) => tr!(
                "Redone: at generation {generation} again",
                generation = grouped(*it)
            ),
            Done::RuleSet(rule) => tr!("Rule {rule}"),
            Done::Resized(size, before) => {
                tr!("The lattices are {size} now; Ctrl+Z brings those of {before} back")
            }
            Done::InstancesSet(count, before) => tr!(
                "{count} now; Ctrl+Z goes back to {before}",
                count = counted_lattices(*count)
            ),
            Done::StopSet(StopWhenStill::Never) => tr!("Rounds do not stop automatically").into(),
            Done::StopSet(StopWhenStill::Selected) => {
                tr!("Rounds stop when the selected panel is still or periodic").into()
            }
            Done::StopSet(StopWhenStill::All) => {
                tr!("Rounds stop when all panels are still or periodic").into()
            }
            Done::ReseedSet(true) => tr!("Dead panels are reseeded").into(),
            Done::ReseedSet(false) => tr!("Dead panels are left as they are").into(),
            Done::Settled(None) => tr!("Stopped: every panel is still or periodic").into(),
            Done::Settled(Some(Settled::Dead)) => tr!("Stopped: this panel is dead").into(),
            Done::Settled(Some(Settled::Still)) => tr!("Stopped: this panel is still").into(),
            Done::Settled(Some(Settled::Period(every) | Settled::Repeats(every))) => {
                tr!("Stopped: this panel repeats every {} generations", every)
            }
            Done::PaceSet(pace @ Pace::PerSecond(_)) => {
                tr!("Speed: at most {pace}")
            }
            Done::PaceSet(Pace::Unthrottled) => tr!("Speed: unthrottled").into(),
            Done::PaceSet(Pace::Maximum) => {
                tr!("Speed: maximum, as many generations per round as fit in a frame").into()
            }
            Done::GenerationsSet(count) => tr!("{count} generations per round"),
            Done::GenerationsSetForLater(count) => {
                tr!("{count} generations per round, once the speed is not the maximum")
            }
            Done::KernelSet(kernel, [before, now]) => match before.incompatibility(kernel) {
                None => tr!("kernel {}: {}", kernel.name, idea(kernel)),
                Some(why) => tr!(
                    "{why}; changed to streams {streams}, transfer {transfer}",
                    streams = now.streams,
                    transfer = now.transfer
                ),
            },
            Done::KernelStandsIn([kernel, other], size) => match other.size_limit(*size) {
                Some(limit) => tr!(
                    "Kernel {kernel} steps lattices of {size}: {other} supports {limit}",
                    kernel = kernel.name,
                    other = other.name
                ),
                None => tr!(
                    "Kernel {kernel} steps lattices of {size}: there is too little memory for {other}",
                    kernel = kernel.name,
                    other = other.name
                ),
            },
            Done::FastestKernel([kernel, chosen], None) => tr!(
                "Speed: maximum, by the fastest kernel, {kernel}; {key} takes {chosen} back",
                kernel = kernel.name,
                chosen = chosen.name,
                key = Action::from(SessionAction::Slower).key()
            ),
            Done::FastestKernel([kernel, chosen], Some(generation)) => tr!(
                "Running to generation {generation} by the fastest kernel, {kernel}; {chosen} comes back there",
                generation = grouped(*generation),
                kernel = kernel.name,
                chosen = chosen.name
            ),
            Done::SettingChanged(change) => change.in_words(),
            Done::OwnRoundLeft(instances) => tr!(
                "The round of your own is not right for {instances} instances; back to breadth-first"
            ),
            Done::KernelUnsuited(unsuited, kernel) => tr!(
                "Kernel {unsuited} does not support the lattice size in this file; {kernel} takes its place",
                unsuited = unsuited.name,
                kernel = kernel.name
            ),
            Done::BegunWithNewest(generation) => tr!(
                "Symmetric soups are not supported: the session begins with the file's lattices of generation {}",
                grouped(*generation)
            ),
            Done::OwnKernelLeft(rung) => tr!(
                "The kernel of your own in this file is not compiled here; {rung} takes its place",
                rung = rung.file
            ),
            Done::ComparisonBegun(from) => tr!(
                "Key B returns to generation {from}; A and B alternate; {first} to {last} change B",
                from = grouped(*from),
                first = Switch::first_key(),
                last = Switch::last_key()
            ),
            Done::RecordedRoundsOffered => tr!(
                "The CPU computes here; {key} shows rounds that were recorded on a GPU",
                key = Action::from(SessionAction::ToggleRecorded).key()
            ),
            Done::RecordedRounds(Some(recorded)) => {
                tr!("Now rounds {what}", what = recorded_in_words(recorded))
            }
            Done::RecordedRounds(None) => tr!("Rounds are measured on this machine").into(),
            Done::ComparisonEnded => {
                tr!("The comparison has ended; every lattice is as it was before").into()
            }
            Done::WaitingForLaunch => tr!("Waiting for the present launch to finish").into(),
            Done::Saved(path) => tr!("the session is saved in {}", shown(path)),
            Done::Opened(name) => tr!("Opened the session {}", name),
        }
    }
}

impl InWords for SettingChange {
    fn in_words(&self) -> String {
        let (switch, switches, kernel) = match *self {
            SettingChange::Kernel([before, now]) if before.name == now.name => {
                return tr!("own kernel: this version instead of the one before").into();
            }
            SettingChange::Kernel([before, now]) => {
                return tr!(
                    "kernel {kernel} instead of {before}",
                    kernel = now.name,
                    before = before.name
                );
            }
            SettingChange::Switch(switch, switches, kernel) => (switch, switches, kernel),
            SettingChange::OwnRound(before) => {
                return match before {
                    Order::Depth => tr!("own round instead of depth-first"),
                    Order::Breadth | Order::Own => tr!("own round instead of breadth-first"),
                }
                .into();
            }
            SettingChange::HostMemoryOfCpu => {
                return tr!("host memory: all alike on the CPU engine").into();
            }
            SettingChange::GraphsOfCpu => {
                return tr!("graphs: the CPU engine has none").into();
            }
        };
        let at = switch.position(switches, kernel);
        let Some(choice) = switch.choices(switches, kernel).into_iter().nth(at) else {
            return String::new();
        };
        match switch {
            Switch::Block => tr!("blocks of {}: {}", choice.label, choice.effect),
            _ => choice.effect,
        }
    }
}

impl InWords for Refusal {
    fn in_words(&self) -> String {
        match self {
            Refusal::Ended => tr!("the session has ended").into(),
            Refusal::NotOpened => {
                tr!("nothing was opened: the session has ended; start the program again").into()
            }
            Refusal::Comparing => {
                tr!("The number of instances stays while A and B are compared; key B ends that")
                    .into()
            }
            Refusal::InstancesOutOfRange => {
                tr!("Take 1 to {most} instances", most = Setup::MAX_INSTANCES)
            }
            Refusal::AlreadyThatMany(count) => {
                tr!(
                    "There are {count} already",
                    count = counted_lattices(*count)
                )
            }
            Refusal::AlreadyThatSize(size) => tr!("The lattices are {size} already"),
            Refusal::AlreadyThatRule(rule) => tr!("The rule is {rule} already"),
            Refusal::InstanceGone(instance) => {
                tr!("Panel {number} no longer exists", number = instance + 1)
            }
            Refusal::NothingEarlier => {
                tr!("No earlier generation is kept; raise --history-memory").into()
            }
            Refusal::BeforeStart(start) => {
                tr!("Cannot go back before the start (generation {start})")
            }
            Refusal::NothingToUndo => tr!("Nothing to undo").into(),
            Refusal::NothingToRedo => tr!("Nothing to redo").into(),
            Refusal::NotKept(it) => tr!(
                "Generation {generation} is no longer kept; raise --history-memory",
                generation = it
            ),
            Refusal::HistoryDiscarded => {
                tr!("That generation can no longer be reached: its history was discarded").into()
            }
            Refusal::TooFewToCompare => {
                tr!("A and B need two instances or more; start with --instances 2").into()
            }
            Refusal::NoOtherKernel => tr!("No other kernel can step these lattices").into(),
            Refusal::Kernel(why) => why.to_string(),
            Refusal::NoOtherPosition(switch, switches, context) => {
                switch.next(*switches, *context).err().unwrap_or_default()
            }
            Refusal::Incompatible(switches, context) => {
                context.incompatibility(switches).unwrap_or_default()
            }
            Refusal::OwnRoundOfHalf(each) => tr!(
                "The round of your own is not right for {each} instances, as many as A and B have each"
            ),
            Refusal::TimestampsRecorded => tr!("recorded rounds have no block timestamps").into(),
            Refusal::TimestampsOfOwn => timestamps_of_own().into(),
            Refusal::GpuComputes => tr!("a GPU computes here, and is measured").into(),
            Refusal::TimestampsInGraphs => tr!(
                "Block timestamps are unavailable with graphs; {key} turns graphs off",
                key = Switch::Graphs.key()
            ),
        }
    }
}

impl InWords for Failure {
    fn in_words(&self) -> String {
        match self {
            Failure::Engine(error) => error.to_string(),
            Failure::EngineReplaced {
                lost,
                generation,
                on_cpu,
                own_kernel,
            } => {
                let place = if *on_cpu {
                    tr!("on the CPU")
                } else {
                    tr!("on the GPU")
                };
                match own_kernel {
                    None => tr!(
                        "The engine was lost ({why}); the session continues from generation {generation} {place}",
                        why = lost.reason()
                    ),
                    Some(kernel) => tr!(
                        "Your kernel failed ({why}); {rung} takes its place, and the session continues from generation {generation} {place}",
                        why = lost.reason(),
                        rung = kernel.file
                    ),
                }
            }
            Failure::EngineNotReplaced(lost, error) => tr!(
                "The engine was lost ({why}) and could not be replaced: {error}",
                why = lost.reason()
            ),
            Failure::EngineLostOften(count, lost) => tr!(
                "The engine was lost {count} times in a row, the last time because: {why}",
                why = lost.reason()
            ),
            Failure::RestoredOnly(it) => tr!(
                "Only generation {generation} could be restored",
                generation = it
            ),
            Failure::NoSnapshot => tr!("no snapshot of the lattices is left").into(),
            Failure::NotContinued(error) => tr!("The saved session cannot be continued: {error}"),
            Failure::NotSaved(why) => why.in_words(),
            Failure::Internal(why) => tr!("internal: {it}", it = why),
            Failure::NoThread(error) => tr!("cannot start a thread: {error}"),
            Failure::ThreadEnded => tr!("internal: the engine's thread has ended unasked").into(),
        }
    }
}
