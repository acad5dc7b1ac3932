//! The tables against the sources and their PTX.

use std::collections::BTreeSet;

use super::instrumentation::instrument;
use super::*;
use crate::buffer_kernels::{ArgumentType, LESSON_KERNELS, LOP3_PER_ITERATION, PROBE_KERNELS};

#[test]
fn launches_and_changes_of_buffer_are_counted() {
    for (name, generations, launches, flips) in [
        ("bits", 5, 5, true),
        ("multistep", 0, 0, false),
        ("multistep", 5, 2, false),
        ("multistep", 12, 3, true),
        ("sync-global", (1 << 30) + 1, 2, true),
        ("sync-shared", 1 << 31, 2, false),
        ("resident", u32::MAX, 4, false),
    ] {
        let kernel = find(name).unwrap();
        assert_eq!(kernel.launches(generations), launches, "{name}");
        assert_eq!(kernel.swaps_buffers(generations), flips, "{name}");
    }
}

#[test]
fn shared_memory_stays_below_the_default_limit() {
    for kernel in &KERNELS {
        let side = kernel.max_cells.map_or(512, |most| most.isqrt()).min(512);
        let size = Size::new(side, side).unwrap();
        let launch = kernel.launch(size, kernel.block(), Batch::of(1, 1), 132);
        assert!(
            launch.shared_bytes <= 48 * 1024,
            "{}: {launch:?}",
            kernel.name
        );
    }
}

#[test]
fn a_rung_s_text_is_cut_into_its_functions() {
    let count = |text: &str| text.lines().filter(|line| line.ends_with(';')).count();
    for ptx in Ptx::all() {
        let symbols: Vec<&str> = ptx.symbols().collect();
        let (head, _) = ptx.text.split_once(".visible .entry").unwrap();
        let mut lines = count(head);
        for symbol in &symbols {
            let only = ptx.only(symbol);
            assert_eq!(only.matches(".entry").count(), 1, "{symbol}");
            assert!(only.contains(&format!(".entry {symbol}(")));
            assert!(only.starts_with(ptx.text.lines().next().unwrap()));
            lines += count(&only) - count(head);
        }
        assert_eq!(lines, count(&ptx.text), "every instruction is in one entry");
    }
}

/// Bytes of each parameter of an entry, in order.
fn parameters(text: &str, symbol: &str) -> Vec<usize> {
    let (_, rest) = text
        .split_once(&format!(".visible .entry {symbol}(\n"))
        .unwrap_or_else(|| panic!("there is no {symbol}"));
    let (list, _) = rest.split_once(")\n").unwrap();
    list.lines()
        .map(|line| match line.split_whitespace().nth(1).unwrap() {
            ".u64" => 8,
            ".u32" | ".f32" => 4,
            other => panic!("{symbol}: a parameter of type {other}"),
        })
        .collect()
}

#[test]
fn every_entry_takes_the_parameters_of_its_row() {
    let bytes = |list: &[Parameter]| list.iter().map(|one| one.bytes()).collect::<Vec<_>>();
    let mut rows: Vec<(&str, &str, Vec<usize>)> = Vec::new();
    for kernel in &KERNELS {
        for entry in kernel.entries {
            let network = kernel
                .by_network
                .then(|| format!("{entry}_by_network").leak() as &str);
            let of_symbol = |symbol| (kernel.file, symbol, bytes(kernel.parameters));
            rows.extend([*entry].into_iter().chain(network).map(of_symbol));
        }
    }
    for row in [
        SupportKernel::PACK_I32,
        SupportKernel::PACK_PLANAR,
        SupportKernel::UNPACK_I32,
        SupportKernel::UNPACK_PLANAR,
        SupportKernel::SOUP,
        SupportKernel::EDIT,
        SupportKernel::REDUCE,
        SupportKernel::COUNT,
        SupportKernel::MEASURE,
        SupportKernel::CLOCK,
    ] {
        rows.push((row.file, row.symbol, bytes(row.parameters)));
    }
    for kernel in LESSON_KERNELS.into_iter().chain(PROBE_KERNELS) {
        let bytes = |of: &ArgumentType| match of {
            ArgumentType::Buffer | ArgumentType::U64 => 8,
            ArgumentType::I32 | ArgumentType::U32 | ArgumentType::F32 => 4,
        };
        let list = kernel.parameters.iter().map(bytes).collect();
        rows.push((kernel.name, kernel.name, list));
    }
    for (file, symbol, mut expected) in rows.clone() {
        let text = Ptx::find(file).unwrap().only(symbol);
        assert_eq!(parameters(&text, symbol), expected, "{symbol}");
        let instrumented = instrument(&text).unwrap();
        expected.push(8); // the address of the records
        assert_eq!(parameters(&instrumented, symbol), expected, "{symbol}");
        assert!(expected.len() <= MAX_PARAMETERS, "{symbol}");
    }
    let of_rows: BTreeSet<_> = rows.iter().map(|row| (row.0, row.1)).collect();
    let of_ptx = Ptx::all()
        .iter()
        .flat_map(|ptx| ptx.symbols().map(|symbol| (ptx.stem, symbol)));
    assert_eq!(of_rows, of_ptx.collect(), "every entry has a row");
}

