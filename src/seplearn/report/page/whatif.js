// The what-if panel: a value per feature, and everything that follows from them.

const state = { row: null, start: [], values: [], codes: [], stage: null };
const controls = [];

// The most frequent level, or the median; missing where nothing else occurred.
const typicalValue = (feature) => {
  const known = 1 - feature.frequencies[feature.missing];
  let best = 0, sum = 0;
  if (known < 1e-9) return { is: "missing" };
  if (feature.kind === "categorical") {
    feature.frequencies.forEach((f, b) => {
      if (b !== feature.missing && f > feature.frequencies[best]) best = b;
    });
    return best < feature.nOrdered ? feature.levels[best] : { is: "rare" };
  }
  for (let b = 0; b < feature.nOrdered; b++) {
    sum += feature.frequencies[b];
    if (sum >= 0.5 * known) return valueIn(feature, b);
  }
  return valueIn(feature, 0);
};

// The one value of bin b; of many, the middle with as few digits as stay in the bin and the range.
function valueIn(feature, b) {
  const middle = feature.values[b];
  if (feature.has_few_values) return middle;
  const [low, high] = feature.range;
  for (let digits = 3; digits <= 17; digits++) {
    const rounded = Number(middle.toPrecision(digits));
    if (binOf(feature, rounded) === b && low <= rounded && rounded <= high) return rounded;
  }
  return middle;
}

function valueFromRow(feature, given) {
  if (given !== null && typeof given === "object") {
    if ("bin" in given) return valueIn(feature, given.bin);
    if ("number" in given) return Number(given.number);
  }
  return given;
}

function startFrom(row) {
  state.row = row;
  state.start = features.map((feature, j) => row === null ? typicalValue(feature)
    : valueFromRow(feature, page.rows[row].values[j]));
  state.values = [...state.start];
}

function setValue(j, value) {
  state.values[j] = value;
  refresh();
}

// A model with an exposure predicts, without one, what a unit of it has.
function besideOffset() {
  if (!page.had_offsets) return "";
  if (!page.offset) return " without its offset";
  const name = cut(page.offset.name, 40);
  return page.offset.is_exposure ? ` for one unit of ${name}` : ` without what ${name} adds`;
}
const perExposure = besideOffset();

function buildWhatIf() {
  const first = own.order.slice(0, 12), rest = own.order.slice(12);
  const grid = (numbers) => el("div", { class: "controls" }, numbers.map((j) => controlFor(features[j])));
  put("whatif-body", rowTools(), el("div", { class: "panel" },
    el("div", {}, grid(first), rest.length ? el("details", { id: "more-features" },
      el("summary", {}, `${plural(rest.length, "more feature")}`), grid(rest)) : null),
    el("div", { class: "answer" },
      el("div", { class: "now", role: "status" },
        el("span", { class: "note" }, hasClassSums ? `Most likely ${cut(page.target, 80)}`
          : page.classes ? `${cut(page.target, 80)}: ${own.response}${perExposure}`
            : `Prediction of ${cut(page.target, 80)}${perExposure}`),
        el("output", { id: "prediction" }),
        hasClassSums ? el("div", { id: "classes" }) : null,
        hasClassSums ? el("div", {}, `${capital(own.response)}: `, el("b", { id: "share" })) : null,
        el("div", { class: "exact" }, "exactly ", el("span", { id: "exact" })),
        hasLink ? el("div", {}, `${capital(own.quantity)}: `, el("b", { id: "sum" }),
          el("div", { class: "exact" }, "exactly ", el("span", { id: "exact-sum" }))) : null,
        el("div", { class: "note", id: "compared" })),
      outcomeBox(),
      page.rows.length && !own.isConstant ? el("div", { id: "shapley" }) : null,
      el("details", { id: "by-stages", open: !page.rows.length },
        el("summary", {}, "How the parts of the model come to it"),
        el("div", { id: "falls" }), el("div", { id: "at-stage" })),
      sums.every((sum) => sum.isConstant) ? null : changesBox())),
  el("div", { id: "mini", "aria-hidden": "true" }, el("span", {}, cut(page.target, 40)), el("b", { id: "mini-value" })));
  const controlsOnScreen = new IntersectionObserver(([entry]) =>
    document.getElementById("mini").classList.toggle("on", entry.isIntersecting));
  controlsOnScreen.observe(document.querySelector("#whatif .controls"));
}

