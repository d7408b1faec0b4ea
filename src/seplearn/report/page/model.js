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

const stages = page.stages.map((given, number) => {
  const [backbone, tilt] = [given.log_backbone, given.tilt].map((text) => text && doubles(text));
  return {
    number,
    name: given.name,
    kind: given.kind,
    features: new Set(given.features),  // those that the stage depends on
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
});

// Main effects: a curve per feature that is simply added; null for a model without.
const effects = page.effects && doubles(page.effects);
const effectBands = page.effect_bands && drawable(page.effect_bands);
const isConstant = !stages.length && effects === null;

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
  if (feature.places.has(value)) return feature.places.get(value);
  return feature.nOrdered + (feature.rareLevels.has(value) ? 0 : 2);
}

function productOf(product, codes, without = -1) {
  let logSize = product.logScale, sign = product.sign;
  for (let j = 0; j < codes.length; j++) {
    if (j === without) continue;
    const at = features[j].offset + codes[j];
    logSize += product.logFactors[at];
    if (product.negative !== null && product.negative[at]) sign = -sign;
  }
  return { logSize, sign };
}

function contributionOf(stage, codes) {
  let sum = 0;
  for (const product of stage.products) {
    const { logSize, sign } = productOf(product, codes);
    if (sign !== 0) sum += sign * Math.exp(logSize);
  }
  return sum;
}

function effectsAt(codes, without = -1) {
  if (effects === null) return 0;
  return features.reduce((sum, feature, j) => (j === without ? sum : sum + effects[feature.offset + codes[j]]), 0);
}

const partsAt = (codes) => ({
  effects: effectsAt(codes),
  stages: stages.map((stage) => contributionOf(stage, codes)),
});
const sumOf = (parts) => parts.stages.reduce((sum, part) => sum + part, page.intercept + parts.effects);

// From the sum of all parts to the prediction, as Link.inverse in Python.
const hasLink = page.link !== "identity";
function inverse(sum) {
  if (!hasLink) return sum;
  const bounded = Math.min(Math.max(sum, -700), 700);
  if (page.link === "log") return Math.exp(bounded);
  const small = Math.exp(-Math.abs(bounded));
  return (sum >= 0 ? 1 : sum > -700 ? small : 0) / (1 + small);
}

// The sum in every bin of one feature, all others held where they are.
function profileOf(feature, codes) {
  const out = new Float64Array(feature.nBins).fill(page.intercept + effectsAt(codes, feature.index));
  if (effects !== null) for (let b = 0; b < feature.nBins; b++) out[b] += effects[feature.offset + b];
  for (const stage of stages) {
    for (const product of stage.products) {
      const rest = productOf(product, codes, feature.index);
      if (rest.sign === 0) continue;
      for (let b = 0; b < feature.nBins; b++) {
        const at = feature.offset + b;
        const flips = product.negative !== null && product.negative[at];
        out[b] += (flips ? -rest.sign : rest.sign) * Math.exp(rest.logSize + product.logFactors[at]);
      }
    }
  }
  return out;
}

const partOf = (array, feature) => array.subarray(feature.offset, feature.offset + feature.nBins);
const bandOf = (both, feature) =>
  both && [partOf(both.subarray(0, nFlat), feature), partOf(both.subarray(nFlat), feature)];
const withEffect = effects === null ? [] : features.filter((feature) => partOf(effects, feature).some((v) => v !== 0));
const effectOf = (feature) => ({ values: partOf(effects, feature), band: bandOf(effectBands, feature) });

// The curves a stage is read by, over all bins of one feature.
function curvesOf(stage, feature) {
  const part = (array) => partOf(array, feature);
  const band = (name) => bandOf(stage.bands[name], feature);
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
