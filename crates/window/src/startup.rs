//! Checks what a window needs before it is opened, so that a failure is one sentence.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind, set_hook, take_hook};
use std::path::Path;
use std::sync::Arc;

use crate::{LoopEvent, WindowError};

use lang::tr;
use ui::{EmergencySave, say_last};
use winit::dpi::validate_scale_factor;
use winit::event_loop::{ActiveEventLoop, EventLoop};
use winit::monitor::MonitorHandle;
use x11rb::connection::Connection;
use x11rb::protocol::randr::ConnectionExt as _;
use x11rb::protocol::xproto::ConnectionExt as _;
use x11rb::resource_manager;
use x11rb::rust_connection::RustConnection;

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
        unusual_depth = depth_of_server()?;
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
    let reason = text.strip_prefix("os error at ");
    let reason = reason.and_then(|rest| rest.split_once(": "));
    let reason = reason.map_or(&*text, |(_, reason)| reason);
    reason.trim_end_matches('.').to_owned()
}

thread_local! {
    /// Whether this thread's panics are looked at, and whether there was one of the library's.
    static LOOKING: Cell<Option<bool>> = const { Cell::new(None) };
}

/// Does something that calls winit; `None` if winit has panicked: it does so where the X server goes away while it
/// is asked something, such as a window's size. That is no flaw of the program, which ends as with any other
/// loss of the display. Its panic is said in the log alone; all
/// other panics are what they always are.
pub(super) fn catch_winit<T>(work: impl FnOnce() -> T) -> Option<T> {
    catch(is_in_winit, work)
}

