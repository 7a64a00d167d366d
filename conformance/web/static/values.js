// States as people read them: words, lanes, rows, and what changed. A state is a plain JSON value.

const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
const isNested = (value) => Array.isArray(value) ? value.some((one) => one !== null && typeof one === "object") : isObject(value);

export const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

/** Fields with counts: a count of 0 is omitted, while channel 0 is shown. */
const COUNTS = new Set(["exclusive", "floating", "required", "unannounced", "hops", "queued", "holds", "free"]);

const cut = (text, limit) => text.length > limit ? `${text.slice(0, limit - 1)}…` : text;

/** A value in a few words, without false, empty or absent parts. */
export function words(value, limit = 60) {
  return cut(say(value), limit);
}

function say(value) {
  if (value === null || value === undefined) return "–";
  if (value === true) return "yes";
  if (value === false) return "no";
  if (Array.isArray(value)) return value.length ? value.map((one) => isObject(one) ? `(${say(one)})` : say(one)).join(" ") : "–";
  if (!isObject(value)) return value === "" ? "–" : String(value);
  if ("kind" in value && "data" in value) return `${value.kind}${value.data ? ` ${value.data}` : ""}${value.finished ? "" : "…"}`;
  const said = Object.entries(value).flatMap(([name, one]) => {
    if (one === false || one === null || one === "" || same(one, []) || (one === 0 && COUNTS.has(name))) return [];
    if (one === true) return [name.replaceAll("_", " ")];
    return [`${name.replaceAll("_", " ")} ${isObject(one) ? `(${say(one)})` : say(one)}`];
  });
  return said.join(" · ") || "–";
}

