// The state in the address, and the first drawing.

const WORDS = { missing: "m", rare: "r", unseen: "u" };

function writeLink() {
  const query = new URLSearchParams();
  if (state.row !== null) query.set("row", String(page.rows[state.row].number));
  state.values.forEach((value, j) => {
    if (stateText(value) === stateText(state.start[j]) && typeof value === typeof state.start[j]) return;
    query.set(String(j), typeof value === "object" ? WORDS[value.is]
      : typeof value === "number" ? `n${value}` : `l${value}`);
  });
  const text = query.toString();
  history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
}

// Browsers slow down pages that change their address many times a second.
let writing = null;
function writeLinkSoon() {
  clearTimeout(writing);
  writing = setTimeout(writeLink, 200);
}

function readLink() {
  const query = new URLSearchParams(location.hash.slice(1));
  const row = page.rows.findIndex((one) => String(one.number) === query.get("row"));
  startFrom(row < 0 ? null : row);
  for (const feature of features) {
    const text = query.get(String(feature.index));
    if (text === null) continue;
    const word = Object.keys(WORDS).find((key) => WORDS[key] === text);
    const numeric = feature.kind === "numeric";
    if (word) state.values[feature.index] = { is: numeric ? "missing" : word };
    else if (text.startsWith("n") && numeric) state.values[feature.index] = Number(text.slice(1));
    else if (text.startsWith("l") && !numeric) {
      const known = feature.places.has(text.slice(1));
      state.values[feature.index] = known ? text.slice(1) : { is: "unseen" };
    }
  }
}

async function copyLink() {
  const field = document.getElementById("link"), button = document.getElementById("copy");
  writeLink();
  try {
    await navigator.clipboard.writeText(location.href);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy link"; }, 1500);
  } catch {
    field.hidden = false;  // pages from disk may not use the clipboard: show it instead
    field.value = location.href;
    field.select();
  }
}

document.getElementById("title").textContent = page.title;
document.getElementById("footer").textContent = `${page.kind} of seplearn ${page.library}. This page `
  + "needs no network; it holds the model and everything it shows.";
if (hasLink) {
  document.getElementById("what-is-predicted").textContent = `A constant plus main effects, if the model has any, plus `
    + `what every stage adds or takes away is the ${page.quantity}; the ${page.response} follows from it alone. Main `
    + `effects, stages and what matters are told in the ${page.quantity}.`;
}
readLink();
tellShort();
tellQuality();
tellMatters();
tellCards();
buildWhatIf();
state.codes = features.map((feature, j) => binOf(feature, state.values[j]));
tellStages();
refresh();
addEventListener("hashchange", () => {
  if (location.hash.includes("=")) { readLink(); refresh(); }
});
const PRINTED_CARDS = 30;
const opened = [];  // for printing, and closed again after it
addEventListener("beforeprint", () => {
  const few = (page.cards ?? []).length <= PRINTED_CARDS;  // of more, those that are open
  const closed = [...document.querySelectorAll(`details:not([open], .all-values${few ? "" : ", [data-card]"})`)];
  opened.push(document.documentElement.dataset.theme, ...closed);
  chooseTheme(false);
  for (const box of opened.slice(1)) box.open = true;
  if (effects !== null) drawEffects();
  for (const stage of stages) drawStage(stage);
  if (few) for (const card of page.cards ?? []) drawCard(card);
});
addEventListener("afterprint", () => {
  chooseTheme(opened.shift() === "dark");
  for (const box of opened.splice(0)) box.open = false;
});
document.addEventListener("toggle", (event) => {
  if (event.target.id === "more-features") drawProfiles();
}, true);
