//! What widgets ask for; it is done once the frame is painted.

use std::sync::Arc;

use egui::{Context, Id, Rect, Response};

use life::Shelved;
use session::StoredKernel;
use ui::Action;
use ui::actions::Setting;
use ui::code_editor::Code;

/// What a person asked for by a widget.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum UiRequest {
    /// As if its key had been pressed.
    Act(Action),
    /// The controls of these values, beside the place where they stand.
    Change(&'static [Setting], Rect),
    /// The file that was chosen or whose path was typed in is to be opened.
    OpenFile(String),
    /// Cells are to be saved to a path that was typed in.
    SaveFile(String),
    /// A pattern was taken from the shelf.
    Shelved(&'static Shelved),
    /// The lecture of this place among those that can be begun.
    Lecture(usize),
    /// The lesson of this place in their list.
    Lesson(usize),
    /// The exercise of this place among them.
    Exercise(usize),
    /// The first one behind the exercise in progress that is not solved.
    NextExercise,
    /// The kernel that came with a session may run.
    RunKernel(Arc<StoredKernel>),
    /// The ladder shows the source of this rung, or its chart again.
    ShowSource(Option<usize>),
    /// The text in the editor was changed to this one.
    EditCode(String),
    /// The text in the editor is to be saved.
    SaveCode,
    /// The editor shows the round or the kernel.
    ShowCode(Code),
    /// A copy of the rung in use takes the kernel's place in the editor.
    NewKernel,
    /// The pane beside the panels (0) or below them (1) is this wide or high, or as usual.
    Resize(usize, Option<f32>),
    /// The timeline keeps the round that it shows, or goes on.
    FreezeTimeline,
}

/// Asks for an action where a widget was clicked.
pub(crate) fn asks(response: &Response, action: impl Into<Action>) {
    requests(response, UiRequest::Act(action.into()));
}

/// The same for any request.
pub(crate) fn requests(response: &Response, request: UiRequest) {
    if response.clicked() {
        ask(&response.ctx, request);
    }
}

/// Makes a request.
pub(crate) fn ask(context: &Context, request: UiRequest) {
    context.data_mut(|data| {
        let requests: &mut Vec<UiRequest> = data.get_temp_mut_or_default(Id::NULL);
        requests.push(request);
    });
}

/// What was asked for so far.
pub(crate) fn take_requests(context: &Context) -> Vec<UiRequest> {
    let requests = context.data_mut(|data| data.remove_temp(Id::NULL));
    requests.unwrap_or_default()
}
