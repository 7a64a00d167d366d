// A state as a picture of the component: queues, credit in flight, bytes of a record, barriers.
// The shape of a state selects the scene, so that a component made of known parts needs no scene of its own.

import { h } from "./dom.js";
import { drawItem, say } from "./items.js";

/** Limits of shown items of a queue, and of shown bytes of a record. */
const MOST = 24;
const BYTES = 48;

const isList = (value) => Array.isArray(value);
const has = (value, ...names) => value !== null && typeof value === "object" && names.every((name) => name in value);
const words = (name) => String(name).replaceAll("_", " ");

/**
 * The picture of a state, or null where there is none. The config says what does not change, `before` is the state
 * before it, and `names` are those of parts that have a number only.
 */
export function drawScene(config, state, before = null, names = null) {
  const found = SCENES.find(({ fits }) => fits(state));
  return found ? h("figure", { class: "scene" }, h("figcaption", {}, found.title), found.draw(state, config ?? {}, before, names ?? {})) : null;
}

// --- parts ------------------------------------------------------------------------------------------------------

/** A queue; its head is on the right. */
function belt(items, label = "") {
  const shown = items.slice(0, MOST).map(drawItem);
  if (items.length > MOST) shown.push(h("span", { class: "soft" }, `${items.length - MOST} more`));
  return h("span", { class: "belt", "aria-label": `${label}${label ? ": " : ""}${items.length} waiting` }, shown.length ? shown : h("span", { class: "none" }, "empty"));
}

/** A flag that is on or off. */
const lamp = (label, on, tone = "") => h("span", { class: `lamp ${on ? "on" : "off"} ${tone}`, title: `${label}: ${on ? "yes" : "no"}` }, label);
const lamps = (state, names) => names.filter((name) => typeof state[name] === "boolean" && state[name]).map((name) => lamp(words(name), true, /blocked|failed|lost|closed|released/.test(name) ? "warn" : ""));

/** A number of equal things: drawn one by one if they are few. */
function coins(number, label, tone = "") {
  const count = Number(number);
  return h("span", { class: `coins ${tone}`, title: `${label}: ${number}` }, h("small", {}, label), count > 0 && count <= 10 ? Array.from({ length: count }, () => h("i", {})) : h("b", {}, String(number)));
}

/** A row with its name, and its items from source to target. */
const row = (who, ...parts) => h("div", { class: "strand" }, h("span", { class: "who" }, who), h("span", { class: "parts" }, parts));
const box = (title, ...parts) => h("div", { class: "box" }, h("b", {}, title), parts);
const numbers = (list, tone = "other") => list.length ? list.map((at) => [h("span", { class: `item ${tone}` }, String(at)), " "]) : tone === "other" ? "nobody" : null;
const ordinal = (at) => ["next", "2nd", "3rd"][at] ?? `${at + 1}th`;

// --- scenes -----------------------------------------------------------------------------------------------------

function drawGate(gate, label = "channel", extra = () => null) {
  const urgent = gate.urgent ?? [];
  const turn = (at) => {
    const [first, then] = [urgent.indexOf(at), gate.queue.indexOf(at)];
    return first >= 0 ? h("span", { class: "turn urgent" }, `${ordinal(first)}, urgent`) : then >= 0 ? h("span", { class: "turn" }, ordinal(urgent.length + then)) : h("span", { class: "turn none" }, "not queued");
  };
  return h("div", { class: "stage" },
    h("div", { class: "strands" }, gate.channels.map((channel, at) => row(`${label} ${at}`, belt(channel.waiting, `channel ${at}`), extra(at), lamps(channel, ["data_ended", "ended"]), turn(at)))),
    box("gate", h("p", {}, "serves ", numbers(urgent, "urgent"), urgent.length && !gate.queue.length ? "" : numbers(gate.queue)), lamp("available", gate.available)));
}

