//! The streams of a timed round and what orders them, and what the host spent on its calls.

use std::collections::{BTreeMap, HashMap};

use engine::{Span, StreamId};
use session::Streams;
use session::trace::{EventUse, StepFacts, StepKind, TimedRound};

/// A stream of a timed round.
#[derive(Clone, PartialEq, Debug)]
pub struct RoundStream {
    /// The stream.
    pub id: StreamId,
    /// Its GPU, where there are several.
    pub gpu: Option<u16>,
    /// The number that the user's round gives it, or its instance's, or else its own.
    pub number: u32,
    /// What tells it apart from the other streams of a GPU that have bands of the same lattice.
    letter: Option<char>,
    /// How instances share streams.
    sharing: Streams,
}

impl RoundStream {
    /// Its name.
    pub fn name(&self) -> String {
        match self.letter {
            Some(letter) => format!("{} {letter}", self.name_of_all()),
            None => self.name_of_all(),
        }
    }

    /// The name of all streams of its GPU that have bands of the same lattice.
    pub fn name_of_all(&self) -> String {
        self.sharing.stream_name(self.number, self.gpu)
    }
}

/// The instance whose number is 0: B's first one, if the round is B's.
pub fn first_instance(round: &TimedRound) -> u32 {
    let instances = round.steps.iter().filter_map(|facts| facts.instance);
    instances.min().unwrap_or(0)
}

/// Its streams, GPU by GPU.
pub fn streams(round: &TimedRound) -> Vec<RoundStream> {
    let mut known: BTreeMap<StreamId, &StepFacts> = BTreeMap::new();
    for facts in round.steps.iter() {
        let known = known.entry(facts.stream).or_insert(facts);
        if known.instance.is_none() {
            *known = facts;
        }
    }
    let first = first_instance(round);
    let stream = |facts: &StepFacts| {
        let instance = facts.instance.map(|it| it - first);
        let number = facts.own_number.or(instance).unwrap_or(facts.stream.0);
        RoundStream {
            id: facts.stream,
            gpu: facts.gpu,
            number,
            letter: None,
            sharing: round.switches.streams,
        }
    };
    let mut streams: Vec<RoundStream> = known.into_values().map(stream).collect();
    streams.sort_by_key(|it| it.gpu);
    let mut alike: BTreeMap<(u16, u32), Vec<&mut Option<char>>> = BTreeMap::new();
    for it in &mut streams {
        if let Some(gpu) = it.gpu {
            alike
                .entry((gpu, it.number))
                .or_default()
                .push(&mut it.letter);
        }
    }
    for letters in alike.into_values().filter(|letters| letters.len() > 1) {
        let given = letters.into_iter().zip('a'..='z');
        given.for_each(|(its, letter)| *its = Some(letter));
    }
    streams
}

/// Which steps record an event, and which steps of other streams wait for that record.
pub fn dependencies(round: &TimedRound) -> Vec<[usize; 2]> {
    let mut records = HashMap::new();
    let mut found = Vec::new();
    for (at, step) in round.steps.iter().enumerate() {
        match step.event {
            Some(EventUse::Record(event)) => drop(records.insert(event, at)),
            Some(EventUse::Wait(event)) => {
                let record = records.get(&event).copied();
                let other = record.filter(|&it| round.steps[it].stream != step.stream);
                found.extend(other.map(|record| [record, at]));
            }
            None => {}
        }
    }
    found
}

/// How long the host was inside its calls, waiting left out, in microseconds.
pub fn host_us(round: &TimedRound) -> f64 {
    let waits = |span: &&Span| {
        let facts = round.steps.get(span.step as usize);
        facts.is_some_and(|facts| facts.kind == StepKind::Wait)
    };
    let calls = round.host.iter().filter(|span| !waits(span));
    calls.map(|span| span.length().as_us()).sum()
}
