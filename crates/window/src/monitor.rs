//! The monitor that fullscreen takes.

use winit::event_loop::ActiveEventLoop;
use winit::monitor::MonitorHandle;

use crate::WindowError;
use lang::tr;

/// The monitor of this number, or of this name.
///
/// # Errors
/// No monitor matches; the error lists the available ones.
pub(super) fn find(
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

/// The monitor that a window opens on, as far as anything is known: the primary one, or the smallest.
pub(super) fn usual(event_loop: &ActiveEventLoop) -> Option<MonitorHandle> {
    let height = |monitor: &MonitorHandle| monitor.size().height;
    let smallest = || event_loop.available_monitors().min_by_key(height);
    event_loop.primary_monitor().or_else(smallest)
}

/// A monitor's sides in points.
pub(super) fn points(monitor: &MonitorHandle) -> [f64; 2] {
    let size = monitor.size().to_logical(monitor.scale_factor());
    [size.width, size.height]
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
    let having: Vec<usize> = (0..names.len())
        .filter(|&at| lower(&names[at]).contains(&requested))
        .collect();
    whole.or(match having.as_slice() {
        [one] => Some(*one),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::chosen;

    #[test]
    fn a_monitor_is_chosen_by_number_or_name() {
        let names = ["HDMI-1", "DP-1", "DP-12"].map(|name| Some(name.to_string()));
        let names = [&names[..], &[None]].concat();
        assert_eq!(chosen(&names, "0"), Some(0));
        assert_eq!(
            chosen(&names, "3"),
            Some(3),
            "one without a name has a number"
        );
        assert_eq!(chosen(&names, "4"), None);
        assert_eq!(chosen(&names, "hdmi"), Some(0));
        assert_eq!(
            chosen(&names, "DP-1"),
            Some(1),
            "the whole name counts more"
        );
        assert_eq!(chosen(&names, "DP"), None, "which of the two?");
        assert_eq!(chosen(&names, ""), None);
        assert_eq!(chosen(&[], "0"), None);
    }
}
