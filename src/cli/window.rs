//! The bare command: the window, or, where there is none to be had, a session without one.

use anyhow::Result;

use super::headless;
use super::options::{Common, Display, TransferArgument, WindowArguments};
use super::text::say;
use crate::app::{self, AppError, WindowOptions};
use crate::engine::cuda;
use crate::session::{DeviceChoice, Session, Setup, Status};
use crate::view::{Drawing, TransferChoice, ViewOptions};

pub(super) fn main(common: &Common, window: &WindowArguments) -> Result<()> {
    let setup = Setup {
        rounds: window.rounds,
        ..common.setup()?
    };
    if window.display == Display::None {
        say_without_window("--display none", setup.device);
        return headless::main(setup, window);
    }
    let options = WindowOptions {
        frames: window.frames,
        adapter: window.adapter.clone(),
        view: ViewOptions {
            transfer: window.transfer.into(),
            ..Default::default()
        },
        announce: Some(announce),
        ..Default::default()
    };
    let start = setup.clone();
    match app::run(move |wake| Ok(Session::start(start, wake)?), options) {
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
    let why = no_cuda(status.engine);
    say(&format!(
        "computing on {}{why}; drawing with {drawn_by}{remark}",
        computing.join(" + ")
    ));
}

/// Why the CPU computes, where that was not asked for.
fn no_cuda(engine: &str) -> String {
    match cuda::list_devices() {
        Err(why) if engine == "cpu" => format!(" [{why}]"),
        _ => String::new(),
    }
}

fn say_without_window(why: &str, device: DeviceChoice) {
    let computing = match (device, cuda::list_devices()) {
        (DeviceChoice::Cpu, _) => "on the CPU".into(),
        (_, Ok(devices)) => format!("on {}", devices[0].name),
        (_, Err(why)) => format!("on the CPU [{why}]"),
    };
    say(&format!(
        "{why}. Computing {computing}, without a window; Ctrl+C stops it"
    ));
}

impl From<TransferArgument> for TransferChoice {
    fn from(argument: TransferArgument) -> TransferChoice {
        match argument {
            TransferArgument::Auto => TransferChoice::Auto,
            TransferArgument::Bits => TransferChoice::Bits,
            TransferArgument::View => TransferChoice::View,
        }
    }
}
