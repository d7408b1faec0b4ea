// How good the model is: scores, calibration, and what a threshold or a ranking is worth.

const card = (value, text) => el("div", { class: "card" }, el("b", {}, value), el("span", {}, text));

function scoreCards(quality) {
  const names = Object.keys(quality.scores);
  const cards = names.map((name) => card(showError(quality.scores[name]), name));
  if (names.length && quality.n_rows > 1 && quality.explained !== null) {
    cards.push(card(quality.explained >= 0 ? percent(quality.explained) : "none",
      `of the ${names[0]} explained (D\u00b2 ${quality.explained.toFixed(3)})`));
  }
  if (page.classes || isOfQuantile(quality)) return cards;
  return [...cards, card(showError(quality.mae), "typical error (mean absolute)"),
    card(showError(quality.rmse), "root mean squared error"),
    quality.n_rows > 1 ? card(quality.r2 >= 0 ? percent(quality.r2) : "none",
      `of the variance explained (R\u00b2 ${quality.r2.toFixed(3)})`) : null];
}

// Whether intervals of single outcomes hold what they promise on the rows given.
const coverageCard = () => page.coverage && card(percent(page.coverage.share),
  `of outcomes in intervals meant for ${percent(page.coverage.level)}, half of which are wider than ${
    showError(page.coverage.width)}`);

const SQUARE = { width: 380, height: 260 };
const dashed = (area, from, to) => svgEl("line", { x1: area.x(from[0]), y1: area.y(from[1]), x2: area.x(to[0]),
  y2: area.y(to[1]), stroke: "var(--soft)", "stroke-dasharray": "4 3" });
const linePath = (area, xs, ys) => xs.map((x, k) =>
  `${k ? "L" : "M"}${area.x(x).toFixed(1)},${area.y(ys[k]).toFixed(1)}`).join("");

// Beside a log link offsets are logs of exposures: predictions without them are rates.
const areRates = page.link === "log" && page.had_offsets;

const isOfQuantile = (quality) => "pinball loss" in quality.scores;

function calibrationFigure(quality) {
  const lower = quality.actual_lower, upper = quality.actual_upper;
  const both = range([...quality.predicted, ...quality.actual, ...lower, ...upper]);
  const rates = areRates;
  const x = `mean ${rates ? "predicted rate" : own.response} of a group of rows`;
  const area = plotArea(`Mean ${own.response} against outcomes`, SQUARE, both, both,
    { x, yName: page.classes ? `share of ${ownName()}` : rates ? "mean observed rate"
      : isOfQuantile(quality) ? "quantile of the outcomes" : "mean outcome" });
  area.svg.append(dashed(area, [both[0], both[0]], [both[1], both[1]]));
  quality.predicted.forEach((value, k) => {
    if (lower.length) {
      area.svg.append(svgEl("line", { class: "band", x1: area.x(value), x2: area.x(value), y1: area.y(lower[k]),
        y2: area.y(upper[k]), stroke: "var(--main)", "stroke-width": 2, opacity: 0.4 }));
    }
    area.svg.append(svgEl("circle", { cx: area.x(value), cy: area.y(quality.actual[k]), r: 4.5, fill: "var(--main)" }));
  });
  return el("figure", {}, area.svg, el("figcaption", {},
    `Are predictions right${isOfQuantile(quality) ? "" : " on average"}? Rows are put into ${plural(quality.predicted.length, "group")} by `
    + `their ${rates ? "predicted rate" : own.response}; dots on the dashed line mean that outcomes (upwards) agree `
    + `with predictions (to the right).${lower.length ? " Bars are 90 % intervals for outcomes of more such rows." : ""}`));
}

// Shares of rows and of outcomes among those predicted highest, from nothing to everything.
function ranked(quality) {
  const share = (sums) => [0, ...sums.map((sum) => (sums[sums.length - 1] > 0 ? sum / sums[sums.length - 1] : 0))];
  return { rows: share(quality.weight_above), outcomes: share(quality.outcome_above) };
}

// What rows are weighed by: a column that is called so already needs no second name.
function exposureName() {
  const name = page.offset && page.offset.is_exposure ? page.offset.name : "exposure";
  return name.toLowerCase() === "exposure" ? name : `exposure (${cut(name, 30)})`;
}

function gainFigure(quality) {
  const { rows, outcomes } = ranked(quality);
  const of = areRates ? exposureName() : "rows";
  const area = plotArea("Share of all outcomes in the rows predicted highest", SQUARE, [0, 1], [0, 1],
    { x: `share of the ${of}, predicted highest first`, yName: "share of all outcomes", y: percent });
  area.svg.append(dashed(area, [0, 0], [1, 1]),
    svgEl("path", { d: linePath(area, rows, outcomes), fill: "none", stroke: "var(--main)", "stroke-width": 2 }));
  const k = Math.max(rows.findIndex((share) => share >= 0.1), 1);
  const at = outcomes[k - 1] + (outcomes[k] - outcomes[k - 1]) * (0.1 - rows[k - 1]) / (rows[k] - rows[k - 1] || 1);
  return el("figure", { class: "gain" }, area.svg, el("figcaption", {},
    `Does it find where outcomes are large? The tenth of the ${of} predicted highest has ${percent(at)} of all `
    + `outcomes: a lift of ${(10 * at).toFixed(1)}. On the dashed line a model finds nothing.`));
}