const drawUnion = (state) => h("div", {}, state.members.map((member, at) => h("div", {}, h("h4", {}, `member ${at}`), drawGate(member.gate))), box("union", h("p", {}, "serves members ", numbers(state.queue)), lamp("available", state.available)));

/** The present bytes of a record: four for its length, then that many. */
function drawBytes({ gathered, rest }) {
  const bytes = (hex) => hex.match(/../g) ?? [];
  const [here, later] = [bytes(gathered), bytes(rest)];
  const length = here.length >= 4 ? parseInt(here.slice(0, 4).join(""), 16) : null;
  const missing = length === null ? 4 - here.length : Math.max(0, 4 + length - here.length);
  const cell = (text, tone, title) => h("span", { class: `byte ${tone}`, title }, text);
  const shown = here.slice(0, BYTES).map((text, at) => cell(text, at < 4 ? "length" : "payload", at < 4 ? `byte ${at + 1} of the length` : `byte ${at - 3} of the record`));
  if (here.length > BYTES) shown.push(h("span", { class: "soft" }, `… ${here.length - BYTES} more`));
  const room = Math.min(missing, Math.max(0, BYTES - here.length));
  const empty = here.length || later.length ? Array.from({ length: room }, () => cell("··", "missing", "not here yet")) : [];
  const told = !here.length && !later.length ? "between two records" : length === null ? `${here.length} of 4 bytes of the length` : `length ${length}: ${here.length - 4} of ${length} bytes`;
  return h("span", { class: "bytes" }, shown, empty, missing > room && here.length ? h("span", { class: "soft" }, `… ${missing - room} missing`) : null, later.length ? [h("span", { class: "soft" }, " then "), later.slice(0, BYTES).map((text) => cell(text, "rest", "not looked at yet"))] : null, h("small", {}, told));
}

/** An input: waiting buffers, the record under assembly, and event time. */
function drawInput(state) {
  const mark = (at) => { const { watermark, active } = state.valve.channels[at]; return h("span", { class: `item ${active ? "water" : "end"}`, title: "watermark of this channel" }, `${watermark === "MIN" ? "no watermark" : watermark}${active ? "" : " idle"}`); };
  return h("div", { class: "stage" },
    h("div", { class: "strands" }, state.waiting.map((waiting, at) => row(`channel ${at}`, belt(waiting, `channel ${at}`), state.readers[at] ? drawBytes(state.readers[at]) : h("span", { class: "turn none" }, "is over"), mark(at)))),
    box("input", h("p", {}, "gate serves ", numbers(state.gate.queue)), h("p", {}, "reads ", state.current === null ? "no buffer" : `channel ${state.current}`), h("p", {}, `watermark ${state.valve.last === "MIN" ? "none" : state.valve.last}`), lamp("active", state.valve.active), lamp("available", state.gate.available)));
}

function drawQueue(queue, who, ...parts) {
  return row(who, belt(queue.items), lamps(queue, ["flush_requested", "blocked", "finished", "released"]), ...parts);
}

const drawSubpartition = (state) => h("div", { class: "stage" }, h("div", { class: "strands" }, drawQueue(state.queue, "subpartition")), box("reader", state.has_view === false ? h("p", {}, "none yet") : null, h("p", {}, `next number ${state.queue.sequence}`), isList(state.consumers) ? state.consumers.map((one, at) => h("p", {}, `consumer ${at}: ${one === null ? "has not asked" : `read ${one.read}${one.left ? ", left" : ""}`}`)) : null));

const drawPartition = (state) => h("div", { class: "stage" }, h("div", { class: "strands" }, state.partition.subpartitions.map((one, at) => one.queue ? drawQueue(one.queue, `subpartition ${at}`, one.has_view ? lamp("view", true) : null) : row(`subpartition ${at}`, belt(one.written ?? [])))), box("partition", lamps({ registered: state.registered, ...state.partition }, ["registered", "shared", "finished", "closed", "released", "failed"])));

