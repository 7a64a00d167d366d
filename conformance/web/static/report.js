// The page of a report: the verdict, the matrix, counterexamples as pictures, and every finding in a list.

import { copyButton, h, ruleChip, themeButton } from "./dom.js";
import { observations, ruleList } from "./details.js";
import { drawWalk } from "./walk.js";

/** The default address of `tidegate play`. */
const PLAYGROUND = "http://127.0.0.1:7728/";
const ROW = 46;

const read = (id) => JSON.parse(document.getElementById(id).textContent);
const result = read("result");
const index = read("index").map(([component, stage, verdict, rule, trace, message], number) => ({ number, component, stage, verdict, rule, trace, message }));
/** The component in the address, if any: `index.html#valve`. */
const asked = result.path.find((name) => `#${name}` === location.hash) ?? null;
const count = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;

/** The findings with their evidence in packed blocks; a block is unpacked on first use. */
const packed = document.getElementById("findings").textContent.split("\n");
const unpacked = new Map();
async function unpack(block) {
  const bytes = Uint8Array.from(atob(packed[block]), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return (await new Response(stream).text()).split("\n");
}

async function findEvidence(number) {
  const block = result.blocks.findLastIndex((begin) => begin <= number);
  if (!unpacked.has(block)) unpacked.set(block, unpack(block));
  return JSON.parse((await unpacked.get(block))[number - result.blocks[block]]);
}

// --- the verdict ------------------------------------------------------------------------------------------------

const TONES = { 0: "good", 1: "bad", 2: "open" };

function drawVerdict() {
  const { implementation } = result;
  const remarks = result.remarks.filter((text) => !text.startsWith("Likely cause:"));
  const named = implementation && (implementation.name || implementation.version) ? [implementation.name, implementation.version, implementation.language].filter(Boolean).join(" ") : null;
  const facts = [
    ["engine", h("code", {}, result.engine)], named ? ["calls itself", named] : null,
    ["cases", `${result.cases.toLocaleString("en")} in ${result.seconds.toFixed(1)} s`], ["seed", String(result.seed)], ["suite", `tidegate ${result.suite}`],
    result.command ? ["command", [h("code", {}, result.command), " ", copyButton("copy", result.command)]] : null,
  ].filter((fact) => fact !== null);
  return h(
    "section", { class: `verdict ${TONES[result.exit] ?? "open"}` }, h("h1", {}, result.conclusion), 
    h("dl", {}, facts.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)))),
    remarks.length ? h("ul", { class: "remarks" }, remarks.map((text) => h("li", {}, text.length > 600 ? h("details", {}, h("summary", {}, `${text.slice(0, 160)}…`), text) : text))) : null,
  );
}

// --- the matrix -------------------------------------------------------------------------------------------------

const GOOD = ["pass"];
const NEUTRAL = ["pass", "skip", "xfail"];

function drawMatrix() {
  const stages = [...new Set(result.counts.map((row) => row.stage))];
  const cells = new Map(result.counts.map((row) => [`${row.component} ${row.stage}`, row]));
  const components = result.path.filter((name) => result.counts.some((row) => row.component === name));
  const tried = components.filter((name) => result.counts.some((row) => row.component === name && Object.keys(row).some((key) => key !== "component" && key !== "stage" && key !== "skip")));
  const cell = (component, stage) => {
    const { component: _component, stage: _stage, ...counts } = cells.get(`${component} ${stage}`) ?? {};
    const wrong = Object.entries(counts).filter(([status]) => !NEUTRAL.includes(status));
    const all = Object.entries(counts).map(([status, number]) => `${number.toLocaleString("en")} ${status}`).join(", ");
    if (!all) return h("td", { class: "none" }, "");
    const total = Object.values(counts).reduce((sum, number) => sum + number, 0);
    const bad = wrong.reduce((sum, [, number]) => sum + number, 0);
    const tone = bad ? "bad" : GOOD.some((status) => counts[status]) ? "good" : "open";
    const words = bad ? `${bad.toLocaleString("en")} of ${total.toLocaleString("en")}` : tone === "good" ? total.toLocaleString("en") : all;
    const label = `${component}, ${stage}: ${all}`;
    return h("td", { class: tone, title: label }, bad ? h("button", { type: "button", class: "link", "aria-label": label, onclick: () => filter({ component, stage }) }, words) : words);
  };
  return h("section", {}, h("h2", {}, "Components and stages"), h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Components and stages" }, h(
    "table", { class: "matrix" }, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "component"), stages.map((stage) => h("th", { scope: "col" }, stage)))),
    h("tbody", {}, tried.map((component) => h("tr", {}, h("th", { scope: "row" }, component.replaceAll("_", " ")), stages.map((stage) => cell(component, stage))))),
  )), components.length > tried.length ? h("p", { class: "hint" }, `${count(components.length - tried.length, "component")} not declared by the engine, so not tried.`) : null);
}

