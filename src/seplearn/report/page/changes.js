// What would change the prediction: all changes of one or two features within the data, the smallest first.

// What features may do, by their number: 0 stays, 1 only rises, -1 only falls; all others are free.
const ways = new Map();
const MOST_PAIRED = 40, WORTH_A_SECOND = 0.9, MOST_CHANGES = 6, NEARER = 1.01, ROUNDING = 1e-9;

// How far every bin is from the row's own, in training rows; levels as the mean over all orders.
function costsOf(feature, here) {
  const f = feature.frequencies, ordered = feature.kind === "numeric" ? feature.nOrdered : 0, ranks = [];
  const whole = f.subarray(0, ordered).reduce((sum, one) => sum + one, 0) || 1e-300;
  for (let b = 0, below = 0; b < ordered; below += f[b++]) ranks.push((below + 0.5 * f[b]) / whole);
  return Array.from(f, (_, b) => (here < ordered && b < ordered ? Math.abs(ranks[b] - ranks[here])
    : 0.5 * (f[b] + f[here]) + Math.max(1 - f[b] - f[here], 0) / 3));
}

// Other known values that it may have, the nearest first.
function othersOf(feature) {
  const here = state.codes[feature.index], costs = costsOf(feature, here), way = ways.get(feature.index);
  const isAllowed = (b) => way === undefined ? b !== here : here < feature.nOrdered && way * (b - here) > 0;
  return knownBins(feature).filter((b) => b < feature.nOrdered && isAllowed(b))
    .map((b) => ({ b, cost: costs[b] })).sort((one, other) => one.cost - other.cost);
}

// The total of a sum with two features moved, as a function of their bins.
function overPair(sum, first, second) {
  let still = sum.intercept + effectsAt(sum, state.codes, first.index, second.index);
  const parts = [];
  for (const stage of sum.stages) {
    const starts = [first, second].map((feature) => stage.starts.get(feature.index));
    if (starts.every((start) => start === undefined)) still += contributionOf(stage, state.codes);
    else for (const product of stage.products) {
      const rest = productOf(stage, product, state.codes, first.index, second.index);
      if (rest.sign !== 0) parts.push({ product, starts, ...rest });
    }
  }
  return (...bins) => {
    let total = still;
    if (sum.effects !== null) total += sum.effects[first.offset + bins[0]] + sum.effects[second.offset + bins[1]];
    for (const { product, starts, sign, logSize } of parts) {
      let log = logSize, way = sign;
      for (let k = 0; k < 2; k++) {
        if (starts[k] === undefined) continue;
        log += product.logFactors[starts[k] + bins[k]];
        if (product.negative !== null && product.negative[starts[k] + bins[k]]) way = -way;
      }
      total += way * Math.exp(log);
    }
    return total;
  };
}

// The smallest change of every feature and pair that reaches what is wanted; where none does, what comes nearest.
function changesFor(wanted) {
  const now = responseAt(state.codes), sign = now < wanted ? 1 : -1;
  const gain = (totals) => sign * responseOf(totals), reached = (totals) => gain(totals) >= sign * wanted;
  const used = features.filter((feature) => ways.get(feature.index) !== 0 && isUsed(feature));
  const moved = used.map((feature) => ({ feature, bins: othersOf(feature), cheapest: Infinity,
    profiles: sums.map((sum) => profileOf(sum, feature, state.codes)) })).filter(({ bins }) => bins.length);
  const changes = [];
  for (const one of moved) {
    one.at = (b) => one.profiles.map((totals) => totals[b]);
    one.reach = Math.max(...one.profiles.map((totals) => widthOf(one.bins.map(({ b }) => totals[b]))));
    const first = one.bins.find(({ b }) => reached(one.at(b)));
    if (!first) continue;
    one.cheapest = first.cost;
    changes.push({ moves: [[one.feature, first.b]], size: first.cost });
  }
  const paired = [...moved].sort((a, b) => b.reach - a.reach).slice(0, MOST_PAIRED);
  const pairs = paired.flatMap((first, k) => paired.slice(k + 1).map((second) => [first, second]));
  for (const [first, second] of pairs) {
    const best = smallestPair(first, second, reached, WORTH_A_SECOND * Math.min(first.cheapest, second.cheapest));
    if (best) changes.push(best);
  }
  changes.sort((a, b) => a.size - b.size);
  return { changes, nearest: changes.length ? [] : nearestOf(moved, pairs, gain, sign * now) };
}

// The change of one feature that comes nearest, then that of two if it comes nearer.
function nearestOf(moved, pairs, gain, start) {
  const found = [];
  let best = 0;
  for (const blocks of [movesAlone(moved, gain), movesTogether(pairs, gain)]) {
    let nearest = null;
    for (const { gains, moveAt } of blocks) {
      const top = gains.reduce((most, value) => Math.max(most, value), -Infinity) - start;
      if (!(top > best)) continue;
      best = top;
      nearest = null;
      gains.forEach((value, k) => {
        if (value - start < best * (1 - ROUNDING)) return;
        const move = moveAt(k);
        if (nearest === null || move.size < nearest.size) nearest = move;
      });
    }
    if (nearest !== null) found.push(nearest);
    best *= NEARER;
  }
  return found;
}

function* movesAlone(moved, gain) {
  for (const { feature, bins, at } of moved) {
    yield { gains: Float64Array.from(bins, ({ b }) => gain(at(b))),
      moveAt: (k) => ({ moves: [[feature, bins[k].b]], size: bins[k].cost }) };
  }
}

