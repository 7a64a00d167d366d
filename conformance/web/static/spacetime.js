// A run of a whole job as a space-time diagram: a lane per subtask, marks for its sends and receipts, arrows between.

import { h, svg } from "./dom.js";

const LANE = 46;
const TOP = 14;
/** Elements that travel between subtasks in order; buffers and credit are the wire underneath. */
const TRAVELS = new Set(["record", "watermark", "status", "barrier", "end_of_data", "end_of_partition", "latency_marker"]);
const LONGEST = "9223372036854775807";

/** The channel of a row in words; empty for rows of a subtask alone. */
export const channelOf = (row) => row.edge < 0 ? "" : `edge ${row.edge}: ${row.producer} to ${row.consumer}`;

/**
 * The chart and the names of its lanes. The `values` of steps are rows of the run log; the first column is the start.
 * `known` are tasks in the order of their lanes; others follow as they come.
 */
export function drawSpaceTime(steps, column, known = []) {
  const marks = place(steps, column);
  const tasks = [...new Set([...known, ...marks.map((mark) => mark.row.task)])];
  const order = (row) => tasks.indexOf(row.task) * 1e6 + row.subtask;
  const lanes = [...new Set(marks.toSorted((a, b) => order(a.row) - order(b.row)).map((mark) => mark.lane))];
  const y = (mark) => TOP + LANE * lanes.indexOf(mark.lane) + LANE / 2;
  const width = (steps.length + 1) * column;
  const height = TOP + LANE * lanes.length;
  const chart = svg("svg", { class: "spacetime", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `run of ${lanes.length} subtasks: ${marks.length} rows of its log` });
  lanes.forEach((_lane, number) => chart.append(svg("line", { class: "lane", x1: 0, x2: width, y1: TOP + LANE * (number + 0.5), y2: TOP + LANE * (number + 0.5) })));
  for (const [from, to] of travels(marks)) {
    chart.append(to
      ? drawArrow(from, to, y(from), y(to))
      : svg("line", { class: `travel waiting ${from.row.kind}`, x1: from.x, y1: y(from), x2: Math.min(width, from.x + column * 0.4), y2: y(from) + 14 }));
  }
  for (const cut of cuts(marks)) chart.append(drawCut(cut.sort((a, b) => y(a) - y(b)), y, height));
  const ends = new Map();
  for (const mark of marks) {
    const said = sayOf(mark.row);
    const isFree = mark.x - (ends.get(mark.lane) ?? -Infinity) > 4 + 6 * said.length;
    chart.append(drawMark(mark, y(mark), isFree || mark.row.wrong ? said : ""));
    if (isFree && said) ends.set(mark.lane, mark.x);
  }
  return { chart, lanes };
}

/** An element in flight, with an arrow head where it arrives. */
function drawArrow(from, to, y1, y2) {
  const length = Math.hypot(to.x - from.x, y2 - y1) || 1;
  const [dx, dy] = [(to.x - from.x) / length, (y2 - y1) / length];
  const [x, y] = [to.x - dx * 8, y2 - dy * 8];
  const head = `${x},${y} ${x - dx * 6 - dy * 3},${y - dy * 6 + dx * 3} ${x - dx * 6 + dy * 3},${y - dy * 6 - dx * 3}`;
  return svg("g", { class: `travel ${from.row.kind}${from.row.wrong || to.row.wrong ? " wrong" : ""}` }, svg("line", { x1: from.x, y1, x2: x, y2: y }), svg("polygon", { points: head }));
}

/** A checkpoint: everything left of the line is in it. */
function drawCut(cut, y, height) {
  const [first, last] = [cut[0], cut.at(-1)];
  const points = [[first.x, 0], ...cut.map((mark) => [mark.x, y(mark)]), [last.x, height]];
  return svg("g", { class: "cut" }, svg("title", {}, `checkpoint ${first.row.value}`), svg("polyline", { points: points.map((point) => point.join(",")).join(" ") }), svg("text", { class: "label", x: first.x + 5, y: 10 }, `checkpoint ${first.row.value}`));
}

/** Every row with its place: after the step that wrote it, one after the other. */
function place(steps, column) {
  return steps.flatMap((step, number) => {
    const rows = step.values.filter((value) => value.type === "log");
    return rows.map((row, index) => ({ row, lane: `${row.task} ${row.subtask}`, x: (number + 1) * column + 12 + ((column - 22) * (index + 0.5)) / rows.length }));
  });
}

