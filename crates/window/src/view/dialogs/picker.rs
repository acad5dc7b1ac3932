//! What dialogs are laid out in, and finding one of many: the palette, the keys, the menu and the shelf are this,
//! with other items.

use std::sync::LazyLock;

use egui::accesskit::{Node, Role, Toggled};
use egui::text::{LayoutJob, TextFormat};
use egui::*;

use crate::view::style::{Palette, UiRequest, medium, regular, styled, title, truncated};
use Item::*;
use lang::{Language, tr};
use lesson::{EXERCISES, LESSONS};
use life::{Kind, Lattice, Run, SHELF, Shelved, Size};
use session::Switch;
use ui::actions::{Position, Row, Setting, TABLE, search};
use ui::{Action, App, EditAction, ViewAction};

/// What a dialog is laid out with.
#[derive(Clone, Copy)]
pub(crate) struct DialogContext<'a> {
    /// egui's own.
    pub context: &'a Context,
    /// What is shown beneath it.
    pub app: &'a App,
    /// The frame's colours.
    pub palette: &'a Palette,
    /// The whole window, in pixels.
    pub screen: Rect,
    /// Whether nothing lies over it, so that keys are its own.
    pub is_top: bool,
    /// Whether that is so since this frame.
    pub is_new: bool,
}

/// Lays out a dialog with its title and the button that closes it: over the dimmed scene, or beside a place
/// that stays to be seen. Whether it was left: by that button, or by a click beside it.
pub(super) fn dialog(
    cx: DialogContext<'_>,
    (name, words): (&str, &str),
    beside: Option<Rect>,
    width: f32,
    contents: impl FnOnce(&mut Ui),
) -> bool {
    let modal = Modal::new(Id::unique(name));
    let (align, to, modal) = match beside {
        None => (
            Align2::CENTER_TOP,
            vec2(0.0, 0.03 * cx.screen.height()),
            modal,
        ),
        Some(place) => {
            let faint = cx.palette.background.gamma_multiply(0.15);
            let below = place.left_bottom().to_vec2();
            (Align2::LEFT_TOP, below, modal.backdrop_color(faint))
        }
    };
    let area = Modal::default_area(Id::unique(name)).anchor(align, to);
    let modal = modal.area(area).show(cx.context, |ui| {
        cx.context.accesskit_node_builder(ui.unique_id(), |node| {
            node.set_role(Role::Dialog);
            node.set_label(words);
        });
        ui.set_width(width.min(0.95 * cx.screen.width()));
        let words = RichText::new(words).heading();
        title(ui, words, ViewAction::Escape, |ui| ui.close());
        contents(ui);
    });
    modal.backdrop_response.clicked() || modal.response.should_close()
}

/// Gives a widget the keys. Asking again in each frame would end what an input method composes.
pub(super) fn hold_focus(widget: &Response) {
    if !widget.has_focus() {
        widget.request_focus();
    }
}

/// An item's height: in one column, in several, and with a pattern's picture.
pub(super) const LINE: f32 = 24.0;
const DENSE: f32 = 17.0;
const PICTURE: f32 = 64.0;
/// The width of the column of lessons' names.
const NAME: f32 = 180.0;
/// How many lines the page keys go.
const PAGE: isize = 13;

