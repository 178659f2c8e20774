// SPDX-License-Identifier: Apache-2.0
// The columns that page_data.py packed, as typed arrays, and the questions that everything else asks of them: where in a
// row a time lies, and how much of an interval a row's spans cover.
"use strict";

const NOTHING = 0xFFFFFFFF;

/** Unpacks the arrays; gives the head with numbers of arrays replaced by the arrays themselves. */
async function readData() {
  const head = JSON.parse(document.getElementById("head").textContent);
  const packed = atob(document.getElementById("columns").textContent.trim());
  const bytes = new Uint8Array(packed.length);
  for (let k = 0; k < packed.length; k++) bytes[k] = packed.charCodeAt(k);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const buffer = await new Response(stream).arrayBuffer();
  const types = { d: Float64Array, I: Uint32Array, i: Int32Array };
  const arrays = head.arrays.map(([code, offset, length]) => new types[code](buffer, offset, length));
  for (const group of [head.tasks, head.messages, head.path, head.edges, head.computed]) {
    for (const name of Object.keys(group)) group[name] = arrays[group[name]];
  }
  for (const row of head.rows) {
    for (const kind of row.kinds) {
      for (const name of ["begin", "end", "ref"]) kind[name] = arrays[kind[name]];
      kind.sums = prefixSums(kind);
    }
  }
  return head;
}

/** sums[k]: length of the first k spans together. */
function prefixSums(kind) {
  const sums = new Float64Array(kind.begin.length + 1);
  for (let k = 0; k < kind.begin.length; k++) sums[k + 1] = sums[k] + kind.end[k] - kind.begin[k];
  return sums;
}

/** The first index in [from, to) whose value is above `value`, or `to`. */
function firstAbove(values, value, from = 0, to = values.length) {
  let low = from, high = to;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] > value) high = middle; else low = middle + 1;
  }
  return low;
}

/** The span of a kind at a time, or within `slack` of it; -1 if there is none. */
function spanAt(kind, time, slack) {
  const k = firstAbove(kind.end, time - slack);
  return k < kind.begin.length && kind.begin[k] <= time + slack ? k : -1;
}

/** A time for people. */
function timeText(ns) {
  const size = Math.abs(ns);
  for (const [scale, unit] of [[1e9, "s"], [1e6, "ms"], [1e3, "us"]]) {
    if (size >= scale) return `${threeDigits(ns / scale)} ${unit}`;
  }
  return `${Math.round(ns)} ns`;
}

function threeDigits(value) {
  const size = Math.abs(value);
  return value.toFixed(size < 9.995 ? 2 : size < 99.95 ? 1 : 0);
}

function bytesText(n) {
  for (const [scale, unit] of [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [1024, "KiB"]]) {
    if (n >= scale) return `${threeDigits(n / scale)} ${unit}`;
  }
  return `${n} B`;
}

const PHASES = [["queued", "posted"], ["predecessor", "waiting"], ["order", "held"], ["ready", "ready"],
  ["in flight", "issued"], ["unblock", "ended"]];

/** What people call a task: `recv <- 1 tag 7`. */
function taskTitle(data, k) {
  const tasks = data.tasks, op = data.words[tasks.op[k]];
  if (tasks.peer[k] < 0) return op;
  const way = data.comes.includes(tasks.op[k]) ? "<-" : "->";
  return `${op} ${way} ${tasks.peer[k]}` + (tasks.tag[k] >= 0 ? ` tag ${tasks.tag[k]}` : "");
}

/** The messages that a task sends or receives: [send, receive]. */
function messagesOf(data, k, most) {
  const { from, to } = data.messages, found = [];
  for (let m = 0; m < from.length && found.length < most; m++) {
    if (from[m] === k || to[m] === k) found.push([from[m], to[m]]);
  }
  return found;
}

/** Until when a task waited for what it depends on; of one that still does, until when it was open. */
function waitedUntil({ tasks }, k) {
  return Math.max(tasks.posted[k], tasks.ready[k] >= 0 ? tasks.ready[k] : tasks.until[k]);
}

/** What a task depends on, and what depends on it: its end or its begin, and of a communication task the number, else where it computed. */
function dependencesOf(data, k, most) {
  const { edges, computed, tasks, words } = data, found = [];
  for (let e = 0; e < edges.from.length && found.length < most; e++) {
    if (edges.to[e] === k) found.push({ isAfter: false, task: edges.from[e], time: tasks.until[edges.from[e]] });
    else if (edges.from[e] === k) found.push({ isAfter: true, task: edges.to[e], time: waitedUntil(data, edges.to[e]) });
  }
  for (let c = 0; c < computed.task.length && found.length < most; c++) {
    if (computed.task[c] !== k) continue;
    found.push({ isAfter: computed.is_after[c] === 1, task: -1, time: computed.time[c], thread: computed.thread[c], name: words[computed.name[c]] });
  }
  return found;
}

/** [phase, begin, end] of a task's life. */
function taskLife(data, k) {
  const known = PHASES.map(([name, column]) => [name, data.tasks[column][k]]).filter(([, at]) => at >= 0);
  const life = known.slice(0, -1).map(([name, at], i) => [name, at, known[i + 1][1]]);
  const ended = data.tasks.ended[k], unblocked = data.tasks.unblocked[k], until = data.tasks.until[k];
  if (ended < 0 && until >= 0) life.push([...known[known.length - 1], until]);
  if (ended >= 0 && unblocked >= ended) life.push(["unblock", ended, unblocked]);
  return life;
}

function taskEnd(data, k) {
  const tasks = data.tasks;
  return Math.max(tasks.posted[k], tasks.waiting[k], tasks.held[k], tasks.ready[k], tasks.issued[k], tasks.until[k], tasks.unblocked[k]);
}
