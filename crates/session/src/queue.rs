//! The commands that wait, in the order in which they are taken.

use std::collections::VecDeque;

use crate::command::{Command, Overtakes};

/// Single steps that may wait: a key that is held down must not queue minutes of work.
const MAX_STEPS: usize = 4;

/// The commands that wait.
#[derive(Clone, Debug, Default)]
pub(crate) struct Queue(VecDeque<Command>);

impl Queue {
    /// Adds a command. Drops a step if too many wait already; of views, only the last one counts.
    pub(crate) fn push(&mut self, command: Command, is_moving: bool) {
        let steps = self.0.iter().filter(|command| command.is_step());
        if command.is_step() && steps.count() >= MAX_STEPS {
            return;
        }
        let is_view = |command: &Command| matches!(command, Command::View(_));
        if is_view(&command)
            && let Some(waiting) = self.0.iter_mut().find(|waiting| is_view(waiting))
        {
            *waiting = command;
            return;
        }
        let changes = |waiting: &Command| waiting.needs().changes_what_is_saved;
        let at = match command.needs().overtakes {
            Overtakes::All if is_moving => 0,
            Overtakes::WhatIsNotSaved if is_moving => {
                self.0.iter().rposition(changes).map_or(0, |last| last + 1)
            }
            Overtakes::Nothing | Overtakes::All | Overtakes::WhatIsNotSaved => self.0.len(),
        };
        self.0.insert(at, command);
    }

    /// The command that is taken next.
    pub(crate) fn first(&self) -> Option<&Command> {
        self.0.front()
    }

    /// Takes the first command.
    pub(crate) fn take(&mut self) -> Option<Command> {
        self.0.pop_front()
    }

    /// Whether nothing waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The commands, in their order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Command> {
        self.0.iter()
    }
}
