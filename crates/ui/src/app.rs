//! What the user has chosen to see, and the notices: the state that window and terminal share.

use crate::actions::{Chord, Key};
use crate::picture::{LiveArea, live_area};
use crate::{
    Action, Drawing, EditOverlay, EmergencySave, Lecture, LectureOptions, LecturePanel, LectureRun,
    Lessons, Notes, Population, SidePanel, Timeline, Tool, ViewAction, ViewOptions, say_last,
    theme,
};
use lang::{Message, message, tr};
use lesson::{ExerciseProgress, Lesson};
use life::Size;
use session::{
    DeviceChoice, NOTICE_TIME, NotSaved, Picture, PicturePlan, PictureSource, SavedSession,
    Session, SessionAction, Status,
};
use std::fs::File;
use std::io;
use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Instant;

use ViewAction::*;

/// Wakes the window because something has changed; cheap, from any thread.
pub type Wake = Arc<dyn Fn() + Send + Sync>;

/// How a window or a terminal begins.
#[derive(Clone, Default)]
pub struct AppOptions {
    /// What is to be seen.
    pub view: ViewOptions,
    /// The lecture to open.
    pub lecture: Option<LectureOptions>,
    /// The lectures that can be begun.
    pub lectures: Vec<Lecture>,
    /// End after this many frames.
    pub frames: Option<u64>,
    /// Whether the session ends by itself.
    pub limited: bool,
}

/// What window and terminal share, whatever paints it: the session that they drive, what is to be
/// seen of it, lessons and the present notice. Nothing here waits, and nothing knows pixels.
pub struct App {
    /// The session; `None` while it starts.
    pub session: Option<Session>,
    /// Its figures, as of the last [look](App::look).
    pub status: Option<Arc<Status>>,
    /// What the person has chosen to see.
    pub options: ViewOptions,
    /// The lesson that is open.
    pub lessons: Lessons,
    /// The lecture, open or closed.
    pub lecture: Option<LectureRun>,
    /// The lectures that can be begun.
    pub lectures: Vec<Lecture>,
    /// What is solved of the exercises, as far as this front end knows.
    pub progress: ExerciseProgress,
    /// Saves the session and recordings where a signal ends the program.
    pub emergency_save: Arc<EmergencySave>,
    /// What is known about drawing, and the present notice.
    pub drawing: Drawing,
    /// What a person's hand has put over a window's panels.
    pub edit_overlay: EditOverlay,
    /// Whether a window shows it, which can do more than a terminal.
    pub in_window: bool,
    /// End after this many frames.
    pub frames: Option<u64>,
    limited: bool,
    /// Whether the lecture was a presentation when it was closed.
    was_presented: bool,
    /// Measured while [`ViewOptions::side`] says that the graph is shown.
    pub population: Population,
    /// Has what is newer while [`ViewOptions::timeline`] says that it is shown.
    pub timeline: Timeline,
    /// When the notice goes.
    notice_until: Option<Instant>,
    /// The pictures that the session was asked for last.
    requested: Option<PicturePlan>,
    /// The size and the number of the lattices, as of the last look.
    grid: Option<(Size, usize)>,
}

impl App {
    /// With no session yet; a lecture begins with it. `wake` is called when a lesson has something new to
    /// show.
    pub fn new(options: AppOptions, wake: Wake, emergency_save: Arc<EmergencySave>) -> App {
        App {
            session: None,
            status: None,
            options: options.view,
            lessons: Lessons::new(wake),
            lecture: options.lecture.map(LectureRun::new),
            lectures: options.lectures,
            progress: ExerciseProgress::default(),
            emergency_save,
            drawing: Drawing::default(),
            edit_overlay: EditOverlay::default(),
            in_window: false,
            frames: options.frames,
            limited: options.limited,
            was_presented: false,
            population: Population::default(),
            timeline: Timeline::default(),
            notice_until: None,
            requested: None,
            grid: None,
        }
    }

    /// Takes over a session; a lecture begins.
    pub fn start(&mut self, session: Session) {
        session.offer_recorded_rounds();
        self.session = Some(session);
        self.requested = None;
        self.look();
        self.show_first_step();
    }

