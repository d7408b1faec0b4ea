// Two models side by side: what Python found, drawn.

const called = page.models.map((name) => cut(name, 40));

function key() {
  return el("div", { class: "key" }, called.map((name, k) => el("span", {}, el("i", { class: k ? "k2" : "k0" }), name)));
}

function tellComparison() {
  const scores = page.scores && Object.keys(page.scores[0]).filter((name) => name in page.scores[1]);
  put("short-body", page.sentences.map((text) => el("p", {}, text)),
    scores ? el("table", { class: "counts" },
      el("thead", {}, el("tr", {}, ["", ...called].map((text) => el("th", { scope: "col" }, text)))),
      el("tbody", {}, scores.map((name) => el("tr", {}, el("th", { scope: "row" }, name),
        page.scores.map((one) => el("td", {}, showError(one[name]))))))) : null);
}

function tellDifferences() {
  const [first, second] = page.points.map(doubles);
  const both = range([...first, ...second]);
  const area = plotArea(`${page.response} of both models`, { width: 380, height: 300 }, both, both,
    { x: called[0], yName: called[1] });
  area.svg.append(svgEl("line", { x1: area.x(both[0]), y1: area.y(both[0]), x2: area.x(both[1]), y2: area.y(both[1]),
    stroke: "var(--soft)", "stroke-dasharray": "4 3" }));
  first.forEach((value, k) => area.svg.append(svgEl("circle", { cx: area.x(value).toFixed(1), cy: area.y(second[k]).toFixed(1),
    r: 2, fill: "var(--main)", opacity: 0.45 })));
  const bars = page.names.map((name, j) => ({ name, value: page.sizes[j] })).filter((bar) => bar.value > 0);
  put("differ-body", el("div", { class: "pair" },
    el("figure", {}, area.svg, el("figcaption", {}, `${capital(page.response)} of ${plural(first.length, "row")} by both. `
      + "On the dashed line they agree.")),
    el("div", {}, el("h3", {}, "Features that make them differ"),
      bars.length ? barList("Mean size of the difference of Shapley values", bars.slice(0, 15), (bar) => show(bar.value))
        : el("p", {}, "None: the models predict the same."),
      el("p", { class: "note" }, `By how much the feature moves the ${page.quantity} differently in the two models, on `
        + "average over the rows: the mean size of the difference of its Shapley values."))));
}

function overlay(curve) {
  const known = curve.pair.map((one, k) => one && { k, feature: featureFrom(one.feature, 0, 0), values: doubles(one.average) })
    .filter(Boolean);
  const numeric = known.every(({ feature }) => feature.kind === "numeric");
  return el("figure", { "data-curve": curve.name }, el("h3", {}, cut(curve.name, 80)),
    numeric ? overlaidSteps(curve.name, known) : overlaidDots(curve.name, known),
    key(), known.length < 2 ? el("figcaption", {}, `Only ${called[known[0].k]} has this feature.`) : null);
}

const STYLES = [{ stroke: "var(--main)" }, { stroke: "var(--beside-2)", "stroke-dasharray": "5 2" }];

function overlaidSteps(name, known) {
  const shown = known.map((one) => ({ ...one, bins: shownBins(one.feature) }));
  const xs = [Math.min(...shown.map(({ feature, bins }) => feature.bounds[bins[0]])),
    Math.max(...shown.map(({ feature, bins }) => feature.bounds[bins[1] + 1]))];
  const seen = shown.flatMap(({ feature, values, bins }) => [...values.subarray(bins[0], bins[1] + 1),
    ...(feature.frequencies[feature.missing] > 0 ? [values[feature.missing]] : [])]);
  const ys = range(seen, [], 0.01 * page.spread);
  const area = plotArea(`${page.response} by ${name}, both models`, { width: 330, height: 190 }, xs, ys, {});
  area.svg.append(...densityBars(area, shown[0].feature, ...shown[0].bins));
  for (const { k, feature, values, bins } of shown) {
    area.svg.append(svgEl("path", { class: `curve-${k}`, d: stepPath(area, feature, values, ...bins, ys), fill: "none",
      "stroke-width": 2, ...STYLES[k] }));
    if (feature.frequencies[feature.missing] > 0) area.svg.append(missingMark(area, values[feature.missing], STYLES[k].stroke));
  }
  return area.svg;
}

