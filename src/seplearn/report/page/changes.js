// What would change the prediction: all changes of one or two features within the data, the smallest first.

const fixed = new Set();
const MOST_PAIRED = 40, WORTH_A_SECOND = 0.9, MOST_CHANGES = 6;

// How far every bin is from the row's own, in training rows; levels as the mean over all orders.
function costsOf(feature, own) {
  const f = feature.frequencies, ordered = feature.kind === "numeric" ? feature.nOrdered : 0, ranks = [];
  const whole = f.subarray(0, ordered).reduce((sum, one) => sum + one, 0) || 1e-300;
  for (let b = 0, below = 0; b < ordered; below += f[b++]) ranks.push((below + 0.5 * f[b]) / whole);
  return Array.from(f, (_, b) => (own < ordered && b < ordered ? Math.abs(ranks[b] - ranks[own])
    : 0.5 * (f[b] + f[own]) + Math.max(1 - f[b] - f[own], 0) / 3));
}

// Other known values, the nearest first.
function othersOf(feature) {
  const own = state.codes[feature.index], costs = costsOf(feature, own);
  return knownBins(feature).filter((b) => b < feature.nOrdered && b !== own)
    .map((b) => ({ b, cost: costs[b] })).sort((one, other) => one.cost - other.cost);
}

// The sum with two features moved, as a function of their bins.
function overPair(first, second) {
  const parts = stages.flatMap((stage) => stage.products).filter((product) => product.sign !== 0).map((product) => {
    const at = (feature, b) => feature.offset + b;
    const rest = productOf(product, state.codes, first.index);
    const own = at(second, state.codes[second.index]);
    const flips = product.negative !== null && product.negative[own];
    return { product, sign: flips ? -rest.sign : rest.sign, log: rest.logSize - product.logFactors[own] };
  });
  const still = effects === null ? 0 : effectsAt(state.codes, first.index) - effects[second.offset + state.codes[second.index]];
  return (a, b) => {
    let sum = page.intercept + still;
    if (effects !== null) sum += effects[first.offset + a] + effects[second.offset + b];
    for (const { product, sign, log } of parts) {
      const i = first.offset + a, j = second.offset + b;
      const flips = product.negative !== null && (product.negative[i] !== product.negative[j]);
      sum += (flips ? -sign : sign) * Math.exp(log + product.logFactors[i] + product.logFactors[j]);
    }
    return sum;
  };
}

function changesFor(wanted) {
  const now = inverse(sumOf(partsAt(state.codes)));
  const reached = now < wanted ? (sum) => inverse(sum) >= wanted : (sum) => inverse(sum) <= wanted;
  const free = features.filter((feature) => !fixed.has(feature.index) && isUsed(feature));
  const found = [], alone = new Map(), reach = new Map(), others = new Map();
  for (const feature of free) {
    const sums = profileOf(feature, state.codes), bins = othersOf(feature);
    const first = bins.find(({ b }) => reached(sums[b]));
    const values = bins.map(({ b }) => sums[b]);
    others.set(feature, bins);
    reach.set(feature, values.length ? Math.max(...values) - Math.min(...values) : 0);
    alone.set(feature, first ? first.cost : Infinity);
    if (first) found.push({ moves: [[feature, first.b]], size: first.cost });
  }
  const paired = [...free].sort((a, b) => reach.get(b) - reach.get(a)).slice(0, MOST_PAIRED);
  paired.forEach((first, k) => paired.slice(k + 1).forEach((second) => {
    const best = smallestPair(first, second, others, reached, WORTH_A_SECOND * Math.min(alone.get(first), alone.get(second)));
    if (best) found.push(best);
  }));
  return found.sort((a, b) => a.size - b.size);
}

