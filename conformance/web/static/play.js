// The playground. The page depends only on `here`; every change of `here` can be undone.

import { ask } from "./asking.js";
import { copyButton, h, hideBubble, prose, themeButton } from "./dom.js";
import { drawGraph } from "./graph.js";
import { observations, ruleList, stateTable } from "./details.js";
import { drawNeighbours } from "./neighbours.js";
import { drawTrace } from "./picture.js";
import { drawScene } from "./scenes.js";
import { sayEvent, shortObservation } from "./values.js";

const page = { components: [], rules: {}, about: null, played: null, compared: null, problem: null, filter: "", group: "directed" };
/** The current place: enough to share it. */
let here = null;
const past = [];
const future = [];
let branches = [];
let asked = 0;
/** Number of the current walk through the trace: an older walk stops when it changes. */
let walks = 0;
let walking = false;
/** Milliseconds per step of a walk. */
const PACE = 700;

const find = (id) => document.getElementById(id);

// --- the place --------------------------------------------------------------------------------------------------

function writeHash() {
  const parts = { config: JSON.stringify(here.config) };
  if (here.trace) parts.trace = here.trace;
  if (Object.keys(here.choices).length) parts.choices = JSON.stringify(here.choices);
  if (here.start) parts.start = String(here.start);
  if (here.at !== null) parts.at = String(here.at);
  if (here.compare) parts.compare = here.compare;
  if (here.explore) parts.explore = String(here.explore);
  const text = Object.entries(parts).map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
  return `#${here.component}?${text}`;
}

/** Thrown for an invalid address; says why. */
class Senseless extends Error {}

