// Questions go to the specification itself, which runs in a worker of this page.

const worker = new Worker("worker.js", { type: "module" });
const waiting = new Map();
let number = 0;

worker.addEventListener("message", ({ data }) => {
  if (data.stage) document.dispatchEvent(new CustomEvent("loading", { detail: data }));
  if (data.failed) for (const { reject } of waiting.values()) reject(new Error(data.failed));
  if (!data.answer) return;
  waiting.get(data.id)?.resolve(JSON.parse(data.answer));
  waiting.delete(data.id);
});
worker.addEventListener("error", (event) => { for (const { reject } of waiting.values()) reject(new Error(event.message || "the worker cannot start")); });

export function ask(question) {
  return new Promise((resolve, reject) => {
    number += 1;
    waiting.set(number, { resolve, reject });
    worker.postMessage({ id: number, question: JSON.stringify(question) });
  });
}
