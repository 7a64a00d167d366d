// A trace as a picture: a column per step, a lane per part of the state, observations below; watermarks as a tide.

import { h, svg, ruleChip } from "./dom.js";
import { drawGraph } from "./graph.js";
import { drawItem } from "./items.js";
import { channelOf, drawLegend, drawSpaceTime } from "./spacetime.js";
import { alike, readObservation, sayEvent, tide, timeline } from "./values.js";

const NARROW = 104;
const ROOMY = 176;
const WIDE = 320;
/** Width of a letter in the head of a column, and of the space beside the event. */
const LETTER = 8.4;
const BESIDE = 34;
const TIDE = 132;
/** With more lanes than this, only changing lanes are shown. */
const MANY = 14;
/** Up to this many lanes are all shown, even empty ones. */
const SOME = 6;
/** Shown items of a queue, or bytes, per lane. */
const FEW = 8;
let showAll = false;
/** Whether to show lanes beside a space-time diagram: its states are in the scene below. */
let showLanes = false;
/** The view of a job's run. */
const view = { channel: "", key: "", zoom: 1 };

/**
 * `states` has one more than `steps`. A step has `event`, `observations` and `rules`; and, where there is such a thing,
 * `broken` (claims), `seen` (what an engine showed instead), `choice` (how many outcomes were allowed), `json` and
 * `values` (the event and the observations as JSON: whole jobs and graphs are drawn from them).
 * `names` are those of parts that have a number only. `other` are states of the same trace under another semantics: what differs from them is marked.
 */
