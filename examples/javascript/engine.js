// A Tidegate engine in plain JavaScript (Node 20): the valve and the hash partitioner, over protocol 1.

const MIN = -(2n ** 63n);
const SEMANTICS = ["flink-7728", "flink-40475"];
const KINDS = ["hash", "forward", "rebalance", "rescale", "shuffle", "global", "broadcast"];
const IMPLEMENTATION = { name: "example-javascript", version: "1.0.0", language: "javascript" };
const DECLARED = { valve: { semantics: SEMANTICS }, partitioner: { kinds: ["hash"] } };

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const isText = (value) => typeof value === "string" && value.isWellFormed();
const isInt32 = (value) => Number.isInteger(value) && value === (value | 0);
const isCount = (value) => isInt32(value) && value > 0;
const isOneOf = (choices) => (value) => choices.includes(value);
const isStatus = isOneOf(["idle", "active"]);
// Timestamps and long keys go from text to BigInt at once: a double in between would lose bits.
const isInt64 = (value) => /^-?\d{1,19}$/.test(value) && String(BigInt.asIntN(64, BigInt(value))) === value;
const fail = (kind, message) => { throw Object.assign(new Error(message), { kind }); };

function read(source, name, accepts) {
  const value = isObject(source) && Object.hasOwn(source, name) ? source[name] : undefined;
  return accepts(value) ? value : fail("bad_request", `${name} is missing or is not what it should be`);
}

class Valve {
  constructor(config) {
    const size = read(config, "channels", isCount);
    this.corrected = read(config, "semantics", isOneOf([...SEMANTICS, undefined])) === "flink-40475";
    [this.watermarks, this.active, this.aligned] = [MIN, true, true].map((start) => Array(size).fill(start));
    this.last = MIN; // the last watermark emitted
  }

  step(event) {
    const isWatermark = read(event, "type", isOneOf(["watermark", "status"])) === "watermark";
    const channel = read(event, "channel", Number.isInteger);
    const value = isWatermark ? BigInt(read(event, "timestamp", isInt64)) : read(event, "status", isStatus);
    if (!(channel in this.active)) return [{ type: "rejected" }]; // after all checks: a malformed event is an error
    return isWatermark ? this.onWatermark(channel, value) : this.onStatus(channel, value);
  }

  onWatermark(channel, timestamp) {
    if (!this.active[channel] || timestamp <= this.watermarks[channel]) return []; // VALVE-2, VALVE-3
    this.watermarks[channel] = timestamp;
    this.aligned[channel] ||= timestamp >= this.last; // VALVE-4: equality is enough to catch up
    return this.advanceToMinimum();
  }

  onStatus(channel, status) {
    const [becomesActive, valveWasIdle] = [status === "active", !this.active.includes(true)];
    const [own, announced] = [this.watermarks[channel], { type: "status", status }];
    if (becomesActive === this.active[channel]) return []; // VALVE-7
    this.active[channel] = becomesActive;
    this.aligned[channel] = becomesActive && own >= this.last; // VALVE-8, VALVE-11
    // VALVE-11 holds back a minimum that is due now; flink-40475 emits it.
    const due = becomesActive && this.corrected ? this.advanceToMinimum() : [];
    if (becomesActive) return valveWasIdle ? [announced, ...due] : due;
    if (this.active.includes(true)) return own === this.last ? this.advanceToMinimum() : []; // VALVE-9
    const highest = this.watermarks.reduce((a, b) => (a > b ? a : b));
    const flushed = own === this.last || this.corrected ? this.advance(highest) : [];
    return [...flushed, announced]; // VALVE-10: the watermark comes before IDLE
  }

  advanceToMinimum() { // VALVE-5: with no aligned channel, nothing is due
    const aligned = this.watermarks.filter((_, channel) => this.aligned[channel]);
    return aligned.length > 0 ? this.advance(aligned.reduce((a, b) => (a < b ? a : b))) : [];
  }

  advance(watermark) {
    if (watermark <= this.last) return [];
    this.last = watermark;
    return [{ type: "watermark", timestamp: String(watermark) }];
  }
}