/// Something that can be picked. Most of a list is not seen: what is said of one is made where it is seen,
/// or searched.
#[derive(Clone, Copy)]
pub(super) enum Item {
    /// A row of the action table.
    Acts(&'static Row),
    /// A position of a setting, which is named unless it stands above.
    Sets(Option<Setting>, Position),
    /// A pattern of the shelf, and one with its picture.
    Pattern(&'static Shelved),
    Picture(&'static Shelved),
    /// The lecture of this place among those that can be begun.
    Lecture(usize),
    /// The lesson of this place in their list.
    Lesson(usize),
    /// The exercise of this place among them, and whether it is solved.
    Exercise(usize, bool),
}

impl Item {
    /// What is asked for.
    pub(super) fn request(self) -> UiRequest {
        match self {
            Acts(row) => UiRequest::Act(row.action),
            Sets(_, position) => UiRequest::Act(position.action.into()),
            Pattern(shelved) | Picture(shelved) => UiRequest::Shelved(shelved),
            Lecture(at) => UiRequest::Lecture(at),
            Lesson(at) => UiRequest::Lesson(at),
            Exercise(at, _) => UiRequest::Exercise(at),
        }
    }

    /// What it does; beside a picture the pattern's name, as its finder wrote it.
    fn text(self, it: &App) -> String {
        match self {
            Acts(row) => row.help().into(),
            Sets(setting, position) => {
                let status = it.status.as_ref();
                let text = status.map_or(String::new(), |it| position.text(it));
                match setting {
                    Some(setting) => format!("{} {text}", setting.title()),
                    None => text,
                }
            }
            Picture(shelved) => {
                let name = &SHELF_PICTURES[shelved.name].name;
                format!("{name}: {}", shelved.behaviour)
            }
            Pattern(shelved) => tr!("pattern {}: {}", shelved.name, shelved.behaviour),
            Lecture(at) => it.lectures[at].title.to_string(),
            Lesson(at) => {
                let lesson = &LESSONS[at];
                format!("{}: {}", lesson.name, lang::text(lesson.title))
            }
            Exercise(at, is_solved) => {
                let (name, title) = (EXERCISES[at].name, lang::text(EXERCISES[at].title));
                if is_solved {
                    format!("{name}: {}", tr!("{title} (solved)"))
                } else {
                    format!("{name}: {title}")
                }
            }
        }
    }

    /// What it belongs to: what stands above the first of several, where a list has headings.
    fn group(self) -> &'static str {
        match self {
            Acts(row) => row.topic.title(),
            Picture(shelved) => kind_title(shelved.kind()),
            Lecture(_) => tr!("Lectures"),
            Lesson(_) => tr!("Lessons"),
            Exercise(..) => tr!("Exercises"),
            Sets(..) | Pattern(_) => "",
        }
    }

    /// Whether it is on, where it switches something.
    pub(super) fn is_on(self, it: &App) -> Option<bool> {
        match self {
            Acts(row) => row.is_on(it),
            Sets(_, position) => Some(position.is_on),
            _ => None,
        }
    }

    /// The present position of what it switches or sets, or what it is; empty where there is none.
    fn position(self, it: &App) -> String {
        match self {
            Acts(row) => row.position_in_words(it).unwrap_or_default(),
            Lecture(_) | Lesson(_) | Exercise(..) => self.group().into(),
            _ => String::new(),
        }
    }

    /// Why it is impossible now.
    fn unavailable(self, it: &App) -> Option<String> {
        match self {
            Acts(row) => row.action.unavailable(it),
            Sets(_, position) => Action::from(position.action).unavailable(it),
            Pattern(_) | Picture(_) => Action::from(EditAction::ToggleShelf).unavailable(it),
            Lecture(_) | Lesson(_) | Exercise(..) => None,
        }
    }

    /// The height of its line in a list of this many columns.
    fn height(self, columns: usize) -> f32 {
        match self {
            Picture(_) => PICTURE,
            _ if columns > 1 => DENSE,
            _ => LINE,
        }
    }

    /// How far it is from what was typed, if it can be meant: in the reader's language, or in English. Of a
    /// listed pattern, whether only other words than its name say so.
    fn cost(self, words: &[String], it: &App) -> Option<(u32, bool)> {
        let text = self.text(it);
        let also = || match self {
            Picture(shelved) => {
                let author = &SHELF_PICTURES[shelved.name].author;
                let (kind, behaviour) = (self.group(), shelved.behaviour);
                format!("{} {author} {kind} {behaviour}", shelved.name)
            }
            _ => self.text(it),
        };
        let english = lang::with(Language::English, also);
        let search = match self {
            Acts(row) => row.search,
            Lecture(_) => "lecture 讲座",
            Lesson(_) => "lesson 课程",
            Exercise(..) => "exercise 练习",
            _ => "",
        };
        let cost = search::cost(words, &[&text, &also(), &english], search)?;
        let is_named = || search::cost(words, &[&text], "") == Some(cost);
        Some((cost, matches!(self, Picture(_)) && !is_named()))
    }
}

/// Everything that can be asked for: the action table, each position of a switch, each kernel, pattern,
/// lecture, lesson and exercise.
pub(super) fn commands(it: &App) -> Vec<Item> {
    let mut items = Vec::from_iter(TABLE.iter().map(Acts));
    if let Some(status) = &it.status {
        let switches = Switch::ALL.into_iter().map(Setting::Switch);
        let settings = [Setting::Kernel].into_iter().chain(switches);
        for setting in settings.chain([Setting::Pace]) {
            let choices = setting.choices(status).into_iter();
            items.extend(choices.map(|it| Sets(Some(setting), it)));
        }
    }
    items.extend(SHELF.iter().map(Pattern));
    items.extend(lessons(it));
    items
}

/// The lectures, then the lessons, then the exercises with whether they are solved.
pub(super) fn lessons(it: &App) -> impl Iterator<Item = Item> {
    let lectures = (0..it.lectures.len()).map(Lecture);
    let exercises = EXERCISES.iter().enumerate();
    let exercises = exercises.map(|(at, exercise)| Exercise(at, it.progress.is_solved(exercise)));
    let lessons = (0..LESSONS.len()).map(Lesson);
    lectures.chain(lessons).chain(exercises)
}

/// The patterns of a kind, or of all kinds, in the order of their kinds.
pub(super) fn patterns(kind: Option<Kind>) -> Vec<Item> {
    let kinds = Kind::ALL.into_iter();
    let kinds = kinds.filter(|one| kind.is_none_or(|only| only == *one));
    let of = |kind| SHELF.iter().filter(move |shelved| shelved.kind() == kind);
    kinds.flat_map(of).map(Picture).collect()
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
                cells: picture.runs().collect(),
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
        has_headings: bool,
        items: impl Fn(usize) -> Vec<Item>,
    ) -> (bool, Option<UiRequest>) {
        let it = cx.app;
        let mut picked = None;
        let width = if column.is_finite() { 1240.0 } else { 720.0 };
        let left = dialog(cx, (title, title), None, width, |ui| {
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
            let hint = tr!("Type to search");
            let field = TextEdit::singleline(&mut self.typed).hint_text(hint);
            let field = field.desired_width(f32::INFINITY).margin(vec2(9.0, 5.0));
            let field = ui.add(field).accessible_name(hint);
            if cx.is_top {
                hold_focus(&field);
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
            let found = found(items(self.tab), &self.typed, it, has_headings);
            let found = in_columns(&found, columns);
            let by = across + down * columns as isize;
            let last = found.len().saturating_sub(1);
            self.chosen = self.chosen.saturating_add_signed(by).min(last);
            let moves = self.seen.replace(self.chosen) != Some(self.chosen);
            // Of one height, whatever is found and in each tab: nothing moves while one types.
            let most = if has_headings {
                f32::INFINITY
            } else {
                let of_tabs = (0..tabs.len().max(1)).map(|tab| items(tab).len());
                of_tabs.max().unwrap_or(0) as f32 * LINE
            };
            let height = most.min(0.97 * cx.screen.height() - 150.0);
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
                if columns > 1 {
                    // A small window, too, has room for all of them.
                    let style = ui.style_mut();
                    style.override_font_id = Some(regular(13.5));
                    style.spacing.interact_size.y = 0.0;
                    style.spacing.button_padding.x = 2.0;
                }
                let mut at = 0;
                for group in found.chunk_by(|a, b| !has_headings || a.group() == b.group()) {
                    if has_headings {
                        let heading = medium(16.0);
                        ui.label(styled(group[0].group(), heading, cx.palette.accent));
                    }
                    let mut unseen = 0.0;
                    for row in group.chunks(columns) {
                        let height = row[0].height(columns);
                        let corner = ui.cursor().min + vec2(0.0, unseen);
                        let place = Rect::from_min_size(corner, vec2(width, height));
                        let size = place.size();
                        let has_chosen = (at..at + row.len()).contains(&self.chosen);
                        // Laid out only where it is seen or read: there are hundreds, in each frame.
                        if !is_read && !has_chosen && !ui.is_rect_visible(place) {
                            unseen += height;
                            at += row.len();
                            continue;
                        }
                        ui.add_space(std::mem::take(&mut unseen));
                        let mut show_row = |ui: &mut Ui| {
                            for &item in row {
                                let is_chosen = at == self.chosen;
                                at += 1;
                                let chosen = Some(is_chosen);
                                let line = show_item(ui, cx, item, has_headings, chosen, size);
                                if is_chosen {
                                    let is_at = |node: &mut Node| {
                                        node.set_active_descendant(line.id.accesskit_id());
                                    };
                                    ui.ctx().accesskit_node_builder(field.id, is_at);
                                    if moves {
                                        line.scroll_to_me(None);
                                    }
                                }
                                if line.clicked() || entered && is_chosen && line.enabled() {
                                    picked = Some(item.request());
                                }
                            }
                        };
                        if columns == 1 {
                            show_row(ui);
                        } else {
                            ui.horizontal(show_row);
                        }
                    }
                    ui.add_space(unseen);
                }
            });
            let (said, colour) = match found.get(self.chosen).map(|item| item.unavailable(it)) {
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

/// Groups row by row, as they are laid out, so that each is read down one column and then the next.
fn in_columns(found: &[Item], columns: usize) -> Vec<Item> {
    let groups = found.chunk_by(|a, b| columns == 1 || a.group() == b.group());
    let rows = groups.flat_map(|group| {
        let (whole, rest) = (group.len() / columns, group.len() % columns);
        (0..group.len()).map(move |at| {
            let (column, row) = (at % columns, at / columns);
            group[column * whole + column.min(rest) + row]
        })
    });
    rows.collect()
}

/// The items that have every typed word, the best first, possible ones before others, each group together
/// where there are headings; all in their order where nothing is typed.
fn found(items: Vec<Item>, typed: &str, it: &App, has_headings: bool) -> Vec<Item> {
    let words = search::words(typed);
    if words.is_empty() {
        return items;
    }
    let with_cost = |item: Item| {
        let cost = item.cost(&words, it)?;
        Some(((item.unavailable(it).is_some(), cost), item))
    };
    let mut found: Vec<_> = items.into_iter().filter_map(with_cost).collect();
    found.sort_by_key(|(cost, _)| *cost);
    let mut found: Vec<Item> = found.into_iter().map(|(_, item)| item).collect();
    if has_headings {
        let groups: Vec<_> = found.iter().map(|item| item.group()).collect();
        found.sort_by_key(|item| groups.iter().position(|group| *group == item.group()));
    }
    found
}

/// Lays an item out: a check mark where it is on, what it does, its position and its keys to the right;
/// with the reason as its tooltip where it is impossible. `chosen` says whether the list's own keys are at
/// it; where a list has none, the item takes egui's focus.
pub(super) fn show_item(
    ui: &mut Ui,
    cx: DialogContext<'_>,
    item: Item,
    has_headings: bool,
    chosen: Option<bool>,
    size: Vec2,
) -> Response {
    let (it, palette) = (cx.app, cx.palette);
    let (unavailable, state) = (item.unavailable(it), item.is_on(it));
    let (said, is_possible) = (item.text(it), unavailable.is_none());
    let shelved = match item {
        Picture(shelved) => Some(shelved),
        _ => None,
    };
    // A lesson's name and title stand in columns.
    let named = match item {
        Lesson(_) | Exercise(..) => said.split_once(": "),
        _ => None,
    };
    let words = named.map_or(&*said, |(_, title)| title);
    let text = match shelved {
        Some(shelved) => pattern_text(ui, cx, shelved),
        None if is_possible => RichText::new(words).into(),
        None => RichText::new(words).strikethrough().into(),
    };
    let side = shelved.map_or(16.0, |_| size.y);
    let gap = if size.y < LINE { 4.0 } else { 10.0 };
    let mark = Atom::paint(vec2(side, side), move |ui, face| match shelved {
        Some(shelved) => paint_pattern(ui, face.rect, shelved, palette.accent),
        None if state == Some(true) => {
            let at = |x, y| face.rect.min + vec2(x, y) * (side / 16.0);
            let tick = [at(3.5, 8.5), at(6.5, 11.5), at(12.5, 4.5)];
            let stroke = Stroke::new(1.6, face.fallback_text_color);
            ui.painter().add(Shape::line(tick.into(), stroke));
        }
        None => {}
    });
    let value = match item {
        _ if has_headings => String::new(),
        _ => item.position(it),
    };
    let keys = match item {
        Acts(row) => row.keys(),
        _ => String::new(),
    };
    let position = RichText::new(&value).color(palette.label).small();
    let keys = RichText::new(keys).color(palette.accent);
    let mut parts = Atoms::new(mark);
    if let Some((name, _)) = named {
        let name = RichText::new(name).font(medium(15.0));
        parts.push_right(
            name.atom_size(vec2(NAME, 18.0))
                .atom_align(Align2::LEFT_CENTER),
        );
    }
    parts.extend_right(Atoms::new((
        text.atom_shrink(true),
        Atom::grow(),
        position,
        keys,
    )));
    let button = match chosen {
        Some(true) => Button::selectable(true, parts).sense(Sense::CLICK),
        Some(false) => Button::new(parts)
            .frame_when_inactive(false)
            .sense(Sense::CLICK),
        None => Button::new(parts).frame_when_inactive(false),
    };
    let button = button.wrap().gap(gap).min_size(size);
    // By what it says: its number is another one while those before it are not found.
    let line = ui.push_id(&said, |ui| {
        ui.set_max_width(size.x);
        ui.add_enabled(is_possible, button)
    });
    let line = line.inner;
    ui.ctx().accesskit_node_builder(line.id, |node| {
        node.set_label(said);
        match state {
            Some(is_on) => node.set_toggled(Toggled::from(is_on)),
            None => node.clear_toggled(),
        }
        if !value.is_empty() {
            node.set_value(value);
        }
        if let Some(why) = &unavailable {
            node.set_description(why.as_str());
        }
    });
    match unavailable {
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

fn paint_pattern(ui: &Ui, square: Rect, shelved: &Shelved, colour: Color32) {
    let picture = &SHELF_PICTURES[shelved.name];
    let [across, down] = [picture.size.width, picture.size.height].map(|it| it as f32);
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
    use crate::view::gallery::with_screen;

    /// What is meant comes first: of each of these words, the best three in the palette and on the shelf.
    #[test]
    fn words_find_what_is_stored() {
        let words = "next ker|lesson graphs|exercise overlap|gosper|streams|streams batch|batch: one launch|\
            screenshot|截图|gif|动图|speed|速度|rotate|旋转|trail|拖尾|restart|重启|exit|退出|gpu|显卡|\
            zoom|缩放|dark|深色|random|随机|pinned|页锁定|glider|图案库|spaceships|飞船|xyzzy";
        let mut said = String::new();
        for language in [Language::English, Language::Chinese] {
            for typed in words.split('|') {
                let both = || {
                    with_screen("panels", |frame| {
                        let it = frame.app;
                        let commands = commands(it);
                        [(commands, false), (patterns(None), true)].map(|(items, has_headings)| {
                            let found = found(items, typed, it, has_headings).into_iter();
                            Vec::from_iter(found.take(3).map(|item| item.text(it)))
                        })
                    })
                };
                let both = test_support::with(language, both);
                said += &format!("{typed}: {both:?}\n");
            }
        }
        test_support::compare_with_stored("found.txt", &said);
    }
}
