//! Reading and drawing a hostile pattern only uses memory for its text and the lattice, and for a
//! macrocell's nodes.

use life::{Format, Lattice, Notes, Pattern, Rule, Sheet, Size, rle};
use std::fs;
use std::io::Write;
use test_support::{CountingAllocator, peak_of_this_thread as peak_of};

#[global_allocator]
static COUNTING: CountingAllocator = CountingAllocator;

/// Allowance for error messages, paths and similar.
const SMALL: i64 = 4096;

#[test]
fn the_count_counts() {
    let (_, peak) = peak_of(|| drop((vec![0u8; 10_000], vec![1u8; 5_000])));
    assert_eq!(peak, 15_000);
}

fn sheet(lattice: &Lattice) -> Sheet<'_> {
    static NOTES: Notes = Notes {
        name: None,
        author: None,
        comments: Vec::new(),
    };
    Sheet {
        lattice,
        rule: Rule::LIFE,
        torus: true,
        generation: 0,
        notes: &NOTES,
    }
}

#[test]
fn a_file_takes_itself_and_its_lattice() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dense.rle");
    let size = Size::new(2048, 2048).unwrap();
    let soup = life::soup(size, 0.5, 1, 0);
    let mut text = Vec::new();
    rle::write_sheet(sheet(&soup), &mut text).unwrap();
    fs::write(&path, &text).unwrap();
    let (lattice, peak) = peak_of(|| Pattern::load(&path).unwrap().centred_in(size).unwrap());
    assert_eq!(lattice, soup);
    let least = (text.len() + size.words() * 4) as i64;
    assert!(peak <= least + SMALL, "{peak} bytes for {least}");
}

#[test]
fn writing_by_several_threads_keeps_some_chunks_for_each() {
    let soup = life::soup(Size::new(8192, 4096).unwrap(), 0.5, 1, 0);
    let mut text = Vec::new();
    rle::write_sheet(sheet(&soup), &mut text).unwrap();
    let length = text.len() as i64;
    drop(text);
    let (_, peak) = peak_of(|| rle::write_sheet(sheet(&soup), &mut std::io::sink()).unwrap());
    // At most eight threads, each with half a MiB of text and as much that is being written.
    let allowed = 100_000 + 8 * 2 * (1 << 20);
    assert!(
        peak < allowed && allowed < length,
        "{peak} bytes of {length}"
    );
}

