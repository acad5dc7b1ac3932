//! What is known of the drawing side.

use std::sync::Arc;
use std::time::Duration;

use crate::LectureScreen;
use lang::Message;

/// What draws, as people know it.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
pub struct AdapterFacts {
    /// Its name, such as `NVIDIA GeForce RTX 3060`.
    pub name: String,
    /// How it is spoken to, such as `Vulkan`.
    pub backend: String,
    /// Its driver, such as `NVIDIA 580.82`.
    pub driver: String,
    /// Whether it draws on the CPU.
    pub software: bool,
    /// PCI bus id such as `0000:17:00.0`, where known.
    pub pci_bus_id: Option<String>,
}

impl AdapterFacts {
    /// `NAME (BACKEND)`, what `--adapter` is matched against.
    pub fn title(&self) -> String {
        format!("{} ({})", self.name, self.backend)
    }

    /// Whether this GPU also computes.
    pub fn is_one_of(&self, devices: &[engine::DeviceInfo]) -> bool {
        let same = |id: &Option<String>| match (id, &self.pci_bus_id) {
            (Some(a), Some(b)) => a.eq_ignore_ascii_case(b),
            _ => false,
        };
        devices.iter().any(|device| same(&device.pci_bus_id))
    }
}

/// What the HUD says of the drawing side.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Drawing {
    /// The drawing GPU.
    pub adapter: Option<AdapterFacts>,
    /// How many instances it can show; there is no limit where nothing says so.
    pub most_instances: Option<usize>,
    /// Whether pictures travel to another machine's X server.
    pub forwarded: bool,
    /// Frames presented a second, where they are counted.
    pub frames_per_second: Option<f64>,
    /// Something the person should know, in one sentence.
    pub notice: Option<Message>,
    /// Whether the window fills the monitor.
    pub fullscreen: bool,
    /// For how long the window has been recorded, in whole seconds, while it is.
    pub recording: Option<Duration>,
    /// The step of a lecture, while one is open.
    pub lecture: Option<Arc<LectureScreen>>,
}
