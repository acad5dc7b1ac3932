//! Each switch shows in the calls, in both languages, and nothing that is not so.

use super::*;
use crate::fixtures::status;
use engine::kernels::{KERNELS, find};
use model::Switch;

fn with(change: impl FnOnce(&mut Status)) -> [String; 2] {
    let mut status = status(16, Size::new(512, 512).unwrap());
    change(&mut status);
    let calls = calls(&status);
    [calls.cpp.join("\n"), calls.rust.join("\n")]
}

/// What both languages must say, and what neither may.
fn assert_says(calls: &[String; 2], cpp: &[&str], rust: &[&str], never: &[&str]) {
    for (text, wanted) in calls.iter().zip([cpp, rust]) {
        for wanted in wanted {
            assert!(text.contains(wanted), "'{wanted}' in\n{text}");
        }
        for never in never {
            assert!(!text.contains(never), "'{never}' in\n{text}");
        }
    }
}

#[test]
fn the_defaults_are_a_loop_of_launches_and_a_loop_of_downloads() {
    let [cpp, rust] = with(|_| {});
    let wanted = "\
// once
for (int i = 0; i < 16; i++) {
    cudaStreamCreateWithFlags(
        &stream[i], cudaStreamNonBlocking);
    cudaMallocHost(&host[i], 32768);
}

// each round
for (int i = 0; i < 16; i++) {
    life_sync_global<<<1, dim3(32, 32), 0, stream[i]>>>(
        cells[i], next[i], 512, 512, rule, 1);
    std::swap(cells[i], next[i]);
}
for (int i = 0; i < 16; i++) {
    pack_i32<<<dim3(16, 64), dim3(32, 8), 0, stream[i]>>>(
        cells[i], bits[i], 512, 512);
}
for (int i = 0; i < 16; i++) {
    cudaMemcpyAsync(host[i], bits[i], 32768,
        cudaMemcpyDeviceToHost, stream[i]);
    cudaEventRecord(done[i], stream[i]);
}
// later, without waiting: cudaEventQuery(done[i])";
    assert_eq!(cpp, wanted);
    let wanted = "\
// once
for i in 0..16 {
    stream.push(
        Stream::new(StreamFlags::NON_BLOCKING, None)?);
    host.push(LockedBuffer::new(&0u32, 8192)?);
}

// each round
for i in 0..16 {
    let s = &stream[i];
    unsafe { launch!(life_sync_global<<<1, (32, 32), 0, s>>>(
        cells[i].as_device_ptr(), next[i].as_device_ptr(),
        512, 512, rule, 1))? };
    swap(&mut cells[i], &mut next[i]);
}
for i in 0..16 {
    let s = &stream[i];
    unsafe { launch!(pack_i32<<<(16, 64), (32, 8), 0, s>>>(
        cells[i].as_device_ptr(), bits[i].as_device_ptr(),
        512, 512))? };
}
for i in 0..16 {
    let s = &stream[i];
    unsafe { bits[i].async_copy_to(&mut host[i], s)? };
    done[i].record(s)?;
}
// later, without waiting: done[i].query()?";
    assert_eq!(rust, wanted);
}

#[test]
fn streams_are_one_each_one_for_all_or_none() {
    let one = with(|status| status.switches.streams = Streams::One);
    assert_says(
        &one,
        &[
            "&stream, cudaStreamNonBlocking",
            "0, stream>>>",
            "done[i], stream)",
        ],
        &["let s = &Stream::new", "0, s>>>"],
        &["stream[i]", "default"],
    );
    let default = with(|status| status.switches.streams = Streams::Default);
    assert_says(
        &default,
        &[
            "<<<1, dim3(32, 32)>>>",
            "cudaMemcpyDeviceToHost);",
            "cudaEventRecord(done[i]);",
        ],
        &["cuLaunchKernel(life_sync_global, 1, 1, 1,", "null_mut()"],
        &["stream[i]", "Stream::new", "StreamCreate"],
    );
}

#[test]
fn memory_wait_and_order_show() {
    let pageable = with(|status| status.switches.host_memory = HostMemory::Pageable);
    let never = ["cudaMallocHost", "LockedBuffer"];
    assert_says(&pageable, &["malloc(32768)"], &["vec![0u32; 8192]"], &never);
    let each = with(|status| status.switches.wait = Wait::Each);
    let cpp = ["    cudaStreamSynchronize(stream[i]);"];
    assert_says(&each, &cpp, &["    s.synchronize()?;"], &["later"]);
    let all = with(|status| status.switches.wait = Wait::All);
    let cpp = ["}\ncudaDeviceSynchronize();"];
    assert_says(
        &all,
        &cpp,
        &["}\nCurrentContext::synchronize()?;"],
        &["later"],
    );
    let loops = |calls: &[String; 2]| calls.clone().map(|text| text.matches("\nfor ").count());
    let depth = with(|status| status.switches.order = Order::Depth);
    // One more makes streams and memory.
    assert_eq!(loops(&depth), [2, 2]);
    assert_eq!(loops(&with(|_| {})), [4, 4]);
}