export function drawTrace({ label, states, steps, rules, at, pick, names = null, other = null, otherSteps = null }) {
  const columns = states.length;
  const found = timeline(states);
  const moves = (lane) => lane.cells.some((cell) => !alike(cell, lane.cells[0]));
  const speaks = (lane) => moves(lane) || (found.length <= MANY && lane.cells.some((cell) => cell && cell.tone !== "quiet"));
  const telling = found.length > SOME && steps.length ? found.filter(speaks) : found;
  const logged = steps.flatMap((step) => step.values?.filter((value) => value.type === "log") ?? []);
  const shown = logged.length && !showLanes ? [] : showAll ? found : telling;
  const isGraph = steps.some((step) => step.json?.type === "graph");
  const side = innerWidth > 760 ? 124 : 84;
  const room = document.getElementById("main").clientWidth - side - (document.body.classList.contains("report") ? 92 : 48);
  const longest = Math.max(0, ...steps.map((step) => sayEvent(step.event).length));
  const least = logged.length ? 72 : Math.min(ROOMY, Math.max(NARROW, BESIDE + longest * LETTER));
  const isStateless = !found.length && !logged.length;
  const first = isStateless ? 64 : 0;
  let width = Math.floor(isGraph ? fit(room - first, columns - 1, WIDE, 2 * WIDE) : fit(room - first, columns - (first ? 1 : 0), least, ROOMY));
  if (logged.length) width = Math.round(width * view.zoom);
  const grid = h("div", { class: "lanes", role: "group", "aria-label": label, style: { "--columns": String(columns), "--column": `${width}px`, "--first": `${first || width}px`, "--names": `${side}px` } });
  grid.append(h("div", { class: "name corner" }));
  const put = (element, row, from, to = from) => {
    element.style.gridRow = String(row);
    element.style.gridColumn = `${from + 2} / ${to + 3}`;
    grid.append(element);
  };
  const called = (text) => text.replace(/^(subtask|channel) (\d+)/, (whole, part, number) => names?.[part]?.[number] ?? whole);
  const name = (text, row) => grid.append(h("div", { class: "name", style: { "grid-row": String(row) }, title: text }, text));
  const bands = [];
  for (let column = 0; column < columns; column += 1) {
    const step = steps[column - 1];
    const wrong = step && (step.broken?.length || step.seen);
    const band = h("div", { class: `band${column === at ? " at" : ""}${wrong ? " wrong" : ""}` });
    bands.push(band);
    put(band, "1 / -1", column);
    const title = step ? `${column}. ${step.event}` : "start";
    put(
      h("button", {
        type: "button", class: `step${column === at ? " at" : ""}${wrong ? " wrong" : ""}`, "data-step": String(column),
        "aria-current": column === at ? "step" : null, title, onclick: () => pick?.(column),
      }, step ? [h("span", { class: "number" }, String(column)), h("code", {}, step.json?.type === "graph" ? "graph" : sayEvent(step.event))] : "start",
      step?.choice > 1 ? h("span", { class: "choice", title: `${step.choice} outcomes are allowed` }, `1 of ${step.choice}`) : null),
      1, column,
    );
  }
  let row = 2;
  const marks = states.map(tide);
  if (marks.every((mark) => mark) && (marks[0].holder === states[0] || marks.some((mark) => [mark.level, ...mark.lines.map((line) => line.value)].some((value) => value !== "MIN")))) {
    grid.append(h("div", { class: "name tidal", style: { "grid-row": String(row) } }, "watermarks", h("small", {}, "water: the output; lines: what comes in, dashed while behind, dotted while idle")));
    put(drawTide(marks, width), row, 0, columns - 1);
    row += 1;
  }
  if (logged.length) {
    const wanted = (value) => value.type !== "log" || ((!view.channel || channelOf(value) === view.channel) && (!view.key || value.key === view.key));
    const run = drawSpaceTime(steps.map((step) => ({ ...step, values: step.values.filter(wanted) })), width);
    grid.append(h("div", { class: "name run", style: { "grid-row": String(row) } }, run.lanes.map((lane) => h("span", {}, lane))));
    put(run.chart, row, 0, columns - 1);
    row += 1;
  }
  if (isGraph) {
    name("graph", row);
    steps.forEach((step, index) => put(h("div", { class: "cell" }, drawGraph(step.json, step.values, width)), row, index + 1));
    row += 1;
  }
  const opposite = other ? new Map(timeline(other).map((lane) => [lane.name, lane.cells])) : null;
  for (const lane of shown) {
    name(called(lane.name), row);
    const differs = (column) => opposite !== null && !alike(opposite.get(lane.name)?.[column], lane.cells[column]);
    for (let from = 0; from < columns;) {
      const cell = lane.cells[from];
      let to = from;
      const goesOn = (column) => alike(lane.cells[column], cell) && lane.cells[column]?.tone === cell?.tone && differs(column) === differs(from);
      while (to + 1 < columns && goesOn(to + 1)) to += 1;
      if (cell) {
        const changed = from > 0 && !alike(lane.cells[from - 1], cell);
        const classes = `bar ${cell.tone}${changed ? " changed" : ""}${differs(from) ? " differs" : ""}`;
        put(h("div", { class: classes, title: `${lane.name}: ${cell.text}` }, h("span", {}, drawCell(cell))), row, from, to);
      }
      from = to + 1;
    }
    row += 1;
  }
  const shows = steps.some((step) => step.seen);
  name(shows ? "allowed" : "emits", row);
  steps.forEach((step, index) => put(drawObservations(step.observations, otherSteps?.[index]?.observations), row, index + 1));
  row += 1;
  if (shows) {
    name("seen", row);
    steps.forEach((step, index) => put(step.seen ? drawObservations(step.seen, step.observations, "wrong", step.right) : h("div", { class: "cell soft" }, "as allowed"), row, index + 1));
    row += 1;
  }
  name("rules", row);
  steps.forEach((step, index) => put(h("div", { class: "cell rules" }, step.rules.slice(0, 3).map((id) => ruleChip(id, rules, "small"))), row, index + 1));
  grid.style.setProperty("--rows", String(row));
  bands.forEach((band) => { band.style.gridRow = `1 / ${row + 1}`; });
  const frame = h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `${label}, can be scrolled` }, grid);
  requestAnimationFrame(() => show(frame, at, width, side));
  const controls = logged.length && pick ? [drawControls(logged, () => pick(at)), drawLegend(logged)] : [];
  if (logged.length) {
    const toggle = () => { showLanes = !showLanes; pick(at); };
    return h("div", {}, controls[0] ?? null, frame, controls[1] ?? null, pick && telling.length ? h("p", { class: "hint" }, h("button", { type: "button", class: "link", "data-focus": "parts", onclick: toggle }, showLanes ? "Hide the parts of the state" : `Show the ${telling.length} parts of the state that change`)) : null);
  }
  if (telling.length === found.length) return frame;
  const toggle = () => { showAll = !showAll; pick?.(at); };
  const which = found.length > MANY ? "those that change" : "those that say something";
  return h("div", {}, frame, h("p", { class: "hint" }, `${shown.length} of ${found.length} parts are shown${showAll ? "" : `, ${which}`}. `, pick ? h("button", { type: "button", class: "link", "data-focus": "parts", onclick: toggle }, showAll ? `Show ${which}` : "Show all") : null));
}

/** Filters of a run by channel and key, and its zoom. */
function drawControls(rows, redraw) {
  const choose = (name, values) => {
    const some = [...new Set(values)].filter(Boolean).sort();
    if (!some.includes(view[name])) view[name] = "";
    return some.length > 1 ? h("label", { class: "field" }, h("span", {}, name), h("select", { "data-filter": name, "data-focus": `filter-${name}`, onchange: (event) => { view[name] = event.target.value; redraw(); } }, h("option", { value: "" }, "all"), some.map((value) => h("option", { value, selected: value === view[name] }, value)))) : null;
  };
  const zoom = h("input", { type: "range", min: "0.4", max: "2.5", step: "0.1", value: String(view.zoom), "data-filter": "zoom", "data-focus": "filter-zoom", onchange: (event) => { view.zoom = Number(event.target.value); redraw(); } });
  return h("div", { class: "config" }, choose("channel", rows.map(channelOf)), choose("key", rows.map((row) => row.key)), h("label", { class: "field" }, h("span", {}, "zoom"), zoom));
}

