//! What a screen reader hears, and what it can do.

use std::cell::RefCell;
use std::path::Path;

use egui::accesskit::Action::Click;
use egui::accesskit::{Role, Toggled};
use egui::{Event, Key, pos2, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT, Queryable};
use lang::Language;
use session::{Pace, SessionAction};
use test_support::with;
use ui::actions::Setting;
use ui::figures::{GRID, PACE};
use ui::fixtures::status;
use ui::{CodeEditor, SidePanel, ViewOptions};

use crate::view::Frame;
use crate::view::dialogs::{Dialog, Dialogs, Form, UiRequest};
use crate::view::frame::lay_over;
use crate::view::gallery::with_screen;
use crate::view::style::{self, install_fonts};
use crate::view::widgets::take_requests;

/// What the interface asks for, and the dialogs that are open.
struct Heard {
    requests: RefCell<Vec<UiRequest>>,
    dialogs: RefCell<Dialogs>,
}

/// A frame, with these dialogs open, before a screen reader.
fn heard<T>(
    frame: &Frame<'_>,
    dialogs: Dialogs,
    look: impl FnOnce(&mut Harness<'_>, &Heard) -> T,
) -> T {
    let heard = Heard {
        requests: RefCell::default(),
        dialogs: RefCell::new(dialogs),
    };
    let (palette, place) = (frame.palette(), frame.layout());
    let mut harness = Harness::builder()
        .with_size(frame.rect().size())
        .allow_missing_glyphs()
        .with_context_setup(move |context| {
            install_fonts(context);
            style::apply_style(context, &palette);
        })
        .build_ui(|ui| {
            let dialogs = &mut heard.dialogs.borrow_mut();
            lay_over(ui.ctx(), frame, place.as_ref(), dialogs);
            let asked = take_requests(ui.ctx());
            heard.requests.borrow_mut().extend(asked);
        });
    harness.run_steps(2);
    look(&mut harness, &heard)
}

/// Screens of which is stored what each says, and what each of its buttons asks for.
const STORED: [&str; 20] = [
    "panels",
    "pencil",
    "presentation",
    "comparison-differ-all",
    "lecture",
    "lab-refused",
    "ladder",
    "ladder-source",
    "population",
    "causes-several",
    "editor-predicted",
    "editor-kernel",
    "failed",
    "lesson-failed",
    "lesson-speedup",
    "menu-presented",
    "palette-refused",
    "popup-kernel",
    "popup-panel",
    "timeline-changed",
];

/// A line for each thing that a screen reader finds: its role, its name, its state, its tip, and what a
/// click asks for.
fn spoken(name: &str, harness: &mut Harness<'_>, heard: &Heard) -> String {
    let mut lines = Vec::new();
    let mut clickable = Vec::new();
    for node in harness.query_all_by(|_| true) {
        let node = node.accesskit_node();
        let name = match node.role() {
            Role::Label => node.value(),
            _ => node.label(),
        };
        // What is hidden, with all that is in it, is in the tree and not read.
        let mut within = std::iter::successors(Some(node), |it| it.parent());
        let is_hidden = within.any(|it| it.is_hidden());
        let Some(name) = name.filter(|name| !name.is_empty() && !is_hidden) else {
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
    let has_dialog = heard.dialogs.borrow().takes_keys();
    for (line, role, label) in clickable {
        let first = harness.query_all_by_role_and_label(role, &label).next();
        first.expect("it was there").click_accesskit();
        harness.run_steps(2);
        for request in heard.requests.take() {
            lines[line] += &match request {
                UiRequest::Change(settings, _) => format!(" -> change {settings:?}"),
                request => format!(" -> {request:?}"),
            };
        }
        // A click may have closed it.
        if has_dialog {
            heard
                .dialogs
                .replace(with_screen(name, |_, dialogs| dialogs));
            harness.run_steps(2);
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
    let mut compare = |name: &str, file: String| {
        let said = with_screen(name, |frame, dialogs| {
            heard(frame, dialogs, |harness, heard| {
                spoken(name, harness, heard)
            })
        });
        let path = folder.join(file);
        if std::fs::read_to_string(&path).ok().as_ref() == Some(&said) {
        } else if renew {
            std::fs::write(&path, said).unwrap();
        } else {
            stale.push(format!("{name}:\n{said}"));
        }
    };
    for name in STORED {
        with(Language::English, || compare(name, format!("{name}.txt")));
    }
    with(Language::Chinese, || {
        compare("panels", "panels-zh.txt".into())
    });
    assert!(stale.is_empty(), "{}", stale.join("\n"));
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), STORED.len() + 1);
}

/// What is asked for by keys in a popup of these settings, and what has the focus at first.
fn changed(settings: &[Setting], keys: &[Event]) -> (Vec<UiRequest>, Vec<Role>) {
    let beside = egui::Rect::from_min_size(pos2(900.0, 200.0), vec2(200.0, 30.0));
    let dialogs = Dialogs::of(Dialog::Form(Form::of_settings(settings, beside)));
    with_screen("panels", |frame, _| {
        heard(frame, dialogs, |harness, heard| {
            let focused = harness.query_all_by(|node| node.is_focused());
            let focused = focused.map(|node| node.accesskit_node().role()).collect();
            for key in keys {
                harness.event(key.clone());
                harness.run_steps(1);
            }
            harness.run_steps(3);
            (heard.requests.take(), focused)
        })
    })
}

#[test]
fn controls_are_operated_by_keys() {
    let key = |key| Event::Key {
        key,
        physical_key: None,
        pressed: true,
        repeat: false,
        modifiers: egui::Modifiers::NONE,
    };
    let faster = Pace::ALL
        .iter()
        .position(|pace| *pace == Pace::PerSecond(120.0));
    let rule = "B36/S23".parse().unwrap();
    for (settings, keys, focus, wanted) in [
        (
            GRID,
            vec![Event::Text("17".into()), key(Key::Enter)],
            Role::TextInput,
            SessionAction::SetInstances(17),
        ),
        (
            PACE,
            vec![key(Key::ArrowDown), key(Key::Enter)],
            Role::Button,
            SessionAction::SetPace(faster.unwrap() as u8),
        ),
        (
            &[Setting::Rule],
            vec![Event::Text("highlife".into()), key(Key::Enter)],
            Role::TextInput,
            SessionAction::SetRule(rule),
        ),
    ] {
        let (requests, focused) = changed(settings, &keys);
        assert_eq!(
            focused,
            [focus],
            "the first control or the present choice has the keys"
        );
        assert_eq!(requests, [UiRequest::Act(wanted.into())]);
    }
}

#[test]
fn what_is_unavailable_says_why_under_the_mouse() {
    with_screen("palette-refused", |frame, dialogs| {
        heard(frame, dialogs, |harness, _| {
            let reasons = |harness: &Harness<'_>| {
                let said = harness.query_all_by(|_| true);
                let said = said.filter_map(|node| node.accesskit_node().value());
                said.filter(|it| it.contains("need at least two panels"))
                    .count()
            };
            let before = reasons(harness);
            harness
                .get_by_label("Compare two settings, A and B")
                .hover();
            harness.run_steps(60);
            assert_eq!(reasons(harness), before + 1);
        });
    });
}

#[test]
fn the_text_of_a_round_is_edited_by_name() {
    let status = status(16, life::Size::new(256, 256).unwrap());
    let options = ViewOptions {
        side: Some(SidePanel::Editor),
        ..ViewOptions::default()
    };
    let mut editor = CodeEditor::default();
    editor.edit("advance(0, 0);\n");
    let frame = Frame::plain(&status, &options).with_editor(&editor);
    heard(&frame.composed(), Dialogs::default(), |harness, heard| {
        let role = Role::MultilineTextInput;
        let name = "The script of the round";
        harness.get_by_role_and_label(role, name).focus();
        harness.run_steps(1);
        harness
            .get_by_role_and_label(role, name)
            .type_text("// first\n");
        harness.run_steps(1);
        let edited = UiRequest::EditCode("// first\nadvance(0, 0);\n".into());
        assert_eq!(heard.requests.take(), [edited]);
    });
}
