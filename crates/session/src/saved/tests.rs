//! Sessions go into a file and come back; whatever else is in a file is refused or sound.

use super::*;
use crate::log::reference_log::Random;
use crate::log::reference_log::apply;
use crate::{Start, Streams, Wait};
use life::Rule;
use std::time::{Duration, Instant};

/// Far longer than a small file takes on a busy machine.
const LIMIT: Duration = Duration::from_secs(20);

fn parse(text: impl Into<Vec<u8>>) -> Result<SavedSession, SavedError> {
    let begun = Instant::now();
    let session = SavedSession::parse(Path::new("session.json"), text.into());
    assert!(begun.elapsed() < LIMIT, "{:?}", begun.elapsed());
    session
}

fn text_of(session: &SavedSession) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.json");
    session.save(&path).unwrap();
    std::fs::read_to_string(path).unwrap()
}

const VERSION_2: &str = include_str!("fixtures/session-2.json");

const FIXTURE: &str = include_str!("fixtures/session.json");

/// A session with every kind of record but one: that of a comparison.
fn sample() -> SavedSession {
    let session = parse(VERSION_2).unwrap();
    let notices = Vec::new();
    SavedSession { notices, ..session }
}

#[track_caller]
fn assert_same(before: &SavedSession, after: &SavedSession) {
    assert_eq!(format!("{before:#?}"), format!("{after:#?}"));
}

/// What was read is written as it was read. Its log can be followed from the newest lattices to its end.
#[track_caller]
fn assert_sound_and_stable(session: &SavedSession) {
    assert_same(session, &parse(text_of(session)).unwrap());
    let log = &session.timeline.log;
    let Some(newest) = session.timeline.copies.last() else {
        return;
    };
    let mut cells = newest.lattices().unwrap();
    for number in newest.position.records..log.end() {
        let mut parameters = log.parameters(number);
        apply(
            &log.record(number).unwrap().content,
            &mut parameters,
            &mut cells,
        );
        let sizes = cells.iter().map(|lattice| lattice.size());
        assert!(sizes.eq(vec![parameters.size; parameters.instances]));
    }
}

/// The file in `fixtures` says what it always did, and is written as it is. `LIFESTREAMS_RENEW=1` with this
/// test's name writes it anew, for fields that are added; any other change of the format is a new version.
/// Beside what a file of version 2 has, it has a record that is undone with the one before it, a comparison,
/// another rule ahead, a kernel of the user's own, drafts, and settings other than those at first.
#[test]
fn the_format_stays_as_it_is() {
    let mut session = parse(FIXTURE).unwrap();
    if std::env::var_os("LIFESTREAMS_RENEW").is_some() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/saved/fixtures");
        return session
            .save(&Path::new(folder).join("session.json"))
            .unwrap();
    }
    assert_eq!(text_of(&session), FIXTURE);
    assert_sound_and_stable(&session);
    let setup = &mut session.setup;
    assert_eq!(
        (setup.rule, setup.pace),
        (Rule::LIFE, Pace::PerSecond(59.94))
    );
    assert_eq!(
        (setup.device, setup.setting.switches.graphs),
        (DeviceChoice::CudaOrdinal(3), true)
    );
    let b = session.b_switches.unwrap();
    assert_eq!((b.wait, b.streams), (Wait::All, Streams::One));
    let drafts = Drafts {
        round: Some("\"\u{1b}\n".into()),
        kernel: Some("".into()),
    };
    assert_eq!(
        (session.running, session.selected, &session.drafts),
        (true, 3, &drafts)
    );
    let stored = Arc::make_mut(setup.stored_kernel.as_mut().unwrap());
    assert_eq!((stored.in_use, &*stored.file), (true, "session.json"));
    (stored.in_use, setup.pace, session.running) = (false, Pace::Maximum, false);
    assert_sound_and_stable(&session);
}

