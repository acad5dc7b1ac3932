//! `lifestreams devices`: lists devices, and explains what is missing and how to fix it; `lifestreams verify`
//! checks every kernel there; `lifestreams patterns` lists the bundled patterns, one per line.

use std::num::NonZero;

use anyhow::Result;
use serde_json::json;

use super::text::{CheckFailed, columns, print, print_json, print_to_reader};
use engine::conformance::Report;
use engine::cpu::CpuEngine;
use engine::cuda::{first_device, list_devices};
use engine::{DeviceInfo, Engine};
use lang::numbers::time_us;
use lang::tr;
use life::{Rule, SHELF};
use session::DeviceChoice;
use session::instances::open_engine;
use window::list_adapters;
use workshop::{CppCompiler, GpuCompiler, PACKAGE, search};

pub(super) fn main(json: bool) -> Result<()> {
    let cuda = list_devices().unwrap_or_default();
    let threads = std::thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
    let cpu = CpuEngine::new(threads).devices()[0].clone();
    let adapters = list_adapters();
    let first = first_device();
    let computing = first.as_ref().unwrap_or(&cpu).name.clone();
    let cuda_missing = first.err().map(|why| why.to_string());
    let adapters_missing = adapters.is_empty().then_some(
        "no graphics driver: install libvulkan1 and mesa-vulkan-drivers, or your GPU's own driver",
    );
    let display = window::find_display().map_err(|why| why.to_string());
    let ((looked, gpu_compiler), cpp) = (search(), CppCompiler::find());
    if json {
        return print_json(&json!({
            "cuda": cuda,
            "cuda_missing": cuda_missing,
            "cpu": cpu,
            "adapters": adapters,
            "adapters_missing": adapters_missing,
            "display": display.as_ref().ok(),
            "display_missing": display.as_ref().err(),
            "computing": computing,
            "kernel_compilers": { "gpu": gpu_compiler, "looked": looked, "cpp": cpp },
        }));
    }
    let missing = |why: &str| tr!("none: {why}");
    print(tr!("Computing"))?;
    for (i, device) in cuda.iter().enumerate() {
        let memory = device.memory.map(|bytes| format!(", {} GiB", bytes >> 30));
        let bus = device.pci_bus_id.as_ref().map(|id| format!(", PCI {id}"));
        print(&format!(
            "  cuda:{i}  {} ({}, {} SMs{}{})",
            device.name,
            device.driver,
            device.sm_count,
            memory.unwrap_or_default(),
            bus.unwrap_or_default()
        ))?;
    }
    if let Some(why) = &cuda_missing {
        print(&format!("  cuda    {}", missing(why)))?;
    }
    print(&format!("  cpu     {} ({})", cpu.name, cpu.driver))?;
    print(tr!("Drawing"))?;
    for adapter in &adapters {
        print(&format!("  {}", adapter.title()))?;
        if adapter.is_one_of(&cuda) {
            let why = tr!("this GPU also computes: drawing with it distorts the timings");
            print(&format!("    {why}"))?;
        }
        if adapter.software {
            let why = tr!("software: at most 30 frames/s, and the panels cost CPU time");
            print(&format!("    {why}"))?;
        }
    }
    if let Some(why) = adapters_missing {
        print(&format!("  {}", missing(why)))?;
    }
    print(tr!("Display"))?;
    print(&format!(
        "  {}",
        display.unwrap_or_else(|why| missing(&why))
    ))?;
    print(tr!("Compilers for kernels of your own"))?;
    let compiler = match &gpu_compiler {
        Some(GpuCompiler {
            path,
            version: (major, minor),
        }) => format!("NVRTC {major}.{minor} ({})", path.display()),
        None => tr!(
            "none: pip install {package} (looked at {places})",
            package = PACKAGE,
            places = looked.join(", ")
        ),
    };
    print(&format!("  {}", tr!("for a GPU: {compiler}")))?;
    let compiler = match &cpp {
        Some(path) => path.display().to_string(),
        None => tr!("none: apt-get install g++").into(),
    };
    let emulator = tr!("for the emulator, without a GPU: {compiler}");
    print(&format!("  {emulator}"))?;
    print(&tr!(
        "'lifestreams' would compute on {device}",
        device = computing
    ))
}

pub(super) fn patterns() -> Result<()> {
    let rows = SHELF.iter().map(|shelved| {
        let pattern = shelved.pattern();
        let size = format!("{}x{}", pattern.width(), pattern.height());
        let rule = pattern.rule().unwrap_or(Rule::LIFE).to_string();
        let (kind, what) = (shelved.kind(), shelved.behaviour);
        vec![shelved.name.into(), size, rule, tr!("{kind}: {what}")]
    });
    for line in columns(&rows.collect::<Vec<_>>()) {
        if !print_to_reader(&line)? {
            break;
        }
    }
    Ok(())
}

/// The names of devices, with their drivers.
pub(super) fn titles(devices: &[DeviceInfo]) -> String {
    let title = |it: &DeviceInfo| format!("{} ({})", it.name, it.driver);
    devices.iter().map(title).collect::<Vec<_>>().join(" + ")
}

/// Compares every kernel on this device with the reference, bit by bit.
pub(super) fn verify(small: bool, device: DeviceChoice) -> Result<()> {
    let engine = open_engine(device)?;
    print(&tr!(
        "verifying on {devices} ({engine})",
        devices = titles(engine.devices()),
        engine = engine.name()
    ))?;
    let mut failures = Vec::new();
    let mut show = |report: Report| {
        let name = if report.is_split {
            tr!("{check}, in bands", check = report.name)
        } else {
            report.name.to_string()
        };
        let outcome = match &report.outcome {
            Ok(outcome) => outcome,
            Err(why) => {
                let left_out = tr!("left out: {why}");
                return print(&format!("{name:<32} {left_out}"));
            }
        };
        let verdict = if outcome.wrong.is_empty() {
            "ok"
        } else {
            "WRONG"
        };
        let took = time_us(report.took.as_secs_f64() * 1e6);
        print(&format!(
            "{name:32} {:5} cases  {verdict}  {took:>8}",
            outcome.cases
        ))?;
        for wrong in outcome.wrong.iter().take(5) {
            print(&format!("    {wrong}"))?;
        }
        if let Some(first) = outcome.wrong.first() {
            failures.push(format!("{name}: {first}"));
        }
        Ok(())
    };
    session::conformance::verify(engine, device, small, &mut show)?;
    if failures.is_empty() {
        return print(tr!("everything agrees with the reference"));
    }
    Err(CheckFailed(format!(
        "{} checks failed: {}",
        failures.len(),
        failures.join("; ")
    ))
    .into())
}
