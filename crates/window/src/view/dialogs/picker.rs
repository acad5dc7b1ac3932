//! Finding one of many: the palette, the keys, the menu, the shelf and files are this, with other items.

use std::sync::LazyLock;

use egui::accesskit::{Node, Role, Toggled};
use egui::text::{LayoutJob, TextFormat};
use egui::{
    Atom, AtomExt, Button, Key, Modifiers, Rect, Response, RichText, ScrollArea, Sense, Shape,
    Stroke, TextEdit, TextStyle, Ui, WidgetText, vec2,
};

use crate::view::dialogs::{self, DialogContext, UiRequest};
use crate::view::hud::style::truncated;
use crate::view::over_panels::runs_of;
use lang::{Language, tr};
use lesson::{EXERCISES, Exercise, ExerciseProgress, LESSONS};
use life::{Kind, Lattice, Run, SHELF, Shelved, Size};
use session::Switch;
use ui::actions::{Position, Row, Setting, TABLE, Topic, search};
use ui::{Action, EditAction, Sources};

/// An item's height, without and with a pattern's picture.
const LINE: f32 = 27.0;
const PICTURE: f32 = 64.0;
/// How many lines the page keys go.
const PAGE: isize = 13;

/// Something that can be picked.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Item {
    /// What it does.
    pub text: String,
    /// What else it is called and about, and the same in English where that is not the language.
    also: String,
    /// Other words that find it.
    search: &'static str,
    /// What stands above the first of several.
    heading: &'static str,
    keys: String,
    /// What is asked for.
    pub request: UiRequest,
    /// Whether it is on, where it switches something.
    pub state: Option<bool>,
    /// The present position of what it switches or sets; empty where there is none.
    pub position: String,
    /// Why it is impossible now.
    pub unavailable: Option<String>,
    /// Whose picture stands beside it.
    shelved: Option<&'static Shelved>,
}

impl Item {
    /// One that is always possible. Control characters in its text are escaped.
    pub(super) fn of(text: String, request: UiRequest) -> Item {
        Item {
            text: lang::single_line(text),
            also: String::new(),
            search: "",
            heading: "",
            keys: String::new(),
            request,
            state: None,
            position: String::new(),
            unavailable: None,
            shelved: None,
        }
    }

    /// A position of what is set.
    pub(super) fn of_position(text: String, position: &Position, it: &Sources<'_>) -> Item {
        let action = Action::from(position.action);
        Item {
            state: Some(position.is_on),
            unavailable: action.unavailable(it),
            ..Item::of(text, UiRequest::Act(action))
        }
    }

    /// A row of the action table.
    pub(super) fn of_row(row: &Row, it: &Sources<'_>) -> Item {
        Item {
            also: match lang::language() {
                Language::English => String::new(),
                Language::Chinese => row.help.into(),
            },
            search: row.search,
            keys: row.keys(),
            state: row.is_on(it),
            position: row.position_in_words(it).unwrap_or_default(),
            unavailable: row.action.unavailable(it),
            ..Item::of(row.help().into(), UiRequest::Act(row.action))
        }
    }

    fn of_pattern(shelved: &'static Shelved, text: String, it: &Sources<'_>) -> Item {
        Item {
            unavailable: Action::from(EditAction::ToggleShelf).unavailable(it),
            ..Item::of(text, UiRequest::Shelved(shelved))
        }
    }

    /// How far it is from what was typed, if it can be meant; and of a pattern, whether only other words
    /// than its name say so.
    fn cost(&self, words: &[String]) -> Option<(u32, bool)> {
        let cost = search::cost(words, &[&self.text, &self.also], self.search)?;
        let is_named = || search::cost(words, &[&self.text], "") == Some(cost);
        Some((cost, self.shelved.is_some() && !is_named()))
    }
}

/// Everything that can be asked for: the action table, each position of a switch, each kernel, pattern,
/// lesson and exercise.
pub(super) fn commands(it: &Sources<'_>, solved: &ExerciseProgress) -> Vec<Item> {
    let mut items = commands_in_this_language(it, solved);
    if lang::language() != Language::English {
        let english = lang::with(Language::English, || commands_in_this_language(it, solved));
        for (item, english) in items.iter_mut().zip(english) {
            item.also = english.text;
        }
    }
    items
}

