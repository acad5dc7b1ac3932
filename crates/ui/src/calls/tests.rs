//! Each switch shows in the calls, in both languages, and nothing that is not so.

use super::*;
use crate::fixtures::status;
use std::io::Write as _;
use std::process::{Command, Stdio};

use engine::Cut;
use engine::kernels::{KERNELS, find};
use session::{Switch, Switches};

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
    cudaEventCreate(&done[i]);
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
    done.push(Event::new(EventFlags::DEFAULT)?);
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
    let one = with(|status| status.setting.switches.streams = Streams::One);
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
    let default = with(|status| status.setting.switches.streams = Streams::Default);
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
fn a_lattice_in_bands_is_stepped_band_by_band_without_a_graph() {
    let split = with(|status| {
        status.engine.cut = Some(Cut::DEFAULT);
        status.engine.devices = vec![status.engine.devices[0].clone(); 2];
        status.lattices.size = Size::new(512, 4096).unwrap();
        status.setting.switches.graphs = true;
        status.setting.kernel = find("multistep").unwrap();
    });
    // 4096 / 4 rows and both halos; its own rows of 16 words each are downloaded.
    let size = "512, 1216";
    let cpp = [size, "bits[i] + 1536, 65536,", "every 96 generations"];
    let rust = [size, "bits[i].index(1536..17920).async_copy_to("];
    assert_says(&split, &cpp, &rust, &["4096", "Capture"]);
}

#[test]
fn memory_wait_and_order_show() {
    let pageable = with(|status| status.setting.switches.host_memory = HostMemory::Pageable);
    let never = ["cudaMallocHost", "LockedBuffer"];
    assert_says(&pageable, &["malloc(32768)"], &["vec![0u32; 8192]"], &never);
    let each = with(|status| status.setting.switches.wait = Wait::Each);
    let cpp = ["    cudaStreamSynchronize(stream[i]);"];
    assert_says(&each, &cpp, &["    s.synchronize()?;"], &["later"]);
    let all = with(|status| status.setting.switches.wait = Wait::All);
    let cpp = ["}\ncudaDeviceSynchronize();"];
    assert_says(
        &all,
        &cpp,
        &["}\nCurrentContext::synchronize()?;"],
        &["later"],
    );
    let loops = |calls: &[String; 2]| calls.clone().map(|text| text.matches("\nfor ").count());
    let depth = with(|status| status.setting.switches.order = Order::Depth);
    // One more makes streams and memory.
    assert_eq!(loops(&depth), [2, 2]);
    assert_eq!(loops(&with(|_| {})), [4, 4]);
}

