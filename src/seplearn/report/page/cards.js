// A card for every feature that is used: averages, single rows, what it acts together with, all values.

const MOST_LINES = 20, FEW_CARDS = 12, FEW_LEVELS = 10;
const cardBodies = new Map();  // where a card is drawn, when it is opened
// A card is in units of the prediction. Of several classes it is in the score of the one shown, as a
// probability takes the scores of all.
const inResponse = hasLink && !hasClassSums;
const cardUnit = () => (hasClassSums ? own.quantity : own.response);
const showInCard = (value) => (hasClassSums ? show(value) : showResponse(value));

// The sum on average over rows, in every bin of a feature: the curves of all products times constants.
function averageOf(feature, { constants, rest }) {
  const out = new Float64Array(feature.nBins).fill(rest);
  if (own.effects !== null) for (let b = 0; b < feature.nBins; b++) out[b] += own.effects[feature.offset + b];
  const given = doubles(constants);
  let k = 0;
  for (const stage of own.stages) {
    const start = stage.starts.get(feature.index);
    for (const product of stage.products) {
      const constant = given[k++];
      for (let b = 0; b < feature.nBins && constant !== 0; b++) {
        const at = start + b, flips = product.negative !== null && product.negative[at];
        out[b] += start === undefined ? constant : (flips ? -constant : constant) * Math.exp(product.logFactors[at]);
      }
    }
  }
  return out;
}

const bandIn = (given, feature) => {
  if (!given) return null;
  const ends = drawable(given);
  return [ends.subarray(0, feature.nBins), ends.subarray(feature.nBins)];
};

// The rows of the page as bins, at equal steps if they are many.
const codesOfRow = (row) => features.map((feature, j) => binOf(feature, valueFromRow(feature, row.values[j])));
function someRows(most) {
  const n = Math.min(most, page.rows.length);
  return Array.from({ length: n }, (_, k) => codesOfRow(page.rows[Math.floor((k * page.rows.length) / n)]));
}

function tellCards() {
  cardBodies.clear();
  if (!own.cards || !own.cards.length) {
    put("cards-body", el("p", { class: "note" }, own.isConstant
      ? `The ${hasClassSums ? own.quantity : "model"} is a constant: no feature does anything${hasClassSums ? " to it" : ""}.`
      : "Averages take rows: the model keeps none, and no table was given."));
    return;
  }
  const boxes = own.cards.map(cardBox), idle = features.length - boxes.length;
  const search = el("input", { type: "search", id: "find-feature", placeholder: "Find a feature",
    "aria-label": "Find a feature", oninput: () => {
      const wanted = search.value.trim().toLowerCase();
      boxes.forEach((box, k) => { box.hidden = !features[own.cards[k].feature].name.toLowerCase().includes(wanted); });
    } });
  put("cards-body", el("p", { class: "lead" }, `The most important first, in ${hasLink ? `the ${cardUnit()}`
    : "units of the prediction"}. ${idle === 0 ? "" : `${plural(idle, "feature")} of ${features.length} ${
    idle === 1 ? "is" : "are"} not used.`}${hasClassSums ? " The probability takes the scores of all classes: it is in the "
    + "what-if panel." : ""}`),
  boxes.length > FEW_CARDS ? search : null, boxes);
  boxes[0].open = true;
}

function cardBox(card) {
  const feature = features[card.feature], body = el("div", { class: "card-body" });
  cardBodies.set(card, body);
  const box = el("details", { class: "stage", "data-card": card.feature },
    el("summary", {}, el("b", {}, cut(feature.name, 120)), " ", el("span", { class: "note" },
      `moves ${hasLink ? `the ${own.quantity}` : "a prediction"} by ${show(card.importance)} on average`),
    card.sentences.map((sentence) => el("p", {}, sentence))), body);
  box.addEventListener("toggle", () => { if (box.open) drawCard(card); });
  return box;
}

