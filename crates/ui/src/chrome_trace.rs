//! Timed rounds as a file for Chrome's and Perfetto's readers.

use std::io::{self, Write};

use serde_json::json;

use crate::timeline::streams::streams;
use engine::{Span, StreamId};
use session::trace::TimedRound;

/// Writes rounds in the Trace Event Format that Perfetto and `chrome://tracing` open: a lane a
/// stream and one for the host's calls; times in microseconds, as recorded.
pub fn write_chrome<'a>(
    rounds: impl IntoIterator<Item = &'a TimedRound>,
    device: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    // Perfetto files thread 0 under the number of its process, and so with a stream; the thread
    // that has that number itself is shown first.
    const HOST_LANE: u32 = 1;
    let lane = |stream: StreamId| HOST_LANE + 1 + stream.0;
    let name = |kind: &str, tid: u32, name: String| json!({"ph": "M", "pid": 1, "tid": tid, "name": kind, "args": {"name": name}});
    let mut events = vec![
        name(
            "process_name",
            HOST_LANE,
            format!("lifestreams on {device}"),
        ),
        name("thread_name", HOST_LANE, "host calls".into()),
    ];
    let mut known = std::collections::BTreeSet::new();
    for (number, round) in rounds.into_iter().enumerate() {
        for stream in streams(round) {
            if known.insert(stream.id) {
                events.push(name("thread_name", lane(stream.id), stream.name()));
            }
        }
        let slice = |span: &Span, tid: u32, on_host: bool| {
            let facts = round.steps.get(span.step as usize);
            let label = facts.map_or("submit", |facts| facts.label);
            let mut arguments = json!({"round": number});
            if let (Some(facts), false) = (facts, on_host) {
                arguments["instance"] = json!(facts.instance);
                if facts.instances > 1 {
                    arguments["instances"] = json!(facts.instances);
                }
                arguments["cells"] = json!(facts.cells);
                arguments["bytes"] = json!(facts.bytes);
            }
            json!({
                "ph": "X", "pid": 1, "tid": tid, "name": label, "args": arguments,
                "ts": span.start.as_us(), "dur": span.length().as_us(),
            })
        };
        events.extend(round.host.iter().map(|span| slice(span, HOST_LANE, true)));
        events.extend(
            round
                .spans
                .iter()
                .map(|span| slice(span, lane(span.stream), false)),
        );
    }
    let note = "spans are bounded by CUDA events: resolution 0.5 µs; host calls and all GPUs are on \
                the same clock, some µs inexact";
    let file = json!({"traceEvents": events, "displayTimeUnit": "ns", "otherData": {"note": note}});
    serde_json::to_writer(&mut *out, &file)?;
    out.write_all(b"\n")
}
