#!/usr/bin/env node
// A Tidegate engine that runs whole jobs, in plain JavaScript: while a job runs, it writes the rows of its run log into
// the file that the request names, one JSON object per line. These rows count even if the job never ends.
"use strict";

const fs = require("node:fs");
const readline = require("node:readline");

const HELLO = {
  protocol: 1,
  implementation: { name: "example-jobs-javascript", version: "1.0.0", language: "javascript" },
  components: {},
  jobs: {
    operators: ["source", "map", "filter", "union", "sink"],
    partitioners: ["rebalance", "global", "broadcast"],
    parallelism: 2,
    shows: ["record", "end_of_data", "end_of_partition"],
  },
};

class Job {
  constructor({ program, graph, log }) {
    this.operators = new Map(graph.tasks.map((task) => [task.name, program.operators.find((one) => one.id === task.operators[0])]));
    this.edges = graph.edges;
    this.file = fs.openSync(log, "w");
    this.waiting = []; // elements in the order of sending: one queue keeps that of every channel
    this.counts = new Map();
  }

  run() {
    for (const [task, operator] of this.operators) {
      (operator.scripts ?? []).forEach((script, subtask) => {
        for (const item of script) this.emit(task, subtask, item, BigInt(item.value));
        for (const kind of ["end_of_data", "end_of_partition"]) this.announce(task, subtask, kind);
      });
    }
    while (this.waiting.length > 0) this.receive(this.waiting.shift());
    fs.closeSync(this.file);
  }

  count(name) {
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
    return this.counts.get(name);
  }

  send(task, subtask, edge, consumer, kind, record, value) {
    const channel = { edge: edge.number, producer: subtask, consumer };
    this.log({ task, subtask, dir: "out", ...channel, kind, ...record });
    this.waiting.push({ channel, task: edge.target, kind, record, value });
  }

  log(row) {
    fs.writeSync(this.file, `${JSON.stringify(row)}\n`);
  }

  emit(task, subtask, { key, timestamp }, value) {
    for (const edge of this.edges.filter((one) => one.source === task)) {
      const record = { key, timestamp, id: String(this.count("records")) };
      for (const consumer of this.pick(edge, subtask)) this.send(task, subtask, edge, consumer, "record", record, value);
    }
  }

  pick(edge, subtask) {
    if (edge.partitioner === "broadcast") return [...Array(edge.consumers).keys()];
    return [edge.partitioner === "global" ? 0 : this.count(`turn ${edge.number} ${subtask}`) % edge.consumers];
  }

  announce(task, subtask, kind) {
    for (const edge of this.edges.filter((one) => one.source === task)) {
      for (let consumer = 0; consumer < edge.consumers; consumer++) this.send(task, subtask, edge, consumer, kind, {}, 0n);
    }
  }

  receive({ channel, task, kind, record, value }) {
    const subtask = channel.consumer;
    this.log({ task, subtask, dir: "in", ...channel, kind, ...record });
    if (kind === "record") {
      const name = this.operators.get(task).function;
      if (name !== "filter" || value > 0n) this.emit(task, subtask, record, name === "map" ? BigInt.asIntN(64, 2n * value) : value);
      return;
    }
    const channels = this.edges.filter((one) => one.target === task).reduce((sum, one) => sum + one.producers, 0);
    if (this.count(`${kind} ${task} ${subtask}`) === channels) this.announce(task, subtask, kind);
  }
}

function answer(request) {
  if (request.op === "hello") return { ok: HELLO };
  if (request.op !== "job") return { error: { kind: "unsupported", message: "this engine runs whole jobs" } };
  new Job(request).run();
  return { ok: { log: request.log } };
}

readline.createInterface({ input: process.stdin }).on("line", (line) => {
  const request = JSON.parse(line);
  if (request.op === "bye") process.exit(0);
  process.stdout.write(`${JSON.stringify({ id: request.id, ...answer(request) })}\n`);
});