/** An event without a short form: its JSON without punctuation, and without false or empty parts. */
export function sayEvent(text) {
  if (!text.startsWith("{")) return text;
  const told = text.replace(/,?"\w+":(?:false|null|\[\]|"")/g, "").replace(/"type":"(\w+)",?/g, "$1 ").replace(/,?"(\w+)":true/g, " $1").replace(/,?"(\w+)":/g, " $1 ");
  return told.replaceAll("\\u0020", " ").replace(/[{}"]/g, "").replaceAll("_", " ").replace(/ +/g, " ").replace(/\[ /g, "[").replace(/ (?=[\],])/g, "").trim();
}

/** The name of an observation, and its values: a single value without its name, and no false values. */
export function readObservation(text) {
  const [seen, who] = text.split(" · ");
  if (who !== undefined) return { name: seen.split(/, (?=\w+\()/).map(shortObservation).join(", "), values: [who.split(/[:/]/).at(-1)] };
  const parts = /^(\w+)\((.*)\)$/s.exec(text);
  if (!parts) return { name: text.replaceAll("_", " "), values: [] };
  const row = /^log\(.*\bdir (\w+),.*\bkind (\w+)/.exec(text);
  if (row) return { name: `${row[1] === "out" ? "writes" : "reads"} ${row[2].replaceAll("_", " ")}`, values: [] };
  const values = splitValues(parts[2]).filter((each) => !each.endsWith(" false")).map((each) => each.replace(/ true$/, ""));
  const said = values.map((each) => each.replace(/^\w+/, (name) => name.replaceAll("_", " ")).replace(/ 9223372036854775807$/, " MAX").replace(/ -9223372036854775808$/, " MIN"));
  if (values.length !== 1) return { name: parts[1].replaceAll("_", " "), values: said };
  return { name: `${parts[1]} ${values[0].replace(/^\w+ /, "")}`.replaceAll("_", " "), values: [] };
}

/** Split at commas outside of brackets. */
function splitValues(text) {
  const found = [""];
  let depth = 0;
  for (const part of text.split(/(, |[()[\]{}])/)) {
    if ("([{".includes(part) && part) depth += 1;
    if (")]}".includes(part) && part) depth -= 1;
    if (part === ", " && depth === 0) found.push("");
    else found[found.length - 1] += part;
  }
  return found.filter(Boolean);
}

/** An observation as the suite writes it, in few words. */
export function shortObservation(text) {
  const { name, values } = readObservation(text);
  return [name, ...values].join(" · ");
}

// --- lanes ------------------------------------------------------------------------------------------------------

/** One of many: `channels` are `channel 0`, `channel 1`, … */
function one(name, index) {
  const single = name.endsWith("ies") ? `${name.slice(0, -3)}y` : name.endsWith("xes") ? name.slice(0, -2) : name.replace(/s$/, "");
  return `${single.replaceAll("_", " ")} ${index}`;
}

/** The parts of a state that are followed over time, each with its value and tone. */
function lanes(state, queues) {
  const found = [];
  const mark = tide(state);
  if (mark === null || mark.holder !== state) {
    collect(state, [], found, queues);
    return found;
  }
  const { last, combined, active, idle, ...rest } = state;
  collect(rest, [], found, queues);
  return [...found, { path: ["output"], text: `${mark.level === "MIN" ? "–" : mark.level}${mark.idle ? " · idle" : ""}`, tone: mark.idle ? "idle" : "out" }];
}

const isPart = (value) => isObject(value) && !("kind" in value && "data" in value) && !("type" in value);
const isParts = (value, path, queues) => Array.isArray(value) && value.length > 0 && value.every(isPart) && ("watermark" in value[0] || "id" in value[0] || !queues.has(path.join(" ")));

function collect(value, path, found, queues) {
  const shaped = shape(value);
  const opens = (key, inner) => isParts(inner, [...path, key], queues) || (isObject(inner) && Object.entries(inner).length > 0);
  if (shaped) {
    found.push({ path, ...shaped });
  } else if (isParts(value, path, queues)) {
    value.forEach((each, index) => collect(each, [...path.slice(0, -1), one(path.at(-1), each.id ?? index)], found, queues));
  } else if (isObject(value) && (path.length === 0 || Object.entries(value).some(([key, inner]) => opens(key, inner)))) {
    for (const [key, inner] of Object.entries(value)) collect(inner, [...path, key], found, queues);
  } else {
    found.push({ path, value, ...show(value, path.at(-1)) });
  }
}

function show(value, name) {
  const text = words(value, 60);
  return { text, tone: ["–", "no"].includes(text) || value === 0 ? "quiet" : "plain", ...look(value, name) };
}

const isThing = (value) => typeof value === "string" ? /^[a-z]+[a-z_]*$/.test(value) : isObject(value) && (THINGS.some((name) => name in value) || isTiny(value));
const isTiny = (value) => Object.keys(value).length <= 2 && !isNested(Object.values(value));
const THINGS = ["kind", "item", "type", "amount", "backlog"];
const BYTES = new Set(["gathered", "rest", "pending", "written", "data"]);

/** A better form than words: items of a queue, and bytes. */
function look(value, name) {
  if (typeof value === "string" && BYTES.has(name) && /^([0-9a-f]{2})+$/.test(value)) return { bytes: value.match(/../g) };
  if (Array.isArray(value)) return value.length && value.every(isThing) ? { items: value, aside: "" } : {};
  if (!isObject(value)) return {};
  const lists = Object.entries(value).filter(([, one]) => Array.isArray(one) && one.length && one.every(isThing));
  if (lists.length !== 1) return {};
  const { [lists[0][0]]: items, ...others } = value;
  return { items, aside: words(others, 60).replace(/^–$/, "") };
}

/** Lists that grow and shrink are shown as a whole; others have a lane for each of their parts. */
function findQueues(states) {
  const lengths = new Map();
  const visit = (value, path) => {
    if (Array.isArray(value)) {
      const name = path.join(" ");
      lengths.set(name, (lengths.get(name) ?? new Set()).add(value.length));
      value.forEach((inner, index) => visit(inner, [...path.slice(0, -1), one(path.at(-1) ?? "", inner?.id ?? index)]));
    } else if (isObject(value)) {
      for (const [key, inner] of Object.entries(value)) visit(inner, [...path, key]);
    }
  };
  states.forEach((state) => visit(state, []));
  return new Set([...lengths].filter(([, seen]) => seen.size > 1).map(([name]) => name));
}

/** Shorter names without the middle, unless two names would be equal. */
function nameAll(paths) {
  const short = paths.map((path) => {
    const part = path.findLastIndex((each) => / \d+$/.test(each));
    return [...path.slice(0, part + 1).slice(-2), ...part === path.length - 1 ? [] : [path.at(-1)]].join(" ");
  });
  return paths.map((path, index) => (short.indexOf(short[index]) === short.lastIndexOf(short[index]) ? short[index] : path.join(" ")).replaceAll("_", " "));
}

/** Values with their own look everywhere: channels and inputs with their watermarks. */
function shape(value) {
  if (!isObject(value) || !("watermark" in value)) return null;
  const mark = value.watermark === "MIN" ? "–" : String(value.watermark);
  if ("aligned" in value) {
    const tone = !value.active ? "idle" : value.aligned ? "aligned" : "behind";
    return { text: `${mark} · ${tone}`, tone };
  }
  if ("idle" in value) return { text: value.idle ? `${mark} · idle` : mark, tone: value.idle ? "idle" : "aligned" };
  return null;
}

/** The lanes of a whole trace: names in order, and for each the cell of every state (null where there is none). */
export function timeline(states) {
  const queues = findQueues(states);
  const tables = states.map((state) => new Map(lanes(state, queues).map((lane) => [lane.path.join("\n"), lane])));
  const keys = [];
  for (const table of tables.toReversed()) {
    [...table.keys()].forEach((key, index) => {
      if (!keys.includes(key)) keys.splice(Math.min(index, keys.length), 0, key);
    });
  }
  const names = nameAll(keys.map((key) => key.split("\n")));
  return keys.map((key, index) => ({ name: names[index], cells: focus(tables.map((table) => table.get(key) ?? null)) }));
}

/** Of things with many fields, only the changing ones are shown. */
function focus(cells) {
  const objects = cells.filter((cell) => cell && isObject(cell.value)).map((cell) => cell.value);
  const fields = [...new Set(objects.flatMap(Object.keys))].filter((name) => name !== "id");
  const changing = fields.filter((name) => objects.some((one) => !same(one[name], objects[0][name])));
  if (fields.length <= 4 || !changing.length) return cells;
  const pick = (value) => Object.fromEntries(changing.filter((name) => name in value).map((name) => [name, value[name]]));
  return cells.map((cell) => cell && isObject(cell.value) ? { ...cell, ...show(pick(cell.value)) } : cell);
}

/** Whether two cells of a lane are equal. */
export const alike = (one, other) => one?.text === other?.text && (one?.value === undefined || same(one.value, other?.value));

// --- watermarks -------------------------------------------------------------------------------------------------

/** The incoming watermarks and the outgoing one; null for a state without. */
export function tide(state) {
  const holder = [state, state?.valve].find((each) => isObject(each) && (each.last !== undefined || each.combined !== undefined));
  const parts = holder?.channels ?? holder?.inputs ?? holder?.outputs;
  if (!Array.isArray(parts) || !parts.every((each) => isObject(each) && "watermark" in each)) return null;
  const named = holder.channels ? "channel" : holder.inputs ? "input" : "output";
  return {
    holder,
    level: holder.last ?? holder.combined,
    idle: holder.active === false || holder.idle === true,
    lines: parts.map((part, index) => ({
      name: `${named} ${part.id ?? index}`,
      value: part.watermark,
      how: part.active === false || part.idle === true ? "idle" : part.aligned === false ? "behind" : "aligned",
    })),
  };
}

// --- rows -------------------------------------------------------------------------------------------------------

/** A state as rows of a table: the path of each value, and the value in words. */
export function rows(state) {
  const found = new Map();
  walk(state, "", found);
  return found;
}

function walk(value, path, found) {
  if (isObject(value) && Object.keys(value).length) {
    for (const [key, inner] of Object.entries(value)) walk(inner, path ? `${path}.${key}` : key, found);
  } else if (Array.isArray(value) && isNested(value)) {
    value.forEach((inner, index) => walk(inner, `${path}[${index}]`, found));
  } else if (path) {
    found.set(path, words(value, 400));
  }
}

/** The rows of two states side by side, and whether they differ. */
export function compare(before, after) {
  const [old, now] = [rows(before), rows(after)];
  const opened = (path, table) => !table.has(path) && [...table.keys()].some((key) => key.startsWith(`${path}.`) || key.startsWith(`${path}[`));
  return [...new Set([...now.keys(), ...old.keys()])].filter((path) => !opened(path, now) && !opened(path, old)).map((path) => ({
    path, before: old.get(path) ?? "", after: now.get(path) ?? "", changed: old.get(path) !== now.get(path),
  }));
}
