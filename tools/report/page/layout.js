// SPDX-License-Identifier: Apache-2.0
// Where each row of the timeline lies. A rank is a heading with its rows below it, which a click folds away; everything else
// is drawn from this list.
"use strict";

const ROW_HEIGHTS = { heading: 24, thread: 20, worker: 14, tasks: 13 };
const ROW_GAP = 2;
const GUTTER = 132;

/** Rows that show, with `top`; a folded rank shows its heading alone, with its first thread in it. */
function layoutRows(data, folded) {
  const rows = [];
  let top = 0;
  const push = row => {
    row.top = top;
    row.height = ROW_HEIGHTS[row.type];
    top += row.height + ROW_GAP;
    rows.push(row);
  };
  for (const { rank, host } of data.ranks) {
    const thread = folded.has(rank) && data.rows.find(row => row.rank === rank && row.type === "thread");
    push({ type: "heading", rank, label: `rank ${rank}${host ? ` on ${host}` : ""}`, kinds: thread ? thread.kinds : [] });
    if (folded.has(rank)) continue;
    for (const row of data.rows) if (row.rank === rank) push(row);
    top += 4;
  }
  return { rows, height: top };
}

/** Row index by thread, and by place among a rank's rows of tasks; for flows and the critical path. */
function indexRows(rows) {
  const threads = new Map(), tasks = new Map();
  const seen = new Map();
  for (const row of rows) {
    if (row.type === "thread") threads.set(`${row.rank}/${row.thread}`, row);
    if (row.type === "tasks") {
      const place = seen.get(row.rank) || 0;
      tasks.set(`${row.rank}/${place}`, row);
      seen.set(row.rank, place + 1);
    }
  }
  return { threads, tasks };
}

/** Names and colours of the kinds that occur. */
function fillLegend(data, element) {
  const groups = [["threads", "thread"], ["tasks", "tasks"], ["worker", "worker"]];
  for (const [title, type] of groups) {
    const names = new Set();
    for (const row of data.rows) if (row.type === type) for (const kind of row.kinds) names.add(kind.name);
    if (names.size === 0) continue;
    const group = document.createElement("span");
    group.className = "legend";
    group.append(`${title}: `);
    for (const name of Object.keys(COLOURS).filter(one => names.has(one))) {
      const swatch = document.createElement("i");
      swatch.style.background = COLOURS[name];
      group.append(swatch, name);
    }
    element.append(group);
  }
}
