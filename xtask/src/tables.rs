//! The generated parts: tables of keys, lessons, kernels and measurements, and the command line's help.

use anyhow::{Context, Result};
use clap::{Arg, Command};
use engine::Layout;
use engine::kernels::{Iteration, KERNELS, Kernel, SupportedSizes};
use lang::Language;
use lang::numbers::{digits, grouped, quantity};
use lesson::{Group, LESSONS};
use lifestreams::cli::{self, Record, Row, pivot};
use ui::actions::Topic;
use ui::ladder::{LOP3_PER_WORD, Ladder};

use crate::{both, chapters, markdown, with_ladder};

/// The keys by topic, from the action table.
pub(crate) fn keys() -> Result<String> {
    let heads = [both("Key", "按键"), both("What it does", "作用")];
    let part = |topic: Topic| {
        let rows = topic.rows().map(|row| [row.keys(), row.help().to_owned()]);
        (topic.title().to_owned(), rows.collect())
    };
    chapters("##", &heads, Topic::ALL.map(part))
}

/// The lessons by group, each with its question.
pub(crate) fn lessons() -> Result<String> {
    let heads = [
        both("Lesson", "课程"),
        both("What it is about", "内容"),
        both("Question to the class", "课堂提问"),
    ];
    let part = |group: Group| {
        let of = LESSONS.iter().filter(|lesson| lesson.group == group);
        let rows = of.map(|lesson| {
            let [title, question] = [lesson.title, lesson.question].map(lang::text);
            [format!("`{}`", lesson.name), title.into(), question.into()]
        });
        (group.title().to_owned(), rows.collect())
    };
    chapters("###", &heads, Group::ALL.map(part))
}

/// What each kernel is and takes.
pub(crate) fn kernels() -> Result<String> {
    let row = |kernel: &Kernel| {
        let layout = match kernel.layout {
            Layout::I32 => "`i32`",
            Layout::Bits => "1 bit",
            Layout::Planar => "1 bit, in 32 planes",
        };
        let iteration = match kernel.iteration {
            Iteration::Launches => "1".into(),
            Iteration::Steps(most) => most.to_string(),
            Iteration::InKernel => "any number".into(),
        };
        let takes = match (kernel.sides, kernel.max_cells) {
            (SupportedSizes::Any, Some(most)) => format!("up to {} cells", grouped(most)),
            (SupportedSizes::Any, None) => "every size".into(),
            (sides, _) => sides.to_string(),
        };
        let name = format!("`{}`", kernel.name);
        [name, kernel.title.into(), takes, layout.into(), iteration]
    };
    let heads = ["Kernel", "Idea", "Takes", "Cells", "Generations per launch"];
    markdown(&heads, KERNELS.iter().map(row))
}

// Options and commands, as the command line itself defines them.

/// The command line, whose arguments know how they are written.
fn command_line() -> Command {
    let mut command = cli::command_line();
    command.build();
    command
}

/// Its subcommands but for `help`.
fn own(command: &Command) -> impl Iterator<Item = &Command> {
    let all = command.get_subcommands();
    all.filter(|it| !it.is_hide_set() && it.get_name() != "help")
}

/// What `--help` says of the commands and of the window's options, and of each command's that the window does
/// not have.
pub(crate) fn help() -> String {
    let all = command_line();
    let said = |it: &Arg| (it.get_id().clone(), it.get_help().map(ToString::to_string));
    let usual: Vec<_> = all.get_arguments().map(said).collect();
    let mut text = block(all.clone().after_help(""));
    for command in own(&all) {
        for part in [command].into_iter().chain(own(command)) {
            let command = part.clone().mut_args(|it| {
                let is_hidden = it.is_hide_set() || usual.contains(&said(&it));
                it.hide(is_hidden)
            });
            let has_own = command.get_arguments().any(|it| !it.is_hide_set());
            if has_own || command.has_subcommands() {
                text += &format!("\n{}", block(command));
            }
        }
    }
    text
}

fn block(command: Command) -> String {
    let help = command.term_width(100).render_help().to_string();
    let lines: Vec<_> = help.trim_end().lines().map(str::trim_end).collect();
    format!("```text\n{}\n```\n", lines.join("\n"))
}

// What the bench recorded, as tables for people.
//
// A record has a row per figure. A table has a line per work and a column per way.

