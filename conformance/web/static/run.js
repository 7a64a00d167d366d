// Rows of a run log as a space-time diagram and as a table, with filters by channel and key, and zoom.

import { h } from "./dom.js";
import { channelOf, drawLegend, drawSpaceTime } from "./spacetime.js";

const COLUMNS = ["task", "subtask", "attempt", "step", "dir", "channel", "kind", "timestamp", "key", "id", "value", "status"];

const [LEAST, MOST] = [16, 120];

/** As wide as there is room for, within limits that stay readable. */
const fit = (columns) => Math.round(Math.max(40, Math.min(90, (document.getElementById("main").clientWidth - 220) / (columns + 1))));

/** `rows` are sorted by `time`; `left` is the number of rows that are not drawn. */
export function drawRun({ title, tasks, rows, left = 0 }) {
  const wanted = { channel: "", key: "", column: fit(new Set(rows.map((row) => row.time)).size) };
  const view = h("div", {});
  const choices = (name, values) => {
    const some = [...new Set(values)].filter(Boolean).sort();
    return some.length > 1 ? h("label", { class: "field" }, h("span", {}, name), h("select", { "data-filter": name, onchange: (event) => { wanted[name] = event.target.value; draw(); } }, h("option", { value: "" }, "all"), some.map((value) => h("option", { value }, value)))) : null;
  };
  const zoom = h("label", { class: "field" }, h("span", {}, "zoom"), h("input", { type: "range", min: String(LEAST), max: String(MOST), value: String(wanted.column), "data-filter": "zoom", oninput: (event) => { wanted.column = Number(event.target.value); draw(); } }));
  const wrong = h("button", { type: "button", onclick: () => showWrong("smooth") }, "show what is wrong");
  function draw() {
    const shown = rows.filter((row) => (!wanted.channel || channelOf(row) === wanted.channel) && (!wanted.key || row.key === wanted.key));
    const times = [...new Set(shown.map((row) => row.time))];
    const { chart, lanes } = drawSpaceTime(times.map((time) => ({ values: shown.filter((row) => row.time === time).map((row) => ({ ...row, type: "log" })) })), wanted.column, tasks);
    const cells = (row) => COLUMNS.map((name) => h("td", {}, name === "channel" ? channelOf(row) : row[name] === null || row[name] === undefined ? "" : String(row[name])));
    view.replaceChildren(
      h("div", { class: "picture" }, h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": title }, h("div", { class: "jobrun" }, h("div", { class: "name run" }, lanes.map((lane) => h("span", {}, lane))), chart))),
      drawLegend(shown),
      h("details", {}, h("summary", {}, `${shown.length} rows`), h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Rows" }, h("table", { class: "logrows" }, h("thead", {}, h("tr", {}, COLUMNS.map((name) => h("th", { scope: "col" }, name)))), h("tbody", {}, shown.map((row) => h("tr", { class: row.wrong ? "wrong" : null }, cells(row))))))),
    );
    requestAnimationFrame(() => showWrong("instant"));
  }
  /** Scroll to the first wrong row, if there is one. */
  function showWrong(behavior) {
    const at = view.querySelector(".mark.wrong .halo");
    const place = view.querySelector(".scroll");
    if (at) place.scrollTo({ left: Number(at.getAttribute("cx")) - place.clientWidth / 2, behavior });
  }
  draw();
  return [
    h("div", { class: "config" }, choices("channel", rows.map(channelOf)), choices("key", rows.map((row) => row.key)), zoom, rows.some((row) => row.wrong) ? wrong : null),
    left ? h("p", { class: "hint" }, `${left.toLocaleString("en")} more rows are not drawn.`) : null, view,
  ];
}