#[test]
fn an_iteration_of_the_lop3_probe_has_as_many_as_are_counted() {
    let operations = Ptx::find("lop3_rate")
        .unwrap()
        .text
        .matches("lop3.b32")
        .count();
    assert_eq!(operations as u64, LOP3_PER_ITERATION);
}

#[test]
fn a_thread_has_as_many_rows_as_the_table_says() {
    for kernel in &KERNELS {
        let mut lines = kernel.code()[1].lines();
        let rows = lines.find_map(|line| line.strip_prefix("#define ROWS "));
        let rows: u32 = rows.map_or(1, |rows| rows.split(' ').next().unwrap().parse().unwrap());
        assert_eq!(rows, kernel.rows_per_thread, "{}", kernel.file);
    }
}

#[test]
fn an_own_kernel_is_its_rungs_row_with_its_own_code() {
    let rung = find("planar").unwrap();
    let ptx = Ptx::find(rung.file).unwrap();
    let text = ptx.only(rung.entries[0]);
    let with_lines = text.replace("\n{\n", "\n{\n\t.loc\t1 7 0\n") + ".section .debug_str\n{\n}\n";
    let own = |gpu| {
        let code = OwnCode {
            rung,
            source: "// from: 06_planar\nint a;\n".into(),
            rules: None,
            gpu: Some(gpu),
            cpu: None,
        };
        Kernel::own(code, (32, 4))
    };
    let kernel = own(GpuCode::Ptx(with_lines));
    assert!(
        kernel.block_timestamps,
        "compilers may add lines of the source"
    );
    assert!(!own(GpuCode::Cubin(vec![127])).block_timestamps);
    assert_eq!((kernel.index(), kernel.rung()), (KERNELS.len(), rung));
    assert_eq!(kernel.compared_with(), Some(rung));
    assert_eq!(kernel.code(), ["// from: 06_planar\n", "int a;\n"]);
    assert_eq!(kernel.source(), "", "nothing of it is recorded");
    assert!(rung.has_network("B36/S23".parse().unwrap()));
    assert!(!kernel.has_network("B36/S23".parse().unwrap()));
    assert_eq!(kernel.validate_block((32, 4)), Ok(()));
    assert!(kernel.validate_block((32, 8)).is_err());
    assert!(kernel != rung && kernel != own(GpuCode::Cubin(vec![127])));
    assert_eq!(with_own(Some(kernel)).nth(KERNELS.len()), Some(kernel));
}

/// That they step every row is for the conformance suite.
#[test]
fn a_sweep_has_as_many_warps_as_have_work() {
    let warps = [
        // Four windows of 243 warps and a fifth of 81: at most eight warps per SM.
        ("multistep", "16384x16384", 1, 132),
        ("multistep", "1024x4096", 16, 132), // a ring of lanes
        ("multistep", "129x70000", 3, 84),
        ("multistep", "4095x9", 1, 20),
        ("multistep", "16777216x9", 200, 148),
        ("deep", "16384x16384", 1, 132),
        ("deep", "3840x100", 200, 148),
        ("deep", "128x1048576", 1, 20),
    ];
    let warps = warps.map(|(name, size, lattices, sm_count)| {
        let (kernel, batch) = (find(name).unwrap(), Batch::of(lattices, lattices));
        let launch = kernel.launch(size.parse().unwrap(), kernel.block(), batch, sm_count);
        assert_eq!(launch.grid[1..], [lattices, 1]);
        launch.grid[0]
    });
    let wanted = [4 * 243 + 81, 66, 224, 4, 4370, 1055, 5, 160];
    assert_eq!(warps, wanted);
}
