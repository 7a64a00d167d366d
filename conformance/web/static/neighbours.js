// A state of a closure with its neighbours: predecessors on the left, successors on the right.

import { svg } from "./dom.js";

const ROW = 44;
/** Places of the columns, and the total width; closer together if there is little room. */
const WIDE = { before: 70, here: 300, after: 560, ahead: 760, all: 880 };
const CLOSE = { before: 30, here: 142, after: 254, ahead: 330, all: 430 };

/** `go(trace)` visits a predecessor; `take(event, choice)` visits a successor. */
export function drawNeighbours({ here, before, after }, go, take) {
  const X = innerWidth > 760 ? WIDE : CLOSE;
  const others = after.filter((one) => one.number !== here.number);
  const rows = Math.max(before.length, others.length, 1);
  const height = rows * ROW + 30;
  const place = (list) => list.map((one, at) => ({ ...one, y: 20 + (height - 30) * (at + 0.5) / list.length }));
  const centre = { x: X.here, y: 20 + (height - 30) / 2 };
  const chart = svg("svg", { class: "neighbours", "data-centre": X.here, width: X.all, height, viewBox: `0 0 ${X.all} ${height}`, role: "group", "aria-label": `State ${here.number}, its ${before.length} predecessors and ${others.length} successors` });
  const curve = (x1, y1, x2, y2, extra) => chart.append(svg("path", { class: `edge ${extra}`, d: `M${x1} ${y1}C${(x1 + x2) / 2} ${y1} ${(x1 + x2) / 2} ${y2} ${x2} ${y2}` }));
  const nodes = [];
  for (const one of place(before)) {
    curve(X.before + 24, one.y, centre.x - 30, centre.y, one.depth < here.depth ? "" : "back");
    nodes.push(node(X.before, one.y, one, `State ${one.number}, depth ${one.depth}: leads here by ${one.event}`, () => go(one.trace)), label(X.before + 26, one.y - 8, one.event, "start"));
  }
  for (const one of place(others)) {
    const bad = one.broken.length || one.breaks.length;
    curve(centre.x + 30, centre.y, X.after - 24, one.y, `${one.depth > here.depth ? "" : "back"} ${bad ? "broken" : ""}`);
    one.ahead.forEach((number, at) => {
      const y = one.y + (at - (one.ahead.length - 1) / 2) * 10;
      curve(X.after + 24, one.y, X.ahead, y, "far");
      chart.append(label(X.ahead + 4, y + 3, `${number}${at === one.ahead.length - 1 && one.more ? ` and ${one.more} more` : ""}`, "start", "far"));
    });
    const more = one.events.length > 2 ? ` +${one.events.length - 2}` : "";
    nodes.push(node(X.after, one.y, one, `${one.events[0]} to state ${one.number}, depth ${one.depth}${bad ? `, breaks ${[...one.breaks, ...one.broken].join(", ")}` : ""}`, () => take(one.events[0], one.choice), one.words), label(X.after - 26, one.y - 8, one.events.slice(0, 2).join(", ") + more, "end"));
  }
  nodes.push(svg("g", { class: `node at${here.broken.length ? " broken" : ""}` }, svg("title", {}, here.words), svg("rect", { x: centre.x - 30, y: centre.y - 18, width: 60, height: 36, rx: 10 }), text(centre.x, centre.y - 1, String(here.number)), text(centre.x, centre.y + 12, `depth ${here.depth}`, "small")));
  chart.append(...nodes);
  return chart;
}

const text = (x, y, words, extra = "") => svg("text", { class: extra, x, y, "text-anchor": "middle" }, words);
const label = (x, y, words, anchor, extra = "") => svg("text", { class: `label ${extra}`, x, y, "text-anchor": anchor }, words.length > 30 ? `${words.slice(0, 29)}…` : words);

function node(x, y, one, name, act, words = name) {
  const onkeydown = (event) => { if (event.key === "Enter" || event.key === " ") { act(); event.preventDefault(); event.stopPropagation(); } };
  const bad = one.broken?.length || one.breaks?.length;
  return svg("g", { class: `node${bad ? " broken" : ""}`, role: "button", tabindex: "0", "aria-label": name, "data-state": String(one.number), onclick: act, onkeydown }, svg("title", {}, words), svg("rect", { x: x - 24, y: y - 15, width: 48, height: 30, rx: 9 }), text(x, y + 1, String(one.number)), text(x, y + 11, `depth ${one.depth}`, "small"));
}
