//! From one GPU to another: through the host's memory, and by peer copies.

use crate::bench::{DEVICE, copy};
use crate::{
    Bench, Choices, Closing, Compare, Experiment, Group, Lesson, Measured, Missing, Origin, Part,
    PartWork, Result,
};
use engine::{BufferLocation, DeviceId, Feature, HostMemory, OrderOp, Program, StreamSpec};
use lang::{mark, tr};
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
    choices: Choices::Factors {
        comparison: 1,
        factors: &[1.0, 2.0, 5.0, 20.0],
    },
    parts: &[
        Part {
            title: "two copies, through the host",
            code: "cudaMemcpyAsync(host, first, 64 << 20,
           cudaMemcpyDeviceToHost, here);
cudaEventRecord(arrived, here);
cudaStreamWaitEvent(there, arrived);
cudaMemcpyAsync(second, host, 64 << 20,
           cudaMemcpyHostToDevice, there);",
            work: PartWork::Program(|bench| Way::prepare(bench, None)),
        },
        Part {
            title: "a peer copy without peer access",
            code: "cudaMemcpyPeerAsync(second, 1, first, 0,
           64 << 20, here);",
            work: PartWork::Program(|bench| Way::prepare(bench, Some(false))),
        },
        Part {
            title: "a peer copy with peer access",
            code: "cudaSetDevice(1);
cudaDeviceEnablePeerAccess(0, 0);
cudaSetDevice(0);
cudaDeviceEnablePeerAccess(1, 0);
cudaMemcpyPeerAsync(second, 1, first, 0,
           64 << 20, here);",
            work: PartWork::Program(|bench| Way::prepare(bench, Some(true))),
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

/// One way from a device to its peer, on an engine with both.
struct Way {
    bench: Bench,
    peer: DeviceId,
    /// Whether the devices may reach each other's memory; `None` for the way through the host.
    access: Option<bool>,
    program: Program,
    sent: engine::BufferId,
    received: engine::BufferId,
    fetch: Program,
}

impl Way {
    fn prepare(bench: &Bench, access: Option<bool>) -> Result<Box<dyn Experiment>> {
        let all = bench.pick(DeviceChoice::Cuda, DeviceChoice::Cpu);
        let mut bench = Bench::open(all)?;
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
        let [sent, between, received] =
            [(); 3].map(|()| bench.host_buffer(BYTES, HostMemory::Pinned));
        let (sent, between, received) = (sent?, between?, received?);
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
        let mut way = Way {
            fetch: Program::in_stream(there, [copy(target, received, BYTES)]),
            bench,
            peer,
            access,
            program,
            sent,
            received,
        };
        way.step()?;
        Ok(Box::new(way))
    }

    /// The time of the way, in milliseconds.
    fn step(&mut self) -> Result<f64> {
        if let Some(access) = self.access {
            let engine = self.bench.engine()?;
            engine.set_peer_access(DEVICE, self.peer, access)?;
            engine.set_peer_access(self.peer, DEVICE, access)?;
        }
        Ok(self.bench.run(&self.program)?.wall_ms())
    }
}

impl Experiment for Way {
    fn sample(&mut self, _: &mut Bench) -> Result<Measured> {
        let ms = self.step()?;
        let rate = BYTES as f64 / ms / 1e6;
        Ok(
            Measured::of_time(mark!("64 MiB from GPU to GPU"), ms).figure(
                mark!("rate"),
                rate,
                "GB/s",
            ),
        )
    }

    fn inspect(&mut self, _: &mut Bench) -> Result<Measured> {
        let timed = self.bench.run_timed(&mut self.program)?;
        self.bench.run(&self.fetch)?;
        let sent = self.bench.words(self.sent)?;
        let same = self.bench.words(self.received)? == sent;
        let mut measured = Measured::default().check(tr!("the data arrived unchanged"), same);
        measured.trace = Some(self.bench.timed_round(&self.program, timed));
        Ok(measured)
    }

    fn has_own_engine(&self) -> bool {
        true
    }
}
