// The page of an audit: what was checked, and the rows around each violation as a space-time diagram.

import { copyButton, h, themeButton } from "./dom.js";
import { drawSpaceTime } from "./spacetime.js";

const TONES = { 0: "good", 1: "bad" };
const COLUMNS = ["task", "subtask", "step", "dir", "channel", "kind", "timestamp", "key", "id", "value", "status"];
const audit = JSON.parse(document.getElementById("audit").textContent);
const channel = (row) => row.edge < 0 ? "" : `edge ${row.edge}: ${row.producer} to ${row.consumer}`;

function drawVerdict() {
  const facts = [["events", audit.events.toLocaleString("en")], ["read by", audit.path], ["suite", `tidegate ${audit.suite}`]];
  return h(
    "section", { class: `verdict ${TONES[audit.exit] ?? "open"}` }, h("h1", {}, audit.conclusion),
    h("dl", {}, facts.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)))),
    audit.notes.length ? h("ul", { class: "remarks" }, audit.notes.map((text) => h("li", {}, text))) : null,
  );
}

function drawInvariants() {
  const row = (one) => h("tr", {}, h("th", { scope: "row" }, one.id), [one.checked, one.violated, one.skipped].map((number, at) => h("td", { class: at === 1 && number ? "bad" : at === 0 && number && !one.violated ? "good" : null }, number.toLocaleString("en"))), h("td", { class: "statement" }, one.statement));
  return h("section", {}, h("h2", {}, "Invariants"), h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Invariants" }, h("table", { class: "matrix audited" }, h("thead", {}, h("tr", {}, ["invariant", "checked", "violated", "runs skipped", "what must hold"].map((text) => h("th", { scope: "col" }, text)))), h("tbody", {}, audit.invariants.map(row)))));
}

/** Rows of a log as a picture and as a table, of one channel or key if that is wanted. */
function drawRun({ title, tasks, rows }) {
  const wanted = { channel: "", key: "", column: 40 };
  const view = h("div", {});
  const choices = (name, values) => h("label", { class: "field" }, h("span", {}, name), h("select", { "data-filter": name, onchange: (event) => { wanted[name] = event.target.value; draw(); } }, h("option", { value: "" }, "all"), [...new Set(values)].filter(Boolean).sort().map((value) => h("option", { value }, value))));
  const zoom = h("label", { class: "field" }, h("span", {}, "zoom"), h("input", { type: "range", min: "16", max: "120", value: String(wanted.column), "data-filter": "zoom", oninput: (event) => { wanted.column = Number(event.target.value); draw(); } }));
  function draw() {
    const shown = rows.filter((row) => (!wanted.channel || channel(row) === wanted.channel) && (!wanted.key || row.key === wanted.key));
    const times = [...new Set(shown.map((row) => row.time))];
    const { chart, lanes } = drawSpaceTime(times.map((time) => ({ values: shown.filter((row) => row.time === time).map((row) => ({ ...row, type: "log" })) })), wanted.column, tasks);
    const cells = (row) => COLUMNS.map((name) => h("td", {}, name === "channel" ? channel(row) : row[name] === null || row[name] === undefined ? "" : String(row[name])));
    view.replaceChildren(
      h("div", { class: "picture" }, h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": title }, h("div", { class: "jobrun" }, h("div", { class: "name run" }, lanes.map((lane) => h("span", {}, lane))), chart))),
      h("details", {}, h("summary", {}, `${shown.length} rows`), h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Rows" }, h("table", { class: "logrows" }, h("thead", {}, h("tr", {}, COLUMNS.map((name) => h("th", { scope: "col" }, name)))), h("tbody", {}, shown.map((row) => h("tr", { class: row.wrong ? "wrong" : null }, cells(row))))))),
    );
    const at = chart.querySelector(".mark.wrong .halo");
    if (at) requestAnimationFrame(() => { const place = view.querySelector(".scroll"); place.scrollLeft = Number(at.getAttribute("cx")) - place.clientWidth / 2; });
  }
  draw();
  return [h("div", { class: "config" }, choices("channel", rows.map(channel)), choices("key", rows.map((row) => row.key)), zoom), view];
}

function drawExcerpt(one) {
  return h(
    "article", { class: "card violation" }, h("h3", {}, one.title), h("p", {}, one.statement), h("p", { class: "soft" }, one.place),
    one.left ? h("p", { class: "hint" }, `${one.left.toLocaleString("en")} more rows of the excerpt are not drawn.`) : null, h("p", { class: "buttons" }, one.command ? copyButton("copy command", one.command) : null), drawRun(one),
  );
}

function drawViolations() {
  if (!audit.excerpts.length) return null;
  const place = h("div", {});
  const choose = (number) => {
    place.replaceChildren(drawExcerpt(audit.excerpts[number]));
    [...tabs.children].forEach((tab, each) => tab.setAttribute("aria-pressed", String(each === number)));
  };
  const tabs = h("div", { class: "tabs wrap", role: "group", "aria-label": "Violations" }, audit.excerpts.map((one, number) => h("button", { type: "button", onclick: () => choose(number) }, `${number + 1} ${one.invariant}`)));
  choose(0);
  return h("section", {}, h("h2", {}, "Violations", h("small", { class: "soft" }, " the first of each invariant, with the rows around them")), tabs, place);
}

function drawBeginning() {
  if (!audit.beginning) return null;
  return h("section", {}, h("h2", {}, audit.beginning.title), drawRun(audit.beginning));
}

document.getElementById("actions").append(themeButton());
document.getElementById("main").replaceChildren(...[drawVerdict(), drawViolations(), drawInvariants(), drawBeginning()].filter((each) => each !== null));
