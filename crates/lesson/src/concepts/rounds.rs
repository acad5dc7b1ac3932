//! Lessons that are nothing but rounds under other switches.

use crate::prelude::*;
use session::{Order, Streams, Switches};

pub(crate) const ISSUE_ORDER: Lesson = Lesson {
    name: "issue-order",
    group: Group::Concepts,
    title: "one instance after the other, or all launches first",
    source: Origin::Guide("Overlapping Behavior"),
    intro: "16 lattices of 256 × 256 cells, one launch and one download each per round. The host \
            issues either all of one instance's ops and then the next one's (depth-first), or all \
            launches and then all downloads (breadth-first). Each stream's own order is the \
            same.",
    question: "The same operations in the same streams: how much faster is it to issue all launches first?",
    choices: Choices::Factors(0, &[1.0, 1.1, 2.0]),
    parts: &[
        Part {
            title: "depth-first, a stream each",
            code: "for (int i = 0; i < 16; i++) {
    step<<<grid, block, 0, stream[i]>>>(next[i], cells[i]);
    cudaMemcpyAsync(host[i], bits[i], bytes,
               cudaMemcpyDeviceToHost, stream[i]);
}",
            work: PartWork::Rounds(order(Order::Depth, Streams::PerInstance)),
        },
        Part {
            title: "breadth-first, a stream each",
            code: "for (int i = 0; i < 16; i++)
    step<<<grid, block, 0, stream[i]>>>(next[i], cells[i]);
for (int i = 0; i < 16; i++)
    cudaMemcpyAsync(host[i], bits[i], bytes,
               cudaMemcpyDeviceToHost, stream[i]);",
            work: PartWork::Rounds(order(Order::Breadth, Streams::PerInstance)),
        },
        Part {
            title: "breadth-first, one stream for all",
            code: "for (int i = 0; i < 16; i++)
    step<<<grid, block, 0, stream>>>(next[i], cells[i]);
for (int i = 0; i < 16; i++)
    cudaMemcpyAsync(host[i], bits[i], bytes,
               cudaMemcpyDeviceToHost, stream);",
            work: PartWork::Rounds(order(Order::Breadth, Streams::One)),
        },
    ],
    compared: &[
        Compare {
            slow: 0,
            fast: 1,
            label: "breadth-first instead of depth-first",
            faster: "Here it paid to issue all launches first.",
            none: "With a queue for each stream, the order in which the host issues matters little.",
            slower: "Here it paid to issue one instance after the other.",
        },
        Compare {
            slow: 2,
            fast: 1,
            label: "a stream each instead of one stream",
            faster: "Operations of different streams overlapped.",
            none: "Here one stream had kept everything busy already.",
            slower: "Here one stream had kept everything busy already, and 16 cost more.",
        },
    ],
    missing_on_cpu: None,
    closing: Closing::Text(
        "The order mattered much where a device had one queue of work; with many it \
         decides which call the host makes first.",
    ),
};

pub(crate) const GRAPHS: Lesson = Lesson {
    name: "graphs",
    group: Group::Concepts,
    title: "a round as one launch",
    source: Origin::Guide("CUDA Graphs"),
    intro: "16 lattices of 128 × 128 cells, 50 launches each per round: 800 calls by the host. \
            Then the same round, prepared once as a graph and replayed: one call.",
    question: "A launch costs the host 2 to 3 µs, about as long as its kernel runs: how much faster are 800 launches as one graph?",
    choices: Choices::Factors(0, &[1.0, 2.0, 5.0, 15.0]),
    parts: &[
        Part {
            title: "one call per launch",
            code: "while (running) {
    for (int i = 0; i < 16; i++) {
        for (int g = 0; g < 50; g++, std::swap(next[i], cells[i]))
            step<<<grid, block, 0, stream[i]>>>(next[i], cells[i]);
        cudaMemcpyAsync(host[i], cells[i], bytes,
                   cudaMemcpyDeviceToHost, stream[i]);
    }
    cudaDeviceSynchronize();
}",
            work: PartWork::Rounds(graphs(false)),
        },
        Part {
            title: "one graph per round",
            code: "cudaStreamBeginCapture(origin, mode);
cudaEventRecord(fork, origin);
for (int i = 0; i < 16; i++) {
    cudaStreamWaitEvent(stream[i], fork);
    for (int g = 0; g < 50; g++, std::swap(next[i], cells[i]))
        step<<<grid, block, 0, stream[i]>>>(next[i], cells[i]);
    cudaMemcpyAsync(host[i], cells[i], bytes,
               cudaMemcpyDeviceToHost, stream[i]);
    cudaEventRecord(done[i], stream[i]);
    cudaStreamWaitEvent(origin, done[i]);
}
cudaStreamEndCapture(origin, &graph);
cudaGraphInstantiate(&round, graph, 0);
while (running) {
    cudaGraphLaunch(round, origin);
    cudaStreamSynchronize(origin);
}",
            work: PartWork::Rounds(graphs(true)),
        },
    ],
    compared: &[Compare {
        slow: 0,
        fast: 1,
        label: "a graph instead of 800 launches",
        faster: "A replay spares the host every call but one.",
        none: "A replay spares the host every call but one, which was not the bound here.",
        slower: "A replay spares the host every call but one, and was no help here.",
    }],
    missing_on_cpu: Some(Missing {
        what: "graphs (a prepared round is issued again step by step)",
        on_gpu: "A GPU would show what 800 calls cost the host: a graph tells the device once what \
                 depends on what, and is replayed by one call. The CPU engine issues every step \
                 again.",
        on_cpu: None,
    }),
    closing: Closing::Text("The dependencies are given to the device once, in advance."),
};

const fn order(order: Order, streams: Streams) -> Rounds {
    Rounds {
        instances: 16,
        side: 256,
        kernel: "sync-global",
        switches: Switches {
            order,
            streams,
            ..Switches::DEFAULT
        },
        generations_per_round: 1,
        rounds: 40,
    }
}

const fn graphs(graphs: bool) -> Rounds {
    Rounds {
        instances: 16,
        side: 128,
        kernel: "bits",
        switches: Switches {
            graphs,
            ..Switches::DEFAULT
        },
        generations_per_round: 50,
        rounds: 8,
    }
}