fn commands_in_this_language(it: &Sources<'_>, solved: &ExerciseProgress) -> Vec<Item> {
    let rows = TABLE.iter().map(|row| Item::of_row(row, it));
    let mut items: Vec<Item> = rows.collect();
    if let Some(status) = it.status {
        let switches = Switch::ALL.into_iter().map(Setting::Switch);
        let settings = [Setting::Kernel].into_iter().chain(switches);
        for setting in settings.chain([Setting::Pace]) {
            items.extend(setting.choices(status).into_iter().map(|choice| {
                let text = format!("{} {}", setting.title(), choice.text);
                Item::of_position(text, &choice, it)
            }));
        }
    }
    items.extend(SHELF.iter().map(|shelved| {
        let text = tr!("pattern {}: {}", shelved.name, shelved.behaviour);
        Item::of_pattern(shelved, text, it)
    }));
    items.extend(lessons(solved).map(|item| Item {
        position: item.heading.into(),
        heading: "",
        ..item
    }));
    items
}

/// The lessons, then the exercises with whether they are solved.
pub(super) fn lessons(solved: &ExerciseProgress) -> impl Iterator<Item = Item> {
    let item = |name, title: &str, request| Item::of(format!("{name}: {title}"), request);
    let title_of = |exercise: &Exercise| {
        let title = lang::text(exercise.title);
        if solved.is_solved(exercise) {
            tr!("{title} (solved)")
        } else {
            title.into()
        }
    };
    let lessons = LESSONS.iter().enumerate().map(move |(at, it)| Item {
        heading: tr!("Lessons"),
        search: "lesson 课程",
        ..item(it.name, lang::text(it.title), UiRequest::Lesson(at))
    });
    let exercises = EXERCISES.iter().enumerate().map(move |(at, it)| Item {
        heading: tr!("Exercises"),
        search: "exercise 练习",
        ..item(it.name, &title_of(it), UiRequest::Exercise(at))
    });
    lessons.chain(exercises)
}

/// The rows of a topic, or of all of them below their headings.
pub(super) fn rows(topic: Option<Topic>, it: &Sources<'_>) -> Vec<Item> {
    let topics = Topic::ALL.into_iter();
    let topics = topics.filter(|one| topic.is_none_or(|only| only == *one));
    let of = |of: Topic| {
        let heading = of.title();
        let item = move |row| {
            let mut item = Item::of_row(row, it);
            if topic.is_none() {
                (item.heading, item.position) = (heading, String::new()); // a list of keys
            }
            item
        };
        of.rows().map(item)
    };
    topics.flat_map(of).collect()
}

/// The patterns of a kind, or of all kinds, in the order of their kinds.
pub(super) fn patterns(kind: Option<Kind>, it: &Sources<'_>) -> Vec<Item> {
    let kinds = Kind::ALL.into_iter();
    let kinds = kinds.filter(|one| kind.is_none_or(|only| only == *one));
    let of = |kind| SHELF.iter().filter(move |shelved| shelved.kind() == kind);
    let item = |shelved: &'static Shelved| {
        let picture = &SHELF_PICTURES[&shelved.name];
        let in_english = lang::with(Language::English, || {
            format!("{} {}", kind_title(shelved.kind()), shelved.behaviour)
        });
        let heading = kind_title(shelved.kind());
        let (name, author) = (&picture.name, &picture.author);
        Item {
            also: format!("{} {author} {heading} {in_english}", shelved.name),
            heading,
            shelved: Some(shelved),
            ..Item::of_pattern(shelved, format!("{name}: {}", shelved.behaviour), it)
        }
    };
    kinds.flat_map(of).map(item).collect()
}

/// A kind of which there are several.
pub(super) fn kind_title(kind: Kind) -> &'static str {
    match kind {
        Kind::StillLife => tr!("Still lifes"),
        Kind::Oscillator => tr!("Oscillators"),
        Kind::Spaceship => tr!("Spaceships"),
        Kind::Gun => tr!("Guns"),
        Kind::Methuselah => tr!("Methuselahs"),
        Kind::Puffer => tr!("Puffers and rakes"),
    }
}

