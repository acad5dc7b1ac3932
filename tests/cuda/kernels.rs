//! The kernels as they stand in their `.cu` files, run by the emulator under the tests' driver: sizes,
//! numbers of generations and GPUs for which `lifestreams verify` has no time.

use engine::conformance::{Cases, Fixture, rules};
use engine::kernels::{self, Batch};
use engine::{LatticeOp, Layout, Op, Transfer};
use life::{Rule, Size, reference};
use session::DeviceChoice;
use session::instances::open_engine;

use crate::ops::{Variable, alone, download, on_cuda};

/// Engines' GPUs have so many multiprocessors while it lives.
fn multiprocessors(count: u32) -> Variable {
    Variable::set("FAKE_CUDA_SMS", &count.to_string())
}

fn fixture(sizes: Vec<Size>, rules: Vec<Rule>, generations: u32) -> Fixture {
    let cases = Cases {
        sizes,
        max_cells: u64::MAX,
        rules,
        random_rules: 0,
        generations: vec![generations],
        seeds: 1,
    };
    Fixture::new(open_engine(DeviceChoice::Cuda).unwrap(), cases).unwrap()
}

fn sizes(widths: &[u64], heights: &[u64]) -> impl Iterator<Item = Size> {
    let of_width = move |&width: &u64| heights.iter().map(move |&it| Size::new(width, it).unwrap());
    widths.iter().flat_map(of_width)
}

/// Holds a kernel against the reference on lattices of every width with every height that it takes:
/// the sizes in turn for each number of generations, by Life and by another rule.
fn agrees(name: &str, widths: &[u64], heights: &[u64], generations: &[u32]) {
    let _alone = alone();
    let kernel = kernels::find(name).unwrap();
    let rules = rules();
    for (nth, &count) in generations.iter().enumerate() {
        let _count = multiprocessors([20, 84, 132, 148][nth % 4]);
        let taken = sizes(widths, heights).filter(|&size| kernel.supports(size));
        let sizes: Vec<Size> = taken.skip(nth).step_by(generations.len()).collect();
        let cases = 2 * sizes.len();
        let rules = vec![Rule::LIFE, rules[1 + nth % (rules.len() - 1)]];
        let outcome = fixture(sizes, rules, count).check_kernel(kernel).unwrap();
        assert_eq!(outcome.wrong, [""; 0], "{name}, {count}");
        assert!(cases > 0 && outcome.cases == cases, "{name}, {count}");
    }
}

#[test]
fn planar_words_agree() {
    let widths = [32, 33, 63, 64, 96, 100, 128, 160, 161, 1000, 1056];
    agrees("planar", &widths, &[1, 2, 3, 7, 8, 9, 16, 33], &[1, 2, 3]);
}

#[test]
fn several_steps_agree() {
    // Rings of 1 to 32 lanes, and windows of 3, 30, 31, 16 and 31 of them.
    let widths = [
        128, 256, 384, 512, 1024, 2048, 3840, 3968, 4096, 7936, // whole lanes
        129, 159, 250, 257, 1000, 3833, 4095, // and others
    ];
    let generations = [1, 2, 3, 4, 7, 33];
    agrees("multistep", &widths, &[1, 2, 3, 5, 9, 40, 41], &generations);
    // Windows of 28, 29 and 62 lanes; planes of 4 to 8 words.
    let deep = [3584, 3712, 160, 190, 192, 200, 224];
    let widths = [&widths[..], &deep].concat();
    agrees("deep", &widths, &[1, 2, 3, 5, 9, 40, 41], &generations);
}

#[test]
fn several_steps_agree_after_many_generations() {
    let generations: Vec<u32> = (1..=33).chain(63..=65).collect();
    let heights: Vec<u64> = (4..37).collect();
    agrees("multistep", &[128, 384, 150], &heights, &generations);
    let widths = [128, 384, 150, 170, 210];
    agrees("deep", &widths, &heights, &generations);
}