/** The address as a place. */
function readHash(hash) {
  const [component, query = ""] = hash.replace(/^#/, "").split("?");
  if (!page.components.some((each) => each.name === component)) throw new Senseless(`there is no component "${component}"`);
  const given = new URLSearchParams(query.replaceAll("+", "%2B"));
  const json = (name, kind) => {
    if (!given.has(name)) return null;
    let value = null;
    try { value = JSON.parse(given.get(name)); } catch (error) { throw new Senseless(`${name} is not JSON: ${error.message}`); }
    if (kind !== "number" && (value === null || typeof value !== "object" || Array.isArray(value))) throw new Senseless(`${name} must be an object`);
    if (kind === "number" && !Number.isInteger(value)) throw new Senseless(`${name} must be a number`);
    return value;
  };
  const known = ["config", "trace", "choices", "start", "at", "compare", "explore"];
  for (const name of given.keys()) if (!known.includes(name)) throw new Senseless(`"${name}" is not a parameter`);
  return {
    component, config: json("config"), trace: given.get("trace") ?? "", choices: json("choices") ?? {},
    start: json("start", "number") ?? 0, at: json("at", "number"), compare: given.get("compare"), explore: json("explore", "number"),
  };
}

async function visit() {
  if (!location.hash) history.replaceState(null, "", "#valve");
  stopWalk();
  const number = asked += 1;
  try {
    const place = readHash(location.hash);
    const about = page.about?.name === place.component ? page.about : await learn(place.component);
    if (place.compare !== null && !about.semantics.includes(place.compare)) throw new Senseless(`${about.title} has no semantics "${place.compare}"`);
    // A newer action takes precedence.
    if (number !== asked) return;
    const next = { ...place, config: place.config ?? about.config };
    const answers = await playAt(next, about);
    if (number !== asked) return;
    // An address that cannot be played is invalid; an edited config can be corrected.
    if (!answers.played.steps && (about !== page.about || page.played === null)) throw new Senseless(answers.played.error.message);
    past.length = future.length = 0;
    branches = [];
    enter(about);
    settle(next, answers);
    if (here.explore && explored?.key !== JSON.stringify(scope())) exploreHere();
  } catch (error) {
    if (number !== asked) return;
    const isSenseless = error instanceof Senseless;
    if (!isSenseless) console.error(error);
    page.about = page.played = null;
    drawComponents(null);
    find("stories").replaceChildren();
    find("main").replaceChildren(h("div", { class: "alert", role: "alert" }, h("h1", {}, isSenseless ? "This address makes no sense" : "This cannot be shown"), h("p", {}, `${error.message}.`), h("p", {}, isSenseless ? "Nothing was run. Choose a component to begin with." : "The address is valid. Is tidegate play still running? Choose a component to begin with.")));
  }
}

async function learn(component) {
  const about = await ask({ ask: "component", component });
  if (about.error) throw new Senseless(about.error.message);
  return about;
}

function enter(about) {
  if (page.about === about) return;
  page.about = about;
  page.played = page.compared = page.problem = null;
  page.filter = "";
  page.group = about.stories[0]?.group ?? "directed";
}

/** Ask the specification about a place, and about the semantics to compare with. */
async function playAt({ component, config, trace, choices, start, at, compare }, about) {
  const question = { ask: "play", component, config, trace, choices, start, ...(at === null ? {} : { at }) };
  const other = compare && compare !== (config.semantics ?? about.semantics[0]) ? { ...question, config: { ...config, semantics: compare } } : null;
  const [played, compared] = await Promise.all([ask(question), other ? ask(other) : null]);
  return { played, compared };
}

/** Set the current place, which has been played. */
function settle(place, { played, compared }) {
  here = { ...place, config: played.config ?? place.config };
  page.problem = played.error ?? null;
  // An invalid config keeps the old picture, so that it can be corrected.
  if (played.steps) { page.played = played; page.compared = compared?.steps ? compared : null; }
  history.replaceState(null, "", writeHash());
  draw();
}

/** Go to another place, and show it when it has been played, unless a newer request came. */
async function go(place, undoable = true, isWalk = false) {
  if (!isWalk) stopWalk();
  const number = asked += 1;
  const answers = await playAt(place, page.about);
  if (number !== asked) return;
  if (undoable) { past.push({ here, branches }); future.length = 0; }
  settle(place, answers);
}

function restore(from, to) {
  const last = from.pop();
  if (!last) return;
  to.push({ here, branches });
  branches = last.branches;
  go(last.here, false);
}

const undo = () => restore(past, future);
const redo = () => restore(future, past);
const select = (at) => go({ ...here, at: at === page.played.steps.length ? null : at }, false);

/** Walk from the start to the end, step by step; any action ends it. */
async function walk() {
  const total = page.played.steps.length;
  const number = walks += 1;
  walking = true;
  await go({ ...here, at: place() < total ? place() : 0 }, false, true);
  while (number === walks && place() < total) {
    await new Promise((done) => { setTimeout(done, PACE); });
    if (number === walks) await go({ ...here, at: place() + 1 === total ? null : place() + 1 }, false, true);
  }
  if (number === walks) { stopWalk(); draw(); }
}

function stopWalk() {
  walks += 1;
  walking = false;
}

const toggleWalk = () => { if (walking) { stopWalk(); draw(); } else walk(); };

/** Go to a trace, and walk through it unless the user prefers reduced motion. */
async function show(trace) {
  scrollTo(0, 0);
  await go({ ...here, trace, choices: {}, start: 0, at: null });
  if (!matchMedia("(prefers-reduced-motion: reduce)").matches) walk();
}

const place = () => page.played.at;
const keep = (choices, until) => Object.fromEntries(Object.entries(choices).filter(([step]) => Number(step) < until));

/** Play an event after the current step; the later steps are kept as a branch. */
function add(event) {
  const tokens = page.played.steps.map((step) => step.event);
  const at = place();
  const next = { ...here, trace: [...tokens.slice(0, at), event].join(" "), choices: keep(here.choices, at), at: null };
  const before = branches;
  if (at < tokens.length && tokens[at] !== event) branches = [...branches.filter((each) => each.trace !== here.trace), { trace: here.trace, choices: here.choices, start: here.start }];
  past.push({ here, branches: before });
  future.length = 0;
  go(next, false);
}

function choose(step, outcome) {
  go({ ...here, choices: { ...keep(here.choices, step), [step]: outcome } });
}

// --- the page ---------------------------------------------------------------------------------------------------

function draw() {
  hideBubble();
  const focus = document.activeElement?.dataset?.focus;
  const scrolled = [...document.querySelectorAll("#main .scroll")].map((each) => each.scrollLeft);
  document.title = `${page.about.title} · Tidegate playground`;
  drawComponents(here.component);
  const { pages } = document.body.dataset;
  const place_ = page.components.find((each) => each.name === here.component);
  find("main").replaceChildren(
    h("div", { class: "head" }, h("h1", {}, page.about.title), h("p", { class: "lead" }, place_.sentence, pages ? [" ", h("a", { href: `${pages}${here.component}.html` }, "Read about it")] : null)),
    ...[drawConfig(), drawTraceField(), drawBroken(), drawPictures(), drawPalette(), drawStep(), drawExplorer()].filter((each) => each !== null),
  );
  drawStories();
  document.dispatchEvent(new CustomEvent("played", { detail: page.played }));
  document.querySelectorAll("#main .scroll").forEach((each, index) => { if (scrolled[index]) each.scrollLeft = scrolled[index]; });
  if (focus) document.querySelector(`[data-focus="${CSS.escape(focus)}"]`)?.focus({ preventScroll: true });
}

function drawComponents(current) {
  const groups = [];
  for (const each of page.components) {
    const last = groups.at(-1);
    if (last?.subject !== each.subject || last.floor !== each.floor) groups.push({ subject: each.subject, floor: each.floor, members: [] });
    groups.at(-1).members.push(each);
  }
  const open = find("components").querySelector("details")?.open ?? innerWidth > 900;
  const section = ({ subject, members }) => h("section", {}, h("h2", {}, subject), h("ul", {}, members.map((each) => h("li", {}, h("a", {
    href: `#${each.name}`, title: each.sentence, "aria-current": each.name === current ? "page" : null,
  }, each.name.replaceAll("_", " "))))));
  const list = [...new Set(groups.map(({ floor }) => floor))].flatMap((floor) => [
    h("p", { class: "hint" }, floor === "core" ? "The core, in the order in which a record travels" : "Inside Flink, in the same order"),
    ...groups.filter((group) => group.floor === floor).map(section),
  ]);
  const nav = find("components");
  const isNew = nav.dataset.current !== current;
  nav.replaceChildren(h("details", { open }, h("summary", {}, "Components"), list));
  nav.dataset.current = current;
  const [link, frame] = [nav.querySelector("[aria-current]"), nav.getBoundingClientRect()];
  if (link && isNew && nav.scrollHeight > nav.clientHeight) nav.scrollTop += link.getBoundingClientRect().top - frame.top - frame.height / 3;
}

function drawConfig() {
  const fields = page.about.fields.map((field) => {
    const value = here.config[field.name];
    const set = (next) => {
      const config = { ...here.config };
      if (next === undefined) delete config[field.name];
      else config[field.name] = next;
      go({ ...here, config, at: null });
    };
    return h("label", { class: "field", title: [field.description, field.domain].filter(Boolean).join(" ") }, h("span", {}, field.name.replaceAll("_", " ")), drawField(field, value, set));
  });
  const others = page.about.semantics.filter((each) => each !== (here.config.semantics ?? page.about.semantics[0]));
  if (others.length) {
    fields.push(h("label", { class: "field" }, h("span", {}, "compare with"), h("select", {
      "data-focus": "compare", onchange: (event) => go({ ...here, compare: event.target.value || null }),
    }, h("option", { value: "" }, "nothing"), others.map((each) => h("option", { value: each, selected: each === here.compare }, each)))));
  }
  const problem = page.problem && page.problem.part ? h("p", { class: "problem", role: "alert" }, page.problem.message) : null;
  const meaning = (field) => [field.description, field.domain, field.values.length && field.name !== "semantics" ? `One of ${field.values.join(", ")}.` : ""].filter(Boolean).join(" ");
  const meanings = page.about.fields.length ? h("details", { class: "meanings", open: document.querySelector(".meanings")?.open ?? false }, h("summary", {}, "What these mean"), h("dl", {}, page.about.fields.map((field) => [h("dt", {}, field.name.replaceAll("_", " ")), h("dd", {}, prose(meaning(field)))]))) : null;
  const tasks = page.played?.names?.tasks;
  const program = tasks && page.played.config.operators ? h("div", { class: "scroll program", tabindex: "0", role: "region", "aria-label": "The program as a graph" }, drawGraph(page.played.config, tasks.map((operators) => ({ type: "vertex", operators })), Infinity)) : null;
  return h("form", { class: "config", onsubmit: (event) => event.preventDefault(), "aria-label": "Config" }, fields.length ? fields : h("p", { class: "hint" }, "This component has nothing to configure."), problem, meanings, program);
}

function drawField(field, value, set) {
  const focus = { "data-focus": `config-${field.name}`, "data-field": field.name };
  if (field.kind === "enum") {
    const none = field.required || field.default !== null ? null : h("option", { value: "", selected: value === undefined }, "not set");
    return h("select", { ...focus, onchange: (event) => set(event.target.value || undefined) }, none, field.values.map((each) => h("option", { value: each, selected: each === (value ?? field.default) }, each)));
  }
  if (field.kind === "boolean") {
    const box = h("input", { ...focus, type: "checkbox", onchange: (event) => set(event.target.checked) });
    box.checked = value ?? field.default ?? false;
    return box;
  }
  if (field.kind === "integer") {
    return h("input", { ...focus, type: "number", value: value ?? "", min: field.minimum, max: field.maximum, placeholder: field.required ? "" : "not set", onchange: (event) => set(event.target.value === "" ? undefined : Number(event.target.value)) });
  }
  const text = value === undefined ? "" : JSON.stringify(value);
  return h("textarea", { ...focus, class: "json", rows: "1", value: text, spellcheck: "false", placeholder: field.required ? "JSON" : "not set", onkeydown: (event) => { if (event.key === "Enter" && !event.shiftKey) { event.preventDefault(); event.target.blur(); } }, onchange: (event) => {
    try {
      event.target.setCustomValidity("");
      set(event.target.value.trim() ? JSON.parse(event.target.value) : undefined);
    } catch (error) {
      event.target.setCustomValidity(`not JSON: ${error.message}`);
      event.target.reportValidity();
    }
  } });
}

function drawTraceField() {
  const field = h("textarea", {
    id: "trace", "data-focus": "trace", rows: "1", spellcheck: "false", autocapitalize: "off", autocomplete: "off", value: here.trace,
    placeholder: page.about.forms.length ? `events, such as ${page.about.forms.slice(0, 3).map((each) => each.form).join("  ")}` : "events as JSON",
    "aria-describedby": page.problem ? "problem" : null, "aria-invalid": page.problem?.start !== undefined ? "true" : null,
    onkeydown: (event) => { if (event.key === "Enter" && !event.shiftKey) { event.preventDefault(); play(); } },
    onchange: () => play(),
  });
  const play = () => { if (field.value.trim() !== here.trace.trim()) go({ ...here, trace: field.value, choices: {}, at: null }); };
  const total = page.played.steps.length;
  const tool = (label, title, action, disabled) => h("button", { type: "button", title, "aria-label": /\w/.test(label) ? null : title, "data-focus": title, disabled, onclick: action }, label);
  const tools = h(
    "div", { class: "tools" },
    tool("|◀", "Back to the start", () => select(0), place() === 0), tool("◀", "One step back (←)", () => select(place() - 1), place() === 0),
    h("input", { type: "range", min: "0", max: String(total), value: String(place()), "aria-label": "Step", "data-focus": "slider", oninput: (event) => select(Number(event.target.value)) }),
    tool("▶", "One step on (→)", () => select(place() + 1), place() === total), tool("▶|", "To the end", () => select(total), place() === total),
    tool(walking ? "Pause" : "Play", "Walk through the trace (p)", toggleWalk, total === 0),
    tool("Undo", "Undo (u)", undo, !past.length), tool("Redo", "Redo (r)", redo, !future.length),
    tool("Clear", "An empty trace", () => go({ ...here, trace: "", choices: {}, at: null }), !here.trace),
  );
  return h(
    "section", { class: "tracefield" }, h("label", { for: "trace" }, "Trace"), field, drawProblem(), tools, drawKeys(),
    branches.length ? h("div", { class: "branches" }, h("span", { class: "soft" }, "Branches: "), branches.map((each) => h("button", { type: "button", title: each.trace, onclick: () => goToBranch(each) }, each.trace.length > 40 ? `…${each.trace.slice(-39)}` : each.trace))) : null,
  );
}

const drawKeys = () => h("p", { class: "keys" }, [["← →", "step"], ["p", "play"], ["u", "undo"], ["r", "redo"], ["/", "type"], ["1–9", "choose an outcome"]].map(([key, what]) => h("span", {}, h("kbd", {}, key), ` ${what}`)));

function goToBranch(branch) {
  past.push({ here, branches });
  future.length = 0;
  branches = [...branches.filter((each) => each !== branch), { trace: here.trace, choices: here.choices, start: here.start }];
  go({ ...here, ...branch, at: null }, false);
}

/** The error in the notation, marked at its place. */
function drawProblem() {
  const problem = page.problem;
  if (!problem || problem.start === undefined) return null;
  const [start, end] = [problem.start, problem.end];
  return h("p", { class: "problem", id: "problem", role: "alert" }, h("code", {}, `${start > 40 ? "…" : ""}${here.trace.slice(Math.max(0, start - 40), start)}`, h("mark", {}, here.trace.slice(start, end)), here.trace.slice(end, end + 20)), h("br"), problem.message);
}

const chosen = (step) => step.outcomes[step.chosen];
const statesOf = (played) => [played.starts[played.start].state, ...played.steps.map((step) => chosen(step).state)];
const stepsOf = (played) => played.steps.map((step) => ({ event: step.event, json: step.json, choice: step.outcomes.length, ...chosen(step) }));

function drawBroken() {
  const broken = stepsOf(page.played).flatMap((step, index) => step.broken.map((name) => ({ name, index, event: step.event })));
  if (!broken.length) return null;
  return h("section", { class: "alert", role: "alert" }, h("h2", {}, broken.length === 1 ? "A claim is broken" : `${broken.length} claims are broken`), h("ul", {}, broken.map(({ name, index, event }) => h(
    "li", {}, h("button", { type: "button", class: "link", "data-broken": name, onclick: () => select(index + 1) }, `step ${index + 1}, ${event}`), " breaks ", h("b", {}, name), `: ${page.about.claims[name].statement}`,
  ))));
}

function drawPictures() {
  const { played, compared, rules } = page;
  const semantics = here.config.semantics ?? page.about.semantics[0];
  const one = (result, label, other) => drawTrace({
    label, states: statesOf(result), steps: stepsOf(result), rules, at: place(), pick: select, names: result.names,
    other: other ? statesOf(other) : null, otherSteps: other ? stepsOf(other) : null,
  });
  if (!compared) return h("section", { class: "picture" }, one(played, "The trace", null), drawScene(here.config, statesOf(played)[place()], statesOf(played)[place() - 1], played.names));
  return h("section", { class: "picture" }, h("h2", {}, semantics), one(played, semantics, compared), h("h2", {}, here.compare), one(compared, here.compare, played));
}

function drawPalette() {
  const groups = new Map();
  for (const offer of page.played.offers) groups.set(offer.group, [...groups.get(offer.group) ?? [], offer]);
  const button = (offer) => {
    const shown = offer.observations.map(shortObservation).join(", ");
    const what = offer.refused ? "is refused" : shown || (offer.changes ? "emits nothing" : "changes nothing");
    const breaks = offer.breaks.length ? `; breaks ${offer.breaks.join(", ")}` : "";
    const kind = offer.breaks.length ? "breaks" : offer.refused ? "refused" : offer.changes || shown ? "" : "still";
    const said = offer.json ? offer.event : sayEvent(offer.event);
    const picture = offer.json ? drawGraph(offer.json, offer.values, 260) : null;
    return h("button", { type: "button", class: `event ${kind}${picture ? " drawn" : ""}`, "data-event": offer.event, "data-focus": `event-${offer.event}`, title: `${offer.event}: ${what}${breaks}`, onclick: () => add(offer.event) }, picture, h("code", {}, picture || said.length < 160 ? said : `${said.slice(0, 159)}…`), picture ? null : h("span", {}, offer.outcomes > 1 ? `one of ${offer.outcomes} outcomes` : what));
  };
  const where = place() < page.played.steps.length ? `after step ${place()}: a branch` : "next";
  const draw_ = ([name, offers]) => h("div", { class: "offers" }, groups.size > 1 ? h("h3", {}, name) : null, h("div", { class: "buttons" }, offers.map(button)));
  const sorted = [...groups].sort(([one], [other]) => one.localeCompare(other, "en", { numeric: true }));
  const only = (isRefused) => sorted.map(([name, offers]) => [name, offers.filter((offer) => offer.refused === isRefused)]).filter(([, offers]) => offers.length);
  const [refused, taken] = [only(true), only(false)];
  const count = refused.reduce((sum, [, offers]) => sum + offers.length, 0);
  const open = document.querySelector(".refusals")?.open ?? false;
  return h(
    "section", { class: "palette", "aria-label": "Events" }, h("h2", {}, "Events ", h("small", { class: "soft" }, where)), page.played.steps.length ? null : h("p", { class: "hint" }, "Nothing has happened yet. Click what is to happen first, or choose a trace with a story."), taken.length ? taken.map(draw_) : h("p", { class: "hint" }, "Nothing more can happen here."),
    count ? h("details", { class: "refusals", open }, h("summary", {}, `${count} more that ${count === 1 ? "is" : "are"} refused`), refused.map(draw_)) : null,
  );
}

function drawStep() {
  const at = place();
  const { played, compared, rules } = page;
  const states = statesOf(played);
  const beside = compared && compared.steps.length >= at ? [{ title: here.compare, state: statesOf(compared)[at] }] : [];
  if (at === 0) {
    const starts = played.starts.length > 1 ? h("div", { class: "outcomes" }, played.starts.map((each, index) => h("article", { class: `outcome${index === played.start ? " taken" : ""}` }, h("p", {}, h("code", {}, each.words)), index === played.start ? h("b", {}, "taken") : h("button", { type: "button", onclick: () => go({ ...here, start: index }) }, "start here")))) : null;
    return h("section", { class: "stepview" }, h("h2", {}, played.starts.length > 1 ? `At the start, in one of ${played.starts.length} states` : "At the start"), starts, stateTable(states[0], states[0], beside));
  }
  const step = played.steps[at - 1];
  const told = sayEvent(step.event);
  const cards = step.outcomes.map((outcome, index) => {
    const taken = index === step.chosen;
    return h("article", { class: `outcome${taken ? " taken" : ""}${outcome.broken.length ? " wrong" : ""}` },
      observations(outcome.observations), ruleList(outcome.rules, rules),
      outcome.broken.map((name) => h("p", { class: "problem" }, `breaks ${name}`)),
      step.outcomes.length > 1 ? taken ? h("b", {}, "taken") : h("button", { type: "button", "data-outcome": String(index), onclick: () => choose(at - 1, index) }, `take this one${index < 9 ? ` (${index + 1})` : ""}`) : null);
  });
  return h(
    "section", { class: "stepview" },
    h("h2", {}, `Step ${at}: `, h("code", {}, told.length > 80 ? `${told.slice(0, 79)}…` : told)),
    h("p", { class: "soft" }, step.outcomes.length > 1 ? `${step.outcomes.length} outcomes are allowed. Choose one.` : "The one outcome that is allowed:"),
    h("div", { class: "outcomes" }, cards),
    h("h3", {}, "State"), stateTable(states[at - 1], states[at], beside),
    h("details", {}, h("summary", {}, "In the words of ", h("code", {}, "tidegate explain"), ", and as JSON"), h("p", { class: "words" }, h("code", { id: "words" }, chosen(step).words || "–")), h("pre", { id: "json" }, JSON.stringify({ event: step.json, ...chosen(step) }, null, 2))),
  );
}

// --- exploration --------------------------------------------------------------------------------------------------

/** The last exploration and its scope, and the neighbours of the last shown state. */
let explored = null;
let walked = null;

/** The number of timestamps from the address, or the default. */
const scope = () => ({ component: here.component, config: here.config, ...here.explore ? { timestamps: here.explore } : {} });

async function exploreHere() {
  const key = JSON.stringify(scope());
  explored = { key, found: null };
  draw();
  const found = await ask({ ask: "explore", ...scope() });
  if (explored.key !== key) return;
  explored = { key, found };
  draw();
}

function drawExplorer() {
  const current = explored?.key === JSON.stringify(scope()) ? explored : null;
  const button = h("button", { type: "button", "data-focus": "explore", disabled: current !== null, onclick: exploreHere }, "Explore every state");
  const intro = h("p", { class: "hint" }, "Close over all states that a small alphabet reaches with this config, and check every claim on every transition.");
  return h("section", { class: "card explorer", "aria-label": "Explorer", "aria-live": "polite" }, h("h2", {}, "Explorer"), current === null ? [intro, button] : current.found === null ? h("p", {}, "Exploring … ", h("progress", { "aria-label": "Exploring" })) : [drawExplored(current.found), current.found.error ? null : drawWalk()]);
}

/** The current state in the graph of all states. */
function drawWalk() {
  const { trace, choices, start } = here;
  const question = { ask: "neighbours", ...scope(), trace, choices, start, at: place() };
  const key = JSON.stringify(question);
  if (walked?.key !== key) {
    const previous = walked?.found;
    walked = { key, found: previous ?? null };
    ask(question).then((found) => { if (walked.key === key) { walked = { key, found }; draw(); } });
  }
  const { found } = walked;
  if (!found) return h("p", { class: "hint" }, "Looking for neighbours …");
  if (found.error) return [h("h3", {}, "Walk"), h("p", { class: "hint" }, `${found.error.message}.`)];
  const go_ = (to) => go({ ...here, trace: to, choices: {}, start: 0, at: null });
  const take = (event, choice) => { const at = place(); const tokens = page.played.steps.slice(0, at).map((step) => step.event); go({ ...here, trace: [...tokens, event].join(" "), choices: { ...keep(here.choices, at), ...choice ? { [at]: choice } : {} }, at: null }); };
  const idle = found.after.filter((one) => one.number === found.here.number).flatMap((one) => one.events);
  const most = Math.max(...found.layers);
  const region = h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Neighbours" }, drawNeighbours(found, go_, take));
  requestAnimationFrame(() => { if (region.scrollWidth > region.clientWidth && !region.scrollLeft) region.scrollLeft = Number(region.firstChild.dataset.centre) - region.clientWidth / 2; });
  return [
    h("h3", {}, `Walk: state ${found.here.number} of ${found.layers.reduce((sum, count) => sum + count, 0).toLocaleString("en")}, at depth ${found.here.depth}`),
    h("p", { class: "hint" }, "What leads to this state, what follows from it, and what then. Dashed: no deeper than here; red: a claim is broken."), region,
    idle.length ? h("p", { class: "hint" }, `${idle.length === 1 ? "One event leads" : `${idle.length} events lead`} nowhere else: `, h("code", {}, idle.slice(0, 8).join(" ")), idle.length > 8 ? " …" : "") : null,
    h("details", {}, h("summary", {}, `${found.layers.length} layers by depth`), h("ol", { class: "layers", start: "0", "aria-label": "States at each depth" }, found.layers.map((states, depth) => h("li", { "aria-current": depth === found.here.depth ? "true" : null, title: `depth ${depth}: ${states} states` }, h("small", { class: "soft" }, String(depth)), " ", h("meter", { min: "0", max: String(most), value: String(states), "aria-label": `depth ${depth}` }), ` ${states.toLocaleString("en")}`)))),
  ];
}

function drawExplored(found) {
  if (found.error) return h("p", { class: "problem" }, found.error.message);
  const shown = (claims, extra) => h("ul", { class: `claims ${extra}` }, claims.map((claim) => h(
    "li", {}, h("button", { type: "button", "data-claim": claim.name, title: claim.trace, onclick: () => show(claim.trace) }, `play ${claim.trace.split(" ").filter(Boolean).length} steps`), " ", h("b", {}, claim.name), ` ${claim.statement}`,
  )));
  const holds = found.checked.length - found.broken.length;
  return [
    h("p", {}, h("b", {}, `${found.states.toLocaleString("en")} states`), found.symmetry ? ` up to symmetry of ${found.symmetry}` : "", `, ${found.transitions.toLocaleString("en")} transitions`, found.complete ? "; that is all there are." : "; there are more than can be waited for: tidegate explore finds them all."),
    h("p", { class: "hint" }, found.note),
    found.broken.length ? [h("h3", {}, `${found.broken.length} broken, each with a shortest trace`), shown(found.broken, "broken")] : null,
    h("p", {}, `${holds} claims hold on every transition${found.complete ? "" : " so far"}.`),
    found.reached.length ? h("details", {}, h("summary", {}, `${found.reached.length} things that must be possible are`), shown(found.reached, "")) : null,
  ];
}

function drawStories() {
  const groups = [...new Set(page.about.stories.map((each) => each.group))];
  const labels = { directed: "Stories", museum: "Museum", golden: "Golden" };
  const match = (story) => story.group === page.group && `${story.name} ${story.story} ${story.rules.join(" ")} ${story.trace}`.toLowerCase().includes(page.filter.toLowerCase());
  const list = page.about.stories.filter(match);
  const open = find("stories").querySelector("details")?.open ?? innerWidth > 900;
  find("stories").replaceChildren(h(
    "details", { open }, h("summary", {}, "Traces"),
    h("div", { class: "tabs", role: "group", "aria-label": "Where traces come from" }, groups.map((group) => h("button", { type: "button", "aria-pressed": String(group === page.group), "data-focus": `group-${group}`, onclick: () => { page.group = group; draw(); } }, labels[group]))),
    h("input", { type: "search", placeholder: "search names, rules, stories", "aria-label": "Search traces", "data-focus": "search", value: page.filter, oninput: (event) => { page.filter = event.target.value; draw(); const field = document.querySelector("[data-focus=search]"); field.setSelectionRange(field.value.length, field.value.length); } }),
    h("ul", {}, list.slice(0, 60).map((story) => h("li", {}, h("button", { type: "button", "data-story": story.name, onclick: () => go({ ...here, config: story.config, trace: story.trace, choices: {}, start: 0, at: null }) }, h("b", {}, story.name.replaceAll("-", " ")), story.story ? h("span", {}, story.story) : null, story.trace.startsWith("{") ? null : h("code", {}, story.trace.length > 70 ? `${story.trace.slice(0, 69)}…` : story.trace))))),
    list.length > 60 ? h("p", { class: "hint" }, `and ${list.length - 60} more: search`) : list.length ? null : h("p", { class: "hint" }, "none"),
  ));
}

// --- keys -------------------------------------------------------------------------------------------------------

function onKey(event) {
  if (!page.about || event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
  const total = page.played.steps.length;
  const keys = {
    ArrowLeft: () => place() > 0 && select(place() - 1), ArrowRight: () => place() < total && select(place() + 1),
    Home: () => select(0), End: () => select(total), u: undo, r: redo, p: () => total && toggleWalk(), "/": () => find("trace").focus(),
  };
  const outcome = Number(event.key) - 1;
  const step = page.played.steps[place() - 1];
  if (keys[event.key]) keys[event.key]();
  else if (step && step.outcomes.length > 1 && step.outcomes[outcome]) choose(place() - 1, outcome);
  else return;
  event.preventDefault();
}

/** Loading progress of a page with its own Python. */
function onLoading({ detail: { stage, done } }) {
  find("loading")?.replaceChildren(`${stage} … `, h("progress", { value: String(done), max: "1", "aria-label": stage }));
}

async function begin() {
  document.addEventListener("loading", onLoading);
  find("actions").append(copyButton("Share", () => location.href), themeButton());
  const { components, rules } = await ask({ ask: "components" });
  Object.assign(page, { components, rules });
  addEventListener("hashchange", visit);
  let width = innerWidth;
  addEventListener("resize", () => { if (innerWidth !== width && page.played) draw(); width = innerWidth; });
  document.addEventListener("keydown", onKey);
  await visit();
}

begin().catch((error) => find("main").replaceChildren(h("div", { class: "alert", role: "alert" }, h("h1", {}, "The playground cannot begin"), h("p", {}, `${error.message}. If tidegate play served this page, is it still running?`))));
