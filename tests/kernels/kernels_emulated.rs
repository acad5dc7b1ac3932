//! Every kernel, as it stands in its `.cu` file, against the definition: compiled by `g++` and run
//! thread by thread by the emulator (`crates/emulator`). No GPU is needed.

use std::ffi::c_void;

use crate::emulated::{Emulator, Guarded, Numbers, parameters};
use engine::kernels::cooperative::Division;
use engine::kernels::{self, Batch, Iteration, KERNELS, Launch, Parameter};
use engine::{Kernel, Layout, Measure, ReduceRegion, SupportKernel, WordEdit};
use life::{Lattice, Rule, Size, Soup, reference};
use own_kernel::words_of;

/// Around a buffer, and in one that nobody has written.
const GUARD: u32 = 0xdead_beef;
const UNWRITTEN: u32 = 0xffff_ffff;

/// The lattice of these words in a layout. Each cell is 0 or 1, and the same in every plane that has
/// it; bits beyond the width are 0.
fn lattice_of(size: Size, words: &[u32], layout: Layout) -> Lattice {
    let lattice = own_kernel::lattice_of(size, words, layout);
    assert!(words_of(&lattice, layout) == words, "{layout:?} of {size}");
    lattice
}

/// Steps lattices of one size as the host does a batch.
fn advance_all(
    emulator: &Emulator,
    kernel: &Kernel,
    block: (u32, u32),
    starts: &[Lattice],
    rule: Rule,
    generations: u32,
) -> Vec<Lattice> {
    let (size, layout) = (starts[0].size(), kernel.layout);
    let words = starts.iter().flat_map(|start| words_of(start, layout));
    let words: Vec<u32> = words.collect();
    let after = stepped(emulator, kernel, block, size, &words, rule, generations);
    let lattices = after.chunks(layout.words(size));
    lattices
        .map(|words| lattice_of(size, words, layout))
        .collect()
}

/// The same with a single one.
fn advance(
    emulator: &Emulator,
    kernel: &Kernel,
    block: (u32, u32),
    start: &Lattice,
    rule: Rule,
    generations: u32,
) -> Lattice {
    let starts = std::slice::from_ref(start);
    advance_all(emulator, kernel, block, starts, rule, generations).remove(0)
}

/// Launches as often as the kernel's row says, two buffers in turn; the cells at the end. Cells of
/// several lattices, one behind the other, are a batch.
fn stepped(
    emulator: &Emulator,
    kernel: &Kernel,
    block: (u32, u32),
    size: Size,
    cells: &[u32],
    rule: Rule,
    generations: u32,
) -> Vec<u32> {
    // As on a GPU with this many SMs.
    const SM_COUNTS: [u32; 4] = [20, 84, 132, 148];
    let sm_count = SM_COUNTS[generations as usize % SM_COUNTS.len()];
    let lattices = (cells.len() / kernel.layout.words(size)) as u32;
    let on = (lattices, sm_count);
    stepped_on(
        emulator,
        kernel,
        (block, on),
        size,
        cells,
        rule,
        generations,
    )
}