/// Of one with a comparison, what was before it is read.
#[test]
fn a_file_of_version_2_says_the_same() {
    let mut old = parse(VERSION_2).unwrap();
    let said = old.notices.remove(0).to_string();
    assert!(said.starts_with("The comparison of A and B in this file has ended"));
    assert_sound_and_stable(&old);
    let new = parse(FIXTURE).unwrap();
    let common = |session: &SavedSession| {
        let SavedTimeline { log, copies, .. } = &session.timeline;
        let records: Vec<_> = log.records.iter().take(11).cloned().collect();
        let (base, is_start) = (log.base.clone(), log.is_start);
        let settings = (session.setup.time, session.setup.generations_per_round);
        format!(
            "{records:?} {base:?} {is_start} {:?} {settings:?}",
            &copies[..2]
        )
    };
    assert_eq!(common(&old), common(&new));
}

/// A soup with symmetry cannot be made: what is known of its cells is kept.
#[test]
fn symmetric_soups_of_version_2_give_way_to_the_newest_lattices() {
    let soup = "\"seed\": 7";
    let text = replaced(VERSION_2, soup, &format!("{soup}, \"symmetry\": \"D4x\""));
    let mut session = parse(text).unwrap();
    let said = session.notices.pop().unwrap().to_string();
    session.notices.clear();
    assert_sound_and_stable(&session);
    let newest = sample().timeline.copies.pop().unwrap();
    let SavedTimeline { log, position, .. } = session.timeline;
    assert_eq!([log.begin, position], [newest.position; 2]);
    assert_eq!(log.end(), position.records);
    let Start::Lattices { lattices, .. } = &log.base.start else {
        panic!("it begins with a soup");
    };
    assert_eq!(*lattices, newest.lattices().unwrap());
    let ends = "the file's lattices of generation 100";
    assert!(said.ends_with(ends), "{said}");
}

#[test]
fn a_file_that_is_cut_short_anywhere_is_refused() {
    let text = FIXTURE;
    let whole = text.trim_end();
    assert_eq!(text.len(), whole.len() + 1, "a line feed");
    parse(whole).unwrap();
    for length in 0..whole.len() {
        let error = parse(&text[..length]).unwrap_err();
        let said = error.to_string();
        assert!(
            said.contains("the file was cut off here") || said.contains("or it is damaged here"),
            "{length}: {said}"
        );
        assert!(said.contains(", line ") || length == 0, "{length}: {said}");
    }
}

/// Bytes that are changed at random: 2,000 times, or as often as `SAVED_FLIPS` says.
#[test]
fn a_file_with_a_wrong_byte_is_refused_or_sound() {
    let flips = std::env::var("SAVED_FLIPS").ok();
    let flips: u64 = flips.map_or(2000, |flips| flips.parse().unwrap());
    let mut random = Random::new(13);
    let mut taken = 0;
    for _ in 0..flips {
        let mut text = FIXTURE.as_bytes().to_vec();
        let at = random.below(text.len() as u64) as usize;
        let was = text[at];
        text[at] = match random.below(3) {
            0 => was ^ 1 << random.below(8),
            1 => b"0123456789"[random.below(10) as usize],
            _ => random.below(256) as u8,
        };
        match parse(text) {
            Ok(session) => {
                taken += 1;
                assert_sound_and_stable(&session);
            }
            Err(error) => {
                let said = error.to_string();
                assert!(said.starts_with("session.json"), "{said}");
                assert!(said.ends_with("; the file was not changed"), "{said}");
            }
        }
    }
    assert!(taken > flips / 20, "{taken} of {flips} were taken");
}

/// The text with its first `from` replaced.
#[track_caller]
fn replaced(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "{from}");
    text.replacen(from, to, 1)
}

