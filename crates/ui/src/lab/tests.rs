//! The calls fit the lab and compile.

use super::*;
use crate::fixtures::status;
use std::io::Write as _;
use std::process::{Command, Stdio};

use engine::kernels::KERNELS;
use session::{Switch, Switches};

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
            format!("{name}[200]")
        }
    };
    let buffers = ["cells", "next", "mail", "bits"].map(of).join(", *");
    let [view, host, done] = ["view", "host", "done"].map(of);
    let stream = match status.setting.switches.streams {
        Streams::PerInstance => "stream[200]",
        Streams::One | Streams::Default | Streams::Batch => "stream",
    };
    // g++ knows no launches: what stands between the angles becomes an argument.
    let calls = calls(status).join("\n");
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
fn the_calls_in_cpp_compile_and_are_narrow() {
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
                    let mut status = status(200, size);
                    (status.setting.kernel, status.setting.switches) = (kernel, switches);
                    (
                        status.setting.transfer,
                        status.setting.generations_per_round,
                    ) = (transfer, generations);
                    let calls = calls(&status);
                    // Of a generation, a narrow lab shows every line whole.
                    let is_narrow = calls.iter().all(|line| line.chars().count() <= 68);
                    assert!(is_narrow || generations > 1, "{calls:#?}");
                    if programs.insert(calls) {
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