function rowTools() {
  const select = el("select", { id: "row", "aria-label": "Row to start from",
    onchange: () => { startFrom(select.value === "" ? null : Number(select.value)); refresh(); } },
  el("option", { value: "" }, "a typical row"),
  page.rows.map((row, k) => el("option", { value: k }, `row ${row.number}`
    + (row.actual === null ? "" : ` (outcome ${showOutcome(row.actual)})`))));
  const random = () => {
    startFrom(Math.floor(Math.random() * page.rows.length));
    refresh();
  };
  return el("div", { class: "tools" }, el("label", { for: "row" }, "Start from"), select,
    page.rows.length ? el("button", { type: "button", onclick: random }, "Random row") : null,
    el("button", { type: "button", id: "reset", onclick: () => { state.values = [...state.start]; refresh(); } },
      "Undo changes"),
    el("button", { type: "button", id: "copy", onclick: copyLink }, "Copy link"),
    el("input", { type: "text", id: "link", readonly: true, hidden: true, "aria-label": "Link to this state" }),
    page.rows_are === "reference" && page.rows.length ? el("span", { class: "note" },
      "Rows are known to the bin only: values are rounded.") : null);
}

function controlFor(feature) {
  const id = `feature-${feature.index}`;
  const note = el("div", { class: "note" }), effect = el("span", { class: "effect" });
  const chart = el("div", { class: "profile" });
  const parts = feature.kind === "numeric" ? numericEntry(feature, id) : levelEntry(feature, id);
  parts.nodes[0].append(wayChoice(feature));
  const box = el("div", { class: "control", "data-feature": feature.index },
    el("div", { class: "head" }, el("label", { for: id, title: feature.name }, feature.name), effect),
    parts.nodes, note, chart);
  controls[feature.index] = { box, note, effect, chart, update: parts.update };
  return box;
}

// What the feature may do where the smallest changes are looked for.
function wayChoice(feature) {
  const words = { "": "may change", 0: "stays" };
  if (feature.kind === "numeric") Object.assign(words, { 1: "only rises", "-1": "only falls" });
  const choice = el("select", { class: "way", "aria-label": `${feature.name}, in what would change the prediction`,
    title: "In what would change the prediction", onchange: () => (choice.value === "" ? ways.delete(feature.index)
      : ways.set(feature.index, Number(choice.value))) },
  ["", "0", "1", "-1"].filter((value) => value in words).map((value) => el("option", { value }, words[value])));
  choice.value = String(ways.get(feature.index) ?? "");
  return choice;
}

function numericEntry(feature, id) {
  const j = feature.index;
  const number = el("input", { type: "number", id, step: "any",
    oninput: () => { if (number.value !== "") setValue(j, Number(number.value)); },
    onchange: () => { if (number.value === "" && !missing.checked) number.value = state.values[j]; } });
  const slider = el("input", { type: "range", min: 0, max: feature.nOrdered - 1, step: 1,
    "aria-label": `${feature.name}, slider`,
    oninput: () => setValue(j, valueIn(feature, Number(slider.value))) });
  const missing = el("input", { type: "checkbox", "aria-label": `${feature.name} is missing`, onchange: () => setValue(j,
    missing.checked ? { is: "missing" } : valueIn(feature, Number(slider.value))) });
  const update = (value, code) => {
    const absent = typeof value !== "number";
    missing.checked = absent;
    number.disabled = slider.disabled = absent;
    if (absent) number.value = "";
    else if (document.activeElement !== number || Number(number.value) !== value) number.value = value;
    if (!absent) slider.value = code;
    slider.setAttribute("aria-valuetext", absent ? "missing" : stateText(value));
  };
  return { update, nodes: [el("div", { class: "entry" }, number,
    el("label", { class: "small" }, missing, "missing")), slider] };
}