// --- counterexamples --------------------------------------------------------------------------------------------

const playground = (finding) => `${PLAYGROUND}#${finding.component}?config=${encodeURIComponent(JSON.stringify(finding.config))}&trace=${encodeURIComponent(finding.trace)}`;

function drawButtons(finding) {
  const raw = JSON.stringify({ case: finding.case, component: finding.component, config: finding.config, events: finding.events });
  return h(
    "p", { class: "buttons" }, copyButton("copy trace", finding.trace), copyButton("copy JSON", raw), copyButton("copy command", finding.reproduce),
    h("a", { href: playground(finding), target: "_blank", rel: "noreferrer", title: "tidegate play must be running" }, "open in playground"),
  );
}

function drawCounterexample(finding) {
  const view = finding.picture ? drawWalk(finding, result.rules) : drawEvidence(finding);
  return h(
    "article", { class: "card counterexample" }, h("h3", {}, finding.title, finding.step ? h("small", {}, ` at step ${finding.step}`) : null),
    finding.message ? h("p", { class: "problem" }, finding.message) : null,
    h("p", { class: "soft" }, h("code", {}, JSON.stringify(finding.config)), " · ", h("code", { class: "trace" }, finding.trace)),
    drawCause(result.causes.find((each) => each.component === finding.component)), ruleList(finding.rules.slice(0, 2), result.rules),
    finding.rules.length > 2 || finding.earlier.length ? h("p", { class: "soft" }, finding.rules.length > 2 ? ["also ", finding.rules.slice(2).map((id) => ruleChip(id, result.rules)), " "] : null, finding.earlier.length ? ["earlier ", finding.earlier.map((id) => ruleChip(id, result.rules))] : null) : null,
    drawButtons(finding), view, finding.stderr.length ? h("details", {}, h("summary", {}, "standard error"), h("pre", {}, finding.stderr.join("\n"))) : null,
  );
}

/** The likely cause, from all failures of the component. */
function drawCause(cause) {
  if (!cause) return null;
  const rules = cause.rules.slice(0, 3).map((id) => ruleChip(id, result.rules));
  return h("p", { class: "cause" }, h("b", {}, "Likely cause "), cause.twin ? ["it behaves like ", h("b", {}, cause.twin), ": ", cause.story, " "] : null, rules, h("span", { class: "soft" }, ` by ${count(cause.failures, "failure")}`));
}

/** The evidence of a finding without a picture. */
function drawEvidence(finding) {
  const at = finding.step ?? null;
  const tokens = finding.trace.split(" ").slice(0, 400).map((token, number) => h("code", { class: number + 1 === at ? "token wrong" : "token" }, token));
  return [
    h("p", { class: "tokens" }, tokens), at ? h("div", { class: "beside" }, h("div", {}, h("h4", {}, `allowed at step ${at}`), finding.allowed.slice(0, 12).map((text) => observations([text]))), h("div", { class: "seenbox" }, h("h4", {}, "seen"), observations(finding.seen ? [finding.seen] : []))) : null,
  ].filter((each) => each !== null);
}