    /// Ends the session; one with a file is saved there.
    ///
    /// # Errors
    /// It is not saved in its file, or what a lecture leaves is not saved in its own.
    pub fn end(&mut self) -> Result<(), NotSaved> {
        let page = self.close_lecture();
        let lost = self.lecture.as_mut().and_then(|it| it.unsaved.take());
        if let (Some(page), None) = (page, &lost) {
            say_last(vec![page.to_string()]);
        }
        let session = self.session.take();
        let saved = session.map_or(Ok(()), |session| self.emergency_save.save_at_end(session));
        match (saved, lost) {
            (Ok(()), lost) => lost.map_or(Ok(()), Err),
            (Err(why), lost) => {
                say_last(lost.iter().map(NotSaved::to_string).collect());
                Err(why)
            }
        }
    }

    /// Has the session's newest figures.
    pub fn look(&mut self) {
        if let Some(session) = &self.session {
            self.status = Some(session.status());
        }
    }

    /// Why the frames or rounds that were asked for will never be through, if that is so.
    pub fn gives_up(&self) -> Option<&str> {
        let status = self.status.as_ref()?;
        let is_limited = self.limited || self.frames.is_some();
        let why = status.gives_up();
        why.filter(|_| is_limited && !status.clock.finished)
    }

    /// The one instance that is drawn, or all.
    pub fn single_instance(&self) -> Option<usize> {
        self.options.single_instance(self.status.as_ref()?)
    }

    /// The area of the live cells of the selected lattice's newest picture.
    pub fn pattern(&self) -> Option<LiveArea> {
        let status = self.status.as_ref()?;
        let size = status.lattices.size;
        let look = |picture: &Picture, words: &[u32]| {
            let is_its = picture.region.is_some() || words.len() == size.words();
            is_its.then(|| live_area(picture, size, words))?
        };
        self.look_at(status.panels.selected, look)
    }

    /// What `look` finds in the newest picture of an instance.
    pub fn look_at<T>(
        &self,
        instance: usize,
        mut look: impl FnMut(&Picture, &[u32]) -> Option<T>,
    ) -> Option<T> {
        let (session, status) = (self.session.as_ref()?, self.status.as_ref()?);
        let mut seen = vec![u64::MAX; status.lattices.instances];
        *seen.get_mut(instance)? = 0;
        let mut found = None;
        session.visit_newer(&mut seen, &mut |_, picture, words| {
            found = look(picture, words);
        });
        found
    }

    /// Does a key that moves the camera, for lattices of this size in panels of so many pixels.
    pub fn move_camera(&mut self, action: ViewAction, size: Size, panel: [u32; 2]) {
        let pattern = (action == Fit).then(|| self.pattern()).flatten();
        let camera = &mut self.options.camera;
        let eighth = panel.map(|side| f64::from(side) / 8.0);
        let mut pan = |[x, y]: [f64; 2]| camera.pan([x * eighth[0], y * eighth[1]], size, panel);
        match action {
            ZoomIn => camera.zoom(1.5, size, panel),
            ZoomOut => camera.zoom(1.0 / 1.5, size, panel),
            PanLeft => pan([1.0, 0.0]),
            PanRight => pan([-1.0, 0.0]),
            PanUp => pan([0.0, 1.0]),
            PanDown => pan([0.0, -1.0]),
            Fit => camera.toggle_fit(size, panel, pattern),
            _ => {}
        }
    }

    /// Takes over what is newer, of what is shown; waits for nothing.
    pub fn update(&mut self) {
        let (Some(session), Some(status)) = (&self.session, &self.status) else {
            return;
        };
        if self.options.side == Some(SidePanel::Population) {
            self.population.update(session, status, &self.options);
        }
        if self.options.timeline {
            self.timeline.update(session);
            self.timeline.judge(status, &self.drawing);
        }
        self.lessons.update();
        if let Some(lecture) = &mut self.lecture {
            lecture.update(status, session);
        }
        self.drawing.lecture = self.lecture.as_ref().and_then(LectureRun::screen);
    }