class Partitioner {
  constructor(config) {
    if (read(config, "kind", isOneOf(KINDS)) !== "hash") fail("unsupported", "hash is the only kind here");
    this.everywhere = [...Array(read(config, "channels", isCount)).keys()];
    this.maxParallelism = read(config, "max_parallelism", isCount);
    this.status = "active"; // the announced one, OUT-9
  }

  step(event) {
    const type = read(event, "type", isOneOf(["record", "watermark", "status", "latency_marker"]));
    let targets = [0]; // OUT-12: a latency marker takes any one channel
    if (type === "record") { // PART-6; idle or not, OUT-10
      const group = BigInt(murmur(hashCode(read(event, "key", isObject))) % this.maxParallelism);
      targets = [Number((group * BigInt(this.everywhere.length)) / BigInt(this.maxParallelism))];
    } else if (type === "watermark") { // OUT-7
      read(event, "timestamp", isInt64);
      targets = this.status === "active" ? this.everywhere : [];
    } else if (type === "status") { // OUT-9
      targets = read(event, "status", isStatus) === this.status ? [] : this.everywhere;
      this.status = event.status;
    }
    return targets.map((channel) => ({ type: "send", channel }));
  }
}

function hashCode(key) { // PART-8; split("") cuts a string into UTF-16 units, which is what Java counts
  const type = read(key, "type", isOneOf(["string", "int", "long"]));
  if (type === "int") return read(key, "value", isInt32);
  const long = type === "long" && BigInt(read(key, "value", isInt64));
  if (type === "long") return Number(BigInt.asIntN(32, long ^ (long >> 32n)));
  return read(key, "value", isText).split("").reduce((code, unit) => (31 * code + unit.charCodeAt(0)) | 0, 0);
}

function murmur(code) { // PART-7; Math.imul multiplies in 32 bits
  let word = Math.imul(code, 0xcc9e2d51);
  word = Math.imul((word << 15) | (word >>> 17), 0x1b873593);
  word = (Math.imul((word << 13) | (word >>> 19), 5) + 0xe6546b64) ^ 4;
  word = Math.imul(word ^ (word >>> 16), 0x85ebca6b);
  word = Math.imul(word ^ (word >>> 13), 0xc2b2ae35);
  return Math.abs(word ^ (word >>> 16)) & 0x7fffffff; // the mask makes 0 of |-2^31|
}

function answer(request) {
  if (read(request, "op", isOneOf(["hello", "replay"])) === "hello") {
    read(request, "protocol", (versions) => Array.isArray(versions) && versions.includes(1));
    return { protocol: 1, implementation: IMPLEMENTATION, components: DECLARED };
  }
  const name = read(request, "component", isText);
  if (!Object.hasOwn(DECLARED, name)) fail("unsupported", "valve and partitioner are the only components here");
  const instance = new (name === "valve" ? Valve : Partitioner)(read(request, "config", isObject));
  return { steps: read(request, "events", Array.isArray).map((event) => instance.step(event)) };
}

function serve(line) { // false at bye
  let [id, reply] = [null, null];
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(line, "latin1"));
    const request = JSON.parse(text);
    id = read(request, "id", Number.isSafeInteger);
    if (request.op === "bye") return false;
    const hasFloat = /\d[.eE]/.test(text.replace(/"(\\.|[^"\\])*"/g, "")); // JSON.parse hides it: 2.0 is 2
    reply = { ok: hasFloat ? fail("bad_request", "the protocol has no floats") : answer(request) };
  } catch (error) {
    const kind = error.kind ?? (id === null ? "bad_request" : "internal"); // no id yet: an unreadable line
    reply = { error: { kind, message: error.message } };
  }
  process.stdout.write(`${JSON.stringify({ id, ...reply })}\n`);
  return true;
}

let pending = ""; // bytes, as latin1; not readline, which would break lines at U+2028 too
process.stdin.setEncoding("latin1").on("end", () => pending && serve(pending)).on("data", (chunk) => {
  const lines = (pending + chunk).split("\n");
  pending = lines.pop();
  if (!lines.every(serve)) process.stdin.destroy();
});
