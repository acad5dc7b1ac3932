//! PTX instrumentation: adds block timestamps to a kernel without changing its source.
//!
//! The kernel gets one more parameter, the address of a record of [`RECORD_BYTES`] per block: start
//! and end as `%globaltimer` values (u64 each), then the SM (u32). Thread 0 writes start and SM
//! before its first instruction. Where lane 0 of a warp returns, it raises the end to the current
//! time. If lane 0 returns before other lanes of its warp, the end is too early; in these kernels
//! the warps of a block end together, so the error is some nanoseconds.

/// Bytes per block's record; the last 12 are unused.
pub const RECORD_BYTES: usize = 32;

/// Name of the added parameter.
pub const PARAMETER: &str = "lifestreams_stamps";

/// Computes the address of the block's record into %lsd0, where predicate %lsp0 holds.
const ADDRESS: &str = "\
	@%lsp0 mov.u32 	%lsr0, %nctaid.y;
	@%lsp0 mov.u32 	%lsr1, %ctaid.z;
	@%lsp0 mov.u32 	%lsr2, %ctaid.y;
	@%lsp0 mad.lo.u32 	%lsr0, %lsr0, %lsr1, %lsr2;
	@%lsp0 mov.u32 	%lsr1, %nctaid.x;
	@%lsp0 mov.u32 	%lsr2, %ctaid.x;
	@%lsp0 mad.lo.u32 	%lsr0, %lsr0, %lsr1, %lsr2;
	@%lsp0 ld.param.u64 	%lsd0, [lifestreams_stamps];
	@%lsp0 cvta.to.global.u64 	%lsd0, %lsd0;
	@%lsp0 mad.wide.u32 	%lsd0, %lsr0, 32, %lsd0;
	@%lsp0 mov.u64 	%lsd1, %globaltimer;
";

/// Opens a scope with its own registers.
const OPEN: &str = "\
	{
	.reg .pred 	%lsp<1>;
	.reg .b32 	%lsr<4>;
	.reg .b64 	%lsd<2>;
	mov.u32 	%lsr0, %tid.x;
	mov.u32 	%lsr1, %tid.y;
	mov.u32 	%lsr2, %tid.z;
";

/// Thread 0 records the start of its block.
const ENTER: &str = "\
	or.b32 	%lsr0, %lsr0, %lsr1;
	or.b32 	%lsr0, %lsr0, %lsr2;
	setp.eq.u32 	%lsp0, %lsr0, 0;
";
const ENTERED: &str = "\
	@%lsp0 st.global.u64 	[%lsd0], %lsd1;
	@%lsp0 mov.u32 	%lsr3, %smid;
	@%lsp0 st.global.u32 	[%lsd0+16], %lsr3;
	}
";

/// Lane 0 of a warp records the time at which it returns.
const LEAVE: &str = "\
	mov.u32 	%lsr3, %ntid.y;
	mad.lo.u32 	%lsr1, %lsr2, %lsr3, %lsr1;
	mov.u32 	%lsr3, %ntid.x;
	mad.lo.u32 	%lsr0, %lsr1, %lsr3, %lsr0;
	and.b32 	%lsr0, %lsr0, 31;
	setp.eq.u32 	%lsp0, %lsr0, 0;
";
const LEFT: &str = "\
	@%lsp0 red.global.max.u64 	[%lsd0+8], %lsd1;
	}
";

/// The section of the PTX text being read.
#[derive(PartialEq)]
enum At {
    Before,
    Parameters,
    Head,
    Declarations,
    Body,
    Behind,
}

