//! What the bench recorded, as tables for people.
//!
//! A record has a row per figure. Rows that answer one question ([`QUESTIONS`]) become one table,
//! with a line per work and a column per way; all others stand one below the other.

use anyhow::{Context, Result, bail};
use engine::kernels::{KERNELS, Kernel};
use lang::Language;
use life::Size;
use ui::ladder::{LOP3_PER_WORD, Ladder, LeftOut, Rate};

use crate::kernels::against;
use crate::numbers::{digits, factor, percent, quantity, spread};
use crate::records::{self, Origin, Record, Row, Table as Recorded};
use crate::scaling;
use crate::text::{Both, Table, label};

/// Rows of one table of a record that belong together.
struct Question {
    /// The record's table.
    of: &'static str,
    title: Both,
    /// What stands in the first column.
    lines: Both,
    /// How a row's text begins, before what is in the first column.
    start: &'static str,
    /// How it ends, and the column's head.
    columns: &'static [(&'static str, Both)],
}

const LATTICES: Both = Both("Lattices", "世界");
const LATTICES_AND_KERNEL: Both = Both("Lattices and kernel", "世界与核函数");

const QUESTIONS: [Question; 7] = [
    Question {
        of: "frame",
        title: Both(
            "Time per round, one round in flight",
            "每轮用时，同时只有一轮",
        ),
        lines: LATTICES_AND_KERNEL,
        start: "a round of ",
        columns: &[
            (", a stream each", Both("A stream each", "各用一个流")),
            (
                ", a stream each, depth-first",
                Both("A stream each, depth-first", "各用一个流，深度优先"),
            ),
            (", as one batch", Both("One batch", "一个批次")),
            (", one stream for all", Both("One stream", "共用一个流")),
            (
                ", the factor of streams",
                Both("One stream takes longer by", "共用一个流的用时倍数"),
            ),
        ],
    },
    Question {
        of: "frame",
        title: Both(
            "Rounds per second, two rounds in flight",
            "每秒轮数，同时有两轮",
        ),
        lines: LATTICES_AND_KERNEL,
        start: "rounds of ",
        columns: &[
            (
                ", eager",
                Both("One call per operation", "每个操作一次调用"),
            ),
            (", as a graph", Both("CUDA graph", "CUDA 图")),
            (", as one batch", Both("One batch", "一个批次")),
        ],
    },
    Question {
        of: "frame",
        title: Both("Frames drawn at 1920×1080", "以 1920×1080 绘制"),
        lines: LATTICES_AND_KERNEL,
        start: "frames of ",
        columns: &[(
            ", drawn at 1920×1080",
            Both("Frames per second", "每秒帧数"),
        )],
    },
    Question {
        of: "edit",
        title: Both(
            "Editing at 60 rounds per second, drawn at 1920×1080",
            "以每秒 60 轮运行、1920×1080 绘制时的编辑",
        ),
        lines: LATTICES,
        start: "",
        columns: &[
            (
                ": from an edit until the frame that shows it is drawn",
                Both("From an edit to its frame", "从编辑到显示它的帧"),
            ),
            (
                ": from an undo until the frame that shows it is drawn",
                Both("From an undo to its frame", "从撤销到显示它的帧"),
            ),
            (
                ": the longest frame without edits",
                Both("Longest frame without edits", "无编辑时最长的帧"),
            ),
            (
                ": the longest frame while a stroke is drawn",
                Both("Longest frame during a stroke", "画笔画时最长的帧"),
            ),
        ],
    },
    Question {
        of: "edit",
        title: Both(
            "Changing the number and the size of the lattices while they run",
            "运行时改变世界的数量与大小",
        ),
        lines: Both("Lattices and change", "世界与改变"),
        start: "",
        columns: &[
            (
                ": until the next round",
                Both("Until the next round", "到下一轮"),
            ),
            (
                ": until all are drawn",
                Both("Until all are drawn", "到全部画出"),
            ),
        ],
    },
    Question {
        of: "split",
        title: Both(
            "One torus on all GPUs, and on one",
            "同一个环面在全部 GPU 上与在一块上",
        ),
        lines: Both("Torus", "环面"),
        start: "",
        columns: &[
            (": one GPU", Both("One GPU", "一块 GPU")),
            (": all GPUs", Both("All GPUs", "全部 GPU")),
            (": factor", Both("Factor", "倍数")),
            (
                ": share in exchange",
                Both("Share of a round in exchange", "一轮中交换所占"),
            ),
        ],
    },
    Question {
        of: "default",
        title: Both(
            "A run with no switches, beside the best of all other switches",
            "不带任何开关的 run，与其他开关组合中最快的",
        ),
        lines: LATTICES,
        start: "",
        columns: &[
            (": no switches", Both("No switches", "不带开关")),
            (
                ": best other switches",
                Both("Best other switches", "其他开关中最快"),
            ),
            (": share of that", Both("Share of that", "前者与后者之比")),
        ],
    },
];

