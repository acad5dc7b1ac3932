//! Notices when other programs change a file.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use ui::Wake;

/// Tells of changes of a file by other programs, as long as it lives.
pub(crate) struct FileWatch {
    changed: Arc<AtomicBool>,
    _watcher: RecommendedWatcher,
}

impl FileWatch {
    /// Of a file, whose folder is watched: many programs replace a file by another one.
    pub(crate) fn new(path: &Path, wake: Wake) -> notify::Result<FileWatch> {
        let changed = Arc::new(AtomicBool::new(false));
        let name: Option<OsString> = path.file_name().map(Into::into);
        let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
        let has_changed = changed.clone();
        let mut watcher =
            notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
                let is_ours = |path: &PathBuf| path.file_name() == name.as_deref();
                let is_change = |event: notify::Event| {
                    let is_change = !event.kind.is_access() && event.paths.iter().any(is_ours);
                    is_change || event.need_rescan()
                };
                if event.is_ok_and(is_change) {
                    has_changed.store(true, Ordering::Release);
                    wake();
                }
            })?;
        watcher.watch(
            folder.unwrap_or(Path::new(".")),
            RecursiveMode::NonRecursive,
        )?;
        Ok(FileWatch {
            changed,
            _watcher: watcher,
        })
    }

    /// Whether the file has changed since this was asked last.
    pub(crate) fn take_change(&self) -> bool {
        self.changed.swap(false, Ordering::AcqRel)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::mpsc::channel;

    use super::*;

    /// Whatever a program does to a file that it saves is noticed.
    #[test]
    fn a_file_that_is_written_replaced_removed_or_made_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("round.rhai");
        fs::write(&path, "").unwrap();
        let notices = |change: &dyn Fn()| {
            let (sender, wakes) = channel();
            let wake = Arc::new(move || sender.send(()).unwrap_or_default());
            let watch = FileWatch::new(&path, wake).unwrap();
            change();
            wakes.recv().unwrap();
            assert!(watch.take_change() && !watch.take_change());
        };
        notices(&|| fs::write(&path, "advance(0, 0);").unwrap());
        notices(&|| {
            let other = folder.path().join(".round.rhai.new");
            fs::write(&other, "download(0, 0);").unwrap();
            fs::rename(other, &path).unwrap();
        });
        notices(&|| fs::remove_file(&path).unwrap());
        notices(&|| fs::write(&path, "advance(0, 1);").unwrap());
    }
}
