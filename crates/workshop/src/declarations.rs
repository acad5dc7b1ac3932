//! What a kernel's source declares in its first comment lines: the rung it comes from, the rules that it
//! steps, and the shape of its blocks.

use engine::Kernel;
use engine::kernels::{GpuCode, KERNELS, OwnCode, OwnStepper};
use life::Rule;

use crate::fault::{CompilerError, Fault};
use crate::translation::{kernel_names, stray_character};
use lang::{Message, message, tr};

/// A kernel of the user's own, as its source declares it.
#[derive(Clone, PartialEq, Debug)]
pub struct OwnKernel {
    /// The source.
    pub source: String,
    /// The rung whose place it takes: its symbol, parameters, layout and launches are those of this one.
    pub rung: &'static Kernel,
    /// The rules that it steps; `None` for every rule.
    pub rules: Option<Vec<Rule>>,
    /// The shape of its blocks.
    pub block: (u32, u32),
}

/// Why a source cannot be checked at all.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{message}")]
pub struct SourceError {
    /// The line that it is about, if it is about one.
    pub line: Option<u32>,
    message: Message,
}

impl From<Message> for SourceError {
    fn from(message: Message) -> SourceError {
        SourceError {
            line: None,
            message,
        }
    }
}

/// The rungs that a kernel may begin with: those whose blocks do not wait for each other.
pub fn rungs() -> impl Iterator<Item = &'static Kernel> {
    KERNELS.iter().filter(|kernel| !kernel.cooperative)
}

impl OwnKernel {
    /// Maximum bytes of a source.
    pub const MAX_BYTES: u64 = 1 << 20;

    /// The text of a source, without a byte order mark.
    ///
    /// # Errors
    /// It is no text.
    pub fn decode(bytes: Vec<u8>) -> Result<String, SourceError> {
        let no_text = || message!("the source is not a text in UTF-8");
        let mut source = String::from_utf8(bytes).map_err(|_| no_text())?;
        if source.contains('\0') {
            return Err(no_text().into());
        }
        if source.starts_with('\u{feff}') {
            source.remove(0);
        }
        Ok(source)
    }

    /// Reads the declarations of a source.
    ///
    /// # Errors
    /// It is no text, or declares nothing that can be checked.
    pub fn read(bytes: Vec<u8>) -> Result<OwnKernel, SourceError> {
        if bytes.len() as u64 > Self::MAX_BYTES {
            let kib = Self::MAX_BYTES >> 10;
            return Err(message!("the source is larger than {} KiB", kib).into());
        }
        let source = Self::decode(bytes)?;
        let in_line = |line, message| SourceError {
            line: Some(line),
            message,
        };
        let (line, name) = declared(&source, "from").ok_or_else(|| {
            message!("no line says which rung it comes from; add one, such as // from: 02_shared")
        })?;
        let rung = rungs().find(|rung| rung.file == name || rung.name == name);
        let rung = rung.ok_or_else(|| {
            let files: Vec<&str> = rungs().map(|rung| rung.file).collect();
            let message = message!(
                "line {line}: no kernel of one's own can begin with '{name}'; take one of: {rungs}",
                name = short(name),
                rungs = files.join(", ")
            );
            in_line(line, message)
        })?;
        let rules = match declared(&source, "rules") {
            None | Some((_, "any")) => None,
            Some((line, text)) => {
                let rules = text.split([',', ' ']).filter(|rule| !rule.is_empty());
                let rules = rules.map(|rule| {
                    rule.parse().map_err(|_| {
                        let message = message!(
                            "line {line}: '{text}' is not a rule; take any, or rules such as B3/S23",
                            text = short(rule)
                        );
                        in_line(line, message)
                    })
                });
                Some(rules.collect::<Result<_, _>>()?)
            }
        };
        let block = match declared(&source, "block") {
            None => rung.block(),
            Some((line, text)) => {
                let sides = text.split_once('x');
                let block = sides.and_then(|(w, h)| Some((w.parse().ok()?, h.parse().ok()?)));
                let block = block.filter(|block| rung.validate_block(*block).is_ok());
                block.ok_or_else(|| {
                    let message = message!(
                        "line {line}: blocks cannot be '{text}'; take one of: {shapes}",
                        text = short(text),
                        shapes = shapes(rung)
                    );
                    in_line(line, message)
                })?
            }
        };
        Ok(OwnKernel {
            source,
            rung,
            rules,
            block,
        })
    }

