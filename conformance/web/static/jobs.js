// The page of whole jobs: the verdict, the smallest job for each kind of failure, and the checks.

import { copyButton, h, ruleChip, themeButton } from "./dom.js";
import { drawGraph } from "./graph.js";
import { drawRun } from "./run.js";

const TONES = { 0: "good", 1: "bad" };
const jobs = JSON.parse(document.getElementById("jobs").textContent);

function drawVerdict() {
  const facts = [...jobs.facts, ...jobs.command ? [["command", [h("code", {}, jobs.command), " ", copyButton("copy", jobs.command)]]] : []];
  return h(
    "section", { class: `verdict ${TONES[jobs.exit] ?? "open"}` }, h("h1", {}, jobs.conclusion),
    h("dl", {}, facts.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)))),
    jobs.notes.length ? h("ul", { class: "remarks" }, jobs.notes.map((text) => h("li", {}, text))) : null,
  );
}

// --- findings ---------------------------------------------------------------------------------------------------

function drawWrong({ rules, message, seen, expected }) {
  const beside = expected || seen ? h("div", { class: "beside" }, h("div", {}, h("h4", {}, "expected"), h("code", {}, expected || "nothing")), h("div", { class: "seenbox" }, h("h4", {}, "seen"), h("code", {}, seen || "nothing"))) : null;
  return h("li", {}, rules.map((id) => [ruleChip(id, jobs.rules), " "]), h("span", { class: "problem" }, message), beside);
}

/** The program as a graph and in words, with its settings and faults. */
function drawProgram({ program, graph, settings, faults }) {
  const list = (values) => h("dl", { class: "settings" }, Object.entries(values).map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, h("code", {}, value)))));
  const picture = graph ? h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "The program as a graph" }, drawGraph(graph, graph.tasks.map((operators) => ({ type: "vertex", operators })), Infinity)) : null;
  return h(
    "div", { class: "program" }, picture, h("pre", { class: "told", tabindex: "0" }, program.join("\n")),
    Object.keys(settings).length ? [h("h4", {}, "settings"), list(settings)] : null, faults.length ? [h("h4", {}, "faults"), faults.map(list)] : null,
  );
}

function drawFinding(one) {
  return h(
    "article", { class: "card counterexample" },
    h("h3", {}, one.title, one.count ? h("small", {}, ` in ${one.count.toLocaleString("en")} ${one.count === 1 ? "job" : "jobs"}; the smallest:`) : null),
    h("ul", { class: "wrongs" }, one.wrongs.map(drawWrong)),
    h("p", { class: "buttons" }, copyButton("copy command", one.reproduce), copyButton("copy JSON", one.json), one.link ? h("a", { href: one.link, target: "_blank", rel: "noreferrer", title: "tidegate play must be running" }, "open in playground") : null),
    h("p", { class: "soft" }, h("code", { class: "trace" }, one.reproduce), one.again ? h("br", {}) : null, one.again || null),
    h("h4", {}, "The job"), drawProgram(one),
    one.seen ? [h("h4", {}, one.seen.title), drawRun(one.seen)] : h("p", { class: "hint" }, "The engine showed no rows of it."),
    one.expected ? h("details", { open: one.seen !== null && one.expected.rows.length < 80 }, h("summary", {}, one.expected.title, " of the same program, under a schedule of its own"), drawRun(one.expected)) : null,
  );
}

function drawFindings() {
  if (!jobs.findings.length) return null;
  const place = h("div", {});
  const choose = (number) => {
    place.replaceChildren(drawFinding(jobs.findings[number]));
    [...tabs.children].forEach((tab, each) => tab.setAttribute("aria-pressed", String(each === number)));
  };
  const tabs = h("div", { class: "tabs wrap", role: "group", "aria-label": "Findings" }, jobs.findings.map((one, number) => h("button", { type: "button", onclick: () => choose(number) }, one.title)));
  choose(0);
  return h("section", {}, h("h2", {}, "Findings", h("small", { class: "soft" }, " one job of each kind")), jobs.findings.length > 1 ? tabs : null, place);
}

// --- tables -----------------------------------------------------------------------------------------------------

function drawTable(title, header, rows) {
  if (!rows.length) return null;
  const cell = (value, at) => at ? h("td", { class: tone(header[at], value) }, typeof value === "number" ? value.toLocaleString("en") : value) : h("th", { scope: "row" }, jobs.rules[value] ? ruleChip(value, jobs.rules) : value);
  return h("section", {}, h("h2", {}, title), h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": title }, h("table", { class: "matrix checked" }, h("thead", {}, h("tr", {}, header.map((text) => h("th", { scope: "col" }, text)))), h("tbody", {}, rows.map((row) => h("tr", {}, row.map(cell)))))));
}

const tone = (head, value) => typeof value === "string" ? "statement" : head === "passed" && value ? "good" : head === "failed" && value ? "bad" : value ? null : "none";

function drawJobs() {
  const more = jobs.left ? h("p", { class: "hint" }, `and ${jobs.left.toLocaleString("en")} more: report.jsonl has them all.`) : null;
  const table = drawTable(`${jobs.jobs.length.toLocaleString("en")} jobs that did not pass`, ["job", "became", "by", "what is wrong", "run again"], jobs.jobs);
  return table === null ? null : h("details", {}, h("summary", {}, "Every job that did not pass"), table, more);
}

document.getElementById("actions").append(themeButton());
document.getElementById("main").replaceChildren(...[drawVerdict(), drawFindings(), drawTable("Invariants, by how many runs", jobs.header, jobs.rows), drawJobs()].filter((each) => each !== null));
