// SPDX-License-Identifier: Apache-2.0
// The timeline as one moves about in it: wheel, drag, folding, hover, a click that holds a task. It owns what is in view and
// asks the painter for one picture a frame at most.
"use strict";

const LEAST_IN_VIEW = 50; // ns
const LEAST_DRAG = 4; // pixels; a shorter one is a click

class Timeline {
  constructor(data, root) {
    this.data = data;
    this.box = root.querySelector(".timeline");
    this.canvas = root.querySelector("canvas");
    this.tip = document.getElementById("tip");
    this.painter = new Painter(data, this.canvas);
    this.folded = new Set(data.ranks.length > 8 ? data.ranks.slice(4).map(r => r.rank) : []);
    this.hits = null;
    this.select(-1);
    this.showPath = false;
    const margin = (data.end - data.begin) * 0.005 || 1;
    this.whole = [data.begin - margin, data.end + margin];
    this.view = this.whole;
    this.listen(root);
    this.relayout();
    this.resize();
    this.showTasks();
  }

  /** Where the tasks are, if that is only a part of the run: programs have long beginnings. */
  showTasks() {
    const { posted } = this.data.tasks, n = this.data.n_tasks;
    if (n === 0) return;
    let last = posted[n - 1];
    for (let k = 0; k < n; k++) last = Math.max(last, taskEnd(this.data, k));
    if (last - posted[0] < 0.7 * (this.whole[1] - this.whole[0])) this.show(posted[0], last, 0.02);
  }

  listen(root) {
    new ResizeObserver(() => this.resize()).observe(this.box);
    this.box.addEventListener("scroll", () => this.draw());
    this.canvas.addEventListener("mousemove", event => this.hover(event));
    this.canvas.addEventListener("mouseleave", () => { this.tip.hidden = true; });
    this.canvas.addEventListener("wheel", event => this.wheel(event), { passive: false });
    this.canvas.addEventListener("pointerdown", event => this.press(event));
    this.canvas.addEventListener("pointermove", event => this.drag(event));
    this.canvas.addEventListener("click", event => this.click(event));
    root.querySelector("#all").addEventListener("click", () => this.showAll());
    root.querySelector("#path").addEventListener("change", event => { this.showPath = event.target.checked; this.draw(); });
  }

  relayout() {
    this.layout = layoutRows(this.data, this.folded);
    this.index = indexRows(this.layout.rows);
    this.box.querySelector(".spacer").style.height = `${this.layout.height + AXIS + 8}px`;
    this.box.style.height = `${Math.min(this.layout.height + AXIS + 10, Math.max(240, window.innerHeight * 0.72))}px`;
  }

  /** The task that is held, with its messages and dependences. */
  select(k) {
    this.selected = k;
    this.held = k < 0 ? [] : messagesOf(this.data, k, MOST_FLOWS);
    this.links = k < 0 ? [] : dependencesOf(this.data, k, MOST_FLOWS);
  }

  resize() {
    this.width = this.box.clientWidth;
    this.height = this.box.clientHeight;
    this.canvas.style.width = `${this.width}px`;
    this.canvas.style.height = `${this.height}px`;
    this.draw();
  }

  /** Times at the edges of the picture. */
  range() { return this.view; }

  perPixel() { return (this.view[1] - this.view[0]) / (this.width - GUTTER); }

  /** Brings this time into view, as far as the run has it. */
  setRange(from, to) {
    const [first, last] = this.whole;
    const length = Math.min(Math.max(to - from, LEAST_IN_VIEW), last - first);
    const begin = Math.min(Math.max(from, first), last - length);
    this.view = [begin, begin + length];
    this.tip.hidden = true;
    this.draw();
  }

  moveBy(ns) { this.setRange(this.view[0] + ns, this.view[1] + ns); }