/// Tables that stand on other pages.
const ELSEWHERE: [&str; 2] = ["lesson", "split"];

/// The driver, and what draws.
fn machine(origin: &Origin) -> String {
    let drawing = origin.adapter.as_ref().map_or(String::new(), |adapter| {
        Both("; drawn by ", "；绘图：").get().to_owned() + adapter.as_str()
    });
    format!("{}{drawing}", origin.driver)
}

/// The commit that was measured.
fn commit(origin: &Origin) -> String {
    let commit = &origin.commit[..origin.commit.len().min(12)];
    match lang::language() {
        Language::English => format!("commit `{commit}`"),
        Language::Chinese => format!("提交 `{commit}`"),
    }
}

/// From where a table of a record is.
pub(crate) fn origin(record: &Record, table: &Recorded) -> String {
    let commit = commit(&table.origin);
    let machine = machine(&table.origin);
    match lang::language() {
        Language::English => format!("{} ({machine}), {commit}", record.device),
        Language::Chinese => format!("{}（{machine}），{commit}", record.device),
    }
}

/// What a newcomer should know first.
pub(crate) fn headline(records: &[Record]) -> Result<String> {
    const ROUND: &str = "a round of 16 × 1024², `sync-global`";
    let record = records::with_ladder(records).context("no GPU has a ladder recorded")?;
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
    let share = percent(best.median / limit.context("the ladder has no limit")?);
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
                 `{kernel}`, reaches {rate}, {share} of what the GPU's logic units can do."
            );
            textwrap::fill(&said, 100) + "\n"
        }
        Language::Chinese => format!(
            "在 {device} 上，十六个 1024² 的世界推进一轮，各用一个流需 {each}，共用一个流需 {one}，\
             是前者的 {by} 倍。最快的核函数 `{kernel}` 达到 {rate}，是 GPU 逻辑单元极限的 {share}。\n"
        ),
    })
}

/// One torus on several GPUs, a table for each machine.
pub(crate) fn scaling(records: &[Record]) -> Result<String> {
    let mut tables = Vec::new();
    for (record, table) in scaling::recorded(records)? {
        let mut rest: Vec<&Row> = table.rows.iter().collect();
        let question = QUESTIONS.iter().find(|it| it.of == table.name);
        let question = question.context("the table has its question")?;
        let shown = answered(question, &answers(question, &mut rest))?;
        let stop = Both(".", "。").get();
        tables.push(format!("{shown}\n{}{stop}\n", origin(record, table)));
    }
    Ok(tables.join("\n"))
}

/// Every record.
pub(crate) fn tables(records: &[Record]) -> Result<String> {
    let mut text = String::new();
    for record in records {
        let machine = machine(&record.origin);
        let stop = Both(".", "。").get();
        text += &format!("\n## {}\n\n{machine}{stop}\n", record.device);
        for table in &record.tables {
            if !ELSEWHERE.contains(&table.name.as_str()) {
                text += &recorded(record, table)?;
            }
        }
        if let Some(ladder) = &record.ladder {
            text += &of_ladder(ladder)?;
        }
    }
    Ok(text.trim_start().to_owned())
}

/// A table of a record: its questions, then the rows that are of none.
fn recorded(record: &Record, table: &Recorded) -> Result<String> {
    let mut said = commit(&table.origin);
    // Where it was another driver than the latest, or another GPU that drew.
    if machine(&table.origin) != machine(&record.origin) {
        said = format!("{}{}{said}", machine(&table.origin), Both("; ", "；").get());
    }
    let said = match lang::language() {
        Language::English => format!("Measured at {said}."),
        Language::Chinese => format!("测于{said}。"),
    };
    let mut text = String::new();
    let mut rest: Vec<&Row> = table.rows.iter().collect();
    for question in QUESTIONS.iter().filter(|it| it.of == table.name) {
        let answers = answers(question, &mut rest);
        if !answers.is_empty() {
            let title = question.title.get();
            let table = answered(question, &answers)?;
            text += &format!("\n### {title}\n\n{said}\n\n{table}");
        }
    }
    if !rest.is_empty() {
        let heads = [Both("Measured", "所测"), Both("Result", "结果")];
        let mut shown = Table::new(heads.map(Both::get));
        for row in rest {
            shown.row([label(&row.what), result(row)]);
        }
        let title = label(&table.title);
        text += &format!("\n### {title}\n\n{said}\n\n{}", shown.markdown()?);
    }
    Ok(text)
}

