//! Runs scripts.
//!
//! The language is rhai's without arrays, maps, closures, modules, floats and a clock: numbers, variables,
//! loops, conditions and functions are left. What is left cannot take much memory or time: every operation
//! is counted, strings are short, and nothing else grows.

use lang::{Message, mark, message, text, tr};
use parking_lot::Mutex;
use rhai::packages::{ArithmeticPackage, BasicIteratorPackage, LogicPackage, Package as _};
use rhai::{Dynamic, Engine, EvalAltResult, LexError, OptimizationLevel, ParseErrorType, Position};
use std::any::TypeId;
use std::sync::Arc;
use std::thread;

/// The longest script. Its lines and columns fit the interpreter's 16-bit positions.
pub const MAX_SOURCE_BYTES: usize = (1 << 16) - 1;

/// The most calls of a round.
pub const MAX_CALLS: usize = 100_000;

/// The most streams.
pub const MAX_STREAMS: u32 = 1024;

/// The most events.
pub const MAX_EVENTS: u32 = 1 << 16;

/// The most steps of the interpreter; a call in a loop takes about ten.
pub const MAX_OPERATIONS: u64 = 5_000_000;

/// How deep functions may call functions.
const MAX_CALL_LEVELS: usize = 16;

/// How deep expressions and blocks may be nested.
const MAX_DEPTH: usize = 32;

/// The most variables at one time.
const MAX_VARIABLES: usize = 1024;

/// The longest string, in bytes. No function takes one.
const MAX_STRING_BYTES: usize = 256;

/// The stack for [`MAX_CALL_LEVELS`] of [`MAX_DEPTH`], which unoptimized builds need most of.
const STACK_BYTES: usize = 32 << 20;

/// Functions of the language that scripts have no use for: they print, run texts, and build functions that
/// grow.
const DISABLED: [&str; 6] = ["print", "debug", "eval", "Fn", "call", "curry"];

/// Why a script makes no round.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScriptError {
    /// Where it is; `None` if it is about the whole script.
    pub place: Option<Place>,
    /// What kind it is.
    pub kind: ScriptErrorKind,
    /// What is wrong, without the place: whoever shows it knows the file, and shows the place.
    pub message: Message,
}

/// Whose fault it is that a script makes no round.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ScriptErrorKind {
    /// It is wrong.
    Wrong,
    /// It is longer than [`MAX_SOURCE_BYTES`], and was not read.
    TooLong,
    /// The system starts no thread to read or run it.
    NoThread,
}

/// The text of a script's file, without a byte order mark.
///
/// # Errors
/// If it is not UTF-8.
pub fn decode(bytes: Vec<u8>) -> Result<String, ScriptError> {
    let mut text = String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let place = Place::behind(&String::from_utf8_lossy(valid));
        ScriptError::new(message!("This is not UTF-8 text."), Some(place))
    })?;
    if text.starts_with('\u{feff}') {
        text.remove(0);
    }
    Ok(text)
}

/// Runs a script for so many items, its constant `N`.
///
/// # Errors
/// The first place that cannot be read, or where it fails or goes beyond what a round may have.
pub fn round(source: &str, work: Work, items: u32) -> Result<Round, ScriptError> {
    let recorder = Recorder {
        calls: Vec::new(),
        items,
    };
    let items = ("N", Dynamic::from(i64::from(items)));
    let functions = functions(work).iter().map(|(function, _)| *function);
    let recorder = run(source, vec![items], functions.collect(), recorder)?;
    Ok(Round {
        calls: recorder.calls,
    })
}

impl ScriptError {
    /// The error of a script that is wrong.
    pub fn new(message: Message, place: Option<Place>) -> ScriptError {
        ScriptError {
            place,
            kind: ScriptErrorKind::Wrong,
            message,
        }
    }
}

/// A function of the language: how it is called, and what it does to what the script makes. What a parameter is
/// called says what it takes: see [`Maker::type_of`].
pub(crate) type Function<Made> = (&'static str, fn(&mut Made, &mut Given) -> Called);

/// What is made by a script, and what its functions take.
pub(crate) trait Maker: Default + Send + 'static {
    /// The type of a parameter, by its name.
    fn type_of(_parameter: &str) -> TypeId {
        TypeId::of::<i64>()
    }
}

