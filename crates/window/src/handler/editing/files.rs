//! Patterns from files and the clipboard, and to them.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::handler::background::notice;
use crate::handler::editor::opened_code;
use crate::handler::{Handler, PatternToSave, Then, then};
use crate::view::{Dialog, FileDialog, FileTask, PATTERN_FILE};
use lang::{Message, message, tr};
use life::{
    Format, Head, Lattice, Notes, Pattern, Rule, Shelved, Size, Writer, rle, shown,
    write_atomically,
};
use session::{Area, SavedSession};
use ui::actions::Setting;
use ui::code_editor::Code;
use ui::{Action, EditOverlay, ViewAction};

use FileTask::*;

/// The most cells that the clipboard takes.
const MAX_COPIED: u64 = 1 << 26;

impl Handler {
    /// The desktop has no dialog for files, or none was asked: opens a field for a path.
    fn ask_for_path(&mut self, task: FileTask, typed: String, why: Option<String>) {
        tracing::debug!(
            "a path is to be typed in: {}",
            why.as_deref().unwrap_or_default()
        );
        self.dialogs
            .open(Dialog::File(FileDialog::new(task, typed, why)));
    }

    /// A file could not be opened: says why, where its path was typed or in a notice.
    pub(crate) fn not_opened(&mut self, why: String) {
        if let Err(why) = self.refuse_path(why) {
            self.show_notice(why);
        }
    }

    /// Cells could not be saved to this path: says why, and asks for another path.
    fn not_saved(&mut self, saving: PatternToSave, path: String, why: String) {
        self.unsaved = Some(saving);
        if let Err(why) = self.refuse_path(why) {
            self.ask_for_path(Save, path, Some(why));
        }
    }

    /// Has the field in which a path was typed say why that cannot be; gives the reason back where
    /// there is no such field.
    fn refuse_path(&mut self, why: String) -> Result<(), String> {
        match self.dialogs.pending_file() {
            Some(file) => {
                tracing::debug!("a path is to be typed in: {why}");
                file.refuse(why);
                Ok(())
            }
            None => Err(why),
        }
    }

    /// Reads a pattern into the selected panel, or opens a session; if the file is neither, all is
    /// left as it was.
    pub(crate) fn open_path(&mut self, path: &str) {
        let (path, Some(status)) = (path.to_owned(), self.status()) else {
            return;
        };
        if status.failed.is_some() {
            let why = tr!("nothing was opened: the session has ended; start the program again");
            return self.not_opened(why.into());
        }
        let (size, instance) = (status.lattices.size, status.panels.selected);
        let open = move || {
            let opened = read(Path::new(&path), size, instance);
            opened.unwrap_or_else(|why| then(|it| it.not_opened(why)))
        };
        self.background.start(open, Handler::not_opened);
    }

    /// Offers the rule that a pattern was made for, if the lattices run another one: the field for
    /// the rule has it typed already. What to say of it.
    pub(super) fn offer_rule(&mut self, own: Option<Rule>) -> Option<String> {
        let rule = self.status()?.lattices.rule;
        self.offered_rule = own.filter(|own| *own != rule);
        let own = self.offered_rule?;
        Some(tr!(
            "its rule is {own}, the lattices run {rule}; {key} and Enter take {own}",
            key = Action::from(ViewAction::Prompt(Setting::Rule)).key()
        ))
    }

    /// Opens a saved session in place of the present one; a notice says so with the `name` of its
    /// file. What was begun with the cells ends.
    fn open_session(&mut self, saved: SavedSession, name: String) {
        self.dialogs.close_pending_file();
        self.pointer.drag = None;
        self.editor.cancel_check(); // of a kernel for the session before
        self.app.edit_overlay = EditOverlay::default();
        self.app.open_session(saved, name);
    }

    /// Puts the selection's cells, or the selected panel's, into the clipboard as RLE, on another
    /// thread; false if they are too many. The cells are those before any edit that is made next.
    pub(super) fn copy_cells(&mut self) -> bool {
        let Some((size, receive)) = self.request_cells() else {
            return false;
        };
        if size.cells() > MAX_COPIED {
            self.show_notice(message!(
                "{} is too large for the clipboard; Ctrl+S saves it to a file",
                size
            ));
            return false;
        }
        self.run_in_background(move || {
            let Some(saving) = receive() else {
                return notice(tr!("Nothing was copied: the session has ended").into());
            };
            let mut text = Vec::new();
            let written = saving.write(rle::write, &mut text);
            match written.ok().and_then(|()| String::from_utf8(text).ok()) {
                None => notice(tr!("Nothing was copied: not enough memory").into()),
                Some(text) => then(move |it| {
                    it.set_clipboard(text);
                    it.show_notice(message!("Copied {} cells as RLE", saving.cells.size()));
                }),
            }
        });
        true
    }

