//! The picture of one torus on one GPU and on all: bars from a record of `bench split`.

use std::fmt::Write;

use anyhow::{Context, Result, ensure};

use crate::numbers::{factor, quantity};
use crate::records::{Record, Row, Table};

const ENDS: [&str; 3] = [": one GPU", ": all GPUs", ": factor"];

/// Width of a bar, and height of the longest, in pixels.
const BAR: f64 = 30.0;
const TALLEST: f64 = 180.0;
const LEFT: f64 = 20.0;
const TOP: f64 = 40.0;
const COLOURS: [&str; 2] = ["#8a8f98", "#2f81f7"];

/// The records that have the table, with the table, those of fewer GPUs first.
pub(crate) fn recorded(records: &[Record]) -> Result<Vec<(&Record, &Table)>> {
    let mut recorded: Vec<_> = records
        .iter()
        .flat_map(|record| record.tables.iter().map(move |table| (record, table)))
        .filter(|(_, table)| table.name == "split")
        .collect();
    ensure!(
        !recorded.is_empty(),
        "no machine with several GPUs has a record: `bench split`"
    );
    recorded.sort_by_key(|(record, _)| gpus(record));
    Ok(recorded)
}

fn gpus(record: &Record) -> usize {
    record.device.split(" + ").count()
}

/// The picture, as SVG: a pair of bars for each torus on the most GPUs, and the factor above the second.
pub(crate) fn picture(records: &[Record]) -> Result<String> {
    let recorded = recorded(records)?;
    let (record, table) = recorded.last().expect("one at least");
    let of_torus = |row: &Row| Some(row.what.strip_suffix(ENDS[0])?.to_owned());
    let toruses: Vec<String> = table.rows.iter().filter_map(of_torus).collect();
    let value = |torus: &str, end: &str| {
        let what = format!("{torus}{end}");
        let row = table.rows.iter().find(|row| row.what == what);
        row.map(|row| row.median).context(what)
    };
    let highest = table.rows.iter().filter(|row| row.unit == "cells/s");
    let highest = highest.map(|row| row.median).fold(0.0, f64::max);
    let pitch = 3.4 * BAR;
    let (width, height) = (
        2.0 * LEFT + pitch * toruses.len() as f64,
        TOP + TALLEST + 50.0,
    );
    let base = TOP + TALLEST;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"11\" text-anchor=\"middle\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
    );
    for (at, torus) in toruses.iter().enumerate() {
        let left = LEFT + pitch * at as f64;
        for (bar, colour) in COLOURS.into_iter().enumerate() {
            let rate = value(torus, ENDS[bar])?;
            let (x, tall) = (left + bar as f64 * 1.3 * BAR, TALLEST * rate / highest);
            let (y, middle) = (base - tall, x + BAR / 2.0);
            let text = quantity(rate, "cells/s").replace(" Tcell/s", "");
            writeln!(
                svg,
                "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{BAR}\" height=\"{tall:.1}\" fill=\"{colour}\"/>\n\
                 <text x=\"{middle:.1}\" y=\"{:.1}\">{text}</text>",
                y - 4.0
            )?;
            if bar == 1 {
                let times = factor(value(torus, ENDS[2])?);
                let y = y - 18.0;
                writeln!(
                    svg,
                    "<text x=\"{middle:.1}\" y=\"{y:.1}\" font-weight=\"bold\">{times}</text>"
                )?;
            }
        }
        let middle = left + 1.15 * BAR;
        writeln!(
            svg,
            "<text x=\"{middle:.1}\" y=\"{:.1}\">{torus}</text>",
            base + 16.0
        )?;
    }
    let legend = [1, gpus(record)].map(|gpus| format!("{gpus} GPU, Tcell/s"));
    for (at, (text, colour)) in legend.iter().zip(COLOURS).enumerate() {
        let (x, y) = (LEFT + 130.0 * at as f64, base + 36.0);
        writeln!(
            svg,
            "<rect x=\"{x}\" y=\"{:.1}\" width=\"10\" height=\"10\" fill=\"{colour}\"/>\n\
             <text x=\"{}\" y=\"{y:.1}\" text-anchor=\"start\">{text}</text>",
            y - 9.0,
            x + 15.0
        )?;
    }
    Ok(svg + "</svg>\n")
}
