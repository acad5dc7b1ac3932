//! Runs scripts.
//!
//! The language is rhai's without arrays, maps, closures, modules, floats and a clock: numbers, variables,
//! loops, conditions and functions are left. What is left cannot take much memory or time: every operation
//! is counted, strings are short, and nothing else grows.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use rhai::packages::{ArithmeticPackage, BasicIteratorPackage, LogicPackage, Package as _};
use rhai::{
    AST, Dynamic, Engine, EvalAltResult, LexError, NativeCallContext, OptimizationLevel,
    ParseErrorType, Position,
};

use crate::{Call, CallKind, Place, Round, Work};

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

/// A script that was read.
#[derive(Clone, Debug)]
pub struct Script {
    ast: AST,
    work: Work,
}

/// Why a script makes no round.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{kind:?} at {place:?}")]
pub struct ScriptError {
    /// Where it is; `None` if it is about the whole script.
    pub place: Option<Place>,
    /// What is wrong.
    pub kind: ScriptErrorKind,
}

/// What is wrong with a script.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ScriptErrorKind {
    /// It has more than [`MAX_SOURCE_BYTES`].
    TooLong {
        /// How many it has.
        bytes: usize,
    },
    /// Its file is not UTF-8.
    NotUtf8,
    /// It ends within a statement or a block.
    EndsEarly,
    /// This is missing here.
    Missing(String),
    /// The language does not have this word or sign, or not for scripts.
    Unavailable(String),
    /// Blocks or expressions are nested too deep.
    NestedTooDeep,
    /// Anything else that the language refuses, in the interpreter's words.
    Language(String),
    /// There is no function of this name for this work.
    UnknownFunction(String),
    /// A function takes other arguments.
    Arguments {
        /// Its name.
        function: String,
        /// How many whole numbers it takes.
        numbers: usize,
    },
    /// There is no variable of this name.
    UnknownVariable(String),
    /// A number is negative or too large.
    OutOfRange {
        /// What it numbers.
        what: Numbered,
        /// The number.
        value: i64,
        /// How many there are, numbered from 0.
        count: u32,
    },
    /// It makes more than [`MAX_CALLS`].
    TooManyCalls,
    /// It takes more than [`MAX_OPERATIONS`], or never ends.
    TooManyOperations,
    /// Functions call one another too deep, or without end.
    RecursesTooDeep,
    /// It has too many variables, or too long a string.
    TooMuchMemory,
    /// The system starts no thread to read or run it.
    NoThread,
}

/// What a number in a call stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Numbered {
    /// A lattice or a chunk.
    Item(Work),
    /// A stream.
    Stream,
    /// An event.
    Event,
}

impl Script {
    /// Reads a script.
    ///
    /// # Errors
    /// The first place that cannot be read.
    pub fn compile(source: &str, work: Work) -> Result<Script, ScriptError> {
        let bytes = source.len();
        if bytes > MAX_SOURCE_BYTES {
            let kind = ScriptErrorKind::TooLong { bytes };
            return Err(ScriptError { place: None, kind });
        }
        let ast = with_large_stack(|| engine().compile(source))?.map_err(|error| {
            let kind = of_parser(*error.0);
            ScriptError::new(kind, error.1)
        })?;
        Ok(Script { ast, work })
    }

    /// The text of a script's file, without a byte order mark.
    ///
    /// # Errors
    /// If it is not UTF-8.
    pub fn decode(bytes: Vec<u8>) -> Result<String, ScriptError> {
        let mut text = String::from_utf8(bytes).map_err(|error| {
            let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let valid = String::from_utf8_lossy(valid);
            let line = valid.rsplit('\n').next().unwrap_or_default();
            let place = Place {
                line: 1 + valid.matches('\n').count() as u32,
                column: 1 + line.chars().count() as u32,
            };
            ScriptError {
                place: Some(place),
                kind: ScriptErrorKind::NotUtf8,
            }
        })?;
        if text.starts_with('\u{feff}') {
            text.remove(0);
        }
        Ok(text)
    }