/** The key of a row at both ends of a channel; of equal ones, the first written is the first read. */
const identity = (row) => [row.attempt ?? 0, row.edge, row.producer, row.consumer, row.kind, row.timestamp, row.key, row.id, row.value, row.status].join(" ");

/** Sent elements of a channel, each with its receipt or null. */
function travels(marks) {
  const sent = marks.filter(({ row }) => row.dir === "out" && TRAVELS.has(row.kind));
  const read = new Map();
  for (const mark of marks) if (mark.row.dir === "in" && TRAVELS.has(mark.row.kind)) read.set(identity(mark.row), [...read.get(identity(mark.row)) ?? [], mark]);
  return sent.map((mark) => [mark, read.get(identity(mark.row))?.shift() ?? null]);
}

/** The place of each subtask at a checkpoint: its first sent barrier, or, if none, its last received one. */
function cuts(marks) {
  const found = new Map();
  for (const mark of marks) {
    if (mark.row.kind !== "barrier") continue;
    const checkpoint = mark.row.value;
    const lanes = found.get(checkpoint) ?? new Map();
    if (lanes.get(mark.lane)?.row.dir !== "out") lanes.set(mark.lane, mark);
    found.set(checkpoint, lanes);
  }
  return [...found.values()].map((lanes) => [...lanes.values()]).filter((cut) => cut.length > 1);
}

const SHAPES = {
  record: (x, y) => svg("circle", { cx: x, cy: y, r: 5 }),
  watermark: (x, y) => svg("path", { d: `M${x - 6} ${y + 5}h12l-6 -11z` }),
  status: (x, y) => svg("path", { d: `M${x} ${y - 6}l6 6l-6 6l-6 -6z` }),
  barrier: (x, y) => svg("rect", { x: x - 2.5, y: y - 9, width: 5, height: 18 }),
};
const other = (x, y) => svg("path", { class: "cross", d: `M${x - 4} ${y - 4}l8 8M${x - 4} ${y + 4}l8 -8` });
const small = (x, y) => svg("rect", { class: "wire", x: x - 2.5, y: y - 2.5, width: 5, height: 5 });

/** The text below a mark, if there is room. */
function sayOf(row) {
  const said = row.kind === "record" ? row.key : row.kind === "watermark" ? (row.timestamp === LONGEST ? "MAX" : row.timestamp) : row.kind === "status" ? row.status : null;
  return String(said ?? "").slice(0, 10);
}

function drawMark({ row, x }, y, said) {
  const draw = SHAPES[row.kind] ?? (TRAVELS.has(row.kind) ? other : small);
  const title = Object.entries(row).filter(([name, value]) => name !== "type" && value !== null).map(([name, value]) => `${name} ${value}`).join(", ");
  const halo = row.wrong ? svg("circle", { class: "halo", cx: x, cy: y, r: 12 }) : null;
  return svg("g", { class: `mark ${row.kind} ${row.dir}${row.wrong ? " wrong" : ""}` }, svg("title", {}, title), halo, draw(x, y), said ? svg("text", { class: "label", x, y: y + 17, "text-anchor": "middle" }, said) : null);
}

/** The legend of the present kinds of marks. */
export function drawLegend(rows) {
  const kinds = [...new Set(rows.map((row) => row.kind))].sort((a, b) => order(a) - order(b));
  const sample = (kind, dir) => svg("svg", { class: "spacetime sample", width: 20, height: 20, viewBox: "0 0 20 20", "aria-hidden": "true" }, svg("g", { class: `mark ${kind} ${dir}` }, (SHAPES[kind] ?? (TRAVELS.has(kind) ? other : small))(10, 10)));
  const both = (kind) => ["out", "in"].filter((dir) => rows.some((row) => row.kind === kind && row.dir === dir)).map((dir) => sample(kind, dir));
  return h("p", { class: "legend" }, kinds.map((kind) => h("span", {}, both(kind), kind.replaceAll("_", " "))), h("span", { class: "soft" }, "filled: sent · hollow: received"));
}

const order = (kind) => (Object.keys(SHAPES).indexOf(kind) + 99) % 99 + (TRAVELS.has(kind) ? 0 : 100);
