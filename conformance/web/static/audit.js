// The page of an audit: what was checked, and the rows around each violation as a space-time diagram.

import { copyButton, h, themeButton } from "./dom.js";
import { drawRun } from "./run.js";

const TONES = { 0: "good", 1: "bad" };
const audit = JSON.parse(document.getElementById("audit").textContent);

function drawVerdict() {
  const facts = [["events", audit.events.toLocaleString("en")], ["read by", audit.path], ["suite", `tidegate ${audit.suite}`], ...audit.command ? [["command", [h("code", {}, audit.command), " ", copyButton("copy", audit.command)]]] : []];
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

function drawExcerpt(one) {
  return h(
    "article", { class: "card violation" }, h("h3", {}, one.title), h("p", {}, one.statement), h("p", { class: "soft" }, one.place),
    h("p", { class: "buttons" }, one.command ? copyButton("copy command", one.command) : null), drawRun(one),
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
