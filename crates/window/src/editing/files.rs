//! Patterns from files and the clipboard, and to them.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use crate::background::{Then, notice, then};
use crate::editing::PatternToSave;
use crate::editor::opened_code;
use crate::handler::Handler;
use crate::view::{Dialog, FileDialog, FileList, FileTask, PATTERN_FILE};
use lang::{Message, message, tr};
use life::{
    Format, Head, Lattice, Notes, Pattern, Rule, Shelved, Size, Writer, rle, shown,
    write_atomically,
};
use session::{Area, SavedSession};
use ui::actions::Setting;
use ui::code_editor::Code;
use ui::{Action, EditOverlay, ViewAction};

/// The most cells that the clipboard takes.
const MAX_COPIED: u64 = 1 << 26;

impl Handler {
    /// The desktop has no dialog for files: asks for one of these to open, or another path.
    fn ask_which_to_open(&mut self, list: FileList) {
        tracing::debug!("a path is to be typed in");
        let dialog = FileDialog::new(FileTask::Open, String::new(), None);
        self.dialogs.open(Dialog::File(dialog.listing(list)));
        self.editing.unsaved = None;
    }

    /// The desktop has no dialog for files: asks for a path to save this to.
    fn ask_where_to_save(&mut self, saving: PatternToSave) {
        tracing::debug!("a path is to be typed in");
        self.ask_where_to_save_again(String::new(), None);
        self.editing.unsaved = Some(saving);
    }

    /// A file could not be opened: says why, where its path was typed or in a notice.
    pub(crate) fn not_opened(&mut self, why: String) {
        if let Err(why) = self.refuse_path(why) {
            self.show_notice(why);
        }
    }

    /// A file could not be saved: says why, and asks for another path.
    fn not_saved(&mut self, saving: PatternToSave, why: String) {
        self.editing.unsaved = Some(saving);
        let path = std::mem::take(&mut self.editing.tried);
        if let Err(why) = self.refuse_path(why) {
            tracing::debug!("a path is to be typed in: {why}");
            self.ask_where_to_save_again(path, Some(why));
        }
    }

