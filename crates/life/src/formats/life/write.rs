//! Writing Life 1.05 and 1.06.

use crate::formats::{Format, Sheet};
use crate::run::LiveRuns;
use std::io::{self, BufWriter, Write};

/// Maximum length of a block's row, as the format requires.
const LONGEST_ROW: u32 = 80;

/// Writes the sheet as Life 1.05: blocks of at most 80 columns, placed so that the lattice's
/// middle is at 0 0; rows and blocks without a live cell are left out.
///
/// # Errors
/// Errors of `out`.
pub fn write_105(sheet: Sheet, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let out = &mut BufWriter::new(out);
    writeln!(out, "#Life 1.05")?;
    sheet.notes.write(Format::Life105, out)?;
    let rule = sheet.rule.to_string();
    // The format puts survival first.
    if let Some((birth, survival)) = rule.split_once('/') {
        writeln!(out, "#R {}/{}", &survival[1..], &birth[1..])?;
    }
    let size = sheet.lattice.size();
    let (middle_x, middle_y) = (i64::from(size.width() / 2), i64::from(size.height() / 2));
    for left in (0..size.width()).step_by(LONGEST_ROW as usize) {
        let right = size.width().min(left + LONGEST_ROW);
        let mut in_block = false;
        let mut line = [b'.'; LONGEST_ROW as usize];
        for (y, row) in sheet
            .lattice
            .words()
            .chunks_exact(size.words_per_row())
            .enumerate()
        {
            let mut end = 0;
            line.fill(b'.');
            // The words that the block overlaps.
            let words = (left / 32) as usize..right.div_ceil(32) as usize;
            let offset = words.start as u32 * 32;
            for (first, past) in LiveRuns::new(&row[words]) {
                let (first, past) = ((first + offset).max(left), (past + offset).min(right));
                if first < past {
                    end = (past - left) as usize;
                    line[(first - left) as usize..end].fill(b'*');
                }
            }
            if end == 0 {
                in_block = false;
                continue;
            }
            if !in_block {
                let (x, y) = (i64::from(left) - middle_x, y as i64 - middle_y);
                writeln!(out, "#P {x} {y}")?;
                in_block = true;
            }
            out.write_all(&line[..end])?;
            out.write_all(b"\n")?;
        }
    }
    out.flush()
}

/// Writes the sheet as Life 1.06: a line for each live cell, placed so that the lattice's middle
/// is at 0 0.
///
/// # Errors
/// Errors of `out`.
pub fn write_106(sheet: Sheet, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let out = &mut BufWriter::new(out);
    writeln!(out, "#Life 1.06")?;
    sheet.notes.write(Format::Life106, out)?;
    let size = sheet.lattice.size();
    let (middle_x, middle_y) = (i64::from(size.width() / 2), i64::from(size.height() / 2));
    for (y, row) in sheet
        .lattice
        .words()
        .chunks_exact(size.words_per_row())
        .enumerate()
    {
        for (first, end) in LiveRuns::new(row) {
            for x in first..end {
                writeln!(out, "{} {}", i64::from(x) - middle_x, y as i64 - middle_y)?;
            }
        }
    }
    out.flush()
}
