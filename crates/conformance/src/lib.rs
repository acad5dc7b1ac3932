//! The checks that `lifestreams verify` makes on a device: of every kernel and op, and of the lab's rounds.

mod lab;

use anyhow::Result;
use engine::Engine;
use engine::conformance::{Cases, Fixture, Report, timed};
use engine::kernels::Kernel;
use session::DeviceChoice;
use session::instances::open_engine;

/// Checks every kernel on an engine and everything else that it does, then what rounds do that are
/// issued on these devices; `small` takes some seconds, or suits tools that slow every access down.
/// Each check is reported once it has ended.
///
/// # Errors
/// A device cannot be opened, or fails; or `report` fails.
pub fn verify(
    engine: Box<dyn Engine>,
    device: DeviceChoice,
    small: bool,
    report: &mut dyn FnMut(Report) -> Result<()>,
) -> Result<()> {
    let cases = if small {
        Cases::quick()
    } else {
        Cases::thorough()
    };
    engine::conformance::verify(engine, cases, report)?;
    verify_rounds(device, small, report)
}

/// Checks what rounds do that are issued on these devices.
///
/// # Errors
/// As for [`verify`].
pub fn verify_rounds(
    device: DeviceChoice,
    small: bool,
    report: &mut dyn FnMut(Report) -> Result<()>,
) -> Result<()> {
    timed("the lab's settings", report, || {
        lab::check_settings(device).map(Ok)
    })?;
    timed("order of ops", report, || {
        lab::check_order(device, small).map(Ok)
    })
}

/// The first thing that a kernel gets wrong on small lattices, if there is one.
///
/// # Errors
/// A device cannot be opened, or fails.
pub fn first_wrong(kernel: &'static Kernel, device: DeviceChoice) -> Result<Option<String>> {
    let mut fixture = Fixture::new(open_engine(device)?, Cases::quick())?;
    Ok(fixture.check_kernel(kernel)?.wrong.into_iter().next())
}
