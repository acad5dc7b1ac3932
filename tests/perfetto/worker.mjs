// Perfetto's engine without its web page. `engine_bundle.js` is made for a web worker: it asks for
// the trace processor as WebAssembly, then answers what comes through a port. Here it gets the
// little of a worker that it uses, and no more.

import { webcrypto } from "node:crypto";
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import vm from "node:vm";

// Starts the engine that lies in this folder. The result sends it bytes; `receive` is called with
// each answer, before `send` returns.
export async function startEngine(folder, receive) {
  const page = "http://localhost/"; // nothing is asked of it: see Files
  class Files {
    // The engine knows one file, its WebAssembly (with 64-bit memory where node has that), and
    // asks for it synchronously.
    open(_method, url) {
      this.path = join(folder, basename(url));
    }
    send() {
      this.response = readFileSync(this.path);
    }
  }
  const worker = vm.createContext({
    self: { location: { href: page } },
    WorkerGlobalScope: Object,
    XMLHttpRequest: Files,
    console: { log: console.error, warn: console.error, error: console.error },
    crypto: webcrypto,
    performance,
    setTimeout,
    TextDecoder,
    URL,
  });
  const bundle = join(folder, "engine_bundle.js");
  vm.runInContext(readFileSync(bundle, "utf8"), worker, { filename: bundle });
  await setImmediate(); // it finishes its start in a promise

  // The page would hand over one end of a channel; the engine puts its listener on that.
  const port = { postMessage: receive };
  worker.self.onmessage({ data: port });
  const Bytes = vm.runInContext("Uint8Array", worker); // it takes its own context's arrays only
  return (bytes) => port.onmessage({ data: Bytes.from(bytes) });
}
