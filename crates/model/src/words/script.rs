//! What is wrong with a round that a person wrote, and with its script.

use engine::EngineError;
use lang::tr;
use script::{
    CallKind, Fault, IssuedCall, MAX_CALLS, MAX_OPERATIONS, MAX_SOURCE_BYTES, Numbered,
    ScriptError, ScriptErrorKind, Work,
};

use super::InWords;

/// What a call does, for a sentence about its line.
fn does(IssuedCall { call, work, .. }: &IssuedCall) -> String {
    let stream = call.stream;
    match (call.kind, work) {
        (CallKind::Advance(item), _) => tr!("advances instance {item} in stream {stream}"),
        (CallKind::Download(item), Work::Lattices) => {
            tr!("downloads instance {item} in stream {stream}")
        }
        (CallKind::Download(item), Work::Arrays) => {
            tr!("downloads chunk {item} in stream {stream}")
        }
        (CallKind::Upload(item), _) => tr!("uploads chunk {item} in stream {stream}"),
        (CallKind::Scale(item), _) => tr!("scales chunk {item} in stream {stream}"),
        (CallKind::Record(event), _) => tr!("records event {event} in stream {stream}"),
        (CallKind::Wait(event), _) => tr!("makes stream {stream} wait for event {event}"),
        (CallKind::Synchronize, _) => {
            tr!("makes the host wait for stream {stream}")
        }
    }
}

fn line(issued: &IssuedCall) -> u32 {
    issued.call.place.line
}

fn never_called(kind: CallKind, work: Work) -> String {
    match (kind, work) {
        (CallKind::Advance(item), _) => tr!("Instance {item} is never advanced."),
        (CallKind::Download(item), Work::Lattices) => {
            tr!("Instance {item} is never downloaded.")
        }
        (CallKind::Download(item), Work::Arrays) => {
            tr!("Chunk {item} is never downloaded.")
        }
        (CallKind::Upload(item), _) => tr!("Chunk {item} is never uploaded."),
        (CallKind::Scale(item), _) => tr!("Chunk {item} is never scaled."),
        // No work needs these.
        (CallKind::Record(_) | CallKind::Wait(_) | CallKind::Synchronize, _) => String::new(),
    }
}

/// A race, and the edge that is missing.
fn race(first: &IssuedCall, second: &IssuedCall) -> String {
    // A download that is issued before its kernel cannot wait for it.
    let is_backwards = matches!(first.call.kind, CallKind::Download(_))
        && !matches!(second.call.kind, CallKind::Download(_))
        || matches!(second.call.kind, CallKind::Upload(_))
            && !matches!(first.call.kind, CallKind::Upload(_));
    if is_backwards {
        return tr!(
            "Line {early} {does}, and nothing orders it after line {late}, which {needed}. Issue line {late} first, record an event in stream {from} after it, and make stream {to} wait for it.",
            early = line(first),
            does = does(first),
            late = line(second),
            needed = does(second),
            from = second.call.stream,
            to = first.call.stream
        );
    }
    tr!(
        "Line {second} {does}, and nothing orders it after line {first}, which {other}. Record an event in stream {from} after line {first}, and make stream {to} wait for it.",
        second = line(second),
        does = does(second),
        first = line(first),
        other = does(first),
        from = first.call.stream,
        to = second.call.stream
    )
}