    /// Its symbol, that of the rung.
    pub fn symbol(&self) -> &'static str {
        self.rung.entries[0]
    }

    /// It, ready to run by what it was compiled to for a GPU, and by what steps it on the CPU.
    pub fn kernel(
        &self,
        gpu: Option<GpuCode>,
        cpu: Option<Box<dyn OwnStepper>>,
    ) -> &'static Kernel {
        let code = OwnCode {
            rung: self.rung,
            source: self.source.clone(),
            rules: self.rules.clone(),
            gpu,
            cpu,
        };
        Kernel::own(code, self.block)
    }

    /// Whether its characters are those of C++, and it defines its symbol once, such that a GPU's loader
    /// finds it.
    pub(crate) fn check_source(&self) -> Result<(), Fault> {
        if let Some((line, column, character)) = stray_character(&self.source) {
            let what = lang::stray_in_words(character);
            let error = CompilerError {
                line: Some(line),
                column: Some(column),
                text: tr!("the code has {what}"),
            };
            let (errors, more) = (vec![error], 0);
            return Err(Fault::DoesNotCompile { errors, more });
        }
        let symbol = self.symbol();
        let names = kernel_names(&self.source);
        let mut found = names.iter().filter(|name| name.symbol == symbol);
        match (found.next(), found.next()) {
            (None, _) => Err(Fault::NoSymbol {
                symbol: symbol.into(),
            }),
            (Some(first), Some(second)) => Err(Fault::SymbolTwice {
                symbol: symbol.into(),
                lines: [first.line, second.line],
            }),
            (Some(only), None) if !only.is_extern_c => Err(Fault::NotExternC {
                symbol: symbol.into(),
                line: only.line,
            }),
            (Some(_), None) => Ok(()),
        }
    }

    /// Whether a compiled kernel's parameters, by their bytes, are what the rung's launches give.
    pub(crate) fn check_parameters(
        &self,
        taken: impl IntoIterator<Item = usize>,
    ) -> Result<(), Fault> {
        let given = self.rung.parameters.iter().map(|it| it.bytes());
        if given.eq(taken) {
            return Ok(());
        }
        Err(Fault::BadParameters {
            symbol: self.symbol().into(),
            rung: self.rung.file.into(),
        })
    }
}

/// The first comment line that declares this, its number and what it says.
fn declared<'a>(source: &'a str, name: &str) -> Option<(u32, &'a str)> {
    (1..).zip(source.lines()).find_map(|(number, line)| {
        let comment = line.trim_start().strip_prefix("//")?.trim();
        let value = comment.strip_prefix(name)?.strip_prefix(':')?;
        // What stands in parentheses is for the reader.
        Some((number, value.split('(').next()?.trim()))
    })
}

/// The shapes that a rung's blocks can have.
fn shapes(rung: &Kernel) -> String {
    let shapes = rung.blocks.iter();
    let shapes = shapes.map(|(across, down)| format!("{across}x{down}"));
    shapes.collect::<Vec<_>>().join(", ")
}

/// A text of the user's, as long as a sentence can quote.
fn short(text: &str) -> String {
    text.chars().take(40).collect()
}