/// The same on a device with so many lattices of the size, and so many SMs.
fn stepped_on(
    emulator: &Emulator,
    kernel: &Kernel,
    (block, (on_device, sm_count)): ((u32, u32), (u32, u32)),
    size: Size,
    cells: &[u32],
    rule: Rule,
    generations: u32,
) -> Vec<u32> {
    let of_one = kernel.layout.words(size);
    let lattices = (cells.len() / of_one) as u32;
    assert!(cells.len().is_multiple_of(of_one));
    assert!(
        lattices <= kernel.max_batch(size, on_device, sm_count),
        "one launch"
    );
    let shape = kernel.launch(size, block, Batch::of(lattices, on_device), sm_count);
    // By turns the function with the rule's network and the one with its table.
    let by_network = kernel.has_network(rule) && size.width() % 2 == generations % 2;
    let entry = &kernel.entries[shape.entry];
    let symbol = match entry.network_symbol {
        Some(symbol) if by_network => symbol,
        _ => entry.symbol,
    };
    let mut mail = kernel.parameters.contains(&Parameter::Mail).then(|| {
        let division = Division::of(size, on_device, sm_count);
        Guarded::new(&vec![0; division.mail_words * lattices as usize], GUARD)
    });
    let (mut width, mut height, mut table) = (size.width(), size.height(), rule.table());
    let mut buffers = [
        Guarded::new(cells, GUARD),
        Guarded::new(&vec![UNWRITTEN; cells.len()], GUARD),
    ];
    let mut left = generations;
    for _ in 0..kernel.launches(generations) {
        let mut count = match kernel.iteration {
            Iteration::Launches => 1,
            Iteration::Steps(most) => left.min(most),
            Iteration::InKernel => left,
        };
        left -= count;
        let [mut from, mut to] = buffers.each_mut().map(|b| b.pointer());
        let mut mail_at = mail.as_mut().map_or(std::ptr::null_mut(), Guarded::pointer);
        let mut given: Vec<_> = kernel
            .parameters
            .iter()
            .map(|parameter| match parameter {
                Parameter::From | Parameter::Cells => (&raw mut from).cast::<c_void>(),
                Parameter::To => (&raw mut to).cast(),
                Parameter::Mail => (&raw mut mail_at).cast(),
                Parameter::Width => (&raw mut width).cast(),
                Parameter::Height => (&raw mut height).cast(),
                Parameter::RuleTable => (&raw mut table).cast(),
                Parameter::Generations => (&raw mut count).cast(),
                other => panic!("{symbol} takes {other:?}"),
            })
            .collect();
        emulator.launch(symbol, shape, &mut given);
        if kernel.iteration != Iteration::InKernel {
            buffers.swap(0, 1);
        }
    }
    assert_eq!(left, 0);
    if let Some(mail) = &mail {
        assert!(
            mail.inner().iter().all(|word| *word == 0),
            "mail is cleared"
        );
    }
    if kernel.iteration == Iteration::InKernel && kernel.swaps_buffers(generations) {
        buffers.swap(0, 1);
    }
    buffers[1].inner();
    buffers[0].inner().to_vec()
}

/// The rules that every kernel is held to, and some at random.
fn rules(numbers: &mut Numbers) -> Vec<Rule> {
    let mut rules = engine::conformance::rules();
    rules.extend((0..4).map(|_| {
        let masks = numbers.next();
        Rule::from_masks(masks as u16, (masks >> 16) as u16)
    }));
    rules
}

/// Holds a kernel against the reference over every awkward size that it takes, each by B3/S23 and by
/// the other rules in turn.
fn agrees(name: &str, blocks: &[(u32, u32)]) {
    let emulator = Emulator::load();
    let kernel = kernels::find(name).unwrap();
    let mut numbers = Numbers(7);
    let rules = rules(&mut numbers);
    let mut turn = 0;
    for (width, height) in engine::conformance::AWKWARD {
        let size = Size::new(width, height).unwrap();
        if !kernel.supports(size) {
            continue;
        }
        for generations in 1..=6 {
            let rule = match generations {
                1 | 4 => Rule::LIFE,
                _ => rules[turn % rules.len()],
            };
            let block = blocks[turn % blocks.len()];
            turn += 1;
            let start = numbers.lattice(size);
            let expected = reference::run(&start, rule, generations.into());
            let got = advance(&emulator, kernel, block, &start, rule, generations);
            assert_eq!(
                got, expected,
                "{name}: {rule} on {size}, {generations}, {block:?}"
            );
        }
    }
    assert!(turn > 6 * 40, "{name} takes {turn} of the cases");
}

const SHAPES: [(u32, u32); 7] = [
    (32, 8),
    (32, 8),
    (16, 16),
    (7, 5),
    (1, 1),
    (128, 1),
    (3, 64),
];

