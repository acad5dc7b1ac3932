//! NVIDIA's assembler accepts the PTX of every kernel, also with block timestamps added.

use std::path::Path;
use std::process::Command;

use engine::kernels::instrumentation;
use engine::kernels::{KERNELS, Ptx};
use engine::rule_network::{self, RuleNetwork};
use life::Rule;

/// `$PTXAS`, or what `scripts/test` has installed, or the one on the PATH.
fn ptxas() -> Command {
    let installed =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("target/tools/nvidia/cu13/bin/ptxas");
    match std::env::var_os("PTXAS") {
        Some(named) => Command::new(named),
        None if installed.exists() => Command::new(installed),
        None => Command::new("ptxas"),
    }
}

#[test]
fn ptxas_takes_every_woven_kernel() {
    let folder = tempfile::tempdir().unwrap();
    assert!(Ptx::ALL.len() > 8, "the ladder and what supports it");
    let rule = |text: &str| text.parse::<Rule>().unwrap();
    let rules = ["B36/S23", "B2/S", "B/S012345678"].map(rule);
    let mut networks = 0;
    let is_woven = |kernel: &&engine::Kernel| kernel.block_timestamps;
    let plain: Vec<&str> = KERNELS
        .iter()
        .filter(|kernel| !is_woven(kernel))
        .map(|kernel| kernel.file)
        .collect();
    for ptx in Ptx::ALL.iter().filter(|ptx| !plain.contains(&ptx.stem)) {
        let mut functions = Vec::new();
        for symbol in ptx.symbols() {
            let only = ptx.only(symbol);
            // Each is assembled with timestamps, and one that takes a rule's network with that.
            match rule_network::specialise(&only, &RuleNetwork::of(rules[networks % rules.len()])) {
                Ok(specialised) => {
                    networks += 1;
                    functions.push((symbol, instrumented(symbol, &specialised)));
                }
                Err(_) => functions.push((symbol, instrumented(symbol, &only))),
            }
        }
        for (symbol, function) in functions {
            assembles(folder.path(), symbol, &function);
        }
    }
    let with_network = KERNELS
        .iter()
        .filter(is_woven)
        .flat_map(|kernel| kernel.entries)
        .filter(|entry| entry.network_symbol.is_some());
    assert_eq!(networks, with_network.count());
}

fn instrumented(symbol: &str, text: &str) -> String {
    instrumentation::instrument(text).unwrap_or_else(|why| panic!("{symbol}: {why}"))
}

fn assembles(folder: &Path, symbol: &str, text: &str) {
    let file = folder.join(format!("{symbol}.ptx"));
    std::fs::write(&file, text).unwrap();
    let all = ["sm_75", "sm_90"];
    let from = all
        .iter()
        .position(|name| text.contains(&format!("\n.target {name}\n")));
    for architecture in &all[from.unwrap_or(0)..] {
        let mut command = ptxas();
        // Unoptimised: what counts is that ptxas takes it.
        command.arg(format!("-arch={architecture}")).arg("-O0");
        command.arg("-o").arg(folder.join("out.cubin"));
        let output = command.arg(&file).output().unwrap_or_else(|error| {
            panic!("ptxas cannot be started ({error}): scripts/test installs it")
        });
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success(),
            "{symbol} for {architecture}: {said}"
        );
    }
}
