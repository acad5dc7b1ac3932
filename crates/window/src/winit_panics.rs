//! winit panics where the X server goes away while it is asked something, such as a window's size.
//! That is no flaw of the program: it ends as with any other loss of the display.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind, set_hook, take_hook};
use std::path::{Component, Path};
use std::sync::Arc;

thread_local! {
    /// Whether this thread's panics are looked at, and whether there was one of the library's.
    static LOOKING: Cell<Option<bool>> = const { Cell::new(None) };
}

/// Does something that calls winit; `None` if winit has panicked. That is said in the log alone; all
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
    let of_winit = |folder: &str| {
        let name = folder.split_once('-').map_or(folder, |(name, _)| name);
        matches!(name, "winit" | "dpi")
    };
    let folders = Path::new(location.file()).components();
    folders
        .filter_map(|folder| match folder {
            Component::Normal(folder) => folder.to_str(),
            _ => None,
        })
        .any(of_winit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_of_the_librarys_is_an_answer_and_another_one_goes_on() {
        assert_eq!(catch(|_| true, || 7), Some(7));
        let asked = || -> u32 { "no server".parse().expect("a size") };
        assert_eq!(catch(|_| true, asked), None);
        let own = catch_unwind(|| catch(is_in_winit, || panic!("of this program")));
        assert!(own.is_err());
        assert!(!is_in_winit(Location::caller()));
    }
}