#[test]
fn residents_agree() {
    for generations in [1, 2, 3, 8, 31, 32, 33, 64, 65] {
        agrees("resident", &[32, 64, 128], &[32, 64, 128], &[generations]);
    }
    // Words across and rows down that are not full, of each number of them.
    for most in (64..=256).step_by(32) {
        let sides = [most - 31, most - 9, most];
        agrees("resident", &sides, &sides, &[1, 2, 3]);
    }
}

#[test]
fn blocks_that_exchange_mail_agree() {
    // Halos last for four or eight generations; then they are received anew.
    let generations = [1, 2, 3, 4, 7, 33];
    let widths = [128, 129, 200, 255, 256, 320, 500, 512];
    agrees("cooperative", &widths, &[16, 33, 64, 101], &generations);
    agrees("cooperative", &[600, 1000, 1024], &[64, 100], &[7, 3]);
    agrees("cooperative", &[1500, 2048, 2049], &[40], &[7, 2]);
    agrees("cooperative", &[4096, 4100, 5000, 5120], &[32], &[7, 2]);
}

/// Every variant, with work for which it is the fastest on two multiprocessors: size and lattices.
#[test]
fn every_variant_of_blocks_that_exchange_mail_agrees() {
    let kernel = kernels::find("cooperative").unwrap();
    let rules = rules();
    let works = [
        ("128x300", 1),
        ("130x400", 1),
        ("256x300", 1),
        ("700x200", 1),
        ("700x900", 1),
        ("1280x128", 1),
        ("300x900", 1),
        ("128x16", 1),
        ("130x128", 8),
        ("128x150", 24),
        ("200x100", 8),
    ];
    for (entry, (size, lattices)) in works.into_iter().enumerate() {
        let batch = Batch::of(1, lattices);
        let launch = kernel.launch(size.parse().unwrap(), kernel.block(), batch, 2);
        assert_eq!(launch.entry, entry, "{size}, {lattices}: {launch:?}");
        let _two = multiprocessors(2);
        on_cuda(|lab| {
            let soups = lab.soups(lattices, size);
            lab.engine.reserve(Layout::Planar).unwrap();
            let mut wanted = soups.starts.clone();
            for (rule, count) in [(Rule::LIFE, 9), (rules[entry % rules.len()], 5)] {
                lab.run(&soups.program([
                    Op::unpack(0..lattices, Layout::Planar),
                    Op::advance(kernel, 0..1, rule, count),
                    LatticeOp::Pack.on(0..lattices),
                    download(0..lattices, 2, Transfer::Bits),
                ]));
                wanted[0] = reference::run(&wanted[0], rule, count.into());
                for (i, want) in (0..).zip(&wanted) {
                    let same = soups.read(i, 2) == want.words();
                    assert!(same, "lattice {i} of {lattices}, {size}, {rule}");
                }
            }
        });
    }
    assert_eq!(works.len(), kernel.entries.len());
}

#[test]
fn one_block_serves_wide_and_tall_lattices() {
    for name in ["sync-global", "sync-shared"] {
        for (width, height) in [
            (1, 2500),
            (2500, 1),
            (1025, 3),
            (3, 1025),
            (513, 9),
            (1024, 2),
        ] {
            agrees(name, &[width], &[height], &[3]);
        }
    }
}

/// With blocks of one row there are more rows of blocks than a grid has in y.
#[test]
fn rows_beyond_a_grids_y_go_on_in_z() {
    let _alone = alone();
    let size = Size::new(1, 66_001).unwrap();
    let kernel = kernels::find("global").unwrap();
    let launch = kernel.launch(size, (128, 1), Batch::of(1, 1), 132);
    assert!(kernel.blocks.contains(&(128, 1)) && launch.grid[2] == 2);
    let mut fixture = fixture(vec![size], Vec::new(), 1);
    for name in ["global", "shared"] {
        let kernel = kernels::find(name).unwrap();
        let outcome = fixture.check(|it| it.check_block(kernel, (128, 1)));
        assert_eq!(outcome.unwrap().wrong, [""; 0], "{name}");
    }
}