    /// What it works on.
    pub fn work(&self) -> Work {
        self.work
    }

    /// Runs it for so many items, its constant `N`.
    ///
    /// # Errors
    /// Where it fails, or goes beyond what a round may have.
    pub fn round(&self, items: u32) -> Result<Round, ScriptError> {
        let recorder = Arc::new(Recorder {
            calls: Mutex::default(),
            work: self.work,
            items,
        });
        let mut engine = engine();
        recorder.register(&mut engine);
        // A variable of a scope would not be seen within functions.
        #[expect(deprecated, reason = "rhai calls this API volatile")]
        engine.on_var(move |name, _, _| Ok((name == "N").then(|| Dynamic::from(i64::from(items)))));
        let ran = with_large_stack(|| engine.run_ast(&self.ast))?;
        ran.map_err(|error| of_interpreter(*error, self.work))?;
        let mut calls = recorder
            .calls
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        Ok(Round {
            calls: std::mem::take(&mut calls),
        })
    }
}

impl ScriptError {
    fn new(kind: ScriptErrorKind, position: Position) -> ScriptError {
        let place = place(position);
        ScriptError { place, kind }
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

/// The interpreter calls itself for every level of nesting.
fn with_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, ScriptError> {
    thread::scope(|scope| {
        let builder = thread::Builder::new().stack_size(STACK_BYTES);
        let thread = builder.spawn_scoped(scope, work);
        let thread =
            thread.map_err(|_| ScriptError::new(ScriptErrorKind::NoThread, Position::NONE))?;
        let joined = thread.join();
        Ok(joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}

/// The functions that make calls, and what was called.
struct Recorder {
    calls: Mutex<Vec<Call>>,
    work: Work,
    items: u32,
}

/// A function that takes two numbers, the second of which is the stream.
struct Function {
    name: &'static str,
    first: Numbered,
    kind: fn(u32) -> CallKind,
}

/// The function that takes the stream alone.
const SYNCHRONIZE: &str = "synchronize";

/// The others.
fn functions(work: Work) -> Vec<Function> {
    let function = |name, first, kind| Function { name, first, kind };
    let item = Numbered::Item(work);
    let mut functions = match work {
        Work::Lattices => vec![function("advance", item, CallKind::Advance)],
        Work::Arrays => vec![
            function("upload", item, CallKind::Upload),
            function("scale", item, CallKind::Scale),
        ],
    };
    functions.extend([
        function("download", item, CallKind::Download),
        function("record", Numbered::Event, CallKind::Record),
        function("wait", Numbered::Event, CallKind::Wait),
    ]);
    functions
}

impl Recorder {
    fn register(self: &Arc<Recorder>, engine: &mut Engine) {
        for Function { name, first, kind } in functions(self.work) {
            let recorder = Arc::clone(self);
            let call = move |context: NativeCallContext, number: i64, stream: i64| {
                let position = context.call_position();
                let number = recorder.in_range(first, number, position)?;
                recorder.push(kind(number), stream, position)
            };
            engine.register_fn(name, call);
        }
        let recorder = Arc::clone(self);
        let call = move |context: NativeCallContext, stream: i64| {
            recorder.push(CallKind::Synchronize, stream, context.call_position())
        };
        engine.register_fn(SYNCHRONIZE, call);
    }

    fn push(&self, kind: CallKind, stream: i64, position: Position) -> Called {
        let stream = self.in_range(Numbered::Stream, stream, position)?;
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        if calls.len() == MAX_CALLS {
            return Err(refused(ScriptErrorKind::TooManyCalls, position));
        }
        calls.push(Call {
            kind,
            stream,
            place: place(position).unwrap_or(Place { line: 1, column: 1 }),
        });
        Ok(())
    }

    fn in_range(
        &self,
        what: Numbered,
        value: i64,
        position: Position,
    ) -> Result<u32, Box<EvalAltResult>> {
        let count = match what {
            Numbered::Item(_) => self.items,
            Numbered::Stream => MAX_STREAMS,
            Numbered::Event => MAX_EVENTS,
        };
        let number = u32::try_from(value).ok().filter(|number| *number < count);
        let kind = ScriptErrorKind::OutOfRange { what, value, count };
        number.ok_or_else(|| refused(kind, position))
    }
}

type Called = Result<(), Box<EvalAltResult>>;

/// Ends the script; it cannot catch this.
fn refused(kind: ScriptErrorKind, position: Position) -> Box<EvalAltResult> {
    let error = ScriptError::new(kind, position);
    Box::new(EvalAltResult::ErrorTerminated(
        Dynamic::from(error),
        position,
    ))
}

fn place(position: Position) -> Option<Place> {
    position.line().map(|line| Place {
        line: line as u32,
        column: position.position().unwrap_or(1) as u32,
    })
}

/// What the parser refused.
fn of_parser(error: ParseErrorType) -> ScriptErrorKind {
    use ParseErrorType as Parse;
    match error {
        Parse::UnexpectedEOF => ScriptErrorKind::EndsEarly,
        Parse::MissingToken(token, _) => ScriptErrorKind::Missing(token),
        Parse::BadInput(LexError::UnexpectedInput(sign) | LexError::ImproperSymbol(sign, _))
        | Parse::Reserved(sign)
        | Parse::UnknownOperator(sign) => ScriptErrorKind::Unavailable(sign),
        Parse::ExprTooDeep => ScriptErrorKind::NestedTooDeep,
        Parse::LiteralTooLarge(..) => ScriptErrorKind::TooMuchMemory,
        other => ScriptErrorKind::Language(other.to_string()),
    }
}

/// Why a script ended early.
fn of_interpreter(mut error: EvalAltResult, work: Work) -> ScriptError {
    use EvalAltResult as Error;
    let position = error.take_position();
    let kind = match error {
        Error::ErrorInFunctionCall(_, _, inner, _) => return of_interpreter(*inner, work),
        Error::ErrorTerminated(token, _) if token.is::<ScriptError>() => {
            return token.cast::<ScriptError>();
        }
        Error::ErrorFunctionNotFound(signature, _) => unknown_function(&signature, work),
        Error::ErrorVariableNotFound(name, _) => ScriptErrorKind::UnknownVariable(name),
        Error::ErrorTooManyOperations(_) => ScriptErrorKind::TooManyOperations,
        Error::ErrorStackOverflow(_) => ScriptErrorKind::RecursesTooDeep,
        Error::ErrorTooManyVariables(_) | Error::ErrorDataTooLarge(..) => {
            ScriptErrorKind::TooMuchMemory
        }
        other => ScriptErrorKind::Language(other.to_string()),
    };
    ScriptError::new(kind, position)
}

/// Why there is no function for a call such as `advance (i64)`.
fn unknown_function(signature: &str, work: Work) -> ScriptErrorKind {
    let name = signature.split(" (").next().unwrap_or_default();
    let numbers = if name == SYNCHRONIZE {
        Some(1)
    } else {
        functions(work)
            .iter()
            .any(|it| it.name == name)
            .then_some(2)
    };
    let function = name.to_owned();
    match numbers {
        Some(numbers) => ScriptErrorKind::Arguments { function, numbers },
        None if name.starts_with(|it: char| it.is_alphabetic() || it == '_') => {
            ScriptErrorKind::UnknownFunction(function)
        }
        None => ScriptErrorKind::Language(signature.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(source: &str) -> Result<Round, ScriptError> {
        Script::compile(source, Work::Lattices)?.round(4)
    }

    /// The error of a script, and its line and column.
    fn error(source: &str) -> (ScriptErrorKind, Option<(u32, u32)>) {
        let error = run(source).unwrap_err();
        (error.kind, error.place.map(|it| (it.line, it.column)))
    }

    #[test]
    fn a_script_makes_its_calls_in_order_and_each_knows_its_place() {
        let round = run("fn both(i, stream) {\n  advance(i, stream);\n  download(i, stream);\n}\n\
             for i in 0..N {\n  if i % 2 == 1 { both(i, 1); }\n}\nrecord(0, 1); wait(0, 2);\nsynchronize(2)")
        .unwrap();
        let calls: Vec<_> = round
            .calls
            .iter()
            .map(|it| (it.kind, it.stream, (it.place.line, it.place.column)))
            .collect();
        assert_eq!(
            calls,
            [
                (CallKind::Advance(1), 1, (2, 3)),
                (CallKind::Download(1), 1, (3, 3)),
                (CallKind::Advance(3), 1, (2, 3)),
                (CallKind::Download(3), 1, (3, 3)),
                (CallKind::Record(0), 1, (8, 1)),
                (CallKind::Wait(0), 2, (8, 15)),
                (CallKind::Synchronize, 2, (9, 1)),
            ]
        );
        assert_eq!((round.streams(), round.events()), (3, 1));
    }

    #[test]
    fn n_is_known_in_functions_too_and_the_same_script_runs_for_any() {
        let script = Script::compile(
            "fn all() { for i in 0..N { advance(i, 0); } } all();",
            Work::Lattices,
        );
        let script = script.unwrap();
        for items in [1, 2, 16] {
            assert_eq!(script.round(items).unwrap().calls.len(), items as usize);
        }
    }

    #[test]
    fn arrays_have_calls_of_their_own() {
        let script = Script::compile("upload(0, 0); scale(0, 0); download(0, 0);", Work::Arrays);
        let round = script.unwrap().round(1).unwrap();
        let kinds: Vec<_> = round.calls.iter().map(|it| it.kind).collect();
        assert_eq!(
            kinds,
            [
                CallKind::Upload(0),
                CallKind::Scale(0),
                CallKind::Download(0)
            ]
        );
        let wrong = Script::compile("advance(0, 0)", Work::Arrays).unwrap();
        let kind = wrong.round(1).unwrap_err().kind;
        assert_eq!(kind, ScriptErrorKind::UnknownFunction("advance".into()));
    }

    #[test]
    fn what_is_wrong_in_a_script_has_its_line_and_column() {
        use ScriptErrorKind as Kind;
        let name = |name: &str| name.to_owned();
        let range = |what, value, count| Kind::OutOfRange { what, value, count };
        let item = Numbered::Item(Work::Lattices);
        let arguments = |function: &str, numbers| Kind::Arguments {
            function: name(function),
            numbers,
        };
        for (source, kind, place) in [
            (
                "advance(0, 0)\nadvance(1, 1)",
                Kind::Missing(name(";")),
                (2, 1),
            ),
            (
                "for i in 0..N {\n  advance(i, 0);\n",
                Kind::Missing(name("}")),
                (3, 1),
            ),
            ("advance(0,", Kind::EndsEarly, (1, 11)),
            ("advance(0, 0);\n\0", Kind::Unavailable(name("\0")), (2, 1)),
            ("let a = [1, 2];", Kind::Unavailable(name("[")), (1, 9)),
            ("let a = #{b: 1};", Kind::Unavailable(name("#")), (1, 9)),
            ("print(\"a\")", Kind::Unavailable(name("print")), (1, 1)),
            ("eval(\"a\")", Kind::Unavailable(name("eval")), (1, 1)),
            (
                "import \"a\" as b;",
                Kind::Unavailable(name("import")),
                (1, 1),
            ),
            ("let a = “b”;", Kind::Unavailable(name("“")), (1, 9)),
            (
                "let a\u{3000}= 1;",
                Kind::Unavailable(name("\u{3000}")),
                (1, 6),
            ),
            ("let a = |b| b;", Kind::Unavailable(name("|")), (1, 9)),
            (
                "advance(0, 0);\nadvence(1, 0);",
                Kind::UnknownFunction(name("advence")),
                (2, 1),
            ),
            (
                "upload(0, 0);",
                Kind::UnknownFunction(name("upload")),
                (1, 1),
            ),
            ("sleep(1);", Kind::UnknownFunction(name("sleep")), (1, 1)),
            (
                "timestamp();",
                Kind::UnknownFunction(name("timestamp")),
                (1, 1),
            ),
            ("  advance(0);", arguments("advance", 2), (1, 3)),
            ("wait(0, true);", arguments("wait", 2), (1, 1)),
            ("synchronize();", arguments("synchronize", 1), (1, 1)),
            ("advance(n, 0);", Kind::UnknownVariable(name("n")), (1, 9)),
            ("advance(-1, 0);", range(item, -1, 4), (1, 1)),
            ("advance(N, 0);", range(item, 4, 4), (1, 1)),
            (
                "advance(0, 1024);",
                range(Numbered::Stream, 1024, 1024),
                (1, 1),
            ),
            (
                "fn f() {\n  record(65536, 0);\n}\nf();",
                range(Numbered::Event, 65536, 65536),
                (2, 3),
            ),
            (
                "record(9223372036854775807, 0);",
                range(Numbered::Event, i64::MAX, 65536),
                (1, 1),
            ),
            (
                "try { advance(-1, 0); } catch { }",
                range(item, -1, 4),
                (1, 7),
            ),
            ("loop { }", Kind::TooManyOperations, (1, 6)),
            ("fn f() { f() }\nf();", Kind::RecursesTooDeep, (2, 1)),
            ("loop { advance(0, 0); }", Kind::TooManyCalls, (1, 8)),
            (
                "let s = \"a\";\nloop { s += s; }",
                Kind::TooMuchMemory,
                (2, 10),
            ),
        ] {
            assert_eq!(error(source), (kind, Some(place)), "{source}");
        }
    }

    #[test]
    fn a_script_that_is_too_long_or_no_text_is_refused_before_it_is_read() {
        let long = " ".repeat(100_000_000);
        let error = Script::compile(&long, Work::Lattices).unwrap_err();
        let kind = ScriptErrorKind::TooLong { bytes: long.len() };
        assert_eq!(error, ScriptError { place: None, kind });
        let longest = " ".repeat(MAX_SOURCE_BYTES);
        assert_eq!(run(&longest), Ok(Round::default()));
        let error = Script::decode(b"// \xe4\xb8\xad\nx\xe4\xb8\xad\xff".into()).unwrap_err();
        let place = Some(Place { line: 2, column: 3 });
        let kind = ScriptErrorKind::NotUtf8;
        assert_eq!(error, ScriptError { place, kind });
        assert_eq!(Script::decode("\u{feff}é".into()), Ok("é".to_owned()));
    }

    #[test]
    fn nesting_and_recursion_end_in_an_error_before_the_stack_does() {
        let nested = |levels| format!("{}1{}", "(".repeat(levels), ")".repeat(levels));
        assert_eq!(
            run(&nested(30_000)).unwrap_err().kind,
            ScriptErrorKind::NestedTooDeep
        );
        let blocks = "if true {".repeat(7000);
        assert_eq!(
            run(&blocks).unwrap_err().kind,
            ScriptErrorKind::NestedTooDeep
        );
        // As deep as scripts may go, in both ways at once.
        let (open, close) = ("(1 + ".repeat(10), ")".repeat(10));
        let deep =
            format!("fn f(n) {{ if n == 0 {{ 0 }} else {{ {open}f(n - 1){close} }} }}\nf(14);");
        assert_eq!(run(&deep), Ok(Round::default()));
        let deeper = deep.replace("f(14)", "f(1000)");
        assert_eq!(
            run(&deeper).unwrap_err().kind,
            ScriptErrorKind::RecursesTooDeep
        );
    }

    #[test]
    fn a_round_has_at_most_so_many_calls() {
        let calls = |count| format!("for i in 0..{count} {{ advance(i % N, i % {MAX_STREAMS}); }}");
        assert_eq!(run(&calls(MAX_CALLS)).unwrap().calls.len(), MAX_CALLS);
        let error = run(&calls(MAX_CALLS + 1)).unwrap_err();
        assert_eq!(error.kind, ScriptErrorKind::TooManyCalls);
    }
}
