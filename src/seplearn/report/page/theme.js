// Light or dark: as the system has it, until it is switched.

function chooseTheme(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
}

const systemDark = matchMedia("(prefers-color-scheme: dark)");
chooseTheme(systemDark.matches);
systemDark.addEventListener("change", (event) => chooseTheme(event.matches));
document.getElementById("theme").addEventListener("click", () =>
  chooseTheme(document.documentElement.dataset.theme !== "dark"));
