// Who works here, and how much of what drafters guess is accepted. Asks anew each second while it
// is looked at, and changes what is there in place, so that focus and selection stay.
import { getJson, postJson } from "./api.js";
import { byId, element, setText } from "./dom.js";
import { fixed, percent } from "./figures.js";

const kBetweenLooksMs = 1000;
let shown = false;
let looking = null; // the AbortController of the look under way
let timer = null;

const gain = (tokens) => (tokens === null ? "–" : fixed(tokens, 2));

// [heading, what a worker shows there]
const kColumns = [
  ["Role", (worker) => worker.role],
  ["Name", (worker) => worker.incarnation],
  ["What", (worker) => worker.what],
  ["State", (worker) => worker.state],
  ["Sequences", (worker) => String(worker.sequences)],
  ["Busy", (worker) => percent(worker.busy)],
  ["An ask wins", (worker) => (worker.role === "drafter" ? `${gain(worker.greedy_gain)} greedy, ${gain(worker.coupled_gain)} sampled` : "–")],
];

// Drafters have a button in the last cell: nothing else can be told to rest.
async function drain(worker) {
  try {
    await postJson(`/drafters/${worker.incarnation}/${worker.drained ? "undrain" : "drain"}`, {});
    showError("drain-error", "");
  } catch (error) {
    showError("drain-error", error.message);
    return;
  }
  restart();
}

function fillButton(cell, worker) {
  if (worker.role !== "drafter") return;
  const button = cell.firstElementChild ?? cell.appendChild(element("button", { type: "button" }));
  setText(button, worker.drained ? "Use again" : "Drain");
  button.setAttribute("aria-label", `${button.textContent}: drafter ${worker.incarnation}`);
  button.onclick = () => drain(worker);
}

// Makes `parent` hold one child for each item, in order. Children are told apart by their key.
function keep(parent, items, keyOf, make, fill) {
  const old = new Map([...parent.children].map((child) => [child.dataset.key, child]));
  const fresh = items.map((item) => {
    const child = old.get(keyOf(item)) ?? make(item);
    child.dataset.key = keyOf(item);
    fill(child, item);
    return child;
  });
  if (fresh.length !== parent.children.length || fresh.some((child, at) => parent.children[at] !== child)) {
    parent.replaceChildren(...fresh);
  }
}

const makeRow = () => element("tr", {}, ...kColumns.map(([heading]) => element("td", { "data-label": heading })), element("td"));

function fillRow(row, worker) {
  kColumns.forEach(([, text], at) => setText(row.cells[at], text(worker)));
  row.cells[3].dataset.state = worker.state;
  fillButton(row.cells[kColumns.length], worker);
}

function showWorkers({ workers }) {
  keep(byId("worker-table").tBodies[0], workers, (worker) => worker.incarnation, makeRow, fillRow);
  byId("worker-table").hidden = workers.length === 0;
  byId("no-workers").hidden = workers.length > 0;
}

const kindName = (kind) => (kind.model === "" ? kind.method : `${kind.method} (${kind.model})`);
const kDepthHeads = ["Depth", "Verified", "Predicted", "Accepted"];

function makeKind(kind) {
  const heads = element("tr", {}, ...kDepthHeads.map((head) => element("th", { scope: "col" }, head)));
  const table = element("table", { class: "depths" }, element("thead", {}, heads), element("tbody"));
  return element("article", {}, element("h4", {}, kindName(kind)), element("p", { class: "figures" }), table);
}

function makeDepth() {
  const meter = element("meter", { min: "0", max: "1", "aria-hidden": "true" });
  return element("tr", {}, element("td"), element("td"), element("td"), element("td", {}, element("span"), " ", meter));
}

function fillDepth(row, [depth, counts]) {
  setText(row.cells[0], depth);
  setText(row.cells[1], String(Math.round(counts.verified)));
  setText(row.cells[2], percent(counts.predicted));
  setText(row.cells[3].firstElementChild, percent(counts.accepted));
  row.cells[3].lastElementChild.value = counts.accepted;
}

function fillKind(article, kind) {
  const figures = `h ${fixed(kind.threshold, 2)}, at most ${kind.depth_max} deep: ${kind.why}`;
  setText(article.querySelector(".figures"), figures);
  const depths = Object.entries(kind.depths).filter(([, counts]) => counts.verified >= 1);
  keep(article.querySelector("tbody"), depths, ([depth]) => depth, makeDepth, fillDepth);
  article.querySelector("table").hidden = depths.length === 0;
}

function showTuning({ kinds }) {
  keep(byId("kinds"), kinds, kindName, makeKind, fillKind);
  byId("no-kinds").hidden = kinds.length > 0;
}

function showError(place, sentence) {
  byId(place).hidden = sentence === "";
  setText(byId(place), sentence);
}

async function look() {
  looking = new AbortController();
  const { signal } = looking;
  try {
    const [workers, tuning] = await Promise.all([getJson("/workers", signal), getJson("/tuning", signal)]);
    showWorkers(workers);
    showTuning(tuning);
    showError("workers-error", "");
  } catch (error) {
    if (error.name === "AbortError") return;
    showError("workers-error", error.message);
  }
  if (!signal.aborted) timer = setTimeout(look, kBetweenLooksMs);
}

function restart() {
  looking?.abort();
  clearTimeout(timer);
  if (shown && document.visibilityState === "visible") look();
}

export function showsWorkers(visible) {
  shown = visible;
  restart();
}

export function startWorkers() {
  byId("worker-heads").append(...kColumns.map(([heading]) => element("th", { scope: "col" }, heading)), element("td"));
  document.addEventListener("visibilitychange", restart);
}