/// What a newcomer should know first.
pub(crate) fn headline(records: &[Record]) -> Result<String> {
    const ROUND: &str = "16 × 1024², `sync-global`";
    let record = with_ladder(records)?;
    let rows: Vec<&Row> = record.tables.iter().flat_map(|table| &table.rows).collect();
    let of = |how: &str| {
        let what = format!("{ROUND}, {how}");
        let row = rows.iter().find(|row| row.what == what);
        let device = &record.device;
        row.with_context(|| {
            format!("the record of {device} lacks '{what}': `lifestreams bench frame --write`")
        })
    };
    let (each, one) = (of("a stream each")?, of("one stream for all")?);
    let by = digits(of("the factor of streams")?.median);
    let [each, one] = [each, one].map(|row| quantity(row.median, &row.unit));
    let ladder = record.ladder.as_ref().context("there is no ladder")?;
    let best = KERNELS.iter().filter_map(|kernel| ladder.best(kernel.name));
    let best = best.max_by(|a, b| a.median.total_cmp(&b.median));
    let best = best.context("the ladder has no rate")?;
    let limit = ladder.limits.cells_per_second();
    let share = digits(100.0 * best.median / limit.context("the ladder has no limit")?);
    let (device, rate, kernel) = (
        &record.device,
        quantity(best.median, "cells/s"),
        &best.kernel,
    );
    Ok(match lang::language() {
        Language::English => {
            let said = format!(
                "On an {device}, a round of sixteen lattices of 1024² cells takes {each} with one \
                 stream each, and {one} with one stream for all: {by}× slower. The fastest kernel, \
                 `{kernel}`, reaches {rate}, {share} % of what the GPU's logic units can do."
            );
            textwrap::fill(&said, 100) + "\n"
        }
        Language::Chinese => format!(
            "在 {device} 上，十六个 1024² 的世界推进一轮，各用一个流需 {each}，共用一个流需 {one}，\
             是前者的 {by} 倍。最快的核函数 `{kernel}` 达到 {rate}，是 GPU 逻辑单元极限的 {share} %。\n"
        ),
    })
}

/// The record of the GPU with the most measurements.
pub(crate) fn bench(records: &[Record]) -> Result<String> {
    let record = with_ladder(records)?;
    let mut text = String::new();
    for table in &record.tables {
        let (title, origin) = (&table.title, table.origin.title(&record.device));
        let title = lang::sentence_case(title);
        text += &format!("\n## {title}\n\n{origin}.\n\n{}", table_of(&table.rows)?);
    }
    if let Some(ladder) = &record.ladder {
        text += &of_ladder(&record.device, ladder)?;
    }
    Ok(text.trim_start().to_owned())
}

/// The median, and the range where runs are more than 10 % apart.
fn result(row: &Row) -> String {
    if row.highest - row.lowest > 0.1 * row.median {
        row.range()
    } else {
        quantity(row.median, &row.unit)
    }
}

/// Rows as a table: a way stands behind a kernel's name or settings, in backticks.
fn table_of(rows: &[Row]) -> Result<String> {
    let cells = rows.iter().map(|row| {
        let what = row.what.as_str();
        let end = ["`, ", "`: "].iter().find_map(|end| what.rfind(end));
        let split = |at: usize| (&what[..=at], &what[at + 3..]);
        let (of, way) = end.map_or((what, "result"), split);
        [of.into(), lang::sentence_case(way), result(row)]
    });
    in_markdown("Measured", cells)
}

fn in_markdown(corner: &str, cells: impl IntoIterator<Item = [String; 3]>) -> Result<String> {
    let mut lines = pivot(corner, cells).into_iter();
    let heads = lines.next().unwrap_or_default();
    markdown(&heads.iter().map(String::as_str).collect::<Vec<_>>(), lines)
}

/// What every rung reaches with every work.
fn of_ladder(device: &str, ladder: &Ladder) -> Result<String> {
    let both = KERNELS
        .iter()
        .flat_map(|kernel| ladder.works.iter().map(move |&work| (kernel, work)));
    let cells = both.filter_map(|(kernel, work)| {
        let rate = quantity(ladder.rate(kernel.name, work)?.median, "cells/s");
        let stale = match ladder.sources.get(kernel.name) {
            Some(source) if *source == kernel.source() => "",
            _ => " (before it was changed)",
        };
        Some([format!("`{}`{stale}", kernel.name), work.to_string(), rate])
    });
    let table = in_markdown("Kernel", cells)?;
    let limit = match ladder.limits.lop3_per_second {
        Some(rate) => format!(
            "LOP3: {}, so at most {} at {LOP3_PER_WORD} for 32 cells. ",
            quantity(rate, "/s"),
            quantity(ladder.limits.cells_per_second().unwrap_or(0.0), "cells/s")
        ),
        None => String::new(),
    };
    let cache = ladder.cache.map_or("?".into(), |cache| {
        quantity(cache as f64 / f64::from(1 << 20), "MiB")
    });
    let policy = format!(
        "Random cells of density 0.3; every rung's cells are compared before it is timed; medians of three \
         runs, by events. {limit}Caches are as the runs before left them: lattices of at most {cache}, both \
         buffers counted, stay in the last cache, larger ones stream from memory."
    );
    let policy = textwrap::fill(&policy, 110);
    Ok(format!(
        "\n## The ladder of kernels\n\n{device}; commit {}.\n\n{policy}\n\n{table}\n\
         A dash: the kernel does not take lattices of that size, or was not measured.\n",
        ladder.commit
    ))
}