const ONE_BLOCK: [(u32, u32); 5] = [(1024, 1), (1024, 1), (32, 32), (100, 1), (1, 1)];

#[test]
fn global_agrees() {
    agrees("global", &SHAPES);
}

#[test]
fn shared_agrees() {
    agrees("shared", &SHAPES);
}

#[test]
fn sync_global_agrees() {
    agrees("sync-global", &ONE_BLOCK);
}

#[test]
fn sync_shared_agrees() {
    agrees("sync-shared", &ONE_BLOCK);
}

#[test]
fn bits_agree() {
    agrees("bits", &SHAPES);
}

/// Holds a kernel of planar words against the definition over these sizes: each by the fast path
/// and by another rule, for a number of generations that differs from case to case.
fn planar_agrees(name: &str, widths: &[u64], heights: &[u64], generations: &[u32]) {
    let emulator = Emulator::load();
    let kernel = kernels::find(name).unwrap();
    let mut numbers = Numbers(29);
    let rules = rules(&mut numbers);
    let mut turn = 0;
    for &width in widths {
        for &height in heights {
            let size = Size::new(width, height).unwrap();
            if !kernel.supports(size) {
                continue;
            }
            for rule in [Rule::LIFE, rules[turn % rules.len()]] {
                let count = generations[turn % generations.len()];
                turn += 1;
                let start = numbers.lattice(size);
                let expected = reference::run(&start, rule, count.into());
                let got = advance(&emulator, kernel, kernel.block(), &start, rule, count);
                assert_eq!(got, expected, "{name}: {rule} on {size}, {count}");
            }
        }
    }
    assert!(turn >= 2 * generations.len(), "{name}: {turn} cases");
}

#[test]
fn planar_words_agree() {
    let widths = [32, 33, 63, 64, 96, 100, 128, 160, 161, 1000, 1056];
    planar_agrees("planar", &widths, &[1, 2, 3, 7, 8, 9, 16, 33], &[1, 2, 3]);
}

#[test]
fn several_steps_agree() {
    // Rings of 1 to 32 lanes, and windows of 3, 30, 31, 16 and 31 of them.
    let widths = [
        128, 256, 384, 512, 1024, 2048, 3840, 3968, 4096, 7936, // whole lanes
        129, 159, 250, 257, 1000, 3833, 4095, // and others
    ];
    let generations = [1, 2, 3, 4, 5, 6, 7, 8, 9];
    planar_agrees("multistep", &widths, &[1, 2, 3, 5, 9, 40], &generations);
    // Windows of 28, 29 and 62 lanes; planes of 4 to 8 words.
    let deep = [3584, 3712, 160, 190, 192, 200, 224];
    let widths = [&widths[..], &deep].concat();
    planar_agrees("deep", &widths, &[1, 2, 3, 5, 9, 40], &generations);
}

#[test]
fn several_steps_agree_after_many_generations() {
    let generations: Vec<u32> = (1..=33).chain(63..=65).collect();
    let heights: Vec<u64> = (4..37).collect();
    planar_agrees("multistep", &[128, 384, 150], &heights, &generations);
    planar_agrees("deep", &[128, 384, 150, 170, 210], &heights, &generations);
}

#[test]
fn residents_agree() {
    for generations in [0, 1, 2, 3, 8, 31, 32, 33, 64, 65] {
        let sides = [32, 64, 128];
        planar_agrees("resident", &sides, &sides, &[generations]);
    }
    // Words across and rows down that are not full, of each number of them.
    for most in (64..=256).step_by(32) {
        let sides = [most - 31, most - 9, most];
        planar_agrees("resident", &sides, &sides, &[1, 2, 5]);
    }
    planar_agrees("resident", &[256], &[256], &[3]);
}

