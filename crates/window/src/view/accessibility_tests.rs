//! What a screen reader hears, and what it can do, on every screen.

use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;

use egui::accesskit::Action::Click;
use egui::accesskit::{Role, Toggled};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT, Queryable};
use engine::kernels;
use lang::Language;
use session::{Pace, Session, SessionAction, Status, Streams, Switch};
use test_support::with;
use ui::actions::Setting;
use ui::figures::{GRID, KERNEL, PACE};
use ui::fixtures::{lecture_options, lesson_page, status};
use ui::{
    Action, App, CodeEditor, EmergencySave, LessonScreen, SidePanel, ViewAction, ViewOptions,
};

use crate::view::dialogs::{Dialog, Dialogs, Picker, Popup, PromptDialog, UiRequest};
use crate::view::frame::lay_over;
use crate::view::hud::{install_fonts, style};
use crate::view::{Frame, gallery};

/// A frame, with these dialogs open, before a screen reader, and what was asked for by it.
fn heard<T>(
    frame: &Frame<'_>,
    mut dialogs: Dialogs,
    look: impl FnOnce(&mut Harness<'_>, &RefCell<Vec<UiRequest>>) -> T,
) -> T {
    let requests = RefCell::<Vec<UiRequest>>::default();
    let (palette, place) = (frame.palette(), frame.layout());
    let mut harness = Harness::builder()
        .with_size(frame.rect().size())
        .allow_missing_glyphs()
        .with_context_setup(move |context| {
            install_fonts(context);
            style::apply_style(context, &palette);
        })
        .build_ui(|ui| {
            let asked = lay_over(ui.ctx(), frame, &palette, place.as_ref(), &mut dialogs);
            requests.borrow_mut().extend(asked);
        });
    harness.run_steps(2);
    look(&mut harness, &requests)
}

fn some_status() -> Status {
    status(16, life::Size::new(256, 256).unwrap())
}

/// What is seen with this panel beside the lattices.
fn beside(panel: SidePanel) -> ViewOptions {
    ViewOptions {
        side: Some(panel),
        ..ViewOptions::default()
    }
}

/// Clicks what has this role and name, as a screen reader does; what that asks for.
fn clicked(frame: &Frame<'_>, role: Role, name: &str) -> Vec<UiRequest> {
    heard(frame, Dialogs::default(), |harness, requests| {
        harness.get_by_role_and_label(role, name).click_accesskit();
        harness.run_steps(2);
        requests.take()
    })
}

fn act(action: impl Into<Action>) -> Vec<UiRequest> {
    vec![UiRequest::Act(action.into())]
}

#[test]
fn what_can_be_clicked_has_a_name_and_a_place_on_every_screen() {
    let mut clickable = 0;
    gallery::each_frame(|title, frame, dialogs| {
        heard(frame, dialogs, |harness, _| {
            for node in harness.query_all_by(|_| true) {
                let node = node.accesskit_node();
                let clicks = node.data().supports_action(Click);
                // A scroll bar is called what it is.
                if (clicks || node.role() == Role::Button) && node.role() != Role::ScrollBar {
                    let is_text = node.role() == Role::Label;
                    let name = if is_text { node.value() } else { node.label() };
                    let name = name.unwrap_or_default();
                    assert!(!name.is_empty(), "{:?} on {title}", node.data());
                    assert_ne!(node.role(), Role::Unknown, "{name} on {title}");
                    let bounds = node.raw_bounds().expect(&name);
                    assert!(
                        bounds.width() > 0.0 && bounds.height() > 0.0,
                        "{name} on {title}"
                    );
                    clickable += 1;
                }
            }
        });
    });
    assert!(clickable > 500, "{clickable}");
}

/// Screens of which is stored what each says, and what each of its buttons asks for.
const STORED: [&str; 13] = [
    "panels",
    "presentation",
    "comparison-differ-all",
    "lecture",
    "lab-refused",
    "ladder",
    "ladder-source",
    "population",
    "causes-several",
    "editor-predicted",
    "editor-error",
    "editor-kernel",
    "failed",
];

/// A line for each thing that a screen reader finds: its role, its name, its state, its tip, and what a
/// click asks for.
fn spoken(harness: &mut Harness<'_>, requests: &RefCell<Vec<UiRequest>>) -> String {
    let mut lines = Vec::new();
    let mut clickable = Vec::new();
    for node in harness.query_all_by(|_| true) {
        let node = node.accesskit_node();
        let name = match node.role() {
            Role::Label => node.value(),
            _ => node.label(),
        };
        let Some(name) = name.filter(|name| !name.is_empty()) else {
            continue;
        };
        let mut line = format!("{:?} '{name}'", node.role());
        if node.is_disabled() {
            line += " disabled";
        }
        match (node.toggled(), node.is_selected()) {
            (Some(Toggled::True), _) | (_, Some(true)) => line += " on",
            (Some(_), _) => line += " off",
            _ => {}
        }
        if let Some(tip) = node.description().filter(|tip| *tip != name) {
            line += &format!(" | {tip}");
        }
        if node.data().supports_action(Click) && !node.is_disabled() && node.role() != Role::Label {
            clickable.push((lines.len(), node.role(), name));
        }
        lines.push(line);
    }
    for (line, role, name) in clickable {
        let first = harness.query_all_by_role_and_label(role, &name).next();
        first.expect("it was there").click_accesskit();
        harness.run_steps(2);
        for request in requests.take() {
            lines[line] += &match request {
                UiRequest::Change(settings, _) => format!(" -> change {settings:?}"),
                request => format!(" -> {request:?}"),
            };
        }
    }
    lines.join("\n") + "\n"
}

/// In English, and one in Chinese.
#[test]
fn screens_say_what_is_stored() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/structure");
    let renew = std::env::var_os("LIFESTREAMS_RENEW").is_some();
    let mut stale = Vec::new();
    let mut seen = 0;
    let mut compare = |name: &str, said: String| {
        seen += 1;
        let path = folder.join(format!("{name}.txt"));
        if std::fs::read_to_string(&path).ok().as_ref() != Some(&said) {
            if renew {
                std::fs::write(&path, said).unwrap();
            } else {
                stale.push(format!("{name}:\n{said}"));
            }
        }
    };
    for (language, names) in [
        (Language::English, &STORED[..]),
        (Language::Chinese, &STORED[..1]),
    ] {
        with(language, || {
            gallery::each_frame(|title, frame, dialogs| {
                let screen = title.rsplit_once('@').map_or(title, |(name, _)| name);
                let screen = screen.rsplit_once('-').map_or(screen, |(name, _)| name);
                if names.contains(&screen) {
                    let said = heard(frame, dialogs, spoken);
                    let name = match language {
                        Language::English => screen.to_owned(),
                        Language::Chinese => format!("{screen}-zh"),
                    };
                    compare(&name, said);
                }
            });
        });
    }
    assert_eq!(seen, STORED.len() + 1);
    assert!(stale.is_empty(), "{}", stale.join("\n"));
}