    /// Shows a sentence for some seconds.
    pub fn show_notice(&mut self, notice: impl Into<Message>) {
        let notice = notice.into();
        tracing::debug!("notice: {notice}");
        self.drawing.notice = Some(notice);
        self.notice_until = Some(Instant::now() + NOTICE_TIME);
    }

    /// Takes a notice away that has stood long enough; when the present one goes.
    pub fn expire_notice(&mut self, now: Instant) -> Option<Instant> {
        let until = self.notice_until.filter(|until| *until > now);
        if until.is_none() {
            (self.notice_until, self.drawing.notice) = (None, None);
        }
        until
    }

    /// Tells the session which pictures are drawn, if that has changed.
    pub fn request_view(&mut self, plan: PicturePlan) {
        if let Some(session) = &self.session
            && self.requested != Some(plan)
        {
            session.request_view(plan);
            self.requested = Some(plan);
        }
    }

    /// Opens a saved session in place of the present one; a notice says so with the `name` of its file.
    pub fn open_session(&mut self, saved: SavedSession, name: String) {
        self.close_lesson(); // it would go on with the former session
        if let Some(session) = &self.session {
            session.open(saved, name);
        }
    }

    /// Whether the lattices are of another size or number than at the last look. The camera follows, and
    /// what the session was asked for last no longer counts.
    pub fn notice_other_grid(&mut self) -> bool {
        self.look();
        let Some(status) = &self.status else {
            return false;
        };
        let now = (status.lattices.size, status.lattices.instances);
        let before = self.grid.replace(now).filter(|before| *before != now);
        if let Some((size, _)) = before {
            self.requested = None;
            self.options.camera.follow_resize(size, now.0);
        }
        before.is_some()
    }

    /// Does what a person asked for, or says why it is impossible. What only the front end can do is given
    /// back to it.
    pub fn act(&mut self, action: impl Into<Action>) -> Option<Action> {
        let action = action.into();
        self.look();
        if let Some(why) = action.refused(self) {
            self.show_notice(why);
            return None;
        }
        let options = &mut self.options;
        match action {
            Action::Session(SessionAction::ToggleBlockTimestamps) => self.toggle_block_timestamps(),
            Action::Session(action) => self.send(action),
            Action::View(view) => match view {
                ToggleSingle => options.single ^= true,
                ToggleMinimap => options.hides_minimap ^= true,
                ToggleCauses => self.toggle_side(SidePanel::Causes),
                ToggleLab => self.toggle_side(SidePanel::Lab),
                ToggleLadder => self.toggle_side(SidePanel::Ladder),
                ToggleSource => self.toggle_source(),
                TogglePopulation => self.toggle_side(SidePanel::Population),
                TogglePopulationOfAll => {
                    options.population_of_all ^= true;
                    if options.side != Some(SidePanel::Population) {
                        self.toggle_side(SidePanel::Population);
                    }
                }
                MeasureSpeedup => self.with_lessons(Lessons::measure_speedup),
                MeasureAgain => self.with_lessons(Lessons::measure_again),
                ToggleLecture if self.lecture.is_some() => self.toggle_lecture(),
                NextPage => self.turn_page(true),
                PreviousPage => self.turn_page(false),
                Predict(choice) => self.predict(choice.into()),
                NextTheme => {
                    options.theme = (options.theme + 1) % theme::COUNT;
                    let title = theme::theme(options.theme).title;
                    self.show_notice(message!("Theme: {title}", title = lang::text(title)));
                }
                TogglePresentation => options.presentation ^= true,
                NextLanguage => lang::set(lang::language().other()),
                Escape => return self.escape(),
                _ => return Some(action),
            },
            Action::Edit(_) => return Some(action),
        }
        None
    }

    /// Hands an action to the session.
    pub fn send(&self, action: SessionAction) {
        if let Some(session) = &self.session {
            session.act(action);
        }
    }

