//! The kernels with stamps instrumented in are PTX that NVIDIA's assembler takes.

use std::path::Path;
use std::process::Command;

use engine::cuda::instrumentation;
use engine::cuda::ptx::PTX;

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
    assert!(PTX.len() > 8, "the ladder and what supports it");
    for (stem, text) in PTX {
        let instrumented =
            instrumentation::instrument(text).unwrap_or_else(|why| panic!("{stem}: {why}"));
        let file = folder.path().join(format!("{stem}.ptx"));
        std::fs::write(&file, instrumented).unwrap();
        let all = ["sm_75", "sm_90"];
        let from = all
            .iter()
            .position(|name| text.contains(&format!("\n.target {name}\n")));
        for architecture in &all[from.unwrap_or(0)..] {
            let mut command = ptxas();
            command.arg(format!("-arch={architecture}"));
            command.arg("-o").arg(folder.path().join("out.cubin"));
            let output = command.arg(&file).output().unwrap_or_else(|error| {
                panic!("ptxas cannot be started ({error}): scripts/test installs it")
            });
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{stem} for {architecture}: {said}");
        }
    }
}
