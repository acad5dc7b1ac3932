//! A section is made anew when its source has changed.

use super::*;
use crate::fixtures::{Timed, TimedBefore, comparison, effect, lesson_list, lesson_page, status};
use crate::{LessonScreen, Population, Timeline, ViewOptions};
use life::Size;
use session::{Finding, Switches};

/// A session and what a person sees of it; everything that a screen is made from.
struct Session {
    status: Option<Status>,
    options: ViewOptions,
    drawing: Drawing,
    population: Population,
    timeline: Timeline,
    lesson: Option<LessonScreen>,
    window: Option<WindowFacts>,
}

impl Session {
    /// With all of its sections on screen that can be there at once.
    fn new() -> Session {
        let mut status = status(4, Size::new(64, 64).unwrap());
        status.lab.last_effect = Some(effect());
        let mut timeline = Timeline::default();
        timeline.update(&TimedBefore(4));
        Session {
            status: Some(status),
            options: ViewOptions {
                timeline: true,
                ..ViewOptions::default()
            },
            drawing: Drawing::default(),
            population: Population::default(),
            timeline,
            lesson: Some(LessonScreen::Page(lesson_page(true))),
            window: Some(WindowFacts {
                panel: Some([300, 300]),
                ..WindowFacts::default()
            }),
        }
    }

    fn sources(&self) -> Sources<'_> {
        Sources {
            status: self.status.as_ref(),
            options: &self.options,
            drawing: &self.drawing,
            population: &self.population,
            timeline: &self.timeline,
            lesson: self.lesson.as_ref(),
            window: self.window,
        }
    }

    fn status(&mut self) -> &mut Status {
        self.status.as_mut().unwrap()
    }
}

/// The names of the sections that are there, and what they say.
fn sections(screen: &Screen) -> Vec<(&'static str, String)> {
    fn of(section: &Option<impl std::fmt::Debug>) -> Option<String> {
        section.as_ref().map(|section| format!("{section:?}"))
    }
    let all = [
        ("panels", of(&screen.panels)),
        ("figures", of(&screen.figures)),
        ("finding", of(&screen.finding)),
        ("comparison", of(&screen.comparison)),
        ("overlap", of(&screen.overlap)),
        ("round", of(&screen.round)),
        ("round before", of(&screen.round_before)),
        ("lab", of(&screen.lab)),
        ("ladder", of(&screen.ladder)),
        ("source", of(&screen.source)),
        ("population", of(&screen.population)),
        ("lesson", of(&screen.lesson)),
        ("minimaps", of(&screen.minimaps)),
    ];
    let there = all.into_iter();
    there.filter_map(|(name, at)| Some((name, at?))).collect()
}

/// The sections that a change of the session changes, takes away or adds.
fn changed(session: &mut Session, change: impl FnOnce(&mut Session)) -> Vec<&'static str> {
    let mut composer = Composer::default();
    let before = sections(composer.compose(session.sources()));
    change(session);
    let screen = composer.compose(session.sources()).clone();
    assert_eq!(screen, {
        let revision = screen.revision;
        Screen {
            revision,
            ..Screen::of(session.sources())
        }
    });
    let after = sections(&screen);
    let gone = before.iter().filter(|it| !after.contains(it));
    let mut names: Vec<_> = gone.map(|(name, _)| *name).collect();
    for (name, _) in after.iter().filter(|it| !before.contains(it)) {
        if !names.contains(name) {
            names.push(name);
        }
    }
    names
}

#[test]
fn nothing_is_made_anew_while_nothing_changes() {
    let session = Session::new();
    let mut composer = Composer::default();
    let first = composer.compose(session.sources()).clone();
    assert_eq!(sections(&first).len(), 7, "{:?}", sections(&first));
    let again = composer.compose(session.sources()).clone();
    assert_eq!(again, first);
    let figures = |screen: &Screen| screen.figures.clone().unwrap();
    assert!(
        Arc::ptr_eq(&figures(&again), &figures(&first)),
        "not a copy"
    );
}

#[test]
fn what_changed_is_made_anew_and_nothing_else_differs() {
    let session = &mut Session::new();
    let rounds = |session: &mut Session| session.status().rates.rounds_per_second *= 3.0;
    assert_eq!(changed(session, rounds), ["figures"]);
    // Shown nowhere: the screen was looked at again, and each section is as it was.
    let unseen = |session: &mut Session| session.status().rates.rounds += 1;
    assert_eq!(changed(session, unseen), [""; 0]);
    let notice = |session: &mut Session| session.drawing.notice = Some("saved".into());
    assert_eq!(changed(session, notice), ["figures"]);
    let select = |session: &mut Session| session.status().panels.selected = 2;
    assert_eq!(changed(session, select), ["panels", "figures"]);
    let measured = |session: &mut Session| {
        let effect = session.status().lab.last_effect.as_mut().unwrap();
        effect.finding = Some(Finding::of(1.1, [0.8, 1.5]));
    };
    assert_eq!(changed(session, measured), ["finding"]);
    let turned = |session: &mut Session| session.lesson = Some(lesson_list(3));
    assert_eq!(changed(session, turned), ["lesson"]);
    let timed = |session: &mut Session| {
        session.timeline = Timeline::default();
    };
    assert_eq!(
        changed(session, timed),
        ["overlap", "round", "round before"]
    );
    let closed = |session: &mut Session| session.options.timeline = false;
    assert_eq!(changed(session, closed), ["overlap"]);
    let paused = |session: &mut Session| session.status().clock.running ^= true;
    assert_eq!(changed(session, paused), ["figures"]);
    let zoomed = |session: &mut Session| {
        let (size, panel) = (session.status().lattices.size, [300, 300]);
        session.options.camera.zoom(4.0, size, panel);
    };
    assert_eq!(changed(session, zoomed), ["minimaps"]);
    let resized = |session: &mut Session| {
        session.window.as_mut().unwrap().panel = Some([250, 250]);
    };
    assert_eq!(changed(session, resized), ["minimaps"]);
    for (side, section) in [
        (SidePanel::Lab, "lab"),
        (SidePanel::Ladder, "ladder"),
        (SidePanel::Population, "population"),
    ] {
        session.options.side = None;
        let opened = |session: &mut Session| session.options.side = Some(side);
        let all = changed(session, opened);
        assert!(
            all.contains(&section) && !all.contains(&"figures"),
            "{all:?}"
        );
    }
    let counted = |session: &mut Session| {
        let status = session.status.as_ref().unwrap();
        session
            .population
            .update(&Timed(0), status, &session.options);
    };
    assert_eq!(changed(session, counted), ["population"]);
    let compared = |session: &mut Session| {
        session.status().lab.comparison = Some(comparison(Switches::DEFAULT));
    };
    let all = changed(session, compared);
    assert!(
        all.contains(&"comparison") && all.contains(&"panels"),
        "{all:?}"
    );
}

#[test]
fn another_language_changes_the_words_and_not_the_lanes() {
    let session = Session::new();
    let mut composer = Composer::default();
    let english = composer.compose(session.sources()).clone();
    let chinese = test_support::with(Language::Chinese, || {
        composer.compose(session.sources()).clone()
    });
    let same = |name: &str| {
        let of = |screen: &Screen| sections(screen).into_iter().find(|it| it.0 == name);
        of(&english) == of(&chinese)
    };
    for words in ["figures", "finding", "overlap"] {
        assert!(!same(words), "{words}");
    }
    for plain in ["panels", "round", "round before"] {
        assert!(same(plain), "{plain}");
    }
}