// Drawn once, when it is opened: with hundreds of features the page opens no later.
function drawCard(card) {
  const body = cardBodies.get(card);
  if (!body || body.hasChildNodes()) return;  // of a class that is no longer shown, or drawn already
  const feature = features[card.feature], averages = averageOf(feature, card.curve);
  const shown = inResponse ? doubles(card.average) : averages;
  const band = bandIn(inResponse ? card.average_band : card.band, feature);
  const rows = someRows(MOST_LINES).map((codes) => profileOf(own, feature, codes))
    .map((totals) => (inResponse ? totals.map(inverse) : totals));
  const figures = [averageFigure(feature, card, { values: shown, band, rows })];
  if (inResponse) figures.push(factorFigure(feature, card, { values: averages.map((v) => v - card.mean),
    band: bandIn(card.band, feature)?.map((end) => end.map((v) => v - card.mean)) }));
  if (own.withEffect.includes(feature)) figures.push(curveFigure(feature, effectOf(feature), "effect", null,
    hasLink ? `Main effect: what it adds to the ${own.quantity} outside the stages`
      : "Main effect: what it adds outside the stages"));
  figures.push(...card.partners.filter((partner) => partner.curves.length).map((one) => besideFigure(feature, card, one)));
  const rest = card.partners.filter((partner) => !partner.curves.length);
  body.replaceChildren(
    el("div", { class: "tiles large" }, figures),
    rest.length ? el("p", { class: "note" }, `Less strongly it acts together with ${rest.map((one) =>
      `${cut(features[one.feature].name, 40)} (${percent(one.strength)})`).join(", ")}.`) : "",
    valuesBox(feature, { averages, shown, band }));
}

function averageFigure(feature, card, curve) {
  const spread = inResponse ? own.response_spread : own.spread;
  const drawn = feature.kind === "categorical" ? { ...curve, rows: null } : curve;
  return el("figure", {}, curveChart(feature, drawn, { label: `${cardUnit()} by ${feature.name}, on average`,
    colour: "var(--main)", baseline: inResponse ? card.average_mean : card.mean, least: 0.01 * (spread || 0),
    yText: feature.kind === "categorical" ? showInCard : undefined, most: FEW_LEVELS }),
  el("figcaption", {}, `${capital(cardUnit())} on average over the rows${curve.band ? ", with its band" : ""}${
    feature.kind === "numeric" && curve.rows.length ? `, and of ${plural(curve.rows.length, "row")} (thin)` : ""
  }; dashed: the mean.${feature.kind === "numeric" && feature.frequencies[feature.missing] > 0
    ? " Open circle: where the value is missing." : ""}`));
}

function factorFigure(feature, card, curve) {
  const name = page.link === "logit" ? "Odds ratio" : "Relativity";
  return el("figure", {}, curveChart(feature, curve, { label: `${name} of ${feature.name}`, colour: "var(--tilt)",
    baseline: 0, least: 0.1, yTicks: multipleTicks, most: FEW_LEVELS,
    yText: (v) => `\u00d7${short(Number(Math.exp(v).toPrecision(3)))}` }),
  el("figcaption", {}, `${name}: what the ${page.link === "logit" ? "odds" : "prediction"} are multiplied by, beside the mean.`
    .replace("prediction are", "prediction is")));
}

// The curve of the feature at low, middle and high values of another.
function besideFigure(feature, card, partner) {
  const [values, ...beside] = partner.curves.map((given) => averageOf(feature, given));
  const other = cut(features[partner.feature].name, 60);
  const options = { label: `${own.quantity} by ${feature.name} and ${features[partner.feature].name}`,
    colour: "var(--main)", baseline: card.mean, least: 0.01 * (own.spread || 0) };
  return el("figure", { "data-partner": partner.feature },
    feature.kind === "numeric" ? stepChart(feature, { values, beside }, options)
      : dotChart(feature, [values, ...beside], options),
    el("div", { class: "key" }, partner.values.map((value, k) =>
      el("span", {}, el("i", { class: `k${k}` }), `${k === 0 ? `${other} ` : ""}${cut(value, 30)}`))),
    el("figcaption", {}, `${hasLink ? `${capital(own.quantity)} w` : "W"}ith ${other}: they act together in parts that are ${
      percent(partner.strength)} of the variance, were features independent of each other.`));
}