  /** A `factor` above 1 shows more time; what is at `time` stays where it is. */
  zoomBy(factor, time = (this.view[0] + this.view[1]) / 2) {
    const [from, to] = this.view;
    this.setRange(time - (time - from) * factor, time + (to - time) * factor);
  }

  wheel(event) {
    const [from, to] = this.view;
    if (event.deltaY > 0 && to - from >= this.whole[1] - this.whole[0]) return; // the page scrolls
    event.preventDefault();
    const lines = [0.002, 0.05, 1][event.deltaMode];
    this.zoomBy(2 ** (event.deltaY * lines), from + (event.clientX - this.canvas.getBoundingClientRect().left - GUTTER) * this.perPixel());
  }

  press(event) {
    if (event.button !== 0) return;
    this.canvas.setPointerCapture(event.pointerId);
    this.pressed = { x: event.clientX, y: event.clientY, view: this.view, scrollTop: this.box.scrollTop };
    this.wasDragged = false;
  }

  drag(event) {
    if (!this.canvas.hasPointerCapture(event.pointerId)) return;
    const { x, y, view, scrollTop } = this.pressed, dx = event.clientX - x, dy = event.clientY - y;
    this.wasDragged ||= Math.max(Math.abs(dx), Math.abs(dy)) >= LEAST_DRAG;
    if (!this.wasDragged) return;
    this.setRange(...view.map(time => time - dx * this.perPixel()));
    this.box.scrollTop = scrollTop - dy;
  }

  draw() {
    if (this.pending) return;
    this.pending = requestAnimationFrame(() => {
      this.pending = 0;
      this.paintNow();
    });
  }

  paintNow() {
    const [from, to] = this.range();
    const begun = performance.now();
    this.painter.paint({ from, to, width: this.width, height: this.height, scrollTop: this.box.scrollTop, layout: this.layout,
      index: this.index, hits: this.hits, selected: this.selected, held: this.held, links: this.links, showPath: this.showPath,
      folded: this.folded });
    this.lastPaintMs = performance.now() - begun;
  }

  /** Brings an interval into view, with room around it. */
  show(begin, end, around = 0.6) {
    const margin = Math.max((end - begin) * around, LEAST_IN_VIEW);
    this.setRange(Math.max(this.whole[0], begin - margin), Math.min(this.whole[1], end + margin));
  }

  showAll() { this.setRange(...this.whole); }

  showTask(k) {
    const rank = this.data.tasks.rank[k];
    if (this.folded.delete(rank)) this.relayout();
    this.select(k);
    this.show(this.data.tasks.posted[k], taskEnd(this.data, k));
    const row = this.index.tasks.get(`${rank}/${this.data.tasks.row[k]}`);
    if (row && (row.top < this.box.scrollTop || row.top + 60 > this.box.scrollTop + this.height)) {
      this.box.scrollTop = Math.max(0, row.top - this.height / 2);
    }
    this.draw();
  }

  /** {row, time, task, span} under the pointer. */
  under(event) {
    const rect = this.canvas.getBoundingClientRect();
    const x = event.clientX - rect.left, y = event.clientY - rect.top - AXIS + this.box.scrollTop;
    const row = this.layout.rows.find(one => y >= one.top && y < one.top + one.height + ROW_GAP);
    if (!row || event.clientY - rect.top < AXIS) return null;
    const perPixel = this.perPixel(), time = this.view[0] + (x - GUTTER) * perPixel;
    if (x < GUTTER) return { row, time: null };
    // What is painted last lies on top.
    for (const slack of [0, perPixel * 2]) {
      for (const kind of [...row.kinds].reverse()) {
        const k = spanAt(kind, time, slack);
        if (k >= 0) return { row, time, kind, span: k, task: row.type === "tasks" ? kind.ref[k] : -1 };
      }
    }
    return { row, time };
  }

  click(event) {
    if (this.wasDragged) return;
    const at = this.under(event);
    if (at && at.row.type === "heading") {
      if (!this.folded.delete(at.row.rank)) this.folded.add(at.row.rank);
      this.relayout();
      this.resize();
      return;
    }
    this.select(at && at.task >= 0 ? at.task : -1);
    this.draw();
  }