/// Returns the text with block timestamps added to its only entry. Errors with the line that the
/// parser does not support.
pub fn instrument(text: &str) -> Result<String, String> {
    let enter = [OPEN, ENTER, ADDRESS, ENTERED].concat();
    let leave = [OPEN, LEAVE, ADDRESS, LEFT].concat();
    let mut instrumented = String::with_capacity(text.len() + 4096);
    let mut at = At::Before;
    for (number, line) in text.lines().enumerate() {
        let error_at = |what: &str| format!("line {}: {what}: {line}", number + 1);
        let trimmed = line.trim();
        match at {
            At::Before | At::Behind if trimmed.starts_with(".visible .entry ") => {
                if at == At::Behind || !trimmed.ends_with('(') {
                    return Err(error_at("unsupported entry"));
                }
                at = At::Parameters;
            }
            At::Before | At::Behind => {}
            At::Parameters if trimmed == ")" => {
                let comma = instrumented.trim_end().len();
                if !instrumented.trim_end().ends_with('(') {
                    instrumented.insert(comma, ',');
                }
                instrumented += &format!("\t.param .u64 {PARAMETER}\n");
                at = At::Head;
            }
            At::Parameters => {}
            At::Head if trimmed == "{" => at = At::Declarations,
            At::Head => {}
            At::Declarations | At::Body => {
                let declares = trimmed.is_empty() || trimmed.starts_with(['.', '/']);
                if at == At::Declarations && !declares {
                    instrumented += &enter;
                    at = At::Body;
                }
                if line == "}" {
                    at = At::Behind;
                } else if trimmed == "ret;" {
                    instrumented += &leave;
                } else if trimmed.ends_with("ret;") || trimmed.ends_with("exit;") {
                    return Err(error_at("unsupported exit"));
                }
            }
        }
        instrumented += line;
        instrumented.push('\n');
    }
    if at == At::Behind && instrumented.contains(&leave) {
        Ok(instrumented)
    } else {
        Err("no entry with a return".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::Ptx;
    use crate::rule_network::{RuleNetwork, specialise};

    /// Every function's name and PTX, as it is loaded: with a rule's network where it takes one.
    fn functions() -> Vec<(&'static str, String)> {
        let network = RuleNetwork::of("B36/S23".parse().unwrap());
        let all = Ptx::all().iter().flat_map(|ptx| {
            let network = &network;
            ptx.symbols().map(move |symbol| {
                let only = ptx.only(symbol);
                (symbol, specialise(&only, network).unwrap_or(only))
            })
        });
        all.collect()
    }

    fn count(text: &str, what: &str) -> usize {
        text.matches(what).count()
    }

    #[test]
    fn every_kernel_is_stamped_where_it_begins_and_wherever_it_ends() {
        for (stem, text) in functions() {
            let text = text.as_str();
            let instrumented = instrument(text).unwrap_or_else(|why| panic!("{stem}: {why}"));
            let ends = count(text, "\tret;\n");
            assert!(ends > 0, "{stem}");
            assert_eq!(
                count(&instrumented, &format!("{LEFT}\tret;\n")),
                ends,
                "{stem}"
            );
            assert_eq!(count(&instrumented, "\tret;\n"), ends, "{stem}");
            assert_eq!(count(&instrumented, ENTERED), 1, "{stem}");
            let plain: Vec<&str> = text
                .lines()
                .map(|line| line.trim_end_matches(','))
                .collect();
            let mut rest = instrumented.lines().map(|line| line.trim_end_matches(','));
            for line in plain {
                assert!(rest.any(|other| other == line), "{stem} lost: {line}");
            }
            // Thread 0 stamps before the first instruction.
            let (before, _) = instrumented.split_once(OPEN).unwrap();
            let (_, body) = before.split_once("\n{\n").unwrap();
            for line in body.lines().map(str::trim) {
                let declares = line.is_empty() || line.starts_with(['.', '/']);
                assert!(declares, "{stem}: {line}");
            }
        }
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        let kernel = |body: &str| format!(".visible .entry k(\n\t.param .u64 a\n)\n{{\n{body}}}\n");
        assert!(instrument(&kernel("\tret;\n")).is_ok());
        assert!(instrument(&kernel("\t@%p1 ret;\n")).is_err());
        assert!(instrument(&kernel("\ttrap;\n")).is_err());
        assert!(instrument(&kernel("\tret;\n").repeat(2)).is_err());
        assert!(instrument("").is_err());
        let bare = instrument(".visible .entry k(\n)\n{\n\tret;\n}\n").unwrap();
        assert!(bare.starts_with(&format!(
            ".visible .entry k(\n\t.param .u64 {PARAMETER}\n)\n"
        )));
    }
}