#[test]
fn a_graph_is_captured_once_and_launched_each_round() {
    let graphs = with(|status| status.setting.switches.graphs = true);
    for text in &graphs {
        let (once, round) = text.split_once("// each round").unwrap();
        assert!(once.contains("BeginCapture") && once.contains("life_sync_global"));
        assert!(once.contains("EndCapture") && once.contains("GraphInstantiate"));
        assert!(
            round.contains("GraphLaunch") && !round.contains("for "),
            "{round}"
        );
    }
    let cpp = [
        "cudaEventCreate(&fork);",
        "cudaEventCreate(&end);",
        "cudaEventRecord(end, origin);",
    ];
    let rust = ["let fork = Event::new", "end.record(&origin)?;"];
    assert_says(&graphs, &cpp, &rust, &[]);
    let one = with(|status| {
        status.setting.switches.graphs = true;
        status.setting.switches.streams = Streams::One;
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
    let view = with(|status| status.setting.transfer = Transfer::View);
    assert_says(
        &view,
        &["reduce_bits<<<grid", "host[i], view[i]"],
        &["view[i].async_copy_to"],
        &[],
    );
    let cells = with(|status| status.setting.transfer = Transfer::Cells);
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
    let bits = with(|status| status.setting.kernel = find("bits").unwrap());
    let cpp = [
        "host[i], cells[i], 32768",
        "life_bits<<<dim3(1, 16), dim3(32, 8)",
    ];
    assert_says(&bits, &cpp, &["cells[i].async_copy_to"], &["pack_i32"]);
}

#[test]
fn blocks_and_generations_show() {
    let shaped = with(|status| {
        status.setting.kernel = find("shared").unwrap();
        status.setting.switches.block = Some((16, 16));
        status.setting.generations_per_round = 8;
    });
    assert_says(
        &shaped,
        &["dim3(32, 32), dim3(16, 16), 1296, stream[i]", "g < 8"],
        &["(32, 32), (16, 16), 1296, s", "for _ in 0..8"],
        &[],
    );
    let even = with(|status| status.setting.generations_per_round = 100);
    assert_says(&even, &["rule, 100"], &["rule, 100"], &["swap"]);
    let in_place = with(|status| status.setting.kernel = find("sync-shared").unwrap());
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
            status.setting.kernel = find("multistep").unwrap();
            status.setting.generations_per_round = generations;
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
        status.setting.kernel = find("resident").unwrap();
        status.lattices.size = Size::new(128, 128).unwrap();
        status.setting.switches.streams = Streams::Batch;
        status.setting.generations_per_round = 100;
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
fn a_round_of_ones_own_is_its_calls() {
    let source = "for i in 0..N { advance(i, 0); record(i, 0); wait(i, 1); download(i, 1); }";
    let own = |instances: usize| {
        with(|status| {
            status.lattices.instances = instances;
            status.setting.switches.order = Order::Own;
            let own = session::OwnRound::new(source.into(), instances);
            status.setting.own_round = Some(Arc::new(own));
        })
    };
    assert_says(
        &own(2),
        &[
            "for (int s = 0; s < 2; s++) {",
            "auto advance = [&](int i, cudaStream_t s) {",
            "advance(1, stream[0]);\ncudaEventRecord(event[1], stream[0]);\n\
             cudaStreamWaitEvent(stream[1], event[1]);\ndownload(1, stream[1]);",
        ],
        &[
            "let mut download = |i: usize, s: &Stream| {",
            "advance(1, &stream[0])?;\nevent[1].record(&stream[0])?;\n\
             cuStreamWaitEvent(stream[1].as_inner(), event[1], 0);",
        ],
        &["so on", "stream[i]"],
    );
    let many = "// … and so on for 40 instances";
    assert_says(&own(40), &[many], &[many], &["advance(20,"]);
}

#[test]
fn no_line_is_longer_than_a_narrow_lab_shows() {
    let size = Size::new(4096, 4096).unwrap();
    for kernel in KERNELS.iter().filter(|kernel| kernel.supports(size)) {
        for switch in Switch::ALL {
            let mut status = status(200, size);
            status.setting.kernel = kernel;
            for choice in switch.choices(status.setting.switches, kernel) {
                status.setting.switches = choice.switches;
                let calls = calls(&status);
                for line in calls.cpp.iter().chain(&calls.rust) {
                    assert!(line.chars().count() <= 68, "{line}");
                }
            }
        }
    }
}

/// What a program has around the calls: the runtime's interface, the kernels, and the variables
/// that hold what was allocated before, for each instance or for a batch.
const AROUND_CALLS: &str = r#"
#include <cstddef>
#include <cstdlib>
#include <utility>

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
typedef struct CUstream_st* cudaStream_t;
typedef struct CUevent_st* cudaEvent_t;
typedef struct CUgraph_st* cudaGraph_t;
typedef struct CUgraphExec_st* cudaGraphExec_t;
enum cudaError_t { cudaSuccess };
enum cudaMemcpyKind { cudaMemcpyDeviceToHost };
enum cudaStreamCaptureMode { cudaStreamCaptureModeRelaxed };
const unsigned cudaStreamNonBlocking = 1;
cudaError_t cudaStreamCreateWithFlags(cudaStream_t*, unsigned);
cudaError_t cudaStreamSynchronize(cudaStream_t);
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned = 0);
cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode);
cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t*);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t*, cudaGraph_t, unsigned long long = 0);
cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t);
cudaError_t cudaEventCreate(cudaEvent_t*);
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t = 0);
cudaError_t cudaMallocHost(void**, size_t);
cudaError_t cudaMemcpyAsync(void*, const void*, size_t, cudaMemcpyKind, cudaStream_t = 0);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaLaunchCooperativeKernel(
    const void*, dim3, dim3, void**, size_t = 0, cudaStream_t = 0);
int min(int, int);

