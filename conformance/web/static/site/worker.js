// Python in the browser, the specification in it, and an answer to every question.

import { loadPyodide } from "./pyodide/pyodide.mjs";

const tell = (stage, done) => postMessage({ stage, done });

async function bytes(name) {
  const reply = await fetch(name);
  if (!reply.ok) throw new Error(`${name}: ${reply.status}`);
  return new Uint8Array(await reply.arrayBuffer());
}

async function begin() {
  tell("Python is loading", 0.1);
  const archives = Promise.all([bytes("libraries.zip"), bytes("specification.zip")]);
  const python = await loadPyodide({ indexURL: new URL("./pyodide/", import.meta.url).href });
  tell("The specification is loading", 0.6);
  const place = python.runPython("import site; site.getsitepackages()[0]");
  for (const archive of await archives) python.unpackArchive(archive, "zip", { extractDir: place });
  tell("The specification is being imported", 0.8);
  const answer = python.runPython(`
import json
from tidegate.conformance.web.playing import answer
lambda question: json.dumps(answer(json.loads(question)))
`);
  tell("ready", 1);
  return answer;
}

const ready = begin();
ready.catch((error) => postMessage({ failed: String(error.message ?? error) }));

addEventListener("message", async ({ data }) => {
  const answer = await ready;
  postMessage({ id: data.id, answer: answer(data.question) });
});
