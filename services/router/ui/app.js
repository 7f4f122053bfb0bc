// Puts the page together: its views, its theme, and what concerns all of them.
import { getJson } from "./api.js";
import { startChat, stopChat } from "./chat.js";
import { startCompare, stopCompare } from "./compare.js";
import { byId, setText } from "./dom.js";
import { startSettings } from "./settings.js";
import { read, write } from "./storage.js";
import { startTrees } from "./tree_view.js";
import { showsWorkers, startWorkers } from "./workers.js";

const kViews = ["chat", "compare", "workers"];
const kThemes = ["system", "light", "dark"];
const kThemeStored = "slipstream.theme";

function showView() {
  const named = location.hash.slice(1);
  const view = kViews.includes(named) ? named : kViews[0];
  for (const each of kViews) byId(each).hidden = each !== view;
  byId("settings").hidden = false;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.hash === `#${view}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  showsWorkers(view === "workers");
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  setText(byId("theme"), `Theme: ${theme}`);
  write("localStorage", kThemeStored, theme);
}

function startTheme() {
  const stored = read("localStorage", kThemeStored);
  setTheme(kThemes.includes(stored) ? stored : kThemes[0]);
  byId("theme").addEventListener("click", () => {
    const now = kThemes.indexOf(document.documentElement.dataset.theme);
    setTheme(kThemes[(now + 1) % kThemes.length]);
  });
}

// Without a key, or with a wrong one, there is no name to show: the first question says why.
async function showModel() {
  const models = await getJson("/v1/models").catch(() => ({ data: [] }));
  setText(byId("model"), models.data[0]?.id ?? "");
}

startTheme();
startSettings(showModel);
startTrees();
startChat();
startCompare();
startWorkers();
window.addEventListener("hashchange", showView);
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  stopChat();
  stopCompare();
});
showView();
showModel();
