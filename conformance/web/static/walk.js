// A counterexample as a picture to walk through step by step.

import { h, ruleChip } from "./dom.js";
import { observations, stateTable } from "./details.js";
import { drawTrace } from "./picture.js";
import { drawScene } from "./scenes.js";
import { sayEvent } from "./values.js";

/** `finding` has a `title`, a `picture` of states and steps, and the number of the `step` that is wrong, if there is one. */
export function drawWalk(finding, rules) {
  const { picture } = finding;
  const last = picture.steps.length;
  const view = h("div", { onkeydown });
  let at = finding.step ?? last;
  const pick = (next) => { at = Math.max(0, Math.min(last, next)); draw(); };
  function draw() {
    const step = picture.steps[at - 1];
    const focus = view.contains(document.activeElement) ? document.activeElement.dataset.focus : null;
    const tool = (label, title, next, disabled) => h("button", { type: "button", title, "aria-label": title, "data-focus": title, disabled, onclick: () => pick(next) }, label);
    view.replaceChildren(
      h("div", { class: "tools" }, tool("◀", "One step back (←)", at - 1, at === 0),
        h("input", { type: "range", min: "0", max: String(last), value: String(at), "aria-label": "Step", "data-focus": "slider", oninput: (event) => pick(Number(event.target.value)) }),
        tool("▶", "One step on (→)", at + 1, at === last), finding.step ? h("button", { type: "button", "data-focus": "failing", onclick: () => pick(finding.step) }, `to step ${finding.step}`) : null),
      h("div", { class: "picture" }, drawTrace({ label: finding.title, states: picture.states, steps: picture.steps, rules, at, pick, names: picture.names })),
      drawScene(finding.config, picture.states[at], picture.states[at - 1], picture.names) ?? "",
      step ? drawStep(step, at, picture, rules) : h("p", { class: "hint" }, "At the start."),
    );
    if (focus) view.querySelector(`[data-focus="${CSS.escape(focus)}"]`)?.focus({ preventScroll: true });
  }
  function onkeydown(event) {
    if (/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName) || !["ArrowLeft", "ArrowRight"].includes(event.key)) return;
    pick(at + (event.key === "ArrowLeft" ? -1 : 1));
    event.preventDefault();
  }
  draw();
  return view;
}

function drawStep(step, at, picture, rules) {
  const allowed = step.allowed ?? [{ observations: step.observations, rules: step.rules }];
  return h(
    "div", { class: "beside" },
    h("div", {}, h("h4", {}, `Step ${at}, `, h("code", {}, sayEvent(step.event)), ": allowed"), allowed.slice(0, 12).map((one, number) => [number ? h("p", { class: "soft" }, "or") : null, observations(one.observations), h("p", {}, one.rules.map((id) => ruleChip(id, rules)))]), allowed.length > 12 ? h("p", { class: "soft" }, `or ${allowed.length - 12} more`) : null),
    step.seen ? h("div", { class: "seenbox" }, h("h4", {}, "seen"), observations(step.seen, step.right)) : null,
    h("div", { class: "wide" }, h("h4", {}, step.seen ? "State of the specification" : "State"), stateTable(picture.states[at - 1], picture.states[at])),
  );
}
