//! The errors of the crate `life`, and what it read otherwise than written.

use std::io::ErrorKind;

use lang::tr;
use life::formats::macrocell::{MAX_LEVEL, MAX_NODES};
use life::memory::Lattices;
use life::{
    Fault, MAX_GENERATION, MemoryError, Pattern, PatternError, ReadError, Remark, RuleError,
    RuleFamily, SaveError, Size, SizeError, TextError, Unsaved,
};

use super::quantities::without_number;
use super::{InWords, counted_lattices, shown, system_reason};

// One sentence a line.
impl InWords for Fault {
    fn in_words(&self) -> String {
        let max = Size::MAX_SIDE;
        match self {
            Fault::Gzip(reason) => tr!("this is compressed with gzip and cannot be unpacked: {reason}; fetch it again"),
            Fault::LongGzip(limit) => tr!("this is compressed with gzip and more than {} MiB long when unpacked; unpack it first, such as with gunzip", limit >> 20),
            Fault::Archive => tr!("this is a ZIP archive; unpack it and name one of its patterns").into(),
            Fault::Script => tr!("this is a script, not a pattern; run it in Golly and save what it makes as RLE").into(),
            Fault::MCell(game) => tr!("this is in the format of MCell, of the kind '{game}'; where its rule is one such as B3/S23, save it as RLE with Golly"),
            Fault::Rule(error) => error.in_words(),
            Fault::Topology(it) => tr!("'{it}' is no torus, and only a torus can be run; write its sides, such as :T100,100, or leave it out"),
            Fault::Torus(error) => tr!("the torus {it}", it = error.in_words()),

            Fault::NoPattern => tr!("the text ends without a header; an RLE pattern has a line such as 'x = 3, y = 3, rule = B3/S23', then the cells").into(),
            Fault::NoHeader => tr!("this is not an RLE pattern; after any lines with # it must go on with a line such as 'x = 3, y = 3, rule = B3/S23'").into(),
            Fault::Field => tr!("the header must be x = WIDTH, y = HEIGHT and at most rule = RULE after them, such as 'x = 3, y = 3, rule = B3/S23'").into(),
            Fault::Number(it) => tr!("{it} must be a whole number of cells, such as '{it} = 3'"),
            Fault::Missing(it) => tr!("the header lacks {it}; write it as x = WIDTH, y = HEIGHT"),
            Fault::RleByte(byte) => tr!("unknown {it}; cells are b (dead) and o (alive), or . and A to X by their states, a row ends with $ and the pattern with !", it = named(*byte)),
            Fault::Count => tr!("a count is more than {max}, the longest side of a lattice; a smaller pattern is needed"),
            Fault::FarCell => tr!("live cells lie beyond {max} cells, the longest side of a lattice; a smaller pattern is needed"),

            Fault::NoRows => tr!("the text is empty; a plaintext pattern has rows of . (dead) and O (alive)").into(),
            Fault::PlaintextByte(byte) => tr!("unknown {it}; a row of a plaintext pattern has . (dead) and O (alive), and a comment starts with !", it = named(*byte)),
            Fault::LongSide => tr!("the pattern reaches beyond {max} cells, the longest side of a lattice; a smaller pattern is needed"),

            Fault::LifeVersion => tr!("this is neither Life 1.05 nor 1.06; its first line must be '#Life 1.05' or '#Life 1.06'").into(),
            Fault::Block => tr!("a block's place must be its left column and its top row, such as '#P -1 -1'").into(),
            Fault::BlockByte(byte) => tr!("unknown {it}; a row has . (dead) and * (alive), and a block of rows starts with a line such as '#P -1 -1'", it = named(*byte)),
            Fault::Cell => tr!("a line of Life 1.06 must be the column and the row of a live cell, such as '-1 2'").into(),
            Fault::FarApart => tr!("live cells lie more than {max} cells apart, the longest side of a lattice; a smaller pattern is needed"),

            Fault::MacrocellVersion => tr!("the first line of a macrocell must start with [M2]; save it so with Golly").into(),
            Fault::State => tr!("a cell's state must be from 0 to 255").into(),
            Fault::Node => tr!("a line must be a square of cells in . * $ or a node of five numbers, its level and its quarters, such as '4 0 1 2 3'").into(),
            Fault::Level => tr!("a node's level must be from 1 to {MAX_LEVEL}", MAX_LEVEL = MAX_LEVEL),
            Fault::Quarter(it) => tr!("there is no node {it} before this line; the file seems changed or cut, fetch it again"),
            Fault::QuarterLevel { node, found, wanted } => tr!("node {node} is of level {found}, but a quarter here must be of level {wanted}; the file seems changed, fetch it again"),
            Fault::SquareByte(byte) => tr!("unknown {it}; a square of cells has . (dead), * (alive) and $ (end of a row)", it = named(*byte)),
            Fault::Square => tr!("a square has more than 8 x 8 cells; the file seems changed, fetch it again").into(),
            Fault::NoNodes => tr!("the macrocell has no nodes, so it seems cut short; fetch it again").into(),
            Fault::ManyNodes => tr!("the macrocell has more than {MAX_NODES} nodes; a smaller pattern is needed", MAX_NODES = MAX_NODES),
            Fault::NodeMemory(it) => tr!("there is no memory left for the macrocell's {it} nodes; a smaller pattern is needed"),
        }
    }
}