/// What a call is given: values of the types of the parameters, one after the other.
pub(crate) struct Given<'a, 'b> {
    pub(crate) values: std::slice::IterMut<'a, &'b mut Dynamic>,
    at: Position,
}

impl Given<'_, '_> {
    /// The next value. The first one may be a variable itself, so it is left as it is.
    pub(crate) fn next<T: Clone + 'static>(&mut self) -> T {
        let value = self.values.next().map(|it| it.clone()).unwrap_or_default();
        value.cast()
    }
}

/// What a function returns: nothing, most often, or why it refuses. That ends the script, which cannot catch it.
pub(crate) type Called<T = Dynamic> = Result<T, Message>;

/// Runs a script with these constants and functions, and returns what it made.
pub(crate) fn run<Made: Maker>(
    source: &str,
    constants: Vec<(&'static str, Dynamic)>,
    functions: Vec<Function<Made>>,
    made: Made,
) -> Result<Made, ScriptError> {
    let bytes = source.len();
    if bytes > MAX_SOURCE_BYTES {
        return Err(ScriptError {
            place: None,
            kind: ScriptErrorKind::TooLong,
            message: message!(
                "The script has {bytes} bytes; {max} is the maximum.",
                max = MAX_SOURCE_BYTES
            ),
        });
    }
    let made = Arc::new(Mutex::new((made, 0)));
    let mut engine = engine();
    for &(usage, does) in &functions {
        register(&mut engine, usage, does, &made);
    }
    // A variable of a scope would not be seen within functions.
    #[expect(deprecated, reason = "rhai calls this API volatile")]
    engine.on_var(move |name, _, _| {
        let constant = constants.iter().find(|(constant, _)| *constant == name);
        Ok(constant.map(|(_, value)| value.clone()))
    });
    // The interpreter calls itself for every level of nesting.
    let ran = thread::scope(|scope| {
        let builder = thread::Builder::new().stack_size(STACK_BYTES);
        let thread = builder.spawn_scoped(scope, || engine.run(source));
        let joined = thread.map(|it| it.join());
        joined.map(|it| it.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    });
    let ran = ran.map_err(|_| ScriptError {
        place: None,
        kind: ScriptErrorKind::NoThread,
        message: message!(
            "cannot start a thread; raise the process limit (ulimit -u) or close other programs"
        ),
    })?;
    let usages = functions.iter().map(|(usage, _)| *usage);
    ran.map_err(|error| of_interpreter(*error, &usages.collect::<Vec<_>>()))?;
    let mut made = made.lock();
    Ok(std::mem::take(&mut made.0))
}

/// Registers a function for as many arguments as it has parameters; `…` stands for up to eight.
fn register<Made: Maker>(
    engine: &mut Engine,
    usage: &'static str,
    does: fn(&mut Made, &mut Given) -> Called,
    made: &Arc<Mutex<(Made, usize)>>,
) {
    let parameters = usage.split(['(', ')']).nth(1).unwrap_or_default();
    let parameters = parameters.split(", ").filter(|name| !name.is_empty());
    let mut types: Vec<TypeId> = parameters.map(Made::type_of).collect();
    let more = if usage.contains('…') { 7 } else { 0 };
    for _ in 0..=more {
        let made = Arc::clone(made);
        engine.register_raw_fn(name_of(usage), &types, move |context, given| {
            let mut made = made.lock();
            let (made, calls) = &mut *made;
            *calls += 1;
            let at = context.call_position();
            let values = given.iter_mut();
            let called = match *calls {
                ..=MAX_CALLS => does(made, &mut Given { values, at }),
                _ => Err(message!(
                    "A round has at most {max} calls.",
                    max = MAX_CALLS
                )),
            };
            called.map_err(|why| {
                let error = Dynamic::from(ScriptError::new(why, place(at)));
                Box::new(EvalAltResult::ErrorTerminated(error, at))
            })
        });
        types.extend(types.last().copied());
    }
}

/// An interpreter without the functions that make calls.
fn engine() -> Engine {
    let mut engine = Engine::new_raw();
    engine
        .set_max_operations(MAX_OPERATIONS)
        .set_max_call_levels(MAX_CALL_LEVELS)
        .set_max_expr_depths(MAX_DEPTH, MAX_DEPTH)
        .set_max_variables(MAX_VARIABLES)
        .set_max_string_size(MAX_STRING_BYTES)
        .set_allow_anonymous_fn(false)
        .set_optimization_level(OptimizationLevel::None);
    for name in DISABLED {
        engine.disable_symbol(name);
    }
    ArithmeticPackage::new().register_into_engine(&mut engine);
    LogicPackage::new().register_into_engine(&mut engine);
    BasicIteratorPackage::new().register_into_engine(&mut engine);
    engine
}

/// What was called, by a script for so many items.
#[derive(Default)]
struct Recorder {
    calls: Vec<Call>,
    items: u32,
}

impl Maker for Recorder {}

/// A function of rounds, and what it does; English, also the key of the translation.
type Explained = (Function<Recorder>, &'static str);

/// What a script of lattices can call.
const OF_LATTICES: &[Explained] = &[
    (
        ("advance(i, stream)", |it, g| {
            it.of_item(mark!("instance"), CallKind::Advance, g)
        }),
        mark!("launches the kernel of instance i"),
    ),
    (
        ("download(i, stream)", |it, g| {
            it.of_item(mark!("instance"), CallKind::Download, g)
        }),
        mark!("copies instance i to the host"),
    ),
    RECORD,
    WAIT,
    SYNCHRONIZE,
];

/// What a script of arrays can call.
const OF_ARRAYS: &[Explained] = &[
    (
        ("upload(c, stream)", |it, g| {
            it.of_item(mark!("chunk"), CallKind::Upload, g)
        }),
        mark!("copies chunk c to the device"),
    ),
    (
        ("scale(c, stream)", |it, g| {
            it.of_item(mark!("chunk"), CallKind::Scale, g)
        }),
        mark!("launches the kernel that scales chunk c"),
    ),
    (
        ("download(c, stream)", |it, g| {
            it.of_item(mark!("chunk"), CallKind::Download, g)
        }),
        mark!("copies chunk c to the host"),
    ),
    RECORD,
    WAIT,
    SYNCHRONIZE,
];

const RECORD: Explained = (
    ("record(event, stream)", |it, g| {
        it.of_event(CallKind::Record, g)
    }),
    mark!("marks the work so far of a stream by an event"),
);
const WAIT: Explained = (
    ("wait(event, stream)", |it, g| {
        it.of_event(CallKind::Wait, g)
    }),
    mark!("makes a stream wait for the latest record of an event"),
);
const SYNCHRONIZE: Explained = (
    ("synchronize(stream)", |it, g| {
        it.push(CallKind::Synchronize, g)
    }),
    mark!("makes the host wait for the work so far of a stream"),
);

fn functions(work: Work) -> &'static [Explained] {
    match work {
        Work::Lattices => OF_LATTICES,
        Work::Arrays => OF_ARRAYS,
    }
}

impl Recorder {
    fn of_item(
        &mut self,
        what: &'static str,
        kind: fn(u32) -> CallKind,
        given: &mut Given,
    ) -> Called {
        let item = in_range(what, self.items, given.next())?;
        self.push(kind(item), given)
    }

    fn of_event(&mut self, kind: fn(u32) -> CallKind, given: &mut Given) -> Called {
        let event = in_range(mark!("event"), MAX_EVENTS, given.next())?;
        self.push(kind(event), given)
    }

    fn push(&mut self, kind: CallKind, given: &mut Given) -> Called {
        let stream = in_range(mark!("stream"), MAX_STREAMS, given.next())?;
        self.calls.push(Call {
            kind,
            stream,
            place: place(given.at).unwrap_or(Place { line: 1, column: 1 }),
        });
        Ok(Dynamic::UNIT)
    }
}

/// A number of which there are so many.
pub(crate) fn in_range(what: &'static str, count: u32, value: i64) -> Called<u32> {
    let number = u32::try_from(value).ok().filter(|number| *number < count);
    number.ok_or_else(|| {
        let (what, last) = (
            Message::new(|| text(what).to_owned()),
            count.saturating_sub(1),
        );
        message!("There is no {what} {value}: take 0 to {last}.")
    })
}

fn place(position: Position) -> Option<Place> {
    position.line().map(|line| Place {
        line: line as u32,
        column: position.position().unwrap_or(1) as u32,
    })
}

/// What the parser refused.
fn of_parser(error: ParseErrorType) -> Message {
    use ParseErrorType as Parse;
    match error {
        Parse::UnexpectedEOF => message!("The script ends within a statement."),
        // As for (int i = 0; …) in C, or for i = 0; ….
        Parse::MissingToken(_, place) if place.contains("iteration variable") => {
            message!("A loop is written as for i in 0..N, with braces around what it repeats.")
        }
        Parse::MissingToken(sign, _) => message!("'{sign}' is missing before this."),
        Parse::BadInput(LexError::UnexpectedInput(word) | LexError::ImproperSymbol(word, _))
        | Parse::Reserved(word)
        | Parse::UnknownOperator(word) => match word.chars().next() {
            Some(letter) if !letter.is_ascii() => {
                message!(
                    "The script has {what}.",
                    what = lang::stray_in_words(letter)
                )
            }
            _ => message!("Scripts of rounds have no '{word}'."),
        },
        Parse::ExprTooDeep => message!("Blocks or expressions are nested too deep."),
        Parse::LiteralTooLarge(..) => too_much_memory(),
        why => message!("{why}."),
    }
}

fn too_much_memory() -> Message {
    message!("There are too many variables here, or too long a string.")
}

/// Why a script ended early.
fn of_interpreter(mut error: EvalAltResult, functions: &[&'static str]) -> ScriptError {
    use EvalAltResult as Error;
    let position = error.take_position();
    let message = match error {
        Error::ErrorInFunctionCall(_, _, inner, _) => return of_interpreter(*inner, functions),
        Error::ErrorTerminated(token, _) if token.is::<ScriptError>() => {
            return token.cast::<ScriptError>();
        }
        Error::ErrorParsing(why, _) => of_parser(why),
        Error::ErrorFunctionNotFound(signature, _) => unknown_function(&signature, functions),
        Error::ErrorVariableNotFound(name, _) => message!("There is no variable '{name}'."),
        Error::ErrorTooManyOperations(_) => message!(
            "The script was stopped here after {max} steps; does it end?",
            max = MAX_OPERATIONS
        ),
        Error::ErrorStackOverflow(_) => {
            message!("Functions call one another too deep here, or without end.")
        }
        Error::ErrorTooManyVariables(_) | Error::ErrorDataTooLarge(..) => too_much_memory(),
        why => message!("{why}."),
    };
    ScriptError::new(message, place(position))
}

/// Why there is no function for a call such as `advance (i64)`, where there are these.
fn unknown_function(signature: &str, functions: &[&'static str]) -> Message {
    let name = signature.split(" (").next().unwrap_or_default();
    let known = functions.iter().map(|usage| (name_of(usage), *usage));
    if let Some((_, usage)) = known.clone().find(|(it, _)| *it == name) {
        message!("It is called as {usage}.", usage = usage)
    } else if name.starts_with(|it: char| it.is_alphabetic() || it == '_') {
        let known = known.map(|(name, _)| (name.to_owned(), name));
        match life::nearest(&name.to_lowercase(), known) {
            Some(near) => message!("There is no function '{name}' here; did you mean {near}?"),
            None => message!("There is no function '{name}' here."),
        }
    } else {
        message!("{why}.", why = signature)
    }
}

/// The name of a function that is called so.
fn name_of(usage: &'static str) -> &'static str {
    usage.split('(').next().unwrap_or_default()
}

// Files to begin a round with: what stands above a script as comments.

/// A round that is right, as a file that needs no other document, in this thread's language.
pub fn new_round() -> String {
    let lines = [
        tr!("A round of N instances: each is advanced once and downloaded once."),
        tr!("Calls in one stream run one after another; streams run side by side."),
        "",
    ];
    let command = tr!(
        "To check it: {command}",
        command = "lifestreams round check FILE"
    );
    let lines = lines.map(str::to_owned).into_iter().chain([command]);
    commented(lines, &Work::Lattices.usage())
        + "for i in 0..N {\n    advance(i, i);\n    download(i, i);\n}\n"
}

/// The widest line of a comment: the window's editor shows this much at its usual size.
const COMMENT: usize = 46;

/// Lines as comments, and below them what can be called, and what each call does.
pub fn commented(lines: impl Iterator<Item = String>, usage: &[(&str, &'static str)]) -> String {
    let usage = usage.iter();
    let usage = usage.map(|(call, meaning)| format!("{call}: {}", text(meaning)));
    let gap = usage.len().min(1);
    let mut commented = String::new();
    for line in lines.chain(vec![String::new(); gap]).chain(usage) {
        let rows = lang::wrapped(&format!("// {line}"), COMMENT, "//    ");
        commented += &format!("{}\n", rows.trim_end());
    }
    commented + "\n"
}

impl Work {
    /// What a script can call, and what each call does; English, also the key of the translation.
    pub fn usage(self) -> Vec<(&'static str, &'static str)> {
        let functions = functions(self).iter();
        functions
            .map(|((usage, _), meaning)| (*usage, *meaning))
            .collect()
    }
}

// What a script orders.

/// The calls of a round, in the order in which the host makes them.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Round {
    /// Every call.
    pub calls: Vec<Call>,
}

/// One call of the host.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Call {
    /// What it queues in the stream, or does with it.
    pub kind: CallKind,
    /// The stream, numbered from 0 by the script.
    pub stream: u32,
    /// Where in the script it is.
    pub place: Place,
}

/// What a call does. An item is a lattice in a round of the simulation, and a chunk of an array in an
/// exercise about arrays ([`Work`]).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CallKind {
    /// Launches the kernel that advances a lattice.
    Advance(u32),
    /// Copies a chunk to the device.
    Upload(u32),
    /// Launches the kernel that scales a chunk.
    Scale(u32),
    /// Copies an item to the host.
    Download(u32),
    /// Records an event, numbered by the script.
    Record(u32),
    /// Makes the stream wait for an event's latest record.
    Wait(u32),
    /// Blocks the host until the stream's work is done.
    Synchronize,
}

/// What a script's calls work on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Work {
    /// Lattices: each advances once and is downloaded once.
    Lattices,
    /// Chunks of an array: each is uploaded, scaled and downloaded once.
    Arrays,
}

impl CallKind {
    /// Its place among the calls of one item, and the item that it uses; none if it only orders.
    pub fn item(self) -> Option<(u8, u32)> {
        match self {
            CallKind::Upload(item) => Some((0, item)),
            CallKind::Advance(item) | CallKind::Scale(item) => Some((1, item)),
            CallKind::Download(item) => Some((2, item)),
            CallKind::Record(_) | CallKind::Wait(_) | CallKind::Synchronize => None,
        }
    }
}

impl Work {
    /// The calls that every item has once.
    pub fn calls(self) -> &'static [fn(u32) -> CallKind] {
        match self {
            Work::Lattices => &[CallKind::Advance, CallKind::Download],
            Work::Arrays => &[CallKind::Upload, CallKind::Scale, CallKind::Download],
        }
    }
}

/// A place in a script, both numbers from 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Place {
    /// The line.
    pub line: u32,
    /// The column, in characters.
    pub column: u32,
}

impl Place {
    /// The place behind a text.
    pub fn behind(text: &str) -> Place {
        let line = text.rsplit('\n').next().unwrap_or_default();
        Place {
            line: 1 + text.matches('\n').count() as u32,
            column: 1 + line.chars().count() as u32,
        }
    }
}

impl Round {
    /// How many streams it uses, numbered from 0 up to this; those between count, too.
    pub fn streams(&self) -> u32 {
        let last = self.calls.iter().map(|call| call.stream).max();
        last.map_or(0, |last| last + 1)
    }

    /// How many events it names, numbered from 0 up to this.
    pub fn events(&self) -> u32 {
        let event = |call: &Call| match call.kind {
            CallKind::Record(event) | CallKind::Wait(event) => Some(event),
            _ => None,
        };
        let last = self.calls.iter().filter_map(event).max();
        last.map_or(0, |last| last + 1)
    }

    /// Whether the host waits in it.
    pub fn synchronizes(&self) -> bool {
        let waits = |call: &Call| call.kind == CallKind::Synchronize;
        self.calls.iter().any(waits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(source: &str) -> Result<Round, ScriptError> {
        round(source, Work::Lattices, 4)
    }

    /// The message about a script.
    fn error(source: &str) -> String {
        run(source).unwrap_err().message.to_string()
    }

    #[test]
    fn a_script_makes_its_calls_in_order_and_each_knows_its_place() {
        let both = "fn both(i, stream) {\n  advance(i, stream);\n  download(i, stream);\n}\n\
             for i in 0..N {\n  if i % 2 == 1 { both(i, 1); }\n}\nrecord(0, 1); wait(0, 2);\nsynchronize(2)";
        // The constant is known in functions, too.
        let all = "fn all() { for i in 0..N { advance(i, 0); } } all();";
        for (work, source, items, calls) in [
            (
                Work::Lattices,
                both,
                4,
                "Advance(1) in 1 at 2:3, Download(1) in 1 at 3:3, Advance(3) in 1 at 2:3, \
                 Download(3) in 1 at 3:3, Record(0) in 1 at 8:1, Wait(0) in 2 at 8:15, \
                 Synchronize in 2 at 9:1",
            ),
            (Work::Lattices, all, 1, "Advance(0) in 0 at 1:28"),
            (
                Work::Lattices,
                all,
                2,
                "Advance(0) in 0 at 1:28, Advance(1) in 0 at 1:28",
            ),
            (
                Work::Lattices,
                "for i in range(0, N) { let s = switch i % 3 { 0 => 2, _ => 5 }; advance(i, s); }",
                2,
                "Advance(0) in 2 at 1:65, Advance(1) in 5 at 1:65",
            ),
            (
                Work::Arrays,
                "upload(0, 0); scale(0, 0); download(0, 0);",
                1,
                "Upload(0) in 0 at 1:1, Scale(0) in 0 at 1:15, Download(0) in 0 at 1:28",
            ),
        ] {
            let round = round(source, work, items).unwrap();
            let said = round.calls.iter().map(|call| {
                let Place { line, column } = call.place;
                format!("{:?} in {} at {line}:{column}", call.kind, call.stream)
            });
            assert_eq!(said.collect::<Vec<_>>().join(", "), calls);
        }
        let of_both = run(both).unwrap();
        assert_eq!((of_both.streams(), of_both.events()), (3, 1));
        let said = round("advance(0, 0)", Work::Arrays, 1).unwrap_err().message;
        assert_eq!(&*said, "There is no function 'advance' here.");
    }

    #[test]
    fn what_is_wrong_in_a_script_has_its_line_and_column() {
        for row in [
            "advance(0, 0)\nadvance(1, 1) => 2:1: ';' is missing before this.",
            "for i in 0..N {\n  advance(i, 0);\n => 3:1: '}' is missing before this.",
            "advance(0, => 1:11: The script ends within a statement.",
            "advance(0, 0);\n\0 => 2:1: Scripts of rounds have no '\\u{0}'.",
            "let a = [1, 2]; => 1:9: Scripts of rounds have no '['.",
            "let a = #{b: 1}; => 1:9: Scripts of rounds have no '#'.",
            "print(\"a\") => 1:1: Scripts of rounds have no 'print'.",
            "eval(\"a\") => 1:1: Scripts of rounds have no 'eval'.",
            "import \"a\" as b; => 1:1: Scripts of rounds have no 'import'.",
            "let a = “b”; => 1:9: The script has the typographic quotation mark “ (U+201C); type a plain one.",
            "let a\u{3000}= 1; => 1:6: The script has a space that is not a plain one (U+3000); type a plain space.",
            "let a = |b| b; => 1:9: Scripts of rounds have no '|'.",
            "advance(0, 0);\nadvence(1, 0); => 2:1: There is no function 'advence' here; did you mean advance?",
            "Advance(0, 0); => 1:1: There is no function 'Advance' here; did you mean advance?",
            "for (int i = 0; i < N; i++) { advance(i, 0); } => 1:10: A loop is written as for i in 0..N, with braces around what it repeats.",
            "upload(0, 0); => 1:1: There is no function 'upload' here.",
            "sleep(1); => 1:1: There is no function 'sleep' here.",
            "timestamp(); => 1:1: There is no function 'timestamp' here.",
            "  advance(0); => 1:3: It is called as advance(i, stream).",
            "wait(0, true); => 1:1: It is called as wait(event, stream).",
            "synchronize(); => 1:1: It is called as synchronize(stream).",
            "advance(n, 0); => 1:9: There is no variable 'n'.",
            "advance(-1, 0); => 1:1: There is no instance -1: take 0 to 3.",
            "advance(N, 0); => 1:1: There is no instance 4: take 0 to 3.",
            "advance(0, 1024); => 1:1: There is no stream 1024: take 0 to 1023.",
            "fn f() {\n  record(65536, 0);\n}\nf(); => 2:3: There is no event 65536: take 0 to 65535.",
            "record(9223372036854775807, 0); => 1:1: There is no event 9223372036854775807: take 0 to 65535.",
            "try { advance(-1, 0); } catch { } => 1:7: There is no instance -1: take 0 to 3.",
            "loop { } => 1:6: The script was stopped here after 5000000 steps; does it end?",
            "fn f() { f() }\nf(); => 2:1: Functions call one another too deep here, or without end.",
            "loop { advance(0, 0); } => 1:8: A round has at most 100000 calls.",
            "let s = \"a\";\nloop { s += s; } => 2:10: There are too many variables here, or too long a string.",
        ] {
            let (source, said) = row.split_once(" => ").unwrap();
            let error = run(source).unwrap_err();
            let Place { line, column } = error.place.unwrap();
            assert_eq!(
                format!("{line}:{column}: {}", error.message),
                said,
                "{source}"
            );
        }
    }

    #[test]
    fn a_script_that_is_too_long_or_no_text_is_refused_before_it_is_read() {
        let long = " ".repeat(100_000_000);
        let error = run(&long).unwrap_err();
        let said = "The script has 100000000 bytes; 65535 is the maximum.";
        assert_eq!(
            (error.kind, &*error.message),
            (ScriptErrorKind::TooLong, said)
        );
        let longest = " ".repeat(MAX_SOURCE_BYTES);
        assert_eq!(run(&longest), Ok(Round::default()));
        let error = decode(b"// \xe4\xb8\xad\nx\xe4\xb8\xad\xff".into()).unwrap_err();
        let place = Some(Place { line: 2, column: 3 });
        let error = (&*error.message, error.place);
        assert_eq!(error, ("This is not UTF-8 text.", place));
        assert_eq!(decode("\u{feff}é".into()), Ok("é".to_owned()));
    }

    #[test]
    fn nesting_and_recursion_end_in_an_error_before_the_stack_does() {
        let nested = |levels| format!("{}1{}", "(".repeat(levels), ")".repeat(levels));
        let too_deep = "Blocks or expressions are nested too deep.";
        assert_eq!(error(&nested(30_000)), too_deep);
        assert_eq!(error(&"if true {".repeat(7000)), too_deep);
        // As deep as scripts may go, in both ways at once.
        let (open, close) = ("(1 + ".repeat(10), ")".repeat(10));
        let deep =
            format!("fn f(n) {{ if n == 0 {{ 0 }} else {{ {open}f(n - 1){close} }} }}\nf(14);");
        assert_eq!(run(&deep), Ok(Round::default()));
        let deeper = deep.replace("f(14)", "f(1000)");
        let said = "Functions call one another too deep here, or without end.";
        assert_eq!(error(&deeper), said);
    }

    #[test]
    fn a_round_has_at_most_so_many_calls() {
        let calls = |count| format!("for i in 0..{count} {{ advance(i % N, i % {MAX_STREAMS}); }}");
        assert_eq!(run(&calls(MAX_CALLS)).unwrap().calls.len(), MAX_CALLS);
        let error = error(&calls(MAX_CALLS + 1));
        assert_eq!(error, "A round has at most 100000 calls.");
    }
}

#[cfg(test)]
mod new_round_tests {
    use super::*;
    use crate::check;
    use lang::Language;

    #[test]
    fn a_new_round_is_right() {
        for language in [Language::English, Language::Chinese] {
            let source = test_support::with(language, new_round);
            for items in [1, 2, 16] {
                let round = round(&source, Work::Lattices, items).unwrap();
                assert_eq!(check(&round, items, Work::Lattices, &[]), []);
            }
        }
    }
}
