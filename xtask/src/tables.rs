//! Tables of what there is: keys, lessons and kernels.

use anyhow::Result;
use engine::Layout;
use engine::kernels::{Iteration, KERNELS, Kernel, SupportedSizes};
use lang::numbers::{digits, grouped, quantity};
use lesson::{Group, LESSONS};
use lifestreams::cli::Record;
use ui::actions::Topic;
use ui::ladder::Ladder;

use crate::documents::{both, chapters, markdown, with_ladder};

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

/// The ladder, a line per rung: its idea, its highest rate and its factor.
pub(crate) fn ladder(records: &[Record]) -> Result<String> {
    let record = with_ladder(records)?;
    let ladder = record.ladder.as_ref().expect("it has one");
    let limit = ladder.limits.cells_per_second();
    let limit = limit.map_or(String::new(), |limit| {
        format!("; the limit is {}", quantity(limit, "cells/s"))
    });
    let heads = ["Rung", "Idea", "Highest rate", "Against the rung before"];
    let rows = KERNELS.iter().enumerate().map(|(at, kernel)| {
        let [highest, factor] = cells(at, kernel, ladder);
        let file = format!("[{file}](ladder/{file}.cu)", file = kernel.file);
        [file, kernel.title.into(), highest, factor]
    });
    let table = markdown(&heads, rows)?;
    Ok(format!(
        "Measured: {}, commit {}{limit}.\n\n{table}",
        record.device, ladder.commit
    ))
}

/// What a rung reaches at most, and its factor with that work.
fn cells(at: usize, kernel: &Kernel, ladder: &Ladder) -> [String; 2] {
    let Some(best) = ladder.best(kernel.name) else {
        return ["not measured", "–"].map(String::from);
    };
    let stale = match ladder.sources.get(kernel.name) {
        Some(source) if *source == kernel.source() => "",
        _ => " (before it was changed)",
    };
    let highest = format!("{}{stale}, {}", quantity(best.median, "cells/s"), best.work);
    let below: Vec<&str> = KERNELS[..at].iter().map(|kernel| kernel.name).collect();
    let factor = ladder.factor(kernel.name, &below, best.work);
    let against = factor.map(|(near, factor)| {
        // The very next one goes without saying.
        let named = (below.last() != Some(&near)).then(|| format!(" `{near}`"));
        let (factor, named) = (digits(factor), named.unwrap_or_default());
        format!("{factor}×{named}, {}", best.work)
    });
    [highest, against.unwrap_or("–".into())]
}