/// A byte of a text, as the character if it is one.
fn named(byte: u8) -> String {
    match byte {
        b'!'..=b'~' => tr!("character '{}'", char::from(byte)),
        _ => tr!("byte {}", format_args!("0x{byte:02x}")),
    }
}

impl InWords for TextError {
    fn in_words(&self) -> String {
        let (line, column) = (self.line, self.column);
        let place = tr!("line {line}, column {column}: ");
        format!("{place}{}", self.fault.in_words())
    }
}

impl InWords for RuleError {
    fn in_words(&self) -> String {
        let text = &self.text;
        let why = match self.family {
            RuleFamily::Nonsense => tr!(
                "write it as B3/S23, the neighbour counts 0 to 8 after B (birth) and S (survival)"
            ),
            RuleFamily::Named(None) => tr!(
                "no rule that counts live neighbours has this name; write it as B3/S23, or take a name such as HighLife or Seeds"
            ),
            RuleFamily::Generations => tr!(
                "it seems to be of Generations, with cells of more than two states; only rules such as B3/S23 can be run"
            ),
            RuleFamily::LargerThanLife => tr!(
                "it is written as in Larger than Life; only rules that count the eight cells next to a cell can be run, and they are written such as B3/S23"
            ),
            RuleFamily::Isotropic => tr!(
                "it is isotropic non-totalistic: it tells neighbours apart by where they lie; only rules that count them, such as B3/S23, can be run"
            ),
            RuleFamily::Map => tr!(
                "it is a MAP rule, with an entry for each neighbourhood; only rules that count live neighbours, such as B3/S23, can be run"
            ),
            RuleFamily::Hexagonal => tr!(
                "it is hexagonal, with six neighbours; only rules of the eight next to a cell, such as B3/S23, can be run"
            ),
            RuleFamily::VonNeumann => tr!(
                "it is of the von Neumann neighbourhood, with four neighbours; only rules of the eight next to a cell, such as B3/S23, can be run"
            ),
            RuleFamily::Triangular => tr!(
                "it is triangular, with twelve neighbours; only rules of the eight next to a cell, such as B3/S23, can be run"
            ),
            RuleFamily::Margolus => tr!(
                "it is of the Margolus neighbourhood, which steps blocks of four cells; only rules of the eight next to a cell, such as B3/S23, can be run"
            ),
            RuleFamily::Row => tr!(
                "it is for a single row of cells (Wolfram's numbers); only rules of eight neighbours, such as B3/S23, can be run"
            ),
            RuleFamily::Named(Some(name)) => {
                return tr!(
                    "unknown rule '{text}'; did you mean {name}? Other rules are written such as B3/S23"
                );
            }
        };
        tr!("unknown rule '{text}': {why}")
    }
}

impl InWords for SizeError {
    fn in_words(&self) -> String {
        match self {
            SizeError::Form(it) => tr!("'{it}' is not a size: write WIDTHxHEIGHT, such as 512x512"),
            SizeError::Side(it, other) => tr!(
                "{it}x{other} is not a lattice: both sides must be from 1 to {max}",
                max = Size::MAX_SIDE
            ),
            SizeError::Cells(it, other) => tr!(
                "{it}x{other} is too large: a lattice has at most 2^36 cells, such as 262144x262144"
            ),
        }
    }
}