/// A pattern of the shelf as it is listed.
struct ShelfPicture {
    name: String,
    author: String,
    cells: Vec<Run>,
    size: Size,
}

/// By the patterns' names: read once, when they are looked at first.
static SHELF_PICTURES: LazyLock<std::collections::HashMap<&str, ShelfPicture>> =
    LazyLock::new(|| {
        let most = Size::new(56, 56).expect("a picture's size");
        let of = |shelved: &'static Shelved| {
            let pattern = shelved.pattern();
            let (picture, _): (Lattice, u32) = pattern.thumbnail(most);
            let notes = pattern.notes();
            let picture = ShelfPicture {
                name: notes.name.unwrap_or_else(|| shelved.name.into()),
                author: notes.author.unwrap_or_default(),
                cells: runs_of(&picture).collect(),
                size: picture.size(),
            };
            (shelved.name, picture)
        };
        SHELF.iter().map(of).collect()
    });

/// What is typed into an open picker, and what is chosen there.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Picker {
    typed: String,
    /// The highlighted one of those that were found.
    chosen: usize,
    /// Which of the tabs is shown.
    tab: usize,
    /// The one that was scrolled to.
    seen: Option<usize>,
}

impl Picker {
    /// With this typed already, at this tab.
    #[cfg(test)]
    pub(crate) fn new(typed: &str, tab: usize) -> Picker {
        Picker {
            typed: typed.into(),
            tab,
            ..Picker::default()
        }
    }

    /// With this item chosen.
    pub(crate) fn at(chosen: usize) -> Picker {
        Picker {
            chosen,
            ..Picker::default()
        }
    }

    /// Lays it out, in columns that are so wide at least; whether it stays open, and what was picked.
    pub(super) fn show(
        &mut self,
        cx: DialogContext<'_>,
        title: &str,
        column: f32,
        tabs: &[&str],
        items: impl Fn(usize) -> Vec<Item>,
    ) -> (bool, Option<UiRequest>) {
        let mut picked = None;
        let width = if column.is_finite() { 1240.0 } else { 720.0 };
        let left = dialogs::dialog(cx, (title, title), None, width, |ui| {
            let columns = (ui.available_width() / column).max(1.0) as usize;
            // Before the field sees them: it would move its cursor. Counted: of a slow frame no key is
            // lost.
            let presses = |key| {
                ui.input_mut(|input| input.count_and_consume_key(Modifiers::NONE, key)) as isize
            };
            let mut across = 0;
            if columns > 1 || tabs.len() > 1 {
                across = presses(Key::ArrowRight) - presses(Key::ArrowLeft);
            }
            let pages = presses(Key::PageDown) - presses(Key::PageUp);
            let down = presses(Key::ArrowDown) - presses(Key::ArrowUp) + pages * PAGE;
            let entered = presses(Key::Enter) > 0;
            let hint = tr!("Search: click here and type");
            let field = TextEdit::singleline(&mut self.typed).hint_text(hint);
            let field = field.desired_width(f32::INFINITY).margin(vec2(9.0, 5.0));
            let field = ui.add(field).accessible_name(hint);
            if cx.is_top {
                dialogs::hold_focus(&field);
            }
            let tab = self.tab;
            if columns == 1 {
                let last = tabs.len().max(1) - 1;
                self.tab = self.tab.saturating_add_signed(across).min(last);
                across = 0;
            }
            if !tabs.is_empty() {
                ui.horizontal_wrapped(|ui| {
                    for (at, title) in tabs.iter().enumerate() {
                        let tab = ui.selectable_value(&mut self.tab, at, *title);
                        let is_tab = |node: &mut Node| node.set_role(Role::Tab);
                        ui.ctx().accesskit_node_builder(tab.id, is_tab);
                    }
                });
            }
            if field.changed() || self.tab != tab {
                (self.chosen, self.seen) = (0, None);
            }
            let found = found(items(self.tab), &self.typed);
            let by = across + down * columns as isize;
            let last = found.len().saturating_sub(1);
            self.chosen = self.chosen.saturating_add_signed(by).min(last);
            let moves = self.seen.replace(self.chosen) != Some(self.chosen);
            // Of one height, however much is found: nothing moves while one types.
            let height = 0.66 * cx.screen.height();
            let list = ScrollArea::vertical().max_height(height).id_salt(self.tab);
            let list = list.min_scrolled_height(height).auto_shrink(false);
            list.show(ui, |ui| {
                ui.spacing_mut().item_spacing.y = 0.0;
                ui.spacing_mut().button_padding.y = 0.0;
                if found.is_empty() {
                    ui.label(tr!("No matching command"));
                }
                let width = ui.available_width() / columns as f32 - ui.spacing().item_spacing.x;
                let is_read = ui.ctx().accesskit_node_builder(field.id, |_| ()).is_some();
                let mut at = 0;
                for group in found.chunk_by(|a, b| a.heading == b.heading) {
                    if !group[0].heading.is_empty() {
                        ui.add_space(8.0);
                        let heading = RichText::new(group[0].heading).heading();
                        ui.label(heading.color(cx.palette.accent));
                    }
                    for row in group.chunks(columns) {
                        let height = if row[0].shelved.is_some() {
                            PICTURE
                        } else {
                            LINE
                        };
                        let place = Rect::from_min_size(ui.cursor().min, vec2(width, height));
                        let has_chosen = (at..at + row.len()).contains(&self.chosen);
                        // Laid out only where it is seen or read: there are hundreds, in each frame.
                        if !is_read && !has_chosen && !ui.is_rect_visible(place) {
                            ui.add_space(height);
                            at += row.len();
                            continue;
                        }
                        ui.horizontal(|ui| {
                            for item in row {
                                let is_chosen = at == self.chosen;
                                at += 1;
                                let line = show_item(ui, cx, item, Some(is_chosen), width);
                                if is_chosen {
                                    let is_at = |node: &mut Node| {
                                        node.set_active_descendant(line.id.accesskit_id());
                                    };
                                    ui.ctx().accesskit_node_builder(field.id, is_at);
                                    if moves {
                                        line.scroll_to_me(None);
                                    }
                                }
                                let is_possible = item.unavailable.is_none();
                                if line.clicked() || entered && is_chosen && is_possible {
                                    picked = Some(item.request.clone());
                                }
                            }
                        });
                    }
                }
            });
            let (said, colour) = match found.get(self.chosen).map(|it| &it.unavailable) {
                None => (tr!("Esc closes").into(), cx.palette.label),
                Some(Some(why)) => (tr!("Unavailable: {why}"), cx.palette.accent),
                Some(None) => {
                    let keys = tr!("↑ ↓ choose · Enter runs · Esc closes");
                    (keys.into(), cx.palette.label)
                }
            };
            truncated(ui, RichText::new(said).small().color(colour));
        });
        (picked.is_none() && !left, picked)
    }
}