fn catch<T>(is_theirs: fn(&Location<'_>) -> bool, work: impl FnOnce() -> T) -> Option<T> {
    let usual = Arc::new(take_hook());
    let others = usual.clone();
    set_hook(Box::new(move |panic| {
        let theirs = LOOKING.get().is_some() && panic.location().is_some_and(is_theirs);
        if theirs {
            LOOKING.set(Some(true));
            let why = panic.payload_as_str().unwrap_or_default();
            tracing::debug!("winit failed: {why}");
        } else {
            others(panic);
        }
    }));
    LOOKING.set(Some(false));
    let done = catch_unwind(AssertUnwindSafe(work));
    let theirs = LOOKING.take() == Some(true);
    set_hook(Box::new(move |panic| usual(panic)));
    match done {
        Ok(done) => Some(done),
        Err(_) if theirs => None,
        Err(panic) => resume_unwind(panic),
    }
}

/// By the folder of the crate's source: `winit-0.30.13`, or `winit` where it is vendored. Its crate
/// `dpi` panics about a scale of 0.
fn is_in_winit(location: &Location<'_>) -> bool {
    let mut folders = Path::new(location.file()).iter();
    folders.any(|folder| {
        let folder = folder.to_string_lossy();
        matches!(folder.split('-').next(), Some("winit" | "dpi"))
    })
}

/// Asks the X server what winit panics about, before winit does, and has winit take a scale from RANDR in place of one that it panics about.
/// How many bits a pixel has, where not every driver draws to such a display. Where the server cannot
/// be asked, winit says why.
///
/// # Errors
/// It lacks RANDR.
fn depth_of_server() -> Result<Option<u8>, WindowError> {
    let Ok((server, screen)) = x11rb::connect(None) else {
        return Ok(None);
    };
    let randr = server.randr_query_version(1, 3).ok();
    let randr = randr.and_then(|asked| asked.reply().ok());
    if randr.is_none_or(|it| (it.major_version, it.minor_version) < (1, 3)) {
        let why = tr!("the X server lacks the extension RANDR 1.3");
        return Err(WindowError::NoDisplay(why.into()));
    }
    if !is_scale_valid(&server, screen) {
        platform::scale_by_randr();
    }
    let depth = server.setup().roots[screen].root_depth;
    Ok(Some(depth).filter(|depth| !matches!(depth, 24 | 32)))
}

/// Whether winit takes the scale that the user or the desktop has set, as winit looks for it.
fn is_scale_valid(server: &RustConnection, screen: usize) -> bool {
    let is_valid = |scale: f64| validate_scale_factor(scale) && (0.1..=20.0).contains(&scale);
    match std::env::var("WINIT_X11_SCALE_FACTOR") {
        Ok(scale) if !scale.is_empty() => {
            scale.eq_ignore_ascii_case("randr") || scale.parse().is_ok_and(is_valid)
        }
        _ => {
            let dpi = xsettings_dpi(server, screen).or_else(|| {
                let database = resource_manager::new_from_default(server).ok()?;
                database.get_string("Xft.dpi", "")?.parse().ok()
            });
            dpi.is_none_or(|dpi| is_valid(dpi / 96.0))
        }
    }
}

/// The DPI of the desktop's settings daemon, if it has one.
fn xsettings_dpi(server: &RustConnection, screen: usize) -> Option<f64> {
    const NAME: &[u8] = b"Xft/DPI";
    let atom = |name: &str| {
        Some(
            server
                .intern_atom(false, name.as_bytes())
                .ok()?
                .reply()
                .ok()?
                .atom,
        )
    };
    let selection = atom(&format!("_XSETTINGS_S{screen}"))?;
    let owner = server
        .get_selection_owner(selection)
        .ok()?
        .reply()
        .ok()?
        .owner;
    let name = atom("_XSETTINGS_SETTINGS")?;
    let settings = server.get_property(false, owner, name, name, 0, u32::MAX / 4);
    let settings = settings.ok()?.reply().ok()?.value;
    let mut names = settings.windows(NAME.len());
    // Behind the name: a byte that fills it up, a serial number, the value.
    let at = names.position(|it| it == NAME)? + NAME.len() + 5;
    let value = settings.get(at..at + 4)?.try_into().ok()?;
    Some(f64::from(i32::from_ne_bytes(value)) / 1024.0)
}

/// The monitor of this number, or of this name.
///
/// # Errors
/// No monitor matches; the error lists the available ones.
pub(super) fn find_monitor(
    event_loop: &ActiveEventLoop,
    requested: &str,
) -> Result<MonitorHandle, WindowError> {
    let monitors: Vec<MonitorHandle> = event_loop.available_monitors().collect();
    let names: Vec<Option<String>> = monitors.iter().map(MonitorHandle::name).collect();
    if let Some(at) = chosen(&names, requested) {
        return Ok(monitors[at].clone());
    }
    let title = |(at, monitor): (usize, &MonitorHandle)| {
        let size = monitor.size();
        let name = names[at].as_deref().unwrap_or(tr!("unnamed"));
        tr!("{at} ({name}, {}x{})", size.width, size.height)
    };
    let there: Vec<String> = monitors.iter().enumerate().map(title).collect();
    Err(WindowError::NoMonitor {
        requested: requested.into(),
        there: match there.as_slice() {
            [] => tr!("none").into(),
            some => some.join(", "),
        },
    })
}

/// The sides, in points, of the monitor that a window opens on, as far as anything is known: of the primary one,
/// or of the smallest.
pub(super) fn usual_monitor(event_loop: &ActiveEventLoop) -> Option<[f64; 2]> {
    let height = |monitor: &MonitorHandle| monitor.size().height;
    let smallest = || event_loop.available_monitors().min_by_key(height);
    let monitor = event_loop.primary_monitor().or_else(smallest)?;
    let size = monitor.size().to_logical(monitor.scale_factor());
    Some([size.width, size.height])
}

/// By number, by the whole name, or by a part that one name alone has.
fn chosen(names: &[Option<String>], requested: &str) -> Option<usize> {
    if let Ok(number) = requested.parse::<usize>() {
        return (number < names.len()).then_some(number);
    }
    if requested.is_empty() {
        return None; // every name has it
    }
    let requested = requested.to_lowercase();
    let lower = |name: &Option<String>| name.as_deref().unwrap_or_default().to_lowercase();
    let whole = names.iter().position(|name| lower(name) == requested);
    let having = || (0..names.len()).filter(|&at| lower(&names[at]).contains(&requested));
    whole.or_else(|| having().next().filter(|_| having().count() == 1))
}

#[cfg(test)]
mod tests {
    use super::{chosen, *};

    #[test]
    fn a_display_with_a_host_is_forwarded() {
        let socket = "/private/tmp/com.apple.launchd/org.xquartz:0";
        assert!(
            ["localhost:10.0", "lab3.example:0"]
                .into_iter()
                .all(has_host)
        );
        assert!(![":0", ":99.0", "unix:0", socket].into_iter().any(has_host));
    }

    #[test]
    fn a_panic_of_the_librarys_is_an_answer_and_another_one_goes_on() {
        assert_eq!(catch(|_| true, || 7), Some(7));
        let asked = || -> u32 { "no server".parse().expect("a size") };
        assert_eq!(catch(|_| true, asked), None);
        let own = catch_unwind(|| catch(is_in_winit, || panic!("of this program")));
        assert!(own.is_err());
        assert!(!is_in_winit(Location::caller()));
    }

    #[test]
    fn a_monitor_is_chosen_by_number_or_name() {
        let names = ["HDMI-1", "DP-1", "DP-12"].map(|name| Some(name.to_string()));
        let names = [&names[..], &[None]].concat();
        for (wanted, found) in [
            ("0", Some(0)),
            ("3", Some(3)), // one without a name has a number
            ("4", None),
            ("hdmi", Some(0)),
            ("DP-1", Some(1)), // the whole name counts more
            ("DP", None),      // which of the two?
            ("", None),
        ] {
            assert_eq!(chosen(&names, wanted), found, "{wanted}");
        }
        assert_eq!(chosen(&[], "0"), None);
    }
}
