//! The command palette: everything that can be asked for, found by typing parts of what it does or
//! other words for it.

use egui::{Color32, Key, Modifiers, RichText, ScrollArea, TextEdit, vec2};

use crate::view::dialogs::entries::{self, Entry, LINE};
use crate::view::dialogs::{DialogContext, UiRequest, style};
use lang::tr;
use ui::LessonEntry;
use ui::theme::Palette;

/// How many lines are seen at once, at most.
const LINES: f32 = 14.0;

/// The open palette.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Commands {
    typed: String,
    /// The chosen one of those that match.
    chosen: usize,
    lessons: Vec<LessonEntry>,
}

impl Commands {
    /// With these lessons beside the actions.
    pub(crate) fn new(lessons: Vec<LessonEntry>) -> Commands {
        Commands {
            lessons,
            ..Default::default()
        }
    }

    /// With this typed already.
    #[cfg(test)]
    pub(crate) fn searching(typed: &str) -> Commands {
        Commands {
            typed: typed.into(),
            ..Default::default()
        }
    }

    /// Lays it out; whether it stays open.
    pub(super) fn show(&mut self, cx: DialogContext<'_>, requests: &mut Vec<UiRequest>) -> bool {
        let mut stays = true;
        let left = style::dialog(cx, "commands", Some(0.08), 660.0, |ui| {
            let field = TextEdit::singleline(&mut self.typed).hint_text(tr!("Type a command"));
            let field = field.desired_width(f32::INFINITY).margin(vec2(9.0, 6.0));
            let field = style::with_close_button(ui, |ui| ui.add(field));
            let field = field.accessible_name(tr!("Type a command"));
            if cx.is_top {
                style::hold_focus(&field);
            }
            let typed = field.changed();
            if typed {
                self.chosen = 0;
            }
            let found = entries::found(entries::all(&cx.frame.sources, &self.lessons), &self.typed);
            // Counted: of a slow frame no key is lost.
            let presses =
                |key| ui.input_mut(|input| input.count_and_consume_key(Modifiers::NONE, key));
            let moves = [
                (Key::ArrowDown, 1),
                (Key::ArrowUp, -1),
                (Key::PageDown, LINES as isize - 1),
                (Key::PageUp, 1 - LINES as isize),
            ];
            let by: isize = moves
                .iter()
                .map(|&(key, by)| presses(key) as isize * by)
                .sum();
            let entered = presses(Key::Enter) > 0;
            let last = found.len().saturating_sub(1);
            self.chosen = self.chosen.saturating_add_signed(by).min(last);
            // Of one height, however much is found: nothing moves while one types.
            let height = (LINES * LINE).min(0.62 * cx.screen.height());
            let spacing = std::mem::take(&mut ui.spacing_mut().item_spacing);
            ui.add_space(6.0);
            ui.scope(|ui| {
                ui.set_min_height(height);
                ScrollArea::vertical()
                    .max_height(height)
                    .min_scrolled_height(height)
                    .auto_shrink(false)
                    .show(ui, |ui| {
                        if found.is_empty() {
                            entries::nothing(ui, cx);
                        }
                        for (at, entry) in found.iter().enumerate() {
                            let line = entries::line(ui, cx, entry, Some(at == self.chosen));
                            if at == self.chosen && (by != 0 || typed) {
                                line.scroll_to_me(None);
                            }
                            let possible = entry.unavailable.is_none();
                            if line.clicked() || (entered && at == self.chosen && possible) {
                                requests.push(entry.request.clone());
                                stays = false;
                            }
                        }
                    });
            });
            ui.spacing_mut().item_spacing = spacing;
            ui.add_space(4.0);
            let (words, text_colour) = said(found.get(self.chosen), cx.palette);
            let words = RichText::new(words).small().color(text_colour);
            ui.add(egui::Label::new(words).truncate());
        });
        stays && !left
    }
}