  hover(event) {
    const at = event.buttons ? null : this.under(event);
    if (!at || !at.kind) {
      this.tip.hidden = true;
      return;
    }
    this.tip.replaceChildren(...(at.task >= 0 ? taskTip(this.data, at.task, at.task === this.selected ? this.links : []) : spanTip(this.data, at)));
    this.tip.hidden = false;
    const { offsetWidth: width, offsetHeight: height } = this.tip;
    this.tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, window.innerWidth - width - 8))}px`;
    this.tip.style.top = `${Math.max(4, Math.min(event.clientY + 16, window.innerHeight - height - 8))}px`;
  }
}

function element(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

const MOST_LINKS_TOLD = 6;

/** A task's life in words, and what is given of its dependences. */
function taskTip(data, k, links) {
  const { tasks, words } = data;
  const head = element("b", taskTitle(data, k));
  const facts = [`rank ${tasks.rank[k]}`, words[tasks.comm[k]], tasks.bytes[k] < 0 ? "size unknown" : bytesText(tasks.bytes[k]), `number ${words[tasks.number[k]]}`,
    words[tasks.state[k]]];
  const table = element("table");
  const line = (name, text, colour) => {
    const row = element("tr"), cell = element("td", name);
    if (colour) cell.style.borderLeft = `8px solid ${colour}`;
    row.append(cell, element("td", text));
    table.append(row);
  };
  line("posted at", `${(tasks.posted[k] / 1e6).toFixed(3)} ms`);
  for (const [phase, begin, end] of taskLife(data, k)) line(phase, timeText(end - begin), COLOURS[phase]);
  line("whole life", timeText(taskEnd(data, k) - tasks.posted[k]));
  const parts = [head, element("div", facts.join(" · "), "facts"), table];
  const by = [["posted", tasks.submitter[k]], ["issued", tasks.issuer[k]], ["ended", tasks.ender[k]]].filter(([, name]) => name !== NOTHING);
  parts.push(element("div", [`lane ${tasks.lane[k]}`, ...by.map(([what, name]) => `${what} by ${words[name]}`)].join(" · "), "facts"));
  for (const isAfter of [false, true]) {
    const some = links.filter(one => one.isAfter === isAfter);
    const told = some.slice(0, MOST_LINKS_TOLD).map(one => one.task < 0 ? one.name : `${taskTitle(data, one.task)}, number ${words[tasks.number[one.task]]}`);
    if (some.length > MOST_LINKS_TOLD) told.push(`${some.length - MOST_LINKS_TOLD} more`);
    if (told.length) parts.push(element("div", `${isAfter ? "successors" : "predecessors"}: ${told.join("; ")}`, "facts"));
  }
  if (tasks.partner[k] !== NOTHING) {
    const other = tasks.partner[k], lag = tasks.posted[other] - tasks.posted[k];
    parts.push(element("div", `other side: rank ${tasks.rank[other]}, number ${words[tasks.number[other]]}, posted ` +
      `${timeText(Math.abs(lag))} ${lag < 0 ? "earlier" : "later"}`, "facts"));
  }
  if (tasks.cause[k] !== NOTHING && tasks.idle[k] > 0) {
    parts.push(element("div", `a thread idled ${timeText(tasks.idle[k])} for it: ${words[tasks.cause[k]]}`, "cause"));
  }
  return parts;
}

function spanTip(data, { row, kind, span }) {
  const begin = kind.begin[span], end = kind.end[span];
  const label = row.type === "worker" ? "" : data.words[kind.ref[span]];
  return [element("b", label && label !== kind.name ? `${kind.name}: ${label}` : kind.name),
    element("div", `rank ${row.rank} · ${row.label} · ${timeText(end - begin)} from ${timeText(begin)}`, "facts")];
}
