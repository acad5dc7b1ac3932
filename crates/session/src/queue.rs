//! In which order waiting commands are taken.

use std::collections::VecDeque;

use crate::command::{Command, Overtakes};

/// Single steps that may wait: a key that is held down must not queue minutes of work.
const MAX_STEPS: usize = 4;

/// Adds a command. Drops a step if too many wait already; of views, only the last one counts.
pub(crate) fn push(queue: &mut VecDeque<Command>, command: Command, is_moving: bool) {
    let steps = queue.iter().filter(|command| command.is_step());
    if command.is_step() && steps.count() >= MAX_STEPS {
        return;
    }
    let is_view = |command: &Command| matches!(command, Command::View(_));
    if is_view(&command)
        && let Some(waiting) = queue.iter_mut().find(|waiting| is_view(waiting))
    {
        *waiting = command;
        return;
    }
    let changes = |waiting: &Command| waiting.needs().changes_what_is_saved;
    let at = match command.needs().overtakes {
        Overtakes::All if is_moving => 0,
        Overtakes::WhatIsNotSaved if is_moving => {
            queue.iter().rposition(changes).map_or(0, |last| last + 1)
        }
        Overtakes::Nothing | Overtakes::All | Overtakes::WhatIsNotSaved => queue.len(),
    };
    queue.insert(at, command);
}
