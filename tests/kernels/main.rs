//! Users' kernels, compiled as C++ and run by the emulator; and, here, NVIDIA's assembler accepts the PTX of every
//! kernel, also with block timestamps added.

#[path = "../driver/mod.rs"]
mod driver;
mod own_kernels;

use std::path::Path;
use std::process::Command;

use engine::kernels::instrumentation::instrument;
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
    let rules = ["B36/S23", "B2/S", "B/S012345678"].map(|rule| rule.parse::<Rule>().unwrap());
    let mut networks = 0;
    let is_plain = |stem| {
        KERNELS
            .iter()
            .any(|it| it.file == stem && !it.block_timestamps)
    };
    for ptx in Ptx::all().iter().filter(|ptx| !is_plain(ptx.stem)) {
        for symbol in ptx.symbols() {
            // Each is assembled with timestamps, and one that takes a rule's network with that.
            let mut text = ptx.only(symbol);
            let network = RuleNetwork::of(rules[networks % rules.len()]);
            if let Ok(specialised) = rule_network::specialise(&text, &network) {
                (text, networks) = (specialised, networks + 1);
            }
            let text = instrument(&text).unwrap_or_else(|why| panic!("{symbol}: {why}"));
            assembles(folder.path(), symbol, &text);
        }
    }
    let woven = KERNELS.iter().filter(|kernel| kernel.block_timestamps);
    let with_network = woven.filter(|kernel| kernel.by_network);
    let with_network = with_network.flat_map(|kernel| kernel.entries);
    assert_eq!(networks, with_network.count());
}

/// For the architecture that the text names: what that has, later ones have.
fn assembles(folder: &Path, symbol: &str, text: &str) {
    let file = folder.join("in.ptx");
    std::fs::write(&file, text).unwrap();
    let architecture = if text.contains("\n.target sm_90\n") {
        "sm_90"
    } else {
        "sm_75"
    };
    let mut command = ptxas();
    // Unoptimised: what counts is that ptxas takes it.
    command.arg(format!("-arch={architecture}")).arg("-O0");
    command.arg("-o").arg(folder.join("out.cubin")).arg(&file);
    let output = command.output();
    let output = output.unwrap_or_else(|error| {
        panic!("ptxas cannot be started ({error}): scripts/test installs it")
    });
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{symbol} for {architecture}: {said}"
    );
}