#[test]
fn what_is_wrong_is_named() {
    let text = text_of(&sample());
    let beyond = (life::MAX_GENERATION + 1).to_string();
    let record = "'timeline.log.records[0]";
    let long = format!("\"selected\": \"{}\"", "\\n".repeat(1 << 20));
    #[rustfmt::skip]
    let rows = [
        // Of a wrong type, in a line and column.
        ("\"bits\"", "\"nope\"", "'settings.kernel' is wrong: there is no kernel 'nope'"),
        ("\"20x12\"", "\"0x12\"", "'timeline.log.base.size' is wrong: "),
        ("\"running\"", "\"runing\"", "missing field `running`"),
        ("\"pace\": null", "\"pace\": []", "'settings.pace' is wrong: invalid type: sequence, expected f64"),
        ("\"person\"", "\"nobody\"", &format!("{record}.author' is wrong: unknown variant `nobody`")),
        ("3,4 19,11", "3,4 19", &format!("{record}.content.cells.change' is wrong: data did")),
        ("x = 20, y = 12\\n", "x = 20, y = 12\\n4C", "this lattice is not whole"),
        ("\"B36/S23\"", "\"B9\"", "unknown rule 'B9'"),
        ("\"selected\": 3", &long, "'selected' is wrong: invalid type: string"),
        // What does not fit together.
        ("_session\": 3", "_session\": 9", "it has format 9, and this program reads format 3"),
        ("\"selected\": 3", "\"selected\": 5", "instance 5 is selected, but there are 5"),
        ("\"pace\": null", "\"pace\": 1e10", "its pace is 10000000000 rounds/s; take"),
        ("\"history_bytes\": 268435456", "\"history_bytes\": 17592186044417", "its history takes"),
        ("\"transfer\": \"auto\"", "\"transfer\": \"i32\"", "kernel 'bits' has no i32 cells"),
        ("\"instances\": 4,", "\"instances\": 0,", "it has 0 instances; take 1 to 4096"),
        ("\"instances\": 5", "\"instances\": 4097", "record 49: it has 4097 instances"),
        ("\"instances\": 4,", "\"instances\": 5,", "there are 4 for 5 instances"),
        ("\"instance\": 3", "\"instance\": 4", "in record 42: cells of instance 4 change"),
        ("\"size\": \"24x16\"", "\"size\": \"25x16\"", "instance 0 has size 24x16, not 25x16"),
        ("\"generation\": 310", "\"generation\": 304", "record 41: it has generation 304, but the clock"),
        ("\"generation\": 305", &format!("\"generation\": {beyond}"), &beyond),
        ("\"records\": 40", "\"records\": 18446744073709551615", "number 18446744073709551615"),
        ("\"entry\": 3", "\"entry\": 18446744073709551615", "number 18446744073709551615"),
        ("\"records\": 51,\n      \"generation\": 103", "\"records\": 51,\n      \"generation\": 99", "generation 99 with 51 records applied is not on its log"),
        ("\"records\": 51,\n      \"generation\": 103", "\"records\": 99,\n      \"generation\": 103", "with 99 records applied"),
        ("\"records\": 51,\n          \"generation\": 100", "\"records\": 51,\n          \"generation\": 104", "newest lattices are of generation 104, which comes after"),
        ("\"is_start\": false", "\"is_start\": true", "begins with a start at generation 300"),
        ("\"drawn\": [\n          1", "\"drawn\": [\n          4", "a person drew on instance 4, but there are 4"),
        ("\"records\": 40,\n          \"generation\": 300", "\"records\": 41,\n          \"generation\": 306", "it lacks the lattices that its log begins with"),
    ];
    let refused = |text: String, row: (&str, &str, &str)| {
        let (from, to, words) = row;
        let Err(error) = parse(text) else {
            panic!("{from} → {to:.99} is taken");
        };
        let said = error.to_string();
        assert!(said.contains(words), "{from} → {to:.99}: {said}");
        assert!(!error.lacks_memory && said.chars().count() < 400, "{said}");
        said
    };
    for (at, row) in rows.into_iter().enumerate() {
        let said = refused(replaced(&text, row.0, row.1), row);
        assert_eq!(said.contains(", line "), at < 9, "{said}");
    }
    let text = FIXTURE;
    let (before, b_switches) = text.split_at(text.find("\"b_switches\"").unwrap());
    let rule = "{\n            \"rule\": \"B36/S23\"\n          }";
    #[rustfmt::skip]
    let rows = [
        (rule, "\"compare\"", "in record 49: the number of instances changes while A and B"),
        ("\"instances\": 5", "\"instances\": 1", "in record 52: A and B cannot be compared"),
        ("\"records\": 52,\n          \"generation\": 103", "\"records\": 51,\n          \"generation\": 103", "it lacks the lattices before A and B were compared"),
        ("\"transfer\": \"auto\"", "\"transfer\": \"i32\"", "kernel 'bits' has no i32 cells"),
        ("\"block\": null", "\"block\": [5, 5]", "not 5x5"),
    ];
    for row in rows {
        let edited = replaced(b_switches, row.0, row.1);
        refused(before.to_owned() + edited.as_str(), row);
    }
}