impl InWords for MemoryError {
    fn in_words(&self) -> String {
        let what = match self.what {
            Lattices::One(size) => tr!("a lattice of {size}"),
            Lattices::WithStarts(count, size) => {
                tr!("{} of {} with their starts", counted_lattices(count), size)
            }
            Lattices::Saved => tr!("the lattices of the session").into(),
        };
        tr!(
            "out of host memory: {what} would take {needed_mib} MiB, and {free_mib} MiB are free; {}",
            memory_remedy(self.fits),
            needed_mib = self.needed_mib,
            free_mib = self.free_mib
        )
    }
}

/// What to do about too little memory, where lattices of this size fit.
pub(super) fn memory_remedy(fits: Option<Size>) -> String {
    match fits {
        Some(size) => tr!("use fewer --instances, a smaller --size ({size} fits) or --kernel bits"),
        None => tr!("use fewer --instances, a smaller --size or --kernel bits").into(),
    }
}

/// Without a remedy for a file, since that depends on what it is for.
impl InWords for ReadError {
    fn in_words(&self) -> String {
        let it_is = |what| tr!("it is {what}");
        match self {
            ReadError::Folder => it_is(tr!("a folder")),
            ReadError::NotRegular => it_is(tr!("a pipe or a device, not a regular file")),
            ReadError::Empty => tr!("it is 0 bytes long").into(),
            ReadError::TooLong(limit) => {
                let (mib, gib) = (limit >> 20, limit >> 30);
                let limit = if gib == 0 {
                    format!("{mib} MiB")
                } else {
                    format!("{gib} GiB")
                };
                tr!("it is more than {limit} long")
            }
            ReadError::LongStream(limit) => tr!(
                "it is more than {} MiB long; save it to a file, and name that",
                limit >> 20
            ),
            ReadError::NoMemory(None) => tr!("there is no memory left for it").into(),
            ReadError::NoMemory(Some(length)) => tr!(
                "it is {} bytes long, and there is no memory left for it",
                length
            ),
            ReadError::Io(error) => system_reason(error),
        }
    }
}

impl InWords for Unsaved {
    fn in_words(&self) -> String {
        match self {
            Unsaved::NoName => tr!("this names no file; add a file's name").into(),
            Unsaved::LongName => tr!("its name is too long; choose a shorter one").into(),
            Unsaved::IsFolder => tr!("it is a folder; name a file in it").into(),
            Unsaved::IsFile => tr!("it is a file, not a folder; choose another").into(),
            Unsaved::NotRegular => tr!("it is a pipe or a device; name a regular file").into(),
            Unsaved::LinkCycle => {
                tr!("it is a link that leads back to itself; name a regular file").into()
            }
            Unsaved::ReadOnly => {
                tr!("it is read-only; make it writable (chmod u+w), or choose another name").into()
            }
            Unsaved::HardLinks(count) => tr!(
                "it is one of {} hard links to a file, and saving would separate it from the others; choose another name, or copy it (cp) and save in the copy",
                count
            ),
            Unsaved::InUse(id) => tr!(
                "process {id} is using it; end that process first, or choose another name",
                id = id.trim()
            ),
            Unsaved::NoFolder(folder) => tr!(
                "there is no folder {folder}; create it first",
                folder = folder.display()
            ),
            Unsaved::Folder(folder) => tr!(
                "no file can be made in the folder {folder}; choose another",
                folder = folder.display()
            ),
            Unsaved::NotAFolder(folder) => tr!(
                "{folder} is not a folder; choose another",
                folder = folder.display()
            ),
            Unsaved::Forbidden(folder) => tr!(
                "you may not write to the folder {folder}; choose another",
                folder = folder.display()
            ),
            Unsaved::DiskFull(folder) => tr!(
                "the disk of {folder} is full; free some space or choose another folder",
                folder = folder.display()
            ),
            Unsaved::Other(reason) => tr!(
                "{error}; choose another folder, or try again",
                error = without_number(reason)
            ),
        }
    }
}

impl InWords for SaveError {
    fn in_words(&self) -> String {
        tr!(
            "cannot save {path}: {reason}",
            path = self.path.display(),
            reason = self.reason.in_words()
        )
    }
}