    /// The size of the selection (or the selected panel), and how its cells are had on another thread.
    fn request_cells(
        &self,
    ) -> Option<(
        Size,
        impl FnOnce() -> Option<PatternToSave> + Send + 'static,
    )> {
        let status = self.status()?;
        let (instance, area) = self.selected_area(&status);
        let copy = self.app.session.as_ref()?.copy(instance);
        let rule = status.lattices.rule;
        let wait = move || {
            let (lattice, generation) = copy.recv().ok()?;
            let torus = area == Area::whole(lattice.size());
            let cells = if torus {
                lattice
            } else {
                Arc::new(lattice.part(area.x, area.y, area.size))
            };
            Some(PatternToSave {
                cells,
                rule,
                torus,
                generation,
            })
        };
        Some((area.size, wait))
    }

    /// Takes the clipboard's pattern, to be placed.
    pub(super) fn paste(&mut self) {
        let text = self.clipboard().unwrap_or_default();
        if text.trim().is_empty() {
            return self.show_notice(message!("The clipboard has no text"));
        }
        let Some(size) = self.status().map(|status| status.lattices.size) else {
            return;
        };
        self.run_in_background(move || {
            let pattern = Pattern::from_text(tr!("the clipboard"), text);
            let pattern = pattern.map_err(|error| tr!("Not a pattern: {error}"));
            let cells = pattern.and_then(|it| Ok((cells_of(&it, size)?, it)));
            cells.map_or_else(notice, |(cells, pattern)| {
                let remarks = pattern.remarks().iter().map(Message::to_string).collect();
                let rule = pattern.rule();
                then(move |it| it.begin_paste(cells, rule, remarks))
            })
        });
    }

    /// Takes a pattern of the shelf, to be placed.
    pub(crate) fn take_from_shelf(&mut self, shelved: &'static Shelved) {
        let Some(size) = self.status().map(|status| status.lattices.size) else {
            return;
        };
        let pattern = shelved.pattern();
        match cells_of(&pattern, size) {
            Ok(cells) => self.begin_paste(cells, pattern.rule(), Vec::new()),
            Err(why) => self.show_notice(why),
        }
    }

    /// Asks for a file to open or to save to: by the desktop's dialog, or where there is none by a
    /// dialog of the window's own. What is saved is as it is now.
    pub(super) fn ask_for_file(&mut self, task: FileTask) {
        if task == Open {
            self.run_in_background(|| match show_file_dialog(Open) {
                Ok(Some(path)) => then(move |it| it.open_path(&path)),
                Ok(None) => then(|_| {}),
                Err(NoDialog) => then(|it| it.ask_for_path(Open, String::new(), None)),
            });
        } else if let Some((_, receive)) = self.request_cells() {
            self.run_in_background(move || match receive() {
                None => notice(tr!("Nothing was saved: the session has ended").into()),
                Some(saving) => match show_file_dialog(Save) {
                    Ok(Some(path)) => then(|it| it.save_to(path, saving)),
                    Ok(None) => then(|_| {}),
                    Err(NoDialog) => then(|it| {
                        it.ask_for_path(Save, String::new(), None);
                        it.unsaved = Some(saving);
                    }),
                },
            });
        }
    }

    /// Saves what is to be saved to a path that was typed in.
    pub(crate) fn save_to_typed(&mut self, path: String) {
        let Some(saving) = self.unsaved.take() else {
            return self.dialogs.close_pending_file();
        };
        match confirm_overwrite(&path, &mut self.replaces) {
            None => self.save_to(path, saving),
            Some(why) => self.not_saved(saving, path, why),
        }
    }

    fn save_to(&mut self, path: String, saving: PatternToSave) {
        let (unsaved, tried) = (saving.clone(), path.clone());
        let save = move || match saving.save(&path) {
            Ok(()) => then(move |it| {
                it.dialogs.close_pending_file();
                it.show_notice(tr!("Saved {path}"));
            }),
            Err(why) => then(|it| it.not_saved(saving, path, why)),
        };
        let failed = move |it: &mut Handler, why| it.not_saved(unsaved, tried, why);
        self.background.start(save, failed);
    }
}

/// Reads a file; what to do with it then, or why it cannot be opened.
fn read(path: &Path, size: Size, instance: usize) -> Result<Then, String> {
    let name = shown(path.file_name().unwrap_or_default());
    if SavedSession::is_in(path) {
        let saved = SavedSession::load(path).map_err(|error| error.to_string())?;
        return Ok(then(|it| it.open_session(saved, name)));
    }
    if let Some(code) = Code::of_file(path) {
        return Ok(opened_code(code, path.into()));
    }
    let pattern = Pattern::load(path).map_err(|error| error.to_string())?;
    let lattice = pattern.centred_in(size);
    let lattice = Arc::new(lattice.map_err(|error| error.to_string())?);
    let mut what = vec![tr!("Opened {}", name)];
    what.extend(pattern.remarks().iter().map(Message::to_string));
    let (generation, rule) = (pattern.generation(), pattern.rule());
    Ok(then(move |it| {
        it.dialogs.close_pending_file();
        it.open_pattern(instance, lattice, generation);
        what.extend(it.offer_rule(rule));
        it.show_notice(what.join("; "));
    }))
}

