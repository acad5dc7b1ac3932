//! Reading and drawing a hostile pattern only uses memory for its text and the lattice, and for a
//! macrocell's nodes.

use life::{Format, Head, Lattice, Notes, Pattern, Rule, Size, Writer, rle};
use std::fs;
use std::io::{Write, sink};
use test_support::{CountingAllocator, peak_of_this_thread as peak_of};

#[global_allocator]
static COUNTING: CountingAllocator = CountingAllocator;

/// Allowance for error messages, paths and similar.
const SMALL: usize = 4096;

/// Does the work, which may take this many bytes.
fn within<T>(allowed: usize, what: &str, work: impl FnOnce() -> T) -> T {
    let (done, peak) = peak_of(work);
    assert!(
        peak <= allowed as i64,
        "{what:.60}: {peak} bytes of {allowed}"
    );
    done
}

/// A soup of this size, to be written.
fn soup(width: u64, height: u64) -> Lattice {
    life::soup(Size::new(width, height).unwrap(), 0.5, 1, 0)
}

fn write(writer: Writer, lattice: &Lattice, out: &mut dyn Write) {
    let head = Head {
        size: lattice.size(),
        rule: Rule::LIFE,
        torus: true,
        generation: 0,
        notes: &Notes::default(),
    };
    writer(head, lattice.words(), out).unwrap();
}

#[test]
fn a_file_takes_itself_and_its_lattice() {
    let (_, peak) = peak_of(|| drop((vec![0u8; 10_000], vec![1u8; 5_000])));
    assert_eq!(peak, 15_000, "the count counts");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dense.rle");
    let soup = soup(2048, 2048);
    let mut text = Vec::new();
    write(rle::write, &soup, &mut text);
    fs::write(&path, &text).unwrap();
    let allowed = text.len() + soup.size().words() * 4 + SMALL;
    let load = || {
        Pattern::load(&path)
            .unwrap()
            .centred_in(soup.size())
            .unwrap()
    };
    assert_eq!(within(allowed, "a file", load), soup);
}

#[test]
fn writers_keep_a_chunk_and_some_for_each_thread() {
    let small = soup(4096, 256);
    for writer in Format::ALL.into_iter().filter_map(Format::writer) {
        within(100_000, "a writer", || write(writer, &small, &mut sink()));
    }
    let large = soup(8192, 4096);
    let mut text = Vec::new();
    write(rle::write, &large, &mut text);
    // At most eight threads, each with half a MiB of text and as much that is being written.
    let allowed = 100_000 + 8 * 2 * (1 << 20);
    assert!(allowed < text.len());
    within(allowed, "threads", || {
        write(rle::write, &large, &mut sink())
    });
}

#[test]
fn hostile_texts_take_their_own_memory_alone() {
    let header = "x = 9, y = 9, rule = B3/S23\n";
    // What stands before the end of a long text, and of what the rest of it consists.
    for (start, endless) in [
        ("x = 16777216, y = 16777216\no!", ""),
        ("x = 1000000000, y = 1000000000\no!", ""),
        ("x = 1, y = 1, rule = B3/S23:T262144,262144\no!", ""),
        (&format!("{header}1000000000000o!"), ""),
        (&format!("{header}16777215$16777215bo!"), ""),
        (header, "16777215bo$"),
        (header, "16777216b"),
        (header, "o"),
        (header, "9"),
        (header, "\n"),
        ("", "z"),
        ("#", "C"),
        ("x = 1, y = 1, rule = ", "B"),
        ("x = 1, y = 1, rule = B3/S23:T", "9"),
        ("", "\0"),
        ("", ".O\n"),
        ("", "O"),
        (&format!("O{}O", "\n".repeat(1 << 23)), ""),
        ("!", "x"),
        ("#Life 1.05\n", "#P 0 0\n*\n"),
        ("#Life 1.05\n#P 0 0\n*\n#P 16777215 16777215\n*\n", ""),
        ("#Life 1.06\n", "1 1\n"),
        ("#Life 1.06\n0 0\n16777215 16777215\n", ""),
        ("#Life 1.06\n", "9"),
        ("[M2]\n", "\n"),
        ("[M2]\n4", " 0"),
        ("[M2]\n", "$"),
    ] {
        let count = 2_000_000 / endless.len().max(1);
        let text = format!("{start}{}", endless.repeat(count));
        within(text.len() + SMALL, &text, || {
            if let Ok(pattern) = Pattern::from_text("hostile", text.as_str()) {
                let (picture, _) = pattern.thumbnail(Size::new(64, 64).unwrap());
                let lives = pattern.live_sides().0 > 0;
                assert_eq!(picture.population() > 0, lives, "{text:.60}");
            }
        });
    }
}

#[test]
fn a_macrocell_takes_25_bytes_a_node_while_it_is_read() {
    let nodes = 300_000;
    for line in ["$\n", "*$\n", "4 0 0 0 0\n"] {
        let text = format!("[M2]\n{}", line.repeat(nodes));
        let allowed = text.len() + 25 * (nodes + 1) + SMALL;
        within(allowed, &text, || {
            drop(Pattern::from_text("a.mc", text.as_str()).unwrap())
        });
    }
}

#[test]
fn a_pattern_that_does_not_fit_takes_no_lattice() {
    let pattern = Pattern::from_text("far", "#Life 1.06\n0 0\n16777215 16777215\n").unwrap();
    let size = Size::new(16384, 16384).unwrap();
    let error = within(SMALL, "far", || pattern.centred_in(size).unwrap_err());
    let said = "far is 16777216x16777216 cells, larger than the lattice";
    assert!(error.to_string().starts_with(said), "{error}");
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
    // A growing text is held twice while it is reallocated.
    let read = || Pattern::from_text("a.mc.gz", packed).unwrap_err();
    let error = within(4 * 2 * nodes, "a packed macrocell", read);
    assert!(error.contains("has more than 16777216 nodes;"), "{error}");
}