fn result(row: &Row) -> String {
    let per_second = match row.unit.as_str() {
        "rounds/s" => Both(" rounds/s", " 轮/s").get(),
        "frames/s" => Both(" frames/s", " 帧/s").get(),
        _ => "",
    };
    let spread = spread([row.median, row.lowest, row.highest], &row.unit);
    format!("{spread}{per_second}")
}

/// A line of a question's table: what stands in the first column, and the row of each column.
type Answer<'a> = (&'a str, Vec<Option<&'a Row>>);

/// The rows that answer a question, taken out of the others.
fn answers<'a>(question: &Question, rest: &mut Vec<&'a Row>) -> Vec<Answer<'a>> {
    let mut answers: Vec<Answer> = Vec::new();
    rest.retain(|row| {
        let columns = question.columns.iter().enumerate();
        let text = row.what.strip_prefix(question.start);
        let mut found = columns.filter_map(|(at, (end, _))| Some((at, text?.strip_suffix(end)?)));
        // ", depth-first" ends a column's text that another column's is the start of.
        let Some((at, line)) = found.next() else {
            return true;
        };
        let place = answers.iter().position(|(of, _)| *of == line);
        let place = place.unwrap_or_else(|| {
            answers.push((line, vec![None; question.columns.len()]));
            answers.len() - 1
        });
        answers[place].1[at] = Some(row);
        false
    });
    answers
}

fn answered(question: &Question, answers: &[Answer]) -> Result<String> {
    // Columns that nobody answered are left out.
    let used = |at: &usize| answers.iter().any(|(_, rows)| rows[*at].is_some());
    let columns: Vec<usize> = (0..question.columns.len()).filter(used).collect();
    let heads = columns.iter().map(|&at| question.columns[at].1.get());
    let mut table = Table::new(std::iter::once(question.lines.get()).chain(heads));
    for (line, rows) in answers {
        let cells = columns.iter().map(|&at| match rows[at] {
            Some(row) => spread([row.median, row.lowest, row.highest], &row.unit),
            None => "–".into(),
        });
        table.row(std::iter::once(label(line)).chain(cells));
    }
    table.markdown()
}

/// The ladder: what every rung reaches with every work, then each work by itself.
fn of_ladder(ladder: &Ladder) -> Result<String> {
    let title = Both("The ladder of kernels", "核函数的阶梯").get();
    let mut text = format!("\n### {title}\n\n{}\n", policy(ladder));
    let works: Vec<String> = ladder.works.iter().map(ToString::to_string).collect();
    let kernel = Both("Kernel", "核函数").get();
    let mut overview = Table::new(std::iter::once(kernel.to_owned()).chain(works));
    for kernel in &KERNELS {
        let rate = |work: &_| match ladder.rate(kernel.name, *work) {
            Some(rate) => quantity(rate.median, "cells/s"),
            None => "–".into(),
        };
        let rates = ladder.works.iter().map(rate);
        overview.row(std::iter::once(format!("`{}`", kernel.name)).chain(rates));
    }
    text += &format!("\n{}", overview.markdown()?);
    let dash = Both(
        "A dash: the kernel does not take lattices of that size.",
        "横线：该核函数不接受这种大小的世界。",
    );
    text += &format!("\n{}\n", dash.get());
    for failed in ladder.left_out.iter().filter(|left| !is_by_size(left)) {
        let work = failed
            .work
            .map_or(String::new(), |work| format!(", {work}"));
        let not = Both("Not measured", "未测").get();
        text += &format!("\n- {not}: `{}`{work}: {}\n", failed.kernel, failed.why);
    }
    for &work in &ladder.works {
        let heads = [
            Both("Kernel", "核函数"),
            Both("Rate", "速率"),
            Both("Of the logic limit", "占逻辑极限"),
            Both("Of the copy rate", "占复制速率"),
            Both("Against the rung before", "与前一级之比"),
            Both("Against the first", "与第一级之比"),
            Both("How it was launched", "启动方式"),
        ];
        let mut table = Table::new(heads.map(Both::get));
        let limit = ladder.limits.cells_per_second();
        for (at, kernel) in KERNELS.iter().enumerate() {
            let Some(rate) = ladder.rate(kernel.name, work) else {
                continue;
            };
            let none = || "–".to_owned();
            let [before, first] = against(ladder, at, work).unwrap_or_else(|| [none(), none()]);
            table.row([
                format!("`{}`", kernel.name),
                spread([rate.median, rate.lowest, rate.highest], "cells/s"),
                limit.map_or_else(none, |limit| percent(rate.median / limit)),
                ladder.copy_share(kernel, rate).map_or_else(none, percent),
                before,
                first,
                label(&rate.how),
            ]);
        }
        text += &format!("\n**{work}**\n\n{}", table.markdown()?);
    }
    Ok(text + other_rules(ladder)?.as_str())
}

