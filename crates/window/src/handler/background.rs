//! Background tasks: files read or written, recordings finished, desktop dialogs answered, texts checked. A task
//! ends with what is to be done on the window's thread, which comes there on one channel. The window waits
//! only for recordings, and only when it closes.

use std::sync::mpsc::channel;
use std::thread::JoinHandle;

use crate::handler::{Background, Handler, Then, then};
use lang::tr;
use ui::Wake;

/// Says this.
pub(super) fn notice(said: String) -> Then {
    then(|it| it.show_notice(said))
}

impl Background {
    /// `wake` tells the event loop of a task that is over.
    pub(super) fn new(wake: Wake) -> Background {
        let (sender, receiver) = channel();
        Background {
            sender,
            receiver,
            wake,
            awaited: Vec::new(),
        }
    }

    /// Has something done on the window's thread, from any other one.
    pub(super) fn sender(&self) -> impl Fn(Then) + Send + use<> {
        let (sender, wake) = (self.sender.clone(), self.wake.clone());
        move |then| {
            // Nobody is left to be told only when the window has gone.
            let _ = sender.send(then);
            wake();
        }
    }

    /// Starts work on a thread of its own. `failed` is done with the reason where nothing came of it: it
    /// panicked, or no thread could be started.
    pub(super) fn start(
        &self,
        work: impl FnOnce() -> Then + Send + 'static,
        failed: impl FnOnce(&mut Handler, String) + Clone + Send + 'static,
    ) -> Option<JoinHandle<()>> {
        let (send, panicked) = (self.sender(), failed.clone());
        let body = move || {
            let result = platform::catch_panic(work);
            send(result.unwrap_or_else(|it| {
                let why = tr!("internal: {it}");
                then(|it| panicked(it, why))
            }));
        };
        let thread = std::thread::Builder::new().name("background".into());
        let not_started = |error| {
            let why = tr!("cannot start a thread: {error}");
            self.sender()(then(|it| failed(it, why)));
        };
        thread.spawn(body).map_err(not_started).ok()
    }
}

impl Handler {
    /// Does something on a thread of its own that nothing here waits for.
    pub(super) fn run_in_background(&mut self, work: impl FnOnce() -> Then + Send + 'static) {
        self.background.start(work, |it, why| it.show_notice(why));
    }

    /// The same, but the program does not end without it.
    pub(super) fn run_to_the_end(
        &mut self,
        work: impl FnOnce() -> Then + Send + 'static,
        failed: impl FnOnce(&mut Handler, String) + Clone + Send + 'static,
    ) {
        let thread = self.background.start(work, failed);
        let awaited = &mut self.background.awaited;
        awaited.retain(|thread| !thread.is_finished());
        awaited.extend(thread);
    }

    /// Waits for the work that the program must not end without.
    pub(crate) fn finish_background(&mut self) {
        for thread in self.background.awaited.drain(..) {
            let _ = thread.join(); // what comes of it says if it panicked
        }
        self.take_background_results();
    }

    /// Does what background work ended with.
    pub(super) fn take_background_results(&mut self) {
        while let Ok(then) = self.background.receiver.try_recv() {
            then(self);
            self.pacer.request_frame();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn work_that_panics_has_a_result() {
        let background = Background::new(Arc::new(|| {}));
        let work = || panic!("as the test wants");
        let thread = background.start(work, Handler::show_notice);
        thread.unwrap().join().unwrap();
        assert!(background.receiver.try_recv().is_ok());
    }
}
