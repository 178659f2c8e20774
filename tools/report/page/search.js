// SPDX-License-Identifier: Apache-2.0
// The search of the timeline: words that a task must have all of. `recv peer 1 tag 7`, `rank 0 allreduce`, `1.22` (a number), a
// part of a communicator's name, a task as the tables name it: `recv <- 1 tag 7, 8192 B`. What is found is marked in the timeline at every zoom, and stepped through.
"use strict";

/** A predicate over task numbers from what was typed; null if nothing was. */
function parseSearch(data, text) {
  const words = text.toLowerCase().replace(/[=:,]/g, " ").split(/\s+/).filter(Boolean);
  const tests = [];
  const { tasks } = data;
  for (let k = 0; k < words.length; k++) {
    const word = words[k], value = Number(words[k + 1]), isNumber = words[k + 1] !== undefined && Number.isInteger(value);
    if (["peer", "tag", "rank", "<-", "->"].includes(word) && isNumber) {
      const column = tasks[word.length === 2 ? "peer" : word];
      tests.push(i => column[i] === value);
      k++;
    } else if (word === "number" && words[k + 1] !== undefined) {
      continue; // the number itself follows
    } else if (/^\d+\.\d+$/.test(word)) {
      const number = data.words.indexOf(word);
      tests.push(i => tasks.number[i] === number);
    } else if (word === "<-" || word === "->") {
      continue;
    } else if (/^\d+$/.test(word) && words[k + 1] === "b") {
      tests.push(i => tasks.bytes[i] === Number(word));
      k++;
    } else {
      const matches = Uint8Array.from(data.words, one => one.toLowerCase().includes(word) ? 1 : 0);
      tests.push(i => matches[tasks.op[i]] || matches[tasks.comm[i]] || matches[tasks.state[i]]);
    }
  }
  return tests.length ? i => tests.every(test => test(i)) : null;
}

/** Where the tasks that were found lie: for each row of tasks begins, ends, and the latest end so far, to look by. */
function rowsOfHits(data, found) {
  const { rank, row, posted } = data.tasks, rows = new Map();
  for (const k of found) {
    const key = rank[k] * 65536 + row[k];
    if (!rows.has(key)) rows.set(key, []);
    rows.get(key).push(k);
  }
  return [...rows.values()].map(list => {
    const end = Float64Array.from(list, k => taskEnd(data, k)), latest = end.slice();
    for (let k = 1; k < latest.length; k++) latest[k] = Math.max(latest[k], latest[k - 1]);
    return { place: `${rank[list[0]]}/${row[list[0]]}`, begin: Float64Array.from(list, k => posted[k]), end, latest };
  });
}

/** Joins the search field and the timeline. */
function startSearch(data, timeline, root) {
  const field = root.querySelector("#search"), result = root.querySelector("#found");
  let found = [], at = -1;
  const update = () => {
    const test = parseSearch(data, field.value);
    found = [];
    at = -1;
    if (test) for (let k = 0; k < data.n_tasks; k++) if (test(k)) found.push(k);
    timeline.hits = test ? rowsOfHits(data, found) : null;
    result.textContent = test ? `${found.length} found` : "";
    timeline.draw();
  };
  const step = () => {
    if (found.length === 0) return;
    at = (at + 1) % found.length;
    result.textContent = `${at + 1} of ${found.length}`;
    timeline.showTask(found[at]);
  };
  field.addEventListener("input", update);
  field.addEventListener("keydown", event => { if (event.key === "Enter") step(); });
}
