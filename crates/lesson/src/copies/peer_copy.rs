//! From one GPU to another: through the host's memory, and by peer copies.

use crate::prelude::*;
use engine::Feature;
use session::DeviceChoice;

const BYTES: usize = 64 << 20;

pub(crate) const PEER_COPY: Lesson = Lesson {
    name: "peer-copy",
    group: Group::Copies,
    title: "from one GPU to another",
    source: Origin::Guide("Peer-to-Peer Memory Access"),
    intro: "64 MiB go from the first GPU to the second: first by a copy to the host and a copy to the second \
            GPU, then by a peer copy without peer access, last by a peer copy with peer access.",
    question: "With peer access: how much faster is the peer copy?",
    choices: Choices::Factors(1, &[1.0, 2.0, 5.0, 20.0]),
    parts: &[
        Part {
            title: "two copies, through the host",
            code: "cudaMemcpyAsync(host, first, 64 << 20,
           cudaMemcpyDeviceToHost, here);
cudaEventRecord(arrived, here);
cudaStreamWaitEvent(there, arrived);
cudaMemcpyAsync(second, host, 64 << 20,
           cudaMemcpyHostToDevice, there);",
            work: PartWork::Alone(|bench| way(bench, None)),
        },
        Part {
            title: "a peer copy without peer access",
            code: "cudaMemcpyPeerAsync(second, 1, first, 0,
           64 << 20, here);",
            work: PartWork::Alone(|bench| way(bench, Some(false))),
        },
        Part {
            title: "a peer copy with peer access",
            code: "cudaSetDevice(1);
cudaDeviceEnablePeerAccess(0, 0);
cudaSetDevice(0);
cudaDeviceEnablePeerAccess(1, 0);
cudaMemcpyPeerAsync(second, 1, first, 0,
           64 << 20, here);",
            work: PartWork::Alone(|bench| way(bench, Some(true))),
        },
    ],
    compared: &[
        Compare {
            slow: 0,
            fast: 1,
            label: "a peer copy instead of two copies",
            faster: "Without peer access, the driver also goes through the host, but in pieces: one is copied to \
                     the host while the previous one goes on to the second GPU.",
            none: "Without peer access, the driver goes through the host, too.",
            slower: "Here, the driver's way through the host was slower than two explicit copies.",
        },
        Compare {
            slow: 1,
            fast: 2,
            label: "peer access",
            faster: "With peer access, the data goes directly from GPU to GPU, over NVLink or PCIe.",
            none: "Peer access made no difference: these GPUs may have no direct connection.",
            slower: "Here, the direct way was slower than the one through the host.",
        },
    ],
    missing_on_cpu: Some(Missing {
        what: "second GPU",
        on_gpu: "Two GPUs would show what the way through the host costs. On the CPU engine, two contexts stand \
                 in for them and share the same memory.",
        on_cpu: None,
    }),
    closing: Closing::Text(
        "Peer access is enabled once per direction and context. A kernel can then also read the other GPU's \
         memory directly.",
    ),
};

/// One way from a device to its peer, on an engine with both. `access`: whether they may reach each other's
/// memory; `None` for the way through the host.
fn way(bench: &mut Bench, access: Option<bool>) -> Result<Programs> {
    bench.choice = bench.pick(DeviceChoice::Cuda, DeviceChoice::Cpu);
    let is_cpu = bench.is_cpu();
    let engine = bench.engine()?;
    engine.check_feature(DEVICE, Feature::PeerCopies)?;
    let peer = if is_cpu {
        engine.create_context(DEVICE)?
    } else {
        DeviceId(1)
    };
    let here = engine.create_stream(DEVICE, StreamSpec::PLAIN)?;
    let there = engine.create_stream(peer, StreamSpec::PLAIN)?;
    let arrived = engine.create_event(DEVICE)?;
    let source = bench.device_buffer(BYTES)?;
    let target = bench.buffer_in(peer, BYTES, BufferLocation::Device)?;
    let sent = bench.pinned_buffer(BYTES)?;
    let between = bench.pinned_buffer(BYTES)?;
    let received = bench.pinned_buffer(BYTES)?;
    let mut program = Program::default();
    if access.is_some() {
        program.push(here, copy(source, target, BYTES));
    } else {
        program.push(here, copy(source, between, BYTES));
        program.push(here, OrderOp::Record(arrived));
        program.push(there, OrderOp::Wait(arrived));
        program.push(there, copy(between, target, BYTES));
    }
    bench.fill_floats(sent, 6)?;
    bench.run(&Program::in_stream(here, [copy(sent, source, BYTES)]))?;
    let before = move |bench: &mut Bench, _| {
        if let Some(access) = access {
            let engine = bench.engine()?;
            engine.set_peer_access(DEVICE, peer, access)?;
            engine.set_peer_access(peer, DEVICE, access)?;
        }
        Ok(())
    };
    let figures = |runs: &[Ran]| {
        let ms = runs[0].wall_ms;
        let measured = Measured::of_time(mark!("64 MiB from GPU to GPU"), ms);
        measured.figure(mark!("rate"), BYTES as f64 / ms / 1e6, "GB/s")
    };
    let check = move |bench: &mut Bench, _: &Ran, _| {
        bench.run(&Program::in_stream(there, [copy(target, received, BYTES)]))?;
        let same = bench.words(received)? == bench.words(sent)?;
        Ok(Measured::default().check(tr!("the data arrived unchanged"), same))
    };
    Ok(Programs {
        before: Box::new(before),
        ..Programs::new(program, figures, check)
    })
}
