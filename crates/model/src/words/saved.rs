//! Why a session is not saved in its file, and why a file is refused.

use lang::tr;
use life::{MAX_GENERATION, grouped};

use super::{InWords, shown};
use crate::saved::{NotSaved, SavedError, SavedFault, SavedLattices};
use crate::{Pace, Setup, TimeSettings};

impl InWords for NotSaved {
    fn in_words(&self) -> String {
        let failed = |path, why: &str| tr!("the session was not saved in {}: {why}", shown(path));
        match self {
            NotSaved::Changed(path, beside) => tr!(
                "{path} was changed by another program meanwhile and is kept; the session is saved in {beside} instead",
                path = shown(path),
                beside = shown(beside)
            ),
            NotSaved::Failed(error, None) | NotSaved::Lecture(error, None) => error.to_string(),
            NotSaved::Lecture(error, Some(Ok(elsewhere))) => tr!(
                "{error}; what belongs there is in {elsewhere} instead",
                elsewhere = shown(elsewhere)
            ),
            NotSaved::Failed(error, Some(Ok(elsewhere))) => tr!(
                "{error}; the session is saved in {elsewhere} instead",
                elsewhere = shown(elsewhere)
            ),
            NotSaved::Failed(error, Some(Err(second)))
            | NotSaved::Lecture(error, Some(Err(second))) => tr!(
                "{error}; nor could it be saved in {path}: {reason}",
                path = shown(&second.path),
                reason = second.reason
            ),
            NotSaved::NoAnswer(path, seconds) => failed(
                path,
                &tr!("the device did not finish its work within {} s", seconds),
            ),
            NotSaved::Outdated {
                path,
                seconds,
                age,
                generation,
            } => tr!(
                "the device did not finish its work within {timeout} s; the session is saved in {path} as it was {age} s ago, at generation {generation}",
                timeout = seconds,
                path = shown(path),
                generation = grouped(*generation)
            ),
            NotSaved::NeverRestored(path) => failed(
                path,
                tr!("the session in the file was never restored; the file was not changed"),
            ),
            NotSaved::WouldNotOpen(path, why, beside) => tr!(
                "{path} was not changed, because this session could not be opened from it again: {why}; it is saved in {beside} instead, please report it",
                path = shown(path),
                beside = shown(beside)
            ),
        }
    }
}

impl InWords for SavedError {
    fn in_words(&self) -> String {
        let place = match self.place {
            (0, _) => String::new(),
            (line, column) => format!(", line {line}, column {column}"),
        };
        tr!(
            "{path}{place}: {reason}; the file was not changed",
            path = shown(&self.path),
            reason = self.fault.in_words()
        )
    }
}

/// Lattices of a file, or that of one instance.
fn lattices_in_words(lattices: SavedLattices, instance: Option<usize>) -> String {
    let what = match lattices {
        SavedLattices::Newest => tr!("its newest lattices"),
        SavedLattices::First => tr!("its first lattices"),
        SavedLattices::OfStart => tr!("a lattice of a start"),
        SavedLattices::Pattern => tr!("a pattern"),
    };
    match instance {
        Some(at) => tr!("{what}: instance {at}"),
        None => what.into(),
    }
}

/// What is wrong with a field, on one line that is not too long.
fn field_in_words(field: Option<&str>, fault: &SavedFault) -> String {
    /// In characters: a lattice's text may have millions.
    const MAX_LENGTH: usize = 200;
    let reason = fault.in_words();
    let sentence = match field {
        Some(field) => tr!("'{field}' is wrong: {reason}"),
        None => reason,
    };
    lang::single_line(sentence.chars().take(MAX_LENGTH).collect())
}

