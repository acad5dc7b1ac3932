//! What Esc leaves: one layer at a time, the topmost first.

use crate::handler::Handler;
use ui::{Lessons, Tool};

/// Something that lies over the plain window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Layer {
    Dialog,
    PastedPattern,
    Selection,
    Tool,
    Lesson,
    Timeline,
    Side,
    SinglePanel,
    Presentation,
    Fullscreen,
    Lecture,
}

/// The layers that are open.
#[derive(Clone, Copy, Default, Debug)]
struct Open {
    dialog: bool,
    pasted_pattern: bool,
    selection: bool,
    tool: bool,
    lesson: bool,
    timeline: bool,
    side: bool,
    single_panel: bool,
    presentation: bool,
    fullscreen: bool,
    lecture: bool,
}

impl Open {
    /// The one that Esc leaves.
    fn topmost(self) -> Option<Layer> {
        let layers = [
            (self.dialog, Layer::Dialog),
            (self.pasted_pattern, Layer::PastedPattern),
            (self.selection, Layer::Selection),
            (self.tool, Layer::Tool),
            (self.lesson, Layer::Lesson),
            (self.timeline, Layer::Timeline),
            (self.side, Layer::Side),
            (self.single_panel, Layer::SinglePanel),
            (self.presentation, Layer::Presentation),
            (self.fullscreen, Layer::Fullscreen),
            (self.lecture, Layer::Lecture),
        ];
        let mut layers = layers.into_iter();
        layers.find_map(|(is_open, layer)| is_open.then_some(layer))
    }
}

impl Handler {
    /// Leaves the topmost layer and no other. It never quits.
    pub(super) fn escape(&mut self) {
        let (options, overlay) = (&self.app.options, &self.editing.edit_overlay);
        let open = Open {
            dialog: self.dialogs.takes_keys(),
            pasted_pattern: overlay.ghost.is_some(),
            selection: overlay.selection.is_some(),
            tool: overlay.tool != Tool::Hand,
            lesson: self.app.lessons.screen().is_some(),
            timeline: options.timeline,
            side: options.side.is_some(),
            single_panel: options.single,
            presentation: options.presentation,
            fullscreen: self.is_fullscreen(),
            lecture: self.app.open_lecture().is_some(),
        };
        let Some(layer) = open.topmost() else { return };
        match layer {
            Layer::Dialog => self.dialogs.close_top(),
            Layer::PastedPattern => self.editing.edit_overlay.ghost = None,
            Layer::Selection => self.editing.edit_overlay.selection = None,
            Layer::Tool => self.editing.edit_overlay.tool = Tool::Hand,
            // From a page to the list, from the list to the panels.
            Layer::Lesson => self.app.with_lessons(Lessons::go_up),
            Layer::Timeline => self.toggle_timeline(),
            // A rung's source first.
            Layer::Side => {
                self.app.close_side();
            }
            Layer::SinglePanel => self.app.options.single = false,
            Layer::Presentation => self.app.options.presentation = false,
            Layer::Fullscreen => self.toggle_fullscreen(),
            Layer::Lecture => self.app.toggle_lecture(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_are_left_one_after_another_from_the_top() {
        let mut open = Open {
            dialog: true,
            pasted_pattern: true,
            selection: true,
            tool: true,
            lesson: true,
            timeline: true,
            side: true,
            single_panel: true,
            presentation: true,
            fullscreen: true,
            lecture: true,
        };
        let mut left = Vec::new();
        while let Some(layer) = open.topmost() {
            left.push(layer);
            match layer {
                Layer::Dialog => open.dialog = false,
                Layer::PastedPattern => open.pasted_pattern = false,
                Layer::Selection => open.selection = false,
                Layer::Tool => open.tool = false,
                Layer::Lesson => open.lesson = false,
                Layer::Timeline => open.timeline = false,
                Layer::Side => open.side = false,
                Layer::SinglePanel => open.single_panel = false,
                Layer::Presentation => open.presentation = false,
                Layer::Fullscreen => open.fullscreen = false,
                Layer::Lecture => open.lecture = false,
            }
        }
        let order = [
            Layer::Dialog,
            Layer::PastedPattern,
            Layer::Selection,
            Layer::Tool,
            Layer::Lesson,
            Layer::Timeline,
            Layer::Side,
            Layer::SinglePanel,
            Layer::Presentation,
            Layer::Fullscreen,
            Layer::Lecture,
        ];
        assert_eq!(left, order);
    }

    #[test]
    fn a_dialog_is_left_and_the_presentation_below_it_stays() {
        let presentation = Open {
            presentation: true,
            ..Open::default()
        };
        let palette = Open {
            dialog: true,
            ..presentation
        };
        assert_eq!(palette.topmost(), Some(Layer::Dialog));
        assert_eq!(presentation.topmost(), Some(Layer::Presentation));
        assert_eq!(Open::default().topmost(), None);
    }
}