/// The items that have every typed word, the best first, possible ones before others, each group together;
/// all in their order where nothing is typed.
fn found(items: Vec<Item>, typed: &str) -> Vec<Item> {
    let words = search::words(typed);
    if words.is_empty() {
        return items;
    }
    let with_cost = |item: Item| Some(((item.unavailable.is_some(), item.cost(&words)?), item));
    let mut found: Vec<_> = items.into_iter().filter_map(with_cost).collect();
    found.sort_by_key(|(cost, _)| *cost);
    let mut headings = Vec::new();
    for (_, item) in &found {
        if !headings.contains(&item.heading) {
            headings.push(item.heading);
        }
    }
    found.sort_by_key(|(_, item)| headings.iter().position(|it| *it == item.heading));
    found.into_iter().map(|(_, item)| item).collect()
}

/// Lays an item out: a check mark where it is on, what it does, its position and its keys to the right;
/// with the reason as its tooltip where it is impossible. `chosen` says whether the list's own keys are at
/// it; where a list has none, the item takes egui's focus.
pub(super) fn show_item(
    ui: &mut Ui,
    cx: DialogContext<'_>,
    item: &Item,
    chosen: Option<bool>,
    width: f32,
) -> Response {
    let (palette, is_possible) = (cx.palette, item.unavailable.is_none());
    let text = match item.shelved {
        Some(shelved) => pattern_text(ui, cx, shelved),
        None if is_possible => RichText::new(&item.text).into(),
        None => RichText::new(&item.text).strikethrough().into(),
    };
    let (is_on, shelved) = (item.state == Some(true), item.shelved);
    let side = if shelved.is_some() { PICTURE } else { 16.0 };
    let mark = Atom::paint(vec2(side, side), move |ui, face| match shelved {
        Some(shelved) => paint_pattern(ui, face.rect, shelved, palette.accent),
        None if is_on => {
            let at = |x, y| face.rect.min + vec2(x, y) * (side / 16.0);
            let tick = [at(3.5, 8.5), at(6.5, 11.5), at(12.5, 4.5)];
            let stroke = Stroke::new(1.6, face.fallback_text_color);
            ui.painter().add(Shape::line(tick.into(), stroke));
        }
        None => {}
    });
    let position = RichText::new(&item.position).color(palette.label).small();
    let keys = RichText::new(&item.keys).color(palette.accent);
    let parts = (mark, text.atom_shrink(true), Atom::grow(), position, keys);
    let button = match chosen {
        Some(true) => Button::selectable(true, parts).sense(Sense::CLICK),
        Some(false) => Button::new(parts)
            .frame_when_inactive(false)
            .sense(Sense::CLICK),
        None => Button::new(parts).frame_when_inactive(false),
    };
    let size = vec2(width, if shelved.is_some() { PICTURE } else { LINE });
    let button = button.wrap().gap(10.0).min_size(size);
    // By what it says: its number is another one while those before it are not found.
    let line = ui.push_id(&item.text, |ui| {
        ui.set_max_width(width);
        ui.add_enabled(is_possible, button)
    });
    let line = line.inner;
    ui.ctx().accesskit_node_builder(line.id, |node| {
        node.set_label(item.text.as_str());
        match item.state {
            Some(is_on) => node.set_toggled(Toggled::from(is_on)),
            None => node.clear_toggled(),
        }
        if !item.position.is_empty() {
            node.set_value(item.position.as_str());
        }
        if let Some(why) = &item.unavailable {
            node.set_description(why.as_str());
        }
    });
    match &item.unavailable {
        None => line,
        Some(why) => line.on_disabled_hover_text(why),
    }
}