const drawSender = (reader, who, ...more) => drawQueue(reader.subpartition, who, coins(reader.credit, "credit"), ...more);

const drawSenders = (state) => h("div", { class: "stage" }, h("div", { class: "strands" }, state.readers.map((reader, at) => drawSender(reader, `reader ${at}`, lamp("blocked", reader.subpartition.blocked, "warn")))), box("connection", h("p", {}, "serves ", numbers(state.queue)), lamp("writable", state.writable)));

const buffers = (channel) => [coins(channel.exclusive, "exclusive"), coins(channel.floating, "floating", "float"), channel.required ? coins(channel.required, "required", "need") : null, channel.unannounced ? coins(channel.unannounced, "unannounced", "new") : null, channel.held.length ? [h("small", {}, "holds "), belt(channel.held)] : null];
const pool = (gate) => box("floating buffers", coins(gate.free, "free", "float"), h("p", {}, "waiting: ", numbers(gate.waiting)));
const drawReceiver = ({ gate }) => h("div", { class: "stage" }, h("div", { class: "strands" }, gate.channels.map((channel, at) => row(`channel ${at}`, buffers(channel), lamps(channel, ["released"])))), pool(gate));

/** Data goes down, credit comes up: both ends, and everything in flight. */
function drawLoop({ links, receiver }) {
  const wire = (link) => h("div", { class: "wires" }, h("div", { class: "wire down" }, belt(link.down, "data in flight")), h("div", { class: "wire up" }, belt(link.up, "credit in flight")));
  return h("div", {}, links.map((link, at) => h("div", { class: "loop" },
    box(`sender ${at}`, belt(link.sender.reader.subpartition.items, "to be sent"), coins(link.sender.reader.credit, "credit"), lamp("blocked", link.sender.reader.subpartition.blocked, "warn"), h("p", { class: "soft" }, `${link.data} data and ${link.barriers} barriers to come`)), wire(link),
    box(`receiver ${at}`, belt(link.inbox, "received"), buffers(receiver.gate.channels[at]), link.aligned ? lamp("aligned", true) : null))), pool(receiver.gate));
}

/** The channels that a checkpoint waits for, and the blocked ones with a barrier. */
function drawBarriers(state, config) {
  const isHere = (at) => state.aligned.includes(at);
  const lane = (at) => {
    const [ended, blocked] = [state.ended.includes(at), state.blocked.includes(at)];
    const barrier = isHere(at) || state.announced.includes(at) ? h("span", { class: `item barrier${isHere(at) ? "" : " open"}` }, `barrier ${state.current}`) : null;
    const what = ended ? "has ended" : blocked ? "held back" : barrier && !isHere(at) ? "announced" : "flows";
    return row(`channel ${at}`, h("span", { class: `pipe ${ended ? "ended" : blocked ? "held" : "flows"}` }, barrier ?? ""), h("span", { class: `turn ${blocked ? "urgent" : "none"}` }, what));
  };
  const channels = Math.min(Number(config.channels ?? 0), MOST);
  return h("div", { class: "stage" }, h("div", { class: "strands" }, Array.from({ length: channels }, (_, at) => lane(at))),
    box(state.current > 0 && state.collecting ? `checkpoint ${state.current}` : "no checkpoint", state.collecting ? h("p", {}, `${state.aligned.length} of ${state.target} barriers`) : null, h("p", { class: "soft" }, state.done > 0 ? `done: ${state.done}` : "none completed"), state.unaligned ? lamp("unaligned", true, "warn") : null, state.timer !== null && state.timer !== undefined ? h("p", {}, `timer at ${say(state.timer)}`) : null));
}

