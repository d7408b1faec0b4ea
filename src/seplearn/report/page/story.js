// What is told once, when the page opens: the summary, how good the model is, what matters.

const LINK_IN_WORDS = {
  logit: () => `The ${own.response} follows from it: log-odds of 0 are a probability of one half, and 1 more `
    + "multiplies the odds by about 2.7.",
  softmax: () => `The ${own.response} follows from the scores of all classes: it is the exponential of its score divided `
    + "by the sum of the exponentials of all. Only differences of scores matter; the class that is told of is chosen above.",
  log: () => `The prediction${perExposure} is its exponential: 0.1 more is about a tenth more of the prediction.`,
};

const tellClasses = (quality) => {
  if (hasClassSums) return `the most likely class is right for ${percent(quality.scores.accuracy)} of the rows.`;
  const [auc, right] = [quality.scores.AUC, quality.scores.accuracy];
  if (auc === undefined) return `it explains ${percent(Math.max(quality.explained, 0))} of the loss.`;
  return `a row of ${classNames[1]} gets a higher probability than one of ${classNames[0]} in ${
    percent(auc)} of all pairs (AUC), and the likelier class is right for ${percent(right)} of the rows.`;
};

function tellShort() {
  const best = page.quality[0];
  const parts = [
    (own.summary ? "" : `The model predicts ${page.target} from ${plural(features.length, "feature")}. `) + (!own.isConstant
      ? `${hasLink ? `The ${own.quantity}` : "A prediction"} is a constant (${show(own.intercept)}) plus ${
        own.effects === null ? "" : `the main effect${own.withEffect.length === 1 ? "" : "s"} of ${
          plural(own.withEffect.length, "feature")}${own.stages.length ? " plus " : "."}`}`
        + (own.stages.length ? `what ${plural(own.stages.length, "stage")} ${own.stages.length === 1 ? "adds" : "add"} or `
          + `take${own.stages.length === 1 ? "s" : ""} away.` : "")
      : hasClassSums ? `The ${own.quantity} is the same for all rows (${show(own.intercept)}).`
        : `It found nothing that helps: every prediction is ${showResponse(inverse(own.intercept))}.`)
      + (hasLink && (!own.isConstant || hasClassSums) ? ` ${LINK_IN_WORDS[page.link]()}` : ""),
  ];
  if (best) {
    parts.push(`On ${plural(best.n_rows, "row")} ${best.where === "kept"
      ? "held out when it was made" : "of the table given"} ${page.classes ? tellClasses(best)
      : isOfQuantile(best) ? `${percent(best.scores["share of outcomes not above the prediction"])} of the outcomes are not `
        + "above their predictions."
      : `its typical error is ${showError(best.mae)}${best.r2 > 0 && best.n_rows > 1
        ? `; it explains ${percent(best.r2)} of the differences between rows.` : "."}`}`);
  }
  const said = own.isConstant ? [] : tellSummary();
  put("short-body", tellWhole(), said.slice(0, 1), parts.map((text) => el("p", {}, text)), tellEdits(), said.slice(1), tellStability());
}

// What was changed by hand after the fit, in this order.
function tellEdits() {
  if (!page.edits.length) return null;
  return el("div", { class: "said", id: "edits" }, el("h3", {}, "Edited after it was fitted"),
    el("ol", {}, page.edits.map(({ what, reason }) => el("li", {}, el("code", {}, what), `: ${reason}`))));
}

// What the model says as a whole, as Python's summary has it.
function tellSummary() {
  if (!own.summary) {
    return [null, el("p", {}, "To say in words what it does takes rows: the model keeps none, and no table was given.")];
  }
  return own.summary.map(toldSection);
}

const toldSection = ({ heading, sentences }) => (heading
  ? el("div", { class: "said" }, el("h3", {}, heading),
    el("ul", {}, sentences.map((sentence) => el("li", {}, sentence))))
  : el("p", {}, sentences.join(" ")));

// Of several classes, what tells them apart, before what is said of the score of one.
function tellWhole() {
  return page.whole ? [...page.whole.map(toldSection), el("h3", { id: "own-score" }, `The ${own.quantity}`)] : null;
}

function tellQuality() {
  if (!page.quality.length) {
    put("quality-body", el("p", { class: "note" }, "No rows with a known outcome came with this "
      + "page. With a table that has the target, the report shows errors and calibration."), tellDrift());
    return;
  }
  put("quality-body", page.quality.map(qualityPart).flat(), tellParts(), tellDrift());
}