function levelEntry(feature, id) {
  const special = [["missing", "(missing)"], ["unseen", "(any other)"]];
  if (feature.rare.length) special.unshift(["rare", `(one of ${plural(feature.rare.length, "rare level")})`]);
  const options = [...feature.levels.map((level, b) => [`level-${b}`, level]), ...special];
  const select = el("select", { id, onchange: () => setValue(feature.index,
    select.value.startsWith("level-") ? feature.levels[Number(select.value.slice(6))] : { is: select.value }) },
  options.map(([value, text]) => el("option", { value }, text)));
  const update = (value, code) => {
    const names = ["rare", "missing", "unseen"];
    select.value = code < feature.nOrdered ? `level-${code}` : names[code - feature.nOrdered];
  };
  return { update, nodes: [el("div", { class: "entry" }, select)] };
}

const refreshShapley = () => { if (document.getElementById("shapley")) drawShapley(); };
let waiting = false;

// The numbers follow at once; charts are drawn when the browser next paints.
function refresh() {
  state.codes = features.map((feature, j) => binOf(feature, state.values[j]));
  const parts = partsAt(own, state.codes);
  const sum = totalOf(own, parts);
  const value = hasClassSums ? tellProbabilities(sharesAt(state.codes)) : tellPrediction(inverse(sum));
  document.getElementById("exact").textContent = String(value);
  tellOutcomes(state.codes, value);
  if (hasLink) {
    document.getElementById("sum").textContent = show(sum).replace("-", "\u2212");
    document.getElementById("exact-sum").textContent = String(sum);
  }
  for (const feature of features) {
    const control = controls[feature.index], now = state.values[feature.index];
    control.update(now, state.codes[feature.index]);
    control.box.classList.toggle("changed", !isSame(now, state.start[feature.index]));
    control.note.textContent = remark(feature, now, state.codes[feature.index]);
  }
  document.getElementById("row").value = state.row === null ? "" : String(state.row);
  compare(sum);
  drawFalls(parts, sum);
  writeLinkSoon();
  if (!waiting) {
    waiting = true;
    requestAnimationFrame(() => { waiting = false; drawProfiles(); refreshCurves(); refreshShapley(); });
  }
}

function tellPrediction(value) {
  document.getElementById("prediction").textContent = showResponse(value);
  document.getElementById("mini-value").textContent = showResponse(value);
  return value;
}

// The probabilities of all classes, of which each can be chosen; gives that of the one shown.
function tellProbabilities(shares) {
  const likely = shares.indexOf(Math.max(...shares));
  document.getElementById("prediction").textContent = classNames[likely];
  document.getElementById("mini-value").textContent = `${classNames[likely]}, ${percent(shares[likely])}`;
  document.getElementById("share").textContent = showResponse(shares[own.index]);
  const focused = document.activeElement?.dataset?.class;  // the buttons are made anew
  const scrolled = document.getElementById("classes").scrollTop;
  put("classes", el("table", { class: "falls shares", "aria-label": "Probability of every class" }, el("tbody", {},
    shares.map((share, k) => el("tr", { "data-exact": String(share) },
      el("td", {}, el("button", { type: "button", "data-class": k, "aria-pressed": String(k === own.index),
        onclick: () => chooseClass(k) }, classNames[k])),
      el("td", {}, barTrack({ value: share }, 1)), el("td", {}, percent(share)))))));
  document.getElementById("classes").scrollTop = scrolled;
  if (focused !== undefined) document.querySelector(`[data-class="${focused}"]`)?.focus();
  return shares[own.index];
}

