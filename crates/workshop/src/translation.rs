//! CUDA C++ as text that a C++ compiler takes.

use std::ops::Range;

/// A kernel's source for a C++ compiler, to be compiled behind `cpp/emulator.h`.
#[derive(Clone, Debug)]
pub struct Translation {
    /// The text. Its lines are those of the source, behind a `#line`.
    pub cpp: String,
    /// The lines of kernels that are marked: behind their statement the emulator can put a barrier. The
    /// likeliest places of one come first: in few nested blocks, and behind a whole block.
    pub lines: Vec<u32>,
}

/// A kernel that a source defines.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KernelName {
    /// Its symbol.
    pub symbol: String,
    /// The line that has its name.
    pub line: u32,
    /// Whether it is declared `extern "C"`, without which a compiler gives it another symbol.
    pub is_extern_c: bool,
    /// Where its body is in the source, between its braces.
    body: Range<usize>,
}

/// Translates a source. `file` is its name in messages; the kernels of these symbols can then be
/// launched. If `is_marked`, every statement of a kernel that ends a line is marked.
pub fn translate(source: &str, file: &str, symbols: &[String], is_marked: bool) -> Translation {
    let code = blanked(source, false);
    let kernels = kernel_names(source);
    let mut edits = shared_declarations(source, &code);
    let mut ends = Vec::new();
    if is_marked {
        for kernel in &kernels {
            for end in statement_ends(&code, kernel.body.clone()) {
                edits.push((end.at..end.at, " EMULATOR_MARK".to_owned()));
                ends.push((end.depth, !end.is_block, line_of(source, end.at - 1)));
            }
        }
    }
    ends.sort_unstable();
    let lines = ends.into_iter().map(|(_, _, line)| line).collect();
    // The kernels' own headers are found by the compiler's path, since the text stands elsewhere now.
    for (at, _) in source.match_indices("#include \"../") {
        let from = at + "#include \"".len();
        edits.push((from..from + "../".len(), String::new()));
    }
    edits.sort_by_key(|(range, _)| range.start);
    let mut cpp = format!("#line 1 {file:?}\n");
    let mut at = 0;
    for (range, text) in edits {
        // What is within another edit goes with that.
        let Some(before) = source.get(at..range.start) else {
            continue;
        };
        cpp += before;
        cpp += &text;
        at = range.end;
    }
    cpp += &source[at..];
    cpp += "\n#line 1 \"emulator\"\n";
    for symbol in symbols {
        cpp += &format!("EMULATE({symbol})\n");
    }
    Translation { cpp, lines }
}

/// The kernels that a source defines, but for those that a macro defines.
pub fn kernel_names(source: &str) -> Vec<KernelName> {
    const GLOBAL: &str = "__global__";
    const LAUNCH_BOUNDS: &str = "__launch_bounds__";
    let code = blanked(source, false);
    let mut found = Vec::new();
    for (at, _) in code.match_indices(GLOBAL) {
        let mut rest = at + GLOBAL.len();
        // The word before the first parenthesis that is not that of launch bounds.
        while let Some(open) = code[rest..].find('(').map(|open| rest + open) {
            let before = code[..open].trim_end();
            let mut words = before.rsplit(|c: char| !c.is_alphanumeric() && c != '_');
            let word = words.next().unwrap_or_default();
            let Some(close) = matching(&code, open) else {
                break;
            };
            if word == LAUNCH_BOUNDS {
                rest = close + 1;
                continue;
            }
            let behind = code[close + 1..].trim_start();
            if !word.is_empty() && behind.starts_with('{') {
                let open = code.len() - behind.len();
                let end = matching(&code, open).unwrap_or(code.len());
                let declaration = code[..at].rfind([';', '}']).map_or(0, |end| end + 1);
                found.push(KernelName {
                    symbol: word.to_owned(),
                    line: line_of(source, before.len() - 1),
                    is_extern_c: code[declaration..at].contains("extern")
                        || code[..at].contains("extern \" \" {"),
                    body: open + 1..end,
                });
            }
            break;
        }
    }
    found
}

/// The line, from 1, of the character at a place.
fn line_of(text: &str, at: usize) -> u32 {
    text.as_bytes()[..at]
        .iter()
        .filter(|byte| **byte == b'\n')
        .count() as u32
        + 1
}