/// Whether a rung was left out of a work because of the lattices' size.
fn is_by_size(left: &LeftOut) -> bool {
    let kernel = KERNELS.iter().find(|kernel| kernel.name == left.kernel);
    let size = left
        .work
        .and_then(|work| Size::new(work.side, work.side).ok());
    match (kernel, size) {
        (Some(kernel), Some(size)) => kernel.validate_size(size).is_err(),
        _ => false,
    }
}

/// What was measured how, and against what.
fn policy(ladder: &Ladder) -> String {
    let commit = &ladder.commit;
    let limits = ladder.limits;
    let lop3 = limits.lop3_per_second.zip(limits.cells_per_second());
    let lop3 = lop3.map(|(rate, cells)| (quantity(rate, "/s"), quantity(cells, "cells/s")));
    let copies = limits.copied_per_second.map(|rate| quantity(rate, "B/s"));
    let mib = |bytes: u64| digits(bytes as f64 / f64::from(1 << 20));
    let cache = ladder.cache.map(mib);
    let mut said = Vec::new();
    match lang::language() {
        Language::English => {
            said.push(format!("Commit `{commit}`."));
            if ladder.engine == "cpu" {
                said.push("On the CPU engine, with smaller lattices than on a GPU.".into());
            }
            if ladder.small {
                said.push("Short runs over small lattices, only to see that it works.".into());
            }
            said.push(
                "The cells of every rung are compared with the others' before it is timed by events; \
                 medians of three runs."
                    .into(),
            );
            if let Some((rate, cells)) = lop3 {
                said.push(format!(
                    "The limit: three-input logic operations (LOP3) at {rate}, so at most {cells} at \
                     {LOP3_PER_WORD} operations for 32 cells."
                ));
            }
            if let Some(rate) = copies {
                said.push(format!(
                    "The device copies {rate}, reads and writes counted."
                ));
            }
            if let Some(cache) = cache {
                said.push(format!(
                    "Lattices of up to {cache} MiB, both buffers counted, stay in its last cache; the \
                     share of the copy rate is given for larger ones."
                ));
            }
        }
        Language::Chinese => {
            said.push(format!("提交 `{commit}`。"));
            if ladder.engine == "cpu" {
                said.push("在 CPU 引擎上，世界比 GPU 上的小。".into());
            }
            if ladder.small {
                said.push("小世界上的短时运行，只为检验能否工作。".into());
            }
            said.push("每一级的细胞先与其他级对照，再用事件计时；取三次运行的中位数。".into());
            if let Some((rate, cells)) = lop3 {
                said.push(format!(
                    "极限：三输入逻辑运算 (LOP3) 的速率为 {rate}，每 32 个细胞需 {LOP3_PER_WORD} 次运算，\
                     因此至多 {cells}。"
                ));
            }
            if let Some(rate) = copies {
                said.push(format!("复制速率为 {rate}，读写都计。"));
            }
            if let Some(cache) = cache {
                said.push(format!(
                    "不超过 {cache} MiB 的世界（两个缓冲区都计）留在末级缓存中；更大的才给出占复制速率的比例。"
                ));
            }
        }
    }
    said.join(Both(" ", "").get())
}

/// How the rungs do by another rule than B3/S23.
fn other_rules(ladder: &Ladder) -> Result<String> {
    let of = |kernel: &'static Kernel| Some((kernel, ladder.other_rule_rate(kernel.name)?));
    let rates: Vec<(&Kernel, (&Rate, f64))> = KERNELS.iter().filter_map(of).collect();
    let Some((_, (first, _))) = rates.first() else {
        return Ok(String::new());
    };
    let rule = &first.rule;
    if rates.iter().any(|(_, (rate, _))| rate.rule != *rule) {
        bail!("the ladder has more than one other rule");
    }
    let (title, by) = match lang::language() {
        Language::English => (format!("By the rule {rule}"), "Of its rate by B3/S23"),
        Language::Chinese => (format!("规则 {rule}"), "与 B3/S23 的速率之比"),
    };
    let heads = [Both("Kernel", "核函数"), LATTICES, Both("Rate", "速率")];
    let mut table = Table::new(heads.map(Both::get).into_iter().chain([by]));
    for (kernel, (rate, part)) in rates {
        table.row([
            format!("`{}`", kernel.name),
            rate.work.to_string(),
            spread([rate.median, rate.lowest, rate.highest], "cells/s"),
            percent(part),
        ]);
    }
    Ok(format!("\n**{title}**\n\n{}", table.markdown()?))
}

