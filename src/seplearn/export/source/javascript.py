"""A model as a JavaScript module without dependencies."""

from __future__ import annotations

import json
from typing import Any

from seplearn.export.json import level_bins
from seplearn.export.source.text import head_lines, joined, numbers
from seplearn.losses.links import LARGEST_LOG as LARGEST_LINKED
from seplearn.model.stage import LARGEST_LOG

_FUNCTIONS = """
const isMissing = (value) => value === null || value === undefined || Number.isNaN(value);

// The name of a level: the same for 1 and "1". Numbers are spelled as Python spells them.
function levelName(name, value) {
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "bigint") return value.toString();
  if (typeof value !== "number") throw new TypeError(`${name} must be a text or a number`);
  if (Number.isInteger(value)) return BigInt(value).toString();
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  if (Math.abs(value) >= 1e-4) return String(value);
  const [digits, exponent] = value.toExponential().split("e-");
  return `${digits}e-${exponent.padStart(2, "0")}`;
}

// The number of edges at or below a value.
function countEdges(edges, value) {
  let low = 0;
  let high = edges.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (edges[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

// The bin of a row's value; the row must have the feature, but its value may be missing.
function binOf(feature, row) {
  const { name, edges, levels, nLevels } = feature;
  if (!Object.prototype.hasOwnProperty.call(row, name)) throw new Error(`row lacks ${name}`);
  const value = row[name];
  if (edges === undefined) {
    if (isMissing(value)) return nLevels + 1;
    return levels.get(levelName(name, value)) ?? nLevels + 2;
  }
  if (isMissing(value)) return edges.length + 1;
  if (!["number", "boolean", "bigint"].includes(typeof value)) {
    throw new TypeError(`${name} must be a number`);
  }
  return countEdges(edges, Number(value));
}

function valueOf(product, bins) {
  let sign = product.sign;
  let logSize = 0;
  for (const { feature, logSizes, negative } of product.curves) {
    logSize += logSizes[bins[feature]];
    if (negative !== undefined && negative[bins[feature]]) sign = -sign;
  }
  return sign * Math.exp(Math.min(logSize + product.logScale, LARGEST_LOG));
}

// Main effects and stages of a row, and what they add up to with the constant.
function partsOf(terms, bins) {
  const effects = terms.effects.map(({ feature, values }) => values[bins[feature]]);
  const stages = terms.stages.map(({ products }) =>
    products.reduce((total, product) => total + valueOf(product, bins), 0),
  );
  let sum = effects.reduce((total, value) => total + value, 0) + terms.intercept;
  for (const stage of stages) sum += stage;
  sum = Math.min(Math.max(sum, -Number.MAX_VALUE), Number.MAX_VALUE);
  return { effects, stages, sum };
}

const binsOf = (row) => FEATURES.map((feature) => binOf(feature, row));

function sumsOf(row) {
  const bins = binsOf(row);
  return SUMS.map((terms) => partsOf(terms, bins).sum);
}
"""

_ONE_SUM = """
function sumOf(row, offset) {
  if (!Number.isFinite(offset)) throw new RangeError(`offset must be finite, got ${offset}`);
  return sumsOf(row)[0] + offset;
}
"""

_ROW = "// The prediction for a row, an object of names of features to values; null is missing."
_PREDICT = {
    "identity": f"""
{_ROW}
export function predict(row, offset = 0) {{
  return sumOf(row, offset);
}}
""",
    "log": f"""
{_ROW}
// offset is added to the log of the prediction: the log of an exposure, say.
export function predict(row, offset = 0) {{
  return Math.exp(Math.min(Math.max(sumOf(row, offset), -LARGEST_SUM), LARGEST_SUM));
}}
""",
    "logit": """
function probability(logOdds) {
  const small = Math.exp(-Math.min(Math.abs(logOdds), LARGEST_SUM));
  if (logOdds >= 0) return 1 / (1 + small);
  return logOdds > -LARGEST_SUM ? small / (1 + small) : 0;
}

// The probability of every class, in the order of CLASSES; offset is added to the log-odds.
export function predictProba(row, offset = 0) {
  const logOdds = sumOf(row, offset);
  return [probability(-logOdds), probability(logOdds)];
}

// The likelier class for a row, an object of names of features to values; null is missing.
export function predict(row, offset = 0) {
  return sumOf(row, offset) > 0 ? CLASSES[1] : CLASSES[0];
}
""",
    "softmax": """
// The probability of every class, in the order of CLASSES.
export function predictProba(row) {
  const sums = sumsOf(row);
  const top = Math.max(...sums);
  const sizes = sums.map((sum) => Math.exp(sum - top));
  const all = sizes.reduce((total, size) => total + size, 0);
  return sizes.map((size) => size / all);
}

// The likeliest class for a row, an object of names of features to values; null is missing.
export function predict(row) {
  const sums = sumsOf(row);
  return CLASSES[sums.indexOf(Math.max(...sums))];
}
""",
}