#[test]
fn a_graph_is_captured_once_and_launched_each_round() {
    let graphs = with(|status| status.switches.graphs = true);
    for text in &graphs {
        let (once, round) = text.split_once("// each round").unwrap();
        assert!(once.contains("BeginCapture") && once.contains("life_sync_global"));
        assert!(once.contains("EndCapture") && once.contains("GraphInstantiate"));
        assert!(
            round.contains("GraphLaunch") && !round.contains("for "),
            "{round}"
        );
    }
    let one = with(|status| {
        status.switches.graphs = true;
        status.switches.streams = Streams::One;
    });
    assert_says(
        &one,
        &["cudaGraphLaunch(ready, stream);"],
        &["cuGraphLaunch(ready, s.as_inner());"],
        &["fork", "origin"],
    );
}

#[test]
fn what_crosses_the_bus_shows() {
    let view = with(|status| status.transfer = Transfer::View);
    assert_says(
        &view,
        &["reduce_bits<<<grid", "host[i], view[i]"],
        &["view[i].async_copy_to"],
        &[],
    );
    let cells = with(|status| status.transfer = Transfer::Cells);
    let cpp = [
        "host[i], cells[i], 1048576",
        "cudaMallocHost(&host[i], 1048576)",
    ];
    assert_says(
        &cells,
        &cpp,
        &["cells[i].async_copy_to", "262144"],
        &["pack_i32"],
    );
    let bits = with(|status| status.kernel = find("bits").unwrap());
    let cpp = [
        "host[i], cells[i], 32768",
        "life_bits<<<dim3(1, 16), dim3(32, 8)",
    ];
    assert_says(&bits, &cpp, &["cells[i].async_copy_to"], &["pack_i32"]);
}

#[test]
fn blocks_and_generations_show() {
    let shaped = with(|status| {
        status.kernel = find("shared").unwrap();
        status.switches.block = Some((16, 16));
        status.generations_per_round = 8;
    });
    assert_says(
        &shaped,
        &["dim3(32, 32), dim3(16, 16), 1296, stream[i]", "g < 8"],
        &["(32, 32), (16, 16), 1296, s", "for _ in 0..8"],
        &[],
    );
    let even = with(|status| status.generations_per_round = 100);
    assert_says(&even, &["rule, 100"], &["rule, 100"], &["swap"]);
    let in_place = with(|status| status.kernel = find("sync-shared").unwrap());
    assert_says(
        &in_place,
        &["        cells[i], 512"],
        &[],
        &["swap", "next"],
    );
}

#[test]
fn a_march_has_fewer_launches_and_residents_are_one() {
    let sweep = |generations| {
        with(|status| {
            status.kernel = find("multistep").unwrap();
            status.generations_per_round = generations;
        })
    };
    assert_says(
        &sweep(8),
        &["g < 2", "rule, 4);", "pack_planar<<<"],
        &["for _ in 0..2", "rule, 4))"],
        &["min("],
    );
    let rest = "rule, min(4, 6 - 4 * g))";
    assert_says(&sweep(6), &["g < 2", rest], &["for g in 0..2", rest], &[]);
    let residents = with(|status| {
        status.kernel = find("resident").unwrap();
        status.size = Size::new(128, 128).unwrap();
        status.switches.streams = Streams::Batch;
        status.generations_per_round = 100;
    });
    assert_says(
        &residents,
        &[
            "life_resident<<<16, ",
            "    cells, 128, 128, rule, 100);",
            "    cells, bits, 128, 16 * 128);",
            "cudaMallocHost(&host, 32768)",
            "cudaMemcpyAsync(host, bits, 32768",
            "cudaEventRecord(done, stream)",
        ],
        &[
            "life_resident<<<16, ",
            "    cells.as_device_ptr(),",
            "128, 16 * 128))",
            "let mut host = LockedBuffer::new(&0u32, 8192)?;",
            "bits.async_copy_to(&mut host, s)",
        ],
        &["next", "swap", "for ", "[i]"],
    );
}

#[test]
fn no_line_is_longer_than_a_narrow_lab_shows() {
    let size = Size::new(4096, 4096).unwrap();
    for kernel in KERNELS
        .iter()
        .filter(|kernel| kernel.validate_size(size).is_ok())
    {
        for switch in Switch::ALL {
            let mut status = status(200, size);
            status.kernel = kernel;
            for choice in switch.choices(status.switches, kernel) {
                status.switches = choice.switches;
                let calls = calls(&status);
                for line in calls.cpp.iter().chain(&calls.rust) {
                    assert!(line.chars().count() <= 68, "{line}");
                }
            }
        }
    }
}