/// A commented copy of a rung, to be changed. `file` is its name, for the command that checks it.
pub fn skeleton(rung: &Kernel, file: &str) -> String {
    let [head, _] = rung.code();
    let idea = head.split("//\n").next().unwrap_or_default();
    let launch = head
        .split_once("// Launch: ")
        .map_or("", |(_, launch)| launch);
    let shapes = shapes(rung);
    let layout = match rung.layout {
        engine::Layout::I32 => "one int per cell, 0 or 1, row by row",
        engine::Layout::Bits => {
            "one bit per cell, 32 cells per word, the least significant bit leftmost; the bits\n\
             //         beyond the width are 0"
        }
        engine::Layout::Planar => "planar words, see life.cuh",
    };
    let (symbol, stem) = (rung.entries[0], rung.file);
    format!(
        "// A kernel of your own, begun as a copy of {stem}:\n\
         //\n\
         {idea}\
         //\n\
         // Check it:  lifestreams kernel check {file}\n\
         //\n\
         // Change what you like, but keep the name {symbol}, its parameters and what they point to:\n\
         // the program launches it as it launches {stem}. These lines are read by the program:\n\
         //\n\
         // from: {stem}\n\
         // rules: any         (or those it steps, such as B3/S23)\n\
         // block: {block}        (one of {shapes})\n\
         //\n\
         // Layout: {layout}.\n\
         // Launch: {launch}{code}",
        block = format_args!("{}x{}", rung.block().0, rung.block().1),
        code = rung.standalone_code(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_of_each_rung_declares_it() {
        for rung in rungs() {
            let copy = skeleton(rung, "mine.cu");
            let own = OwnKernel::read(copy.clone().into_bytes()).unwrap();
            assert_eq!((own.rung, own.block), (rung, rung.block()), "{copy}");
            assert_eq!(own.rules, None);
            assert_eq!(own.check_source(), Ok(()));
            assert!(
                !copy.contains("Measured") && !copy.contains("../"),
                "{copy}"
            );
        }
        assert_eq!(rungs().count(), KERNELS.len() - 1);
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        let huge = vec![b' '; OwnKernel::MAX_BYTES as usize + 1];
        for (bytes, said) in [
            (&b"int x;"[..], "no line says which rung it comes from;"),
            (&[0xff], "the source is not a text in UTF-8"),
            (b"// from: shared\n\0", "the source is not a text in UTF-8"),
            (&huge, "the source is larger than 1024 KiB"),
            (
                b"\n// from: 12_none",
                "line 2: no kernel of one's own can begin with '12_none'; take",
            ),
            (
                b"\n// from: 09_cooperative",
                "line 2: no kernel of one's own can begin with '09_cooperative'; take",
            ),
            (
                b"// from: shared\n// rules: B3/S23 B9/S1",
                "line 2: 'B9/S1' is not a rule;",
            ),
            (
                b"// from: shared\n// block: 33x8",
                "line 2: blocks cannot be '33x8'; take one of: ",
            ),
        ] {
            let error = OwnKernel::read(bytes.to_vec()).map(drop).unwrap_err();
            assert_eq!(error.line, said.starts_with("line 2").then_some(2));
            assert!(error.to_string().starts_with(said), "{error}, not {said}");
        }
    }

    #[test]
    fn rules_are_read() {
        let source = "// from: 02_shared\n  //rules: B3/S23, B36/S23\n// block: 16x16";
        let own = OwnKernel::read(source.as_bytes().to_vec()).unwrap();
        let rules = vec![Rule::LIFE, "B36/S23".parse().unwrap()];
        assert_eq!(own.rules, Some(rules));
        assert_eq!(own.block, (16, 16));
    }

    #[test]
    fn a_byte_order_mark_is_skipped_and_no_character_makes_it_panic() {
        let copy = skeleton(rungs().next().unwrap(), "mine.cu");
        let own = OwnKernel::read(format!("\u{feff}{copy}").into_bytes()).unwrap();
        assert_eq!((&own.source, own.check_source()), (&copy, Ok(())));
        for (at, _) in copy.char_indices() {
            for letter in "\u{a0}\u{3000}\u{feff}“”𝄞\0".chars() {
                let mut changed = copy.clone();
                changed.insert(at, letter);
                let _ = OwnKernel::read(changed.into()).map(|own| own.check_source());
            }
        }
    }
}