#[test]
fn hostile_texts_take_their_own_memory_alone() {
    let long = 2_000_000;
    let header = "x = 9, y = 9, rule = B3/S23\n";
    let tall = format!("O{}O", "\n".repeat(1 << 23));
    for (what, text) in [
        ("a huge header", "x = 16777216, y = 16777216\no!".into()),
        (
            "a header too huge",
            "x = 1000000000, y = 1000000000\no!".into(),
        ),
        (
            "a huge torus",
            "x = 1, y = 1, rule = B3/S23:T262144,262144\no!".into(),
        ),
        ("a huge count", format!("{header}1000000000000o!")),
        ("a far cell", format!("{header}16777215$16777215bo!")),
        (
            "many far cells",
            format!("{header}{}!", "16777215bo$".repeat(long / 11)),
        ),
        (
            "far beyond",
            format!("{header}{}o!", "16777216b".repeat(long / 9)),
        ),
        ("cells without end", format!("{header}{}", "o".repeat(long))),
        ("a line without end", "z".repeat(long)),
        ("a comment without end", format!("#{}", "C".repeat(long))),
        (
            "a rule without end",
            format!("x = 1, y = 1, rule = {}", "B".repeat(long)),
        ),
        (
            "a torus without end",
            format!("x = 1, y = 1, rule = B3/S23:T{}", "9".repeat(long)),
        ),
        (
            "digits without end",
            format!("{header}{}", "9".repeat(long)),
        ),
        (
            "lines without end",
            format!("{header}{}", "\n".repeat(long)),
        ),
        ("zeroes", "\0".repeat(long)),
        ("rows without end", ".O\n".repeat(long / 3)),
        ("a row without end", "O".repeat(long)),
        ("a tall column", tall),
        ("a comment without end", format!("!{}", "x".repeat(long))),
        (
            "blocks",
            format!("#Life 1.05\n{}", "#P 0 0\n*\n".repeat(long / 9)),
        ),
        (
            "far blocks",
            "#Life 1.05\n#P 0 0\n*\n#P 16777215 16777215\n*\n".into(),
        ),
        (
            "the same cell",
            format!("#Life 1.06\n{}", "1 1\n".repeat(long / 4)),
        ),
        ("far cells", "#Life 1.06\n0 0\n16777215 16777215\n".into()),
        (
            "digits without end",
            format!("#Life 1.06\n{}", "9".repeat(long)),
        ),
        ("no node", format!("[M2]\n{}", "\n".repeat(long))),
        (
            "a node without end",
            format!("[M2]\n4{}", " 0".repeat(long / 2)),
        ),
        (
            "a square without end",
            format!("[M2]\n{}", "$".repeat(long)),
        ),
    ] {
        let allowed = text.len() as i64 + SMALL;
        let (_, peak) = peak_of(|| {
            Pattern::from_text("hostile", text.as_str()).map(|pattern| {
                let (picture, _) = pattern.thumbnail(Size::new(64, 64).unwrap());
                assert_eq!(
                    picture.population() > 0,
                    pattern.live_sides().0 > 0,
                    "{what}"
                );
            })
        });
        assert!(peak <= allowed, "{what}: {peak} bytes for {}", text.len());
    }
}

#[test]
fn a_macrocell_takes_25_bytes_a_node_while_it_is_read() {
    let nodes = 300_000;
    for line in ["$\n", "*$\n", "4 0 0 0 0\n"] {
        let text = format!("[M2]\n{}", line.repeat(nodes));
        let (_, peak) = peak_of(|| drop(Pattern::from_text("a.mc", text.as_str()).unwrap()));
        let allowed = (text.len() + 25 * (nodes + 1)) as i64 + SMALL;
        assert!(peak <= allowed, "{line:?}: {peak} bytes for {allowed}");
    }
}

#[test]
fn a_pattern_that_does_not_fit_takes_no_lattice() {
    let text = "#Life 1.06\n0 0\n16777215 16777215\n";
    let pattern = Pattern::from_text("far", text).unwrap();
    let size = Size::new(16384, 16384).unwrap();
    let (error, peak) = peak_of(|| pattern.centred_in(size).unwrap_err());
    let said = "far is 16777216x16777216 cells, larger than the lattice";
    assert!(error.to_string().starts_with(said), "{error}");
    assert!(peak <= SMALL, "{peak} bytes");
}

#[test]
fn every_writer_keeps_no_more_than_a_chunk() {
    let soup = life::soup(Size::new(4096, 256).unwrap(), 0.5, 1, 0);
    for format in Format::ALL {
        let Some(write) = format.writer() else {
            continue;
        };
        let (_, peak) = peak_of(|| write(sheet(&soup), &mut std::io::sink()).unwrap());
        assert!(peak < 100_000, "{format}: {peak} bytes");
    }
}

/// A file of 33 KB whose nodes would need half a gigabyte.
#[test]
fn a_packed_macrocell_of_countless_nodes_takes_its_text_alone() {
    let nodes = (1 << 24) + 1;
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(b"[M2]\n").unwrap();
    for _ in 0..nodes / 1024 + 1 {
        packed.write_all(&b"$\n".repeat(1024)).unwrap();
    }
    let packed = packed.finish().unwrap();
    let (error, peak) = peak_of(|| Pattern::from_text("a.mc.gz", packed).unwrap_err());
    assert!(error.contains("has more than 16777216 nodes;"), "{error}");
    // A growing text is held twice while it is reallocated.
    assert!(peak <= 4 * 2 * nodes as i64, "{peak} bytes");
}