    /// Leaves the topmost of what lies over the plain window or terminal, and no other; what remains for
    /// the front end to do. Its dialogs lie over all of it. It never quits.
    fn escape(&mut self) -> Option<Action> {
        let (overlay, options) = (&mut self.edit_overlay, &mut self.options);
        if self.lessons.screen().is_some() {
            self.close_lesson(); // it covers all others
        } else if overlay.ghost.take().is_some() || overlay.selection.take().is_some() {
        } else if overlay.tool != Tool::Hand {
            overlay.tool = Tool::Hand;
        } else if options.shown_source().is_some() {
            options.source = None;
        } else if let Some(side) = options.side {
            self.toggle_side(side); // a terminal's lies over the timeline
        } else if options.timeline {
            return Some(ToggleTimeline.into());
        } else if options.single {
            options.single = false;
        } else if self.open_lecture().is_some() {
            self.end_lecture();
        } else if self.options.presentation {
            self.options.presentation = false;
        } else if self.drawing.fullscreen {
            return Some(ToggleFullscreen.into());
        }
        None
    }

    /// Times blocks or not; the timeline is where that shows.
    fn toggle_block_timestamps(&mut self) {
        let is_on = self
            .status
            .as_ref()
            .is_some_and(|it| it.lab.block_timestamps);
        if self.options.timeline || !is_on {
            self.send(SessionAction::ToggleBlockTimestamps);
        }
        self.show_timeline(true);
    }

    /// Opens or closes the timeline; overlap is measured only while it is open. What is said of the
    /// round in it closes with it, and blocks are timed no more.
    pub fn show_timeline(&mut self, shown: bool) {
        self.options.timeline = shown;
        if !shown && self.options.side == Some(SidePanel::Causes) {
            self.options.side = None;
        }
        if let Some(session) = &self.session {
            session.watch_overlap(shown);
            if !shown && session.status().lab.block_timestamps {
                session.act(SessionAction::ToggleBlockTimestamps);
            }
        }
    }

    /// Opens a side panel in place of the one shown, or closes it. Populations are measured only
    /// while their graph is shown.
    pub fn toggle_side(&mut self, panel: SidePanel) {
        let was_watched = self.options.side == Some(SidePanel::Population);
        self.options.toggle_side(panel);
        let is_watched = self.options.side == Some(SidePanel::Population);
        if let (true, Some(session)) = (was_watched != is_watched, &self.session) {
            session.watch_population(is_watched);
        }
        if let Some(SidePanel::Causes | SidePanel::Editor) = self.options.side {
            self.show_timeline(true);
        }
    }

    /// Shows the present kernel's source in the ladder, or closes the source that is shown.
    fn toggle_source(&mut self) {
        let is_shown = self.options.shown_source().is_some();
        if self.options.side != Some(SidePanel::Ladder) {
            self.toggle_side(SidePanel::Ladder);
        }
        let status = self.status.as_ref().filter(|_| !is_shown);
        self.options.source = status.map(|status| status.setting.kernel.index());
    }

    /// What a key asks for while a lesson or a lecture is open, given what it asks for otherwise: arrow
    /// keys, Page Up and Page Down go from step to step, digits predict, M measures a lesson again, and the
    /// keys that run the session, which is paused while a lesson is open, go one step on. What else a
    /// presenter's remote sends does nothing.
    pub fn remap_key(&self, chord: Chord, action: Option<Action>) -> Option<Action> {
        use Key::*;
        let is_page = self.lessons.screen().is_some();
        let choices = match self.open_lecture() {
            _ if chord.ctrl => return action,
            _ if is_page => 9,
            Some(lecture) => lecture.step().choices.len(),
            None => return action,
        };
        let remapped = match chord.key {
            PageDown | Right => NextPage,
            PageUp | Left => PreviousPage,
            Space | Enter if is_page => NextPage,
            F(5) | Char('.' | 'B') => return None,
            Char('M') if is_page => MeasureAgain,
            Char(digit @ '1'..='9') if usize::from(digit as u8 - b'0') <= choices => {
                Predict(digit as u8 - b'1')
            }
            _ => return action,
        };
        Some(remapped.into())
    }

