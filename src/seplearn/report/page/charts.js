// Small charts as SVG. Colours come from the style sheet, so that both themes and print work.

// Round values between two ends, about so many of them and at least two.
function ticks(low, high, about) {
  const raw = (high - low) / about;
  if (!(raw > 0) || !Number.isFinite(raw)) return [low];
  const power = 10 ** Math.floor(Math.log10(raw));
  const steps = [10, 5, 2, 1, 0.5, 0.2].map((m) => m * power).filter((s) => s <= 10 * raw);
  let out = [];
  for (const step of steps.filter((s) => s >= raw).reverse().concat(steps.filter((s) => s < raw))) {
    out = [];
    for (let k = Math.ceil(low / step); k * step <= high + 1e-9 * step; k++) out.push(k * step);
    if (out.length > 1) return out;
  }
  return out.length ? out : [low];
}

// Numbers with as many digits as tell ticks apart.
function tickText(values) {
  const sizes = values.map(Math.abs), largest = Math.max(...sizes);
  const step = values.length > 1 ? Math.abs(values[1] - values[0]) : largest || 1;
  const digits = clamp(Math.ceil(Math.log10(largest / step || 1) + 1e-9) + 1, 1, 12);
  return (value) => {
    if (Math.abs(value) < 1e-9 * step) return "0";
    if (largest < 1e-4) return value.toExponential(Math.max(digits - 1, 0));
    const compact = largest >= 1e5 ? { notation: "compact" } : {};
    const useGrouping = largest >= 1e4;  // years have no commas
    return value.toLocaleString("en-US", { maximumSignificantDigits: digits, useGrouping, ...compact })
      .replace("-", "\u2212");
  };
}

// Round multiples on an axis of logarithms: the coarsest steps of which three can be seen. Where
// two are so close that their texts would cover each other, the one nearer to one stays.
function multipleTicks(low, high) {
  const tens = Math.log(10), first = Math.ceil(low / tens), last = Math.floor(high / tens);
  if (last - first >= 6) {  // a wide range: only some powers of ten, one among them
    const step = Math.ceil((last - first) / 5), out = [];
    for (let k = Math.ceil(first / step) * step; k <= last; k += step) out.push(k * tens);
    return out;
  }
  const powers = [-6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5].map((k) => 10 ** k);
  for (const steps of [[1], [1, 3], [1, 2, 5], [1, 1.5, 2, 3, 5, 7], [1, 1.1, 1.2, 1.3, 1.5, 8, 9]]) {
    const found = powers.flatMap((power) => steps.map((step) => Math.log(step * power)))
      .filter((tick) => tick >= low && tick <= high);
    const kept = [];
    for (const tick of found.sort((a, b) => Math.abs(a) - Math.abs(b))) {
      if (kept.every((other) => Math.abs(other - tick) > (high - low) / 7)) kept.push(tick);
    }
    if (kept.length > 2) return kept;
  }
  return [0];
}

// What is shown of some values; at least ``least`` wide, so that rounding is not drawn as a curve.
function range(values, extra = [], least = 0) {
  const all = [...values, ...extra].filter(Number.isFinite);
  const low = Math.min(...all), high = Math.max(...all);
  if (!all.length) return [0, 1];
  const needed = Math.max(least, 1e-12 * Math.max(Math.abs(low), Math.abs(high)));
  if (high - low <= needed) {
    const pad = least / 2 || Math.abs(low) * 0.1 || 0.1;
    return [(low + high) / 2 - pad, (low + high) / 2 + pad];
  }
  const pad = 0.06 * (high - low);
  return [low - pad, high + pad];
}

