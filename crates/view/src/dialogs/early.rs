//! Keys that come before the dialog that they are for has been laid out once.
//!
//! Where frames are slow, several keys fall between the one that opens a dialog and its first
//! frame; in that one egui lays it out unseen, and no field has the focus yet. They are kept for
//! the next frame.

use egui::{Context, Event};

/// Which dialogs are open.
pub(super) type Open = [bool; 7];

/// See the module.
#[derive(Debug, Default)]
pub struct Early {
    /// What was open, and in which frame that was seen first.
    since: (Open, u64),
    events: Vec<Event>,
}

impl Early {
    /// Takes the keys of a frame in which a dialog is new, and gives them back in the next one.
    /// Called before anything is laid out, also where egui lays a frame out twice.
    pub(super) fn hold(&mut self, context: &Context, open: Open) {
        let frame = context.cumulative_frame_nr();
        if self.since.0 != open {
            self.since = (open, frame);
        }
        if !open.contains(&true) {
            self.events.clear();
            return;
        }
        context.input_mut(|input| {
            if self.since.1 == frame {
                self.events.extend(input.events.extract_if(.., is_typed));
            } else {
                input.events.splice(0..0, self.events.drain(..));
            }
        });
        if !self.events.is_empty() {
            context.request_repaint();
        }
    }
}

fn is_typed(event: &mut Event) -> bool {
    matches!(
        event,
        Event::Key { .. }
            | Event::Text(_)
            | Event::Ime(_)
            | Event::Copy
            | Event::Cut
            | Event::Paste(_)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Frame;
    use crate::dialogs::{Commands, DialogContext, Dialogs, FileDialog, GoTo, UiRequest};
    use egui::{Key, Modifiers, RawInput, Rect, pos2};
    use model::SessionAction;
    use screen::ViewOptions;
    use screen::fixtures::status;

    /// What is asked for when all of this is typed before the first frame.
    fn typed(mut dialogs: Dialogs, text: &str) -> Vec<UiRequest> {
        typed_into(&Context::default(), &mut dialogs, text)
    }

    /// What is asked for when all of this, and Enter, is typed before the next frame.
    fn typed_into(context: &Context, dialogs: &mut Dialogs, text: &str) -> Vec<UiRequest> {
        let screen = Rect::from_min_max(pos2(0.0, 0.0), pos2(1280.0, 800.0));
        let status = status(4, life::Size::new(64, 64).unwrap());
        let options = ViewOptions::default();
        let enter = Event::Key {
            key: Key::Enter,
            physical_key: None,
            pressed: true,
            repeat: false,
            modifiers: Modifiers::NONE,
        };
        let letters = text.chars().map(|letter| Event::Text(letter.into()));
        let mut events: Vec<Event> = letters.chain([enter]).collect();
        let mut asked = Vec::new();
        for _ in 0..4 {
            let input = RawInput {
                screen_rect: Some(screen),
                events: std::mem::take(&mut events),
                ..Default::default()
            };
            let mut output = context.run_ui(input, |ui| {
                let frame = Frame {
                    status: Some(&status),
                    options: &options,
                    drawing: &Default::default(),
                    timeline: &Default::default(),
                    population: &Default::default(),
                    lab: &Default::default(),
                    marks: &Default::default(),
                    lesson: None,
                    pixels: [1280, 800],
                    scale: 1.0,
                };
                let seen = DialogContext {
                    frame: &frame,
                    unit: 1.0,
                    palette: &frame.palette(),
                    screen,
                };
                asked.extend(dialogs.show(ui.ctx(), seen));
            });
            output.textures_delta.clear(); // nothing is painted
        }
        asked
    }

    #[test]
    fn a_path_replaces_the_proposed_one_and_one_that_fails_can_be_mended() {
        let proposed = FileDialog::new(true, "pattern.rle".into(), None);
        let mut dialogs = Dialogs {
            file: Some(proposed),
            ..Default::default()
        };
        let context = Context::default();
        let path = |path: &str| [UiRequest::Path(true, path.into())];
        let asked = typed_into(&context, &mut dialogs, "/no/where");
        assert_eq!(asked, path("/no/where"));
        assert!(dialogs.takes_keys(), "until it is known what came of it");
        assert_eq!(
            typed_into(&context, &mut dialogs, ".r"),
            [],
            "one at a time"
        );
        dialogs.file.as_mut().unwrap().refuse("it failed".into());
        let asked = typed_into(&context, &mut dialogs, "le");
        assert_eq!(asked, path("/no/where.rle"));
    }

    #[test]
    fn what_is_typed_before_the_first_frame_is_not_lost() {
        let field = Dialogs {
            go_to: Some(GoTo::default()),
            ..Default::default()
        };
        let asked = typed(field, "2000");
        assert_eq!(asked, [UiRequest::Act(SessionAction::RunTo(2000).into())]);
        let palette = Dialogs {
            commands: Some(Commands::new(Vec::new())),
            ..Default::default()
        };
        let asked = typed(palette, "next kernel");
        assert_eq!(asked, [UiRequest::Act(SessionAction::NextKernel.into())]);
    }
}
