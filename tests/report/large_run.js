// SPDX-License-Identifier: Apache-2.0
// Puts a long run into a page that is open, for page_test.py: spans and tasks in every row and phase, as many as a trace of some
// hundred megabytes has. The value is a function; it gives the number of spans.
(function makeLarge({ data, timeline }, n, nMoreRows) {
  const phases = ["queued", "predecessor", "order", "ready", "in flight", "unblock"];
  const model = data.rows.find(row => row.type === "tasks");
  for (let k = 0; k < nMoreRows; k++) data.rows.push({ ...model, label: "", rank: data.ranks[k % data.ranks.length].rank });
  const perRow = Math.ceil(n / data.rows.length), step = (data.end - data.begin) / perRow;
  const places = new Map(), lists = { rank: [], row: [], posted: [], ended: [] };
  let nSpans = 0;
  for (const row of data.rows) {
    const names = row.type === "tasks" ? phases : row.type === "worker" ? ["issue", "poll", "timed wait", "blocked"] : ["wait", "call", "compute"];
    const count = Math.min(perRow, n - nSpans), place = places.get(row.rank) || 0;
    nSpans += count;
    if (row.type === "tasks") places.set(row.rank, place + 1);
    row.kinds = names.map((name, one) => {
      const size = Math.floor((count - one + names.length - 1) / names.length);
      const kind = { name, begin: new Float64Array(size), end: new Float64Array(size), ref: new Uint32Array(size) };
      for (let k = 0; k < size; k++) {
        const at = k * names.length + one;
        kind.begin[k] = data.begin + at * step;
        kind.end[k] = kind.begin[k] + step * (0.3 + 0.7 * ((at * 7919) % 11) / 11);
        kind.ref[k] = row.type === "tasks" ? lists.rank.length + k : 0;
      }
      kind.sums = prefixSums(kind);
      return kind;
    });
    if (row.type !== "tasks") continue;
    for (let k = 0; k + phases.length <= count; k += phases.length) {
      lists.rank.push(row.rank);
      lists.row.push(place);
      lists.posted.push(data.begin + k * step);
      lists.ended.push(data.begin + (k + 5) * step);
    }
  }
  const { tasks } = data, nTasks = lists.rank.length, columns = {};
  for (const name of Object.keys(tasks)) {
    const given = lists[name];
    columns[name] = given ? tasks[name].constructor.from(given) : new tasks[name].constructor(nTasks).fill(tasks[name][0]);
  }
  const recv = data.words.indexOf("recv");
  columns.op.fill(recv);
  columns.partner.fill(0xFFFFFFFF);
  columns.until = columns.ended;
  for (const name of ["waiting", "held", "ready", "issued", "unblocked"]) columns[name].fill(-1);
  Object.assign(data, { tasks: columns, n_tasks: nTasks, messages: { from: new Uint32Array(0), to: new Uint32Array(0) } });
  timeline.selected = -1;
  timeline.relayout();
  timeline.resize();
  return nSpans;
})