/// What a widget says is not said again by the text that is painted in it.
#[test]
fn nothing_is_said_twice() {
    let mut found = Vec::new();
    gallery::each_frame(|title, frame, dialogs| {
        heard(frame, dialogs, |harness, _| {
            let nodes: Vec<_> = harness.query_all_by(|_| true).collect();
            let nodes = nodes.iter().map(|node| node.accesskit_node());
            // What stands behind a dialog is not said at all.
            let nodes = nodes.filter(|node| {
                let mut around = std::iter::successors(Some(*node), |node| node.parent());
                !around.any(|node| node.data().is_hidden())
            });
            let mut buttons = Vec::new();
            let mut labels = Vec::new();
            for node in nodes {
                let Some(bounds) = node.raw_bounds() else {
                    continue;
                };
                match node.role() {
                    Role::Button | Role::Image => buttons.push((node.label(), bounds)),
                    Role::Label => labels.push((node.value(), bounds)),
                    _ => {}
                }
            }
            for (text, inside) in labels {
                let text = text.unwrap_or_default();
                let mut around = buttons
                    .iter()
                    .filter(|(_, rect)| !rect.intersect(inside).is_empty());
                let twice = around.find(|(name, _)| {
                    let name = name.as_deref().unwrap_or_default();
                    !text.is_empty() && name.contains(&text)
                });
                found.extend(twice.map(|(name, _)| format!("'{text}' in {name:?} on {title}")));
            }
        });
    });
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn lessons_are_opened_by_name() {
    let status = some_status();
    let options = ViewOptions::default();
    let frame = Frame::plain(&status, &options).composed();
    let lesson = &lesson::LESSONS[1];
    let name = format!("{}: {}", lesson.name, lesson.title);
    let list = Dialogs::of(Dialog::Lessons(Picker::default(), Default::default()));
    heard(&frame, list, |harness, requests| {
        harness
            .get_by_role_and_label(Role::Button, &name)
            .click_accesskit();
        harness.run_steps(2);
        assert_eq!(requests.take(), [UiRequest::Lesson(1)]);
    });
    let page = LessonScreen::Page(lesson_page(false));
    let frame = frame.with_lesson(Some(&page)).composed();
    let again = clicked(&frame, Role::Button, "Measure again");
    assert_eq!(again, act(ViewAction::MeasureAgain));
}

#[test]
fn the_text_of_a_round_is_edited_by_name() {
    let status = some_status();
    let options = beside(SidePanel::Editor);
    let mut editor = CodeEditor::default();
    editor.edit("advance(0, 0);\n");
    let frame = Frame::plain(&status, &options).with_editor(&editor);
    let frame = frame.composed();
    heard(&frame, Dialogs::default(), |harness, requests| {
        let role = Role::MultilineTextInput;
        let text = harness.get_by_role_and_label(role, "The script of the round");
        assert_eq!(text.value().as_deref(), Some("advance(0, 0);\n"));
        text.focus();
        harness.run_steps(1);
        let text = harness.get_by_role_and_label(role, "The script of the round");
        text.type_text("// first\n");
        harness.run_steps(1);
        let edited = UiRequest::EditCode("// first\nadvance(0, 0);\n".into());
        assert_eq!(requests.take(), [edited]);
    });
}

/// Finds an action in the menu by names alone, topic first, and clicks it; what that asks for.
fn chosen_in_menu(frame: &Frame<'_>, action: Action) -> Vec<UiRequest> {
    let row = action.row().unwrap();
    let (topic, command) = (row.topic.short_title(), row.help());
    let dialogs = Dialogs::of(Dialog::Menu(Picker::default()));
    heard(frame, dialogs, |harness, requests| {
        for (role, name) in [(Role::Tab, topic), (Role::Button, command)] {
            harness.get_by_role_and_label(role, name).click_accesskit();
            harness.run_steps(2);
        }
        requests.take()
    })
}

/// The README's lecture of ten minutes, in a presentation, which has no toolbar.
#[test]
fn the_lecture_is_held_by_names_alone() {
    let mut status = some_status();
    let mut options = ViewOptions {
        presentation: true,
        ..ViewOptions::default()
    };
    let switch = |switch| Action::from(SessionAction::CycleSwitch(switch));
    let steps = [
        ViewAction::ToggleTimeline.into(),
        switch(Switch::Streams),
        switch(Switch::Streams),
        switch(Switch::HostMemory),
        SessionAction::NextKernel.into(),
        switch(Switch::Graphs),
        ViewAction::ToggleLadder.into(),
        SessionAction::NextKernel.into(),
        ViewAction::ToggleLessons.into(),
        SessionAction::ToggleComparison.into(),
        ViewAction::ToggleHelp.into(),
        ViewAction::ToggleCommands.into(),
    ];
    for step in steps {
        let frame = Frame::plain(&status, &options).composed();
        let menu = clicked(&frame, Role::Button, "menu (Ctrl+M)");
        assert_eq!(menu, act(ViewAction::ToggleMenu), "{step:?}");
        assert_eq!(chosen_in_menu(&frame, step), act(step));
        options.timeline = true;
        if step == switch(Switch::Streams) {
            status.setting.switches.streams = Streams::One;
        }
        if step == ViewAction::ToggleLadder.into() {
            options.side = Some(SidePanel::Ladder);
        }
    }
}

/// Clicks a button of what is shown with the mouse, and does what that asks for.
#[track_caller]
fn click(app: &mut App, name: &str) {
    let status = app.status().unwrap();
    app.update(Some(&status));
    let plain = Frame::plain(&status, &app.options);
    let sources = app.sources(Some(&status), plain.sources.timeline);
    let frame = Frame { sources, ..plain }.composed();
    let requests = heard(&frame, Dialogs::default(), |harness, requests| {
        harness.get_by_role_and_label(Role::Button, name).click();
        harness.run_steps(3);
        requests.take()
    });
    match requests[..] {
        [UiRequest::Act(Action::View(ViewAction::NextPage))] => app.turn_page(true),
        [UiRequest::Act(Action::View(ViewAction::PreviousPage))] => app.turn_page(false),
        [UiRequest::Act(Action::View(ViewAction::Predict(at)))] => app.predict(at.into()),
        [UiRequest::Act(Action::View(ViewAction::ToggleLecture))] => app.toggle_lecture(),
        _ => panic!("{name}: {requests:?}"),
    }
}

#[test]
fn a_lecture_is_walked_by_mouse_alone() {
    let folder = tempfile::tempdir().unwrap();
    let lecture = lecture_options(folder.path());
    let setup = lecture.lecture.steps[0].setup.clone();
    let save = Arc::new(EmergencySave::default());
    let view = ViewOptions::default();
    let mut app = App::new(view, Some(lecture), Arc::new(|| {}), save);
    app.start(Session::start(setup, || {}).unwrap());
    let number = |app: &App| Some(app.open_lecture()?.screen()?.number);
    for (name, shown) in [
        ("2  2× slower", 1),
        ("Next", 2),
        ("Back", 1),
        ("Next", 2),
        ("Next", 3),
        ("Measure", 3),
    ] {
        click(&mut app, name);
        assert_eq!(number(&app), Some(shown), "{name}");
    }
    let (_, mut has_next) = app.lessons.page(true).expect("the lesson's page");
    while has_next {
        click(&mut app, "Next");
        (_, has_next) = app.lessons.page(true).expect("the lesson's page");
    }
    click(&mut app, "Next");
    assert_eq!(number(&app), Some(4));
    click(&mut app, "Finish");
    assert_eq!(number(&app), None);
    app.toggle_lecture();
    click(&mut app, "Close");
    assert_eq!(number(&app), None);
    let page = std::fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert!(page.contains("<td>2× slower</td>"), "{page}");
}

#[test]
fn beside_an_open_dialog_nothing_is_heard() {
    let status = some_status();
    let options = ViewOptions::default();
    let frame = Frame::plain(&status, &options).composed();
    let run = Action::from(SessionAction::TogglePause)
        .row()
        .unwrap()
        .help();
    let is_there = |dialogs: Dialogs, name: &str| {
        heard(&frame, dialogs, |harness, _| {
            // What is hidden, with all that is in it, is in the tree and not read.
            let mut named = harness.query_all_by_role_and_label(Role::Button, name);
            named.any(|node| {
                let within = std::iter::successors(Some(node.accesskit_node()), |it| it.parent());
                within.into_iter().all(|it| !it.is_hidden())
            })
        })
    };
    let generation = || {
        let field = PromptDialog::new(Setting::Generation, String::new());
        Dialogs::of(Dialog::Prompt(field))
    };
    assert!(is_there(Dialogs::default(), run));
    assert!(!is_there(generation(), run));
    let escape = Action::from(ViewAction::Escape).key();
    assert!(is_there(generation(), &format!("Close ({escape}) ×")));
}

/// A frame with a popup, and what the person does with it.
fn changed(
    settings: &[Setting],
    does: impl FnOnce(&mut Harness<'_>),
) -> (Vec<UiRequest>, Vec<String>) {
    let status = some_status();
    let options = ViewOptions::default();
    let frame = Frame::plain(&status, &options).composed();
    let beside = egui::Rect::from_min_size(egui::pos2(900.0, 200.0), egui::vec2(200.0, 30.0));
    let dialogs = Dialogs::of(Dialog::Popup(Popup::of_settings(settings, beside)));
    heard(&frame, dialogs, |harness, requests| {
        let focused = harness.query_all_by(|node| node.is_focused());
        let focused = focused.map(|node| format!("{:?}", node.accesskit_node().role()));
        let focused = focused.collect();
        does(harness);
        harness.run_steps(3);
        (requests.take(), focused)
    })
}

#[test]
fn controls_are_operated_by_name_and_by_keys() {
    let (requests, focused) = changed(GRID, |harness| {
        let slider = harness.get_by_role(Role::Slider);
        assert_eq!(slider.accesskit_node().numeric_value(), Some(16.0));
        harness.key_press(egui::Key::ArrowRight);
    });
    assert_eq!(focused, ["Slider"], "the first control has the keys");
    let [UiRequest::Act(Action::Session(SessionAction::SetInstances(count)))] = requests[..] else {
        panic!("{requests:?}")
    };
    assert!(count > 16, "{count}");

    let bits = kernels::KERNELS
        .iter()
        .find(|it| it.name == "bits")
        .unwrap();
    let name = format!("bits: {}", bits.title);
    let choose = SessionAction::UseKernel(bits.index() as u8);
    let (requests, focused) = changed(KERNEL, |harness| {
        harness
            .get_by_role_and_label(Role::Button, &name)
            .click_accesskit();
    });
    assert_eq!(requests, act(choose));
    assert_eq!(focused, ["Button"], "the present choice has the keys");

    let (requests, _) = changed(PACE, |harness| {
        harness.key_press(egui::Key::ArrowDown);
        harness.run_steps(1);
        harness.key_press(egui::Key::Enter);
    });
    let next = Pace::ALL
        .iter()
        .position(|pace| *pace == Pace::PerSecond(120.0));
    assert_eq!(requests, act(SessionAction::SetPace(next.unwrap() as u8)));

    let (requests, _) = changed(&[Setting::Rule], |harness| {
        harness.event(egui::Event::Text("highlife".into()));
        harness.key_press(egui::Key::Enter);
    });
    let rule = "B36/S23".parse().unwrap();
    assert_eq!(requests, act(SessionAction::SetRule(rule)));
}

#[test]
fn a_panel_has_a_menu_of_its_own() {
    let status = some_status();
    let options = ViewOptions::default();
    let frame = Frame::plain(&status, &options).composed();
    let dialogs = Dialogs::of(Dialog::Popup(Popup::of_panel(egui::pos2(300.0, 200.0))));
    let alone = Action::from(ViewAction::ToggleSingle);
    let requests = heard(&frame, dialogs, |harness, requests| {
        let name = alone.row().unwrap().help();
        harness
            .get_by_role_and_label(Role::Button, name)
            .click_accesskit();
        harness.run_steps(2);
        requests.take()
    });
    assert_eq!(requests, act(alone));
}