    /// The lecture, if it is open.
    pub fn open_lecture(&self) -> Option<&LectureRun> {
        self.lecture.as_ref().filter(|lecture| lecture.is_open)
    }

    /// One step of a lesson, or, behind its last one, of the lecture forward or back. After a lesson that is
    /// not the lecture's, the lecture goes on where it was.
    pub fn turn_page(&mut self, forward: bool) {
        let turn = |lessons: &mut Lessons, session: &Session| lessons.turn_page(session, forward);
        let page = self.lessons.page(forward);
        let Some(lecture) = self.open_lecture() else {
            return self.with_lessons(turn);
        };
        let by = if forward { 1 } else { -1 };
        let is_lectures = |(lesson, _)| lecture.step().has_lesson(lesson);
        match page {
            Some((_, true)) => self.with_lessons(turn),
            Some(page) if !is_lectures(page) => self.show_step(0),
            _ if lecture.has_step(forward) => self.show_step(by),
            _ if forward => self.end_lecture(),
            _ => {}
        }
    }

    /// Takes one of the choices of the open lesson, or else of the lecture, for what the class predicts.
    pub fn predict(&mut self, choice: usize) {
        match &mut self.lecture {
            Some(lecture) if self.lessons.screen().is_none() => lecture.predict(choice),
            _ => self.lessons.predict(choice),
        }
    }

    /// Takes the lecture up where it was left, or leaves it.
    pub fn toggle_lecture(&mut self) {
        match self.open_lecture() {
            Some(_) => self.end_lecture(),
            None => {
                self.options.presentation |= self.was_presented;
                self.show_step(0);
            }
        }
    }

    /// Begins a lecture in place of another one, as a presentation.
    pub fn begin_lecture(&mut self, at: usize) {
        self.end_lecture();
        // A terminal that is the screen takes no notes.
        let notes = if self.in_window {
            Notes::Stdout
        } else {
            Notes::Nowhere
        };
        self.lecture = Some(LectureRun::new(LectureOptions {
            lecture: self.lectures[at].clone(),
            notes,
            report: None,
        }));
        self.options.presentation = self.in_window;
        self.show_first_step();
    }

    /// Where no GPU was found, rounds recorded on one show more than a CPU, if those of all steps are; J goes
    /// back to measurements. Who chose the CPU by an option gets it.
    fn show_first_step(&mut self) {
        if let (Some(lecture), Some(it)) = (&self.lecture, &self.session)
            && it.device() == DeviceChoice::Auto
            && it.status().engine.is_cpu()
            && lecture.is_recorded()
        {
            it.act(SessionAction::ToggleRecorded);
        }
        self.show_step(0);
    }

    /// Shows the step that is `by` steps away, in place of what is open.
    fn show_step(&mut self, by: isize) {
        self.close_lesson();
        let (Some(lecture), Some(session)) = (&mut self.lecture, &self.session) else {
            return;
        };
        let given = lecture.go(by, session);
        let lesson = lecture.step().lesson;
        let shows = lecture.shows().map(<[_]>::to_vec);
        if let Some(lesson) = lesson {
            self.open_lesson(lesson);
        }
        if let Some(shows) = shows {
            self.show_timeline(shows.contains(&LecturePanel::Timeline));
            let side = shows.iter().find_map(|panel| match panel {
                LecturePanel::Timeline => None,
                LecturePanel::Lab => Some(SidePanel::Lab),
                LecturePanel::Ladder => Some(SidePanel::Ladder),
            });
            if let Some(other) = side
                .or(self.options.side)
                .filter(|_| side != self.options.side)
            {
                self.toggle_side(other); // opens the one, or closes the other
            }
        }
        if let Some(notice) = given {
            self.show_notice(notice);
        }
    }

    /// Opens a lesson in place of what is open.
    pub fn open_lesson(&mut self, lesson: &'static Lesson) {
        self.close_lesson();
        self.with_lessons(|lessons, session| lessons.open(session, lesson));
    }