// One sentence a line.
impl InWords for SavedFault {
    fn in_words(&self) -> String {
        match self {
            SavedFault::Unreadable(error) => tr!("it cannot be read: {error}"),
            SavedFault::CutOff => tr!("the file was cut off here; restore a copy of it, or name another file").into(),
            SavedFault::Syntax => tr!("this is not a session that lifestreams saved, or it is damaged here; restore a copy of it, or name another file").into(),
            SavedFault::NoSession => tr!("this is not a session that lifestreams saved; name another file").into(),
            SavedFault::Format(other, own) => tr!("it has format {other}, and this program reads format {own}; use the lifestreams that saved it"),
            SavedFault::Memory(error) => error.to_string(),

            SavedFault::Field(field, fault) => field_in_words(field.as_deref(), fault),
            SavedFault::Value(error) => error.to_string(),
            SavedFault::OtherRung(own, used) => tr!(
                "the kernel of your own is written from {own}, and '{used}' is in use",
                own = own.file,
                used = used.name
            ),
            SavedFault::NoKernel(name) => tr!("there is no kernel '{name}'"),
            SavedFault::Rle(error) => tr!("in this lattice: {error}"),
            SavedFault::NotWhole => tr!("this lattice is not whole: it has no '!' at its end, or cells of several states").into(),
            SavedFault::NoTorus => tr!("this lattice lacks its torus, as in rule = B3/S23:T64,64").into(),
            SavedFault::LargerThanTorus => tr!("this lattice is larger than its torus").into(),

            SavedFault::InComparison(fault) => tr!("in the comparison of A and B: {reason}", reason = fault.in_words()),
            SavedFault::InRecord(number, fault) => tr!("in record {number}: {reason}", reason = fault.in_words()),
            SavedFault::Pace(rounds) => tr!("its pace is {rounds} rounds/s; take {slowest} to {fastest}", slowest = Pace::MIN_PER_SECOND, fastest = Pace::MAX_PER_SECOND),
            SavedFault::History(bytes) => tr!("its history takes {} bytes; take at most {most}", bytes, most = TimeSettings::MAX_HISTORY_BYTES),
            SavedFault::Instances(it) => tr!("it has {instances} instances; take 1 to {most}", instances = it, most = Setup::MAX_INSTANCES),
            SavedFault::Generation(it) => tr!("it has generation {generation}; take at most {most}", generation = it, most = MAX_GENERATION),
            SavedFault::LogNumber(it) => tr!("its log has the number {number}; take at most {MAX}", number = it, MAX = MAX_GENERATION),
            SavedFault::Density(it) => tr!("it has a soup of density {density}; take 0 to 1", density = it),
            SavedFault::Incompatible(switches, kernel) => switches.incompatibility(kernel).unwrap_or_default(),
            SavedFault::Selected(it, all) => tr!("instance {selected} is selected, but there are {instances}, counted from 0", selected = it, instances = all),
            SavedFault::Drawn(it, all) => tr!("a person drew on instance {last}, but there are {}, counted from 0", all, last = it),
            SavedFault::Changed(it, all) => tr!("cells of instance {instance} change, but there are {}, counted from 0", all, instance = it),
            SavedFault::OffLattice([x, y], size) => tr!("cell {x},{y} is not on a lattice of {size}"),
            SavedFault::LargeArea(own, size) => tr!("an area of {own} is changed, more than a lattice of {size} has"),
            SavedFault::Counterparts => tr!("it has counterparts, but compares nothing").into(),
            SavedFault::OtherCounterpart(each, all) => tr!("it has {instances} instances, so instance {each} is not the counterpart of instance 0", instances = all),
            SavedFault::NoCounterparts => tr!("it has no counterparts").into(),

            SavedFault::StartGeneration(log, start) => tr!("its log begins with a start at generation {}, but the start has generation {}", log, start),
            SavedFault::Backwards { number, generation, now } => tr!("in record {number}: it has generation {}, but the clock shows {now} before it", generation),
            SavedFault::OffLog(generation, records) => tr!("generation {} with {} records applied is not on its log", generation, records),
            SavedFault::AfterPosition(newest, position) => tr!("its newest lattices are of generation {}, which comes after its position, generation {}", newest, position),
            SavedFault::NoFirstLattices => tr!("it lacks the lattices that its log begins with").into(),
            SavedFault::LatticesAtStart => tr!("its log begins with a start, and yet it has other lattices there").into(),
            SavedFault::FirstLatticesTwice => tr!("it has the lattices that its log begins with twice").into(),
            SavedFault::EmptyStart => tr!("a start has no lattice").into(),
            SavedFault::Count(which, count, all) => tr!("{what}: there are {count} for {instances} instances", what = lattices_in_words(*which, None), instances = all),
            SavedFault::Size(which, at, has, size) => tr!("{what}: instance {at} has size {has}, not {size}", what = lattices_in_words(*which, None)),
            SavedFault::Rule(which, at, of, rule) => tr!("{what} has rule {of}, not {rule}", what = lattices_in_words(*which, *at)),
            SavedFault::LatticeGeneration(which, instance, at, wanted) => tr!("{what} has generation {at}, not {generation}", what = lattices_in_words(*which, *instance), generation = wanted),
        }
    }
}
