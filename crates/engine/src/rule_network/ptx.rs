//! Networks in PTX: a kernel has a placeholder where the next states are computed, and the host
//! replaces it by the rule's network before the driver compiles the kernel.
//!
//! In CUDA C the placeholder is one line of inline assembly, which compilers copy into the PTX:
//!
//! ```text
//! asm("trap; // rule network: %0 = %1 %2 %3 %4 %5"
//!     : "=r"(next) : "r"(x), "r"(k), "r"(p), "r"(q), "r"(cells));
//! ```
//!
//! A kernel that still has its placeholder compiles, but stops with an error when it runs.

use std::fmt::Write;

use super::{INPUTS, Lop3, RESULTS, RuleNetwork};

/// The start of a placeholder. A register for the result, `=` and five input registers follow.
const PLACEHOLDER: &str = "trap; // rule network:";

impl RuleNetwork {
    /// The network as PTX: the next states go into the register `result`, and `inputs` are the
    /// registers of x, k, p, q and c. All registers have 32 bits.
    fn ptx(&self, result: &str, inputs: [&str; INPUTS]) -> String {
        let Some((last, helpers)) = self.ops.split_last() else {
            return format!("\tmov.b32 \t{result}, {};\n", name(self.output, inputs));
        };
        if helpers.is_empty() {
            return instruction(result, last, inputs);
        }
        // A scope of its own, so that several networks in one kernel can use the same names.
        let mut text = format!("\t{{\n\t.reg .b32 \t%net<{}>;\n", helpers.len());
        for (helper, wire) in helpers.iter().zip(RESULTS..) {
            text += &instruction(&name(wire, inputs), helper, inputs);
        }
        text += &instruction(result, last, inputs);
        text += "\t}\n";
        text
    }
}

fn instruction(result: &str, op: &Lop3, inputs: [&str; INPUTS]) -> String {
    let [a, b, c] = op.inputs.map(|wire| name(wire, inputs));
    format!("\tlop3.b32 \t{result}, {a}, {b}, {c}, {:#04x};\n", op.table)
}

/// The register or the number on a wire.
fn name(wire: usize, [x, k, p, q, c]: [&str; INPUTS]) -> String {
    match wire.checked_sub(RESULTS) {
        Some(helper) => format!("%net{helper}"),
        None => [x, k, p, q, c, "0", "-1"][wire].into(),
    }
}

const WRITES: &str = "writing to a string succeeds";

/// Returns a kernel's PTX with every placeholder replaced by the network. Errors with the line that
/// is not a valid placeholder, or if there is none.
pub fn specialise(ptx: &str, network: &RuleNetwork) -> Result<String, String> {
    let mut specialised = String::with_capacity(ptx.len() + 4096);
    let mut replaced = 0;
    for (number, line) in ptx.lines().enumerate() {
        match line.trim_start().strip_prefix(PLACEHOLDER) {
            Some(registers) => {
                let (result, inputs) = operands(registers)
                    .ok_or_else(|| format!("line {}: not a placeholder: {line}", number + 1))?;
                writeln!(specialised, "\t// rule network:{registers}").expect(WRITES);
                specialised += &network.ptx(result, inputs);
                replaced += 1;
            }
            None => writeln!(specialised, "{line}").expect(WRITES),
        }
    }
    match replaced {
        0 => Err("the kernel has no placeholder for a rule network".into()),
        _ => Ok(specialised),
    }
}

/// The registers in ` %r6 = %r1 %r2 %r3 %r4 %r5`.
fn operands(text: &str) -> Option<(&str, [&str; 5])> {
    let (result, inputs) = text.split_once('=')?;
    let inputs: Vec<&str> = inputs.split_whitespace().collect();
    let result = result.trim();
    let register = |name: &str| {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
        name.strip_prefix('%')
            .is_some_and(|rest| !rest.is_empty() && rest.chars().all(plain))
    };
    let valid = register(result) && inputs.iter().all(|name| register(name));
    Some((result, inputs.try_into().ok()?)).filter(|_| valid)
}