/// Where the bracket that this one opens is closed.
fn matching(code: &str, open: usize) -> Option<usize> {
    let mut depth = 0;
    for (at, byte) in code.bytes().enumerate().skip(open) {
        match byte {
            b'(' | b'{' | b'[' => depth += 1,
            b')' | b'}' | b']' => depth -= 1,
            _ => continue,
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// The first character of a source's code that C++ has no use for and an editor hides or another program
/// put there, such as a no-break space or a typographic quotation mark; with its line and column.
pub(crate) fn stray_character(source: &str) -> Option<(u32, u32, char)> {
    let code = blanked(source, true);
    let is_stray = |letter: char| {
        matches!(letter, '\u{80}'..='\u{bf}' | '×' | '÷' | '\u{1680}' | '\u{180e}' | '\u{feff}'
            | '\u{2000}'..='\u{2bff}' | '\u{3000}'..='\u{303f}' | '\u{fe10}'..='\u{fe6f}'
            | '\u{ff00}'..='\u{ffef}')
            && !letter.is_alphanumeric()
    };
    let (at, letter) = code.char_indices().find(|(_, letter)| is_stray(*letter))?;
    let begins = source[..at].rfind('\n').map_or(0, |end| end + 1);
    let column = source[begins..at].chars().count() as u32 + 1;
    Some((line_of(source, at), column, letter))
}

/// The text with spaces for comments, for what is in quotation marks and, unless they are to be kept, for
/// directives: each byte of code is where it was.
fn blanked(source: &str, keeps_directives: bool) -> String {
    let bytes = source.as_bytes();
    let mut code = bytes.to_vec();
    let mut blank = |range: Range<usize>| {
        for byte in &mut code[range] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
    };
    let find = |from: usize, what: &[u8]| {
        let found = bytes[from..].windows(what.len()).position(|it| it == what);
        found.map_or(bytes.len(), |at| from + at)
    };
    let mut at = 0;
    let mut begins_line = true;
    while at < bytes.len() {
        let end = match bytes[at] {
            b'/' if bytes[at..].starts_with(b"//") => find(at, b"\n"),
            b'/' if bytes[at..].starts_with(b"/*") => (find(at + 2, b"*/") + 2).min(bytes.len()),
            b'#' if begins_line && !keeps_directives => {
                let mut end = find(at, b"\n");
                while bytes[at..end].ends_with(b"\\") && end < bytes.len() {
                    end = find(end + 1, b"\n");
                }
                end
            }
            // A quotation mark within a number separates its digits.
            b'\'' if at > 0 && bytes[at - 1].is_ascii_alphanumeric() => at,
            quote @ (b'"' | b'\'') => {
                let mut end = at + 1;
                while end < bytes.len() && bytes[end] != quote && bytes[end] != b'\n' {
                    end += if bytes[end] == b'\\' { 2 } else { 1 };
                }
                let end = end.min(bytes.len());
                blank(at + 1..end);
                at = (end + 1).min(bytes.len());
                begins_line = false;
                continue;
            }
            _ => at,
        };
        if end > at {
            blank(at..end);
            at = end;
            continue;
        }
        begins_line = match bytes[at] {
            b'\n' => true,
            b' ' | b'\t' | b'\r' => begins_line,
            _ => false,
        };
        at += 1;
    }
    String::from_utf8(code).expect("whole characters were replaced")
}

/// Each `extern __shared__ T name[];`, and the pointer to the block's shared memory in its place.
fn shared_declarations(source: &str, code: &str) -> Vec<(Range<usize>, String)> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("extern") {
        let behind = code[at + "extern".len()..].trim_start();
        let Some(behind) = behind.strip_prefix("__shared__") else {
            continue;
        };
        let from = code.len() - behind.len();
        let Some(end) = behind.find(';').map(|end| from + end) else {
            continue;
        };
        // The compiler refuses what holds another declaration or a directive; no edit may hide that.
        let begins_directive = |line: &str| line.trim_start().starts_with('#');
        if code[from..end].contains("extern") || source[from..end].lines().any(begins_directive) {
            continue;
        }
        let declared = code[from..end].trim_end().strip_suffix(']');
        let declared = declared.and_then(|it| it.trim_end().strip_suffix('['));
        let Some((kind, name)) = declared.and_then(|it| it.trim().rsplit_once(char::is_whitespace))
        else {
            continue;
        };
        // Shared memory is aligned for every type.
        let kind = match kind.split_once("__align__(") {
            Some((before, rest)) => {
                let behind = rest.split_once(')').map_or("", |(_, behind)| behind);
                format!("{before} {behind}")
            }
            None => kind.to_owned(),
        };
        let kind = kind.split_whitespace().collect::<Vec<_>>().join(" ");
        let lines = "\n".repeat(source[at..end].matches('\n').count());
        let pointer = format!("{kind}* {name} = static_cast<{kind}*>(emulator::shared());{lines}");
        found.push((at..end + 1, pointer));
    }
    found
}

/// The end of a statement.
struct StatementEnd {
    /// The byte behind it.
    at: usize,
    /// How many blocks of the kernel it is in.
    depth: u32,
    /// Whether the statement is a block.
    is_block: bool,
}

/// Where the statements end that are the last ones of their line, within a body. No mark fits where an
/// `else` or another part of the statement follows, and within brackets.
fn statement_ends(code: &str, body: Range<usize>) -> Vec<StatementEnd> {
    let mut ends = Vec::new();
    let (mut brackets, mut depth) = (0, 0u32);
    for at in body.clone() {
        let byte = code.as_bytes()[at];
        match byte {
            b'(' | b'[' => brackets += 1,
            b')' | b']' => brackets -= 1,
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if brackets != 0 || !matches!(byte, b';' | b'}') {
            continue;
        }
        let behind = &code[at + 1..body.end];
        let is_last = behind
            .trim_start_matches([' ', '\t', '\r'])
            .starts_with('\n');
        let next = behind.trim_start();
        let goes_on = ["else", "while", "catch", ",", ")", ";", "."];
        if is_last && !goes_on.iter().any(|it| next.starts_with(it)) {
            ends.push(StatementEnd {
                at: at + 1,
                depth,
                is_block: byte == b'}',
            });
        }
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = r#"// extern "C" __global__ void commented(int a) {}
#define NAMED(x) extern "C" __global__ void x() \
    {}
extern "C" __global__ void __launch_bounds__(1024)
    first(const int* in) // a comment;
{
    extern __shared__ int tile[];
    const int x = f(1, ")"); // behind it
    if (x) g();
    else h();
    for (int i = 0;
         i < 3; i++) {
        k();
    }
}
__global__ void second() {}
"#;

    #[test]
    fn kernels_are_found() {
        let found = kernel_names(SOURCE);
        let names = found
            .iter()
            .map(|it| (it.symbol.as_str(), it.line, it.is_extern_c));
        assert_eq!(
            names.collect::<Vec<_>>(),
            [("first", 5, true), ("second", 16, false)]
        );
    }

    #[test]
    fn no_character_and_no_overlap_makes_it_panic() {
        let declared = "extern __shared__ int\n#include \"../life.cuh\"\n tile[];\n";
        let twice = "extern __shared__ extern __shared__ int tile[];\n";
        let source = SOURCE.replace("    if (x)", &format!("{declared}{twice}    if (x)"));
        let source = source + "#define A(x) \\\n '\\x' /* \"\n";
        let places = source.char_indices().map(|(at, _)| at);
        for at in places.chain([source.len()]) {
            for letter in "\u{a0}\u{3000}\u{feff}“”𝄞\0".chars() {
                let mut changed = source.clone();
                changed.insert(at, letter);
                let cpp = translate(&changed, "a.cu", &[], true).cpp;
                let lines = [&changed, &cpp].map(|text| text.matches('\n').count());
                assert_eq!(lines[0] + 3, lines[1], "{letter:?} at {at}: {cpp}");
                let _ = stray_character(&changed);
            }
        }
        let cpp = translate(&source, "a.cu", &[], false).cpp;
        assert!(cpp.contains("int\n#include \"life.cuh\""), "{cpp}");
    }

    #[test]
    fn strays_of_code_are_found() {
        for (source, stray) in [
            (
                "// “a”\nint a = '\u{a0}'; /*\u{3000}*/ f(\"，\");\nint größe, π, ª;",
                None,
            ),
            ("int é;\n/* é */ int\u{a0}x;", Some((2, 12, '\u{a0}'))),
            ("#include “life.cuh”", Some((1, 10, '“'))),
            ("int a；", Some((1, 6, '；'))),
            ("int\u{3000}a;\n", Some((1, 4, '\u{3000}'))),
        ] {
            assert_eq!(stray_character(source), stray, "{source}");
        }
    }
}
