// What decides whether the model may be relied on: for whom it is worse, and what its claims rest on.

const between = (low, high, text) => (low === null ? "" : `${minus(text(low))} to ${minus(text(high))}`);

// Errors in parts of the rows, the worst first; with means where the parts are groups of one column.
function partsTable(told, isOfGroups) {
  const mean = (value) => (value === null ? "" : minus(showResponse(value)));
  const outcome = told.outcome_is_share ? percent : mean;
  const means = told.is_of_likeliest ? ["mean certainty", "share right"]
    : ["mean prediction", told.outcome_is_share ? "outcomes not above" : "mean outcome"];
  const head = [isOfGroups ? cut(told.parts[0].feature, 60) : "rows with", "rows", told.measure, "90 % band",
    ...(isOfGroups ? means : []),
    told.is_of_likeliest ? "share right minus certainty" : "outcome minus prediction", "90 % band"];
  return el("div", { class: "wide-table" }, el("table", { class: "counts parts" },
    el("thead", {}, el("tr", {}, head.map((text) => el("th", { scope: "col" }, text)))),
    el("tbody", {}, told.parts.map((part) => el("tr", {},
      el("th", { scope: "row" }, isOfGroups ? cut(part.segment, 60) : `${cut(part.feature, 40)}: ${cut(part.segment, 40)}`),
      [part.rows.toLocaleString("en-US"), part.error === null ? "" : showError(part.error),
        between(part.error_lower, part.error_upper, showError),
        ...(isOfGroups ? [mean(part.prediction), outcome(part.outcome)] : []),
        part.residual === null ? "" : signedResponse(part.residual),
        between(part.residual_lower, part.residual_upper, showResponse)].map((text) => el("td", {}, text)))))));
}

const signedResponse = (value) => `${value > 0 ? "+" : ""}${minus(showResponse(value))}`;

function tellParts() {
  const { worst, groups } = page.segments ?? {};
  const parts = [];
  if (groups) {
    parts.push(el("h3", {}, `By ${cut(groups.parts[0].feature, 60)}`), partsTable(groups, true),
      el("p", { class: "note" }, "Errors and means in the groups of this column, the worst first. Bands say what may be "
        + `chance.${groups.n_parts > groups.parts.length ? ` ${groups.parts.length} of ${groups.n_parts} groups are shown.` : ""}`));
  }
  if (worst?.parts.length) {
    parts.push(el("h3", {}, "Where is it worst?"), partsTable(worst, false),
      el("p", { class: "note" }, `Of ${plural(worst.n_parts, "part")} of single features the ${worst.parts.length} with the largest `
        + `errors, less what chance may do to so few rows; over all ${plural(worst.n_rows, "row")} it is ${showError(worst.overall)}. `
        + (worst.is_of_likeliest ? "Certainty is the probability of the likeliest class: where it is right less often, the model is too certain."
          : "Outcome minus prediction is above zero where predictions are too low.")
        + " Of ten bands one misses by chance."));
  }
  return parts;
}

function tellDrift() {
  if (!page.drift) return [];
  const { n_rows: rows, features: unlike } = page.drift;
  return [el("h3", {}, "Are these rows like those it was fitted to?"), unlike.length
    ? el("ul", {}, unlike.map(({ name, verdict, reason }) =>
      el("li", {}, `${cut(name, 60)} (${verdict === "drift" ? "unlike" : "to be watched"}): ${reason}`)))
    : el("p", {}, `Yes: ranges, levels, shares and missing values of all features of these ${plural(rows, "row")} are about `
      + "those of the training rows."),
  page.drift.weighted ? el("p", { class: "note" }, "The model was fitted with weights, and knows the shares of weights: those of "
    + "rows may differ without any drift.") : null];
}

function tellStability() {
  if (own.isConstant) return null;
  if (!page.stability) {
    return el("p", { class: "note", id: "stability" }, "Whether these statements hold with another seed, or for another sample of "
      + "the rows, was not looked at for this page (explain.stability does).");
  }
  return el("div", { class: "said", id: "stability" }, el("h3", {}, "What depends on the seed and on the rows"),
    el("p", {}, page.stability.whole), el("ul", {}, page.stability.others.map((text) => el("li", {}, text))));
}
