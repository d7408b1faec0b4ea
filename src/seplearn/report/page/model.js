// The model: bins, products, stages. The same sums as in Python, so the same numbers.

const page = JSON.parse(document.getElementById("content").textContent);

function bytesOf(text) {
  const raw = atob(text);
  const out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
  return out;
}

const doubles = (text) => new Float64Array(bytesOf(text).buffer);

function drawable(rounded) {
  const steps = new Uint16Array(bytesOf(rounded.data).buffer);
  return Float64Array.from(steps, (step) => rounded.low + step * rounded.step);
}

function featureFrom(given, index, offset) {
  const feature = { ...given, index, offset, frequencies: doubles(given.frequencies) };
  if (given.kind === "numeric") {
    feature.edges = doubles(given.edges);
    feature.bounds = doubles(given.bounds);
    feature.range = doubles(given.range);
    feature.values = doubles(given.values);
    feature.nOrdered = feature.edges.length + 1;
    feature.missing = feature.nOrdered;
  } else {
    feature.places = new Map(given.levels.map((level, b) => [level, b]));
    feature.rareLevels = new Set(given.rare);
    feature.otherNames = new Map(Object.entries(given.other_names));
    feature.nOrdered = given.levels.length;
    feature.missing = feature.nOrdered + 1;
  }
  feature.nBins = feature.frequencies.length;
  return feature;
}

const features = [];
let nFlat = 0;
for (const [index, given] of page.features.entries()) {
  features.push(featureFrom(given, index, nFlat));
  nFlat += features[index].nBins;
}

// A sum of constant, main effects and stages. Of several classes there is one for each, their
// scores; any other model has one. Stages hold curves of their own features only.
function readStage(given, number) {
  const [backbone, tilt] = [given.log_backbone, given.tilt].map((text) => text && doubles(text));
  const starts = new Map();  // where the curve of a feature begins
  let size = 0;
  for (const j of given.features) {
    starts.set(j, size);
    size += features[j].nBins;
  }
  return {
    number,
    name: given.name,
    kind: given.kind,
    starts,
    size,
    backbone,
    tilt,
    products: given.products.map((product) => ({
      sign: product.sign,
      logScale: product.log_scale,
      // Of two products the one that adds has backbone plus tilt, the other backbone minus tilt.
      logFactors: product.log_factors === null ? backbone.map((log, b) => log + product.sign * tilt[b])
        : doubles(product.log_factors),
      negative: product.negative === null ? null : bytesOf(product.negative),
    })),
    bands: Object.fromEntries(Object.entries(given.bands).map(([k, v]) => [k, drawable(v)])),
  };
}

const partOf = (array, feature) => array.subarray(feature.offset, feature.offset + feature.nBins);

const sums = page.sums.map((given, index) => {
  const stages = given.stages.map(readStage);
  // Main effects: a curve per feature that is simply added; null for a model without.
  const effects = given.effects && doubles(given.effects);
  const order = features.map((_, j) => j);  // the features, what matters most first
  if (given.matters) order.sort((a, b) => given.matters.importance[b] - given.matters.importance[a]);
  return {
    ...given,
    index,
    stages,
    effects,
    effectBands: given.effect_bands && drawable(given.effect_bands),
    isConstant: !stages.length && effects === null,
    withEffect: effects === null ? [] : features.filter((feature) => partOf(effects, feature).some((v) => v !== 0)),
    order,
  };
});
const hasClassSums = page.link === "softmax";
let own = sums[0];  // the one that is shown; of several classes another can be chosen

// A value is a number, the name of a level, or {is: "missing" | "rare" | "unseen"}.
function binOf(feature, value) {
  if (feature.kind === "numeric") {
    if (typeof value !== "number" || Number.isNaN(value)) return feature.missing;
    let low = 0, high = feature.edges.length;
    while (low < high) {  // how many edges are at or below the value
      const middle = (low + high) >> 1;
      if (feature.edges[middle] <= value) low = middle + 1; else high = middle;
    }
    return low;
  }
  if (typeof value === "object") {
    return feature.nOrdered + { rare: 0, missing: 1, unseen: 2 }[value.is];
  }
  const level = feature.otherNames.get(value) ?? value;  // "1" is True where levels are truth values
  if (feature.places.has(level)) return feature.places.get(level);
  return feature.nOrdered + (feature.rareLevels.has(level) ? 0 : 2);
}