/// As after a comparison of lattices of another size in a file of version 2.
#[test]
fn a_kernel_that_does_not_take_the_lattices_gives_way_to_the_nearest_rung() {
    let session = parse(replaced(&text_of(&sample()), "\"bits\"", "\"resident\"")).unwrap();
    assert!(session.setup.setting.kernel.supports(session.setup.size));
    let said = "Kernel resident does not support the lattice size in this file; ";
    assert!(session.notices[0].starts_with(said), "{session:?}");
}

/// However much a file asks for, it is refused soon, and nothing is used up.
#[test]
fn a_hostile_file_is_refused() {
    let text = text_of(&sample());
    let deep = "{\"lifestreams_session\": 3, \"timeline\": ".to_owned();
    let deep = format!("{deep}{}{}}}", "[".repeat(1 << 20), "]".repeat(1 << 20));
    let said = parse(deep).unwrap_err().to_string();
    assert!(said.contains("'timeline"), "{said}");
    // 8 GiB each, none with a cell.
    let empty = "\"x = 262144, y = 262144\\n!\"";
    let all = vec![empty; 4096].join(",");
    let many = replaced(&text, "\"lattices\": [", &format!("\"lattices\": [{all},"));
    if life::memory::usable().is_some() {
        let error = parse(many).unwrap_err();
        assert!(error.lacks_memory, "{error}");
        let said = error.to_string();
        assert!(
            said.contains(", line ") && said.contains("out of host memory"),
            "{said}"
        );
    }
    // Records are only as many as the file has.
    let record = "{\"entry\": 1, \"author\": \"program\", \"generation\": 300, \
                  \"content\": {\"rule\": \"B3/S23\"}},";
    let records = format!("\"records\": [{}", record.repeat(100_000));
    let said = parse(replaced(&text, "\"records\": [", &records)).unwrap_err();
    assert!(said.to_string().contains("is not on its log"), "{said}");
    // Starts between which the clock goes far, again and again.
    let far = "{\"entry\": 1, \"author\": \"program\", \"generation\": 4611686018427387903, \
               \"content\": {\"start\": {\"soup\": {\"density\": 0.5, \"seed\": 1}}}},";
    let records = format!("\"records\": [{}", far.repeat(9));
    let said = parse(replaced(&text, "\"records\": [", &records)).unwrap_err();
    assert!(said.to_string().contains("take at most"), "{said}");
}

#[test]
fn a_session_that_could_not_be_opened_again_replaces_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.json");
    sample().save(&path).unwrap();
    let file = crate::SessionFile::reserve(&path).unwrap();
    let mut unsound = sample();
    unsound.selected = 5;
    let written = file.own.get().unwrap().write(&unsound);
    let said = written.unwrap_err().to_string();
    let why = "session.json was not changed, because this session could not be opened from it again: \
        instance 5 is selected, but there are 5, counted from 0; it is saved in ";
    let (_, beside) = said.split_once(why).expect(&said);
    let (beside, _) = beside.split_once(" instead").expect(&said);
    SavedSession::load(&path).unwrap();
    let said = SavedSession::load(beside.as_ref()).unwrap_err().to_string();
    assert!(said.contains("instance 5 is selected"), "{said}");
}