// A dot per level and curve, the most frequent levels first.
function dotChart(feature, curves, { label, baseline }) {
  const known = knownBins(feature).slice(0, FEW_LEVELS);
  const row = 17, width = 270, left = 112, right = width - 12, height = known.length * row + 22;
  const [low, high] = range(curves.flatMap((values) => known.map((b) => values[b])), [baseline]);
  const x = (v) => left + ((v - low) / (high - low)) * (right - left);
  const svg = svgEl("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
  svg.append(svgEl("line", { x1: x(baseline), x2: x(baseline), y1: 0, y2: known.length * row,
    stroke: "var(--soft)", "stroke-dasharray": "3 3" }));
  const called = cutApart(known.map((b) => levelName(feature, b)), 14);
  known.forEach((b, k) => {
    const y = k * row + 9, name = levelName(feature, b);
    svg.append(svgEl("line", { x1: left, x2: right, y1: y, y2: y, stroke: "var(--line)" }),
      svgEl("text", { class: "name", x: left - 6, y: y + 4, "text-anchor": "end" }, svgEl("title", {}, name), called[k]));
    curves.forEach((values, n) => svg.append(svgEl("circle", { cx: x(values[b]), cy: y, r: 4.5,
      fill: n ? `var(--beside-${n})` : "var(--main)" })));
  });
  const ends = ticks(low, high, 3), text = tickText(ends);
  ends.forEach((tick) => svg.append(svgEl("text", { x: x(tick), y: height - 4, "text-anchor": "middle" }, text(tick))));
  return svg;
}

const levelName = (feature, b) => [...feature.levels, "(rare)", "(missing)", "(unseen)"][b];
const knownBins = (feature) => Array.from(feature.frequencies, (_, b) => b).filter((b) => feature.frequencies[b] > 0)
  .sort((a, b) => (feature.kind === "numeric" ? a - b : feature.frequencies[b] - feature.frequencies[a]));

function binText(feature, b) {
  if (feature.kind === "categorical") return levelName(feature, b);
  if (b === feature.missing) return "(missing)";
  if (feature.has_few_values) return String(Number(feature.values[b].toPrecision(6)));
  const edge = (k) => String(Number(feature.edges[k].toPrecision(6)));
  if (!feature.edges.length) return "any number";
  if (b === 0) return `below ${edge(0)}`;
  return b === feature.edges.length ? `${edge(b - 1)} and above` : `${edge(b - 1)} to ${edge(b)}`;
}

// All values of a feature with their numbers, to be searched and sorted; open where a chart has no room for them.
function valuesBox(feature, curves) {
  const many = feature.kind === "categorical" && knownBins(feature).length > FEW_LEVELS;
  const box = el("details", { class: "all-values" }, el("summary", {}, "All values"));
  const complete = () => { if (box.open && box.children.length === 1) box.append(...valuesTable(feature, curves)); };
  box.addEventListener("toggle", complete);
  box.open = many;
  return box;
}

function valuesTable(feature, { averages, shown, band }) {
  const columns = [
    { head: feature.kind === "numeric" ? "value" : "level", of: (b) => b, text: (b) => binText(feature, b) },
    { head: "share of rows", of: (b) => feature.frequencies[b], text: (b) => percent(feature.frequencies[b]) },
    { head: cardUnit(), of: (b) => shown[b], text: (b) => showInCard(shown[b]) },
    inResponse ? { head: own.quantity, of: (b) => averages[b], text: (b) => show(averages[b]) } : null,
    band ? { head: "90 % of refits", of: (b) => band[1][b] - band[0][b],
      text: (b) => `${showInCard(band[0][b])} to ${showInCard(band[1][b])}` } : null,
  ].filter(Boolean);
  const sorted = { column: -1, down: false };
  const body = el("tbody", {}), note = el("p", { class: "note", role: "status" });
  const search = el("input", { type: "search", "aria-label": `Find a value of ${feature.name}`,
    placeholder: "Find a value", oninput: () => list() });
  const heads = columns.map((column, k) => el("th", { scope: "col" },
    el("button", { type: "button", title: "Sort", onclick: () => {
      sorted.down = sorted.column === k ? !sorted.down : k > 0;
      sorted.column = k;
      heads.forEach((head, n) => { if (n === k) head.setAttribute("aria-sort", sorted.down ? "descending" : "ascending");
        else head.removeAttribute("aria-sort"); });
      list();
    } }, cut(column.head, 30))));
  const all = knownBins(feature);
  function list() {
    const wanted = search.value.trim().toLowerCase();
    const found = all.filter((b) => binText(feature, b).toLowerCase().includes(wanted));
    if (sorted.column >= 0) {
      const { of, text } = columns[sorted.column], way = sorted.down ? -1 : 1;
      found.sort((a, b) => way * (sorted.column === 0 && feature.kind === "categorical"
        ? text(a).localeCompare(text(b)) : of(a) - of(b)));
    }
    body.replaceChildren(...found.map((b) => el("tr", { "data-bin": b }, columns.map((column, k) =>
      el("td", k === 0 ? {} : { "data-value": column.of(b) }, k === 0 ? cut(column.text(b), 80) : column.text(b))))));
    note.textContent = wanted ? `${found.length} of ${plural(all.length, "value")}` : "";
  }
  list();
  return [all.length > FEW_LEVELS ? search : null, note,
    el("div", { class: "values", tabindex: 0, role: "region", "aria-label": `All values of ${feature.name}` },
      el("table", {}, el("thead", {}, el("tr", {}, heads)), body))].filter(Boolean);
}