    /// Opens a field for the path to save to; with why the last one failed.
    fn ask_where_to_save_again(&mut self, typed: String, why: Option<String>) {
        let dialog = FileDialog::new(FileTask::Save, typed, why);
        self.dialogs.open(Dialog::File(dialog));
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
            let name = shown(Path::new(&path).file_name().unwrap_or_default());
            if SavedSession::is_in(Path::new(&path)) {
                return match SavedSession::load(Path::new(&path)) {
                    Ok(saved) => then(|it| it.open_session(saved, name)),
                    Err(error) => not_opened(error),
                };
            }
            if let Some(code) = Code::of_file(Path::new(&path)) {
                return opened_code(code, path.into());
            }
            let pattern = match Pattern::load(&path) {
                Ok(pattern) => pattern,
                Err(error) => return not_opened(error),
            };
            match pattern.centred_in(size) {
                Err(error) => not_opened(error),
                Ok(lattice) => {
                    let mut what = vec![tr!("Opened {}", name)];
                    what.extend(pattern.remarks().iter().map(Message::to_string));
                    let (generation, rule) = (pattern.generation(), pattern.rule());
                    then(move |it| {
                        it.dialogs.close_pending_file();
                        it.open_pattern(instance, Arc::new(lattice), generation);
                        what.extend(it.offer_rule(rule));
                        it.show_notice(what.join("; "));
                    })
                }
            }
        };
        self.background.start(open, Handler::not_opened);
    }

    /// Offers the rule that a pattern was made for, if the lattices run another one: the field for
    /// the rule has it typed already. What to say of it.
    pub(super) fn offer_rule(&mut self, own: Option<Rule>) -> Option<String> {
        let rule = self.status()?.lattices.rule;
        self.editing.offered_rule = own.filter(|own| *own != rule);
        let own = self.editing.offered_rule?;
        Some(tr!(
            "its rule is {own}, the lattices run {rule}; {key} and Enter take {own}",
            key = Action::from(ViewAction::Prompt(Setting::Rule)).key()
        ))
    }

    /// Opens a saved session in place of the present one; a notice says so with the `name` of its
    /// file. What was begun with the cells ends.
    fn open_session(&mut self, saved: SavedSession, name: String) {
        self.dialogs.close_pending_file();
        self.end_stroke();
        self.editor.cancel_check(); // of a kernel for the session before
        self.app.edit_overlay = EditOverlay::default();
        self.app.open_session(saved, name);
    }

    /// Puts the selection's cells, or the selected panel's, into the clipboard as RLE, on another
    /// thread; false if they are too many. The cells are those before any edit that is made next.
    pub(super) fn copy_cells(&mut self) -> bool {
        let Some((area, receive)) = self.request_cells() else {
            return false;
        };
        if area.size.cells() > MAX_COPIED {
            self.show_notice(message!(
                "{} is too large for the clipboard; Ctrl+S saves it to a file",
                area.size
            ));
            return false;
        }
        self.run_in_background(move || match receive() {
            None => notice(tr!("Nothing was copied: the session has ended").into()),
            Some(saving) => {
                let mut text = Vec::new();
                let written = saving.write(rle::write, &mut text);
                match written.ok().and_then(|()| String::from_utf8(text).ok()) {
                    None => notice(tr!("Nothing was copied: not enough memory").into()),
                    Some(text) => {
                        let what = tr!("Copied {} cells as RLE", saving.cells.size());
                        then(|it| {
                            it.set_clipboard(text);
                            it.show_notice(what);
                        })
                    }
                }
            }
        });
        true
    }

    /// The selection (or the selected panel), and how its cells are had on another thread.
    fn request_cells(
        &self,
    ) -> Option<(
        Area,
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
        Some((area, wait))
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
            match pattern.map_err(|error| tr!("Not a pattern: {error}")) {
                Ok(pattern) => match cells_of(&pattern, size) {
                    Ok(cells) => {
                        let remarks = pattern.remarks().iter().map(Message::to_string).collect();
                        let rule = pattern.rule();
                        then(move |it| it.begin_paste(cells, rule, remarks))
                    }
                    Err(why) => notice(why),
                },
                Err(why) => notice(why),
            }
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
        if task == FileTask::Open {
            return self.run_in_background(|| match show_file_dialog(None) {
                DialogAnswer::Path(path) => then(move |it| it.open_path(&path)),
                DialogAnswer::Nothing => then(|_| {}),
                DialogAnswer::NoDialog => {
                    let list = list_files(&present_folder());
                    then(|it| it.ask_which_to_open(list))
                }
            });
        }
        if let Some((_, receive)) = self.request_cells() {
            self.run_in_background(move || match receive() {
                None => notice(tr!("Nothing was saved: the session has ended").into()),
                Some(saving) => match show_file_dialog(Some(PATTERN_FILE)) {
                    DialogAnswer::Path(path) => then(|it| it.save_to(path, saving)),
                    DialogAnswer::Nothing => then(|_| {}),
                    DialogAnswer::NoDialog => then(|it| it.ask_where_to_save(saving)),
                },
            });
        }
    }

    /// Saves what is to be saved to a path that was typed in.
    pub(crate) fn save_to_typed(&mut self, path: String) {
        let Some(saving) = self.editing.unsaved.take() else {
            return self.dialogs.close_pending_file();
        };
        match confirm_overwrite(&path, &mut self.editing.replaces) {
            None => self.save_to(path, saving),
            Some(why) => {
                self.editing.unsaved = Some(saving);
                if let Err(why) = self.refuse_path(why) {
                    self.ask_where_to_save_again(path, Some(why));
                }
            }
        }
    }

    fn save_to(&mut self, path: String, saving: PatternToSave) {
        self.editing.tried = path.clone();
        let unsaved = saving.clone();
        let save = move || {
            let Some(writer) = Format::of_name(&path).and_then(Format::writer) else {
                let why = tr!(
                    "Patterns are saved as RLE or plaintext: the file name must end in .rle or .cells"
                );
                return then(|it| it.not_saved(saving, why.into()));
            };
            match write_atomically(&path, |out| saving.write(writer, out)) {
                Ok(()) => then(move |it| {
                    it.dialogs.close_pending_file();
                    it.show_notice(tr!("Saved {path}"));
                }),
                Err(error) => then(move |it| it.not_saved(saving, error.to_string())),
            }
        };
        let failed = move |it: &mut Handler, why| it.not_saved(unsaved, why);
        self.background.start(save, failed);
    }
}

fn not_opened(error: impl std::fmt::Display) -> Then {
    let why = error.to_string();
    then(|it| it.not_opened(why))
}

