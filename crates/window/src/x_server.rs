//! Asks the X server what winit panics about, before winit does.

use winit::dpi::validate_scale_factor;
use x11rb::connection::Connection;
use x11rb::protocol::randr::ConnectionExt as _;
use x11rb::protocol::xproto::ConnectionExt as _;
use x11rb::resource_manager;
use x11rb::rust_connection::RustConnection;

use crate::WindowError;
use lang::tr;

/// Asks the server, and has winit take a scale from RANDR in place of one that it panics about.
/// How many bits a pixel has, where not every driver draws to such a display. Where the server cannot
/// be asked, winit says why.
///
/// # Errors
/// It lacks RANDR.
pub(super) fn unusual_depth() -> Result<Option<u8>, WindowError> {
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