function* movesTogether(pairs, gain) {
  for (const [first, second] of pairs) {
    const totals = sums.map((sum) => overPair(sum, first.feature, second.feature)), width = second.bins.length;
    const placesOf = (k) => [first.bins[Math.floor(k / width)], second.bins[k % width]];
    const gains = new Float64Array(first.bins.length * width).map((_, k) => {
      const [one, other] = placesOf(k);
      return gain(totals.map((at) => at(one.b, other.b)));
    });
    yield { gains, moveAt: (k) => {
      const [one, other] = placesOf(k);
      return { moves: [[first.feature, one.b], [second.feature, other.b]], size: one.cost + other.cost };
    } };
  }
}

function smallestPair(first, second, reached, below) {
  const totals = sums.map((sum) => overPair(sum, first.feature, second.feature));
  let best = null;
  for (const one of first.bins) {
    for (const other of second.bins) {  // the nearest first: what costs more needs no look
      const size = one.cost + other.cost;
      if (size >= below) break;
      if (reached(totals.map((at) => at(one.b, other.b)))) { best = { moves: [[first.feature, one.b], [second.feature, other.b]], size }; below = size; }
    }
  }
  return best;
}

const widthOf = (values) => Math.max(...values) - Math.min(...values);
const isUsed = (feature) => sums.some((sum) => sum.withEffect.includes(feature)
  || sum.stages.some((stage) => stage.starts.has(feature.index)));

// A value in a bin with few digits, about as near to the row's as can be; whole numbers stay whole where there are any.
function nearValue(feature, b) {
  const now = state.values[feature.index];
  if (feature.kind === "categorical") return feature.levels[b];
  if (feature.has_few_values || typeof now !== "number") return valueIn(feature, b);
  const low = Math.max(b ? feature.edges[b - 1] : -Infinity, feature.range[0]);
  const high = Math.min(b < feature.edges.length ? feature.edges[b] : Infinity, feature.range[1]);
  const [near, away] = now < low ? [low, 1] : [high, -1];
  if (!Number.isFinite(near)) return valueIn(feature, b);
  let found = shortNumbers(near, away);
  if ([now, ...feature.range].every(Number.isInteger)) {
    const nearest = Math.min(Math.max(now, Math.ceil(low)), Math.floor(high));
    found = [...[...found, nearest].filter(Number.isInteger), ...found];
  }
  const isThere = (value) => low <= value && value <= high && binOf(feature, value) === b;
  return found.find(isThere) ?? valueIn(feature, b);
}

// Numbers beside one, on the side that is away from another, those with few digits first.
function shortNumbers(near, away) {
  const found = [];
  for (let digits = 3; digits <= 17; digits++) {
    const step = near === 0 ? 1 : 10 ** (Math.floor(Math.log10(Math.abs(near))) - digits + 1);
    const rounded = away * Math.ceil((away * near) / step) * step;
    for (const value of [rounded, rounded + away * step]) found.push(Number(value.toPrecision(digits)));
  }
  return found;
}

function changesBox() {
  const wanted = el("input", { type: "number", id: "wanted", step: "any", "aria-label": `Wanted ${own.response}` });
  const find = () => tellChanges(wanted.value === "" ? null : Number(wanted.value));
  wanted.addEventListener("keydown", (event) => { if (event.key === "Enter") find(); });
  return el("div", { class: "wanted" }, el("h3", {}, "What would change it?"),
    el("div", { class: "entry" }, el("label", { for: "wanted" }, `Wanted: ${own.response} `), wanted,
      el("button", { type: "button", id: "find", onclick: find }, "Find")),
    el("p", { class: "note" }, "The smallest changes of one or two features, to values in the data. Each may be told "
      + "to stay, only to rise or only to fall, beside its value."),
    el("div", { id: "changes", role: "status" }));
}

function tellChanges(wanted) {
  const isShare = page.link === "logit" || hasClassSums;
  const bad = wanted === null || (isShare && !(wanted > 0 && wanted < 1)) || (page.link === "log" && !(wanted > 0));
  if (bad) {
    return put("changes", el("p", { class: "note" }, `Give ${isShare ? "a probability between 0 and 1"
      : page.link === "log" ? "a positive number" : "a number"}.`));
  }
  if (responseAt(state.codes) === wanted) return put("changes", el("p", {}, "It is there already."));
  const { changes, nearest } = changesFor(wanted);
  if (changes.length) return put("changes", changesList(changes.slice(0, MOST_CHANGES)));
  const none = "No change of one or two features within the data reaches this.";
  put("changes", el("p", {}, nearest.length ? `${none} Nearest to it:` : none), nearest.length ? changesList(nearest) : null);
}

// All digits: it is to be entered elsewhere too.
const exactText = (value) => (typeof value === "number" ? String(value) : stateText(value));

function changesList(changes) {
  return el("ol", { class: "changes" }, changes.map(({ moves, size }) => {
    const values = moves.map(([feature, b]) => nearValue(feature, b));
    const codes = [...state.codes];
    for (const [feature, b] of moves) codes[feature.index] = b;
    const value = responseAt(codes);
    return el("li", { "data-size": size, "data-prediction": value }, moves.map(([feature], k) => el("div", {},
      el("b", {}, cut(feature.name, 60)), ` ${cut(stateText(state.values[feature.index]), 30)} \u2192 ${cut(exactText(values[k]), 30)}`)),
    el("span", { class: "note" }, `${own.response} ${showResponse(value)}; passes ${percent(size)} of the rows${moves.length > 1 ? " in all" : ""} `),
    el("button", { type: "button", onclick: () => {
      moves.forEach(([feature], k) => { state.values[feature.index] = values[k]; });
      refresh();
    } }, "Try"));
  }));
}