struct Launch {
    Launch(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = 0);
};
void pack_i32(Launch, unsigned*, unsigned*, int, int);
void pack_planar(Launch, unsigned*, unsigned*, int, int);
void reduce_bits(Launch, unsigned*, unsigned char*, int, int, long long, long long, long long,
    int, int, unsigned long long);

extern unsigned rule;
extern dim3 grid;
extern long long x0, y0, step;
extern int px_width, px_height;
extern unsigned long long stride;
extern size_t view_bytes;
extern cudaStream_t origin;
extern cudaEvent_t fork, end;
extern cudaGraph_t graph;
extern cudaGraphExec_t ready;
"#;

/// A function around a program's calls, with the kernels that it launches.
fn function_around(status: &Status, number: usize) -> String {
    let batches = status.setting.switches.streams == Streams::Batch;
    let of = |name: &str| {
        if batches {
            name.into()
        } else {
            format!("{name}[16]")
        }
    };
    let buffers = ["cells", "next", "mail", "bits"].map(of).join(", *");
    let [view, host, done] = ["view", "host", "done"].map(of);
    let stream = match status.setting.switches.streams {
        Streams::PerInstance => "stream[16]",
        Streams::One | Streams::Default | Streams::Batch => "stream",
    };
    // g++ knows no launches: what stands between the angles becomes an argument.
    let calls = calls(status).cpp.join("\n");
    let calls = calls.replace("<<<", "(Launch(").replace(">>>(", "), ");
    format!(
        "void calls_{number}() {{
    unsigned *{buffers};
    unsigned char *{view};
    void *{host};
    cudaStream_t {stream};
    cudaEvent_t {done};
{calls}
}}
"
    )
}

/// Declares a kernel as its launches call it.
fn declaration(kernel: &engine::Kernel, symbol: &str) -> String {
    let cpp_type = |parameter: &Parameter| match parameter {
        Parameter::From | Parameter::To | Parameter::Cells => "unsigned*",
        Parameter::Mail => "void*",
        Parameter::RuleTable => "unsigned",
        _ => "int",
    };
    let launch = (!kernel.cooperative).then_some("Launch").into_iter();
    let types = launch.chain(kernel.parameters.iter().map(cpp_type));
    let types: Vec<_> = types.collect();
    format!("void {symbol}({});\n", types.join(", "))
}

#[test]
fn the_calls_in_cpp_compile() {
    let mut programs = std::collections::BTreeSet::new();
    let mut text = AROUND_CALLS.to_owned();
    let mut functions = String::new();
    for kernel in KERNELS.iter() {
        for entry in kernel.entries {
            text += &declaration(kernel, entry);
        }
        let sizes = [128, 512, 4096].map(|side| Size::new(side, side).unwrap());
        let takes = |size: &Size| kernel.supports(*size);
        let size = sizes.into_iter().rfind(takes).unwrap();
        let mut statuses = Vec::new();
        for first in Switch::ALL {
            for one in first.choices(Switches::DEFAULT, kernel) {
                for second in Switch::ALL {
                    statuses.extend(second.choices(one.switches, kernel));
                }
            }
        }
        let possible = statuses.into_iter().filter(|it| it.unavailable.is_none());
        for switches in possible.map(|choice| choice.switches) {
            for transfer in [Transfer::Bits, Transfer::View, Transfer::Cells] {
                for generations in [1, 6, 100] {
                    let mut status = status(16, size);
                    (status.setting.kernel, status.setting.switches) = (kernel, switches);
                    (
                        status.setting.transfer,
                        status.setting.generations_per_round,
                    ) = (transfer, generations);
                    if programs.insert(calls(&status).cpp) {
                        functions += &function_around(&status, programs.len());
                    }
                }
            }
        }
    }
    assert!(programs.len() > 1000, "{}", programs.len());
    text += &functions;
    let mut compiler = Command::new("g++")
        .args([
            "-std=c++17",
            "-x",
            "c++",
            "-fsyntax-only",
            "-fmax-errors=3",
            "-",
        ])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("this test needs the package g++");
    let write = compiler.stdin.take().unwrap().write_all(text.as_bytes());
    let output = compiler.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(write.is_ok() && output.status.success(), "{errors}");
}