/// What the foot says of the chosen one.
fn said(chosen: Option<&Entry>, palette: &Palette<Color32>) -> (String, Color32) {
    match chosen {
        None => (tr!("Esc closes").into(), palette.label),
        Some(Entry {
            unavailable: Some(why),
            ..
        }) => (tr!("Unavailable: {why}"), palette.accent),
        Some(_) => (
            tr!("↑ ↓ choose · Enter runs · Esc closes").into(),
            palette.label,
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::Frame;
    use session::{SessionAction, Status};
    use ui::ViewOptions;
    use ui::fixtures;
    use ui::{Action, EditAction, ViewAction};

    fn all(status: &Status, lessons: &[LessonEntry]) -> Vec<Entry> {
        let options = ViewOptions::default();
        entries::all(&Frame::plain(status, &options).composed().sources, lessons)
    }

    fn first(typed: &str) -> UiRequest {
        let status = fixtures::status(16, life::Size::new(64, 64).unwrap());
        let lesson = LessonEntry {
            name: "event".into(),
            title: "an event orders two streams".into(),
            heading: None,
        };
        let found = entries::found(all(&status, &[lesson]), typed);
        found.into_iter().next().expect(typed).request
    }

    fn act(action: impl Into<Action>) -> UiRequest {
        UiRequest::Act(action.into())
    }

    #[test]
    fn what_is_meant_comes_first() {
        use session::Switch;
        let streams = SessionAction::CycleSwitch(Switch::Streams);
        assert_eq!(first(""), act(SessionAction::TogglePause));
        assert_eq!(first("next ker"), act(SessionAction::NextKernel));
        assert_eq!(first("nxt krnl"), act(SessionAction::NextKernel));
        assert_eq!(first("lesson event"), UiRequest::Lesson(0));
        let UiRequest::Shelved(gun) = first("gosper") else {
            panic!("the shelf's patterns are found too")
        };
        assert_eq!(gun.name, "gosper-gun");
        assert_eq!(first("streams batch"), act(streams));
        let batch = SessionAction::SetSwitch(Switch::Streams, 3);
        assert_eq!(first("batch: one launch"), act(batch));
    }

    /// What a beginner calls it, in both languages.
    const SYNONYMS: [(&str, &str, Action); 19] = [
        ("screenshot", "截图", Action::View(ViewAction::SavePicture)),
        ("gif", "动图", Action::View(ViewAction::ToggleRecording)),
        ("speed", "速度", Action::Session(SessionAction::Faster)),
        ("rotate", "旋转", Action::Edit(EditAction::RotateLeft)),
        ("trail", "拖尾", Action::View(ViewAction::NextColourMode)),
        ("restart", "重启", Action::Session(SessionAction::ResetAll)),
        ("exit", "退出", Action::View(ViewAction::Quit)),
        ("gpu", "显卡", Action::Session(SessionAction::NextKernel)),
        ("pause", "暂停", Action::Session(SessionAction::TogglePause)),
        ("undo", "撤销", Action::Session(SessionAction::Undo)),
        ("zoom", "缩放", Action::View(ViewAction::ZoomIn)),
        ("dark", "深色", Action::View(ViewAction::NextTheme)),
        (
            "fullscreen",
            "全屏",
            Action::View(ViewAction::ToggleFullscreen),
        ),
        ("random", "随机", Action::Session(SessionAction::NewSeed)),
        ("noise", "随机填充", Action::Edit(EditAction::FillRandomly)),
        ("heatmap", "热图", Action::View(ViewAction::NextColourMode)),
        ("age", "年龄", Action::View(ViewAction::NextColourMode)),
        ("pinned", "页锁定", PINNED),
        ("glider", "图案库", Action::Edit(EditAction::ToggleShelf)),
    ];
    const PINNED: Action = Action::Session(SessionAction::CycleSwitch(session::Switch::HostMemory));

    #[test]
    fn synonyms_find_the_action_in_both_languages() {
        use lang::Language;
        use test_support::with;
        for (english, chinese, action) in SYNONYMS {
            with(Language::English, || {
                assert_eq!(first(english), act(action), "{english}");
            });
            with(Language::Chinese, || {
                for typed in [english, chinese] {
                    assert_eq!(first(typed), act(action), "{typed}");
                }
            });
        }
    }

    #[test]
    fn in_chinese_both_languages_find() {
        use lang::Language;
        use test_support::with;
        with(Language::Chinese, || {
            for typed in ["next ker", "下一个核"] {
                assert_eq!(first(typed), act(SessionAction::NextKernel), "{typed}");
            }
        });
    }

    #[test]
    fn what_is_impossible_says_why() {
        let mut status = fixtures::status(1, life::Size::new(64, 64).unwrap());
        status.setting.kernel = engine::kernels::find("bits").unwrap();
        let why = |status: &Status, action: Action| {
            let request = act(action);
            let mut all = all(status, &[]).into_iter();
            all.find(|entry| entry.request == request)
                .unwrap()
                .unavailable
        };
        let cells = SessionAction::SetSwitch(session::Switch::Transfer, 3).into();
        let save = EditAction::SavePattern.into();
        for (action, wanted) in [
            (SessionAction::TogglePause.into(), None),
            (SessionAction::ToggleComparison.into(), Some("two panels")),
            (EditAction::RotatePastedLeft.into(), Some("no pattern")),
            (ViewAction::ToggleSingle.into(), Some("only one panel")),
            (cells, Some("no i32 cells")),
            (save, None),
        ] {
            let why = why(&status, action);
            assert_eq!(why.is_some(), wanted.is_some(), "{action:?}");
            let why = why.unwrap_or_default();
            assert!(why.contains(wanted.unwrap_or_default()), "{why}");
        }
        status.failed = Some("the engine was lost".into());
        for (action, ends) in [
            (SessionAction::Undo.into(), true),
            (ViewAction::RunRound.into(), true),
            (EditAction::PastePattern.into(), true),
            (cells, true),
            (save, false),
            (SessionAction::SaveSession.into(), false),
            (ViewAction::Quit.into(), false),
        ] {
            let why = why(&status, action);
            assert_eq!(
                why.as_deref(),
                ends.then_some("the session has ended"),
                "{action:?}"
            );
        }
    }

    #[test]
    fn what_is_on_has_a_check_mark_and_each_switch_a_position() {
        let status = fixtures::status(4, life::Size::new(64, 64).unwrap());
        let all = all(&status, &[]);
        let of = |action: Action| {
            let entry = all.iter().find(|entry| entry.request == act(action));
            entry
                .map(|entry| (entry.state, entry.position.as_str()))
                .unwrap()
        };
        for switch in session::Switch::ALL {
            let (_, position) = of(SessionAction::CycleSwitch(switch).into());
            assert!(!position.is_empty(), "{switch:?}");
        }
        let here = status.setting.kernel.index() as u8;
        for (action, wanted) in [
            (ViewAction::ToggleMinimap.into(), (Some(true), "on")),
            (ViewAction::ToggleLab.into(), (Some(false), "off")),
            (SessionAction::Faster.into(), (None, "60 rounds/s")),
            (SessionAction::StepRound.into(), (None, "")),
            (SessionAction::TogglePause.into(), (Some(true), "on")),
            (SessionAction::UseKernel(here).into(), (Some(true), "")),
        ] {
            assert_eq!(of(action), wanted, "{action:?}");
        }
    }
}