_EXPLAIN_SUM = """
function explainSum(terms, bins) {
  const { effects, stages, sum } = partsOf(terms, bins);
  return {
    intercept: terms.intercept,
    effects: terms.effects.map(({ feature }, k) => [FEATURES[feature].name, effects[k]]),
    stages: terms.stages.map(({ name }, k) => [name, stages[k]]),
    sum,
  };
}
"""

_EXPLAIN = """
// What adds up to the sum: the constant, main effects by feature, and stages in order.
export function explain(row) {
  return explainSum(SUMS[0], binsOf(row));
}
"""

_EXPLAIN_CLASSES = """
// Of every class, in the order of CLASSES, what adds up to its sum, the score.
export function explain(row) {
  const bins = binsOf(row);
  return SUMS.map((terms) => explainSum(terms, bins));
}
"""


def javascript_source(plain: dict[str, Any], explain: bool) -> str:
    """A module that exports ``predict(row)``, of a classifier ``predictProba(row)`` too.

    With ``explain`` there is a function of that name for the parts of the sum, or of every class.
    """
    features = "".join(f"{_feature(feature)},\n" for feature in plain["features"])
    sums = "".join(f"{_sum(terms)},\n" for terms in plain["sums"])
    parts = [
        *(f"// {line}" for line in head_lines(plain)),
        "",
        f"const LARGEST_LOG = {LARGEST_LOG!r}; // of a product; more is beyond all numbers",
        f"const LARGEST_SUM = {LARGEST_LINKED!r}; // its exponential is near the largest number",
        "// Numbers have edges, at or below which values are counted; levels have a bin each.",
        "// Missing and unseen values come last.",
        f"const FEATURES = [\n{features}];",
        f"const SUMS = [\n{sums}];",
    ]
    if plain["classes"] is not None:
        parts.append(f"export const CLASSES = {json.dumps(plain['classes'])};")
    one_sum = _ONE_SUM if len(plain["sums"]) == 1 else ""
    text = "\n".join([*parts, ""]) + _FUNCTIONS + one_sum + _PREDICT[plain["link"]]
    if not explain:
        return text
    return text + _EXPLAIN_SUM + (_EXPLAIN if len(plain["sums"]) == 1 else _EXPLAIN_CLASSES)


def _list(values: list[Any]) -> str:
    return joined(numbers(values, "Infinity"), "[", "]")


def _feature(feature: dict[str, Any]) -> str:
    name = json.dumps(feature["name"])
    if feature["kind"] == "numeric":
        return f"{{ name: {name}, edges: {_list(feature['edges'])} }}"
    # A Map: in an object the level "__proto__" would be something else.
    pairs = "".join(f"[{json.dumps(level)}, {b}],\n" for level, b in level_bins(feature).items())
    return f"{{ name: {name}, nLevels: {len(feature['levels'])}, levels: new Map([\n{pairs}]) }}"


def _sum(terms: dict[str, Any]) -> str:
    effects = "".join(
        f"{{ feature: {effect['feature']}, values: {_list(effect['values'])} }},\n"
        for effect in terms["effects"]
    )
    stages = "".join(
        f"{{ name: {json.dumps(stage['name'])}, products: [\n"
        f"{''.join(_product(one) for one in stage['products'])}] }},\n"
        for stage in terms["stages"]
    )
    intercept = terms["intercept"]
    return f"{{ intercept: {intercept!r},\neffects: [\n{effects}],\nstages: [\n{stages}] }}"


def _product(product: dict[str, Any]) -> str:
    curves = "".join(_curve(curve) for curve in product["curves"])
    scale = f"sign: {product['sign']}, logScale: {product['log_scale']!r}"
    return f"{{ {scale}, curves: [\n{curves}] }},\n"


def _curve(curve: dict[str, Any]) -> str:
    signs = f", negative: {json.dumps(curve['negative'])}" if "negative" in curve else ""
    return f"{{ feature: {curve['feature']}, logSizes: {_list(curve['log_size'])}{signs} }},\n"
