// Elements from values. Text is always text: nothing here reads markup.

const SVG = "http://www.w3.org/2000/svg";

/** An element: attributes, `on…` listeners, `style` as an object; children are nodes or texts, nothing for null. */
export function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") Object.entries(value).forEach(([key, one]) => element.style.setProperty(key, one));
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** A button that copies a text, and confirms it. */
export function copyButton(label, text) {
  const button = h("button", { type: "button", class: "copy", onclick: copy }, label);
  async function copy() {
    const value = typeof text === "function" ? text() : text;
    try {
      await navigator.clipboard.writeText(value);
    } catch {
      const area = h("textarea", { value, class: "offscreen", "aria-hidden": "true" });
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
      button.focus();
    }
    button.textContent = "copied";
    setTimeout(() => { button.textContent = label; }, 1200);
  }
  return button;
}

/** A button that cycles through light, dark and system theme; the choice is stored if possible. */
export function themeButton() {
  const order = ["system", "light", "dark"];
  const button = h("button", { type: "button", onclick: () => set(order[(order.indexOf(now()) + 1) % 3]) });
  const now = () => document.documentElement.dataset.theme ?? "system";
  function set(theme) {
    if (theme === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    try { localStorage.setItem("theme", theme); } catch { /* a page from disk may have no storage */ }
    button.textContent = { system: "◐", light: "☀", dark: "☾" }[theme];
    button.title = `Colours: ${theme}`;
    button.setAttribute("aria-label", `Colours: ${theme}`);
  }
  let kept = null;
  try { kept = localStorage.getItem("theme"); } catch { /* the same */ }
  set(order.includes(kept) ? kept : "system");
  return button;
}

/** A text with code between backticks. */
export const prose = (text) => text.split("`").map((part, at) => at % 2 ? h("code", {}, part) : part);

// --- rules ------------------------------------------------------------------------------------------------------

let bubble = null;
let anchored = null;

/** The id of a rule; its text and reason appear on hover or focus. */
export function ruleChip(id, rules, extra = "") {
  const rule = rules[id];
  const chip = h("button", { type: "button", class: `rule ${extra}` }, id);
  if (!rule) return chip;
  const show = () => showBubble(chip, rule);
  chip.addEventListener("pointerenter", show);
  chip.addEventListener("focus", show);
  chip.addEventListener("click", show);
  chip.addEventListener("pointerleave", hideBubble);
  chip.addEventListener("blur", hideBubble);
  return chip;
}

function showBubble(anchor, rule) {
  hideBubble();
  bubble = h("div", { class: "bubble", role: "tooltip", id: "bubble" }, h("p", {}, h("b", {}, anchor.textContent), " ", prose(rule.text)));
  if (rule.intent) bubble.append(h("p", { class: "soft" }, "Why: ", prose(rule.intent)));
  if (rule.source) bubble.append(h("p", { class: "soft small" }, rule.source));
  document.body.append(bubble);
  anchor.setAttribute("aria-describedby", "bubble");
  anchored = anchor;
  placeBubble();
}

function placeBubble() {
  const place = anchored.getBoundingClientRect();
  const size = bubble.getBoundingClientRect();
  const left = Math.max(8, Math.min(place.left, innerWidth - size.width - 8));
  const above = place.bottom + size.height + 10 > innerHeight && place.top > size.height + 10;
  bubble.style.left = `${left}px`;
  bubble.style.top = `${above ? place.top - size.height - 6 : place.bottom + 6}px`;
}

export function hideBubble() {
  anchored?.removeAttribute("aria-describedby");
  bubble?.remove();
  bubble = anchored = null;
}

document.addEventListener("keydown", (event) => { if (event.key === "Escape") hideBubble(); });
document.addEventListener("scroll", () => { if (bubble) placeBubble(); }, true);