impl PatternToSave {
    fn save(&self, path: &str) -> Result<(), String> {
        let writer = Format::of_name(path).and_then(Format::writer).ok_or(tr!(
            "Patterns are saved as RLE or plaintext: the file name must end in .rle or .cells"
        ))?;
        let saved = write_atomically(path, |out| self.write(writer, out));
        saved.map_err(|error| error.to_string())
    }

    fn write(&self, writer: Writer, out: &mut dyn std::io::Write) -> std::io::Result<()> {
        let notes = &Notes {
            comments: vec![format!("Generation {}, by lifestreams.", self.generation)],
            ..Notes::default()
        };
        let head = Head {
            size: self.cells.size(),
            rule: self.rule,
            torus: self.torus,
            generation: self.generation,
            notes,
        };
        writer(head, self.cells.words(), out)
    }
}

/// What to ask before a typed path is saved to, if anything: a file that is there is replaced only
/// where its path is entered once more.
fn confirm_overwrite(path: &str, confirmed: &mut Option<String>) -> Option<String> {
    let agreed = confirmed.take().is_some_and(|before| before == path);
    if agreed || !Path::new(path).exists() {
        return None;
    }
    *confirmed = Some(path.to_owned());
    Some(tr!("This file exists already; press Enter again to replace it").into())
}

/// A pattern's cells alone: as many columns and rows as its text says, where lattices of this size
/// have them, else from the first live cell to the last.
fn cells_of(pattern: &Pattern, lattices: Size) -> Result<Lattice, String> {
    let (width, height) = (pattern.width(), pattern.height());
    let fits = width <= lattices.width && height <= lattices.height;
    let cells = match Size::new(width.into(), height.into()) {
        Ok(size) if fits => {
            let mut cells = Lattice::try_new(size).map_err(|error| error.to_string())?;
            let drawn = pattern.draw_into(&mut cells, 0, 0);
            Some(drawn.map(|()| cells).map_err(|error| error.to_string())?)
        }
        _ => pattern.live_part().map_err(|error| error.to_string())?,
    };
    cells.ok_or_else(|| tr!("{} has no cells", pattern.name()))
}

/// The desktop has no dialog for files.
struct NoDialog;

/// Nobody closes a dialog as fast as this: there was none.
const MIN_DIALOG_TIME: Duration = Duration::from_millis(300);

/// How files end that can be opened.
const ENDINGS: [&str; 9] = [
    "rle", "cells", "lif", "life", "mc", "gz", "json", "rhai", "cu",
];

/// Asks the desktop for a file; nothing if its dialog was cancelled.
fn show_file_dialog(task: FileTask) -> Result<Option<String>, NoDialog> {
    if !has_desktop() {
        return Err(NoDialog);
    }
    let began = Instant::now();
    let dialog = rfd::FileDialog::new();
    let chosen = match task {
        Open => dialog
            .add_filter(tr!("patterns, sessions, rounds and kernels"), &ENDINGS)
            .add_filter(tr!("all files"), &["*"])
            .pick_file(),
        Save => dialog.set_file_name(PATTERN_FILE).save_file(),
    };
    if chosen.is_none() && began.elapsed() < MIN_DIALOG_TIME {
        return Err(NoDialog);
    }
    Ok(chosen.map(|path| path.to_string_lossy().into_owned()))
}

/// Whether there is a desktop session that a portal could belong to; looking for one where there is
/// none may take long.
fn has_desktop() -> bool {
    let socket = std::env::var_os("XDG_RUNTIME_DIR").map(|folder| Path::new(&folder).join("bus"));
    cfg!(not(target_os = "linux"))
        || std::env::var_os("DBUS_SESSION_BUS_ADDRESS").is_some()
        || socket.is_some_and(|socket| socket.exists())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_there_is_replaced_only_when_asked_twice() {
        let folder = tempfile::tempdir().unwrap();
        let mut confirmed = None;
        for (name, is_asked) in [
            ("new.rle", false),
            ("a.rle", true),
            ("b.rle", true), // another
            ("b.rle", false),
            ("b.rle", true), // anew
        ] {
            let path = folder.path().join(name);
            if name != "new.rle" {
                std::fs::write(&path, "!").unwrap();
            }
            let asks = confirm_overwrite(&path.to_string_lossy(), &mut confirmed);
            assert_eq!(asks.is_some(), is_asked, "{name}");
        }
    }
}
