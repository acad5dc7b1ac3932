use super::*;
use crate::view::widgets::take_requests;
use egui::{ImeEvent, Key, Modifiers, RawInput, pos2};
use session::SessionAction;
use ui::ViewOptions;
use ui::fixtures::status;

fn generation() -> Dialog {
    Dialog::Form(Form::prompt(Setting::Generation, String::new()))
}

/// What is asked for when all of this, and Enter, is typed before the next frame.
fn typed_into(context: &Context, dialogs: &mut Dialogs, text: &str) -> Vec<UiRequest> {
    let enter = Event::Key {
        key: Key::Enter,
        physical_key: None,
        pressed: true,
        repeat: false,
        modifiers: Modifiers::NONE,
    };
    let letters = text.chars().map(|letter| Event::Text(letter.into()));
    let mut events: Vec<Event> = letters.chain([enter]).collect();
    for _ in 0..4 {
        show(context, dialogs, std::mem::take(&mut events));
    }
    take_requests(context)
}

/// Shows a frame. Returns what egui tells the input method.
fn show(
    context: &Context,
    dialogs: &mut Dialogs,
    events: Vec<Event>,
) -> Option<egui::output::IMEOutput> {
    let screen = Rect::from_min_max(pos2(0.0, 0.0), pos2(1280.0, 800.0));
    let status = status(4, life::Size::new(64, 64).unwrap());
    let options = ViewOptions::default();
    let input = RawInput {
        screen_rect: Some(screen),
        events,
        ..Default::default()
    };
    let mut output = context.run_ui(input, |ui| {
        let frame = Frame::plain(&status, &options).composed();
        let cx = DialogContext {
            context: ui.ctx(),
            frame: &frame,
            palette: &frame.palette(),
            screen,
            is_top: true,
            is_new: true,
        };
        dialogs.show(cx);
    });
    output.textures_delta.clear(); // nothing is painted
    output.platform_output.ime
}

#[test]
fn an_input_method_composes_in_every_field_without_interruption() {
    let file = || FileDialog::new(FileTask::Save, String::new(), None);
    for dialog in [
        Dialog::Commands(Picker::default(), Default::default()),
        Dialog::File(file()),
        Dialog::Shelf(Picker::default()),
        Dialog::Help(Picker::default()),
        generation(),
    ] {
        let shown = format!("{dialog:?}");
        let (context, mut dialogs) = (Context::default(), Dialogs::of(dialog));
        let mut show = |events| show(&context, &mut dialogs, events);
        (0..3).for_each(|_| _ = show(Vec::new()));
        for text in ["n", "ni", "ni h"] {
            let preedit = ImeEvent::Preedit {
                text: text.into(),
                active_range_chars: None,
            };
            let told = show(vec![Event::Ime(preedit)]).expect("a field with the focus");
            assert!(!told.should_interrupt_composition, "{shown}: {text}");
        }
        show(vec![Event::Ime(ImeEvent::Commit("你好".into()))]);
        assert!(
            format!("{dialogs:?}").contains("typed: \"你好\""),
            "{dialogs:?}"
        );
    }
}

#[test]
fn a_path_replaces_the_proposed_one_and_one_that_fails_can_be_mended() {
    let proposed = FileDialog::new(FileTask::Save, String::new(), None);
    let mut dialogs = Dialogs::of(Dialog::File(proposed));
    let context = Context::default();
    let path = |path: &str| [UiRequest::SaveFile(path.into())];
    let requests = typed_into(&context, &mut dialogs, "/no/where");
    assert_eq!(requests, path("/no/where"));
    assert!(dialogs.takes_keys(), "until it is known what came of it");
    assert_eq!(
        typed_into(&context, &mut dialogs, ".r"),
        [],
        "one at a time"
    );
    dialogs.pending_file().unwrap().refuse("it failed".into());
    let requests = typed_into(&context, &mut dialogs, "le");
    assert_eq!(requests, path("/no/where.rle"));
}

#[test]
fn what_is_typed_before_the_first_frame_is_the_topmost_dialogs() {
    let palette = Dialog::Commands(Picker::default(), Default::default());
    let context = Context::default();
    let requests = typed_into(&context, &mut Dialogs::of(palette), "next kernel");
    assert_eq!(requests, [UiRequest::Act(SessionAction::NextKernel.into())]);
    let mut dialogs = Dialogs::of(generation());
    let context = Context::default();
    assert_eq!(typed_into(&context, &mut dialogs, ""), [], "no number yet");
    dialogs.open(Dialog::Help(Picker::default()));
    assert_eq!(typed_into(&context, &mut dialogs, "7"), [], "searched for");
    dialogs.close_top();
    let requests = typed_into(&context, &mut dialogs, "30");
    assert_eq!(requests, [UiRequest::Act(SessionAction::RunTo(30).into())]);
}

#[test]
fn one_list_of_actions_is_open_at_a_time() {
    let help = || Dialog::Help(Picker::default());
    let mut dialogs = Dialogs::of(generation());
    dialogs.toggle(Dialog::Commands(Picker::default(), Default::default()));
    dialogs.toggle(help());
    dialogs.close_top();
    assert!(dialogs.takes_keys(), "the field is still open");
    dialogs.close_top();
    assert!(!dialogs.takes_keys(), "the palette is not");
    dialogs.toggle(help());
    dialogs.toggle(help());
    assert!(!dialogs.takes_keys());
}