impl InWords for PatternError {
    fn in_words(&self) -> String {
        match self {
            PatternError::Unreadable { file, error, near } => tr!(
                "cannot read the pattern {file}: {reason}",
                reason = why_unreadable(error, *near)
            ),
            PatternError::Text { file, error } => format!("{}, {}", shown(file), error.in_words()),
            PatternError::Larger {
                file,
                width,
                height,
                lattice,
                offer,
                kernel,
            } => {
                let remedy = match (offer, kernel) {
                    (Some(size), Some(kernel)) => tr!("use --size {size} --kernel {kernel}"),
                    (Some(size), None) => tr!("use --size {size}"),
                    (None, _) => {
                        tr!("no lattice is that large, a smaller pattern is needed").into()
                    }
                };
                tr!(
                    "{file} is {width}x{height} cells, larger than the lattice {lattice}; {}",
                    remedy
                )
            }
            PatternError::Memory(error) => error.in_words(),
            PatternError::Sizes(one, other) => tr!(
                "{} is for a torus of {} and {} for one of {}, but all instances share one size; choose it with --size",
                one.0,
                one.1,
                other.0,
                other.1
            ),
            PatternError::Rules(one, other) => tr!(
                "{} has the rule {} and {} has {}, but all instances share one rule; choose it with --rule",
                one.0,
                one.1,
                other.0,
                other.1
            ),
        }
    }
}

/// The reason and the remedy.
fn why_unreadable(error: &ReadError, near: Option<&str>) -> String {
    match (error, near) {
        (_, Some(name)) => tr!("there is no such file; did you mean {name}, of the shelf? 'lifestreams patterns' lists it"),
        (ReadError::Io(error), None) => match error.kind() {
            ErrorKind::NotFound => tr!("there is no such file; check its name and folder, or name a pattern of the shelf, such as gosper-gun").into(),
            ErrorKind::PermissionDenied => tr!("you may not read it; change its permissions").into(),
            _ => tr!("{error}; try another file"),
        },
        (ReadError::NoMemory(_) | ReadError::LongStream(_), None) => error.in_words(),
        (ReadError::Folder | ReadError::NotRegular | ReadError::Empty | ReadError::TooLong(_), None) => tr!("{error}; name a pattern file", error = error.in_words()),
    }
}

/// What to say of a pattern that was not read exactly as it is written, one sentence each.
pub fn remarks(pattern: &Pattern) -> Vec<String> {
    let file = pattern.name();
    let said = pattern.remarks().into_iter().map(|remark| match remark {
        Remark::States(rule) => tr!("{file} has cells of several states; it is read as {rule}, with odd states alive and even ones dead"),
        Remark::NoEnd => tr!("{file} has no '!' at its end; if cells are missing, it was cut short: fetch it again"),
        Remark::FarGeneration => tr!("{file} is of a generation beyond {max}; it starts at generation 0", max = MAX_GENERATION),
    });
    said.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use life::Rule;

    #[test]
    fn a_pattern_that_does_not_fit_is_said_with_a_size_that_does() {
        let domino = Pattern::from_text("domino.rle", "2o!").unwrap();
        let size = Size::new(1, 9).unwrap();
        assert_eq!(
            domino.check_fits(size).unwrap_err().in_words(),
            "domino.rle is 2x1 cells, larger than the lattice 1x9; use --size 4x9"
        );
    }

    #[test]
    fn what_is_not_saved_is_said_with_its_folder_and_a_remedy() {
        let full = SaveError {
            path: "a/b\n.rle".into(),
            reason: Unsaved::DiskFull("a".into()),
        };
        assert_eq!(
            full.in_words(),
            "cannot save a/b\\n.rle: the disk of a is full; free some space or choose another folder"
        );
    }

    #[test]
    fn a_rule_s_error_names_the_family_and_a_rule_that_can_be_run() {
        for (text, words) in [
            ("B3/S29", "write it as"),
            ("HihgLife", "did you mean HighLife?"),
            ("WireWorld", "has this name"),
            ("345/3/6", "Generations"),
            ("R1,C2,S2-3,B3", "Larger than Life"),
            ("B2-a/S12", "isotropic non-totalistic"),
            ("MAPARZofw", "MAP rule"),
            ("B2/S34H", "hexagonal"),
            ("2/013V", "von Neumann"),
            ("B4/S345L", "triangular"),
            ("M0,8,4", "Margolus"),
            ("W110", "a single row"),
        ] {
            let error = text.parse::<Rule>().unwrap_err().in_words();
            let said = format!("unknown rule '{text}'");
            assert!(error.starts_with(&said), "{error}");
            assert!(error.contains(words) && error.contains("B3/S23"), "{error}");
        }
        for named in ["HighLife", "Seeds"] {
            named.parse::<Rule>().unwrap();
        }
    }
}
