// What Perfetto's page says to its engine and hears from it: protocol buffers, of which these few
// messages of `trace_processor.proto` are written and read by hand.

// TraceProcessorRpc, by field number.
const SEQUENCE = 1, REQUEST = 2, RESPONSE = 3, INVALID_REQUEST = 4, FATAL_ERROR = 5;
const APPEND_TRACE_DATA = 101, QUERY_ARGS = 103;
const APPEND_RESULT = 201, QUERY_RESULT = 203, FINALIZE_RESULT = 212;
// Its methods.
const APPEND = 1, FINALIZE = 2, QUERY = 3;
// Kinds of a cell in a QueryResult.
const NULL = 1, INTEGER = 2, FLOAT = 3, STRING = 4;

// One conversation with an engine.
export class Rpc {
  #send;
  #sequence = 0;
  #heard = Buffer.alloc(0);

  // `start` is given the listener for answers, and gives what sends.
  static async open(start) {
    const rpc = new Rpc();
    rpc.#send = await start((bytes) => {
      rpc.#heard = Buffer.concat([rpc.#heard, Buffer.from(bytes)]);
    });
    return rpc;
  }

  // Has a trace read, whole.
  read(trace) {
    const [appended] = this.#ask(APPEND, bytes(APPEND_TRACE_DATA, trace), APPEND_RESULT);
    refuse(text(appended, 2));
    const [finalized] = this.#ask(FINALIZE, [], FINALIZE_RESULT);
    refuse(text(finalized, 1));
  }

  // The rows that a statement gives, as objects; integers as BigInt.
  query(sql) {
    const columns = [], cells = [];
    let complete = false;
    const question = bytes(QUERY_ARGS, bytes(1, Buffer.from(sql)));
    for (const result of this.#ask(QUERY, question, QUERY_RESULT)) {
      refuse(text(result, 2), sql);
      columns.push(...all(result, 1).map(String));
      for (const batch of all(result, 3)) {
        const fields = parse(batch);
        cells.push(...cellsOf(fields));
        complete ||= last(fields, 6) === 1n;
      }
    }
    if (!complete) throw new Error(`the answer has no end: ${sql}`);
    const rows = [];
    for (let at = 0; at < cells.length; at += columns.length) {
      rows.push(Object.fromEntries(columns.map((name, i) => [name, cells[at + i]])));
    }
    return rows;
  }

  // Sends one request; the parsed results in this field of the answers, one at least.
  #ask(method, argument, field) {
    const message = [...number(SEQUENCE, this.#sequence++), ...number(REQUEST, method)];
    this.#send(bytes(1, Buffer.concat([Buffer.from(message), Buffer.from(argument)])));
    const answers = all(parse(this.#heard), 1).map(parse);
    this.#heard = Buffer.alloc(0);
    for (const answer of answers) {
      refuse(text(answer, FATAL_ERROR));
      if (last(answer, INVALID_REQUEST) !== undefined) throw new Error(`no method ${method}`);
      if (last(answer, RESPONSE) !== BigInt(method)) throw new Error("an answer to something else");
    }
    const results = answers.flatMap((answer) => all(answer, field)).map(parse);
    if (!results.length) throw new Error(`no answer to method ${method}`);
    return results;
  }
}

function refuse(error, about = "reading the trace") {
  if (error) throw new Error(`${about}: ${error}`);
}

// The values of a CellsBatch, each kind taken from its own list.
function cellsOf(fields) {
  const varints = packed(fields, 2);
  const floats = all(fields, 3).flatMap((list) =>
    Array.from({ length: list.length / 8 }, (_, i) => list.readDoubleLE(8 * i)));
  const strings = (text(fields, 5) ?? "").split("\0"); // each ends with a zero
  return packed(fields, 1).map((kind) => {
    switch (Number(kind)) {
      case NULL: return null;
      case INTEGER: return BigInt.asIntN(64, varints.shift());
      case FLOAT: return floats.shift();
      case STRING: return strings.shift();
      default: throw new Error(`a cell of kind ${kind}`);
    }
  });
}

// Writing: a field with a number, and one with bytes.
function number(field, value) {
  return [...varint(field << 3), ...varint(value)];
}

function bytes(field, value) {
  const head = [...varint((field << 3) | 2), ...varint(value.length)];
  return Buffer.concat([Buffer.from(head), value]);
}

function varint(value) {
  const written = [];
  for (; value > 127; value = Math.floor(value / 128)) written.push((value % 128) | 128);
  return [...written, value];
}

// Reading: a message's fields in order, as [number, value]; bytes stay bytes.
function parse(message) {
  const fields = [];
  let at = 0;
  const next = () => {
    const [value, end] = readVarint(message, at);
    at = end;
    return value;
  };
  const take = (length) => {
    if (at + length > message.length) throw new Error("a message is cut off");
    at += length;
    return message.subarray(at - length, at);
  };
  while (at < message.length) {
    const tag = Number(next());
    switch (tag & 7) {
      case 0: fields.push([tag >> 3, next()]); break;
      case 1: fields.push([tag >> 3, take(8)]); break;
      case 2: fields.push([tag >> 3, take(Number(next()))]); break;
      case 5: fields.push([tag >> 3, take(4)]); break;
      default: throw new Error(`a field of wire type ${tag & 7}`);
    }
  }
  return fields;
}

function readVarint(message, at) {
  let value = 0n;
  for (let shift = 0n; ; shift += 7n) {
    if (at >= message.length) throw new Error("a message is cut off");
    const byte = message[at++];
    value |= BigInt(byte & 127) << shift;
    if (byte < 128) return [value, at];
  }
}

const all = (fields, field) => fields.filter(([n]) => n === field).map(([, value]) => value);
const last = (fields, field) => all(fields, field).at(-1);
const text = (fields, field) => last(fields, field)?.toString();

// A list of numbers, packed into one field or more.
function packed(fields, field) {
  const values = [];
  for (const list of all(fields, field)) {
    for (let at = 0; at < list.length;) {
      const [value, end] = readVarint(list, at);
      values.push(value);
      at = end;
    }
  }
  return values;
}
