// The script of document pages: colours, a menu that folds, and a search over all documents.

import { h, themeButton } from "./dom.js";

const MOST = 20;
const { base } = document.body.dataset;
let sections = null;

/** The index is a script, so that it also loads from disk; it is loaded on the first search. */
function load() {
  sections ??= new Promise((resolve, reject) => {
    document.head.append(h("script", { src: `${base}search.js`, onload: () => resolve(globalThis.SECTIONS.map(prepare)), onerror: () => reject(new Error("search.js is missing")) }));
  });
  return sections;
}

function prepare([address, page, title, text]) {
  return { address, page, title, text, name: title.toLowerCase(), all: `${page} ${title} ${text}`.toLowerCase() };
}

/** Sections with every word; matching headings first. */
function search(all, words) {
  const rank = (one) => (words.every((word) => one.name.split(" ").includes(word)) ? 0 : words.every((word) => one.name.includes(word)) ? 1 : 2) + one.name.length / 1e3;
  return all.filter((one) => words.every((word) => one.all.includes(word))).sort((a, b) => rank(a) - rank(b));
}

/** The text around the first found word, with all found words marked. */
function excerpt(text, words) {
  const lower = text.toLowerCase();
  const first = Math.max(0, Math.min(...words.map((word) => lower.indexOf(word)).filter((at) => at >= 0), text.length) - 40);
  const cut = text.slice(first, first + 150);
  const marks = new RegExp(`(${words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|")})`, "i");
  return [first ? "…" : "", ...cut.split(marks).map((part, at) => at % 2 ? h("mark", {}, part) : part)];
}

function drawSearch() {
  let chosen = -1;
  let asked = 0;
  const found = h("div", { id: "found", role: "listbox", "aria-label": "Found", hidden: true });
  const said = h("span", { class: "offscreen", role: "status" });
  const field = h("input", {
    type: "search", id: "query", placeholder: "Search: VALVE-5, idle, exit code", "aria-label": "Search the documents", role: "combobox", "aria-expanded": "false", "aria-controls": "found", "aria-autocomplete": "list", autocomplete: "off",
    onfocus: load, oninput: update, onkeydown: move,
  });
  async function update() {
    const number = asked += 1;
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const all = words.length ? search(await load(), words) : [];
    if (number !== asked) return;
    chosen = -1;
    field.removeAttribute("aria-activedescendant");
    found.replaceChildren(...all.slice(0, MOST).map((one, at) => h("a", { href: base + one.address, role: "option", id: `found-${at}`, tabindex: "-1", "aria-selected": "false" }, h("b", {}, one.title), one.page === one.title ? null : h("small", {}, ` ${one.page}`), h("span", {}, excerpt(one.text, words)))));
    found.hidden = !all.length;
    field.setAttribute("aria-expanded", String(all.length > 0));
    said.textContent = words.length ? `${all.length} found` : "";
  }
  function choose(at) {
    found.children[chosen]?.setAttribute("aria-selected", "false");
    chosen = Math.max(0, Math.min(found.children.length - 1, at));
    found.children[chosen].setAttribute("aria-selected", "true");
    found.children[chosen].scrollIntoView({ block: "nearest" });
    field.setAttribute("aria-activedescendant", `found-${chosen}`);
  }
  function close() {
    found.hidden = true;
    field.setAttribute("aria-expanded", "false");
  }
  function move(event) {
    if (event.key === "Escape") close();
    else if (found.hidden || !found.children.length) return;
    else if (event.key === "ArrowDown") choose(chosen + 1);
    else if (event.key === "ArrowUp") choose(chosen - 1);
    else if (event.key === "Enter") { (found.children[chosen] ?? found.children[0]).click(); close(); }
    else return;
    event.preventDefault();
  }
  document.addEventListener("click", (event) => { if (!document.getElementById("search").contains(event.target) || event.target.closest("#found")) close(); });
  document.addEventListener("keydown", (event) => { if (event.key === "/" && document.activeElement === document.body) { field.focus(); event.preventDefault(); } });
  document.getElementById("search").append(field, found, said);
}

drawSearch();
document.getElementById("actions").append(themeButton());
if (innerWidth <= 760) document.querySelector("nav details").open = false;
document.querySelector("nav [aria-current]")?.scrollIntoView({ block: "center" });
scrollTo(0, 0);
if (location.hash) document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