#[test]
fn blocks_that_exchange_mail_agree() {
    // Halos last for four or eight generations; then they are received anew.
    let generations = [0, 1, 4, 5, 8, 9, 17];
    let widths = [128, 129, 200, 255, 256, 320, 500, 512];
    planar_agrees("cooperative", &widths, &[16, 33, 64, 101], &generations);
    planar_agrees("cooperative", &[600, 1000, 1024], &[64, 100], &[9, 3]);
    planar_agrees("cooperative", &[1500, 2048, 2049], &[40], &[9, 2]);
    planar_agrees("cooperative", &[4096, 4100, 5000, 5120], &[32], &[5, 2]);
}

/// Every variant, with small work for which it is the fastest: size, lattices, SMs.
#[test]
fn every_variant_of_blocks_that_exchange_mail_agrees() {
    let kernel = kernels::find("cooperative").unwrap();
    let emulator = Emulator::load();
    let mut numbers = Numbers(41);
    let rules = rules(&mut numbers);
    let works = [
        ((128, 300), 1, 2),
        ((130, 400), 1, 2),
        ((256, 300), 1, 2),
        ((700, 200), 1, 2),
        ((1300, 300), 1, 1),
        ((1280, 128), 1, 2),
        ((2100, 17), 1, 1),
        ((128, 16), 1, 1),
        ((130, 128), 8, 2),
        ((128, 150), 24, 2),
        ((200, 100), 8, 2),
    ];
    for (entry, ((width, height), on_device, sm_count)) in works.into_iter().enumerate() {
        let size = Size::new(width, height).unwrap();
        let batch = Batch::of(1, on_device);
        let launch = kernel.launch(size, kernel.block(), batch, sm_count);
        assert_eq!(
            launch.entry, entry,
            "{size}, {on_device} on {sm_count}: {launch:?}"
        );
        for (rule, count) in [(Rule::LIFE, 9), (rules[entry % rules.len()], 5)] {
            let start = numbers.lattice(size);
            let expected = reference::run(&start, rule, count.into());
            let on = (kernel.block(), (on_device, sm_count));
            let after = stepped_on(
                &emulator,
                kernel,
                on,
                size,
                &words_of(&start, Layout::Planar),
                rule,
                count,
            );
            let symbol = kernel.entries[entry].symbol;
            assert_eq!(
                lattice_of(size, &after, Layout::Planar),
                expected,
                "{symbol} {size} {rule}"
            );
        }
    }
    assert_eq!(works.len(), kernel.entries.len());
}

#[test]
fn a_batch_has_as_many_blocks_for_each_lattice() {
    for kernel in KERNELS.iter().filter(|kernel| kernel.batched) {
        let side = match kernel.name {
            "cooperative" => 256,
            "multistep" | "deep" => 300,
            _ => 64,
        };
        batch_agrees(kernel, Size::new(side, side).unwrap());
    }
}

fn batch_agrees(kernel: &Kernel, size: Size) {
    let emulator = Emulator::load();
    let mut numbers = Numbers(31);
    let starts: Vec<Lattice> = (0..5).map(|_| numbers.lattice(size)).collect();
    let (block, rule) = (kernel.block(), Rule::LIFE);
    let after = |start: &Lattice| reference::run(start, rule, 7);
    let expected: Vec<Lattice> = starts.iter().map(after).collect();
    let ended = advance_all(&emulator, kernel, block, &starts, rule, 7);
    assert!(ended == expected, "{}", kernel.name);
}

#[test]
fn every_rung_is_held_against_the_definition() {
    let tested =
        "global shared sync-global sync-shared bits planar multistep resident cooperative deep";
    assert_eq!(
        KERNELS.each_ref().map(|kernel| kernel.name).join(" "),
        tested
    );
}