function smallestPair(first, second, others, reached, below) {
  const sumAt = overPair(first, second);
  let best = null;
  for (const one of others.get(first)) {
    for (const other of others.get(second)) {  // the nearest first: what costs more needs no look
      const size = one.cost + other.cost;
      if (size >= below) break;
      if (reached(sumAt(one.b, other.b))) { best = { moves: [[first, one.b], [second, other.b]], size }; below = size; }
    }
  }
  return best;
}

const isUsed = (feature) => withEffect.includes(feature) || stages.some((stage) => stage.features.has(feature.index));

// A value in a bin with few digits, about as near to the row's as can be.
function nearValue(feature, b) {
  const now = state.values[feature.index];
  if (feature.kind === "categorical") return feature.levels[b];
  if (feature.has_few_values || typeof now !== "number") return valueIn(feature, b);
  const low = Math.max(b ? feature.edges[b - 1] : -Infinity, feature.range[0]);
  const high = Math.min(b < feature.edges.length ? feature.edges[b] : Infinity, feature.range[1]);
  const [near, away] = now < low ? [low, 1] : [high, -1];
  if (!Number.isFinite(near)) return valueIn(feature, b);
  for (let digits = 3; digits <= 17; digits++) {
    const step = near === 0 ? 1 : 10 ** (Math.floor(Math.log10(Math.abs(near))) - digits + 1);
    const rounded = away * Math.ceil((away * near) / step) * step;
    for (const value of [rounded, rounded + away * step]) {
      const brief = Number(value.toPrecision(digits));
      if (low <= brief && brief <= high && binOf(feature, brief) === b) return brief;
    }
  }
  return valueIn(feature, b);
}

function changesBox() {
  const wanted = el("input", { type: "number", id: "wanted", step: "any", "aria-label": `Wanted ${page.response}` });
  const find = () => tellChanges(wanted.value === "" ? null : Number(wanted.value));
  wanted.addEventListener("keydown", (event) => { if (event.key === "Enter") find(); });
  return el("div", { class: "wanted" }, el("h3", {}, "What would change it?"),
    el("div", { class: "entry" }, el("label", { for: "wanted" }, `Wanted: ${page.response} `), wanted,
      el("button", { type: "button", id: "find", onclick: find }, "Find")),
    el("p", { class: "note" }, "The smallest changes of one or two features, to values in the data. Features that are "
      + "ticked as fixed stay as they are."),
    el("div", { id: "changes", role: "status" }));
}

function tellChanges(wanted) {
  const bad = wanted === null || (page.link === "logit" && !(wanted > 0 && wanted < 1)) || (page.link === "log" && !(wanted > 0));
  if (bad) {
    return put("changes", el("p", { class: "note" }, `Give ${page.link === "logit" ? "a probability between 0 and 1"
      : page.link === "log" ? "a positive number" : "a number"}.`));
  }
  const now = inverse(sumOf(partsAt(state.codes)));
  const changes = now === wanted ? [] : changesFor(wanted).slice(0, MOST_CHANGES);
  if (!changes.length) {
    return put("changes", el("p", {}, now === wanted ? "It is there already."
      : "No change of one or two features within the data reaches this."));
  }
  put("changes", el("ol", { class: "changes" }, changes.map(({ moves, size }) => {
    const values = moves.map(([feature, b]) => nearValue(feature, b));
    const codes = [...state.codes];
    for (const [feature, b] of moves) codes[feature.index] = b;
    const value = inverse(sumOf(partsAt(codes)));
    return el("li", { "data-size": size, "data-prediction": value }, moves.map(([feature], k) => el("div", {},
      el("b", {}, cut(feature.name, 60)), ` ${cut(stateText(state.values[feature.index]), 30)} \u2192 ${cut(stateText(values[k]), 30)}`)),
    el("span", { class: "note" }, `${page.response} ${showResponse(value)}; passes ${percent(size)} of the rows `),
    el("button", { type: "button", onclick: () => {
      moves.forEach(([feature], k) => { state.values[feature.index] = values[k]; });
      refresh();
    } }, "Try"));
  })));
}
