// A step in full: allowed outcomes, rules, and the state before and after it.

import { h, prose, ruleChip } from "./dom.js";
import { compare, rows } from "./values.js";

const FEW = 24;
const MANY = 400;

/** The state before and after as a table in which what changed is marked; `others` are further states to set beside. */
export function stateTable(before, after, others = []) {
  const table = compare(before, after);
  if (!table.length) return h("p", { class: "hint" }, "This component keeps no state: each event is answered by itself.");
  const beside = others.map(({ title, state }) => ({ title, values: rows(state) }));
  const differs = (row) => row.changed || beside.some(({ values }) => (values.get(row.path) ?? "") !== row.after);
  const changed = table.filter(differs);
  if (before === after) return drawTable(table.slice(0, MANY), beside, true);
  if (table.length <= FEW) return drawTable(table, beside);
  return h("div", {}, changed.length ? drawTable(changed, beside) : h("p", { class: "hint" }, "Nothing changed."), h("details", {}, h("summary", {}, `All ${table.length} parts`), drawTable(table.slice(0, MANY), beside), table.length > MANY ? h("p", { class: "hint" }, `and ${table.length - MANY} more`) : null));
}

function drawTable(table, beside, isFirst = false) {
  const head = h("tr", {}, ["part", ...isFirst ? ["value"] : ["before", "after"], ...beside.map((each) => each.title)].map((text) => h("th", { scope: "col" }, text)));
  const body = table.map((row) => h(
    "tr", { class: row.changed ? "changed" : "" },
    h("th", { scope: "row" }, row.path.split(/(?=[.[_])/).flatMap((part) => [h("wbr"), part])), isFirst ? null : h("td", {}, row.before), h("td", {}, row.changed ? h("mark", {}, row.after || "–") : row.after),
    beside.map(({ values }) => {
      const text = values.get(row.path) ?? "";
      return h("td", {}, text === row.after ? text : h("mark", { class: "differs" }, text || "–"));
    }),
  ));
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "State before and after" }, h("table", { class: "state" }, h("thead", {}, head), h("tbody", {}, body)));
}

/** Observations, one below the other; `right` has the indices of the allowed ones. */
export function observations(seen, right = []) {
  return h("ul", { class: "observations" }, seen.length ? seen.map((text, number) => h("li", { class: right.includes(number) ? "right" : null }, h("code", {}, text))) : h("li", { class: "soft" }, "nothing"));
}

/** Rules with their texts; on a site with a page of all rules, with links to it. */
export function ruleList(ids, rules) {
  const page = document.body.dataset.rules;
  const more = (id) => page ? [" ", h("a", { href: `${page}#${id}`, title: `${id}: its code, tests, traces and wrong engines` }, "more")] : null;
  return h("dl", { class: "rulelist" }, ids.map((id) => [h("dt", {}, ruleChip(id, rules)), h("dd", {}, prose(rules[id]?.text ?? ""), more(id))]));
}