#[test]
fn one_block_serves_wide_and_tall_lattices() {
    let emulator = Emulator::load();
    let mut numbers = Numbers(11);
    for (width, height) in [
        (1, 2500),
        (2500, 1),
        (1025, 3),
        (3, 1025),
        (513, 9),
        (1024, 2),
    ] {
        let size = Size::new(width, height).unwrap();
        let start = numbers.lattice(size);
        let expected = reference::run(&start, Rule::LIFE, 3);
        for name in ["sync-global", "sync-shared"] {
            let kernel = kernels::find(name).unwrap();
            let got = advance(&emulator, kernel, (1024, 1), &start, Rule::LIFE, 3);
            assert_eq!(got, expected, "{name} on {size}");
        }
    }
}

#[test]
fn nought_generations_change_nothing() {
    let emulator = Emulator::load();
    let start = Numbers(13).lattice(Size::new(33, 9).unwrap());
    for name in ["sync-global", "sync-shared"] {
        let kernel = kernels::find(name).unwrap();
        assert_eq!(
            advance(&emulator, kernel, (1024, 1), &start, Rule::LIFE, 0),
            start
        );
    }
}

#[test]
fn rows_beyond_a_grids_y_go_on_in_z() {
    let emulator = Emulator::load();
    let start = Numbers(17).lattice(Size::new(2, 70_000).unwrap());
    let expected = reference::run(&start, Rule::LIFE, 1);
    for name in ["global", "shared"] {
        let kernel = kernels::find(name).unwrap();
        assert_eq!(
            kernel
                .launch(start.size(), (2, 1), Batch::of(1, 1), 132)
                .grid[2],
            2
        );
        let got = advance(&emulator, kernel, (2, 1), &start, Rule::LIFE, 1);
        assert!(got == expected, "{name}");
    }
}

fn symbol(kernel: SupportKernel) -> &'static str {
    kernel.row().symbol
}

/// Holds the kernels that unpack bits to a layout and pack them again against the layout's definition.
fn converts_both_ways(
    emulator: &Emulator,
    layout: Layout,
    [unpack, pack]: [SupportKernel; 2],
    lattice: &Lattice,
) {
    let size = lattice.size();
    let (mut w, mut h) = (size.width(), size.height());
    let mut words = Guarded::new(lattice.words(), GUARD);
    let mut cells = Guarded::new(&vec![UNWRITTEN; layout.words(size)], GUARD);
    let (mut words_at, mut cells_at) = (words.pointer(), cells.pointer());
    let shape = Launch::convert(size, 1, layout);
    let given = parameters!(words_at, cells_at, w, h);
    emulator.launch(symbol(unpack), shape, given);
    assert_eq!(cells.inner(), words_of(lattice, layout), "unpack {size}");
    words.0[64..64 + size.words()].fill(0x5555_5555);
    let given = parameters!(cells_at, words_at, w, h);
    emulator.launch(symbol(pack), shape, given);
    assert_eq!(words.inner(), lattice.words(), "pack {size}");
}

#[test]
fn layouts_convert_both_ways() {
    let emulator = Emulator::load();
    let mut numbers = Numbers(19);
    let kernels = [SupportKernel::UnpackI32, SupportKernel::PackI32];
    for (width, height) in engine::conformance::AWKWARD {
        let lattice = numbers.lattice(Size::new(width, height).unwrap());
        converts_both_ways(&emulator, Layout::I32, kernels, &lattice);
    }
}

#[test]
fn planes_convert_both_ways() {
    let emulator = Emulator::load();
    let mut numbers = Numbers(37);
    let kernels = [SupportKernel::UnpackPlanar, SupportKernel::PackPlanar];
    for width in [
        32, 33, 64, 95, 96, 128, 130, 991, 1000, 1023, 1024, 1025, 1056, 1152, 2048, 5000, 8192,
        8193, 9001,
    ] {
        for height in [1, 2, 9, 33] {
            let lattice = numbers.lattice(Size::new(width, height).unwrap());
            converts_both_ways(&emulator, Layout::Planar, kernels, &lattice);
        }
    }
}