function drawCell({ text, items, aside, bytes }) {
  if (bytes) return [h("code", {}, bytes.slice(0, FEW).join(" ")), bytes.length > FEW ? ` … ${bytes.length} bytes` : ""];
  if (!items) return text;
  return [items.slice(0, FEW).map((one) => [drawItem(one), " "]), items.length > FEW ? ` and ${items.length - FEW} more ` : "", aside ?? ""];
}

/** As wide as there is room for; with too many columns, only whole columns are visible. */
function fit(room, columns, least, most) {
  const seen = Math.min(columns, Math.max(1, Math.floor(room / least)));
  return Math.min(most, Math.max(least, room / seen));
}

/** Scroll a picture sideways to a step, with its neighbours if there is room. */
function show(frame, at, width, names) {
  const room = frame.clientWidth - names;
  const [left, right] = [Math.max(0, at - (room >= 2 * width ? 1 : 0)) * width, (at + (room >= 3 * width ? 2 : 1)) * width];
  if (left < frame.scrollLeft) frame.scrollLeft = left;
  else if (right > frame.scrollLeft + room) frame.scrollLeft = Math.min(left, Math.ceil((right - room) / width) * width);
}

function drawObservations(seen, against, how = "differs", right = []) {
  const differs = against && JSON.stringify(against) !== JSON.stringify(seen);
  const one = (text, number) => {
    const { name, values } = readObservation(text);
    return h("span", { class: `seen${right.includes(number) ? " right" : ""}`, title: text }, h("b", {}, name), values.map((value) => [" ", h("i", {}, value)]));
  };
  const shown = seen.length ? seen.slice(0, 4).map(one) : [h("span", { class: "soft" }, "nothing")];
  if (seen.length > 4) shown.push(h("span", { class: "soft" }, `and ${seen.length - 4} more`));
  return h("div", { class: `cell emits${differs ? ` ${how}` : ""}` }, shown);
}

/** The level of the output as water, the channels as lines above it: solid while they count, dashed while they do not. */
function drawTide(marks, column) {
  const numbers = (value) => value === "MIN" ? -Infinity : value === "MAX" ? Infinity : Number(value);
  const values = marks.flatMap((mark) => [mark.level, ...mark.lines.map((line) => line.value)]);
  const ranks = [...new Set(values.map(numbers))].sort((a, b) => (a < b ? -1 : 1));
  if (!ranks.includes(-Infinity)) ranks.unshift(-Infinity);
  const height = (value) => TIDE - 14 - ((TIDE - 34) * ranks.indexOf(numbers(value))) / Math.max(1, ranks.length - 1);
  const width = marks.length * column;
  const chart = svg("svg", { class: "tide", width, height: TIDE, viewBox: `0 0 ${width} ${TIDE}`, role: "img", "aria-label": "watermarks of the channels, and of the output as a level" });
  const label = (value) => value === Infinity ? "MAX" : String(value);
  ranks.filter((rank) => rank !== -Infinity).forEach((rank) => {
    const y = height(rank === Infinity ? "MAX" : rank);
    chart.append(svg("line", { class: "mark", x1: 0, x2: width, y1: y, y2: y }), svg("text", { x: 6, y: y - 4, class: "label" }, label(rank)));
  });
  const shore = marks.map((mark, index) => `L${index * column} ${height(mark.level)}L${(index + 1) * column} ${height(mark.level)}`).join("");
  chart.append(svg("path", { class: "water", d: `M0 ${TIDE}${shore}L${width} ${TIDE}Z` }));
  chart.append(svg("path", { class: "shore", d: `M0 ${height(marks[0].level)}${shore}` }));
  const names = [...new Set(marks.flatMap((mark) => mark.lines.map((line) => line.name)))];
  names.forEach((name, number) => {
    const shift = (number - (names.length - 1) / 2) * 3.5;
    let last = null;
    marks.forEach((mark, index) => {
      const line = mark.lines.find((each) => each.name === name);
      if (!line) { last = null; return; }
      const y = height(line.value) + shift;
      const x = index * column;
      if (last !== null && last !== y) chart.append(svg("line", { class: `line hue${number % 6}`, x1: x, x2: x, y1: last, y2: y }));
      chart.append(svg("line", { class: `line hue${number % 6} ${line.how}`, x1: x, x2: x + column, y1: y, y2: y }, svg("title", {}, `${name}: ${line.value}, ${line.how}`)));
      if (index === marks.length - 1) chart.append(svg("text", { class: `label hue${number % 6}`, x: x + column - 6, y: y - 4, "text-anchor": "end" }, name.replace(/\D+/, "")));
      last = y;
    });
  });
  return chart;
}