function drawCounterexamples() {
  const all = result.counterexamples;
  if (!all.length) return null;
  const place = h("div", {});
  const chosen = (number) => {
    place.replaceChildren(drawCounterexample(all[number]));
    [...tabs.children].forEach((tab, each) => tab.setAttribute("aria-pressed", String(each === number)));
  };
  const tabs = h("div", { class: "tabs wrap", role: "group", "aria-label": "Counterexamples" }, all.map((finding, number) => h("button", { type: "button", onclick: () => chosen(number) }, finding.title)));
  chosen(Math.max(0, all.findIndex((finding) => finding.component === asked)));
  return h("section", { id: "counterexamples" }, h("h2", {}, count(all.length, "counterexample"), h("small", { class: "soft" }, " shrunk")), all.length > 1 ? tabs : null, place);
}

// --- findings ---------------------------------------------------------------------------------------------------

let filter = () => {};

function drawFindings() {
  if (!index.length) return null;
  const wanted = { component: "", stage: "", verdict: "", text: "" };
  let shown = index;
  let selected = -1;
  const rows = h("div", { class: "rows" });
  const list = h("div", { class: "list", tabindex: "0", role: "listbox", "aria-label": "Findings", onscroll: () => requestAnimationFrame(fillRows), onkeydown: move }, rows);
  const detail = h("div", { class: "card detail", "aria-live": "polite" }, h("p", { class: "hint" }, "Choose a finding."));
  const counted = h("span", { class: "soft", role: "status" });
  const choices = (name) => h("label", { class: "field" }, h("span", {}, name), h("select", { "data-filter": name, onchange: (event) => { wanted[name] = event.target.value; apply(); } }, h("option", { value: "" }, "all"), [...new Set(index.map((each) => each[name]))].map((value) => h("option", { value }, value))));
  const selects = { component: choices("component"), stage: choices("stage"), verdict: choices("verdict") };
  const search = h("input", { type: "search", placeholder: "rule, trace, message", "aria-label": "Search findings", oninput: (event) => { wanted.text = event.target.value.toLowerCase(); apply(); } });
  function apply() {
    shown = index.filter((each) => ["component", "stage", "verdict"].every((name) => !wanted[name] || each[name] === wanted[name]) && (!wanted.text || `${each.rule} ${each.trace} ${each.message}`.toLowerCase().includes(wanted.text)));
    selected = -1;
    list.scrollTop = 0;
    rows.style.height = `${shown.length * ROW}px`;
    list.style.height = `${Math.min(innerWidth > 900 ? 480 : 320, Math.max(2, shown.length) * ROW + 2)}px`;
    counted.textContent = `${count(shown.length, "finding")}${result.left ? `; ${result.left.toLocaleString("en")} more in report.jsonl` : ""}`;
    fillRows();
  }
  /** Only the visible rows exist. */
  function fillRows() {
    const from = Math.max(0, Math.floor(list.scrollTop / ROW) - 5);
    const to = Math.min(shown.length, from + Math.ceil((list.clientHeight || 480) / ROW) + 10);
    rows.replaceChildren(...shown.slice(from, to).map((each, offset) => {
      const position = from + offset;
      return h("div", {
        class: `row ${each.verdict.replace(" ", "-")}`, role: "option", id: `finding-${position}`, "aria-selected": String(position === selected),
        "aria-posinset": String(position + 1), "aria-setsize": String(shown.length), style: { top: `${position * ROW}px` }, onclick: () => choose(position),
      }, h("b", {}, each.verdict), h("span", {}, each.component.replaceAll("_", " "), " ", h("i", {}, each.rule)), h("code", {}, each.message || each.trace));
    }));
    if (selected >= 0) list.setAttribute("aria-activedescendant", `finding-${selected}`);
  }
  async function choose(position) {
    selected = position;
    if (position * ROW < list.scrollTop) list.scrollTop = position * ROW;
    if ((position + 1) * ROW > list.scrollTop + list.clientHeight) list.scrollTop = (position + 1) * ROW - list.clientHeight;
    fillRows();
    const { number } = shown[position];
    const finding = await findEvidence(number);
    if (selected !== position) return;
    detail.replaceChildren(
      h("h3", {}, finding.rules.length ? `${finding.component} breaks ${finding.rules[0]}` : `${finding.component}: ${finding.verdict}`), h("p", { class: "soft" }, `${finding.case} · ${finding.stage}`),
      ...finding.message ? [h("p", { class: "problem" }, finding.message)] : [], ruleList(finding.rules.slice(0, 3), result.rules), h("p", {}, h("code", {}, JSON.stringify(finding.config))), ...drawEvidence(finding), drawButtons(finding),
      ...finding.stderr?.length ? [h("details", {}, h("summary", {}, "standard error"), h("pre", {}, finding.stderr.join("\n")))] : [],
    );
  }
  function move(event) {
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity };
    if (!(event.key in steps) || !shown.length) return;
    event.preventDefault();
    choose(Math.max(0, Math.min(shown.length - 1, selected + steps[event.key])));
  }
  filter = (some) => {
    Object.assign(wanted, { component: "", stage: "", verdict: "" }, some);
    for (const [name, label] of Object.entries(selects)) label.querySelector("select").value = wanted[name];
    apply();
    section.scrollIntoView();
  };
  const section = h("section", { id: "all" }, h("h2", {}, "All findings"), h("div", { class: "config" }, Object.values(selects), h("label", { class: "field" }, h("span", {}, "search"), search), counted), h("div", { class: "split" }, list, detail));
  if (index.some((each) => each.component === asked)) selects.component.querySelector("select").value = wanted.component = asked;
  apply();
  return section;
}

