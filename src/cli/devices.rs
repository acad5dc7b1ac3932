//! `lifestreams devices`: lists devices, and explains what is missing and how to fix it.

use std::num::NonZero;
use std::path::PathBuf;

use anyhow::Result;

use super::options::DevicesArguments;
use super::text::{print, print_json};
use engine::cpu::CpuEngine;
use engine::cuda::{first_device, list_devices};
use engine::{DeviceInfo, Engine};
use lang::tr;
use ui::AdapterFacts;
use window::list_adapters;
use workshop::{CppCompiler, GpuCompiler, PACKAGE, search};

/// What `--json` prints.
#[derive(serde::Serialize)]
struct Found {
    cuda: Vec<DeviceInfo>,
    cuda_missing: Option<String>,
    cpu: DeviceInfo,
    adapters: Vec<AdapterFacts>,
    adapters_missing: Option<String>,
    display: Option<String>,
    display_missing: Option<String>,
    computing: String,
    kernel_compilers: KernelCompilers,
}

/// What compiles kernels that a user writes.
#[derive(serde::Serialize)]
struct KernelCompilers {
    /// For a GPU.
    gpu: Option<GpuCompiler>,
    /// Where that was looked for, until it was found.
    looked: Vec<String>,
    /// For the emulator.
    cpp: Option<PathBuf>,
}

impl KernelCompilers {
    fn find() -> KernelCompilers {
        let (looked, gpu) = search();
        KernelCompilers {
            gpu,
            looked,
            cpp: CppCompiler::find(),
        }
    }

    fn in_words(&self) -> [String; 2] {
        let gpu = match &self.gpu {
            Some(GpuCompiler {
                path,
                version: (major, minor),
            }) => format!("NVRTC {major}.{minor} ({})", path.display()),
            None => tr!(
                "none: pip install {package} (looked at {places})",
                package = PACKAGE,
                places = self.looked.join(", ")
            ),
        };
        let cpp = match &self.cpp {
            Some(path) => path.display().to_string(),
            None => tr!("none: apt-get install g++").into(),
        };
        [
            tr!("for a GPU: {compiler}", compiler = gpu),
            tr!(
                "for the emulator, without a GPU: {compiler}",
                compiler = cpp
            ),
        ]
    }
}

pub(super) fn main(arguments: &DevicesArguments) -> Result<()> {
    let cuda = list_devices().unwrap_or_default();
    let threads = std::thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
    let cpu = CpuEngine::new(threads).devices()[0].clone();
    let adapters = list_adapters();
    let adapters_missing = adapters.is_empty().then(|| {
        "no graphics driver: install libvulkan1 and mesa-vulkan-drivers, or your GPU's own driver"
            .to_string()
    });
    let first = first_device();
    let computing = first.as_ref().unwrap_or(&cpu).name.clone();
    let cuda_missing = match first {
        Err(why) => Some(why.to_string()),
        Ok(_) => None,
    };
    let (display, display_missing) = match window::find_display() {
        Ok(display) => (Some(display), None),
        Err(why) => (None, Some(why.to_string())),
    };
    let found = Found {
        cuda,
        cuda_missing,
        cpu,
        adapters,
        adapters_missing,
        display,
        display_missing,
        computing,
        kernel_compilers: KernelCompilers::find(),
    };
    if arguments.json {
        return print_json(&found);
    }
    print_found(&found)
}

fn print_found(found: &Found) -> Result<()> {
    print(tr!("Computing"))?;
    for (i, device) in found.cuda.iter().enumerate() {
        let memory = device
            .memory
            .map_or(String::new(), |bytes| format!(", {} GiB", bytes >> 30));
        let bus = device
            .pci_bus_id
            .as_ref()
            .map_or(String::new(), |id| format!(", PCI {id}"));
        print(&format!(
            "  cuda:{i}  {} ({}, {} SMs{memory}{bus})",
            device.name, device.driver, device.sm_count
        ))?;
    }
    if let Some(why) = &found.cuda_missing {
        print(&format!("  cuda    {}", tr!("none: {why}")))?;
    }
    print(&format!(
        "  cpu     {} ({})",
        found.cpu.name, found.cpu.driver
    ))?;
    print(tr!("Drawing"))?;
    for adapter in &found.adapters {
        print(&format!("  {}", adapter.title()))?;
        if adapter.is_one_of(&found.cuda) {
            print(&format!(
                "    {}",
                tr!("this GPU also computes: drawing with it distorts the timings")
            ))?;
        }
        if adapter.software {
            print(&format!(
                "    {}",
                tr!("software: at most 30 frames/s, and the panels cost CPU time")
            ))?;
        }
    }
    if let Some(why) = &found.adapters_missing {
        print(&format!("  {}", tr!("none: {why}")))?;
    }
    print(tr!("Display"))?;
    if let Some(display) = &found.display {
        print(&format!("  {display}"))?;
    }
    if let Some(why) = &found.display_missing {
        print(&format!("  {}", tr!("none: {why}")))?;
    }
    print(tr!("Compilers for kernels of your own"))?;
    for line in found.kernel_compilers.in_words() {
        print(&format!("  {line}"))?;
    }
    print(&tr!(
        "'lifestreams' would compute on {device}",
        device = found.computing
    ))
}
