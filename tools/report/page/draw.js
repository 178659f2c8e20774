// SPDX-License-Identifier: Apache-2.0
// Painting of the visible part of the timeline. A row with few spans in view is painted span by span; one with many is
// painted pixel by pixel, each as full as the spans in it cover it, which costs the width of the window and the logarithm
// of the number of spans, whatever the zoom.
"use strict";

const MOST_SPANS_EACH = 600; // of a row: two pixels for each
const MOST_FLOWS = 600;

class Painter {
  constructor(data, canvas) {
    this.data = data;
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.dense = new DensePicture();
  }

  /** `view`: from, to (times), width, height (CSS pixels), scrollTop, layout, index, hits (rowsOfHits or null), selected (task
   *  or -1), held (its messages), links (its dependences), showPath. */
  paint(view) {
    if (view.width <= GUTTER || view.height < 1) return; // not laid out
    const { context, canvas } = this;
    const scale = window.devicePixelRatio || 1;
    if (canvas.width !== Math.round(view.width * scale) || canvas.height !== Math.round(view.height * scale)) {
      canvas.width = Math.round(view.width * scale);
      canvas.height = Math.round(view.height * scale);
    }
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, view.width, view.height);
    this.view = view;
    this.perPixel = (view.to - view.from) / (view.width - GUTTER);
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    this.grid();
    this.headings();
    context.save();
    context.beginPath();
    context.rect(GUTTER, AXIS, view.width - GUTTER, view.height - AXIS);
    context.clip();
    this.dense.begin(view.width, view.height);
    for (const row of view.layout.rows) {
      const top = this.topOf(row);
      if (top + row.height < AXIS || top > view.height) continue;
      this.row(row, top);
    }
    this.dense.onto(context);
    if (view.hits) this.hits();
    this.flows();
    if (view.showPath) this.path();
    if (view.selected >= 0) this.selected(view.selected);
    context.restore();
    this.labels();
  }

  topOf(row) { return row.top - this.view.scrollTop + AXIS; }
  x(time) { return GUTTER + (time - this.view.from) / this.perPixel; }

  grid() {
    const { context, view } = this;
    const step = niceStep(this.perPixel * 120);
    context.fillStyle = "#55606b";
    context.strokeStyle = "#e4e7ea";
    context.textAlign = "center";
    context.beginPath();
    for (let t = Math.ceil(view.from / step) * step; t <= view.to; t += step) {
      const x = Math.round(this.x(t)) + 0.5;
      context.moveTo(x, AXIS);
      context.lineTo(x, view.height);
      if (x > GUTTER + 24 && x < view.width - 24) context.fillText(axisText(t, step), x, AXIS / 2);
    }
    context.stroke();
  }

  headings() {
    this.context.fillStyle = "#eceff2";
    for (const row of this.view.layout.rows) {
      if (row.type === "heading") this.context.fillRect(GUTTER, this.topOf(row), this.view.width, row.height);
    }
  }

  row(row, top) {
    const { view } = this;
    const ranges = row.kinds.map(kind => [firstAbove(kind.end, view.from), firstAbove(kind.begin, view.to)]);
    const isDense = ranges.reduce((sum, [first, last]) => sum + last - first, 0) > MOST_SPANS_EACH;
    const filled = isDense ? new Float32Array(view.width) : null;
    row.kinds.forEach((kind, k) => {
      if (isDense) this.binned(kind, top, row.height, filled, ...ranges[k]);
      else if (kind.name === "drive") this.each(row, kind, top + row.height * 0.7, row.height * 0.3, ...ranges[k]);
      else this.each(row, kind, top, row.height, ...ranges[k]);
    });
  }

  each(row, kind, top, height, first, last) {
    const { context, data } = this;
    context.fillStyle = COLOURS[kind.name] || "#999";
    for (let k = first; k < last; k++) {
      const x = this.x(kind.begin[k]), width = this.x(kind.end[k]) - x;
      // A hair between neighbours shows where one ends.
      context.fillRect(x, top, width > 3 ? width - 0.6 : Math.max(width, 0.7), height);
    }
    if (row.type === "worker" || height < 10) return;
    context.textAlign = "left";
    for (let k = first; k < last; k++) {
      const x = Math.max(this.x(kind.begin[k]), GUTTER), width = this.x(kind.end[k]) - x;
      if (width < 34) continue;
      const text = row.type === "tasks" ? (kind.name === "in flight" ? taskTitle(data, kind.ref[k]) : "") : data.words[kind.ref[k]];
      if (!text) continue;
      context.fillStyle = kind.name === "compute" || kind.name === "in flight" ? "#fff" : "#333";
      context.fillText(fitted(context, text, width - 8), x + 4, top + height / 2 + 0.5);
    }
  }

  /** `filled`: how far each pixel is full already, as kinds lie on each other; what encloses the others does not count. */
  binned(kind, top, height, filled, first, last) {
    const { dense, view } = this;
    const { begin, end, sums } = kind;
    const encloses = kind.name === "region" || kind.name === "drive";
    const colour = pixelOf(COLOURS[kind.name] || "#999999");
    let k = first, ahead = 1, before = sums[k] + (k < last && begin[k] < view.from ? view.from - begin[k] : 0);
    for (let x = GUTTER; x < view.width; x++) {
      const time = view.from + (x + 1 - GUTTER) * this.perPixel;
      // The first span that ends later; most often about as far on as the last time.
      let high = k + ahead;
      while (high < last && end[high] <= time) high += ahead *= 2;
      const next = firstAbove(end, time, k, Math.min(high, last));
      ahead = 1 + next - k;
      k = next;
      // Length of all spans before `time`.
      const now = sums[k] + (k < last && begin[k] < time ? time - begin[k] : 0);
      const share = Math.min(1, (now - before) / this.perPixel);
      before = now;
      if (share <= 0) continue;
      const low = encloses ? 0 : Math.min(filled[x], 0.94);
      const part = Math.max(0.06, Math.min(share, 1 - low));
      const upper = Math.round(top + height * (1 - low - part));
      dense.column(x, upper, Math.max(upper + 1, Math.round(top + height * (1 - low))), colour);
      if (!encloses) filled[x] = low + part;
    }
  }

  /** Where the search found something, whatever the zoom: a mark above the row. */
  hits() {
    const { context, view } = this;
    context.fillStyle = "#d62728";
    for (const { place, begin, end, latest } of view.hits) {
      const row = view.index.tasks.get(place);
      if (!row) continue;
      const y = this.topOf(row) + row.height - 2;
      for (let k = firstAbove(latest, view.from); k < begin.length && begin[k] <= view.to; k++) {
        const x = Math.round(this.x(begin[k]));
        // All that begin within its two pixels are one mark.
        k = Math.max(k, firstAbove(begin, view.from + (x + 2 - GUTTER) * this.perPixel, k) - 1);
        context.fillRect(x, y, Math.max(2, this.x(end[k]) - x), 2);
      }
    }
  }

  flows() {
    const { data, view } = this;
    const { from, to } = data.messages;
    const issued = data.tasks.issued;
    let low = 0, high = from.length;
    // Messages are in the order of their sends; those that began before the window and end in it are not worth a search.
    while (low < high) {
      const middle = (low + high) >> 1;
      if (issued[from[middle]] < view.from) low = middle + 1; else high = middle;
    }
    let last = low;
    while (last < from.length && issued[from[last]] <= view.to && last - low <= MOST_FLOWS) last++;
    if (last - low > MOST_FLOWS) return;
    for (let k = low; k < last; k++) this.flow(from[k], to[k], "rgba(40,60,80,.5)", 1);
  }

  /** From the issue of the send to the end of the receive. */
  flow(send, receive, colour, width) {
    const { data, view } = this;
    const one = view.index.tasks.get(`${data.tasks.rank[send]}/${data.tasks.row[send]}`);
    const other = view.index.tasks.get(`${data.tasks.rank[receive]}/${data.tasks.row[receive]}`);
    if (!one || !other || send === receive) return;
    const x0 = this.x(Math.max(data.tasks.issued[send], data.tasks.posted[send])), x1 = this.x(data.tasks.ended[receive]);
    this.curve(x0, this.topOf(one) + one.height / 2, x1, this.topOf(other) + other.height / 2, colour, width);
  }

  /** From the end of what was first to the begin of what depends on it. */
  link(k, { isAfter, task, time, thread }) {
    const { data, view } = this;
    const rowOf = one => view.index.tasks.get(`${data.tasks.rank[one]}/${data.tasks.row[one]}`);
    const mine = rowOf(k), other = task < 0 ? view.index.threads.get(`${data.tasks.rank[k]}/${thread}`) : rowOf(task);
    const own = isAfter ? data.tasks.until[k] : waitedUntil(data, k);
    if (!mine || !other || time < 0 || own < 0) return;
    const ends = [[this.x(own), this.topOf(mine) + mine.height / 2], [this.x(time), this.topOf(other) + other.height / 2]];
    if (!isAfter) ends.reverse();
    this.curve(...ends[0], ...ends[1], "#7b3fa0", 1.4);
  }

  curve(x0, y0, x1, y1, colour, width) {
    const { context } = this;
    context.strokeStyle = context.fillStyle = colour;
    context.lineWidth = width;
    context.beginPath();
    context.moveTo(x0, y0);
    context.bezierCurveTo(x0 + (x1 - x0) * 0.4, y0, x1 - (x1 - x0) * 0.4, y1, x1, y1);
    context.stroke();
    context.beginPath();
    context.arc(x1, y1, width + 1.2, 0, 7);
    context.fill();
    context.lineWidth = 1;
  }

  path() {
    const { context, data, view } = this;
    const { begin, end, rank, thread } = data.path;
    context.fillStyle = "#111";
    const first = firstAbove(end, view.from), last = firstAbove(begin, view.to);
    const step = Math.max(1, Math.floor((last - first) / 4000));
    for (let k = first; k < last; k += step) {
      const row = view.index.threads.get(`${rank[k]}/${thread[k]}`) || view.index.tasks.get(`${rank[k]}/0`);
      if (!row) continue;
      const x = this.x(begin[k]);
      context.fillRect(x, this.topOf(row) - 1, Math.max(1, this.x(end[k]) - x), 2.5);
    }
  }

  selected(k) {
    const { context, data, view } = this;
    for (const one of new Set([k, ...view.held.flat()])) {
      const row = view.index.tasks.get(`${data.tasks.rank[one]}/${data.tasks.row[one]}`);
      if (!row) continue;
      context.strokeStyle = one === k ? "#d62728" : "#1f3b57";
      context.lineWidth = 1.5;
      const x = this.x(data.tasks.posted[one]);
      context.strokeRect(x - 1, this.topOf(row) - 1, Math.max(3, this.x(taskEnd(data, one)) - x + 2), row.height + 2);
      context.lineWidth = 1;
    }
    for (const [send, receive] of view.held) this.flow(send, receive, "#d62728", 1.8);
    for (const link of view.links) this.link(k, link);
  }

  labels() {
    const { context, view } = this;
    context.fillStyle = "#f7f8f9";
    context.fillRect(0, 0, GUTTER, view.height);
    context.textAlign = "left";
    for (const row of view.layout.rows) {
      const top = this.topOf(row);
      if (top < AXIS - row.height || top > view.height) continue;
      if (row.type === "heading") {
        context.fillStyle = "#eceff2";
        context.fillRect(0, top, GUTTER, row.height);
        context.fillStyle = "#22303c";
        context.font = "600 12px system-ui, sans-serif";
        context.fillText(`${view.folded.has(row.rank) ? "▸" : "▾"} ${row.label}`, 6, top + row.height / 2 + 0.5);
        context.font = "11px system-ui, sans-serif";
      } else if (row.label) {
        context.fillStyle = "#44505c";
        context.fillText(fitted(context, row.label, GUTTER - 24), 18, top + row.height / 2 + 0.5);
      }
    }
    context.fillStyle = "#fff";
    context.fillRect(0, 0, GUTTER, AXIS);
    context.fillStyle = "#55606b";
    context.fillText(`${timeText(view.to - view.from)} in view`, 6, AXIS / 2);
  }
}

const AXIS = 22;

/** 1, 2 or 5 times a power of ten, at least `least`. */
function niceStep(least) {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
  return [1, 2, 5, 10].map(k => k * power).find(step => step >= least);
}

/** A time of the axis, with as many digits as tell neighbours apart. */
function axisText(t, step) {
  const [scale, unit] = t < 1e3 ? [1, "ns"] : t < 1e6 ? [1e3, "us"] : t < 1e9 ? [1e6, "ms"] : [1e9, "s"];
  const digits = Math.max(0, Math.ceil(Math.log10(scale / step) - 1e-9));
  return t === 0 ? "0" : `${(t / scale).toFixed(Math.min(digits, 9))} ${unit}`;
}

function fitted(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  let length = Math.max(0, Math.floor(text.length * width / context.measureText(text).width) - 1);
  return length < 2 ? "" : `${text.slice(0, length)}…`;
}