// --- rules ------------------------------------------------------------------------------------------------------

function drawRules() {
  const missing = new Set(result.rules_missing);
  const exercised = Object.entries(result.rules_exercised);
  const most = Math.max(1, ...exercised.map(([, times]) => times));
  const ids = [...new Set([...missing, ...exercised.map(([id]) => id)])].filter((id) => result.rules[id]);
  if (!ids.length) return null;
  const failed = new Set(result.counterexamples.flatMap((one) => one.rules.slice(0, 1)));
  const groups = new Map();
  for (const id of Object.keys(result.rules).filter((each) => ids.includes(each))) groups.set(id.split("-")[0], [...groups.get(id.split("-")[0]) ?? [], id]);
  const bar = (id) => {
    const times = result.rules_exercised[id] ?? 0;
    const chip = ruleChip(id, result.rules, failed.has(id) ? "bad" : missing.has(id) ? "open" : "");
    return h("li", { title: `${id}: exercised ${count(times, "time")}` }, chip, h("meter", { min: "0", max: "1", value: String(Math.log1p(times) / Math.log1p(most)), "aria-label": `${id}, exercised ${count(times, "time")}` }), h("span", { class: "soft" }, times.toLocaleString("en")));
  };
  return h("section", {}, h("details", {}, h("summary", {}, `${count(ids.length - missing.size, "rule")} exercised${missing.size ? `, ${missing.size} too rarely for a verdict` : ""}`), [...groups].map(([prefix, members]) => h("div", {}, h("h3", {}, prefix), h("ul", { class: "ruleboard" }, members.map(bar))))));
}

function drawClaims() {
  if (!result.claims.length) return null;
  return h("section", {}, h("details", {}, h("summary", {}, count(result.claims.length, "suite"), " passed that ", result.claims.length === 1 ? "is" : "are", " complete on a small scope"), h("ul", {}, result.claims.map((text) => h("li", {}, text)))));
}

document.getElementById("actions").append(themeButton());
document.getElementById("main").replaceChildren(...[drawVerdict(), drawCounterexamples(), drawMatrix(), drawFindings(), drawRules(), drawClaims()].filter((each) => each !== null));
