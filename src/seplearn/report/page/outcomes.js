// Where single outcomes lie: the width of a row, and quantiles in units of it. The same sums as in Python.

const outcomes = page.outcomes && {
  ...page.outcomes,
  curves: page.outcomes.curves.map(({ feature, values }) => [feature, doubles(values)]),
  edges: doubles(page.outcomes.edges),
  byPrediction: doubles(page.outcomes.by_prediction),
};
let outcomeLevel = outcomes && Math.max(outcomes.levels.findIndex(({ level }) => level === 0.9), 0);

function outcomeInterval(codes, prediction) {
  let below = 0;  // how many edges are at or below the prediction
  while (below < outcomes.edges.length && outcomes.edges[below] <= prediction) below++;
  let log = outcomes.constant + outcomes.byPrediction[below];
  for (const [j, curve] of outcomes.curves) log += curve[codes[j]];
  const width = Math.exp(clamp(log, outcomes.least, outcomes.most));
  return outcomes.levels[outcomeLevel].scores.map((score) => {
    const end = clamp(prediction + width * score, -Number.MAX_VALUE, Number.MAX_VALUE);
    return hasLink ? Math.max(end, 0) : end;
  });
}

function outcomeBox() {
  if (!outcomes) return null;
  const choose = el("select", { id: "outcome-level", "aria-label": "Share of outcomes",
    onchange: () => { outcomeLevel = Number(choose.value); refresh(); } },
  outcomes.levels.map(({ level }, k) => el("option", { value: k, selected: k === outcomeLevel }, percent(level))));
  return el("div", { id: "outcomes" }, choose, " of outcomes of such rows lie between ", el("b", { id: "outcome-low" }),
    " and ", el("b", { id: "outcome-high" }), ".",
    el("div", { class: "exact" }, "exactly ", el("span", { id: "exact-outcomes" })));
}

function tellOutcomes(codes, prediction) {
  if (!outcomes) return;
  const ends = outcomeInterval(codes, prediction);
  ["outcome-low", "outcome-high"].forEach((id, k) => {
    document.getElementById(id).textContent = minus(showResponse(ends[k]));
  });
  document.getElementById("exact-outcomes").textContent = ends.map(String).join(" to ");
}
