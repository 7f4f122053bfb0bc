// The live picture of draft trees beside the chat: the newest one, or one of those before it.
import { byId, element, setText, svgElement } from "./dom.js";
import { bars, kTreesKept, labelOf, neighbour, placed, proposerName, sentence, wordsOf } from "./trees.js";

const kColours = 6; // of style.css; further drafters begin anew
const [kNodeHeight, kLevel, kGap, kMargin, kCharacter] = [24, 42, 10, 6, 7.3]; // pixels
const [kBar, kBarHeight] = [6, 28];

let trees = [];
let chosen = null; // index of the tree that is looked at; null: the newest, as it comes
let due = false; // it is drawn before the browser shows the next picture
let answering = false;
const colours = new Map(); // proposer's name: its colour, the same as long as the page lives

export const treesWanted = () => (byId("trees").open ? kTreesKept : 0);

function colourOf(proposer) {
  const name = proposerName(proposer);
  if (!colours.has(name)) colours.set(name, `by-${colours.size % kColours}`);
  return colours.get(name);
}

const shown = () => Math.min(chosen ?? trees.length - 1, trees.length - 1);

// The centre of each column, and the width of all.
function columnsOf(list) {
  const widths = [];
  for (const node of list) widths[node.column] = Math.max(widths[node.column] ?? 0, widthOf(node));
  let right = kMargin;
  const centres = widths.map((width) => {
    right += width + kGap;
    return right - kGap - width / 2;
  });
  return { centres, width: right - kGap + kMargin };
}

const widthOf = (node) => (node.kind === "root" ? kNodeHeight : 14 + kCharacter * [...labelOf(node.text)].length);

function edge(from, to, kind) {
  const half = (from.y + to.y) / 2;
  return svgElement("path", { class: `edge ${kind}`, d: `M${from.x} ${from.y}C${from.x} ${half} ${to.x} ${half} ${to.x} ${to.y}` });
}

function nodeMark(node, at, { x, y }, tree) {
  const words = wordsOf(node, tree.proposers);
  const colour = node.by === null ? "" : colourOf(tree.proposers[node.by]);
  const group = svgElement("g", { class: `node ${node.kind} ${colour}`, role: "img", "aria-label": words, tabindex: at === 0 ? "0" : "-1", "data-at": at });
  const width = widthOf(node);
  group.append(svgElement("title", {}, words));
  if (node.kind === "root") group.append(svgElement("circle", { cx: x, cy: y, r: 5 }));
  else {
    group.append(
      svgElement("rect", { x: x - width / 2, y: y - kNodeHeight / 2, width, height: kNodeHeight, rx: node.kind === "own" ? kNodeHeight / 2 : 5 }),
      svgElement("text", { x, y: y + 4, "text-anchor": "middle" }, labelOf(node.text)),
    );
  }
  return group;
}

function picture(tree) {
  const list = placed(tree);
  const { centres, width } = columnsOf(list);
  const points = list.map((node) => ({ x: centres[node.column], y: kMargin + kNodeHeight / 2 + kLevel * node.level }));
  const height = Math.max(...points.map(({ y }) => y)) + kNodeHeight / 2 + kMargin;
  const made = svgElement("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": sentence(tree) });
  list.forEach((node, at) => node.parent >= 0 && made.append(edge(points[node.parent], points[at], node.kind)));
  list.forEach((node, at) => made.append(nodeMark(node, at, points[at], tree)));
  made.addEventListener("focusin", ({ target }) => tell(target, list, tree));
  made.addEventListener("pointerover", ({ target }) => tell(target, list, tree));
  made.addEventListener("keydown", (event) => walk(event, list));
  return made;
}

const markOf = (target) => target.closest?.("[data-at]");

function tell(target, list, tree) {
  const mark = markOf(target);
  if (mark) setText(byId("tree-node"), wordsOf(list[Number(mark.dataset.at)], tree.proposers));
}