function remark(feature, value, code) {
  if (feature.kind === "categorical") {
    const name = typeof value === "string" ? `${cut(value, 40)}: n` : "N";
    return code === feature.nOrdered + 2 ? `${name}ever seen in training; it counts as neutral.` : "";
  }
  if (typeof value !== "number") {
    return feature.frequencies[feature.missing] > 0 ? "" : "Never missing in training: it counts as neutral.";
  }
  const [low, high] = feature.range;
  if (low <= value && value <= high) return "";
  const [side, like] = value > high ? ["Above", "largest"] : ["Below", "smallest"];
  return `${side} all training values (within ${short(low)} to ${short(high)}): it counts as the ${like}.`;
}

function compare(sum) {
  const start = features.map((f, j) => binOf(f, state.start[j]));
  const before = totalOf(own, partsAt(own, start));
  const parts = [];
  if (before !== sum && !hasLink) parts.push(`${signed(sum - before)} by your changes (it was ${show(before)}).`);
  const isChanged = before !== sum || (hasClassSums && start.some((code, j) => code !== state.codes[j]));
  if (isChanged && hasLink) {
    const factor = short(Number(Math.exp(sum - before).toPrecision(3)));
    parts.push(`Your changes: ${signed(sum - before)} in the ${own.quantity}${hasClassSums ? ""
      : `, the ${page.link === "logit" ? "odds" : "prediction"} times ${factor}`} (${
      own.response} was ${showResponse(responseAt(start))}).`);
  }
  const actual = state.row === null ? null : page.rows[state.row].actual;
  if (actual !== null) parts.push(`The outcome of this row was ${showOutcome(actual)}.`);
  document.getElementById("compared").textContent = parts.join(" ");
}

function drawProfiles() {
  for (const feature of features) {
    const { chart, effect, box } = controls[feature.index];
    if (box.closest("details:not([open])")) continue;  // a browser may well lay out what is folded away
    const values = responsesOver(feature, state.codes);
    const inside = values.filter((_, b) => isDrawn(feature, b));
    const low = Math.min(...inside), high = Math.max(...inside);
    const spread = hasLink ? own.response_spread : own.spread;
    const moves = high - low > 1e-4 * (spread || Math.abs(high));
    const ends = [low, high].map(showResponse);
    effect.textContent = !moves ? "no effect here" : ends[0] === ends[1] ? "hardly any effect here" : ends.join(" to ");
    chart.replaceChildren(curveChart(feature, { values }, {
      label: `${capital(own.response)} as ${feature.name} changes`, colour: "var(--main)", at: state.codes[feature.index],
      baseline: null, least: 0.01 * (spread || 0), yText: feature.kind === "categorical" ? showResponse : undefined,
      size: { width: 270, height: 96 }, most: 6 }));
  }
}

// From the constant to the sum: main effects together, the largest stages one by one.
function fallsOf(parts) {
  const most = 9, sizes = parts.stages;
  const numbers = sizes.map((_, s) => s).sort((a, b) => Math.abs(sizes[b]) - Math.abs(sizes[a]));
  const shown = numbers.slice(0, sizes.length > most + 1 ? most : sizes.length).sort((a, b) => a - b);
  const rest = numbers.filter((s) => !shown.includes(s)).reduce((sum, s) => sum + sizes[s], 0);
  const steps = own.effects === null ? [] : [{ text: "main effects", size: parts.effects }];
  steps.push(...shown.map((s) => ({ stage: s, text: stageTitle(s), size: sizes[s] })));
  if (shown.length < sizes.length) steps.push({ text: `${sizes.length - shown.length} others`, size: rest });
  return steps;
}