impl PatternToSave {
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
    let fits = width <= lattices.width() && height <= lattices.height();
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

/// What a dialog of the desktop's answered.
enum DialogAnswer {
    Path(String),
    Nothing,
    NoDialog,
}

/// Nobody closes a dialog as fast as this: there was none.
const MIN_DIALOG_TIME: Duration = Duration::from_millis(300);

/// Asks the desktop for a file, to save to if it is given a name for it.
fn show_file_dialog(save_as: Option<&str>) -> DialogAnswer {
    if !has_desktop() {
        return DialogAnswer::NoDialog;
    }
    let began = Instant::now();
    let dialog = rfd::FileDialog::new();
    let chosen = match save_as {
        None => dialog
            .add_filter(tr!("patterns, sessions, rounds and kernels"), &ENDINGS)
            .add_filter(tr!("all files"), &["*"])
            .pick_file(),
        Some(name) => dialog.set_file_name(name).save_file(),
    };
    match chosen {
        Some(path) => DialogAnswer::Path(path.to_string_lossy().into_owned()),
        None if began.elapsed() < MIN_DIALOG_TIME => DialogAnswer::NoDialog,
        None => DialogAnswer::Nothing,
    }
}

/// How files end that can be opened.
const ENDINGS: [&str; 9] = [
    "rle", "cells", "lif", "life", "mc", "gz", "json", "rhai", "cu",
];

/// The most files that are listed.
const MAX_LISTED: usize = 60;

/// The folder that the program was started in.
fn present_folder() -> PathBuf {
    std::env::current_dir().unwrap_or_else(|_| ".".into())
}

/// The patterns and sessions in a folder, the newest first.
fn list_files(folder: &Path) -> FileList {
    let files = std::fs::read_dir(folder).and_then(|entries| {
        let mut files = Vec::new();
        for entry in entries {
            let path = entry?.path();
            let facts = path.metadata().ok().filter(|it| it.is_file());
            if let (true, Some(facts)) = (can_be_opened(&path), facts) {
                let name = path.file_name().unwrap_or_default();
                // One whose name is no text cannot be asked for by its name.
                let changed = facts.modified().unwrap_or(SystemTime::UNIX_EPOCH);
                files.extend(
                    name.to_str()
                        .map(|name| (Reverse(changed), name.to_owned())),
                );
            }
        }
        Ok(files)
    });
    let mut left_out = 0;
    let names = files.map(|mut files| {
        files.sort();
        left_out = files.len().saturating_sub(MAX_LISTED);
        files.truncate(MAX_LISTED);
        files.into_iter().map(|(_, name)| name).collect()
    });
    FileList {
        folder: folder.to_string_lossy().into_owned(),
        names: names.map_err(|error| error.to_string()),
        left_out,
    }
}

/// Whether a file can be opened by its name; of the many kinds of JSON files, a session.
fn can_be_opened(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    match ending.map(str::to_ascii_lowercase).as_deref() {
        Some("json") => SavedSession::was_saved_in(path),
        Some(ending) => ENDINGS.contains(&ending),
        None => false,
    }
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
    fn the_files_of_a_folder_that_can_be_opened_are_listed_the_newest_first() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str, age: u64| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            let file = std::fs::File::options().append(true).open(&path).unwrap();
            let at = SystemTime::UNIX_EPOCH + Duration::from_secs(2_000_000 - age);
            file.set_modified(at).unwrap();
        };
        let session = "{\n  \"lifestreams_session\": 2";
        write("session.json", session, 1);
        write("package.json", "{}", 0);
        write("glider.RLE", "bo$2bo$3o!", 2);
        write("notes.txt", "", 0);
        write("gun.rle.gz", "", 3);
        std::fs::create_dir(folder.path().join("folder.rle")).unwrap();
        let list = list_files(folder.path());
        let names = ["session.json", "glider.RLE", "gun.rle.gz"].map(String::from);
        assert_eq!((list.names, list.left_out), (Ok(names.into()), 0));
        for number in 0..MAX_LISTED as u64 {
            write(&format!("{number:03}.rle"), "o!", 10 + number);
        }
        let list = list_files(folder.path());
        let names = list.names.unwrap();
        assert_eq!((names.len(), list.left_out), (MAX_LISTED, 3));
        assert_eq!(names[3], "000.rle");
        assert!(list_files(&folder.path().join("missing")).names.is_err());
    }

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