// A drawing area with axes; x and y turn data into places.
function plotArea(label, size, xs, ys, names = {}) {
  const { width, height } = size;
  const left = names.yName ? 70 : 54, right = width - 16, top = 8, bottom = height - (names.x ? 34 : 20);
  const place = (low, high, from, to) => (v) => from + ((v - low) / (high - low)) * (to - from);
  const x = place(xs[0], xs[1], left, right), y = place(ys[0], ys[1], bottom, top);
  const svg = svgEl("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
  const yTicks = (names.yTicks || ((from, to) => ticks(from, to, 3)))(ys[0], ys[1]);
  const yText = names.y || tickText(yTicks);
  for (const tick of yTicks) {
    svg.append(
      svgEl("line", { x1: left, x2: right, y1: y(tick), y2: y(tick), stroke: "var(--line)" }),
      svgEl("text", { x: left - 5, y: y(tick) + 4, "text-anchor": "end" },
        yText(tick)));
  }
  const xTicks = ticks(xs[0], xs[1], 3), xText = tickText(xTicks);
  for (const tick of xTicks) {
    svg.append(svgEl("text", { x: x(tick), y: bottom + 14, "text-anchor": "middle" }, xText(tick)));
  }
  if (names.x) {
    const middle = (left + right) / 2;
    svg.append(svgEl("text", { x: middle, y: height - 4, "text-anchor": "middle" }, names.x));
  }
  if (names.yName) {
    const middle = (top + bottom) / 2;
    svg.append(svgEl("text", { x: 12, y: middle, "text-anchor": "middle", transform: `rotate(-90 12 ${middle})` }, names.yName));
  }
  return { svg, x, y, left, right, top, bottom };
}

// The bins of a numeric feature that are drawn: the outermost half per cent of the rows is not.
function shownBins(feature) {
  let first = 0, last = feature.nOrdered - 1;
  if (feature.has_few_values) return [first, last];
  let below = 0, above = 0;
  while (first < last && below + feature.frequencies[first] < 0.005) below += feature.frequencies[first++];
  while (last > first && above + feature.frequencies[last] < 0.005) above += feature.frequencies[last--];
  return [first, last];
}

// Whether a chart of the feature has room for a bin, and rows in it.
function isDrawn(feature, b) {
  if (feature.kind === "categorical" || b === feature.missing) return feature.frequencies[b] > 0;
  const [first, last] = shownBins(feature);
  return first <= b && b <= last;
}

function stepPath(area, feature, values, first, last, clip) {
  const low = Math.min(...clip), high = Math.max(...clip);
  const parts = [];
  for (let b = first; b <= last; b++) {
    const y = area.y(clamp(values[b], low, high)).toFixed(1);
    parts.push(`${parts.length ? "L" : "M"}${area.x(feature.bounds[b]).toFixed(1)},${y}`);
    parts.push(`L${area.x(feature.bounds[b + 1]).toFixed(1)},${y}`);
  }
  return parts.join("");
}

function densityBars(area, feature, first, last) {
  const bars = [];
  let highest = 0;
  const per = (b) => feature.has_few_values ? feature.frequencies[b]
    : feature.frequencies[b] / Math.max(feature.bounds[b + 1] - feature.bounds[b], 1e-300);
  for (let b = first; b <= last; b++) highest = Math.max(highest, per(b));
  for (let b = first; b <= last; b++) {
    const height = highest > 0 ? 16 * per(b) / highest : 0;
    const x = area.x(feature.bounds[b]);
    bars.push(svgEl("rect", {
      x: x.toFixed(1), width: Math.max(area.x(feature.bounds[b + 1]) - x, 0.3).toFixed(2),
      y: (area.bottom - height).toFixed(1), height: height.toFixed(1), fill: "var(--fill)",
    }));
  }
  return bars;
}

const CURVE = { width: 270, height: 130 };

// Steps over a numeric feature, the data's density below; a dot where ``at`` (a bin) is.
function stepChart(feature, curve, { label, colour, baseline, at = null, yText, yTicks, size = CURVE, least = 0 }) {
  const [first, last] = shownBins(feature);
  const missingShare = feature.frequencies[feature.missing];
  const others = [...(curve.rows || []), ...(curve.beside || [])];
  const seen = [curve.values, ...others].flatMap((values) => [...values.subarray(first, last + 1),
    ...(missingShare > 0 ? [values[feature.missing]] : [])]);
  const extra = baseline === null ? [] : [baseline];
  if (curve.band) {  // a band may widen the picture to twice the curve's own range, not more
    const [low, high] = range(seen, extra, least);
    for (const end of curve.band) {
      for (let b = first; b <= last; b++) {
        extra.push(clamp(end[b], low - (high - low) / 2, high + (high - low) / 2));
      }
    }
  }
  const ys = range(seen, extra, least);
  const xs = [feature.bounds[first], feature.bounds[last + 1]];
  const area = plotArea(label, size, xs, ys, { y: yText, yTicks });
  area.svg.append(...densityBars(area, feature, first, last));
  if (baseline !== null) {
    area.svg.append(svgEl("line", { x1: area.left, x2: area.right, y1: area.y(baseline),
      y2: area.y(baseline), stroke: "var(--soft)", "stroke-dasharray": "3 3" }));
  }
  if (curve.band) area.svg.append(bandShape(area, feature, curve.band, first, last, ys, colour));
  for (const values of curve.rows || []) {
    area.svg.append(svgEl("path", { class: "row-line", d: stepPath(area, feature, values, first, last, ys) }));
  }
  const d = stepPath(area, feature, curve.values, first, last, ys);
  area.svg.append(svgEl("path", { d, fill: "none", stroke: colour, "stroke-width": 2 }));
  for (const [k, values] of (curve.beside || []).entries()) {
    area.svg.append(svgEl("path", { class: `beside-${k + 1}`, d: stepPath(area, feature, values, first, last, ys) }));
    if (missingShare > 0) area.svg.append(missingMark(area, values[feature.missing], `var(--beside-${k + 1})`));
  }
  if (missingShare > 0) {
    const y = area.y(curve.values[feature.missing]);
    area.svg.append(missingMark(area, curve.values[feature.missing], colour),
      svgEl("text", { class: "missing-name", x: area.right + 2, y: y < 24 ? y + 15 : y - 7, "text-anchor": "end" }, "missing"));
  }
  if (at !== null) area.svg.append(...marker(area, feature, curve, at, first, last));
  return area.svg;
}

function bandShape(area, feature, band, first, last, ys, colour) {
  const upper = stepPath(area, feature, band[1], first, last, ys);
  const lower = [];
  for (let b = last; b >= first; b--) {
    const y = area.y(clamp(band[0][b], ys[0], ys[1])).toFixed(1);
    lower.push(`L${area.x(feature.bounds[b + 1]).toFixed(1)},${y}`);
    lower.push(`L${area.x(feature.bounds[b]).toFixed(1)},${y}`);
  }
  return svgEl("path", { d: `${upper}${lower.join("")}Z`, fill: colour, opacity: 0.18 });
}

function missingMark(area, value, colour) {
  const title = svgEl("title", {}, "where the value is missing");
  return svgEl("circle", { cx: area.right - 1, cy: area.y(value), r: 3.5, fill: "var(--paper)",
    stroke: colour, "stroke-width": 1.6 }, title);
}

function marker(area, feature, curve, at, first, last) {
  const missing = at === feature.missing;
  const b = clamp(at, first, last);
  const x = missing ? area.right - 1 : area.x((feature.bounds[b] + feature.bounds[b + 1]) / 2);
  const y = area.y(missing ? curve.values[at] : curve.values[b]);
  return [
    svgEl("line", { x1: x, x2: x, y1: area.top, y2: area.bottom, stroke: "var(--ink)", opacity: 0.35 }),
    svgEl("circle", { cx: x, cy: y, r: 4, fill: "var(--ink)" }),
  ];
}

const briefly = (value) => short(Number(value.toPrecision(3)));

// A bar per level, the most frequent first; rare, missing and unseen ones where they occur.
function levelChart(feature, curve, { label, colour, baseline, at = null, yText = briefly, most = 10, least = 0 }) {
  const names = [...feature.levels, "(rare)", "(missing)", "(unseen)"];
  const known = names.map((_, b) => b).filter((b) => feature.frequencies[b] > 0 || b === at);
  known.sort((a, b) => feature.frequencies[b] - feature.frequencies[a]);
  const shown = known.slice(0, most);
  if (at !== null && !shown.includes(at)) shown[shown.length - 1] = at;
  const texts = shown.map((b) => yText(curve.values[b])), called = cutApart(shown.map((b) => names[b]), 13);
  const row = 17, width = 270, left = 112, right = width - Math.max(52, 8 + 6.5 * Math.max(...texts.map((text) => text.length)));
  const height = shown.length * row + (known.length > shown.length ? 22 : 6);
  const base = baseline ?? 0;
  const [low, high] = range(shown.map((b) => curve.values[b]), [base], least);
  const x = (v) => left + ((v - low) / (high - low)) * (right - left);
  const svg = svgEl("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
  for (const [k, b] of shown.entries()) {
    const y = k * row + 3, value = curve.values[b];
    const name = svgEl("text", { class: "name", x: left - 6, y: y + 11, "text-anchor": "end",
      "font-weight": b === at ? 700 : 400 }, svgEl("title", {}, names[b]), called[k]);
    svg.append(name, svgEl("rect", { x: Math.min(x(base), x(value)), y, height: row - 5,
      width: Math.max(Math.abs(x(value) - x(base)), 1), fill: colour, opacity: b === at ? 1 : 0.6 }));
    svg.append(svgEl("text", { x: width - 2, y: y + 11, "text-anchor": "end" }, texts[k]));
  }
  svg.append(svgEl("line", { x1: x(base), x2: x(base), y1: 0, y2: shown.length * row,
    stroke: "var(--soft)", "stroke-dasharray": "3 3" }));
  if (known.length > shown.length) {
    const more = `and ${plural(known.length - shown.length, "more level")}`;
    svg.append(svgEl("text", { x: left - 6, y: height - 6 }, more));
  }
  return svg;
}

const curveChart = (feature, curve, options) =>
  (feature.kind === "numeric" ? stepChart : levelChart)(feature, curve, options);

// Horizontal bars: [{name, value, inner}], the inner part darker.
function barList(label, bars, text) {
  const highest = Math.max(...bars.map((bar) => bar.value), 1e-300);
  return el("table", { class: "falls shares", "aria-label": label }, el("tbody", {}, bars.map((bar) =>
    el("tr", {},
      el("td", {}, el("span", { class: "clamp", title: bar.name }, bar.name)),
      el("td", {}, barTrack(bar, highest)),
      el("td", {}, text(bar))))));
}

function barTrack(bar, highest) {
  const track = el("div", { class: "track" });
  const outer = el("i", { class: "level" }), inner = el("i", { class: "level" });
  outer.style.width = `${100 * clamp(bar.value / highest, 0, 1)}%`;
  outer.style.opacity = bar.inner === undefined ? 1 : 0.4;
  track.append(outer);
  if (bar.inner !== undefined) {
    inner.style.width = `${100 * clamp(bar.inner / highest, 0, 1)}%`;
    track.append(inner);
  }
  return track;
}

function histogram(quality) {
  const edges = quality.residual_edges, counts = quality.residual_counts;
  const total = counts.reduce((a, b) => a + b, 0) || 1;
  const size = { width: 380, height: 260 };
  const ys = [0, 1.06 * Math.max(...counts) / total];
  const names = { x: "outcome minus prediction", yName: "share of rows", y: (v) => percent(v) };
  const area = plotArea("How far outcomes are from predictions", size,
    [edges[0], edges[edges.length - 1]], ys, names);
  counts.forEach((count, k) => {
    const x = area.x(edges[k]), y = area.y(count / total);
    area.svg.append(svgEl("rect", { x: x + 0.5, width: area.x(edges[k + 1]) - x - 1, y,
      height: area.bottom - y, fill: "var(--main)", opacity: 0.75 }));
  });
  return area.svg;
}
