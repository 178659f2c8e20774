// SPDX-License-Identifier: Apache-2.0
// Plots by uPlot from what Python worked out: lines over a linear or logarithmic axis, and bars. Every number of a plot is in
// the JSON beside it, so a plot is only ever a picture of a table that can be checked.
"use strict";

const LINE_COLOURS = ["#4e79a7", "#e15759", "#59a14f", "#f28e2b", "#b07aa1", "#76b7b2", "#9c755f", "#edc948", "#2f4b7c",
  "#a05195", "#003f5c", "#888"];

/** `plot`: title, x {label, values, log}, y {label, log, unit}, series [{label, values, dash, points}]. */
function drawPlot(box, plot) {
  const series = plot.series.map((one, k) => ({
    label: one.label,
    stroke: LINE_COLOURS[k % LINE_COLOURS.length],
    width: one.points ? 0 : 1.5,
    dash: one.dash ? [6, 4] : undefined,
    paths: plot.steps ? uPlot.paths.stepped({ align: 1 }) : undefined,
    points: { show: Boolean(one.points) || (!plot.steps && one.values.length < 30), size: one.points ? 9 : 5 },
    value: (_, v) => v == null ? "–" : plotText(plot.y.unit, v),
    spanGaps: true,
  }));
  const scale = log => log ? { distr: 3, log: 10 } : {};
  const options = {
    title: plot.title, width: Math.max(320, box.clientWidth), height: plot.height || 260,
    scales: { x: { time: false, ...scale(plot.x.log) }, y: { ...scale(plot.y.log), range: plot.y.log ? undefined : zeroRange } },
    axes: [
      { label: plot.x.label, values: (_, ticks) => ticks.map(v => v === null ? "" : plotText(plot.x.unit, v)),
        ...(plot.x.values.length < 15 ? { splits: () => plot.x.values, filter: (_, splits) => splits } : {}), labelSize: 22, size: 38 },
      { label: plot.y.label, values: (_, ticks) => ticks.map(v => v === null ? "" : plotText(plot.y.unit, v)), size: 70, labelSize: 22 },
    ],
    series: [{ label: plot.x.label, value: (_, v) => v == null ? "–" : plotText(plot.x.unit, v) }, ...series],
    cursor: { drag: { x: true, y: false } },
  };
  const made = new uPlot(options, [plot.x.values, ...plot.series.map(one => one.values)], box);
  new ResizeObserver(() => made.setSize({ width: Math.max(320, box.clientWidth), height: plot.height || 260 })).observe(box);
}

function zeroRange(_, low, high) { return [Math.min(0, low), high > 0 ? high * 1.08 : 1]; }

const NANOSECONDS = { ns: 1, us: 1e3, ms: 1e6, s: 1e9 };

function plotText(unit, value) {
  if (unit in NANOSECONDS) return timeText(value * NANOSECONDS[unit]);
  if (unit === "B") return bytesText(value);
  const digits = Math.abs(value) >= 100 || Number.isInteger(value) ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return `${value.toFixed(digits)}${unit === "%" ? " %" : unit ? ` ${unit}` : ""}`;
}

function drawPlots() {
  for (const box of document.querySelectorAll(".plot")) {
    drawPlot(box, JSON.parse(box.querySelector("script").textContent));
  }
}
