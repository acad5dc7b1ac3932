//! Reading a macrocell.

use super::tree::{LEAF, Tree, leaf};
use super::{MAX_LEVEL, MAX_NODES};
use crate::Size;
use crate::fault::{Flaw, far_apart, named};
use crate::frame::{Frame, Remarks};
use crate::text::{self, lines, whole, word};
use lang::{Message, message};

/// Reads the text: the pattern's data and its tree.
pub(crate) fn read(text: &[u8]) -> Result<(Frame, Tree), Flaw> {
    let start = text::start(text);
    // Nodes are counted before any memory is allocated.
    let nodes = lines(text, start).filter(|(_, line)| is_node(line)).count();
    if nodes > MAX_NODES {
        return Err((
            text.len(),
            message!("the macrocell has more than {MAX_NODES} nodes; a smaller pattern is needed"),
        ));
    }
    let mut tree = Tree::with_room_for(nodes).map_err(|flaw| (start, flaw))?;
    let mut frame = Frame::default();
    let mut headed = false;
    let mut last = text.len();
    for (at, line) in lines(text, start).filter(|(_, line)| !line.is_empty()) {
        if !headed {
            if !line.starts_with(b"[M2]") {
                return Err((
                    at,
                    message!(
                        "the first line of a macrocell must start with [M2]; save it so with Golly"
                    ),
                ));
            }
            headed = true;
        } else if let Some(rule) = line.strip_prefix(b"#R") {
            frame.read_rule(rule, at + 2)?;
        } else if let Some(generation) = line.strip_prefix(b"#G") {
            frame.read_generation(generation.trim_ascii());
        } else if is_node(line) {
            read_node(line, &mut tree, &mut frame.remarks)
                .map_err(|(column, flaw)| (at + column, flaw))?;
            last = at;
        }
    }
    if tree.next_number() == 1 {
        return Err((
            text.len(),
            message!("the macrocell has no nodes, so it seems cut short; fetch it again"),
        ));
    }
    let sides = tree.measure().map_err(|flaw| (last, flaw))?;
    if sides
        .into_iter()
        .any(|side| side > i64::from(Size::MAX_SIDE))
    {
        return Err((last, far_apart()));
    }
    frame.fit(sides, tree.corner());
    Ok((frame, tree))
}

fn is_node(line: &[u8]) -> bool {
    !matches!(line, [] | [b'#' | b'[', ..])
}

/// Reads one line. An error's offset is relative to the line.
fn read_node(line: &[u8], tree: &mut Tree, remarks: &mut Remarks) -> Result<(), Flaw> {
    if matches!(line[0], b'.' | b'*' | b'$') {
        tree.push(LEAF, leaf(read_square(line)?));
        return Ok(());
    }
    let mut at = 0;
    let mut number = || -> Result<(usize, i64), Flaw> {
        let (from, word) = word(line, &mut at).ok_or_else(|| (line.len(), no_node()))?;
        let number = whole(word).ok_or_else(|| (from, no_node()))?;
        Ok((from, number))
    };
    let (from, level) = number()?;
    let level = match u8::try_from(level) {
        Ok(level @ 1..=MAX_LEVEL) => level,
        _ => {
            return Err((
                from,
                message!("a node's level must be from 1 to {MAX_LEVEL}"),
            ));
        }
    };
    let mut node = [0; 4];
    for quarter in &mut node {
        let (from, named) = number()?;
        *quarter = match level {
            // A cell's state.
            1 => u8::try_from(named)
                .map(|state| u32::from(remarks.see(state)))
                .map_err(|_| (from, message!("a cell's state must be from 0 to 255")))?,
            _ => read_quarter(tree, level - 1, named).map_err(|flaw| (from, flaw))?,
        };
    }
    if let Some((from, _)) = word(line, &mut at) {
        return Err((from, no_node()));
    }
    match level {
        // Smaller than 8 x 8 cells, so stored in the top left of such a square.
        1..=LEAF => tree.push_small(level, node),
        _ => tree.push(level, node),
    }
    Ok(())
}

/// The flaw of a line that is no node.
fn no_node() -> Message {
    message!(
        "a line must be a square of cells in . * $ or a node of five numbers, its level and its quarters, such as '4 0 1 2 3'"
    )
}

/// The number of a quarter, 0 if it is empty.
fn read_quarter(tree: &Tree, wanted: u8, named: i64) -> Result<u32, Message> {
    let number = usize::try_from(named).ok();
    let number = number.filter(|number| *number < tree.next_number());
    let number = number.ok_or_else(|| {
        message!(
            "there is no node {it} before this line; the file seems changed or cut, fetch it again",
            it = named
        )
    })?;
    let found = tree.level(number);
    if number != 0 && found != wanted {
        return Err(message!(
            "node {node} is of level {found}, but a quarter here must be of level {wanted}; the file seems changed, fetch it again",
            node = named
        ));
    }
    Ok(if tree.is_empty(number) {
        0
    } else {
        number as u32
    })
}

/// The rows of a square of 8 x 8 cells.
fn read_square(line: &[u8]) -> Result<[u8; 8], Flaw> {
    let too_large =
        || message!("a square has more than 8 x 8 cells; the file seems changed, fetch it again");
    let mut rows = [0; 8];
    let (mut x, mut y) = (0, 0);
    for (at, &letter) in line.iter().enumerate() {
        match letter {
            b'$' => (x, y) = (0, y + 1),
            b'.' | b'*' if x < 8 && y < 8 => {
                rows[y] |= u8::from(letter == b'*') << x;
                x += 1;
            }
            b'.' | b'*' => return Err((at, too_large())),
            other => {
                return Err((
                    at,
                    message!(
                        "unknown {it}; a square of cells has . (dead), * (alive) and $ (end of a row)",
                        it = named(other)
                    ),
                ));
            }
        }
        if y > 8 {
            return Err((at, too_large()));
        }
    }
    Ok(rows)
}