#[test]
fn a_soup_is_the_hosts() {
    let emulator = Emulator::load();
    let densities = [0.5, 0.3, 0.25, 0.9, 1.0 / 65536.0, 0.0, 1.0];
    let mut turn = 0;
    for width in [1, 31, 32, 33, 63, 64, 65, 96, 1000, 1056, 5000] {
        for height in [1, 7, 64, 65, 200] {
            let size = Size::new(width, height).unwrap();
            let soup = Soup {
                density: densities[turn % densities.len()],
                seed: (u64::MAX / 3).wrapping_mul(turn as u64),
                instance: turn as u64 % 5,
            };
            turn += 1;
            let mut words = Guarded::new(&vec![0x5555_5555; size.words()], GUARD);
            let (mut words_at, mut w, mut h) = (words.pointer(), width as u32, height as u32);
            let (mut chance, mut key) = (soup.chance(), soup.key());
            let given = parameters!(words_at, w, h, chance, key);
            emulator.launch(symbol(SupportKernel::Soup), Launch::soup(size), given);
            assert!(
                words.inner() == soup.lattice(size).words(),
                "{size} {soup:?}"
            );
        }
    }
}

#[test]
fn edits_set_their_cells_in_every_layout() {
    let emulator = Emulator::load();
    let mut numbers = Numbers(41);
    for (width, height) in [
        (1, 1),
        (31, 3),
        (33, 9),
        (65, 70),
        (32, 5),
        (96, 9),
        (1056, 3),
    ] {
        let size = Size::new(width, height).unwrap();
        let before = numbers.lattice(size);
        for most in [3, 40 * size.words() as u32] {
            let mut after = before.clone();
            for _ in 0..most {
                let (x, y) = (
                    numbers.next() % size.width(),
                    numbers.next() % size.height(),
                );
                after.set(x, y, numbers.next().is_multiple_of(2));
            }
            let edits = WordEdit::between(&before, &after);
            if edits.is_empty() {
                continue;
            }
            let edit = |cells: *mut u32, layout: i32| {
                let list: Vec<u32> = edits
                    .iter()
                    .flat_map(|e| [e.word, e.mask, e.bits])
                    .collect();
                let mut list = Guarded::new(&list, GUARD);
                let (mut at, mut count) = (list.pointer(), edits.len() as i32);
                let (mut cells, mut width, mut layout) = (cells, size.width() as i32, layout);
                let shape = Launch::edit(edits.len() as u32);
                let given = parameters!(at, count, cells, width, layout);
                emulator.launch(symbol(SupportKernel::Edit), shape, given);
                list.inner();
            };
            for layout in [Layout::Bits, Layout::I32, Layout::Planar] {
                if layout == Layout::Planar && !size.width().is_multiple_of(32) {
                    continue;
                }
                let mut cells = Guarded::new(&words_of(&before, layout), GUARD);
                edit(cells.pointer(), layout.index());
                let expected = words_of(&after, layout);
                assert_eq!(cells.inner(), expected, "{layout:?} of {size}");
            }
        }
    }
}

