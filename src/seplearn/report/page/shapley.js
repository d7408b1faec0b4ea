// Exact Shapley values of the row at hand against the rows of the page, as in Python.

const MOST_WORK = 3e7;  // multiplications for one row

// Nodes and weights of Gauss-Legendre quadrature between 0 and 1.
function quadrature(n) {
  const nodes = [], weights = [];
  for (let i = 0; i < n; i++) {
    let x = Math.cos((Math.PI * (i + 0.75)) / (n + 0.5)), slope = 1;
    for (let step = 0; step < 100; step++) {
      let before = 1, value = x;
      for (let k = 2; k <= n; k++) [before, value] = [value, ((2 * k - 1) * x * value - (k - 1) * before) / k];
      slope = n === 1 ? 1 : (n * (x * value - before)) / (x * x - 1);
      const move = value / slope;
      x -= move;
      if (Math.abs(move) < 1e-15) break;
    }
    nodes.push(0.5 + 0.5 * x);
    weights.push(1 / ((1 - x * x) * slope * slope));
  }
  return { nodes, weights };
}

// Of every product of a sum: who takes part, the factors of the rows compared with, the quadrature.
const madeGames = new Map();
function gamesOf(sum) {
  if (!madeGames.has(sum)) madeGames.set(sum, makeGames(sum));
  return madeGames.get(sum);
}

function makeGames(sum) {
  const products = sum.stages.flatMap((stage) => stage.products.filter((product) => product.sign !== 0)
    .map((product) => ({ stage, product, used: features.filter((feature) => takesPart(stage, product, feature)) })));
  const work = products.reduce((all, { used }) => all + 1.5 * used.length * (used.length + 1), 1);
  const n = Math.min(page.rows.length, Math.max(20, Math.floor(MOST_WORK / work)));
  const chosen = Array.from({ length: n }, (_, k) => page.rows[Math.floor((k * page.rows.length) / n)]);
  const whole = chosen.reduce((all, row) => all + row.weight, 0);
  const weight = chosen.map((row) => row.weight / whole), codes = chosen.map(codesOfRow);
  for (const game of products) {
    Object.assign(game, quadrature(Math.ceil(game.used.length / 2)));
    game.there = game.used.map((feature) => Float64Array.from(codes, (row) => factorAt(game, feature, row[feature.index])));
  }
  const effect = features.map((feature, j) => (sum.effects === null ? 0
    : codes.reduce((mean, row, z) => mean + weight[z] * sum.effects[feature.offset + row[j]], 0)));
  const base = codes.reduce((mean, row, z) => mean + weight[z] * totalOf(sum, partsAt(sum, row)), 0);
  return { products, weight, effect, base, n };
}

function takesPart(stage, product, feature) {
  const start = stage.starts.get(feature.index);
  for (let at = start; at < start + feature.nBins; at++) {  // never where the stage does not have it
    if (product.logFactors[at] !== 0 || (product.negative !== null && product.negative[at])) return true;
  }
  return false;
}

// The size of the product is spread over its factors, to keep them in range.
function factorAt({ stage, product, used }, feature, code) {
  const at = stage.starts.get(feature.index) + code, size = Math.exp(product.logFactors[at] + product.logScale / used.length);
  return product.negative !== null && product.negative[at] ? -size : size;
}

function shapleyAt(codes) {
  const { products, weight, effect, base, n } = gamesOf(own);
  const values = features.map((feature, j) => (own.effects === null ? 0
    : own.effects[feature.offset + codes[j]] - effect[j]));
  for (const game of products) addShapley(game, codes, weight, values);
  return { values, base, n };
}

function addShapley(game, codes, weight, values) {
  const { used, there, nodes, weights, product } = game, p = used.length;
  const here = used.map((feature) => factorAt(game, feature, codes[feature.index]));
  const mixed = new Float64Array(p), before = new Float64Array(p), integral = new Float64Array(p);
  for (let z = 0; z < weight.length; z++) {
    integral.fill(0);
    for (let s = 0; s < nodes.length; s++) {
      let product_before = 1, behind = weights[s];
      for (let k = 0; k < p; k++) {
        mixed[k] = nodes[s] * here[k] + (1 - nodes[s]) * there[k][z];
        before[k] = product_before;
        product_before *= mixed[k];
      }
      for (let k = p - 1; k >= 0; k--) {
        integral[k] += before[k] * behind;
        behind *= mixed[k];
      }
    }
    for (let k = 0; k < p; k++) {
      values[used[k].index] += product.sign * weight[z] * (here[k] - there[k][z]) * integral[k];
    }
  }
}

// From the average to the sum of this row, feature by feature.
function drawShapley() {
  const { values, base, n } = shapleyAt(state.codes);
  const sizes = own.order.filter((j) => values[j] !== 0).sort((a, b) => Math.abs(values[b]) - Math.abs(values[a]));
  const shown = sizes.slice(0, sizes.length > 11 ? 10 : 11), rest = sizes.slice(shown.length);
  const steps = shown.map((j) => ({ feature: j, size: values[j],
    text: `${cut(features[j].name, 60)}: ${cut(stateText(state.values[j]), 30)}` }));
  if (rest.length) steps.push({ text: plural(rest.length, "other feature"), size: rest.reduce((s, j) => s + values[j], 0) });
  const average = `average of ${plural(n, "row")}`;
  put("shapley", fallsTable(steps, base, average, `What every feature does to the ${own.quantity}, beside the ${average}: `
    + "exact Shapley values"));
}
