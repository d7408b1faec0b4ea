// Elements and numbers as text. Names and levels only ever become text nodes or attributes.

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

const el = (tag, attributes = {}, ...children) =>
  fill(document.createElement(tag), attributes, children);

const svgEl = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

const put = (id, ...children) => document.getElementById(id).replaceChildren(
  ...children.flat().filter((child) => child !== null && child !== undefined));

const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

// With as many decimals as tell two values apart that differ by about ``size``.
function shower(size) {
  const decimals = clamp(2 - Math.floor(Math.log10(size)), 0, 12);
  return (value) => {
    if (!Number.isFinite(value)) return String(value);
    if (Math.abs(value) >= 1e15 || decimals > 6) return value.toPrecision(5);
    const digits = { minimumFractionDigits: Math.min(decimals, 6), maximumFractionDigits: decimals };
    const text = value.toLocaleString("en-US", digits);
    return text.replace(/^-(?=[0.,]*$)/, "");
  };
}

for (const sum of sums) {
  sum.show = shower(sum.spread || Math.abs(sum.intercept) || 1);
  sum.showResponse = !hasLink ? sum.show
    : shower(sum.response_spread || (hasClassSums ? 1 : inverse(sum.intercept)) || 1);
}
const show = (value) => own.show(value);  // sums and their parts
const showResponse = (value) => own.showResponse(value);
const showWhole = (value) => (value + 0).toLocaleString("en-US");  // not -0
const showOutcome = (value) => (page.classes ? classNames[value]
  : Number.isSafeInteger(value) ? showWhole(value) : showResponse(value));

// An error with three digits that count, whatever the decimals of predictions.
const showError = (value) => Number(value.toPrecision(3)).toLocaleString("en-US", { maximumSignificantDigits: 3 });
const minus = (text) => text.replace("-", "\u2212");
const signed = (value) => (value > 0 ? "+" : "") + minus(show(value));
const percent = (share) =>
  share > 0 && share < 0.0095 ? `${(100 * share).toFixed(1)} %` : `${Math.round(100 * share)} %`;
const short = (value) => {
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e6 || size < 1e-4)) return value.toExponential(1).replace("e+", "e");
  return String(Number(value.toPrecision(4)));
};
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
const cut = (text, length) => (text.length > length ? `${text.slice(0, length - 1)}\u2026` : text);

// Names beside each other: where they would look alike, long ones are cut where they begin alike.
function cutApart(names, length) {
  const plain = names.map((name) => cut(name, length)), long = names.filter((name) => name.length > length);
  if (long.length < 2 || new Set(plain).size === names.length) return plain;
  const most = Math.min(...long.map((name) => name.length)) - length + 1;
  let same = 0;
  while (same < most && long.every((name) => name[same] === long[0][same])) same += 1;
  return names.map((name) => (name.length > length ? cut(`\u2026${name.slice(same)}`, length) : name));
}
const plural = (n, word) => `${n.toLocaleString("en-US")} ${word}${n === 1 ? "" : "s"}`;

function stateText(value) {
  if (typeof value === "number") return String(Number(value.toPrecision(8)));
  return typeof value === "string" ? value : `(${value.is})`;
}

// Not by their texts, which have fewer digits than numbers have.
function isSame(value, other) {
  if (typeof value !== typeof other) return false;
  return typeof value === "object" ? value.is === other.is : value === other;
}

const classNames = page.classes && page.classes.map((name) => cut(name, 30));  // of a classifier
// The class that a probability is of, and what it is told apart from.
const ownName = () => classNames[hasClassSums ? own.index : 1];
const otherName = () => (hasClassSums ? "all others" : classNames[0]);