function drawFalls(parts, value) {
  const focused = document.activeElement?.dataset?.fall;  // the buttons are made anew
  put("falls", fallsTable(fallsOf(parts), own.intercept, "constant", `From the constant to the ${own.quantity}`, value));
  if (focused !== undefined) document.querySelector(`[data-fall="${focused}"]`)?.focus();
  drawAtStage(parts.stages);
}

// Steps from a start to their sum, a bar each where it begins and ends.
function fallsTable(steps, start, startName, caption, total = null) {
  const ends = [start];
  for (const step of steps) ends.push(ends[ends.length - 1] + step.size);
  const low = Math.min(...ends), high = Math.max(...ends);
  const place = (v) => (high > low ? (100 * (v - low)) / (high - low) : 0);
  const rows = steps.map((step, k) => {
    const bar = el("i", { class: step.size < 0 ? "down" : "up" });
    bar.style.left = `${Math.min(place(ends[k]), place(ends[k + 1]))}%`;
    bar.style.width = `${Math.abs(place(ends[k + 1]) - place(ends[k]))}%`;
    return el("tr", { "data-of": step.feature, "data-value": step.size },
      el("td", {}, step.stage === undefined ? step.text : stageButton(step.stage)),
      el("td", {}, el("div", { class: "track" }, bar)), el("td", {}, signed(step.size)));
  });
  return el("table", { class: "falls" }, el("caption", { class: "note" }, caption),
    el("tbody", {}, el("tr", { "data-value": start }, el("td", {}, startName), el("td"), el("td", {}, minus(show(start)))), rows,
      el("tr", { class: "total" }, el("td", {}, own.quantity), el("td"),
        el("td", {}, minus(show(total ?? ends[ends.length - 1]))))));
}

const stageTitle = (s) => `stage ${s} (${own.stages[s].name})`;

function stageButton(s) {
  return el("button", { type: "button", "data-fall": s, "aria-pressed": String(state.stage === s),
    onclick: () => { state.stage = state.stage === s ? null : s; refresh(); } }, `stage ${s}: ${own.stages[s].name}`);
}

// What the features of the chosen stage do in it at this row.
function drawAtStage(parts) {
  if (!own.stages.length) return put("at-stage");
  const s = state.stage ?? parts.reduce((best, part, k) => (Math.abs(part) > Math.abs(parts[best]) ? k : best), 0);
  const stage = own.stages[s];
  const rows = features.filter((feature) => stage.starts.has(feature.index)).map((feature) => {
    const curves = curvesOf(stage, feature), code = state.codes[feature.index];
    const backbone = curves.backbone ? curves.backbone.values[code] : null;
    const turn = curves.tilt ? curves.tilt.values[code] : null;
    return { feature, backbone, turn, size: Math.abs(backbone ?? 0) + Math.abs(turn ?? 0) };
  }).sort((a, b) => b.size - a.size).slice(0, 6);
  if (!stage.backbone) return put("at-stage", el("p", { class: "note" }, `${stageTitle(s)}: ${stageKind(stage)}`));
  put("at-stage", el("h3", {}, `Why ${stageTitle(s)} ${parts[s] < 0 ? "takes away" : "adds"} ${show(Math.abs(parts[s]))}`),
    el("table", { class: "features" }, el("thead", {}, el("tr", {},
      ["feature", "value", "backbone", ...(stage.tilt ? ["tilt"] : [])].map((text) => el("th", { scope: "col" }, text)))),
    el("tbody", {}, rows.map(({ feature, backbone, turn }) => el("tr", {},
      el("td", {}, el("span", { class: "clamp", title: feature.name }, feature.name)),
      el("td", {}, cut(stateText(state.values[feature.index]), 40)),
      el("td", {}, backbone === null ? "" : `\u00d7${short(Number(Math.exp(backbone).toPrecision(3)))}`),
      turn === null ? null : el("td", {}, `${Math.abs(turn) < 0.005 ? "" : turn > 0 ? "\u2191 " : "\u2193 "}`
        + turn.toFixed(2).replace("-", "\u2212")))))));
}