// ROC and precision against recall, with a threshold to move and what it makes of the rows.
function thresholdPanel(quality) {
  const above = quality.weight_above, hits = quality.outcome_above, last = above.length - 1;
  const yes = hits[last], no = above[last] - yes;
  const part = (top, bottom) => (bottom > 0 ? top / bottom : 0);
  const recall = hits.map((hit) => part(hit, yes)), alarms = above.map((sum, k) => part(sum - hits[k], no));
  const precision = hits.map((hit, k) => part(hit, above[k]));
  const roc = plotArea("ROC curve", SQUARE, [0, 1], [0, 1],
    { x: `share of ${otherName()} called ${ownName()}`, yName: `share of ${ownName()} found`, y: percent });
  roc.svg.append(dashed(roc, [0, 0], [1, 1]), curveLine(roc, [0, ...alarms], [0, ...recall]));
  const pr = plotArea("Precision against recall", SQUARE, [0, 1], [0, 1],
    { x: `share of ${ownName()} found (recall)`, yName: "share of calls that are right", y: percent });
  pr.svg.append(dashed(pr, [0, part(yes, yes + no)], [1, part(yes, yes + no)]), curveLine(pr, recall, precision));
  const dots = [roc, pr].map((area) => area.svg.appendChild(svgEl("circle", { r: 5, fill: "var(--ink)" })));
  const matrix = el("div", { class: "confusion" });
  const slider = el("input", { type: "range", min: 0, max: last, step: 1, class: "threshold",
    "aria-label": `Threshold of the ${own.response}`, oninput: () => move(last - Number(slider.value)) });
  const move = (k) => {
    [[alarms[k], recall[k]], [recall[k], precision[k]]].forEach(([x, y], n) => {
      dots[n].setAttribute("cx", [roc, pr][n].x(x));
      dots[n].setAttribute("cy", [roc, pr][n].y(y));
    });
    slider.setAttribute("aria-valuetext", quality.cuts[k].toFixed(3));
    matrix.replaceChildren(confusionTable(quality, k, recall[k], precision[k], alarms[k]));
  };
  const half = Math.max(quality.cuts.filter((cutAt) => cutAt > 0.5).length - 1, 0);
  slider.value = String(last - half);
  move(half);
  const figures = [
    el("figure", {}, roc.svg, el("figcaption", {}, `ROC: of the rows of ${ownName()}, upwards, and of the others, to the `
      + "right, those called so. The more the curve bends to the upper left, the better they are told apart.")),
    el("figure", {}, pr.svg, el("figcaption", {}, `Of the rows called ${ownName()} those that are (precision, upwards), `
      + "against those found of all that are. The dashed line is what calling at random gives.")),
  ];
  return { figures, controls: el("div", { class: "decision" }, el("label", {}, "Threshold ", slider), matrix) };
}

const curveLine = (area, xs, ys) => svgEl("path",
  { d: linePath(area, xs, ys), fill: "none", stroke: "var(--main)", "stroke-width": 2 });

function confusionTable(quality, k, recall, precision, alarms) {
  const { weight_above: above, outcome_above: hits, cuts } = quality, last = above.length - 1;
  const number = (value) => Number(value.toPrecision(6)).toLocaleString("en-US");
  const misses = hits[last] - hits[k], rejected = above[last] - above[k] - misses;
  const [first, second] = [otherName(), ownName()];
  const row = (name, ...values) => el("tr", {}, el("th", { scope: "row" }, name), values.map((v) => el("td", {}, number(v))));
  return el("div", {},
    el("p", {}, `A row is called ${second} where its probability is ${cuts[k].toFixed(3)} or more: this finds ${
      percent(recall)} of all ${second}, is right for ${percent(precision)} of those it calls so, and calls ${
      percent(alarms)} of ${hasClassSums ? "" : "all "}${first} so by mistake.`),
    el("table", { class: "counts" }, el("thead", {}, el("tr", {},
      ["actually", `called ${first}`, `called ${second}`].map((text) => el("th", { scope: "col" }, text)))),
    el("tbody", {}, row(first, rejected, above[k] - hits[k]), row(second, misses, hits[k]))));
}

// Of the rows of every class, how many were called each: the darker, the larger the share of its rows.
function mistakesTable(confusion) {
  const number = (value) => (value ? Number(value.toPrecision(6)).toLocaleString("en-US") : "");
  const cell = (value, total, k, called) => {
    const td = el("td", { title: `${classNames[k]} called ${classNames[called]}` }, number(value));
    if (value > 0) td.style.background = `color-mix(in srgb, var(--fill) ${Math.round(100 * value / total)}%, transparent)`;
    return td;
  };
  const head = el("tr", {}, el("th", { scope: "col" }, "actually"),
    classNames.map((name) => el("th", { scope: "col" }, `called ${name}`)));
  const rows = confusion.map((sizes, k) => {
    const total = sizes.reduce((a, b) => a + b, 0);
    return el("tr", {}, el("th", { scope: "row" }, classNames[k]), sizes.map((size, called) => cell(size, total, k, called)));
  });
  return el("figure", {}, el("div", { class: "wide-table" }, el("table", { class: "counts mistakes" },
    el("thead", {}, head), el("tbody", {}, rows))), el("figcaption", {},
    "Which classes are taken for which: rows by their class (downwards) and by the one that was most likely (to the right)."));
}