const drawTracker = (state, config) => h("div", { class: "strands" }, state.pending.length ? state.pending.slice(0, MOST).map((one) => row(`checkpoint ${one.checkpoint}`, Array.from({ length: Math.min(Number(config.channels ?? 0), MOST) }, (_, at) => h("span", { class: `item ${one.channels.includes(at) ? "barrier" : state.ended.includes(at) ? "end" : "other open"}`, title: `channel ${at}: ${one.channels.includes(at) ? "its barrier is here" : "waits"}` }, String(at))), h("span", { class: "turn" }, `${one.channels.length} of ${one.target}`), one.aborted ? lamp("aborted", true, "warn") : null)) : h("p", { class: "soft" }, "No checkpoint is in progress."));

const drawSaved = ({ channels }) => h("div", { class: "strands" }, channels.map(({ queue, ahead, saving }, at) => row(`channel ${at}`, belt(queue, `channel ${at}`), belt(ahead, "ahead"), h("span", { class: `turn ${saving.status === "received" ? "urgent" : "none"}` }, saving.barrier >= 0 ? `barrier ${saving.barrier} ${words(saving.status)}` : words(saving.status)), saving.cut >= 0 ? h("small", {}, `saved before ${saving.cut}`) : null)));

const drawMailbox = (state) => h("div", { class: "stage" }, h("div", { class: "strands" }, row("queue", belt(state.queue, "queue")), row("batch", belt(state.batch, "batch"))), box("loop", lamp("running", state.running), h("p", {}, words(state.life)), state.suspension ? lamp("suspended", true, "warn") : null));

/** Segments: held by a pool, available to a pool, and free. */
function drawPools({ free, pools }) {
  const used = (one) => one.used.reduce((sum, number) => sum + number, 0);
  return h("div", { class: "stage" }, h("div", { class: "strands" }, pools.map((one) => row(`pool ${one.id}`, coins(used(one), "used"), one.ready ? coins(one.ready, "ready", "float") : null, coins(Math.max(0, one.size - used(one) - one.ready), "may take", "hollow"), h("small", {}, `${one.required} to ${one.maximum ?? "any"}, now ${one.size}`), one.overdraft ? h("small", {}, `overdraft ${one.overdraft}`) : null, lamps(one, ["waiting", "destroyed"])))), box("segments", coins(free, "free", "float")));
}

/** Every subtask with its parts; subtasks that the step changed are marked. */
function drawJob(state, config, before, names) {
  const changed = (list, at) => before !== null && JSON.stringify(before[list][at]) !== JSON.stringify(state[list][at]);
  const mark = (valve) => h("span", { class: `item ${valve.active ?? !valve.idle ? "water" : "end"}`, title: "event time here" }, `▲ ${(valve.last ?? valve.combined) === "MIN" ? "–" : valve.last ?? valve.combined}${valve.active ?? !valve.idle ? "" : " idle"}`);
  const card = (one, at) => h("div", { class: `box part${changed("subtasks", at) ? " changed" : ""}` }, h("b", {}, names.subtask?.[at] ?? `subtask ${at}`),
    one.gate ? drawGate(one.gate) : h("p", {}, `script: ${one.cursor} done`),
    one.receiver ? drawReceiver(one.receiver) : null,
    one.valves.length ? h("p", {}, "valve ", one.valves.map((valve) => [mark(valve), " "]), one.combiner ? ["combined ", mark(one.combiner)] : null) : null,
    one.timed ? h("p", {}, `timers: ${one.timed.due?.length ?? 0} due, ${one.timed.held?.length ?? 0} held back`) : null,
    one.outputs.length ? h("p", { class: "soft" }, "writes next to ", one.outputs.map((output) => `channel ${output.next_channel}${output.active ? "" : " (idle)"}`).join(", ")) : null,
    one.totals.length ? h("p", {}, "totals ", one.totals.slice(0, MOST).map(([, key, total]) => [h("span", { class: "item other" }, `${key} ${total}`), " "])) : null,
    one.collected.length ? h("p", {}, "collected ", one.collected.slice(0, MOST).map((pair) => [h("span", { class: "item data" }, say(pair)), " "])) : null);
  const wire = (one, at) => h("div", { class: `strand${changed("channels", at) ? " changed" : ""}` }, h("span", { class: "who" }, names.channel?.[at] ?? `channel ${at}`), h("span", { class: "parts" }, one.unsent.length ? [h("small", {}, "unsent"), belt(one.unsent)] : null, belt(one.waiting, "waiting"), one.remote ? [coins(one.remote.sender?.reader?.credit ?? 0, "credit"), belt(one.remote.down ?? []), belt(one.remote.up ?? [])] : null, one.blocked ? lamp("blocked", true, "warn") : null));
  return h("div", {}, h("div", { class: "cards" }, state.subtasks.slice(0, MOST).map(card)), h("h4", {}, "channels"), h("div", { class: "strands" }, state.channels.slice(0, MOST).map(wire)));
}

