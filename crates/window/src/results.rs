//! What the window does with the results of background tasks.

use std::time::Instant;

use crate::background::BackgroundResult;
use crate::handler::Handler;

impl Handler {
    /// Does something on a thread of its own that nothing here waits for.
    pub(super) fn run_in_background(
        &mut self,
        work: impl FnOnce() -> BackgroundResult + Send + 'static,
    ) {
        self.background.start(work, BackgroundResult::Notice);
    }

    /// Handles the results of background work.
    pub(super) fn take_background_results(&mut self) {
        while let Some(result) = self.background.next() {
            self.take_background_result(result);
            self.pacer.request_frame(Instant::now());
        }
    }

    fn take_background_result(&mut self, result: BackgroundResult) {
        match result {
            BackgroundResult::Nothing => {}
            BackgroundResult::Notice(what) => self.show_notice(what),
            BackgroundResult::RecordingEnded(what, failure) => {
                if let Some(error) = failure {
                    self.failed.get_or_insert(error.into());
                }
                self.show_notice(what);
            }
            BackgroundResult::Opened(instance, lattice, generation, rule, mut what) => {
                self.dialogs.close_pending_file();
                self.open_pattern(instance, lattice, generation);
                what.extend(self.offer_rule(rule));
                self.show_notice(what.join("; "));
            }
            BackgroundResult::CheckedRound(text, findings) => {
                self.take_findings(&text, *findings);
            }
            BackgroundResult::CheckedKernel(text, findings) => {
                self.take_kernel(&text, findings.map(|it| *it));
            }
            BackgroundResult::OpenedCode(code, path, text) => {
                self.dialogs.close_pending_file();
                self.open_code(code, path, text);
            }
            BackgroundResult::ReadCode(code, path, text) => self.code_file_has(code, &path, text),
            BackgroundResult::SavedCode(code, path, text) => self.saved_code(code, path, text),
            BackgroundResult::OpenedSession(saved, name) => {
                self.dialogs.close_pending_file();
                self.open_session(*saved, name);
            }
            BackgroundResult::Ghost(pattern, rule, remarks) => {
                self.begin_paste(pattern, rule, remarks);
            }
            BackgroundResult::Copied(text, what) => {
                self.set_clipboard(text);
                self.show_notice(what);
            }
            BackgroundResult::Chosen(path, None) => self.open_path(&path),
            BackgroundResult::Chosen(path, Some(saving)) => self.save_to(path, saving),
            BackgroundResult::ListedFiles(list) => self.ask_which_to_open(list),
            BackgroundResult::NoFileDialog(saving) => self.ask_where_to_save(saving),
            BackgroundResult::NotOpened(why) => self.not_opened(why),
            BackgroundResult::Saved(what) => {
                self.dialogs.close_pending_file();
                self.show_notice(what);
            }
            BackgroundResult::NotSaved(saving, why) => self.not_saved(saving, why),
        }
    }
}