function qualityPart(all) {
  const quality = hasClassSums ? all.of_class[own.index] : all;
  const decision = page.classes && quality.cuts.length ? thresholdPanel(quality) : { figures: [], controls: null };
  return [
    el("p", {}, all.where === "kept"
      ? `Kept with the model: measured on ${plural(quality.n_rows, "row")} that its maker chose. If it was fitted `
        + "to them, it looks better here than it is."
      : `Measured on the ${plural(quality.n_rows, "row")} of the table given. If the model was `
        + "fitted to these rows, it looks better here than it is."),
    all.where === "given" && page.lacks_offsets ? el("p", { class: "note" }, "The model was fitted with offsets, and "
      + `none were given here${page.link === "log" ? ": if they are an exposure, counts are compared with rates." : "."}`)
      : null,
    el("div", { class: "cards" }, scoreCards(all), all.where === "given" ? coverageCard() : null),
    hasClassSums ? [all.confusion.length ? mistakesTable(all.confusion) : null,
      el("h3", {}, `${capital(own.response)}, beside all other classes`)] : null,
    el("div", { class: "pair" }, calibrationFigure(quality),
      page.classes ? null : el("figure", {}, histogram(quality), el("figcaption", {},
        "How far outcomes lie from predictions. Left of zero the prediction was too high, right of "
        + "it too low; the outermost bars hold everything beyond.")),
      quality.cuts.length > 1 && !page.classes ? gainFigure(quality) : null, decision.figures),
    decision.controls,
  ].flat();
}

function tellMatters() {
  if (!own.matters || own.isConstant) {
    put("matters-body", el("p", { class: "note" }, !own.isConstant
      ? "The model keeps no reference rows, so sizes cannot be told without a table."
      : `The ${hasClassSums ? own.quantity : "model"} is a constant: no feature matters.`));
    return;
  }
  const { importance } = own.matters;
  const bars = own.order.map((j) => ({ name: features[j].name, value: importance[j], j }));
  const pairs = own.pairs.filter((pair) => pair[2] > 0.001).map(([first, second, share]) => ({
    name: `${cut(features[first].name, 40)} \u00d7 ${cut(features[second].name, 40)}`, value: share,
  }));
  put("matters-body",
    el("div", { class: "pair" },
      el("div", {}, el("h3", {}, "Each feature"),
        barList("Mean size of the Shapley value by feature", bars.slice(0, 15), (bar) => show(bar.value)),
        bars.length > 15 ? el("p", { class: "note" }, `and ${bars.length - 15} more, each at most `
          + show(bars[15].value)) : null,
        el("p", { class: "note" }, `By how much the feature moves ${hasLink ? `the ${own.quantity}` : "a prediction"}, up or down, on `
          + `average over ${page.averaged_over === "reference" ? "the training rows kept in the model" : "the rows given"}: the mean size of its Shapley value${hasLink ? "." : ", in the unit of the prediction."}`)),
      el("div", {}, el("h3", {}, "Together"),
        pairs.length ? barList("Share of the variance by pair", pairs, (bar) => percent(bar.value))
          : el("p", {}, "No two features act together beyond what they do alone."),
        el("p", { class: "note" }, "What a pair does beyond the two alone, as a share of the "
          + "variance. All shares are exact if features were independent of each other."))),
    tellShares(), tellImportance());
}

// How much of the prediction's variance features explain, alone and with others.
function tellShares() {
  const { main, total } = own.matters;
  const bars = features.map((feature, j) => ({ name: feature.name, value: total[j], inner: main[j] }))
    .sort((a, b) => b.value - a.value).slice(0, 15);
  return el("details", { id: "shares" }, el("summary", {}, "Alone and with others"),
    barList("Share of the variance of the prediction by feature", bars, (bar) => percent(bar.value)),
    el("p", { class: "note" }, `How much of the variance of the ${own.quantity} would be gone without the `
      + "feature. The full part of a bar is what it does by itself, the pale part what it "
      + "does together with others; parts done together count for each of them. All shares are exact if features "
      + "were independent of each other."));
}

// How the features matter: by what they do to the size of a stage, and to its direction.
function tellImportance() {
  const { backbone, tilt } = own.matters;
  const bars = (values) => {
    const nothing = 1e-9 * Math.max(...values); // what rounding leaves of a flat curve
    return features.map((feature, j) => ({ name: feature.name, value: values[j] > nothing ? values[j] : 0 }))
      .sort((a, b) => b.value - a.value).slice(0, 15);
  };
  return el("details", { id: "importance" }, el("summary", {}, "By backbone and by tilt"),
    el("div", { class: "pair" },
      el("div", {}, el("h3", {}, "Makes stages larger or smaller"),
        barList("Variance of backbones by feature", bars(backbone), (bar) => short(Number(bar.value.toPrecision(3))))),
      el("div", {}, el("h3", {}, "Turns stages"),
        barList("Variance of tilts by feature", bars(tilt), (bar) => short(Number(bar.value.toPrecision(3)))))),
    el("p", { class: "note" }, "How much the backbone and the tilt of a feature vary over the rows, stages "
      + "weighed by their size: importance as the paper defines it."));
}