impl InWords for Fault {
    fn in_words(&self) -> String {
        match self {
            Fault::Missing {
                kind,
                others: 0,
                work,
            } => never_called(*kind, *work),
            Fault::Missing { kind, others, work } => tr!(
                "{fault} The same goes for {others} more.",
                fault = never_called(*kind, *work)
            ),
            Fault::Repeated { first, again } => tr!(
                "Line {again} {does}, although line {first} already {did}. Remove one of them.",
                again = line(again),
                does = does(again),
                first = line(first),
                did = does(first)
            ),
            Fault::TooEarly { early, needed } => tr!(
                "Line {early} {does} before line {late} {needed}. Issue line {late} first.",
                early = line(early),
                does = does(early),
                late = line(needed),
                needed = does(needed)
            ),
            Fault::Race { first, second } => race(first, second),
            Fault::NotRecorded { wait, later: None } => tr!(
                "Line {line} {does}, which is never recorded, so it waits for nothing.",
                line = line(wait),
                does = does(wait)
            ),
            Fault::NotRecorded {
                wait,
                later: Some(record),
            } => tr!(
                "Line {line} {does}, which line {record} records only later, so it waits for nothing. Record the event first.",
                line = line(wait),
                does = does(wait),
                record = line(record)
            ),
            Fault::NotBefore { first, second } => tr!(
                "Line {second} {does}, and must wait for line {first}, which {other}.",
                second = line(second),
                does = does(second),
                first = line(first),
                other = does(first)
            ),
            Fault::NotConcurrent { first, second } => tr!(
                "Line {second} {does}, and waits for line {first}, which {other}. Let both run at the same time.",
                second = line(second),
                does = does(second),
                first = line(first),
                other = does(first)
            ),
            Fault::NotIssuedBefore { first, second } => tr!(
                "Line {first} {does}, and must be issued before line {second}, which {other}.",
                first = line(first),
                does = does(first),
                second = line(second),
                other = does(second)
            ),
            Fault::TooManyRecords { call, records, max } => tr!(
                "Line {line} {does}. Records of events: {records}; use at most {max}.",
                line = line(call),
                does = does(call)
            ),
            Fault::TooFewStreams { streams, min } => {
                tr!("Streams with work: {streams}; use at least {min}.")
            }
            Fault::TooManyStreams { call, streams, max } => tr!(
                "Line {line} {does}. Streams with work: {streams}; use at most {max}.",
                line = line(call),
                does = does(call)
            ),
            Fault::Synchronizes { call } => tr!(
                "Line {line} {does}; do without synchronize here.",
                line = line(call),
                does = does(call)
            ),
        }
    }
}

/// The sentence alone: whoever shows it knows the file, and shows the place.
impl InWords for ScriptError {
    fn in_words(&self) -> String {
        match &self.kind {
            ScriptErrorKind::TooLong { bytes } => tr!(
                "The script has {bytes} bytes; {max} is the maximum.",
                max = MAX_SOURCE_BYTES
            ),
            ScriptErrorKind::NotUtf8 => tr!("This is not UTF-8 text.").into(),
            ScriptErrorKind::EndsEarly => tr!("The script ends within a statement.").into(),
            ScriptErrorKind::Missing(sign) => tr!("'{sign}' is missing before this."),
            ScriptErrorKind::Unavailable(word) => match word.chars().next() {
                Some(letter) if !letter.is_ascii() => {
                    tr!(
                        "The script has {what}.",
                        what = lang::stray_in_words(letter)
                    )
                }
                _ => tr!("Scripts of rounds have no '{word}'."),
            },
            ScriptErrorKind::NestedTooDeep => {
                tr!("Blocks or expressions are nested too deep.").into()
            }
            ScriptErrorKind::Language(why) => tr!("{why}."),
            ScriptErrorKind::UnknownFunction(name) => {
                tr!("There is no function '{name}' here.")
            }
            ScriptErrorKind::Arguments {
                function,
                numbers: 1,
            } => tr!("{function} takes 1 whole number: {function}(stream)."),
            ScriptErrorKind::Arguments { function, numbers } => {
                tr!("{function} takes {numbers} whole numbers, the last of them the stream.")
            }
            ScriptErrorKind::UnknownVariable(name) => {
                tr!("There is no variable '{name}'.")
            }
            ScriptErrorKind::OutOfRange { what, value, count } => {
                let range = tr!("take 0 to {last}", last = count.saturating_sub(1));
                match what {
                    Numbered::Item(Work::Lattices) => tr!("There is no instance {value}: {range}."),
                    Numbered::Item(Work::Arrays) => tr!("There is no chunk {value}: {range}."),
                    Numbered::Stream => tr!("There is no stream {value}: {range}."),
                    Numbered::Event => tr!("There is no event {value}: {range}."),
                }
            }
            ScriptErrorKind::TooManyCalls => {
                tr!("A round has at most {max} calls.", max = MAX_CALLS)
            }
            ScriptErrorKind::TooManyOperations => tr!(
                "The script was stopped here after {max} steps; does it end?",
                max = MAX_OPERATIONS
            ),
            ScriptErrorKind::RecursesTooDeep => {
                tr!("Functions call one another too deep here, or without end.").into()
            }
            ScriptErrorKind::TooMuchMemory => {
                tr!("There are too many variables here, or too long a string.").into()
            }
            ScriptErrorKind::NoThread => EngineError::NoThread.in_words(),
        }
    }
}
