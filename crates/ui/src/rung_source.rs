//! The CUDA C++ of a rung, line by line, and what changed from the rung that it is compared with.

use engine::Kernel;
use engine::kernels::GpuCode;
use similar::{Algorithm, ChangeTag, TextDiff};

/// What became of a line since the rung before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// Both rungs have it.
    Same,
    /// Only this rung has it.
    Added,
    /// Only the rung before has it.
    Removed,
}

impl Change {
    /// The sign before a line, as in any diff.
    pub fn sign(self) -> char {
        match self {
            Change::Same => ' ',
            Change::Added => '+',
            Change::Removed => '−',
        }
    }
}

/// A line of source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceLine {
    /// What became of it.
    pub change: Change,
    /// Its text, without a line end.
    pub text: String,
}

/// See the module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RungSource {
    /// Its kernel.
    pub kernel: &'static Kernel,
    /// Whether its lines are PTX, not CUDA C++.
    pub is_ptx: bool,
    /// The rung that it is compared with; `None` for the first, and for PTX.
    pub compared_with: Option<&'static str>,
    /// Its lines, and among them those that it no longer has.
    pub lines: Vec<SourceLine>,
}

impl RungSource {
    /// The source of this kernel.
    pub fn of(kernel: &'static Kernel) -> RungSource {
        let [head, code] = kernel.code();
        let before = kernel.compared_with();
        let line = |change, text: &str| SourceLine {
            change,
            text: text.trim_end().into(),
        };
        // Of the file's head: what differs, in words.
        let words = head
            .lines()
            .skip_while(|line| !line.starts_with("// Compared"));
        let words = words.take_while(|line| *line != "//");
        let mut lines: Vec<_> = words.map(|text| line(Change::Same, text)).collect();
        match before {
            None => lines.extend(code.lines().map(|text| line(Change::Same, text))),
            Some(before) => {
                let old = match kernel.own {
                    Some(_) => before.standalone_code(),
                    None => before.code()[1].to_owned(),
                };
                let mut diff = TextDiff::configure();
                let diff = diff.algorithm(Algorithm::Patience).diff_lines(&*old, code);
                lines.extend(diff.iter_all_changes().map(|change| {
                    let tag = match change.tag() {
                        ChangeTag::Equal => Change::Same,
                        ChangeTag::Insert => Change::Added,
                        ChangeTag::Delete => Change::Removed,
                    };
                    line(tag, change.value())
                }));
            }
        }
        RungSource {
            kernel,
            is_ptx: false,
            compared_with: before.map(|kernel| kernel.name),
            lines,
        }
    }

    /// The PTX of a kernel of one's own, if it was compiled to that.
    pub fn ptx_of(kernel: &'static Kernel) -> Option<RungSource> {
        let GpuCode::Ptx(ptx) = kernel.own.as_ref()?.gpu.as_ref()? else {
            return None;
        };
        let line = |text: &str| SourceLine {
            change: Change::Same,
            text: text.trim_end().replace('\t', "    "),
        };
        Some(RungSource {
            kernel,
            is_ptx: true,
            compared_with: None,
            lines: ptx.lines().map(line).collect(),
        })
    }

    /// Whether its kernel has PTX of its own.
    pub fn has_ptx(&self) -> bool {
        let own = self.kernel.own.as_ref();
        own.is_some_and(|own| matches!(own.gpu, Some(GpuCode::Ptx(_))))
    }
}

/// What differs between two texts, each with its name, as `diff -u` shows it; nothing if nothing does.
pub fn unified_diff(old: (&str, &str), new: (&str, &str)) -> String {
    let mut diff = TextDiff::configure();
    let diff = diff.algorithm(Algorithm::Patience).diff_lines(old.1, new.1);
    diff.unified_diff().header(old.0, new.0).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::kernels::{KERNELS, OwnCode, find};

    fn texts(source: &RungSource, changes: &[Change]) -> String {
        let of = |line: &&SourceLine| changes.contains(&line.change);
        let lines = source.lines.iter().filter(of);
        lines.map(|line| format!("{}\n", line.text)).collect()
    }

    #[test]
    fn a_source_is_whole_and_so_is_the_one_that_it_is_compared_with() {
        for kernel in &KERNELS {
            let source = RungSource::of(kernel);
            let [_, code] = kernel.code();
            assert!(code.contains("__global__"), "{}", kernel.name);
            assert!(texts(&source, &[Change::Same, Change::Added]).ends_with(code));
            let Some(before) = kernel.compared_with() else {
                assert_eq!(
                    kernel.name, "global",
                    "only the first rung has none before it"
                );
                continue;
            };
            assert!(before.index() < kernel.index());
            let [_, old] = before.code();
            assert!(texts(&source, &[Change::Same, Change::Removed]).ends_with(old));
        }
    }

    #[test]
    fn an_own_kernel_is_compared_with_its_rung_and_has_ptx() {
        let rung = find("shared").unwrap();
        let own = |gpu| {
            let code = OwnCode {
                rung,
                source: "// from: 02_shared\n".to_owned() + &*rung.standalone_code(),
                rules: None,
                gpu,
                cpu: None,
            };
            Kernel::own(code, rung.block())
        };
        let plain = RungSource::of(own(None));
        assert_eq!(plain.compared_with, Some("shared"));
        assert_eq!(texts(&plain, &[Change::Added, Change::Removed]), "");
        assert!(!plain.has_ptx() && RungSource::ptx_of(plain.kernel).is_none());
        let compiled = own(Some(GpuCode::Ptx(".visible .entry\n\tret;\n".into())));
        let ptx = RungSource::ptx_of(compiled).unwrap();
        assert_eq!(texts(&ptx, &[Change::Same]), ".visible .entry\n    ret;\n");
        assert!(ptx.is_ptx && RungSource::of(compiled).has_ptx());
    }
}
