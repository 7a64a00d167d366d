// Items of a queue: the kind as a colour, and the number or bytes if there are any.

import { h } from "./dom.js";

const words = (name) => String(name).replaceAll("_", " ");

function toneOf(kind) {
  if (/barrier/.test(kind)) return "barrier";
  if (/priority|urgent/.test(kind)) return "urgent";
  if (/^end|finished|over/.test(kind)) return "end";
  return /^(data|normal|record|[0-9a-f]+)$/.test(kind) ? "data" : "other";
}

/** One thing in a queue: what it is, its number or bytes if it has any, and whether it is still being written. */
export function drawItem(value) {
  if (value === null || typeof value !== "object") return h("span", { class: `item ${toneOf(String(value))}`, title: words(value) }, cut(words(value)));
  if (value.type === "watermark") return h("span", { class: "item water", title: `watermark ${value.timestamp}` }, `▲ ${value.timestamp}`);
  const kind = value.kind ?? value.item ?? value.type ?? ("amount" in value ? "credit" : "item");
  const content = "backlog" in value && kind === "item" ? `backlog ${value.backlog}` : "amount" in value ? `+${value.amount}` : value.content !== undefined ? say(value.content) : value.data || (value.key ?? value.status ?? value.sequence ?? "");
  const isNamed = !["data", "normal", "record", "credit", "item"].includes(kind);
  const title = Object.entries(value).map(([name, one]) => `${words(name)} ${say(one)}`).join(", ");
  return h("span", { class: `item ${toneOf(kind)}${value.finished === false ? " open" : ""}`, title }, cut([isNamed ? words(kind) : "", content].filter((text) => text !== "").join(" ") || (kind === "item" ? Object.entries(value).map(([name, one]) => `${words(name)} ${say(one)}`).join(" ") : words(kind))), value.finished === false ? "…" : "");
}

export const say = (value) => value !== null && typeof value === "object" ? Object.values(value).map(say).join(" ") : String(value);
const cut = (text) => text.length > 14 ? `${text.slice(0, 13)}…` : text;