/// The CPU engine and others, as `scripts/compare-cpu` measured them.
pub(crate) fn other_programs() -> Result<String> {
    #[derive(serde::Deserialize)]
    struct Comparison {
        machine: String,
        date: String,
        what: String,
        rows: Vec<Other>,
    }
    #[derive(serde::Deserialize)]
    struct Other {
        name: String,
        version: String,
        kind: String,
        cells_per_second: f64,
        times_ours: f64,
    }
    let all: Comparison = serde_json::from_str(include_str!("../../assets/compare-cpu.json"))?;
    let what = label(&all.what);
    let (machine, date) = (all.machine, all.date);
    let said = match lang::language() {
        Language::English => format!("{machine}, {date}: {what}; medians.\n\n"),
        Language::Chinese => format!("{machine}，{date}：{what}；取中位数。\n\n"),
    };
    let heads = [
        Both("Program", "程序"),
        Both("What it steps", "做法"),
        Both("Rate", "速率"),
        Both("Time against lifestreams", "用时与 lifestreams 之比"),
    ];
    let mut table = Table::new(heads.map(Both::get));
    for row in all.rows {
        table.row([
            format!("{} {}", row.name, row.version),
            label(&row.kind),
            quantity(row.cells_per_second, "cells/s"),
            factor(row.times_ours),
        ]);
    }
    Ok(said + table.markdown()?.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ui::ladder::fixtures;

    #[test]
    fn a_rung_is_measured_against_the_limits_and_the_rungs_below() {
        let text = of_ladder(&fixtures::ladder()).unwrap();
        let row = |start: &str| {
            let found = text.lines().filter(|line| line.starts_with(start));
            found.map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(
            row("| `bits`")[0],
            "| `bits` | 1.56 Tcell/s | 3.13 Tcell/s |"
        );
        // 71.3 Tcell/s at most; 128 MiB go through memory, 64 do not, nor do what no cache holds.
        let global =
            "| `global` | 40.0 Gcell/s | 0.06 % | 7.80 % | – | – | graphs of 48 generations |";
        assert_eq!(row("| `global`")[1], global);
        let bits = row("| `bits`");
        assert!(
            bits[1].contains("| 2.19 % | – | 6.25× `sync-global` | 39.1× |"),
            "{bits:?}"
        );
        assert!(
            bits[2].contains("| 4.39 % | 19.1 % | 15.6× `shared` | 39.1× |"),
            "{bits:?}"
        );
        assert!(text.contains("at most 71.3 Tcell/s at 7.5 operations for 32 cells"));
        assert_eq!(bits[3], "| `bits` | 16 × 1024² | 781 Gcell/s | 50.0 % |");
        assert!(text.contains("- Not measured: `planar`, 1 × 16384²: it hung"));
        assert!(!text.contains("`sync-global`, 1 × 16384²"));
    }

    #[test]
    fn rows_of_one_question_become_one_table() {
        let row = |what: &str, median: f64, unit: &str| Row {
            what: what.into(),
            median,
            lowest: median,
            highest: median,
            unit: unit.into(),
            runs: 5,
            in_windows: false,
        };
        let rows = [
            row("a round of 16 × 8², `bits`, a stream each", 0.5, "ms"),
            row(
                "a round of 16 × 8², `bits`, a stream each, depth-first",
                0.6,
                "ms",
            ),
            row(
                "a round of 16 × 8², `bits`, the factor of streams",
                13.0,
                "times",
            ),
            row("rounds of 16 × 8², `bits`, eager", 8000.0, "rounds/s"),
            row("something else", 1.0, "ms"),
        ];
        let mut rest: Vec<&Row> = rows.iter().collect();
        let answers = answers(&QUESTIONS[0], &mut rest);
        assert_eq!(rest.len(), 2);
        let table = answered(&QUESTIONS[0], &answers).unwrap();
        let lines: Vec<&str> = table.lines().collect();
        assert_eq!(
            lines,
            [
                "| Lattices and kernel | A stream each | A stream each, depth-first | One stream takes \
                 longer by |",
                "|---|---|---|---|",
                "| 16 × 8², `bits` | 0.500 ms | 0.600 ms | 13.0× |",
            ]
        );
    }
}
