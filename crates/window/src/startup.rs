//! Checks what a window needs before it is opened, so that a failure is one sentence.

use std::sync::Arc;

use winit::event_loop::EventLoop;

use crate::winit_panics::catch_winit;
use crate::{LoopEvent, WindowError, x_server};
use lang::tr;
use ui::{EmergencySave, say_last};

/// What winit loads on first use; it panics where one of them is missing.
const X11_LIBRARIES: [&str; 6] = [
    "libX11.so.6",
    "libX11-xcb.so.1",
    "libXcursor.so.1",
    "libXi.so.6",
    "libxkbcommon.so.0",
    "libxkbcommon-x11.so.0",
];
/// Whether windows are those of X or Wayland.
const HAS_X: bool = cfg!(all(unix, not(target_os = "macos")));
const WAYLAND_LIBRARIES: [&str; 2] = ["libwayland-client.so.0", "libxkbcommon.so.0"];

/// The display that a window would open on, by name; it is not asked whether it answers.
///
/// # Errors
/// There is none, or the libraries that windows need are missing.
pub fn find_display() -> Result<String, WindowError> {
    if !HAS_X {
        return Ok("the desktop".into());
    }
    match (variable("WAYLAND_DISPLAY"), variable("DISPLAY")) {
        (Some(name), _) => probe(&WAYLAND_LIBRARIES).map(|()| format!("Wayland, {name}")),
        (None, Some(name)) => {
            let forwarded = if has_host(&name) {
                ", forwarded: at most 30 frames/s"
            } else {
                ""
            };
            probe(&X11_LIBRARIES).map(|()| format!("X11, {name}{forwarded}"))
        }
        (None, None) => {
            let reason = tr!("neither DISPLAY nor WAYLAND_DISPLAY is set");
            Err(WindowError::NoDisplay(reason.into()))
        }
    }
}

/// The event loop, if there is a display, and the depth of an X server that not every driver draws to.
/// Where the display is lost later, everything is saved.
pub(super) fn event_loop(
    emergency_save: &Arc<EmergencySave>,
) -> Result<(EventLoop<LoopEvent>, Option<u8>), WindowError> {
    find_display()?;
    let mut unusual_depth = None;
    if HAS_X && variable("WAYLAND_DISPLAY").is_none() {
        unusual_depth = x_server::unusual_depth()?;
        let lost = display_lost();
        let emergency_save = emergency_save.clone();
        platform::end_with_x_display(move || {
            let mut sentences = emergency_save.save().sentences();
            sentences.push(lost.to_string());
            emergency_save.leave_file();
            say_last(sentences);
            lost.exit_code().into()
        });
    }
    let no_display = WindowError::NoDisplay;
    let lacking = || no_display(tr!("the display lacks what windows need").into());
    let built = catch_winit(|| EventLoop::with_user_event().build()).ok_or_else(lacking)?;
    let event_loop = built.map_err(|error| no_display(in_short(&error)))?;
    Ok((event_loop, unusual_depth))
}

/// The X server or the Wayland compositor closed its connection to this program.
pub(super) fn display_lost() -> WindowError {
    WindowError::Display(
        tr!("the connection to the display has broken; start again once there is one, or use 'lifestreams run', which needs none").into(),
    )
}

fn probe(libraries: &[&'static str]) -> Result<(), WindowError> {
    ui::check_open_files().map_err(WindowError::Display)?;
    let missing: Vec<_> = libraries
        .iter()
        .copied()
        .filter(|name| !platform::library_opens(name))
        .collect();
    if missing.is_empty() {
        Ok(())
    } else {
        Err(WindowError::MissingLibraries(missing))
    }
}

/// Whether pictures travel to another machine: an X display with a host's name before the colon,
/// as `ssh -X` makes it.
pub(super) fn is_forwarded() -> bool {
    variable("WAYLAND_DISPLAY").is_none()
        && variable("DISPLAY").is_some_and(|display| has_host(&display))
}

fn has_host(display: &str) -> bool {
    match display.rsplit_once(':') {
        Some((host, _)) => !host.is_empty() && host != "unix" && !host.starts_with('/'),
        None => false,
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The error's message without winit's source location.
pub(super) fn in_short(error: &dyn std::fmt::Display) -> String {
    let text = error.to_string();
    let text = match text
        .strip_prefix("os error at ")
        .and_then(|rest| rest.split_once(": "))
    {
        Some((_, reason)) => reason.to_owned(),
        None => text,
    };
    text.trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_display_with_a_host_is_forwarded() {
        assert!(has_host("localhost:10.0"));
        assert!(has_host("lab3.example:0"));
        assert!(!has_host(":0"));
        assert!(!has_host(":99.0"));
        assert!(!has_host("unix:0"));
        assert!(!has_host("/private/tmp/com.apple.launchd/org.xquartz:0"));
    }
}