function productOf(stage, product, codes, ...without) {
  let logSize = product.logScale, sign = product.sign;
  for (const [j, start] of stage.starts) {
    if (without.includes(j)) continue;
    logSize += product.logFactors[start + codes[j]];
    if (product.negative !== null && product.negative[start + codes[j]]) sign = -sign;
  }
  return { logSize, sign };
}

function contributionOf(stage, codes) {
  let total = 0;
  for (const product of stage.products) {
    const { logSize, sign } = productOf(stage, product, codes);
    if (sign !== 0) total += sign * Math.exp(logSize);
  }
  return total;
}

function effectsAt(sum, codes, ...without) {
  if (sum.effects === null) return 0;
  return features.reduce((total, feature, j) => (without.includes(j) ? total : total + sum.effects[feature.offset + codes[j]]), 0);
}

const partsAt = (sum, codes) => ({
  effects: effectsAt(sum, codes),
  stages: sum.stages.map((stage) => contributionOf(stage, codes)),
});
const totalOf = (sum, parts) => parts.stages.reduce((total, part) => total + part, sum.intercept + parts.effects);

// From the sum of all parts to the prediction, as Link.inverse in Python.
const hasLink = page.link !== "identity";
function inverse(total) {
  if (!hasLink) return total;
  const bounded = Math.min(Math.max(total, -700), 700);
  if (page.link === "log") return Math.exp(bounded);
  const small = Math.exp(-Math.abs(bounded));
  return (total >= 0 ? 1 : total > -700 ? small : 0) / (1 + small);
}

// The probabilities of classes from their scores, as class_shares in Python.
function classShares(totals) {
  const top = Math.max(...totals);
  const sizes = totals.map((total) => Math.exp(total - top));
  const all = sizes.reduce((a, b) => a + b, 0);
  return sizes.map((size) => size / all);
}

const totalsAt = (codes) => sums.map((sum) => totalOf(sum, partsAt(sum, codes)));
const sharesAt = (codes) => classShares(totalsAt(codes));
// What is predicted where the sums have these totals; of several classes the probability of the one shown.
const responseOf = (totals) => (hasClassSums ? classShares(totals)[own.index] : inverse(totals[0]));
const responseAt = (codes) => responseOf(totalsAt(codes));

// A sum in every bin of one feature, all others held where they are.
function profileOf(sum, feature, codes) {
  const j = feature.index;
  const out = new Float64Array(feature.nBins).fill(sum.intercept + effectsAt(sum, codes, j));
  if (sum.effects !== null) for (let b = 0; b < feature.nBins; b++) out[b] += sum.effects[feature.offset + b];
  for (const stage of sum.stages) {
    if (!stage.starts.has(j)) {
      const same = contributionOf(stage, codes);
      for (let b = 0; b < feature.nBins; b++) out[b] += same;
      continue;
    }
    for (const product of stage.products) {
      const rest = productOf(stage, product, codes, j);
      if (rest.sign === 0) continue;
      for (let b = 0; b < feature.nBins; b++) {
        const at = stage.starts.get(j) + b;
        const flips = product.negative !== null && product.negative[at];
        out[b] += (flips ? -rest.sign : rest.sign) * Math.exp(rest.logSize + product.logFactors[at]);
      }
    }
  }
  return out;
}

// What is predicted in every bin of one feature.
function responsesOver(feature, codes) {
  const all = sums.map((sum) => profileOf(sum, feature, codes));
  return all[0].map((_, b) => responseOf(all.map((totals) => totals[b])));
}

const effectOf = (feature) => ({
  values: partOf(own.effects, feature),
  band: own.effectBands && [own.effectBands.subarray(0, nFlat), own.effectBands.subarray(nFlat)]
    .map((end) => partOf(end, feature)),
});

// The curves a stage is read by, over all bins of one feature.
function curvesOf(stage, feature) {
  const start = stage.starts.get(feature.index);
  const part = (array, from = 0) => (start === undefined ? new Float64Array(feature.nBins)
    : array.subarray(from + start, from + start + feature.nBins));
  const band = (name) => stage.bands[name] && [0, stage.size].map((from) => part(stage.bands[name], from));
  const curves = {};
  if (stage.backbone) curves.backbone = { values: part(stage.backbone), band: band("backbone") };
  if (stage.tilt) curves.tilt = { values: part(stage.tilt), band: band("tilt") };
  if (stage.backbone) return curves;
  return {
    factors: stage.products.map((product) => ({
      values: part(product.logFactors).map((log, b) =>
        Math.exp(log) * (product.negative !== null && part(product.negative)[b] ? -1 : 1)),
    })),
  };
}