/// A pattern's name, what it does and who found it, below one another.
fn pattern_text(ui: &Ui, cx: DialogContext<'_>, shelved: &Shelved) -> WidgetText {
    let picture = &SHELF_PICTURES[shelved.name];
    let mut job = LayoutJob::default();
    let mut add = |text: &str, style: TextStyle, colour| {
        let format = TextFormat::simple(style.resolve(ui.style()), colour);
        job.append(text, 0.0, format);
    };
    add(&picture.name, TextStyle::Body, cx.palette.value);
    let does = format!("\n{}", shelved.behaviour);
    add(&does, TextStyle::Small, cx.palette.label);
    if !picture.author.is_empty() {
        let author = format!("\n{}", picture.author);
        add(&author, TextStyle::Small, cx.palette.label);
    }
    job.into()
}

fn paint_pattern(ui: &Ui, square: Rect, shelved: &Shelved, colour: egui::Color32) {
    let picture = &SHELF_PICTURES[shelved.name];
    let [across, down] = [picture.size.width(), picture.size.height()].map(|it| it as f32);
    let cell = (square.width() / across.max(down)).min(5.0);
    let corner = square.center() - vec2(across, down) * cell / 2.0;
    for run in &picture.cells {
        let at = corner + vec2(run.x as f32, run.y as f32) * cell;
        let cells = Rect::from_min_size(at, vec2(run.length as f32, 1.0) * cell);
        ui.painter().rect_filled(cells, 0.0, colour);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::Frame;
    use session::SessionAction;
    use ui::{ViewAction, ViewOptions, fixtures};

    /// With these made and this typed.
    fn found_of<T>(
        typed: &str,
        items: impl Fn(&Sources<'_>) -> Vec<Item>,
        look: impl Fn(Item) -> T,
    ) -> Vec<T> {
        let status = fixtures::status(16, life::Size::new(64, 64).unwrap());
        let options = ViewOptions::default();
        let frame = Frame::plain(&status, &options).composed();
        let found = found(items(&frame.sources), typed);
        found.into_iter().map(look).collect()
    }

    fn first(typed: &str) -> UiRequest {
        let items = |it: &Sources<'_>| commands(it, &ExerciseProgress::default());
        let found = found_of(typed, items, |item| item.request);
        found.into_iter().next().expect(typed)
    }

    fn act(action: impl Into<Action>) -> UiRequest {
        UiRequest::Act(action.into())
    }

    #[test]
    fn what_is_meant_comes_first() {
        let lesson = |name: &str| LESSONS.iter().position(|it| it.name == name).unwrap();
        let gun = SHELF.iter().find(|it| it.name == "gosper-gun").unwrap();
        for (typed, wanted) in [
            ("", act(SessionAction::TogglePause)),
            ("next ker", act(SessionAction::NextKernel)),
            ("lesson graphs", UiRequest::Lesson(lesson("graphs"))),
            ("exercise overlap", UiRequest::Exercise(0)),
            ("gosper", UiRequest::Shelved(gun)),
            (
                "streams batch",
                act(SessionAction::CycleSwitch(Switch::Streams)),
            ),
            (
                "batch: one launch",
                act(SessionAction::SetSwitch(Switch::Streams, 3)),
            ),
        ] {
            assert_eq!(first(typed), wanted, "{typed}");
        }
    }

    /// What a beginner calls it, in both languages.
    #[test]
    fn synonyms_find_the_action_in_both_languages() {
        let of_view = |action| act(Action::View(action));
        let of_session = |action| act(Action::Session(action));
        for (english, chinese, wanted) in [
            ("screenshot", "截图", of_view(ViewAction::SavePicture)),
            ("gif", "动图", of_view(ViewAction::ToggleRecording)),
            ("speed", "速度", of_session(SessionAction::Faster)),
            ("rotate", "旋转", act(EditAction::RotateLeft)),
            ("trail", "拖尾", of_view(ViewAction::NextColourMode)),
            ("restart", "重启", of_session(SessionAction::ResetAll)),
            ("exit", "退出", of_view(ViewAction::Quit)),
            ("gpu", "显卡", of_session(SessionAction::NextKernel)),
            ("zoom", "缩放", of_view(ViewAction::ZoomIn)),
            ("dark", "深色", of_view(ViewAction::NextTheme)),
            ("random", "随机", of_session(SessionAction::NewSeed)),
            (
                "pinned",
                "页锁定",
                of_session(SessionAction::CycleSwitch(Switch::HostMemory)),
            ),
            ("glider", "图案库", act(EditAction::ToggleShelf)),
        ] {
            test_support::with(Language::English, || assert_eq!(first(english), wanted));
            test_support::with(Language::Chinese, || {
                assert_eq!(
                    [english, chinese].map(first),
                    [wanted.clone(), wanted.clone()]
                );
            });
        }
    }

    #[test]
    fn typing_finds_rows_by_their_words_and_groups_them_by_topic() {
        let rows = |it: &Sources<'_>| rows(None, it);
        let texts = |typed: &str| found_of(typed, rows, |item| item.text);
        assert_eq!(texts("").len(), TABLE.len());
        assert_eq!(texts("gif"), ["Record the window / stop"]);
        assert!(texts("xyzzy").is_empty());
        let mut headings = found_of("panel", rows, |item| item.heading);
        headings.dedup();
        let apart: std::collections::HashSet<_> = headings.iter().collect();
        assert!(
            headings.len() > 1 && headings.len() == apart.len(),
            "{headings:?}"
        );
    }

    #[test]
    fn name_author_kind_and_behaviour_find_patterns_in_both_languages() {
        let patterns = |it: &Sources<'_>| patterns(None, it);
        let names = |typed: &str| found_of(typed, patterns, |item| item.shelved.unwrap().name);
        let gosper = names("gosper"); // who found others, too
        assert!(gosper[0] == "gosper-gun" && gosper.len() > 1, "{gosper:?}");
        let ships = SHELF.iter().filter(|it| it.kind() == Kind::Spaceship);
        let found = names("spaceships");
        assert!(
            ships.map(|it| it.name).all(|name| found.contains(&name)),
            "{found:?}"
        );
        test_support::with(Language::Chinese, || {
            assert!(
                ["飞船", "spaceship"]
                    .iter()
                    .all(|typed| names(typed).contains(&"glider"))
            );
        });
        assert_eq!(names("").len(), SHELF.len());
    }
}
