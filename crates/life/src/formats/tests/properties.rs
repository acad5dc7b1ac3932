//! What holds for any lattice and any text.

use super::*;
use crate::MAX_GENERATION;
use proptest::prelude::*;

/// A lattice of a size and density of all kinds, with empty stretches.
fn lattices() -> impl Strategy<Value = Lattice> {
    let parts = (
        1u64..300,
        1u64..60,
        0.0f64..=1.0,
        any::<u64>(),
        any::<bool>(),
    );
    parts.prop_map(|(width, height, density, seed, sparse)| {
        let density = if sparse { density / 50.0 } else { density };
        soup(size(width, height), density, seed, 0)
    })
}

fn notes() -> impl Strategy<Value = Notes> {
    let text = "[a-zA-Z0-9,.]([ -~äλ中]{0,30}[a-zA-Z0-9.!$])?";
    let comments = proptest::collection::vec(text, 0..4);
    (
        proptest::option::of(text),
        proptest::option::of(text),
        comments,
    )
        .prop_map(|(name, author, comments)| Notes {
            name,
            author,
            // A colon would make a title of it.
            comments: comments
                .into_iter()
                .map(|line| line.replace(':', ";"))
                .collect(),
        })
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(
        lattice in lattices(), torus: bool, birth in 0u16..512, survival in 0u16..512, notes in notes(),
        generation in prop_oneof![Just(0), 1..=MAX_GENERATION],
    ) {
        let rule = Rule::from_masks(birth, survival);
        for format in WRITTEN {
            let sheet = Sheet { rule, torus, generation, ..plain(&lattice, &notes) };
            let text = written(format, sheet);
            let pattern = Pattern::from_text("written", text).unwrap();
            prop_assert_eq!(pattern.format(), format);
            prop_assert_eq!(pattern.notes(), notes.clone(), "{}", format);
            let is_rle = format == Format::Rle;
            prop_assert_eq!(pattern.rule(), is_rle.then_some(rule));
            prop_assert_eq!(pattern.generation(), if is_rle { generation } else { 0 });
            prop_assert_eq!(pattern.torus(), (is_rle && torus).then_some(lattice.size()));
            prop_assert_eq!(tight(&pattern), Some(lattice.clone()), "{}", format);
        }
    }

    #[test]
    fn a_saved_lattice_comes_back_in_the_same_places(
        width in 1u64..=40, height in 1u64..=40, density in 0.0f64..0.3, seed: u64,
    ) {
        let lattice = soup(size(width, height), density, seed, 0);
        for format in Format::ALL {
            let pattern = Pattern::from_text("written", text_of(format, &lattice)).unwrap();
            prop_assert_eq!(pattern.format(), format);
            prop_assert_eq!(&pattern.centred_in(lattice.size()).unwrap(), &lattice, "{}", format);
        }
    }
}

/// Reads and draws what can be read; whatever happens, it must not panic.
fn read_and_draw(name: &str, text: &[u8]) {
    match Pattern::from_text(name, text) {
        Err(error) => {
            let place = format!("{name}, line ");
            assert!(
                error.starts_with(&place) && !error.contains("line 0"),
                "{error}"
            );
        }
        Ok(pattern) => {
            pattern.notes();
            let mut small = Lattice::new(size(37, 40));
            if pattern.draw_into(&mut small, 36, 4).is_ok() {
                let bits_beyond = Lattice::from_words(small.size(), small.words().to_vec());
                assert_eq!(small, bits_beyond);
            }
            let (picture, _) = pattern.thumbnail(size(16, 16));
            let mut alive = 0;
            pattern.each_run(|run| {
                assert!(run.length > 0 && run.y < pattern.height());
                assert!(run.x + run.length <= pattern.width());
                alive += u64::from(run.length);
            });
            assert!(picture.population() <= alive);
            assert_eq!(picture.population() == 0, alive == 0);
            let cells = u64::from(pattern.width()) * u64::from(pattern.height());
            if pattern.format() == Format::Rle && (1..1 << 20).contains(&cells) {
                assert_eq!(tight(&pattern).map(|it| it.population()), Some(alive));
            }
        }
    }
}

const NAMES: [&str; 5] = ["a.rle", "a.cells", "a.lif", "a.mc", "a"];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn no_likely_text_makes_it_panic(
        plain in "(([.O*]{0,9}|!.{0,5})\r?\n){0,12}",
        blocks in "((#P -?[0-9]{1,3} -?[0-9]{1,12}|#R [0-9]{0,3}/[0-9]|[.*]{0,9})\n){0,12}",
        cells in "((-?[0-9]{1,9}[ \t]-?[0-9]{1,3}|#D.{0,5})\n){0,12}",
        squares in "([.*]{0,8}[$]){0,8}\n",
        body in "([0-9]{0,3}[bo$]|[ \n\r#!]|[0-9]{8,30}|[A-Za-z]|\\PC){0,60}",
        nodes in proptest::collection::vec((1u8..12, 0u8..9, 0u8..9, 0u8..9, 0u8..9), 0..12),
    ) {
        read_and_draw("a.cells", plain.as_bytes());
        read_and_draw("a.rle", format!("x = 9, y = 9, rule = B3/S23:T9,9\n{body}!").as_bytes());
        read_and_draw("a", format!("#Life 1.05\n{blocks}").as_bytes());
        read_and_draw("a", format!("#Life 1.06\n{cells}").as_bytes());
        let nodes: String = nodes.iter().map(|(l, a, b, c, d)| format!("{l} {a} {b} {c} {d}\n")).collect();
        read_and_draw("a", format!("[M2]\n{squares}{squares}{nodes}").as_bytes());
    }

    #[test]
    fn no_sound_tree_makes_it_panic(
        leaf in "[*]([.*]{0,7}[$]){1,7}", quarters in proptest::collection::vec(0u8..16, 1..7),
    ) {
        // Each node has the one before it in those of its quarters that the bits say.
        let mut text = format!("[M2]\n{leaf}\n");
        for (number, bits) in quarters.iter().enumerate() {
            let quarter = |i: u8| if bits >> i & 1 == 1 { number + 1 } else { 0 };
            let [a, b, c, d] = [0, 1, 2, 3].map(quarter);
            text += &format!("{} {a} {b} {c} {d}\n", number + 4);
        }
        let pattern = Pattern::from_text("tree", text.as_bytes()).unwrap();
        let copies = quarters.iter().fold(1u64, |copies, bits| copies * u64::from(bits.count_ones()));
        let mut alive = 0;
        pattern.each_run(|run| alive += u64::from(run.length));
        prop_assert_eq!(alive, copies * leaf.bytes().filter(|&b| b == b'*').count() as u64);
        read_and_draw("tree", text.as_bytes());
        if let Some(lattice) = tight(&pattern) {
            let tight = trimmed(&lattice);
            prop_assert_eq!(Some(&lattice), tight.as_ref(), "bounds are tight");
            prop_assert_eq!(lattice.population(), alive);
        }
    }

    #[test]
    fn no_mutation_makes_it_panic(
        seed: u64, format in 0..5usize,
        cuts in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4u8), 1..6),
    ) {
        let lattice = soup(size(40, 12), 0.2, seed, 0);
        let mut text = text_of(Format::ALL[format], &lattice).into_bytes();
        for (at, byte, how) in cuts {
            if text.is_empty() {
                break;
            }
            let at = at.index(text.len());
            match how {
                0 => text[at] = byte,
                1 => text.insert(at, byte),
                2 => drop(text.remove(at)),
                _ => text.truncate(at),
            }
        }
        NAMES.iter().for_each(|name| read_and_draw(name, &text));
    }
}
