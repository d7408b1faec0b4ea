// The stages: a sentence each, and the curves they are made of.

const COLOURS = { effect: "var(--main)", backbone: "var(--main)", tilt: "var(--tilt)", factors: "var(--main)" };
const open = new Set();  // numbers of the stages whose curves are drawn, and "effects"

function tellStages() {
  if (own.isConstant) {
    put("stages-body", el("p", {}, `There are no stages: every ${own.quantity} is the same constant.`));
    return;
  }
  const additive = own.effects === null ? null : effectsBox();
  if (!own.stages.length) {
    put("stages-body", el("p", { class: "lead" }, "There are no stages: features add what they do by themselves."), additive);
    return;
  }
  const numbers = own.stages.map((stage) => stage.number);
  if (own.roles) numbers.sort((a, b) => own.roles[b].weight - own.roles[a].weight);
  const isSmall = (number) => own.roles && own.roles[number].weight < 0.001;
  const small = numbers.filter(isSmall);
  const boxes = numbers.filter((number) => !isSmall(number)).map((number, k) => stageBox(own.stages[number], k === 0));
  put("stages-body",
    el("p", { class: "lead" }, `${own.roles ? "The largest first. " : ""}Open one to see its curves; the `
      + "dot is the row of the what-if panel. To scale is to make the stage larger or smaller, to direct "
      + "is to decide whether it adds or takes away."), additive, boxes,
    small.length ? el("details", {}, el("summary", {}, `${plural(small.length, "smaller stage")}`),
      small.map((number) => stageBox(own.stages[number], false))) : null);
}

function effectsBox() {
  const told = own.effect_roles;
  const box = el("details", { class: "stage", "data-stage": "effects" },
    el("summary", {}, el("b", {}, "Main effects"), " ",
      told ? el("span", { class: "note" }, `${percent(told.weight)} of the size of all parts`) : null,
      el("p", {}, `What features add by themselves, whatever the others are${told && told.features.length
        ? `: ${told.features.map((name) => cut(name, 60)).join(", ")}` : ""}.`)),
    el("div", { class: "curve-body" }));
  box.addEventListener("toggle", () => {
    if (box.open) { open.add("effects"); drawEffects(); } else open.delete("effects");
  });
  return box;
}

function drawEffects() {
  const body = document.querySelector('[data-stage="effects"] .curve-body');
  const shown = own.order.map((j) => features[j]).filter((feature) => own.withEffect.includes(feature));
  body.replaceChildren(el("div", { class: "tiles" }, shown.map((feature) => el("div", { class: "tile" },
    el("h3", {}, el("span", { class: "clamp", title: feature.name }, feature.name)),
    el("div", { class: "curves" }, curveFigure(feature, effectOf(feature), "effect", state.codes[feature.index],
      hasLink ? `Main effect: what it adds to the ${own.quantity}` : "Main effect: what it adds"))))));
}

function stageBox(stage, first) {
  const told = own.roles && own.roles[stage.number];
  const body = el("div", { class: "curve-body" });
  const box = el("details", { class: "stage", "data-stage": stage.number },
    el("summary", {}, el("b", {}, `Stage ${stage.number}: ${stage.name}`), " ",
      told ? el("span", { class: "note" }, `${percent(told.weight)} of the size of all ${
        own.effects === null ? "stages" : "parts"}`) : null,
      el("p", {}, told ? `${told.sentence}.` : stageKind(stage))),
    body);
  box.addEventListener("toggle", () => {
    if (box.open) { open.add(stage.number); drawStage(stage); } else open.delete(stage.number);
  });
  if (first) box.open = true;
  return box;
}

const stageKind = (stage) => ({
  "two products": "One product minus another.",
  "one product": stage.products.some((product) => product.sign < 0) ? "One product; it takes away."
    : "One product; it adds.",
  "same side": "Two products that act on one side: they have no backbone and tilt.",
  signed: "A product whose factors may be negative: it has no backbone and tilt.",
  nothing: "It contributes nothing.",
}[stage.kind]);

function drawStage(stage) {
  const body = document.querySelector(`[data-stage="${stage.number}"] .curve-body`);
  const told = own.roles && own.roles[stage.number];
  const strength = (j) => (told ? told.strength[j] : 1);
  const sorted = [...features].sort((a, b) => strength(b.index) - strength(a.index));
  const acting = sorted.filter((feature) => stage.starts.has(feature.index)
    && (!told || told.roles[feature.index] !== "idle"));
  const shown = acting.length ? acting : sorted.slice(0, 1);
  // Those it does not depend on at all are not in its name either.
  const idle = [...stage.starts.keys()].filter((j) => !shown.includes(features[j])).length;
  body.replaceChildren(
    el("div", { class: "tiles" }, shown.map((feature) => featureCurves(stage, feature))),
    idle ? el("p", { class: "note" }, `${plural(idle, "other feature")} hardly `
      + `matter${idle === 1 ? "s" : ""} in this stage.`) : "");
}

function featureCurves(stage, feature) {
  const curves = curvesOf(stage, feature);
  const at = state.codes[feature.index];
  const figures = [];
  if (curves.backbone) figures.push(curveFigure(feature, curves.backbone, "backbone", at,
    stage.kind === "one product" ? "Factor: how large the stage is" : "Backbone: how large the stage is"));
  if (curves.tilt) figures.push(curveFigure(feature, curves.tilt, "tilt", at, "Tilt: which way it turns"));
  for (const [k, curve] of (curves.factors || []).entries()) {
    figures.push(curveFigure(feature, curve, "factors", at, `Factor of product ${k}`));
  }
  return el("div", { class: figures.length > 1 ? "tile wide" : "tile" },
    el("h3", {}, el("span", { class: "clamp", title: feature.name }, feature.name)),
    el("div", { class: "curves" }, figures));
}

function curveFigure(feature, curve, part, at, caption) {
  const logs = part === "backbone";
  const options = {
    label: `${part} of ${feature.name}`, colour: COLOURS[part], at,
    baseline: part === "factors" ? null : 0,
    least: { factors: 0, effect: 0.01 * (own.spread || 0) }[part] ?? 0.1,
    yTicks: logs ? multipleTicks : undefined,
    yText: logs ? (v) => `\u00d7${short(Number(Math.exp(v).toPrecision(3)))}` : undefined,
  };
  return el("figure", {}, curveChart(feature, curve, options), el("figcaption", {}, caption));
}

function refreshCurves() {
  for (const number of open) {
    if (number === "effects") drawEffects(); else drawStage(own.stages[number]);
  }
}
