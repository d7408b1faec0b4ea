// The state in the address, and the first drawing.

const WORDS = { missing: "m", rare: "r", unseen: "u" };

function writeLink() {
  const query = new URLSearchParams();
  if (own.index > 0) query.set("class", String(own.index));
  if (state.row !== null) query.set("row", String(page.rows[state.row].number));
  state.values.forEach((value, j) => {
    if (isSame(value, state.start[j])) return;
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
  own = sums[Number(query.get("class") ?? 0)] ?? sums[0];
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
// Everything that is told of the sum shown.
function tellAll() {
  if (hasLink) {
    document.getElementById("what-is-predicted").textContent = `A constant plus main effects, if the model has any, plus `
      + `what every stage adds or takes away is the ${own.quantity}; the ${own.response} follows from ${hasClassSums
        ? "the scores of all classes" : "it alone"}. Main effects, stages and what matters are told in the ${own.quantity}.`;
  }
  if (hasClassSums) document.getElementById("class").value = String(own.index);
  state.stage = null;
  open.clear();
  tellShort();
  tellQuality();
  tellMatters();
  tellCards();
  buildWhatIf();
  state.codes = features.map((feature, j) => binOf(feature, state.values[j]));
  tellStages();
  refresh();
}

function chooseClass(k) {
  own = sums[k];
  tellAll();
}

if (hasClassSums) {
  const choice = el("select", { id: "class", onchange: () => chooseClass(Number(choice.value)) },
    classNames.map((name, k) => el("option", { value: k }, name)));
  put("chooser", el("label", { for: "class" }, "Class"), choice);
}
readLink();
tellAll();
addEventListener("hashchange", () => {
  if (!location.hash.includes("=")) return;
  const before = own;
  readLink();
  if (own === before) refresh(); else tellAll();
});
const PRINTED_CARDS = 30;
const opened = [];  // for printing, and closed again after it
addEventListener("beforeprint", () => {
  const few = (own.cards ?? []).length <= PRINTED_CARDS;  // of more, those that are open
  const closed = [...document.querySelectorAll(`details:not([open], .all-values${few ? "" : ", [data-card]"})`)];
  opened.push(document.documentElement.dataset.theme, ...closed);
  chooseTheme(false);
  for (const box of opened.slice(1)) box.open = true;
  if (own.effects !== null) drawEffects();
  for (const stage of own.stages) drawStage(stage);
  if (few) for (const card of own.cards ?? []) drawCard(card);
});
addEventListener("afterprint", () => {
  chooseTheme(opened.shift() === "dark");
  for (const box of opened.splice(0)) box.open = false;
});
document.addEventListener("toggle", (event) => {
  if (event.target.id === "more-features") drawProfiles();
}, true);
