//! A device, and the memory that it has and reaches.

/// A device's name and properties.
#[derive(Clone, PartialEq, Default, Debug, serde::Serialize, serde::Deserialize)]
pub struct DeviceInfo {
    /// Name, such as `NVIDIA H200`.
    pub name: String,
    /// Driver or threads, such as `CUDA driver 13.0, sm_90` or `8 threads`.
    pub driver: String,
    /// Compute capability (major, minor); `None` for a CPU.
    pub capability: Option<(u32, u32)>,
    /// Number of SMs, or of CPU threads.
    pub sm_count: u32,
    /// Memory in bytes, if known.
    pub memory: Option<u64>,
    /// Last-level cache in bytes, if known; the L2 of a GPU.
    pub cache: Option<u64>,
    /// Bytes per second that a GPU's memory can transfer at most, if known.
    pub bandwidth: Option<u64>,
    /// Number of copy engines, which transfer over the bus concurrently.
    pub copy_engines: u32,
    /// Whether the system kills kernels that run for seconds, as it does on a GPU that also drives
    /// a display.
    pub kernel_time_limit: bool,
    /// PCI bus id such as `0000:17:00.0`, to match it with a graphics adapter.
    pub pci_bus_id: Option<String>,
}

/// How host memory is allocated.
#[derive(
    Clone, Copy, PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize, clap::ValueEnum,
)]
#[serde(rename_all = "lowercase")]
pub enum HostMemory {
    /// Page-locked: copies are asynchronous, and the call returns immediately.
    Pinned,
    /// Pageable: the driver copies through a page-locked buffer of its own, and the call blocks.
    Pageable,
}

/// Where a buffer is allocated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BufferLocation {
    /// In device memory.
    Device,
    /// In host memory.
    Host(HostMemory),
    /// In unified memory, whose pages move to who uses them: the host, or kernels on the device.
    Managed,
    /// In the device's pool, while it is allocated: see [`MemoryOp::Allocate`](crate::MemoryOp::Allocate).
    Pool,
}

impl BufferLocation {
    /// Whether kernels of the buffer's device can use it.
    pub(crate) fn is_on_device(self) -> bool {
        !matches!(self, BufferLocation::Host(_))
    }
}