#[test]
fn measures_are_against_the_one_before() {
    let emulator = Emulator::load();
    let mut numbers = Numbers(29);
    for (width, height) in [(1, 1), (33, 9), (64, 65), (512, 129), (3000, 100)] {
        let size = Size::new(width, height).unwrap();
        let words = size.words();
        let shape = Launch::measure(size, 2);
        let blocks = shape.grid[0] as usize;
        assert_eq!(blocks, words.div_ceil(2048), "{size}");
        let mut then = [Lattice::new(size), Lattice::new(size)];
        let mut before = Guarded::new(&vec![0; 2 * words], GUARD);
        let mut shares = Guarded::new(&vec![7u64; 2 * 4 * blocks], 99);
        let mut arrived = Guarded::new(&[0u32; 2], GUARD);
        for _ in 0..3 {
            let now = [numbers.lattice(size), numbers.lattice(size)];
            let both = now.each_ref().map(Lattice::words).concat();
            let mut bits = Guarded::new(&both, GUARD);
            let mut measures = Guarded::new(&[0u64; 8], 99);
            let (mut bits_at, mut before_at) = (bits.pointer(), before.pointer());
            let (mut shares_at, mut arrived_at) = (shares.pointer(), arrived.pointer());
            let (mut measures_at, mut count) = (measures.pointer(), words as u64);
            let mut first_word = 0u64;
            let given = parameters!(
                bits_at,
                before_at,
                shares_at,
                arrived_at,
                measures_at,
                count,
                first_word
            );
            emulator.launch(symbol(SupportKernel::Measure), shape, given);
            let found = measures.inner().chunks(4).map(|found| Measure {
                population: found[0],
                births: found[1],
                deaths: found[2],
                hash: found[3],
            });
            let want = (0..2).map(|i| engine::conformance::counted(&now[i], Some(&then[i])));
            assert!(found.eq(want), "{size}: {:?}", measures.inner());
            assert_eq!(before.inner(), both, "{size}");
            assert_eq!(bits.inner(), both, "{size}: only read");
            assert_eq!(
                (arrived.inner(), shares.inner().len()),
                (&[0, 0][..], 8 * blocks)
            );
            then = now;
        }
    }
}

#[test]
fn a_view_has_the_density_of_its_cells() {
    let emulator = Emulator::load();
    let mut numbers = Numbers(23);
    let one = ReduceRegion::ONE;
    for (width, height) in [(1, 1), (33, 9), (64, 64), (65, 130), (200, 31), (300, 301)] {
        let size = Size::new(width, height).unwrap();
        let (before, lattice) = (numbers.lattice(size), numbers.lattice(size));
        let steps = [
            one / 7,
            one / 2,
            one,
            one + 1,
            3 * one / 2,
            2 * one,
            33 * one - 5,
            97 * one, // all of the smaller ones
        ];
        let (across, down) = (width as i64 * one, height as i64 * one);
        let origins = [
            (0, 0),
            (-5 * one - 3, 7 * one / 2),
            (31 * one, -one),
            (across - 3 * one, 0),
            (across / 2, down - 2 * one - 9),
            (across - one / 3, down - one),
            (1000 * one, -1000 * one),
        ];
        for step in steps {
            for (x0, y0) in origins {
                for (px_width, px_height) in [(4, 3), (36, 5)] {
                    let view = ReduceRegion {
                        x0,
                        y0,
                        step,
                        width: px_width,
                        height: px_height,
                    };
                    let (mut w, mut h) = (width as u32, height as u32);
                    let both = [before.words(), lattice.words()].concat();
                    let mut words = Guarded::new(&both, GUARD);
                    let (bytes, mut stride) = (view.words() * 4, view.words() as u64 * 4 + 12);
                    let room = vec![77; stride as usize + bytes];
                    let mut pixels = Guarded::new(&room, 99u8);
                    let (mut words_at, mut pixels_at) = (words.pointer(), pixels.pointer());
                    let ReduceRegion {
                        mut x0,
                        mut y0,
                        mut step,
                        width: mut vw,
                        height: mut vh,
                    } = view;
                    let given =
                        parameters!(words_at, pixels_at, w, h, x0, y0, step, vw, vh, stride);
                    emulator.launch(
                        symbol(SupportKernel::Reduce),
                        Launch::reduce(view, 2),
                        given,
                    );
                    let (first, second) = pixels.inner().split_at(stride as usize);
                    for (is, of) in [(&first[..bytes], &before), (second, &lattice)] {
                        assert_eq!(
                            is,
                            engine::conformance::reduced(view, of),
                            "{view:?} {width}x{height}"
                        );
                    }
                    assert_eq!(first[bytes..], [77; 12], "between two views");
                }
            }
        }
    }
}