const isQueue = (value) => has(value, "items", "sequence");
const isGate = (value) => has(value, "channels", "queue", "available") && isList(value.queue) && value.channels.every((channel) => isList(channel.waiting));
const isReader = (value) => has(value, "credit", "subpartition") && isQueue(value.subpartition);

const SCENES = [
  { title: "Subtasks and channels", fits: (state) => isList(state?.subtasks) && isList(state?.channels) && state.subtasks.every((one) => has(one, "gate", "valves", "outputs", "totals")), draw: drawJob },
  { title: "Data down, credit up", fits: (state) => has(state, "links", "receiver"), draw: drawLoop },
  { title: "What the input reads", fits: (state) => has(state, "gate", "readers", "valve", "waiting"), draw: drawInput },
  { title: "What each input reads", fits: (state) => isList(state?.inputs) && state.inputs.length > 0 && has(state.inputs[0], "gate", "readers", "valve", "waiting"), draw: (state) => h("div", {}, state.inputs.map((one, at) => h("div", {}, h("h4", {}, `input ${at}`), drawInput(one)))) },
  { title: "Channels and the gate", fits: isGate, draw: (state) => drawGate(state) },
  { title: "Gates and their union", fits: (state) => isList(state?.members) && state.members.every((one) => isGate(one.gate)), draw: drawUnion },
  { title: "Bytes of the record", fits: (state) => has(state, "gathered", "rest"), draw: drawBytes },
  { title: "The partition", fits: (state) => has(state?.partition, "subpartitions"), draw: drawPartition },
  { title: "The sender", fits: (state) => isReader(state?.reader), draw: (state) => h("div", { class: "stage" }, h("div", { class: "strands" }, drawSender(state.reader, "subpartition")), box("connection", lamp("queued", state.queued), lamp("writable", state.writable))) },
  { title: "The senders", fits: (state) => isList(state?.readers) && state.readers.length > 0 && state.readers.every(isReader), draw: drawSenders },
  { title: "Buffers of the receiver", fits: (state) => has(state?.gate, "free", "waiting") && isList(state.gate.channels), draw: drawReceiver },
  { title: "The queue", fits: (state) => isQueue(state?.queue), draw: drawSubpartition },
  { title: "Barriers", fits: (state) => has(state, "aligned", "blocked", "announced", "current"), draw: drawBarriers },
  { title: "Barriers", fits: (state) => has(state, "pending", "ended") && isList(state.pending) && state.pending.every((one) => has(one, "checkpoint", "channels", "target")), draw: drawTracker },
  { title: "Channels and what is saved of them", fits: (state) => isList(state?.channels) && state.channels.length > 0 && state.channels.every((one) => has(one, "ahead", "queue", "saving")), draw: drawSaved },
  { title: "Mails", fits: (state) => isList(state?.queue) && isList(state?.batch), draw: drawMailbox },
  { title: "Segments and pools", fits: (state) => has(state, "free", "pools") && isList(state.pools), draw: drawPools },
];
