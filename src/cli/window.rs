//! The bare command: the window, or, where there is none to be had, a session without one.

use anyhow::Result;

use super::headless;
use super::options::{Common, Display, WindowArguments};
use super::text::say;
use crate::app::{self, AppError, Classroom, WindowOptions};
use crate::engine::{DeviceInfo, cuda};
use crate::session::{DeviceChoice, Setup, Status};
use crate::view::Drawing;

pub(super) fn main(common: &Common, window: &WindowArguments) -> Result<()> {
    let setup = Setup {
        rounds: window.rounds,
        time: window.time.settings(),
        ..common.setup()?
    };
    if window.display == Display::None {
        say_without_window("--display none", setup.device);
        return headless::main(setup, window);
    }
    let options = WindowOptions {
        frames: window.frames,
        limited: window.rounds.is_some(),
        adapter: window.adapter.clone(),
        view: window.look.options(),
        announce: Some(match setup.device {
            DeviceChoice::Auto => announce_with_reason,
            _ => announce,
        }),
        ..Default::default()
    };
    let start = setup.clone();
    match app::run(move |wake| Ok(Classroom::start(start, wake)?), options) {
        Err(why @ (AppError::NoDisplay(_) | AppError::MissingLibraries(_)))
            if window.display == Display::Auto =>
        {
            say_without_window(&why.to_string(), setup.device);
            headless::main(setup, window)
        }
        // The session's own errors know their exit codes; the wrapping would hide them.
        Err(AppError::Session(error)) => Err(error),
        answer => Ok(answer?),
    }
}

/// What was found and what is used, in one line.
fn announce(status: &Status, drawing: &Drawing) {
    announce_because(status, drawing, "");
}

/// The same, and why the CPU computes, if nobody asked for it.
fn announce_with_reason(status: &Status, drawing: &Drawing) {
    let why = match cuda::list_devices() {
        Err(why) if status.engine == "cpu" => format!(" [{why}]"),
        _ => String::new(),
    };
    announce_because(status, drawing, &why);
}

fn announce_because(status: &Status, drawing: &Drawing, why: &str) {
    let computing: Vec<String> = status
        .devices
        .iter()
        .map(|device| format!("{} ({})", device.name, device.driver))
        .collect();
    let drawn_by = drawing
        .adapter
        .as_ref()
        .map_or("nothing".into(), |adapter| adapter.title());
    let both = drawing
        .adapter
        .as_ref()
        .is_some_and(|adapter| adapter.is_one_of(&status.devices));
    let software = drawing
        .adapter
        .as_ref()
        .is_some_and(|adapter| adapter.software);
    let remark = match (software, drawing.forwarded, both) {
        (true, ..) => " in software, at most 30 frames/s",
        (_, true, _) => " over forwarded X, at most 30 frames/s",
        (.., true) => ", the same GPU: drawing disturbs the spans",
        _ => "",
    };
    say(&format!(
        "computing on {}{why}; drawing with {drawn_by}{remark}",
        computing.join(" + ")
    ));
}

fn say_without_window(why: &str, device: DeviceChoice) {
    let names = |devices: &[DeviceInfo]| {
        let names: Vec<&str> = devices.iter().map(|device| device.name.as_str()).collect();
        names.join(" + ")
    };
    let computing = match (device, cuda::list_devices()) {
        (DeviceChoice::Cpu, _) => "on the CPU".into(),
        (DeviceChoice::Auto, Ok(devices)) => format!("on {}", names(&devices[..1])),
        (DeviceChoice::Auto, Err(why)) => format!("on the CPU [{why}]"),
        (DeviceChoice::Cuda, Ok(devices)) => format!("on {}", names(&devices)),
        (DeviceChoice::CudaOrdinal(i), Ok(devices)) if (i as usize) < devices.len() => {
            format!("on {}", devices[i as usize].name)
        }
        _ => return, // the session's start says why not
    };
    say(&format!(
        "{why}. Computing {computing}, without a window; Ctrl+C stops it"
    ));
}
