// A graph of operators and its tasks: operators of one task share a colour and a frame.

import { svg } from "./dom.js";

const BOX = { width: 104, height: 40, across: 172, down: 58 };

/** The event is a graph; `values` are observations; the vertices among them have the chains. */
export function drawGraph(event, values, width) {
  const operators = event.operators.slice(0, 60);
  const known = new Set(operators.map((each) => each.id));
  const edges = event.edges.filter((edge) => known.has(edge.source) && known.has(edge.target));
  const layers = layer(operators, edges);
  const rows = new Map();
  const places = new Map(operators.map((each) => {
    const depth = layers.get(each.id);
    rows.set(depth, (rows.get(depth) ?? -1) + 1);
    return [each.id, { x: 14 + depth * BOX.across, y: 14 + rows.get(depth) * BOX.down }];
  }));
  const vertices = values.filter((each) => each.type === "vertex").map((each) => each.operators ?? each.members.map((member) => member.operator));
  const task = new Map(vertices.flatMap((members, number) => members.map((id) => [id, number])));
  const extent = { width: Math.max(...[...places.values()].map((place) => place.x)) + BOX.width + 14, height: Math.max(...[...places.values()].map((place) => place.y)) + BOX.height + 14 };
  const scale = Math.min(1, (width - 16) / extent.width);
  const chart = svg("svg", { class: "graph", width: extent.width * scale, height: extent.height * scale, viewBox: `0 0 ${extent.width} ${extent.height}`, role: "img", "aria-label": `${operators.length} operators in ${vertices.length} tasks` });
  for (const edge of edges) {
    const [from, to] = [places.get(edge.source), places.get(edge.target)];
    const chained = task.has(edge.source) && task.get(edge.source) === task.get(edge.target);
    const [x1, y1, x2, y2] = [from.x + BOX.width, from.y + BOX.height / 2, to.x, to.y + BOX.height / 2];
    const how = chained ? null : edge.partitioner;
    if (how) chart.append(svg("text", { class: "how", x: (x1 + x2) / 2, y: (y1 + y2) / 2 - 5, "text-anchor": "middle" }, String(how).slice(0, 11)));
    chart.append(svg("path", { class: `edge${chained ? " chained" : ""}`, d: `M${x1} ${y1}C${x1 + 22} ${y1} ${x2 - 22} ${y2} ${x2} ${y2}` }, svg("title", {}, `${edge.source} to ${edge.target}: ${chained ? "chained" : edge.partitioner ?? "over the network"}`)));
  }
  for (const each of operators) {
    const { x, y } = places.get(each.id);
    chart.append(svg(
      "g", { class: `operator${task.has(each.id) ? ` hue${task.get(each.id) % 6}` : ""}` }, svg("title", {}, Object.entries(each).map(([name, value]) => `${name} ${value}`).join(", ")),
      svg("rect", { x, y, width: BOX.width, height: BOX.height, rx: 7 }), svg("text", { x: x + BOX.width / 2, y: y + 17, "text-anchor": "middle" }, cut(each.name || `operator ${each.id}`)),
      svg("text", { class: "how", x: x + BOX.width / 2, y: y + 31, "text-anchor": "middle" }, cut([`#${each.id}`, each.function ?? (each.kind === "operator" ? null : each.kind), each.parallelism > 1 ? `×${each.parallelism}` : null].filter(Boolean).join(" "), 17)),
    ));
  }
  return chart;
}

const cut = (text, limit = 14) => text.length > limit ? `${text.slice(0, limit - 1)}…` : text;

/** The distance of each operator from the sources; cycles are cut. */
function layer(operators, edges) {
  const found = new Map(operators.map((each) => [each.id, 0]));
  for (let round = 0; round < operators.length; round += 1) {
    let changed = false;
    for (const { source, target } of edges) {
      if (source !== target && found.get(target) < found.get(source) + 1 && found.get(source) + 1 < operators.length) {
        found.set(target, found.get(source) + 1);
        changed = true;
      }
    }
    if (!changed) break;
  }
  return found;
}
