// SPDX-License-Identifier: Apache-2.0
// The search of the timeline: words that a task must have all of. `recv peer 1 tag 7`, `rank 0 allreduce`, `1.22` (a number), a
// part of a communicator's name. What is found is marked in the timeline at every zoom, and stepped through.
"use strict";

/** A predicate over task numbers from what was typed; null if nothing was. */
function parseSearch(data, text) {
  const words = text.toLowerCase().replace(/[=:,]/g, " ").split(/\s+/).filter(Boolean);
  const tests = [];
  const { tasks } = data;
  for (let k = 0; k < words.length; k++) {
    const word = words[k], value = Number(words[k + 1]);
    if (["peer", "tag", "rank"].includes(word) && words[k + 1] !== undefined && Number.isInteger(value)) {
      const column = tasks[word];
      tests.push(i => column[i] === value);
      k++;
    } else if (word === "number" && words[k + 1] !== undefined) {
      continue; // the number itself follows
    } else if (/^\d+\.\d+$/.test(word)) {
      const number = data.words.indexOf(word);
      tests.push(i => tasks.number[i] === number);
    } else if (word === "<-" || word === "->") {
      continue;
    } else {
      const matching = new Set(data.words.flatMap((one, i) => one.toLowerCase().includes(word) ? [i] : []));
      tests.push(i => matching.has(tasks.op[i]) || matching.has(tasks.comm[i]) || matching.has(tasks.state[i]));
    }
  }
  return tests.length ? i => tests.every(test => test(i)) : null;
}

/** Joins the search field, its buttons and the timeline. */
function startSearch(data, timeline, root) {
  const field = root.querySelector("#search"), result = root.querySelector("#found");
  let found = [], at = -1;
  const update = () => {
    const test = parseSearch(data, field.value);
    found = [];
    at = -1;
    if (test) for (let k = 0; k < data.n_tasks; k++) if (test(k)) found.push(k);
    timeline.hits = test ? found : null;
    result.textContent = test ? `${found.length} found` : "";
    timeline.draw();
  };
  const step = by => {
    if (found.length === 0) return;
    at = at < 0 ? (by > 0 ? 0 : found.length - 1) : (at + by + found.length) % found.length;
    result.textContent = `${at + 1} of ${found.length}`;
    timeline.showTask(found[at]);
  };
  field.addEventListener("input", update);
  field.addEventListener("keydown", event => { if (event.key === "Enter") step(event.shiftKey ? -1 : 1); });
  root.querySelector("#next").addEventListener("click", () => step(1));
  root.querySelector("#previous").addEventListener("click", () => step(-1));
}