// A dot per level and model, the levels of either.
function overlaidDots(name, known) {
  const texts = ({ feature }) => (feature.kind === "numeric" ? [] : [...feature.levels, "(rare)", "(missing)", "(unseen)"]);
  const sides = known.map((one) => new Map(texts(one).map((text, b) => [text, { value: one.values[b],
    share: one.feature.frequencies[b] }]).filter(([, { share }]) => share > 0)));
  const all = [...new Set(sides.flatMap((side) => [...side.keys()]))];
  const share = (text) => Math.max(...sides.map((side) => side.get(text)?.share ?? 0));
  const levels = all.sort((a, b) => share(b) - share(a)).slice(0, 12);
  if (!levels.length) return el("p", { class: "note" }, "It has numbers in one model and levels in the other.");
  const row = 18, width = 330, left = 120, right = width - 14, height = levels.length * row + 22;
  const [low, high] = range(levels.flatMap((text) => sides.map((side) => side.get(text)?.value ?? NaN)));
  const x = (v) => left + ((v - low) / (high - low)) * (right - left);
  const svg = svgEl("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${page.response} by ${name}, both models` });
  const shownAs = cutApart(levels, 16);
  levels.forEach((text, n) => {
    const y = n * row + 9;
    svg.append(svgEl("line", { x1: left, x2: right, y1: y, y2: y, stroke: "var(--line)" }),
      svgEl("text", { class: "name", x: left - 6, y: y + 4, "text-anchor": "end" }, svgEl("title", {}, text), shownAs[n]));
    sides.forEach((side, k) => side.has(text) && svg.append(svgEl("circle", { cx: x(side.get(text).value), cy: y + (k ? 2.5 : -2.5), r: 4.5,
      fill: STYLES[known[k].k].stroke })));
  });
  const ends = ticks(low, high, 3), text = tickText(ends);
  ends.forEach((tick) => svg.append(svgEl("text", { x: x(tick), y: height - 4, "text-anchor": "middle" }, text(tick))));
  return svg;
}

function tellCurves() {
  const curves = page.curves.filter((curve) => curve.size > 0 && curve.pair.some(Boolean));
  put("curves-body", curves.length ? el("p", { class: "lead" }, `${capital(page.response)} on average over the rows, against `
    + "each feature; those first that make the models differ most.")
    : el("p", {}, "There is nothing to show: the models predict the same."),
  el("div", { class: "tiles" }, curves.map(overlay)));
}

function tellRows() {
  const heads = ["row", ...called, "difference", "most by", ...(page.rows[0]?.values ?? []).map(([name]) => cut(name, 24))];
  put("rows-body", el("p", { class: "lead" }, "Rows count from 0. \u201cMost by\u201d is the feature that does most of the difference."),
    el("div", { class: "values", tabindex: 0, role: "region", "aria-label": "Rows that differ most" }, el("table", {},
      el("thead", {}, el("tr", {}, heads.map((text) => el("th", { scope: "col" }, text)))),
      el("tbody", {}, page.rows.map(({ row, predictions: [first, second], feature, values }) => el("tr", {},
        [String(row), show(first), show(second), signed(second - first), cut(feature, 24), ...values.map(([, text]) => cut(text, 24))]
          .map((text, k) => el("td", k === 3 ? { "data-value": second - first } : {}, text))))))));
}

document.getElementById("title").textContent = page.title;
document.getElementById("footer").textContent = `seplearn ${page.library}. This page needs no network; it holds everything it shows.`;
tellComparison();
tellDifferences();
tellCurves();
tellRows();