// One node of the picture is a stop of the Tab key; the arrow keys lead on from there.
function walk(event, list) {
  const mark = markOf(event.target);
  if (!mark || !event.key.startsWith("Arrow")) return;
  event.preventDefault();
  const next = event.currentTarget.querySelector(`[data-at="${neighbour(list, Number(mark.dataset.at), event.key)}"]`);
  mark.setAttribute("tabindex", "-1");
  next.setAttribute("tabindex", "0");
  next.focus();
}

// A bar for each tree: how much was guessed, and how much of that accepted.
function strip() {
  const all = bars(trees);
  const most = Math.max(...all.map(({ guesses }) => guesses));
  const height = (count) => (count * kBarHeight) / most;
  const part = (name, at, count) =>
    svgElement("rect", { class: name, x: at * kBar, y: kBarHeight - height(count), width: kBar - 1, height: height(count) });
  const width = kTreesKept * kBar;
  const made = svgElement("svg", { width, height: kBarHeight, viewBox: `0 0 ${width} ${kBarHeight}`, "aria-hidden": "true" });
  all.forEach(({ guesses, accepted }, at) => {
    const bar = svgElement("g", { class: at === shown() ? "bar shown" : "bar", "data-bar": at });
    bar.append(svgElement("rect", { class: "back", x: at * kBar, y: 0, width: kBar, height: kBarHeight }));
    bar.append(part("guesses", at, guesses), part("accepted", at, accepted));
    made.append(bar);
  });
  return made;
}

function legend(tree) {
  return tree.proposers.map((each) => element("span", { class: `swatch ${colourOf(each)}` }, proposerName(each)));
}

function showSteps() {
  const at = shown();
  const count = `${at + 1} of ${trees.length}`;
  const now = { "aria-valuemax": trees.length, "aria-valuenow": at + 1, "aria-valuetext": count };
  for (const [name, value] of Object.entries(now)) byId("tree-strip").setAttribute(name, value);
  setText(byId("tree-count"), count);
  byId("tree-older").disabled = at <= 0;
  byId("tree-newer").disabled = at >= trees.length - 1;
}

function draw() {
  due = false;
  const none = trees.length === 0;
  byId("tree-parts").hidden = none;
  byId("no-tree").hidden = !none;
  setText(byId("no-tree"), answering ? "No guess yet." : "Ask something: the trees that drafters guess are drawn here.");
  if (none) return;
  const tree = trees[shown()];
  const focused = markOf(document.activeElement)?.dataset.at;
  byId("tree").replaceChildren(picture(tree));
  if (focused !== undefined) (byId("tree").querySelector(`[data-at="${focused}"]`) ?? byId("tree").querySelector("[data-at]")).focus();
  setText(byId("tree-words"), sentence(tree));
  if (focused === undefined) setText(byId("tree-node"), "");
  byId("tree-legend").replaceChildren(...legend(tree));
  byId("tree-strip").replaceChildren(strip());
  showSteps();
}

function drawSoon() {
  if (due) return;
  due = true;
  requestAnimationFrame(draw);
}

// The trees of the answer so far.
export function showTrees(told, { ends = false } = {}) {
  answering = !ends;
  // The oldest have gone: the tree that is looked at has moved.
  if (chosen !== null && trees.length > 0) chosen = told.indexOf(trees[shown()]) >= 0 ? told.indexOf(trees[shown()]) : 0;
  trees = [...told];
  drawSoon();
}

export function clearTrees() {
  [trees, chosen, answering] = [[], null, false];
  drawSoon();
}

// The newest one is followed, not held.
function choose(at) {
  chosen = at >= trees.length - 1 ? null : Math.max(at, 0);
  draw();
}

export function startTrees() {
  byId("trees").open = window.matchMedia("(min-width: 44rem)").matches;
  byId("tree-older").addEventListener("click", () => choose(shown() - 1));
  byId("tree-newer").addEventListener("click", () => choose(shown() + 1));
  byId("tree-strip").addEventListener("click", ({ target }) => {
    const bar = target.closest?.("[data-bar]");
    if (bar) choose(Number(bar.dataset.bar));
  });
  byId("tree-strip").addEventListener("keydown", (event) => {
    const to = { ArrowLeft: shown() - 1, ArrowRight: shown() + 1, Home: 0, End: trees.length }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    choose(to);
  });
  draw();
}
