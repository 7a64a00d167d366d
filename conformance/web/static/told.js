// The result of a command as a page: its conclusion, its table, and each finding in words and as a picture.

import { copyButton, h, themeButton } from "./dom.js";
import { ruleList } from "./details.js";
import { drawWalk } from "./walk.js";

const TONES = { 0: "good", 1: "bad" };
const told = JSON.parse(document.getElementById("told").textContent);

function drawVerdict() {
  const facts = [["suite", `tidegate ${told.suite}`], ...told.command ? [["command", [h("code", {}, told.command), " ", copyButton("copy", told.command)]]] : []];
  return h(
    "section", { class: `verdict ${TONES[told.exit] ?? "open"}` }, h("h1", {}, told.conclusion), h("p", { class: "soft" }, told.title),
    h("dl", {}, facts.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)))),
    told.about.length ? h("ul", {}, told.about.map((text) => h("li", {}, h("code", {}, text)))) : null,
    told.notes.length ? h("ul", { class: "remarks" }, told.notes.map((text) => h("li", {}, text))) : null,
  );
}

/** Labels at the beginning of a finding's lines. */
const FACTS = ["config", "trace", "at step", "allowed", "seen", "pass", "fail", "error", "reproduce"];
const RULE = /^([A-Z]+-\d+): /;

/** The lines of a finding: its rules with their texts, its facts by name, and other lines. */
function drawLines(lines) {
  const facts = lines.flatMap((line) => FACTS.filter((name) => line.startsWith(`${name} `)).map((name) => [name, line.slice(name.length).trim()]));
  const rules = lines.flatMap((line) => RULE.exec(line)?.[1] ?? []).filter((id) => told.rules[id]);
  const others = lines.filter((line) => line.trim() && !FACTS.some((name) => line.startsWith(`${name} `)) && !rules.includes(RULE.exec(line)?.[1]));
  if (!facts.length) return h("pre", { class: "told", tabindex: "0" }, lines.join("\n"));
  return [
    rules.length ? ruleList(rules, told.rules) : null,
    h("dl", { class: "facts" }, facts.map(([name, value]) => [h("dt", {}, name), h("dd", {}, h("code", {}, value))])), others.map((line) => h("p", { class: "soft" }, line)),
  ];
}

function drawFinding({ text, component, picture, config, step, link }) {
  const [title, ...rest] = text.split("\n");
  const said = (name) => rest.find((line) => line.trim().startsWith(`${name} `))?.trim().slice(name.length).trim();
  const raw = picture && JSON.stringify({ component, config, events: picture.steps.map((each) => each.json) });
  const copies = [["copy trace", said("trace")], ["copy JSON", raw], ["copy command", said("reproduce")]].filter(([, value]) => value);
  return h(
    "article", { class: "card counterexample" }, h("h3", {}, title), drawLines(rest.map((line) => line.replace(/^ {2}/, ""))),
    link || copies.length ? h("p", { class: "buttons" }, copies.map(([label, value]) => copyButton(label, value)), link && h("a", { href: link, target: "_blank", rel: "noreferrer", title: "tidegate play must be running" }, "open in playground")) : null, picture ? drawWalk({ title, picture, config, step }, told.rules) : null,
  );
}

function drawFindings() {
  if (!told.findings.length) return null;
  const place = h("div", {});
  const choose = (number) => {
    place.replaceChildren(drawFinding(told.findings[number]));
    [...tabs.children].forEach((tab, each) => tab.setAttribute("aria-pressed", String(each === number)));
  };
  const tabs = h("div", { class: "tabs wrap", role: "group", "aria-label": "Findings" }, told.findings.map((one, number) => h("button", { type: "button", onclick: () => choose(number) }, one.text.split("\n")[0])));
  choose(0);
  return h("section", {}, h("h2", {}, "Findings"), told.findings.length > 1 ? tabs : null, place);
}

const tone = (head, value) => !value ? "none" : ["agreed", "pass", "caught"].includes(head) ? "good" : ["diverged", "fail", "errors"].includes(head) ? "bad" : null;

function drawTable() {
  if (!told.rows.length) return null;
  const cell = (value, at) => at ? h("td", { class: typeof value === "number" ? tone(told.header[at], value) : "statement" }, typeof value === "number" ? value.toLocaleString("en") : value) : h("th", { scope: "row" }, value);
  return h("section", {}, h("h2", {}, "All that was tried"), h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "All that was tried" }, h("table", { class: "matrix" }, h("thead", {}, h("tr", {}, told.header.map((text) => h("th", { scope: "col" }, text)))), h("tbody", {}, told.rows.map((row) => h("tr", {}, row.map(cell)))))));
}

document.getElementById("actions").append(themeButton());
document.getElementById("main").replaceChildren(...[drawVerdict(), drawFindings(), drawTable()].filter((each) => each !== null));