    /// Closes what is open of lessons, and keeps what was answered in the lecture's.
    pub fn close_lesson(&mut self) {
        if let (Some(lecture), Some((lesson, _))) = (&mut self.lecture, self.lessons.page(true)) {
            lecture.note_lesson(lesson, self.lessons.answer());
        }
        self.with_lessons(Lessons::close);
    }

    /// Leaves the lecture; behind its last step a page closes it, if there is anything to say.
    fn end_lecture(&mut self) {
        if let Some(saved) = self.close_lecture() {
            self.show_notice(saved);
            let ended = self.lecture.as_ref().filter(|it| !it.has_step(true));
            if let Some(page) = ended.map(LectureRun::summary) {
                self.with_lessons(|lessons, _| lessons.show_page(Box::new(page)));
            }
        }
    }

    /// Leaves the lecture; what to tell the speaker.
    fn close_lecture(&mut self) -> Option<Message> {
        self.close_lesson();
        self.was_presented = self.options.presentation;
        self.lecture.as_mut()?.close()
    }

    /// Does something with the lessons, once there is a session that pauses for them.
    pub fn with_lessons(&mut self, does: impl FnOnce(&mut Lessons, &Session)) {
        if let Some(session) = &self.session {
            does(&mut self.lessons, session);
            self.lessons.update();
        }
    }
}

impl Drop for App {
    /// A session with a file is saved, also where a panic or an error ends the front end.
    fn drop(&mut self) {
        if let Err(why) = self.end() {
            say_last(vec![why.to_string()]);
        }
    }
}

// Whether this process can open the files that a window or a terminal needs.

/// More files than a window or a terminal opens before it is shown.
const NEEDED_FILES: usize = 16;

/// Checks that this process can open the files that a window or a terminal needs; their libraries
/// panic or wait for ever where they can open none.
///
/// # Errors
/// The limit of open files is too low: the reason and the remedy.
pub fn check_open_files() -> Result<(), String> {
    let opened = (0..NEEDED_FILES).map(|_| File::open("/dev/null"));
    match opened.collect::<io::Result<Vec<_>>>() {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(tr!(
            "this process cannot open {count} more files; raise its limit with 'ulimit -n 1024'",
            count = NEEDED_FILES
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A window's, without a session.
    fn app() -> App {
        let mut app = App::new(AppOptions::default(), Arc::new(|| {}), Arc::default());
        app.in_window = true;
        app
    }

    #[test]
    fn escape_leaves_one_layer_after_another_from_the_top() {
        let mut app = app();
        let pattern = life::Lattice::new(Size::new(2, 2).unwrap());
        app.edit_overlay.ghost = Some(crate::Ghost {
            pattern: pattern.into(),
            at: None,
        });
        app.edit_overlay.selection = Some((0, session::Area::whole(Size::new(2, 2).unwrap())));
        app.edit_overlay.tool = Tool::Pencil;
        app.options = ViewOptions {
            timeline: true,
            side: Some(SidePanel::Ladder),
            source: Some(1),
            single: true,
            presentation: true,
            ..ViewOptions::default()
        };
        app.drawing.fullscreen = true;
        let open = |app: &App| {
            let (overlay, options) = (&app.edit_overlay, &app.options);
            [
                overlay.ghost.is_some(),
                overlay.selection.is_some(),
                overlay.tool != Tool::Hand,
                options.source.is_some(),
                options.side.is_some(),
                options.timeline,
                options.single,
                options.presentation,
                app.drawing.fullscreen,
            ]
        };
        for left in 0..9 {
            let still_open = std::array::from_fn(|layer| layer >= left);
            assert_eq!(open(&app), still_open);
            match app.act(ViewAction::Escape) {
                Some(Action::View(ViewAction::ToggleTimeline)) => app.show_timeline(false),
                Some(Action::View(ViewAction::ToggleFullscreen)) => app.drawing.fullscreen = false,
                rest => assert_eq!(rest, None),
            }
        }
        assert_eq!(open(&app), [false; 9]);
        assert_eq!(app.act(ViewAction::Escape), None, "nothing is open");
    }
}
